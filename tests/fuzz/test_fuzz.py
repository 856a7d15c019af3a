"""Every fuzzer for a few seconds: no traceback, no hang, no strange exit code, and nothing changed outside."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz import damaged_folders, folders
from tests.fuzz.fuzzers import all_fuzzers
from tests.fuzz.ground import Place

ROOT = Path(__file__).parents[2]
BROKEN = ("traceback", "hang", "killed", "memory", "changed", "generator", "other_exit_codes")


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What one process finds that imports everything once; two workers would only take turns with other tests."""
    file = tmp_path_factory.mktemp("fuzz") / "found.jsonl"
    command = [sys.executable, "-m", "tests.fuzz", "--jobs", "1", "--to", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1), done.stderr
    found = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {record["fuzzer"]: record for record in found}


@pytest.mark.parametrize("name", all_fuzzers())
def test_a_few_inputs(records: dict[str, dict[str, Any]], name: str) -> None:
    record = records[name]
    assert record["inputs"] == all_fuzzers()[name].few
    assert not record["problems"], "\n".join(
        f"{each['problem']} {each.get('where', '')} {each.get('message', '')}\n  again: {each['again']}"
        for each in record["problems"]
    )
    assert not any(record[kind] for kind in BROKEN)
    assert record["exit_codes"].get("0"), "not one command worked: the fuzzer does not reach what it is about"


@pytest.mark.parametrize("first", ["fifo", "folder"])
def test_a_second_damage_finds_what_the_first_one_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """To read the pipe would never end, and what is a folder by then cannot be read."""
    ground = tmp_path / "ground"
    for folder in ("project", "tiny"):
        (ground / folder).mkdir(parents=True)
    for name in ("project/run.toml", "batch.csv", "bare.csv"):
        (ground / name).write_text("x")

    def damage(folder: Path, rng: random.Random) -> str:
        made.append(first)
        if len(made) > 1:
            (folder / "run.toml").read_text()
            raise UnicodeDecodeError("utf-8", b"", 0, 1, "as of a file that is noise")
        (folder / "run.toml").unlink()
        os.mkfifo(folder / "run.toml") if first == "fifo" else (folder / "run.toml").mkdir()
        return ""

    monkeypatch.setattr(folders, "damage", damage)
    both = 0
    for seed in range(12):
        made: list[str] = []
        (tmp_path / str(seed)).mkdir()
        assert damaged_folders.make(random.Random(seed), Place(tmp_path / str(seed), ground, tmp_path / "canary"))
        both += len(made) == 2
    assert bool(both) is (first == "folder")
