"""The second recipe of fine-tuning: a pooled head that begins as a probe, a contrastive term, balanced batches."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from actune.core.objective import PLAIN, Objective
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.errors import ModelError
from actune.models.folders import POOLED_HEAD
from actune.models.learners import make_learner
from actune.models.objectives import label_contrast
from actune.models.pooled import WEIGHTS
from actune.models.training import balanced
from tests.models.tiny import WORDS, save_tiny

TEXTS = [f"{first} {second} the {third}" for first in WORDS[:4] for second in WORDS[4:8] for third in WORDS[8:10]]
LABELS = np.arange(len(TEXTS)) // 8 % 3  # by the first word
KNOWN = np.arange(0, len(TEXTS), 2)
RECIPE = Training(
    pooled_head=True, label_contrast=1.0, balanced_batches=True, labelled_batch=6, epochs=4, learning_rate=1e-3
)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("encoder") / "tiny")


def learner(encoder, **changes):
    return make_learner("finetune", encoder, 3, 16, replace(RECIPE, **changes), torch.device("cpu"))


def fitted(by, pseudo=None, objective=PLAIN):
    inputs = by.prepare(TEXTS)
    training = TrainingSet(KNOWN, LABELS[KNOWN], pseudo or PseudoLabels.none())
    return by.fit(inputs, training, objective, Streams(3, 1)), inputs


def naive_contrast(embedding, labels, temperature):
    """Khosla et al. 2020, written row by row."""
    losses = []
    for row in range(len(labels)):
        others = [other for other in range(len(labels)) if other != row]
        alike = [other for other in others if labels[other] == labels[row]]
        if alike:
            scores = {other: float(embedding[row] @ embedding[other]) / temperature for other in others}
            total = np.log(sum(np.exp(score) for score in scores.values()))
            losses.append(-np.mean([scores[other] - total for other in alike]))
    return np.mean(losses) if losses else 0.0


@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.sampled_from([0.1, 0.5, 1.0]))
def test_the_contrastive_term_is_that_of_its_formula(labels, temperature):
    rows = np.random.default_rng(len(labels)).normal(size=(len(labels), 5))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = label_contrast(torch.from_numpy(rows), torch.tensor(labels), temperature)
    assert float(found) == pytest.approx(naive_contrast(rows, labels, temperature), abs=1e-9)


def test_rows_of_one_class_that_are_alike_lose_less():
    near, far = torch.eye(2).repeat_interleave(2, 0), torch.eye(2).repeat(2, 1)
    labels = torch.tensor([0, 0, 1, 1])
    assert label_contrast(near, labels, 0.1) < 0.01 < label_contrast(far, labels, 0.1)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(2, 24))
def test_balanced_batches_have_as_many_rows_of_each_class(labels, size):
    labels = np.array(labels)
    batches = list(islice(balanced(labels, size, np.random.default_rng(0)), 30))
    for batch in batches:
        counts = np.unique(labels[batch], return_counts=True)[1]
        assert len(set(counts.tolist())) == 1 and counts[0] >= 2
        assert len(batch) <= max(2, size) or len(counts) == 1
    assert {*np.concatenate(batches).tolist()} <= {*range(len(labels))}


def test_every_class_has_its_turn():
    labels = np.repeat(np.arange(10), 3)
    batches = list(islice(balanced(labels, 8, np.random.default_rng(0)), 5))  # four classes at once
    seen = np.bincount(labels[np.concatenate(batches)], minlength=10)
    assert seen.min() == seen.max()


def test_the_head_begins_as_a_probe(encoder):
    """Without a single step the classifier knows its training texts better than chance."""
    by = learner(encoder, learning_rate=1e-9, epochs=1)
    classifier, inputs = fitted(by)
    right = classifier.read(inputs.only(KNOWN)).log_proba.argmax(1).numpy() == LABELS[KNOWN]
    assert right.mean() > 0.8


@pytest.mark.parametrize("changes", [{}, {"train_layers": 1}, {"fast": False}])
def test_a_saved_classifier_says_the_same(encoder, tmp_path, changes):
    by = learner(encoder, **changes)
    classifier, inputs = fitted(by)
    before = classifier.read(inputs)
    classifier.save(tmp_path / "saved", ["a", "b", "c"], "card")
    plain = learner(encoder, **{**changes, "train_layers": 0})
    after = plain.load(tmp_path / "saved").read(plain.prepare(TEXTS))
    torch.testing.assert_close(after.log_proba, before.log_proba, atol=2e-2, rtol=0)
    assert before.embedding.norm(dim=1).allclose(torch.ones(len(TEXTS)), atol=1e-3)


def test_it_learns_from_pseudo_labels(encoder):
    rows = np.arange(1, len(TEXTS), 2)
    pseudo = PseudoLabels(rows, LABELS[rows], np.ones(len(rows), np.float32))
    by = learner(encoder, steps=20, pseudo_batch=4)
    alone, inputs = fitted(by)
    taught, _ = fitted(by, pseudo, Objective(threshold=0.0))
    assert not alone.read(inputs).log_proba.equal(taught.read(inputs).log_proba)


def test_the_same_seed_gives_the_same_classifier(encoder):
    by = learner(encoder)
    first, inputs = fitted(by)
    assert first.read(inputs).log_proba.equal(fitted(by)[0].read(inputs).log_proba)


def test_a_damaged_head_is_a_sentence(encoder, tmp_path):
    by = learner(encoder)
    fitted(by)[0].save(tmp_path / "saved", ["a", "b", "c"], "card")
    whole = (tmp_path / "saved" / WEIGHTS).read_bytes()
    for content in (b"", whole[:40]):
        (tmp_path / "saved" / WEIGHTS).write_bytes(content)
        with pytest.raises(ModelError, match="not a whole head"):
            by.load(tmp_path / "saved")
    (tmp_path / "saved" / WEIGHTS).write_bytes(whole)
    (tmp_path / "saved" / POOLED_HEAD).write_text('{"pooling": "last", "scale": 10.0}')
    with pytest.raises(ModelError, match="does not say how the head stands"):
        by.load(tmp_path / "saved")
