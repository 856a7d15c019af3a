"""What a cell keeps: while it runs what resuming needs, at its end what figures and tests need. Below 2 MB."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import actune
from actune.bench.cells import RESULTS
from actune.bench.records import FINISHED
from actune.session.session import Session
from actune.store.store import Store


def prune(session: Session) -> None:
    """Drops what no later round needs: older choices but for the first one's map, and a teacher's pseudo-labels."""
    store, fitted = session.store, session.fitted
    for name in store.array_names():
        kind, _, number = name.partition("-")
        if kind == "select" and int(number) < fitted:
            _keep(store, name, "map_" if number == "001" else None)
        elif kind == "memory" and int(number) < fitted:
            store.drop_arrays(name)
        elif kind == "fit" and int(number) < fitted:
            _keep(store, name, "test_predictions")


def finish(session: Session) -> None:
    """Seals a cell whose rounds are all done: it keeps the truth and where it was made, and no texts and votes."""
    prune(session)
    task, store = session.task, session.store
    splits = {"pool": task.pool, "test": task.test}
    truth = {name: small(np.asarray(pool.labels, np.int64)) for name, pool in splits.items() if pool is not None}
    store.save_arrays("truth", truth)
    made = {"machine": machine(session.config.resolved.device), "commit": commit(), "results": RESULTS}
    store.set_fact(FINISHED, made)
    # after that, for a cell that is not sealed must be able to go on
    store.forget_texts()
    store.drop_arrays("weak")


def small(classes: Any) -> Any:
    """Class numbers in as few bytes as they need."""
    return classes.astype(np.int8 if not len(classes) or classes.max() < 128 else np.int16)


def machine(device: str) -> str:
    """The hardware that decides the seconds of a cell."""
    if device.startswith("cuda"):
        import torch

        return torch.cuda.get_device_name()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


@cache
def commit() -> str:
    """The commit of the source tree that runs, with + where it was changed since; none for an installed package."""
    if said := os.environ.get("ACTUNE_COMMIT"):
        return said  # of a copy, whose own repository may be another one or none
    tree = Path(actune.__file__).parents[1]
    if not (tree / ".git").exists():
        return ""
    command = ["git", "-C", str(tree), "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _keep(store: Store, name: str, prefix: str | None) -> None:
    """Of these arrays only those whose names begin like this; without a prefix none."""
    if prefix is None:
        store.drop_arrays(name)
        return
    arrays = store.load_arrays(name)
    kept = {part: array for part, array in arrays.items() if part.startswith(prefix)}
    if prefix == "test_predictions":
        kept = {part: small(array) for part, array in kept.items()}
    if len(kept) < len(arrays) or any(kept[part].dtype != arrays[part].dtype for part in kept):
        store.save_arrays(name, kept)
