"""What the tests of commands share: real questions in files, one finished run, one project, and a way to call."""

from __future__ import annotations

import csv
import ctypes
import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from actune.cli.app import app
from actune.core.task import Task

CLASSES = "description,entity,human,abbreviation,location,numeric"
FAST = ["--learner", "probe", "--set", "steps=60", "--set", "epochs=5"]
PLAN = [*FAST, "--initial", "20", "--batch", "10", "--rounds", "3"]
COMMAND = [sys.executable, "-m", "actune"]


@dataclass(frozen=True)
class Said:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def facts(self) -> dict[str, Any]:
        """The JSON object on the last line of stdout."""
        facts = json.loads(self.out.splitlines()[-1])
        assert isinstance(facts, dict)
        return facts


def call(*words: object) -> Said:
    """Runs a command in this process."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Said(result.exit_code, result.stdout, result.stderr)


def done(*words: object) -> Said:
    """Runs a command that must work."""
    said = call(*words)
    assert said.code == 0, said.err
    return said


def write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows([columns, *rows])
    return path


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as handle:
        return list(csv.DictReader(handle))


def snapshot(folder: Path) -> dict[str, object]:
    """All that a folder holds; of a database what it says, for its bytes move when nothing is written."""
    return {
        str(path.relative_to(folder)): _content(path)
        for path in sorted(folder.rglob("*"))
        if not path.name.endswith(("-wal", "-shm")) and path.name != "advance.lock"
    }


def _content(path: Path) -> object:
    if path.name != "run.db":
        return path.read_bytes() if path.is_file() else None
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def obey_permissions() -> None:
    """For a child process: even root must obey permissions (without the right to override them), and hear Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.geteuid() == 0:
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0  # PR_CAPBSET_DROP


@pytest.fixture(scope="session")
def truth(questions: Task) -> dict[str, str]:
    """The right answer to every question."""
    pool = questions.pool
    return {id: pool.classes[label] for id, label in zip(pool.ids, pool.labels, strict=True)}


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory, questions: Task, truth: dict[str, str]) -> Path:
    """labelled.csv and bare.csv with 300 questions, test.csv with 100 others."""
    folder, pool, test = tmp_path_factory.mktemp("files"), questions.pool, questions.test
    assert test is not None
    rows = list(zip(pool.ids, pool.texts, strict=True))
    write(folder / "labelled.csv", ["id", "text", "label"], [[id, text, truth[id]] for id, text in rows])
    write(folder / "bare.csv", ["id", "text", "label"], [[id, text, ""] for id, text in rows])
    names = [test.classes[label] for label in test.labels]
    write(folder / "test.csv", ["id", "text", "label"], zip(test.ids, test.texts, names, strict=True))
    return folder


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, files: Path) -> tuple[list[object], Said]:
    """A command that was run to its end, with what it said; its last word is the folder."""
    words = ["run", files / "labelled.csv", *PLAN, "--json", "--out", tmp_path_factory.mktemp("runs") / "run"]
    return words, done(*words)


@pytest.fixture(scope="session")
def _advanced(tmp_path_factory: pytest.TempPathFactory, files: Path, truth: dict[str, str]) -> Path:
    folder = tmp_path_factory.mktemp("projects") / "project"
    words = ["--labels", CLASSES, "--test", files / "test.csv", *FAST, "--initial", 20, "--batch", 10]
    words += ["--method", "actune"]
    done("start", files / "bare.csv", *words, "--out", folder)
    answer(folder, truth)
    done("advance", folder)
    return folder


@pytest.fixture
def project(_advanced: Path, tmp_path: Path) -> Path:
    """A project of one's own after its first round: 20 labels, 10 open questions."""
    return shutil.copytree(_advanced, tmp_path / "project")


def answer(folder: Path, truth: dict[str, str]) -> list[str]:
    """Answers all open questions of a project as a person would; gives their ids."""
    batch = folder.with_name("answered.csv")
    done("ask", folder, "--to", batch)
    rows = read(batch)
    write(batch, ["id", "label"], [[row["id"], truth[row["id"]]] for row in rows])
    done("tell", folder, batch)
    batch.unlink()
    return [row["id"] for row in rows]


Fails = Callable[..., str]


@pytest.fixture
def fails(tmp_path: Path) -> Fails:
    """Runs a command that must end with 2, one sentence and nothing changed; gives the sentence."""

    def run(*words: object) -> str:
        before = snapshot(tmp_path)
        said = call(*words)
        assert said.code == 2, said
        assert ("error" in json.loads(said.out)) if "--json" in words else said.out == ""
        lines = said.err.splitlines()
        assert lines[-1].startswith("actune: "), said.err
        assert not [line for line in lines if line.startswith(("Traceback", "  File"))]
        assert snapshot(tmp_path) == before
        assert len(lines) == 1
        return lines[0].removeprefix("actune: ")

    return run
