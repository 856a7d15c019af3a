"""Data sets of the Hugging Face hub, by way of the `datasets` package and never with code from there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, TypeVar

from actune.core.pool import Pool
from actune.core.task import Task
from actune.data.cells import Table
from actune.data.formats import pool_from
from actune.data.frames import table_of
from actune.data.splits import Reading, read_splits, task_of
from actune.errors import DataError

Answer = TypeVar("Answer")


def has_hub() -> bool:
    """Whether the package for the hub is installed."""
    return find_spec("datasets") is not None


def read_hub(
    id: str,
    split: str = "train",
    text: str = "text",
    label: str = "label",
    config: str | None = None,
    classes: Sequence[str] | None = None,
) -> Pool:
    """One split of a data set of the hub as a pool, with names for its label numbers."""
    data = _load(id, split, config)
    if label not in data.column_names and text in data.column_names:
        raise DataError(f"{id!r} on the hub has no column {label!r}: it has {', '.join(data.column_names)}")
    cells = table_of(data.select_columns([name for name in data.column_names if name in (text, label)])).cells
    return pool_from(Table(f"{id} ({split})", cells, range(1, len(data) + 1), "row"), text, label, classes=classes)


def make_task_from_hub(data: str, reading: Reading, seed: int = 0) -> Task:
    """A task from `owner/name` or `owner/name:config`; a dev or test part whose labels are hidden is left out."""
    id, _, config = data.partition(":")

    def read(split: str) -> Pool:
        return read_hub(id, split, reading.text or "text", reading.label or "label", config or None, reading.classes)

    parts = read_splits(_splits(id, config or None), read)
    if "train" not in parts:
        raise DataError(f"{id!r} on the hub has no split 'train': download the data set and give a file")
    return task_of(data, parts, reading, seed)


def _splits(id: str, config: str | None) -> list[str]:
    return _asked(id, "the splits", lambda datasets: list(datasets.get_dataset_split_names(id, config)))


def _load(id: str, split: str, config: str | None) -> Any:
    return _asked(id, f"split {split!r}", lambda datasets: datasets.load_dataset(id, config, split=split))


def _asked(id: str, what: str, ask: Callable[[Any], Answer]) -> Answer:
    if not has_hub():
        raise DataError(f"reading {id!r} from the hub needs the package 'datasets': pip install 'actune[hub]'")
    import datasets

    try:
        return ask(datasets)
    except Exception as error:  # the package raises dozens of kinds for no network, no such name, no such split
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DataError(
            f"cannot read {what} of {id!r} from the hub ({reason}): check the name and the network"
        ) from None
