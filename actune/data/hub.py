"""Data sets of the Hugging Face hub, by way of the `datasets` package and never with code from there."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from actune.core.pool import Pool
from actune.data.formats import pool_from
from actune.data.tables import Table
from actune.errors import DataError


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
    cells = {name: data[name][:] for name in data.column_names if name in (text, label)}
    if names := getattr(data.features.get(label), "names", None):
        # -1 is how the hub writes that a label is hidden
        cells[label] = [names[number] if number is not None and number >= 0 else None for number in cells[label]]
    if label not in cells and text in cells:
        raise DataError(f"{id!r} on the hub has no column {label!r}: it has {', '.join(data.column_names)}")
    return pool_from(Table(f"{id} ({split})", cells, range(1, len(data) + 1), "row"), text, label, classes=classes)


def _load(id: str, split: str, config: str | None) -> Any:
    if not has_hub():
        raise DataError(f"reading {id!r} from the hub needs the package 'datasets': pip install 'actune[hub]'")
    import datasets

    try:
        return datasets.load_dataset(id, config, split=split)
    except Exception as error:  # the package raises dozens of kinds for no network, no such name, no such split
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DataError(
            f"cannot read split {split!r} of {id!r} from the hub ({reason}): check the name and the network"
        ) from None
