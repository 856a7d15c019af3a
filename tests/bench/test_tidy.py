"""Results as tables alone: the same numbers as the run folders, work that goes on from them, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from actune.bench.evidence import Evidence
from actune.bench.merging import merge
from actune.bench.paper.figures.maps import find_maps
from actune.bench.portable import without_paths
from actune.bench.publishing import publish
from actune.bench.store import Results
from actune.errors import RunFolderError, SettingError
from actune.session.config import config_of
from tests.bench.conftest import Small, lasting, make

GridOf = Callable[..., str]


@pytest.fixture(scope="module")
def published(small: Small, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "tidy"
    assert publish(small.folder, folder).cells == 4
    return folder


@pytest.fixture
def tidy(published: Path, tmp_path: Path) -> Path:
    """A copy of the tables that a test may spoil."""
    return shutil.copytree(published, tmp_path / "tidy")


def changed_cells(folder: Path, change: Callable[[list[dict]], None], name: str = "cells.jsonl") -> None:
    lines = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    change(lines)
    (folder / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_tables_are_all_there_is_and_say_what_the_run_folders_say(small: Small, published: Path):
    names = ["cells.jsonl", "grid.toml", "maps.parquet", "predictions.parquet", "results.csv", "rounds.jsonl"]
    assert sorted(path.name for path in published.iterdir()) == names
    tables, folders = Results(published), Results(small.folder)
    pd.testing.assert_frame_equal(tables.table(), small.table)
    assert (published / "results.csv").read_bytes() == (small.folder / "results.csv").read_bytes()
    assert tables.cells == folders.cells and tables.progress() == folders.progress()
    for key in folders.finished():
        ours, theirs = tables.record(key), folders.record(key)
        assert ours is not None and theirs is not None
        config = config_of(without_paths(theirs.tables), "the run")
        assert (ours.config, ours.rounds, ours.made) == (config, theirs.rounds, theirs.made)
        np.testing.assert_array_equal(tables.predictions(key), folders.predictions(key))
        np.testing.assert_array_equal(tables.truth(key), folders.truth(key))
    a, b = find_maps(Evidence(tables)), find_maps(Evidence(folders))
    assert a is not None and b is not None and (a.scene, a.seed) == (b.scene, b.seed)
    for one, other in zip(a.parts, b.parts, strict=True):
        assert (one.method, one.classes, one.distances) == (other.method, other.classes, other.distances)
        np.testing.assert_array_equal(one.map.points, other.map.points)
        np.testing.assert_array_equal(one.map.asked, other.map.asked)


def test_a_grid_goes_on_from_its_tables(small: Small, grid_of: GridOf, tidy: Path, tmp_path: Path):
    work = make(small.text, tidy)
    assert len(work.done) == 4 and not work.note and not any((tidy / "cells").iterdir())
    wider = grid_of(["asst", "actune", "random"])
    work = make(wider, tidy)
    assert len(work.done) == 6 and len(list((tidy / "cells").iterdir())) == 2
    expected = lasting(Results(make(wider, tmp_path / "whole").results.folder).table())
    pd.testing.assert_frame_equal(lasting(Results(tidy).table()), expected)
    again = publish(tidy, tmp_path / "again")  # some cells from tables, some from run folders
    assert again.cells == 6
    pd.testing.assert_frame_equal(Results(again.folder).table(), Results(tidy).table())


def test_more_rounds_start_anew_and_a_sentence_says_so(grid_of: GridOf, tidy: Path):
    before = Results(tidy).table()
    work = make(grid_of(rounds=5), tidy, only=["method=asst", "seed=0"])
    assert (
        "1 of the cells to run is in the tables of" in work.note and "questions asst minilm probe seed 0" in work.note
    )
    found = Results(tidy).table()
    assert found.groupby(["method", "seed"])["round"].count().to_dict() == {("asst", 0): 5}
    make(grid_of(), tidy)  # the tables still have what was there
    pd.testing.assert_frame_equal(Results(tidy).table(), before)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda lines: lines[0]["run"]["settings"].update(beta=0.25),
        lambda lines: lines[0]["run"]["request"].update(batch=11),
        lambda lines: lines[0].update(results=1),
    ],
    ids=["settings", "request", "results"],
)
def test_a_cell_that_was_made_otherwise_is_not_taken(small: Small, tidy: Path, spoil: Callable[[list[dict]], None]):
    changed_cells(tidy, spoil)
    work = make(small.text, tidy)
    assert "1 of the cells to run is in the tables" in work.note and len(list((tidy / "cells").iterdir())) == 1
    pd.testing.assert_frame_equal(lasting(Results(tidy).table()), lasting(small.table))


def test_a_cell_without_its_last_round_is_not_finished(small: Small, tidy: Path):
    changed_cells(tidy, lambda lines: lines.pop(), "rounds.jsonl")
    assert Results(tidy).progress().sentence == "3 of 4 cells finished: the grid is not complete"
    work = make(small.text, tidy)
    assert work.note and len(work.done) == 4


def test_damaged_and_foreign_tables_are_one_sentence(small: Small, tidy: Path, tmp_path: Path):
    good = (tidy / "cells.jsonl").read_text()
    for text, sentence in (
        (good[:-40], r"cells\.jsonl' is damaged or not a results table, line 4: .*: restore the file"),
        ('{"a": 1}\n', r"cells\.jsonl' is damaged or not a results table, line 1: it has no 'cell'"),
        ("[1]\n", "line 1: it is not a JSON object"),
        (good + good.splitlines()[0] + "\n", r"line 5: the cell \w+ occurs twice"),
    ):
        (tidy / "cells.jsonl").write_text(text)
        with pytest.raises(RunFolderError, match=sentence):
            make(small.text, tidy)
    (tidy / "cells.jsonl").write_text(good)
    changed_cells(tidy, lambda lines: lines.pop(1), "rounds.jsonl")
    with pytest.raises(RunFolderError, match="lacks its round"):
        Results(tidy).table()
    (tidy / "rounds.jsonl").unlink()
    with pytest.raises(RunFolderError, match=r"cannot read '.*rounds\.jsonl'"):
        Results(tidy).table()


def test_a_damaged_parquet_file_is_one_sentence(tidy: Path):
    (tidy / "predictions.parquet").write_bytes(b"nothing")
    results = Results(tidy)
    with pytest.raises(RunFolderError, match=r"predictions\.parquet' is damaged or not a results table"):
        results.predictions(results.finished()[0])


def test_tables_of_two_machines_become_one(small: Small, tmp_path: Path):
    make(small.text, tmp_path / "a", only=["seed=0"])
    make(small.text, tmp_path / "b", only=["seed=1"])
    for name in "ab":
        assert publish(tmp_path / name, tmp_path / "tidy" / name).unfinished == 2
    merged = merge([tmp_path / "tidy" / "a", tmp_path / "tidy" / "b"], tmp_path / "all")
    assert (merged.taken, merged.notes) == (4, ()) and not any((tmp_path / "all" / "cells").iterdir())
    mixed = merge([tmp_path / "a", tmp_path / "tidy" / "b"], tmp_path / "mixed")
    assert mixed.taken == 4 and len(list((tmp_path / "mixed" / "cells").iterdir())) == 2
    for folder in ("all", "mixed"):
        pd.testing.assert_frame_equal(lasting(Results(tmp_path / folder).table()), lasting(small.table))
        publish(tmp_path / folder, tmp_path / "final" / folder)
    key = merged.results.finished()[-1]
    np.testing.assert_array_equal(
        Results(tmp_path / "final" / "all").predictions(key), Results(tmp_path / "b").predictions(key)
    )


def test_tables_replace_tables_of_their_own_cells_alone(small: Small, tidy: Path, tmp_path: Path):
    assert publish(small.folder, tidy).cells == 4
    make(small.text, tmp_path / "one", only=["seed=0", "method=asst"])
    with pytest.raises(SettingError, match="has 3 finished cells that would be lost: merge the two folders first"):
        publish(tmp_path / "one", tidy)
    (tidy / "notes.txt").touch()
    with pytest.raises(SettingError, match=r"was not written by this command \(it has notes\.txt\)"):
        publish(small.folder, tidy)
    with pytest.raises(SettingError, match="cannot be written into itself"):
        publish(small.folder, small.folder)
    (tmp_path / "table").mkdir()
    shutil.copy(small.folder / "results.csv", tmp_path / "table")
    with pytest.raises(SettingError, match="has only a results table"):
        publish(tmp_path / "table", tmp_path / "new")
