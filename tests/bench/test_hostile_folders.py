"""Results folders of somebody else: nothing outside the target is touched, and what is wrong is one sentence."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from actune.bench import parquet
from actune.bench.merging import merge
from actune.bench.publishing import publish
from actune.bench.store import Results
from actune.cli.app import app
from actune.core import toml
from actune.errors import RunFolderError
from tests.bench.conftest import Small

OUTSIDE = ["x/../../../Documents", "../payload", "/etc", "..", ".", "", "A" * 16, "0" * 15, "0" * 17, "0" * 15 + "\n"]


@pytest.fixture
def folder(small: Small, tmp_path: Path) -> Path:
    shutil.copytree(small.folder, tmp_path / "foreign")
    return tmp_path / "foreign"


@pytest.fixture(scope="module")
def published(small: Small, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(small.folder, tmp_path_factory.mktemp("published") / "tidy").folder


@pytest.fixture
def tidy(published: Path, tmp_path: Path) -> Path:
    shutil.copytree(published, tmp_path / "tidy")
    return tmp_path / "tidy"


def renamed(folder: Path, key: str) -> None:
    """Gives the first cell of a bench.toml another key."""
    facts = toml.read(folder / "bench.toml")
    first, *others = facts["cells"].items()
    facts["cells"] = {key: first[1], **dict(others)}
    (folder / "bench.toml").write_text(toml.dumps(facts))


def changed_lines(file: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    change(lines[0])
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def below(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("key", OUTSIDE)
def test_a_key_that_is_a_path_is_refused_and_nothing_outside_is_touched(folder: Path, tmp_path: Path, key: str):
    documents = tmp_path / "Documents"
    shutil.copytree(next((folder / "cells").iterdir()), documents)
    shutil.copytree(documents, folder / "payload")
    (documents / "letter.txt").write_text("mine")
    (tmp_path / "results").mkdir()
    before = below(documents)
    renamed(folder, key)
    with pytest.raises(RunFolderError, match="a key has 16 digits of 0-9 and a-f"):
        merge([folder], tmp_path / "results" / "all")
    assert below(documents) == before and not list((tmp_path / "results").iterdir())


@pytest.mark.parametrize("key", OUTSIDE)
def test_a_key_that_is_a_path_is_refused_in_tables_too(tidy: Path, tmp_path: Path, key: str):
    changed_lines(tidy / "cells.jsonl", lambda line: line.update(cell=key))
    with pytest.raises(RunFolderError, match="a key has 16 digits of 0-9 and a-f"):
        merge([tidy], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_a_link_or_a_special_file_in_a_cell_is_not_copied(folder: Path, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("mine")
    arrays = Results(folder).place(Results(folder).finished()[0]) / "arrays"
    for make in (lambda place: place.symlink_to(secret), os.mkfifo):
        make(arrays / "extra")
        with pytest.raises(RunFolderError, match=r"extra' is (a link|not a regular file)"):
            merge([folder], tmp_path / "all")
        (arrays / "extra").unlink()
        assert b"mine" not in b"".join(below(tmp_path / "all").values())
    assert merge([folder], tmp_path / "all").taken == 4


def test_a_file_of_holes_in_a_cell_is_not_copied(folder: Path, tmp_path: Path):
    extra = Results(folder).place(Results(folder).finished()[0]) / "extra"
    extra.touch()
    os.truncate(extra, 2**42)
    with pytest.raises(RunFolderError, match="nearly none is stored"):
        merge([folder], tmp_path / "all")
    assert not list((tmp_path / "all").rglob("extra"))


def test_cells_that_are_links_are_refused(folder: Path, tmp_path: Path):
    key = Results(folder).finished()[0]
    place = folder / "cells" / key
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunFolderError, match="is a link"):
        merge([folder], tmp_path / "all")
    place.unlink()
    (tmp_path / "elsewhere").rename(place)
    shutil.rmtree(tmp_path / "all" / "cells")
    (tmp_path / "mine").mkdir()
    (tmp_path / "all" / "cells").symlink_to(tmp_path / "mine")
    with pytest.raises(RunFolderError, match="is a link"):
        merge([folder], tmp_path / "all")
    assert not list((tmp_path / "mine").iterdir())


def test_a_grid_that_is_a_link_is_not_copied(folder: Path, tmp_path: Path):
    (tmp_path / "secret").write_text("password = 'mine'\n")
    (folder / "grid.toml").unlink()
    (folder / "grid.toml").symlink_to(tmp_path / "secret")
    with pytest.raises(RunFolderError, match=r"grid\.toml': it is a link"):
        merge([folder], tmp_path / "all")
    with pytest.raises(RunFolderError, match=r"grid\.toml': it is a link"):
        publish(folder, tmp_path / "tidy")
    assert not (tmp_path / "tidy").exists()


def test_merged_folders_are_private(folder: Path, tmp_path: Path):
    before = os.umask(0o022)
    try:
        merge([folder], tmp_path / "all")
    finally:
        os.umask(before)
    made = [tmp_path / "all", *(path for path in (tmp_path / "all").rglob("*") if path.is_dir())]
    assert len(made) > 6 and {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700}
    files = [path for path in (tmp_path / "all").rglob("*") if path.is_file()]
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o033 == 0 for path in files)


COMMANDS = ("status", "report", "figures", "tidy", "merge")
FACTS = {
    "no table": "format = 1\n",
    "format": 'format = [1]\nactune = "1"\n',
    "version": "format = 1\nactune = 3\n[cells]\n",
    "cells": "cells = 3\n",
    "place": "[cells]\n0123456789abcdef = 'x'\n",
    "short place": "[cells]\n0123456789abcdef = ['a', 'b']\n",
    "seed": "[cells]\n0123456789abcdef = ['a', 'b', 'c', 'd', 'e', 'f']\n",
    "huge seed": f"[cells]\n0123456789abcdef = ['a', 'b', 'c', 'd', {10**30}, 'f']\n",
    "failed": "failed = 3\n[cells]\n",
    "anew": "anew = [3]\n[cells]\n",
    "brackets": "x = " + "[" * 5_000,
    "binary": "\x00",
}


@pytest.mark.parametrize("name", FACTS)
def test_a_wrong_bench_toml_is_one_sentence(folder: Path, tmp_path: Path, name: str):
    start = "" if FACTS[name].startswith("format") else f'format = 1\nactune = "x"\nid = "{"0" * 32}"\n'
    (folder / "bench.toml").write_text(start + FACTS[name])
    for command in COMMANDS:
        fails(command, folder, tmp_path)


CELLS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "seed": lambda line: line.update(seed="x"),
    "huge seed": lambda line: line.update(seed=10**400),
    "task": lambda line: line.update(task=["x"]),
    "run": lambda line: line.update(run=3),
    "no run": lambda line: line.pop("run"),
    "machine": lambda line: line.update(machine={"a": 1}),
}
ROUNDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "round": lambda line: line.update(round="x"),
    "list": lambda line: line.update(round=[1]),
    "labels": lambda line: line.update(labels="many"),
    "huge labels": lambda line: line.update(labels=10**300),
    "no seconds": lambda line: line.update(seconds={}),
    "seconds": lambda line: line.update(seconds="x"),
    "metrics": lambda line: line.update(metrics={"accuracy": "x"}),
    "infinite": lambda line: line.update(metrics={"accuracy": float("inf")}),
    "strange": lambda line: line.update(strange=1),
    "pseudo_labels": lambda line: line.update(pseudo_labels=3),
    "quality": lambda line: line.update(quality=3),
}


@pytest.mark.parametrize("name", CELLS)
def test_wrong_cells_in_tables_are_one_sentence(tidy: Path, tmp_path: Path, name: str):
    changed_lines(tidy / "cells.jsonl", CELLS[name])
    for command in COMMANDS:
        fails(command, tidy, tmp_path)


@pytest.mark.parametrize("name", ROUNDS)
def test_wrong_rounds_in_tables_are_one_sentence(tidy: Path, tmp_path: Path, name: str):
    changed_lines(tidy / "rounds.jsonl", ROUNDS[name])
    for command in COMMANDS:
        fails(command, tidy, tmp_path)


def test_deep_and_broken_lines_are_one_sentence(tidy: Path, tmp_path: Path):
    for content in ("[" * 100_000, '{"cell": ' * 20_000, "\xff", "1" * 5_000):
        (tidy / "cells.jsonl").write_bytes(content.encode("latin-1"))
        fails("status", tidy, tmp_path)


def test_wrong_predictions_are_one_sentence(tidy: Path, tmp_path: Path):
    good = pq.read_table(tidy / "predictions.parquet").to_pylist()
    for change in (
        lambda line: line.pop("truth"),
        lambda line: line.update(predicted=[1]),
        lambda line: line.update(predicted=None),
        lambda line: line.update(round=7),
        lambda line: line.update(round=None),
    ):
        lines = [dict(line) for line in good]
        change(lines[0])
        if "truth" not in lines[0]:
            lines = [{name: line[name] for name in lines[0]} for line in lines]
        pq.write_table(pa.Table.from_pylist(lines), tidy / "predictions.parquet")
        fails("tidy", tidy, tmp_path)
    words = [{**line, "predicted": list(map(str, line["predicted"]))} for line in good]
    pq.write_table(pa.Table.from_pylist(words), tidy / "predictions.parquet")
    fails("tidy", tidy, tmp_path)


def test_wrong_maps_are_one_sentence(tidy: Path, tmp_path: Path):
    cell = json.loads((tidy / "cells.jsonl").read_text().splitlines()[0])["cell"]
    for point in ([1.0], [], None, [1.0, float("nan")], "x"):
        line = {"cell": cell, "predicted": 0, "asked": True, "labelled": True, "point": point}
        pq.write_table(pa.Table.from_pylist([line]), tidy / "maps.parquet")
        with pytest.raises(RunFolderError):
            Results(tidy).record(cell).first_map()  # type: ignore[union-attr]


def test_a_wrong_results_table_is_one_sentence(small: Small, tmp_path: Path):
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    table = small.table
    for change in ({"seed": "x"}, {"labels": "1e400"}, {"accuracy": "inf"}, {"round": "9" * 40}, {"accuracy": "{}"}):
        table.astype(object).assign(**change).to_csv(foreign / "results.csv", index=False)
        for command in ("status", "report"):
            fails(command, foreign, tmp_path)
    (foreign / "results.csv").unlink()
    for strange in ([[1]] * len(table), [{"a": 1}] * len(table), [b"\xff"] * len(table)):
        table.assign(labels=strange).to_parquet(foreign / "results.parquet")
        fails("report", foreign, tmp_path)


def test_a_table_that_no_memory_takes_is_one_sentence(small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parquet, "MOST_BYTES", 1_000_000)
    (tmp_path / "bomb").mkdir()
    bomb = pa.table({"cell": pa.array(["x" * 100] * 100_000)})
    pq.write_table(bomb, tmp_path / "bomb" / "results.parquet", compression="zstd")
    assert (tmp_path / "bomb" / "results.parquet").stat().st_size < 10_000
    with pytest.raises(RunFolderError, match="holds more than"):
        Results(tmp_path / "bomb").table()


def fails(command: str, folder: Path, tmp_path: Path) -> str:
    """Runs a command that must end with one sentence."""
    to = {"tidy": ["--to", str(tmp_path / "to")], "merge": ["--out", str(tmp_path / "to")]}.get(command, [])
    found = CliRunner().invoke(app, ["bench", command, str(folder), *to])
    assert found.exit_code == 2, (command, found.exception, found.output)
    assert not (tmp_path / "to").exists() and not (folder / "report.html").exists()
    return found.output


def test_tables_without_any_cell_are_one_sentence(tidy: Path, tmp_path: Path):
    (tidy / "cells.jsonl").write_text("")
    with pytest.raises(RunFolderError, match="does not say which cells it has"):
        Results(tidy).table()
