"""Fuzzes saved classifiers of others: one file of a model folder is mutated, and the model is loaded and used."""

from __future__ import annotations

import random

from tests.fuzz import models
from tests.fuzz.ground import Place
from tests.fuzz.inputs import Input


def make(rng: random.Random, place: Place) -> Input:
    """One mutation, in a copy of what `prepare` saved."""
    saved = {path.name: path for path in (place.ground / "saved").iterdir() if path.name != "tiny"}
    given = next(models.inputs(rng, saved))
    return lambda: models.use(given, saved, place.folder / "model")


def prepare(place: Place) -> None:
    """Saves the classifiers, once for all inputs."""
    (place.ground / "saved").mkdir()
    models.make_saved(place.ground / "saved")
