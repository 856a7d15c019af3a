"""Pseudo-labels in a session: how many are right is estimated, and a teacher need not give way to a worse student."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import actune
from actune.annotators.oracle import Oracle
from actune.core.objective import NO_GATE, Objective
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels
from actune.methods.method import Method, Teacher
from actune.methods.queries import Random
from actune.rounds.fitting import fit, training_set
from actune.session.labelled import pseudo_rows
from actune.session.runner import run

PLAN = {"learner": "probe", "initial": 30, "batch": 10, "rounds": 2, "simulated": True}
FAST = {"steps": 60, "epochs": 30}


class OneClass:
    """Trusts every candidate to be of the first class."""

    def __call__(self, view, state, pace):
        rows = view.candidates.numpy()
        return PseudoLabels(rows, np.zeros(len(rows), np.int64), np.full(len(rows), 5, np.float32)), state


def misled(folder, questions, stays):
    session = actune.create(folder, questions, method="hast", changes=FAST, **PLAN)
    session.method = Method(Random(), OneClass(), Objective(1.0, NO_GATE), Teacher(may_stay=stays))
    run(session, Oracle(questions.pool))
    return session.rounds()


def test_a_teacher_stays_where_its_student_is_worse_on_dev(tmp_path, questions):
    kept, replaced = misled(tmp_path / "a", questions, True), misled(tmp_path / "b", questions, False)
    for better, worse in zip(kept, replaced, strict=True):
        ours, theirs = better.pseudo_labels, worse.pseudo_labels
        assert ours.trained_on == 0 and theirs.trained_on == theirs.count == ours.count > 0
        assert better.dev_accuracy > worse.dev_accuracy
        assert ours.estimate < 0.5 and ours.accuracy < 0.5  # and it was to be seen
        assert better.dev_gain < 0 and better.gain < 0  # what was not taken is told all the same


def test_what_self_training_brings_is_the_student_less_its_teacher(tmp_path, questions):
    kept, replaced = misled(tmp_path / "a", questions, True), misled(tmp_path / "b", questions, False)
    for name in ("accuracy", "dev_accuracy"):
        gain = {"accuracy": "gain", "dev_accuracy": "dev_gain"}[name]
        first, second = kept[0], replaced[0]  # from the same labels: one is the teacher, the other the student
        difference = getattr(second, name) - getattr(first, name)
        assert getattr(first, gain) == getattr(second, gain) == difference
    plain = actune.create(tmp_path / "c", questions, method="actune", changes=FAST, **PLAN)
    run(plain, Oracle(questions.pool))
    assert not any(
        facts.gain or facts.dev_gain for facts in plain.rounds()
    )  # there is no model without them to compare with


class AsPredicted:
    """Trusts every candidate to be what the model says."""

    def __call__(self, view, state, pace):
        rows, predicted = view.candidates.numpy(), view.log_proba.argmax(1).numpy()
        return PseudoLabels(rows, predicted[rows], np.ones(len(rows), np.float32)), state


def test_a_teacher_that_reads_some_of_the_pool_says_of_them_what_one_that_reads_all_says(tmp_path, questions):
    session = actune.create(tmp_path / "run", questions, method="hast", changes=FAST, **PLAN)
    oracle = Oracle(questions.pool)
    oracle.send(session.ask())
    session.tell(oracle.collect())

    def trusted(reads, round=0):
        method = Method(Random(), AsPredicted(), Objective(1.0, NO_GATE), Teacher(reads=reads))
        labels = session.labels()
        training = training_set(labels, {}, PseudoLabels.none())
        return fit(session.prepared, method, labels, training, Streams(0, round), horizon=2).pseudo_labels

    every, some, others = trusted(None), trusted(50), trusted(50, round=1)
    assert len(every) == len(questions.pool) - len(session.labels().of_row) and len(some) == len(set(some.rows)) == 50
    places = np.searchsorted(every.rows, some.rows)
    np.testing.assert_array_equal(every.rows[places], some.rows)
    np.testing.assert_array_equal(every.targets[places], some.targets)
    np.testing.assert_allclose(every.confidence[places], some.confidence, rtol=1e-5)
    assert set(some.rows) != set(others.rows)  # drawn anew
    whole = trusted(len(every))
    np.testing.assert_array_equal(whole.rows, every.rows)


def test_a_student_that_is_no_worse_takes_over(tmp_path, questions):
    session = actune.create(tmp_path / "run", questions, method="hast", changes=FAST, **PLAN)
    plain = session.method
    session.method = replace(plain, self_training=Right(questions), teacher=Teacher(may_stay=True))
    run(session, Oracle(questions.pool))
    assert all(facts.pseudo_labels.trained_on == facts.pseudo_labels.count > 0 for facts in session.rounds())


class Right:
    """Trusts every candidate to be what it is."""

    def __init__(self, task):
        self.labels = np.asarray(task.pool.labels, np.int64)

    def __call__(self, view, state, pace):
        rows = view.candidates.numpy()
        return PseudoLabels(rows, self.labels[rows], np.ones(len(rows), np.float32)), state


@pytest.mark.parametrize("method", ["hast", "actune", "actune-cal", "asst"])
def test_estimates_and_confidences_of_every_kind_of_trust(tmp_path, questions, method):
    """Of a teacher within the round, and of the last model with and without a memory."""
    session = actune.create(tmp_path / "run", questions, method=method, changes=FAST, **PLAN)
    run(session, Oracle(questions.pool))
    found = session.rounds()[-1].pseudo_labels
    assert found.count == found.trained_on == sum(found.classes) > 0
    assert 0 < found.estimate <= 1 and found.accuracy == found.accuracy_trained_on
    exported = [row[5] for row in pseudo_rows(session)]
    assert exported and all(0 < confidence <= 1 for confidence in exported)


def test_without_dev_the_answers_estimate_and_nothing_else(tmp_path, questions):
    session = actune.create(tmp_path / "run", replace(questions, dev=None), method="hast", changes=FAST, **PLAN)
    run(session, Oracle(questions.pool))
    found = [facts.pseudo_labels for facts in session.rounds()]
    assert all((each.estimate is not None) == (each.count > 0) for each in found) and any(each.count for each in found)
    assert {facts.dev_accuracy for facts in session.rounds()} == {None}
