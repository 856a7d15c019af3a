"""The folder of results: a tidy table of finished cells, what lies behind it, and what is refused."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from actune.bench import store
from actune.bench.copying import files_in, put_files
from actune.bench.grid import Point
from actune.bench.merging import merge
from actune.bench.portable import grid_without_paths
from actune.bench.results_table import RESULT_COLUMNS
from actune.bench.store import Results
from actune.errors import RunFolderError, SettingError
from tests.bench.conftest import Small, lasting, make

GridOf = Callable[..., str]


@pytest.fixture
def folder(small: Small, tmp_path: Path) -> Path:
    """A copy of the small grid's results that a test may spoil."""
    return shutil.copytree(small.folder, tmp_path / "copy")


def test_the_table_has_a_line_for_every_cell_and_round_in_order(small: Small):
    table = small.table
    assert tuple(table) == RESULT_COLUMNS
    assert len(table) == 16 and table.cell.nunique() == 4
    assert table.labels.tolist() == [20, 30, 40, 50] * 4
    places = list(zip(table.method, table.seed, table["round"], strict=True))
    assert places == sorted(places)
    assert table.accuracy.between(0, 1).all() and table[table["round"] == 0].pseudo_label_accuracy.isna().all()
    assert (table.machine != "").all() and table.versions.str.startswith("actune=").all()


def test_a_killed_process_may_leave_only_a_scratch_file(tmp_path: Path):
    """It was writing the first file of the folder: another one goes on there."""
    (tmp_path / ".bench.toml.0123456789abcdef.tmp").touch()
    assert Results.opened(tmp_path).cells == {}


def test_the_files_say_what_the_cells_say(small: Small, tmp_path: Path):
    shutil.copy(small.folder / "results.csv", tmp_path)
    pd.testing.assert_frame_equal(Results(tmp_path).table(), small.table)  # a published table alone
    shutil.copy(small.folder / "bench.toml", tmp_path)
    pd.testing.assert_frame_equal(Results(tmp_path).table(), small.table)
    assert Results(tmp_path).finished() == Results(small.folder).finished()
    with pytest.raises(RunFolderError, match=r"has a results table without cells\.jsonl"):
        Results.opened(tmp_path)
    pd.testing.assert_frame_equal(pd.read_parquet(small.folder / "results.parquet"), small.table)
    (tmp_path / "parquet").mkdir()
    shutil.copy(small.folder / "results.parquet", tmp_path / "parquet")
    pd.testing.assert_frame_equal(Results(tmp_path / "parquet").table(), small.table)
    (tmp_path / "parquet" / "results.parquet").write_bytes(b"PAR1")
    with pytest.raises(RunFolderError, match=r"results\.parquet' is damaged or not a results table"):
        Results(tmp_path / "parquet").table()


def test_predictions_and_truth_give_the_accuracies_of_the_table(small: Small):
    results = Results(small.folder)
    for key, rows in small.table.groupby("cell"):
        predictions, truth = results.predictions(str(key)), results.truth(str(key))
        assert predictions is not None and truth is not None and predictions.shape == (4, 100)
        np.testing.assert_allclose((predictions == truth).mean(1), rows.accuracy)
    assert results.predictions("0" * 16) is None and results.truth("0" * 16) is None


def test_a_cell_that_is_not_finished_is_not_in_the_table(folder: Path):
    results = Results(folder)
    key = results.finished()[0]
    (results.place(key) / "run.toml").unlink()
    assert key not in set(Results(folder).table().cell) and len(Results(folder).finished()) == 3


def test_a_changed_grid_takes_the_place_of_its_cells_and_keeps_the_others(grid_of: GridOf, tmp_path: Path):
    make(grid_of(["random", "entropy"], [0], rounds=2), tmp_path)
    before = set(Results(tmp_path).cells)
    make(grid_of(["random"], [0, 1], rounds=3), tmp_path)
    results = Results(tmp_path)
    assert [point.name.split()[1:5:3] for point in results.cells.values()] == [
        ["entropy", "seed"],
        *[["random", "seed"]] * 2,
    ]
    assert len(before & set(results.cells)) == 1
    assert results.table().groupby(["method", "seed"])["round"].count().to_dict() == {
        ("entropy", 0): 2,
        ("random", 0): 3,
        ("random", 1): 3,
    }
    assert (tmp_path / "grid.toml").read_text() == grid_of(["random"], [0, 1], rounds=3)


def test_folders_of_other_versions_and_other_kinds_are_one_sentence(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "file").touch()
    with pytest.raises(RunFolderError, match="is not empty and not a results folder"):
        Results.opened(tmp_path / "strange")
    with pytest.raises(RunFolderError, match="is not a results folder: it has neither"):
        Results(tmp_path / "strange")
    with pytest.raises(RunFolderError, match="there is no folder"):
        Results(tmp_path / "none")
    monkeypatch.setattr(store, "__version__", "9.9")
    with pytest.raises(
        RunFolderError, match=r"was made with actune .*, and this is 9.9; results of different versions"
    ):
        Results.opened(folder)
    assert len(Results(folder).table()) == 16  # but it can be read
    file = folder / "bench.toml"
    file.write_text(file.read_text().replace("format = 1", "format = 7"))
    with pytest.raises(RunFolderError, match=r"written by another version of actune \(format 7, this one reads 1\)"):
        Results(folder).table()
    (tmp_path / "strange" / "results.csv").write_text("a,b\n1,2\n")
    with pytest.raises(RunFolderError, match="is not a results table: it has no column 'cell'"):
        Results(tmp_path / "strange").table()


def test_failures_are_kept_until_they_are_taken_back(folder: Path):
    results = Results(folder)
    key = results.finished()[0]
    results.note_failure(key, 'it said "no"')
    assert Results(folder).failed == {key: 'it said "no"'}
    results.note_failure(key, None)
    assert Results(folder).failed == {} and Results(folder).cells == results.cells


def test_a_run_folder_travels_as_files(folder: Path, tmp_path: Path):
    results = Results(folder)
    key = results.finished()[0]
    files = files_in(results.place(key))
    put_files(files, tmp_path / "there")
    assert files_in(tmp_path / "there") == files and files_in(tmp_path) == {}


def test_results_of_two_machines_become_one_table(small: Small, tmp_path: Path):
    make(small.text, tmp_path / "a", only=["seed=0"])
    make(small.text, tmp_path / "b", only=["seed=1", "method=actune"])
    merged = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "all")
    assert (merged.taken, merged.notes) == (3, ())
    assert len(merged.results.cells) == 4 and len(merged.results.finished()) == 3
    assert merge([small.folder, tmp_path / "a"], tmp_path / "all").taken == 1
    pd.testing.assert_frame_equal(lasting(Results(tmp_path / "all").table()), lasting(small.table))
    assert (tmp_path / "all" / "results.csv").is_file() and (
        tmp_path / "all" / "grid.toml"
    ).read_text() == grid_without_paths(small.text)


def test_where_machines_disagree_a_sentence_says_so_and_the_first_is_kept(folder: Path, small: Small, tmp_path: Path):
    results = Results(folder)
    key = results.finished()[0]
    with sqlite3.connect(results.place(key) / "run.db") as cell:
        cell.execute("UPDATE rounds SET facts = replace(facts, '\"accuracy\": 0.', '\"accuracy\": 0.0')")
    merged = merge([small.folder, folder], tmp_path / "all")
    assert merged.notes == (
        f"{folder} has different accuracies for {results.cells[key].name}: the first ones are kept",
    )
    pd.testing.assert_frame_equal(merged.results.table(), small.table)


def test_cells_of_other_settings_are_left_out_of_a_merge(grid_of: GridOf, small: Small, tmp_path: Path):
    make(grid_of(["actune"], [0], steps=5, rounds=2), tmp_path / "other")
    merged = merge([small.folder, tmp_path / "other"], tmp_path / "all")
    (note,) = merged.notes
    assert "questions actune minilm probe seed 0 in" in note and merged.taken == 4


def test_what_cannot_be_merged_is_one_sentence(folder: Path, small: Small, tmp_path: Path):
    with pytest.raises(SettingError, match="cannot be merged into itself"):
        merge([folder], folder)
    (tmp_path / "published").mkdir()
    shutil.copy(small.folder / "results.csv", tmp_path / "published")
    with pytest.raises(SettingError, match="has a results table but no cells"):
        merge([tmp_path / "published"], tmp_path / "all")
    shutil.copy(small.folder / "bench.toml", tmp_path / "published")
    with pytest.raises(SettingError, match="has a results table but no cells"):
        merge([tmp_path / "published"], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_a_folder_of_another_version_is_not_merged(folder: Path, small: Small, tmp_path: Path):
    file = folder / "bench.toml"
    file.write_text(file.read_text().replace(f'actune = "{store.__version__}"', 'actune = "0.0.1"'))
    sentence = (
        rf"copy' was made with actune 0\.0\.1, and this is {store.__version__}; .*: leave it out, or merge with that"
    )
    with pytest.raises(RunFolderError, match=sentence):
        merge([small.folder, folder], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_the_whole_grid_counts_whatever_was_planned(folder: Path, small: Small, grid_of: GridOf, tmp_path: Path):
    assert Results(folder).progress().sentence == "4 of 4 cells finished: the grid is complete"
    (folder / "grid.toml").write_text(grid_of(seeds=(0, 1, 2)))  # as where a machine lacks data of some cells
    progress = Results(folder).progress()
    assert progress.sentence == "4 of 6 cells finished: the grid is not complete"
    assert progress.by_task == "questions 2" and {point.seed for point in progress.unfinished} == {2}
    (folder / "grid.toml").write_text('[grid]\nmethods = "gone"\n')
    told = "4 of 4 cells finished: there may be more, because there is no readable grid.toml"
    assert Results(folder).progress().sentence == told and not Results(folder).progress().complete
    key = Results(folder).finished()[0]
    (folder / "cells" / key / "run.toml").unlink()
    assert Results(folder).progress().sentence == "3 of 4 cells finished: the grid is not complete"
    (tmp_path / "published").mkdir()
    for name in ("results.csv", "grid.toml"):
        shutil.copy(small.folder / name, tmp_path / "published")
    published = Results(tmp_path / "published")
    assert published.progress() == Results(small.folder).progress() and published.cells == Results(small.folder).cells


def test_points_of_a_folder_are_those_of_its_grid(small: Small):
    assert Point("questions", "asst", "minilm", "probe", 1) in Results(small.folder).cells.values()
