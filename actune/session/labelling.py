"""A project for the labelling page: there at once, with first texts drawn at random and an audit sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from actune.core.checks import checked_classes
from actune.core.pool import Pool
from actune.core.progress import Progress, silent
from actune.core.run_options import RunOptions
from actune.core.settings import own_settings
from actune.core.spec import PAGE_DISTINCT
from actune.core.task import Plan, Task
from actune.data.formats import as_pool
from actune.data.frames import Data
from actune.data.splits import relabel
from actune.errors import DataError
from actune.session.session import Session
from actune.session.setup import create

BATCH = 20  # answers until the first model, and from one model to the next: people like to see it learn
AUDIT = 50


def create_labelling(
    folder: str | Path,
    data: Pool | Data,
    classes: Sequence[str] = (),
    *,
    progress: Progress = silent,
    **options: Unpack[RunOptions],
) -> Session:
    """A new project in `folder` on the texts of a pool, a file or a frame, without a look at any model.

    Classes that are not known yet may be declared later; labels that come with the data are answers.
    """
    pool = as_pool(data, options.get("reading", {}))
    if classes:
        pool = relabel(pool, checked_classes(classes))
    if len(pool.classes) == 1:
        raise DataError("a classifier needs at least two classes, not 1: name more of them")
    settings = own_settings(len(pool), max(2, len(pool.classes)))
    batch = max(1, min(max(BATCH, len(pool.classes)), len(pool)))
    task = Task("project", pool, None, None, settings, Plan(batch, batch, 0))
    if isinstance(data, (str, Path)):
        task = replace(task, name=str(options.get("source", data)))
    options.setdefault("audit", AUDIT)
    options.setdefault("distinct", PAGE_DISTINCT)
    options["page"] = True
    return create(folder, task, progress=progress, **options)
