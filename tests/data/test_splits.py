"""Tasks from a user's own files: given splits, held-out splits, plans and folders."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from actune.core.pool import UNKNOWN, Pool, pool_of
from actune.core.settings import own_settings
from actune.core.streams import Streams
from actune.core.task import Plan
from actune.data.folders import make_task_from_folder
from actune.data.splits import Reading, labelled_only, make_task, own_plan, relabel
from actune.errors import DataError

WHOLE = Reading(hold_out_dev=0, hold_out_test=0)


def write(path: Path, labels: list[str | None], word: str = "text") -> Path:
    records = [{"text": f"{word} {row}", "label": label} for row, label in enumerate(labels)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def names(pool: Pool) -> list[str | None]:
    return [None if label == UNKNOWN else pool.classes[label] for label in pool.labels]


def test_files(tmp_path: Path) -> None:
    train = write(tmp_path / "a.jsonl", ["x", None, "z"])
    dev, test = write(tmp_path / "b.jsonl", ["y"], "dev"), write(tmp_path / "c.jsonl", ["x", "w"], "test")
    task = make_task("mine", train, dev, test)
    assert task.dev is not None and task.test is not None
    assert task.pool.classes == task.dev.classes == task.test.classes == ("w", "x", "y", "z")
    assert (names(task.pool), names(task.dev), names(task.test)) == (["x", None, "z"], ["y"], ["x", "w"])
    assert task.settings == own_settings(3, 4)
    assert not task.bundled


def test_a_column_splits(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("text,label,fold\na,x,train\nb,y,VAL\nc,y,test\nd,,train\ne,x,validation\nf,x,train\na,x,test\n")
    task = make_task("mine", path, reading=Reading(split="fold"))
    assert task.dev is not None and task.test is not None
    assert (task.pool.texts, task.dev.texts, task.test.texts) == (("a", "d", "f"), ("b", "e"), ("c", "a"))
    assert task.pool.ids == ("0", "3", "5")
    assert task.notes == ("the test set shares 1 text with the pool, so its scores may be too high",)


def test_held_out_rows_are_labelled_and_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", ["x", None, "y", "x", None] * 20)
    task = make_task("mine", path, seed=3)
    assert task.dev is not None and task.test is not None
    assert (len(task.pool), len(task.dev), len(task.test)) == (82, 6, 12)
    assert None not in names(task.dev) + names(task.test)
    assert {*task.pool.ids, *task.dev.ids, *task.test.ids} == {str(row) for row in range(100)}
    labelled = [row for row in range(100) if row % 5 not in (1, 4)]
    drawn = [labelled[place] for place in Streams(3).rng("split").permutation(60)[:12]]
    assert task.test.ids == tuple(str(row) for row in sorted(drawn))
    assert make_task("mine", path, seed=3) == task
    assert make_task("mine", path, seed=4).test != task.test


def test_numbers_of_rows_may_be_held_out(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", ["x", "y"] * 20)
    task = make_task("mine", path, reading=Reading(hold_out_dev=7, hold_out_test=0))
    assert task.dev is not None and task.test is None
    assert len(task.dev) == 7


TEXTS = [f"{stem} number {row}" for row in range(40) for stem in ("what is the meaning of", "who was the first of all")]


@pytest.fixture
def repeated(tmp_path: Path) -> Path:
    """Eighty texts and two other spellings of each; some groups have a text without a label."""
    spelled = TEXTS + [f"{text.upper()} !" for text in TEXTS] + [f"  {text} ?" for text in TEXTS]
    records = [{"text": text, "label": "ab"[row % 2]} for row, text in enumerate(spelled)]
    for row in range(10):
        records[row].pop("label")
    path = tmp_path / "repeated.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def spellings(pool: Pool) -> set[str]:
    return {text.strip(" !?").lower() for text in pool.texts}


def test_near_duplicates_are_held_out_together(repeated: Path) -> None:
    apart = make_task("own", repeated, reading=Reading())
    assert apart.test is not None and spellings(apart.test) & spellings(apart.pool)
    for seed in range(5):
        task = make_task("own", repeated, reading=Reading(keep_together=0.95), seed=seed)
        assert task.dev is not None and task.test is not None
        parts = [spellings(part) for part in (task.pool, task.dev, task.test)]
        assert sum(map(len, parts)) == len(set.union(*parts)) == len(TEXTS)
        assert len(task.pool) + len(task.dev) + len(task.test) == 3 * len(TEXTS)
        assert len(task.test) == 45 and len(task.dev) == 21  # of 230 labelled ones, as many as groups of three allow
        assert not spellings(task.test) & set(TEXTS[:10])  # whose groups have a text without a label


def test_keeping_together_changes_nothing_where_all_texts_differ(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", ["a", "b"] * 30)
    assert make_task("own", path, reading=Reading(keep_together=1.0)) == make_task("own", path)


def test_groups_that_cannot_be_held_out(tmp_path: Path) -> None:
    path = tmp_path / "same.jsonl"
    path.write_text("\n".join(json.dumps({"text": "all the same", "label": "ab"[row % 2]}) for row in range(20)))
    with pytest.raises(DataError, match="no 4 rows can be held out for test without separating near-duplicates"):
        make_task("own", path, reading=Reading(keep_together=0.8))
    with pytest.raises(DataError, match=r"--keep-together must be a similarity from 0 to 1, not 1\.2"):
        make_task("own", path, reading=Reading(keep_together=1.2))


def test_labelling_starts_without_labels(tmp_path: Path) -> None:
    task = make_task("mine", write(tmp_path / "t.jsonl", [None] * 9), reading=Reading(classes=("b", "a")))
    assert (task.dev, task.test, task.pool.classes) == (None, None, ("b", "a"))


def test_dev_is_cut(tmp_path: Path) -> None:
    train, dev = write(tmp_path / "a.jsonl", ["x", "y"]), write(tmp_path / "b.jsonl", ["x", "y"] * 600, "dev")
    task = make_task("mine", train, dev, reading=WHOLE, seed=1)
    other = make_task("mine", train, dev, reading=WHOLE, seed=2)
    assert task.dev is not None and other.dev is not None
    assert len(task.dev) == 1000
    assert task.dev.ids != other.dev.ids
    assert task.notes == ("the dev set is a random sample of 1,000 of 1,200 rows",)


def test_a_sample_of_the_pool(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", ["x", "y"] * 300)
    task = make_task("mine", path, reading=Reading(sample=200, hold_out_dev=50, hold_out_test=50))
    assert task.dev is not None and (len(task.pool), len(task.dev)) == (200, 50)
    assert task.settings == own_settings(200, 2) and task.plan == own_plan(200, 2)
    assert task.notes == ("the pool is a random sample of 200 of 500 rows",)


def test_a_sample_counts_its_own_repeated_texts_and_keeps_other_notes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"text {row // 2},{'xy'[row % 2]},{'pseudo' if row == 9 else 'person'},1,1" for row in range(10)]
    path.write_text("\n".join(["text,label,source,round,confidence", *rows]) + "\n")
    whole, sample = (make_task("mine", path, reading=replace(WHOLE, sample=most)).pool for most in (None, 6))
    pseudo = "1 row is a pseudo-label from an export and not used as a label"
    assert whole.notes == (pseudo, "5 texts occur more than once (10 rows)")
    twice = len(sample) - len(set(sample.texts))
    assert 0 < twice < 5
    assert sample.notes == (
        pseudo,
        f"{twice} {'text occurs' if twice == 1 else 'texts occur'} more than once ({2 * twice} rows)",
    )


@pytest.mark.parametrize(
    ("labels", "reading", "expected"),
    [
        (["x", "x", None], WHOLE, "the only class is 'x': a classifier needs at least two classes"),
        ([None, None], WHOLE, "the data has no labels"),
        (["x", "y"], Reading(classes=("x", "y", "y")), "the class 'y' is named twice"),
        (["x", "y"], Reading(classes=tuple("xyz"), hold_out_dev=1), "there are 2 labelled rows for 3 classes"),
        (["x", "y"], Reading(hold_out_dev=2), "cannot hold out 2 of 2 labelled rows"),
        (["x", "y"], Reading(hold_out_test=-1), "-1 rows cannot be held out for test"),
        (["x", "y"], Reading(split="fold"), "no column 'fold': set it with --split"),
        (["x", "y"], Reading(split="label"), "must contain train, dev or test, not 'x', in lines 1, 2"),
        (["dev", "test"], Reading(split="label"), "marks no row as train"),
    ],
)
def test_bad_tasks(tmp_path: Path, labels: list[str | None], reading: Reading, expected: str) -> None:
    with pytest.raises(DataError) as error:
        make_task("mine", write(tmp_path / "t.jsonl", labels), reading=reading)
    assert expected in str(error.value)


def test_dev_and_test_need_labels(tmp_path: Path) -> None:
    train, dev = write(tmp_path / "a.jsonl", ["x", "y"]), write(tmp_path / "b.jsonl", ["x", None], "dev")
    with pytest.raises(DataError, match=r"b\.jsonl has no label in line 2"):
        make_task("mine", train, dev)
    path = tmp_path / "t.csv"
    path.write_text("text,label,fold\na,x,train\nb,y,train\nc,,test\n")
    with pytest.raises(DataError, match="has no label in line 4: dev and test rows need one"):
        make_task("mine", path, reading=Reading(split="fold"))


def test_plans_fit_the_pool() -> None:
    assert own_plan(60_000, 2) == Plan(100, 100, 10)
    assert own_plan(2_000, 4) == Plan(40, 40, 10)
    assert own_plan(100, 10) == Plan(20, 20, 5)
    assert own_plan(3, 10) == Plan(3, 3, 1)


def test_a_folder_with_numbers_for_names(tmp_path: Path) -> None:
    write(tmp_path / "train.jsonl", ["1", "0", None])
    write(tmp_path / "val.jsonl", ["2"], "dev")
    (tmp_path / "labels.json").write_text('["zero", "one", "two"]')
    task = make_task_from_folder(tmp_path, WHOLE)
    assert task.name == tmp_path.name
    assert task.dev is not None and task.test is None
    assert task.pool.classes == ("zero", "one", "two")
    assert (names(task.pool), names(task.dev)) == (["one", "zero", None], ["two"])


@pytest.mark.parametrize(
    ("files", "reading", "expected"),
    [
        ({"dev.csv": "text\na\n"}, WHOLE, "has no train file"),
        (
            {"train.csv": "", "train.jsonl": ""},
            WHOLE,
            "has two train files, train.csv and train.jsonl: remove one of them",
        ),
        ({"train.csv": "text,label\na,3\nb,0\n", "labels.json": '["x", "y"]'}, WHOLE, "the label '3' is neither"),
        ({"train.csv": "text,label\na,x\n", "labels.json": '{"x": 0}'}, WHOLE, "must have a text, a list of"),
        ({"train.csv": "text,label\na,0\n", "labels.json": '{"0": "x"}'}, WHOLE, "is not a list of class names"),
        ({"train.csv": "text,label\na,x\n", "labels.json": "{"}, WHOLE, "is not a list of class names"),
        ({"train.csv": "text,label\na,x\n"}, Reading(split="fold"), "has a file per split"),
    ],
)
def test_bad_folders(tmp_path: Path, files: dict[str, str], reading: Reading, expected: str) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(DataError) as error:
        make_task_from_folder(tmp_path, reading)
    assert expected in str(error.value)


def test_a_simulation_leaves_unlabelled_rows_out(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", ["x", None, "y", "x"] * 100)
    whole = make_task("mine", path, reading=WHOLE)
    task = labelled_only(whole)
    assert set(names(task.pool)) == {"x", "y"}
    assert task.pool.ids[:4] == ("0", "2", "3", "4")
    assert task.settings == own_settings(300, 2) != whole.settings
    assert task.plan == own_plan(300, 2)
    assert task.notes[-1].startswith("100 of 400 texts have no label and are left out")
    assert labelled_only(task) is task


def test_classes_in_another_order_are_other_numbers() -> None:
    pool = pool_of(["one", "two", "three"], ["a", "b", None])
    assert relabel(pool, ["a", "b"]) is pool
    assert relabel(pool, ["b", "a"]).labels.tolist() == [1, 0, UNKNOWN]
