"""A teacher within the round: fitted on the labels that there are, it labels for a student of the same round."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import actune
from actune.annotators.oracle import Oracle
from actune.core.objective import PLAIN
from actune.core.streams import Streams
from actune.core.task import Task
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.methods.teaching import Agreement
from actune.session.runner import result, run
from actune.session.session import Session

PLAN = {"learner": "probe", "initial": 30, "batch": 10, "rounds": 2, "simulated": True}
FAST = {"steps": 40, "epochs": 4, "teacher_samples": 5, "teacher_rows": 100}


def created(folder: Path, task: Task, method: str, **changes: int) -> Session:
    return actune.create(folder / method, task, method=method, changes=FAST | changes, **PLAN)  # type: ignore[arg-type]


def answered(session: Session, task: Task) -> Session:
    """The session with its open questions answered rightly."""
    oracle = Oracle(task.pool)
    oracle.send(session.ask())
    session.tell(oracle.collect())
    return session


@pytest.mark.parametrize(("method", "count"), [("st", 270), ("ust", 100)])
def test_the_first_round_has_pseudo_labels_of_a_teacher_of_the_same_labels(
    method: str, count: int, tmp_path: Path, questions: Task
) -> None:
    """st trusts every other text, ust as many as it is told; a plain fit on the labels says the same of them."""
    session = answered(created(tmp_path, questions, method), questions)
    known = session.labels().of_row
    facts = session.advance()
    assert (facts.round, facts.labels, facts.pseudo_labels.trained_on) == (0, 30, count)
    kept = session.store.load_arrays("fit-000")
    assert len(kept["pseudo_rows"]) == count and not known.keys() & set(kept["pseudo_rows"].tolist())

    rows = np.array(sorted(known))
    labels = TrainingSet(rows, np.array([known[row] for row in rows.tolist()]), PseudoLabels.none())
    here = session.prepared
    teacher = here.learner.fit(here.pool, labels, PLAIN, Streams(0), here.dev)
    said = teacher.read(here.pool).log_proba.argmax(1).numpy()
    np.testing.assert_array_equal(kept["pseudo_targets"], said[kept["pseudo_rows"]])


def test_the_student_is_another_model_than_its_teacher(tmp_path: Path, questions: Task) -> None:
    """Both ask at random and have the same first labels, so only the pseudo-labels can tell them apart."""
    predictions = []
    for method in ("random", "st"):
        session = answered(created(tmp_path, questions, method), questions)
        session.advance()
        predictions.append(session.store.load_arrays("fit-000")["test_predictions"].tolist())
    assert predictions[0] != predictions[1]


@pytest.mark.parametrize(("method", "fits"), [("st", 2), ("thrifty", 3)])
def test_a_student_does_not_share_its_teachers_streams(method: str, fits: int, tmp_path: Path, questions: Task) -> None:
    """Neither in the first round nor later: a teacher and its students begin, are ordered and drop out on their own."""
    session = answered(created(tmp_path, questions, method), questions)
    learner, given = session.prepared.learner, []
    plain = learner.fit
    learner.fit = lambda *words: given.append(words[3]) or plain(*words)  # type: ignore[method-assign]
    session.advance()
    answered(session, questions).advance()
    assert len(given) == 2 * fits
    for purpose in ("head", "labelled order", "trusted order", "dropout"):
        assert len({streams.integer(purpose) for streams in given}) == len(given)


def test_a_student_teaches_the_next_one(tmp_path: Path, questions: Task) -> None:
    """What the last student of thrifty learnt is what its first one says, and that is another model."""
    found = []
    for method in ("thrifty-one-student", "thrifty"):
        session = answered(created(tmp_path, questions, method), questions)
        here, fits = session.prepared, []
        plain = here.learner.fit
        here.learner.fit = lambda *given, fits=fits, plain=plain: fits.append(plain(*given)) or fits[-1]  # type: ignore[method-assign]
        assert session.advance().pseudo_labels.trained_on == FAST["teacher_rows"] // 2
        kept, models = session.store.load_arrays("fit-000"), [fit.read(here.pool).log_proba for fit in fits]
        said = models[-2].argmax(1).numpy()
        np.testing.assert_array_equal(kept["pseudo_targets"], said[kept["pseudo_rows"]])
        found.append(models)
    one, two = found
    assert (len(one), len(two)) == (2, 3) and one[1].equal(two[1]) and not two[1].equal(two[2])


@pytest.mark.parametrize(("confidence", "keeps"), [(1.0, False), (0.5, True)])  # a probability never exceeds 1
def test_hast_that_keeps_nothing_is_a_plain_model_of_the_labels(
    confidence: float, keeps: bool, tmp_path: Path, questions: Task
) -> None:
    """HAST asks by margin: with no pseudo-labels left, every number and every question is that of the method margin."""
    found = []
    for method in ("margin", "hast"):
        session = created(tmp_path, questions, method, epochs=30)
        if method == "hast":
            session.method = replace(session.method, self_training=Agreement(confidence=confidence))
        run(session, Oracle(questions.pool))
        facts = result(session)
        same = ("labels", "accuracy", "macro_f1", "pseudo_labels", "asked")
        found.append(({name: facts[name] for name in same}, session.predict(questions.pool.texts[:20])))
    assert [count > 0 for count in found[1][0]["pseudo_labels"]] == [keeps, keeps]
    assert (found[0] == found[1]) is not keeps
