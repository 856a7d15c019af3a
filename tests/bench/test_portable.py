"""What is published: base names in the place of paths, and no formulas."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from actune.bench.grid import Point, parse_grid
from actune.bench.merging import merge
from actune.bench.portable import grid_without_paths, without_paths
from actune.bench.publishing import publish
from actune.bench.results_table import TEXTS, as_csv, read_results
from actune.bench.store import Results
from tests.bench.conftest import Small, lasting, make

ROOT = Path(__file__).parents[2]


def test_published_and_merged_tables_name_no_folder_of_this_machine(small: Small, data: Path, tmp_path: Path):
    publish(small.folder, tmp_path / "tidy")
    merge([tmp_path / "tidy"], tmp_path / "all")
    for folder in ("tidy", "all"):
        for file in (path for path in (tmp_path / folder).rglob("*") if path.is_file()):
            assert str(data.parent).encode() not in file.read_bytes(), file
    assert 'data = "questions0"' in (tmp_path / "tidy" / "grid.toml").read_text()
    cell = json.loads((tmp_path / "tidy" / "cells.jsonl").read_text().splitlines()[0])
    assert cell["run"]["request"]["data"] == data.name
    assert make(small.text, tmp_path / "tidy").done
    pd.testing.assert_frame_equal(lasting(Results(tmp_path / "tidy").table()), lasting(small.table))


def test_paths_of_a_grid_become_base_names_and_all_else_stays():
    text = (
        "# made in /home/me/work (see https://a.b/c and 1/2)\n"
        'title = "/r/ask"\n'
        '[task."/home/me/posts.csv"]\ndata = "/home/me/posts.csv"\nclasses = ["/r/a"]\ntest = "/home/me/test.csv"\n'
        "[grid]\ntasks = ['/home/me/posts.csv', \"trec\"]\nmethods = 'random'\n"
        'models = ["C:\\\\Users\\\\me\\\\encoder", "org/model"]\n'
        '[settings]\nweak = """/home/me/rules.toml"""\n'
    )
    expected = (
        "# made in work (see https://a.b/c and 1/2)\n"
        'title = "/r/ask"\n'
        '[task."posts.csv"]\ndata = "posts.csv"\nclasses = ["/r/a"]\ntest = "test.csv"\n'
        '[grid]\ntasks = ["posts.csv", "trec"]\nmethods = \'random\'\n'
        'models = ["encoder", "org/model"]\n'
        '[settings]\nweak = "rules.toml"\n'
    )
    assert grid_without_paths(text) == expected
    before, after = ({point.coordinates for point in parse_grid(words).points} for words in (text, expected))
    assert before == after


def test_a_run_keeps_classes_that_look_like_paths():
    tables = {
        "format": 1,
        "request": {"data": "/home/me/a.csv", "weak": "C:\\me\\rules.py", "model": "org/model", "seed": 3},
        "reading": {"test": "~/test.csv", "text": "/body"},
        "resolved": {"classes": ["/r/a"], "model_found": "/opt/m", "notes": ["no dev set in '/home/me/a.csv'."]},
    }
    assert without_paths(tables) == {
        "format": 1,
        "request": {"data": "a.csv", "weak": "rules.py", "model": "org/model", "seed": 3},
        "reading": {"test": "test.csv", "text": "/body"},
        "resolved": {"classes": ["/r/a"], "model_found": "m", "notes": ["no dev set in 'a.csv'."]},
    }
    assert tables["request"]["data"] == "/home/me/a.csv"  # type: ignore[index]


def test_tables_call_files_by_their_base_names():
    point = Point("/home/me/a.csv", "random", "/opt/encoder", "probe", 0)
    assert point.coordinates == ("a.csv", "random", "encoder", "probe", 0, "")


@pytest.mark.parametrize("word", ["=cmd()", "+1", "-1", "@x", "\tx", "'=x", "plain", ""])
def test_a_table_has_no_formulas_and_is_read_as_it_was(small: Small, tmp_path: Path, word: str):
    table = small.table.assign(**dict.fromkeys(set(TEXTS) - {"cell"}, word))
    (tmp_path / "results.csv").write_bytes(as_csv(table))
    with (tmp_path / "results.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert not any(row[name].startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for name in TEXTS)
    pd.testing.assert_frame_equal(read_results(tmp_path / "results.csv"), table)


def test_a_hostile_table_is_written_without_formulas(small: Small, tmp_path: Path):
    shutil.copytree(small.folder, tmp_path / "foreign")
    file = tmp_path / "foreign" / "bench.toml"
    file.write_text(file.read_text().replace('"questions"', '"=cmd()"'))
    merge([tmp_path / "foreign"], tmp_path / "all")
    assert ",=cmd()" not in (tmp_path / "all" / "results.csv").read_text()
    assert {point.task for point in Results(tmp_path / "all").cells.values()} == {"=cmd()"}


def test_the_results_that_ship_name_no_folder_of_a_machine():
    for file in sorted((ROOT / "benchmarks" / "results").rglob("*")):
        if file.name in ("grid.toml", "cells.jsonl"):
            text = file.read_text(encoding="utf-8")
            assert "/home/" not in text and "/tmp/" not in text and "/work/" not in text and "/root/" not in text, file
        if file.name == "grid.toml":
            assert grid_without_paths(text) == text
