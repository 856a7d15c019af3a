"""The contract of learners and of the classifiers that they make."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from actune.core.classifier import Classifier, Learner, Readout
from actune.core.objective import Objective
from actune.core.progress import silent
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet

OPEN = Objective(threshold=0.0)  # every pseudo-label counts
CLOSED = (Objective(weight=0.0), Objective(threshold=1.0))  # none does
CLOSE = 1e-5


def check_learner(learner: Learner, texts: Sequence[str], classes: int, tolerance: float = 0.1) -> None:
    """A learner prepares texts, fits new classifiers that a stream decides alone, and loads what these save.

    There must be ten texts for each class or more, and the first two of them must differ. A text that is read among
    other texts may differ by this share of the distance between texts, because batches in bfloat16 round otherwise.
    """
    inputs = learner.prepare(texts)
    assert len(inputs) == len(texts), f"{len(texts)} texts were prepared as {len(inputs)}"
    third = len(texts) // 3
    training = training_set(third, third, classes)
    state = torch.get_rng_state()
    classifier = learner.fit(inputs, training, OPEN, Streams(0))
    assert torch.equal(torch.get_rng_state(), state), "fitting has drawn from torch's own random numbers"
    said = classifier.read(inputs)
    _check_readout(said, len(texts), classes)
    _check_rows(learner, classifier, said, texts, tolerance)
    torch.manual_seed(123)
    assert _same(said, learner.fit(inputs, training, OPEN, Streams(0)).read(inputs)), "one stream gave two models"
    learner.fit(inputs, training, OPEN, Streams(0, round=1), None, silent, classifier)  # as a round calls it
    assert _same(said, classifier.read(inputs)), "another fit has changed a classifier"
    for objective in CLOSED:
        plain = learner.fit(inputs, training_set(third, 0, classes), objective, Streams(0)).read(inputs)
        with_pseudo = learner.fit(inputs, training, objective, Streams(0)).read(inputs)
        assert _same(plain, with_pseudo), "pseudo-labels that do not count have changed a model"
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "model"
        classifier.save(folder, [f"class {number}" for number in range(classes)], "a model card")
        assert _same(said, learner.load(folder).read(inputs)), "a classifier that was saved and loaded is another one"


def training_set(labelled: int, pseudo: int, classes: int) -> TrainingSet:
    """The first rows labelled, the next ones pseudo-labelled, classes in turn."""
    rows = np.arange(labelled + pseudo)
    found = PseudoLabels(rows[labelled:], rows[labelled:] % classes, np.ones(pseudo, np.float32))
    return TrainingSet(rows[:labelled], rows[:labelled] % classes, found)


def _check_readout(said: Readout, texts: int, classes: int) -> None:
    assert said.log_proba.shape == (texts, classes), f"log_proba has the shape {tuple(said.log_proba.shape)}"
    assert said.embedding.ndim == 2 and len(said.embedding) == texts, "embedding is not (texts, width)"
    assert said.log_proba.dtype == said.embedding.dtype == torch.float32, "a readout is not in float32"
    assert said.log_proba.exp().sum(1).sub(1).abs().max() < CLOSE, "probabilities do not add up to one"
    assert said.embedding.isfinite().all(), "an embedding is not finite"
    assert not torch.allclose(said.embedding[0], said.embedding[1], atol=1e-4), "different texts are read alike"


def _check_rows(
    learner: Learner, classifier: Classifier, said: Readout, texts: Sequence[str], tolerance: float
) -> None:
    rows = np.random.default_rng(0).permutation(len(texts))[: len(texts) // 2]
    other = classifier.read(learner.prepare([texts[row] for row in rows]))
    usual = (said.embedding[0] - said.embedding[1]).norm()
    apart = (other.embedding - said.embedding[torch.from_numpy(rows).to(said.embedding.device)]).norm(dim=1).max()
    assert apart <= tolerance * usual, "a text is read otherwise among other texts"


def _same(one: Readout, other: Readout) -> bool:
    return torch.equal(one.log_proba, other.log_proba) and torch.equal(one.embedding, other.embedding)
