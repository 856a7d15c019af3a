"""Wrong values in the public functions: each gets one of actune's own errors, and none an error of Python's insides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import actune
from actune.core.task import Task

# none of these is a list of texts, a list of labels, a list of names, or the name of anything
WRONG: tuple[Any, ...] = (
    3,
    2.5,
    True,
    b"bytes",
    {"a": 1},
    object(),
    [["a"]],
    [b"a"],
    [1],
    ["\ud800"],
    np.zeros(2),
    {"a"},
)
POOL = actune.pool_of([f"text number {number}" for number in range(40)], classes=["x", "y"])


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> actune.Session:
    """A project after its first round."""
    words: dict[str, Any] = {"learner": "probe", "method": "random", "changes": {"steps": 20, "epochs": 2}}
    made = actune.create(tmp_path_factory.mktemp("runs") / "run", POOL, batch=5, initial=5, **words)
    made.tell({question.id: "xy"[number % 2] for number, question in enumerate(made.ask())})
    made.advance()
    return made


CALLS: dict[str, Callable[[Any], Any]] = {
    "pool_of texts": lambda value: actune.pool_of(value),
    "pool_of labels": lambda value: actune.pool_of(["a", "b"], labels=value),
    "pool_of ids": lambda value: actune.pool_of(["a", "b"], ids=value),
    "pool_of classes": lambda value: actune.pool_of(["a", "b"], classes=value),
    "read_pool": lambda value: actune.read_pool(value, text="body"),
    "read_pool column": lambda value: actune.read_pool(["a"], text=value),
    "load_task": lambda value: actune.load_task(value),
    "open_session": lambda value: actune.open_session(value),
    "Oracle": lambda value: actune.Oracle(value),
    "noise": lambda value: actune.Oracle(POOL, noise=value),
    "fit": lambda value: actune.TextClassifier().fit(value, ["x"]),
    "fit y": lambda value: actune.TextClassifier().fit(["a", "b", "c"], value),
    "settings": lambda value: actune.TextClassifier(settings=value).fit(["a", "b"], ["x", "y"]),
}


@pytest.mark.parametrize("call", CALLS)
def test_values_of_a_wrong_kind(call: str) -> None:
    for value in WRONG:
        with pytest.raises(actune.ActuneError) as found:
            CALLS[call](value)
        assert len(str(found.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["folder", "data", "method", "batch", "reading", "changes", "device", "progress"])
def test_options_of_a_wrong_kind(tmp_path: Path, name: str) -> None:
    for value in (3.5, b"bytes", object(), [["a"]]):
        words: dict[str, Any] = {"folder": tmp_path / "run", "data": POOL, "learner": "probe", name: value}
        with pytest.raises(actune.ActuneError):
            actune.create(**words)
    assert not (tmp_path / "run").exists()


SESSION_CALLS: dict[str, Callable[[actune.Session, Any], Any]] = {
    "tell": lambda session, value: session.tell(value),
    "tell label": lambda session, value: session.tell({"0": value}),
    "tell id": lambda session, value: session.tell([actune.Answer(value, "x")]),
    "ask n": lambda session, value: session.ask(n=value),
    "ask by": lambda session, value: session.ask(by=value),
    "ask seconds": lambda session, value: session.ask(by="me", seconds=str(value)),  # type: ignore[arg-type]
    "add": lambda session, value: session.add(value),
    "predict": lambda session, value: session.predict(value),
    "save": lambda session, value: session.save(value),
    "run": lambda session, value: actune.run(session, value),
    "run session": lambda session, value: actune.run(value, actune.Oracle(POOL)),
}


@pytest.mark.parametrize("call", SESSION_CALLS)
def test_a_session_that_is_given_something_wrong(session: actune.Session, call: str) -> None:
    answers = len(session.labels().of_row)
    for value in WRONG:
        if call == "ask n" and type(value) is int:
            continue
        with pytest.raises(actune.ActuneError):
            SESSION_CALLS[call](session, value)
    assert len(session.labels().of_row) == answers and len(session.pool) == 40


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda session: session.predict("some text"), "not one string: write predict(['some text'])"),
        (lambda session: session.predict("x" * 10_000), "predict takes a list of texts, not one string"),
        (lambda session: session.predict(["a", None]), "text number 1 is None: pass a string"),
        (lambda session: session.predict(pd.Series(["a", None])), "text number 1 is nan: pass a string"),
        (lambda session: session.tell("person"), "answers must be a list, not 'person'"),
        (lambda session: session.tell([("0", "x")]), "('0', 'x') is not an answer"),
        (lambda session: session.tell({0: "x"}), "the id of an answer must be a string, such as '7', not 0"),
        (lambda session: session.tell([actune.Answer("0", "x", by="\udcff")]), "who answers must be a name without"),
        (lambda session: session.ask(by="\udcff"), "by must be the name of a person, not '\\udcff'"),
        (lambda session: session.ask(n=-1), "n must be a whole number of at least 0, not -1"),
        (lambda session: actune.pool_of([]), "a pool needs at least one"),
        (lambda session: actune.pool_of("text"), "texts must be a list, not 'text'"),
        (lambda session: actune.pool_of(["a"], classes=["x", "x"]), "the class 'x' is named twice"),
        (
            lambda session: actune.create("x", POOL, batchsize=3),
            "a run has no option 'batchsize': did you mean 'batch'?",
        ),
        (lambda session: actune.create("x", POOL, reading={"txt": "a"}), "did you mean 'text'?"),
        (lambda session: actune.create("x", ["a", "b"]), "a classifier needs at least two classes"),
        (lambda session: actune.create("x", POOL, reading={"sample": [3]}), "'sample' takes a whole number, not [3]"),
        (lambda session: actune.create("x", POOL, changes={"regions": float("inf")}), "a whole number, not inf"),
        (lambda session: actune.create("x", POOL, changes={"beta": 10**400}), "'beta' takes a number, not 1000"),
        (lambda session: actune.create("x", POOL, changes={"growth": 10**5000}), "not a number of thousands of digits"),
        (lambda session: actune.create("x", POOL, weak="x" * 300), "x"),
        (lambda session: actune.create("x", POOL, noise=10**400), "option 'noise' takes a number, not 1000"),
        (lambda session: actune.create("x", POOL, batch=10**5000), "not a number of thousands of digits"),
    ],
)
def test_sentences(session: actune.Session, call: Callable[[actune.Session], Any], sentence: str) -> None:
    with pytest.raises(actune.UserError) as found:
        call(session)
    assert sentence in str(found.value)


def test_missing_labels_of_pandas_are_no_labels(questions: Task) -> None:
    labels = pd.Series(["x", None, float("nan"), pd.NA, "y"], dtype=object)
    assert actune.pool_of(list("abcde"), labels).labels.tolist() == [0, -1, -1, -1, 1]
