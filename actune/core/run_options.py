"""The keyword arguments of `create`, for type checkers; written by `make options` from core/spec.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict


class RunOptions(TypedDict, total=False):
    """What may be said about a run; what is left out has the default of `RunSpec`, or comes from the data."""

    source: str
    method: str | Any
    preset: str
    model: str
    learner: str
    recipe: str
    device: str
    initial: int | None
    batch: int | None
    rounds: int | None
    seed: int
    simulated: bool
    noise: float
    adapt: int
    first: str
    weak: str
    label_model: str
    names: str
    keep_weak: bool
    start_from: str
    changes: Mapping[str, Any]
    reading: Mapping[str, Any]
    no_dev: bool
    distinct: float
    page: bool
    audit: int
    audit_every: int
    store: str
    overlap: float
    answers_each: int
    round_seconds: float
