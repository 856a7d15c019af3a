"""A task of one's own: the texts to choose from, and texts with labels to check and to test models on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from actune.core.checks import checked_classes
from actune.core.pool import UNKNOWN, Pool, pool_of
from actune.core.task import Task
from actune.data.frames import Data
from actune.data.splits import USUAL, Reading, read_part
from actune.data.splits import task_of as task_of_parts
from actune.data.tasks import resolve
from actune.errors import DataError


def task_of(
    data: Pool | Data,
    dev: Pool | Data | None = None,
    test: Pool | Data | None = None,
    *,
    name: str | None = None,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    split: str | None = None,
    classes: Sequence[str] | None = None,
    hold_out_dev: float = USUAL.hold_out_dev,
    hold_out_test: float = USUAL.hold_out_test,
    keep_together: float = USUAL.keep_together,
    seed: int = 0,
) -> Task:
    """A task for `actune.create`: the pool, a dev set that chooses checkpoints, and a test set that measures models.

    Each of the three is a pool, a pair of lists (texts, labels), a file, a frame, or whatever `actune.read_pool` takes.
    A dev or test set that is not given is held out of the labelled rows of `data`: a share of them, or a number of
    rows, and 0 for none. With `keep_together`, such as 0.8, texts that share so much of their pairs of neighbouring
    words are held out together or not at all. Labels may be missing in `data` where people will answer.
    """
    names = None if classes is None else checked_classes(classes)
    reading = Reading(text, label, id, split, names, hold_out_dev, hold_out_test, keep_together)
    if any(isinstance(part, Pool) or _is_pair(part) for part in (data, dev, test)):
        if split is not None:
            raise DataError("split is the name of a column, so it works with a file or a DataFrame and not with a pool")
        given = {"train": data, "dev": dev, "test": test}
        parts = {part: _pool(found, part, reading) for part, found in given.items() if found is not None}
        task = task_of_parts("data", parts, reading, seed)
    else:
        task = resolve(data, dev, test, reading, seed=seed)
    return task if name is None else replace(task, name=name)


def _is_pair(data: Any) -> bool:
    """Whether this is (texts, labels), and not a pair of texts."""
    return isinstance(data, tuple) and len(data) == 2 and not any(isinstance(part, str) for part in data)


def _pool(data: Pool | Data, part: str, reading: Reading) -> Pool:
    if not isinstance(data, Pool) and not _is_pair(data):
        return read_part(data, reading, require_labels=part != "train")
    pool = data if isinstance(data, Pool) else pool_of(*data)
    if part != "train" and (bare := int((pool.labels == UNKNOWN).sum())):
        raise DataError(f"{bare:,} of {len(pool):,} texts of {part} have no label: label them or leave them out")
    return pool
