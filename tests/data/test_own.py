"""Tasks of one's own, from lists, pools, frames and files, with one's own test set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import actune

TEXTS = [f"text number {number}" for number in range(60)]
LABELS = ["xyz"[number % 3] for number in range(60)]
MORE, NAMES = [f"another text {number}" for number in range(9)], list("xyzxyzxyz")


def given(kind: str, folder: Path, texts: list[str], labels: list[str]) -> Any:
    frame = pd.DataFrame({"text": texts, "label": labels})
    if kind == "file":
        frame.to_csv(path := folder / f"{len(texts)}.csv", index=False)
        return path
    return {"pair": (texts, labels), "pool": actune.pool_of(texts, labels), "frame": frame}[kind]


@pytest.mark.parametrize("train", ["pair", "pool", "frame", "file"])
@pytest.mark.parametrize("test", ["pair", "pool", "frame", "file"])
def test_every_kind_of_data_beside_every_other(tmp_path: Path, train: str, test: str) -> None:
    task = actune.task_of(
        given(train, tmp_path, TEXTS, LABELS), test=given(test, tmp_path, MORE, NAMES), hold_out_dev=6, name="mine"
    )
    assert repr(task) == "Task('mine', 54 texts, 3 classes, dev 6, test 9)"
    assert task.test is not None and list(task.test.texts) == MORE
    assert [task.test.classes[number] for number in task.test.labels] == NAMES
    assert task.plan.rounds > 0


def test_a_task_is_simulated_and_tested_on_its_own_test_set(tmp_path: Path) -> None:
    task = actune.task_of((TEXTS, LABELS), dev=(MORE, NAMES), test=(MORE, NAMES))
    words: dict[str, Any] = {"learner": "probe", "method": "random", "changes": {"steps": 20, "epochs": 2}}
    session = actune.create(tmp_path / "run", task, simulated=True, initial=10, batch=10, rounds=2, **words)
    actune.run(session, actune.Oracle(session.pool))
    assert [facts.labels for facts in session.rounds()] == [10, 20]
    assert all(facts.accuracy is not None and facts.dev_accuracy is not None for facts in session.rounds())
    assert actune.open_session(tmp_path / "run").task.test == task.test


def test_people_may_answer_and_a_test_set_measures(tmp_path: Path) -> None:
    task = actune.task_of(TEXTS, test=(MORE, NAMES))
    assert task.dev is None and len(task.pool) == 60 and task.pool.classes == ("x", "y", "z")
    session = actune.create(tmp_path / "run", task, learner="probe", initial=6, changes={"steps": 20, "epochs": 2})
    session.tell({question.id: LABELS[int(question.id)] for question in session.ask()})
    facts = session.advance()
    assert facts is not None and facts.accuracy is not None


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: actune.task_of((TEXTS, LABELS), test=(MORE, [None, *NAMES[1:]])),
            "1 of 9 texts of test have no label",
        ),
        (lambda: actune.task_of((TEXTS, LABELS), test=(MORE, NAMES[1:])), "give one id and one label"),
        (lambda: actune.task_of((TEXTS, LABELS), test=MORE), "has no label in rows 1, 2, 3, 4, 5 and 4 more"),
        (lambda: actune.task_of((TEXTS, LABELS), classes="xyz"), "classes must be a list, not 'xyz'"),
        (lambda: actune.task_of((TEXTS, LABELS), classes=["x", "y"]), "unknown label 'z'"),
        (lambda: actune.task_of((TEXTS, LABELS), split="part"), "split is the name of a column"),
        (lambda: actune.task_of(TEXTS), "the data has no labels"),
        (lambda: actune.task_of(3), "cannot read texts from a int"),
    ],
)
def test_sentences(call: Any, sentence: str) -> None:
    with pytest.raises(actune.DataError) as found:
        call()
    assert sentence in str(found.value)
