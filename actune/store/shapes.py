"""What the arrays of a run look like, by their names, so that those of others cannot be taken for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from actune.core.training_set import EARLIER_PREFIX, PREFIX

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Rule:
    """An array of whole numbers or of others; equal words in the shapes of one file are equal sizes."""

    whole: bool
    shape: tuple[str, ...]
    low: int = 0  # the lowest whole number
    finite: bool = True
    below: str = ""  # what whole numbers count: rows of the pool, or classes


RULES = {
    "memory": Rule(False, ("pool",), finite=False),  # NaN is a row that was never seen
    "map_rows": Rule(True, ("shown",), below="pool"),
    "map_points": Rule(False, ("shown", "width")),
    "map_classes": Rule(True, ("shown",), below="classes"),
    "map_regions": Rule(True, ("shown",), low=-1),  # of a row outside of all
    "map_heat": Rule(False, ("regions",)),
    "seen_classes": Rule(True, ("pool",), below="classes"),
    "seen_confidence": Rule(False, ("pool",)),
    "seen_regions": Rule(True, ("pool",), low=-1),  # of a row outside of all
    "why_rows": Rule(True, ("asked",), below="pool"),
    "why_entropy": Rule(False, ("asked",)),
    "why_margin": Rule(False, ("asked",)),
    "why_top": Rule(True, ("asked", "top"), below="classes"),
    "why_top_confidence": Rule(False, ("asked", "top")),
    "why_near": Rule(True, ("asked", "near"), below="pool"),
    "why_similarity": Rule(False, ("asked", "near")),
    "why_regions": Rule(True, ("asked",), low=-1),
    "why_heat": Rule(False, ("why regions",)),
    "test_predictions": Rule(True, ("test",), below="classes"),
    "test_confidence": Rule(False, ("test",)),
    "votes": Rule(True, ("pool", "sources"), low=-1, below="classes"),
    "proba": Rule(False, ("pool", "classes")),
    "labels": Rule(True, ("pool",), low=-1, below="classes"),
    "accuracy": Rule(False, ("sources",), finite=False),  # NaN is a source that never votes
    "group_of": Rule(True, ("pool",), below="pool"),
}
PSEUDO_LABELS = {
    "rows": Rule(True, ("trusted",), below="pool"),
    "targets": Rule(True, ("trusted",), below="classes"),
    "weights": Rule(False, ("trusted",)),
    "proba": Rule(False, ("trusted", "classes")),
    "confidence": Rule(False, ("trusted",)),
    "estimate": Rule(False, ("one",)),
}


def check_shapes(arrays: Mapping[str, np.ndarray], below: Mapping[str, int | None]) -> None:
    """A ValueError for an array that is not what its name says; `below` has the sizes of the pool and its classes."""
    sizes: dict[str, int] = {"one": 1}
    for name, array in arrays.items():
        if (rule := rule_of(name)) is not None:
            _check(name, array, rule, sizes, below)
    found = {
        name.removeprefix(prefix) for prefix in (PREFIX, EARLIER_PREFIX) for name in arrays if name.startswith(prefix)
    }
    if found and not {"rows", "targets", "weights"} <= found:
        raise ValueError("some arrays of its pseudo-labels are missing")
    if sizes.get("pool", 0) > (below.get("pool") or sizes.get("pool", 0)):
        raise ValueError(f"it is about {sizes['pool']:,} texts, and the pool has {below['pool']:,}")
    classes = below.get("classes")
    if classes is not None and sizes.get("classes", 0) > classes:  # fewer are from before some were added
        raise ValueError(f"it is about {sizes['classes']:,} classes, and this run has {classes:,}")
    if "map_rows" in arrays and not {"map_points", "map_classes"} <= arrays.keys():
        raise ValueError("some arrays of its map are missing")


def rule_of(name: str) -> Rule | None:
    """What an array of this name must be; None where nothing reads it."""
    for prefix in (PREFIX, EARLIER_PREFIX):
        if name.startswith(prefix):
            if (short := name.removeprefix(prefix)) not in PSEUDO_LABELS:
                raise ValueError(f"the array {name!r} is unknown")
            return PSEUDO_LABELS[short]
    return RULES.get(name)


def _check(name: str, array: np.ndarray, rule: Rule, sizes: dict[str, int], below: Mapping[str, int | None]) -> None:
    import numpy as np

    shape = (
        (*rule.shape, "classes") if name == "memory" and array.ndim == 2 else rule.shape
    )  # of scores, or predictions
    right = array.dtype.kind in ("iu" if rule.whole else "f") and len(shape) == array.ndim
    if not right or any(sizes.setdefault(word, size) != size for word, size in zip(shape, array.shape, strict=True)):
        raise ValueError(f"the array {name!r} has the type {array.dtype} and the shape {array.shape}")
    if not array.size:
        return
    if not rule.whole:
        if rule.finite and not np.isfinite(array).all():
            raise ValueError(f"the array {name!r} has numbers that are not finite")
        return
    limit = below.get(rule.below)
    if array.min() < rule.low or (limit is not None and array.max() >= limit):
        raise ValueError(f"the array {name!r} has numbers that are no {rule.below or 'regions'} of this run")
