"""Label models: many votes about a row become one distribution over the classes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from actune.errors import Diverged, SettingError, nearest
from actune.weak.votes import ABSTAIN, Votes

LABEL_MODELS = {
    "majority": "the class with the most votes",
    "em": "Dawid-Skene: estimates how reliable each source is",
    "snorkel": "the label model of the package snorkel (pip install 'actune[weak]')",
}
FEWEST = 3  # with fewer sources no agreement can tell which one is right

Matrix = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Combined:
    """One distribution a row, its label, and how often the model thinks that each source is right."""

    proba: Floats  # (rows, classes), all 0 where no source votes
    labels: Matrix  # (rows,), ABSTAIN where no source votes; ties go to the lowest class
    accuracy: Floats  # (sources,), nan where a source never votes


def combine(name: str, votes: Votes, classes: int, seed: int = 0) -> Combined:
    """The votes as labels. Fewer than three sources are counted, whatever the model."""
    if name not in LABEL_MODELS:
        raise SettingError(f"there is no label model {name!r}: {nearest(name, LABEL_MODELS)}")
    covered = votes.covered
    proba = np.zeros((len(votes), classes))
    if covered.any():
        model = _MODELS[name] if len(votes.sources) >= FEWEST else _majority
        proba[covered] = model(votes.matrix[covered], classes, seed)
    labels = np.where(covered, _first_of_the_best(proba), ABSTAIN)
    return Combined(proba, labels, _accuracy(votes.matrix, proba))


def posterior(matrix: Matrix, chances: Floats, prior: Floats) -> Floats:
    """P(class | votes) by Bayes' rule over the sources that voted; those that said nothing are left out."""
    chances = chances.copy()
    chances[:, ABSTAIN] = 1.0
    return _posterior(matrix, chances, prior)


def estimate_chances(
    matrix: Matrix, classes: int, smoothing: float = 50.0, precision: float = 0.7, steps: int = 1000
) -> Floats:
    """P(source says this | class), (sources, classes + 1, classes), by expectation maximisation; the last is ABSTAIN.

    A source has a rate of hits and a rate of false alarms for each class. `smoothing` is a number of imagined votes,
    of which `precision` are right. The prior is uniform: an estimated one lets a frequent class swallow the others
    when sources depend on each other.
    """
    patterns, counts = np.unique(matrix, axis=0, return_counts=True)
    said = counts[:, None, None] * (patterns[:, :, None] == [*range(classes), ABSTAIN])  # (patterns, sources, outcomes)
    votes = said.sum(axis=0)[:, :classes, None]
    prior = np.full(classes, 1 / classes)
    proba = _shares(patterns, classes)
    for _ in range(steps):
        seen = np.tensordot(said, proba, axes=(0, 0))  # how often an outcome met a class, as far as is believed
        mass = counts @ proba + 1e-9
        right = np.einsum("scc->sc", seen[:, :classes])[:, :, None]
        trust = (right + smoothing * precision) / np.maximum(votes + smoothing, 1e-9)
        hits, alarms = votes * trust / mass[:, None], votes * (1 - trust) / (mass.sum() - mass)[:, None]
        said_so = np.where(np.eye(classes, dtype=bool), hits, alarms)
        silent = seen[:, ABSTAIN:] / mass
        chances: Floats = np.clip(np.concatenate([said_so, silent], axis=1), 1e-9, 1.0)
        before, proba = proba, _posterior(patterns, chances, prior)
        if np.abs(proba - before).max() < 1e-9:
            break
    return chances


def _posterior(matrix: Matrix, chances: Floats, prior: Floats) -> Floats:
    log = np.tile(np.log(prior), (len(matrix), 1))
    for source, of_outcome in enumerate(np.log(chances)):
        log += of_outcome[matrix[:, source]]
    return _to_one(np.exp(log - log.max(axis=1, keepdims=True)))


def _to_one(values: Floats) -> Floats:
    proba: Floats = values / values.sum(axis=1, keepdims=True)
    return proba


def _shares(matrix: Matrix, classes: int) -> Floats:
    return _to_one((matrix[:, :, None] == np.arange(classes)).sum(axis=1).astype(np.float64))


def _majority(matrix: Matrix, classes: int, seed: int) -> Floats:
    return _shares(matrix, classes)


def _em(matrix: Matrix, classes: int, seed: int) -> Floats:
    return posterior(matrix, estimate_chances(matrix, classes), np.full(classes, 1 / classes))


def _snorkel(matrix: Matrix, classes: int, seed: int) -> Floats:
    prior = np.full(classes, 1 / classes)
    with _global_random_numbers_kept():  # even to import snorkel draws one
        try:
            from snorkel.labeling.model import LabelModel
        except ImportError:
            missing = "the label model 'snorkel' needs the package snorkel"
            raise SettingError(f"{missing}: pip install 'actune[weak]', or use em or majority") from None
        model = LabelModel(cardinality=classes, verbose=False)
        try:
            model.fit(matrix, class_balance=prior, seed=seed, progress_bar=False)
        except Exception as error:  # it has no narrower class
            if "NaN" not in str(error):
                raise
            sizes = f"{matrix.shape[1]:,} sources that vote on {(matrix != ABSTAIN).mean():.0%} of the rows"
            raise Diverged(f"snorkel's label model diverged with {sizes}: use em or majority") from None
    chances = np.roll(model.get_conditional_probs(), -1, axis=1)  # snorkel has abstaining first
    # not its predict_proba, which multiplies probabilities and gives NaN where hundreds of sources vote
    return posterior(matrix, chances, prior)


@contextmanager
def _global_random_numbers_kept() -> Iterator[None]:
    import torch

    python, numpy = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)


def _first_of_the_best(proba: Floats) -> Matrix:
    # a tie may differ in the last bit, by the order in which its factors were multiplied
    best: Matrix = (proba >= proba.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1)
    return best


def _accuracy(matrix: Matrix, proba: Floats) -> Floats:
    """The share of each source's votes that the distributions believe."""
    voted = matrix != ABSTAIN
    believed = np.where(voted, np.take_along_axis(proba, np.where(voted, matrix, 0), axis=1), 0.0)
    votes = voted.sum(axis=0)
    accuracy = np.full(matrix.shape[1], np.nan)
    np.divide(believed.sum(axis=0), votes, out=accuracy, where=votes > 0)
    return accuracy


_MODELS: dict[str, Callable[[Matrix, int, int], Floats]] = {"majority": _majority, "em": _em, "snorkel": _snorkel}
