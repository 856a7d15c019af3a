"""Votes for the pool of a task: its own, those of a file by id or by row, and those of rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from actune.core.task import Task
from actune.data.splits import Reading
from actune.data.tasks import PACKAGE, load_votes, resolve
from actune.errors import DataError
from actune.session.votes import find_votes

COUNT = 20


def rows_of(path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    records = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
    path.write_text("\n".join(records), "utf-8")
    return str(path)


def named(row: int) -> str:
    return "ab"[row % 2]


@pytest.fixture
def data(tmp_path: Path) -> str:
    rows = [[f"n{row}", f"text {row}", named(row), row % 2, named(row + 1)] for row in range(COUNT)]
    return rows_of(tmp_path / "data.jsonl", ["id", "text", "label", "vote_x", "lf_y"], rows)


@pytest.fixture
def task(data: str) -> Task:
    """A pool of 14 rows; the others are held out."""
    return resolve(data)


def expected(task: Task) -> list[list[int]]:
    numbers = [int(id[1:]) for id in task.pool.ids]
    return [[number % 2, (number + 1) % 2] for number in numbers]


@pytest.mark.parametrize("source", ["trec", str(PACKAGE / "trec"), ""])
def test_a_named_data_set(trec: Task, source: str) -> None:
    votes = find_votes("own", trec, {}, source)
    np.testing.assert_array_equal(votes.matrix, load_votes("trec"))


def test_a_sample_of_a_named_data_set(tmp_path: Path) -> None:
    task, whole = resolve("trec", reading=Reading(sample=600), seed=3), load_votes("trec")
    rows = [int(id.removeprefix("train-")) for id in task.pool.ids]
    assert len(rows) == 600
    np.testing.assert_array_equal(find_votes("own", task, {"sample": 600}, "trec").matrix, [whole[row] for row in rows])
    path = rows_of(
        tmp_path / "votes.jsonl", ["id", "weak_labels"], [[f"train-{row}", whole[row]] for row in range(4965)]
    )
    np.testing.assert_array_equal(find_votes(path, task, {"sample": 600}, "trec").matrix, [whole[row] for row in rows])
    strange = rows_of(tmp_path / "strange.jsonl", ["id", "vote_x"], [["train-0", 0], ["train-4965", 1]])
    with pytest.raises(DataError, match=r"1 ids in .* are not in the data, the first is 'train-4965'"):
        find_votes(strange, task, {"sample": 600}, "trec")


@pytest.mark.parametrize("source", ["trec", ""])
def test_a_name_is_no_folder(trec: Task, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "trec"
    folder.mkdir()
    (folder / "train.jsonl.zst").write_bytes(b"something else")
    monkeypatch.chdir(tmp_path if source else folder)
    assert len(find_votes("own", trec, {}, source)) == len(trec.pool)


def test_votes_in_the_data_itself(task: Task, data: str) -> None:
    assert 0 < len(task.pool) < COUNT
    votes = find_votes("own", task, {}, data)
    assert votes.sources == ("vote_x", "lf_y")
    assert votes.matrix.tolist() == expected(task)


def test_votes_in_data_without_ids(tmp_path: Path) -> None:
    rows = [[f"text {row}", named(row), [row % 2]] for row in range(COUNT)]
    source = rows_of(tmp_path / "bare.jsonl", ["text", "label", "weak_labels"], rows)
    task = resolve(source)
    assert find_votes("own", task, {}, source).matrix.tolist() == [[int(id) % 2] for id in task.pool.ids]


def test_a_votes_file_by_id(task: Task, data: str, tmp_path: Path) -> None:
    rows = [[f"n{row}", row % 2, named(row + 1)] for row in reversed(range(COUNT))]
    path = rows_of(tmp_path / "votes.jsonl", ["id", "vote_x", "vote_y"], rows)
    assert find_votes(path, task, {}, data).matrix.tolist() == expected(task)
    fewer = rows_of(tmp_path / "fewer.jsonl", ["id", "vote_x"], [[task.pool.ids[3], 1]])
    votes = find_votes(fewer, task, {}, data)
    assert np.flatnonzero(votes.covered).tolist() == [3]


def test_rows_that_the_task_left_out_are_known(task: Task, data: str, tmp_path: Path) -> None:
    with Path(data).open("a") as handle:
        handle.write("\n" + json.dumps({"id": "later", "text": "unlabelled"}))
    path = rows_of(tmp_path / "votes.jsonl", ["id", "vote_x"], [[task.pool.ids[0], 1], ["later", 1]])
    assert find_votes(path, task, {}, data).covered.sum() == 1


def test_another_column_of_ids(task: Task, tmp_path: Path) -> None:
    path = rows_of(tmp_path / "votes.jsonl", ["key", "vote_x"], [[task.pool.ids[5], 1]])
    assert np.flatnonzero(find_votes(path, task, {"id": "key"}).covered).tolist() == [5]


def test_a_votes_file_by_row(task: Task, tmp_path: Path) -> None:
    path = rows_of(tmp_path / "votes.jsonl", ["vote_x"], [[row % 2] for row in range(len(task.pool))])
    assert find_votes(path, task, {}).matrix[:, 0].tolist() == [row % 2 for row in range(len(task.pool))]
    other = rows_of(tmp_path / "other.jsonl", ["vote_x"], [[0]] * COUNT)
    with pytest.raises(
        DataError, match=rf"votes for {COUNT} rows, but the pool has {len(task.pool)} texts: add an id column"
    ):
        find_votes(other, task, {})


def test_rules(task: Task, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rule]]\npattern = '[02468]$'\nlabel = 'a'\n")
    votes = find_votes(str(rules), task, {})
    assert votes.matrix[:, 0].tolist() == [0 if int(id[1:]) % 2 == 0 else -1 for id in task.pool.ids]


def test_misfits(task: Task, data: str, tmp_path: Path) -> None:
    strange = rows_of(tmp_path / "strange.jsonl", ["id", "vote_x"], [["n1", 0], ["m1", 1], ["m2", 1]])
    with pytest.raises(DataError, match=r"2 ids in .*strange\.jsonl are not in the data, the first is 'm1'"):
        find_votes(strange, task, {}, data)
    twice = rows_of(tmp_path / "twice.jsonl", ["id", "vote_x"], [["n1", 0], ["n1", 1]])
    with pytest.raises(DataError, match="more than one row with the id 'n1'"):
        find_votes(twice, task, {}, data)
    silent = rows_of(tmp_path / "silent.jsonl", ["id", "vote_x"], [["n1", -1]])
    with pytest.raises(DataError, match="no source votes on any of the"):
        find_votes(silent, task, {}, data)
    wrong = rows_of(tmp_path / "wrong.jsonl", ["id", "vote_x"], [["n1", "a"], ["n2", "c"]])
    with pytest.raises(DataError, match=r"wrong\.jsonl line 2: vote_x votes 'c', which is not a class"):
        find_votes(wrong, task, {}, data)
    with pytest.raises(DataError, match=r"there is no file votes\.csv"):
        find_votes("votes.csv", task, {}, data)
    with pytest.raises(DataError, match=r"owm is not a file with votes: give a table of votes or a rules file"):
        find_votes("owm", task, {}, data)
    with pytest.raises(DataError, match="data is not a file with votes"):
        find_votes("own", task, {})
