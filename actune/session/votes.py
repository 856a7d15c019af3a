"""Where votes come from: a named data set, a user's table, or a file of rules; aligned to the rows of a pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actune.core.pool import UNKNOWN, Pool
from actune.core.task import Task
from actune.data.formats import Table, names_in, pool_from, read_table
from actune.data.tasks import cards, load_task, load_votes
from actune.errors import DataError
from actune.weak.rules import KINDS, apply_rules, run_rules
from actune.weak.votes import ABSTAIN, Cells, Votes, Where, classes_in, vote_columns, votes_of

OWN = "own"  # the votes that come with the data itself


@dataclass(frozen=True)
class Voted:
    """Rows with votes, and with texts and true classes where these are known."""

    ids: Sequence[str]
    texts: Sequence[str] | None
    classes: tuple[str, ...]
    truth: NDArray[np.int64]  # (rows,), UNKNOWN where nobody has said
    votes: Votes


def find_votes(weak: str, task: Task, reading: Mapping[str, Any], source: str = "") -> Votes:
    """Votes about the rows of a task's pool: `own` ones of its data, a votes file, or a rules file.

    `reading` says how the data was read, and `source` what the user called it; a row without votes is allowed.
    """
    pool = task.pool
    if weak == OWN and task.bundled:
        folder = Path(source).resolve().parent if Path(source).is_dir() else reading.get("data_dir")
        votes = _numbered(load_votes(task.name, folder), pool.classes)
    elif weak == OWN:
        if not Path(source).is_file():
            raise DataError(f"{source or task.name} is no file that could hold votes: name a file of votes or of rules")
        votes = _aligned(read_table(source), reading, task, source)
    elif Path(weak).suffix in KINDS:
        votes = apply_rules(weak, pool.texts, pool.classes)
    else:
        votes = _aligned(read_table(weak), reading, task, source)
    if len(votes) != len(pool):
        raise DataError(f"there are votes about {len(votes):,} rows, and the pool has {len(pool):,}: use the same rows")
    if not votes.covered.any():
        raise DataError(f"no source votes on any of the {len(pool):,} texts: check the votes, or write other rules")
    return votes


def read_votes(
    data: str,
    rules: str | Path | None = None,
    columns: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    reading: Mapping[str, str] | None = None,
) -> Voted:
    """The votes in a named data set or a table, or those of a rules file about its texts."""
    words = dict(reading or {})
    data_dir = words.pop("data_dir", None)
    if data in cards() or not (Path(data).exists() or Path(data).suffix):
        task = load_task(data, data_dir)
        own = None if rules else _numbered(load_votes(data, data_dir), task.pool.classes)
        votes = own or apply_rules(str(rules), task.pool.texts, task.pool.classes)
        return Voted(task.pool.ids, task.pool.texts, task.pool.classes, np.array(task.pool.labels), votes)
    table = read_table(data)
    labels = names_in(table, *_column(table, "label", words))
    if rules:
        cells: Cells = run_rules(rules, pool_from(table, words.get("text"), id=words.get("id")).texts)
    else:
        cells = vote_columns(table.cells, columns, _where(table))
    known = tuple(classes or classes_in(cells, [name for name in labels if name]))
    if rules:
        votes = apply_rules(rules, _texts(table, words) or (), known)
    else:
        votes = votes_of(cells, known, list(cells), _where(table))
    return Voted(_ids(table, words), _texts(table, words), known, _truth(table, labels, known), votes)


def _numbered(lists: Sequence[Sequence[int]], classes: Sequence[str]) -> Votes:
    return votes_of({"votes": lists}, classes)


def _aligned(table: Table, reading: Mapping[str, Any], task: Task, source: str) -> Votes:
    pass
