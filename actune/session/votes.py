"""Where votes come from: a named data set, a user's table, or a file of rules; aligned to the rows of a pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from actune.core.places import exists, is_folder, is_regular
from actune.core.pool import Pool
from actune.core.spec import OWN_VOTES
from actune.core.task import Task
from actune.data.formats import Table, names_in, pool_from, read_table, with_texts
from actune.data.splits import relabel
from actune.data.tasks import card, cards, load_task, load_votes, row_ids
from actune.errors import DataError
from actune.weak.rules import KINDS, apply_rules, run_rules
from actune.weak.votes import ABSTAIN, Cells, Votes, Where, classes_in, row_number, vote_columns, votes_of


@dataclass(frozen=True)
class Voted:
    """Rows and what is voted about them; a table of votes alone has no texts."""

    pool: Pool
    votes: Votes
    has_texts: bool = True


def find_votes(weak: str, task: Task, reading: Mapping[str, Any], source: str = "") -> Votes:
    """Votes about the rows of a task's pool: `own` ones of its data, a votes file, or a rules file.

    `reading` says how the data was read, and `source` what the user called it.
    """
    if Path(weak).suffix in KINDS:
        votes = apply_rules(weak, task.pool.texts, task.pool.classes)
    elif weak == OWN_VOTES and task.bundled:
        whole = votes_of({"votes": load_votes(task.name, _data_dir(source, reading))}, task.pool.classes)
        votes = _aligned(whole, row_ids(card(task.name), "train"), task.pool)  # the pool may be a sample
    else:
        votes = _from_table(source if weak == OWN_VOTES else weak, task, reading, source)
    rows, texts = len(votes), len(task.pool)
    if rows != texts:
        hint = "add an id column to the votes, or give one row per text in the same order"
        raise DataError(f"there are votes for {rows:,} rows, but the pool has {texts:,} texts: {hint}")
    if not votes.covered.any():
        raise DataError(f"no source votes on any of the {texts:,} texts: check the ids and the votes")
    return votes


def read_votes(
    data: str,
    rules: str | None = None,
    columns: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    reading: Mapping[str, str] | None = None,
) -> Voted:
    """The votes in a named data set or a table, or those of a rules file about its texts."""
    words = dict(reading or {})
    data_dir = words.pop("data_dir", None)
    if data in cards() or not (exists(Path(data)) or Path(data).suffix):
        if columns or classes or words:
            raise DataError(f"{data} is a named data set with its own columns and classes: leave these options out")
        task = load_task(data, data_dir)
        return Voted(task.pool, find_votes(rules or OWN_VOTES, task, {"data_dir": data_dir}))
    table = read_table(data, words.get("encoding"))
    if words.get("text", "text") in table.cells:
        table = with_texts(table, words.get("text"))  # votes on rows without a text go with these rows
    pool, has_texts = _pool(table, words, needs_texts=bool(rules))
    where = _where(rules, table)
    cells: Cells = run_rules(rules, pool.texts, classes) if rules else vote_columns(table.cells, columns, where)
    known = tuple(classes or classes_in(cells, pool.classes))
    votes = votes_of(cells, known, list(cells), where)
    if not votes.covered.any():
        raise DataError(f"no source votes on any row of {data}: check the votes, or write other rules")
    return Voted(relabel(pool, known), votes, has_texts)


def _data_dir(source: str, reading: Mapping[str, Any]) -> Path | str | None:
    """A named data set may also be meant by the path of its folder."""
    found = source not in ("", *cards()) and is_folder(Path(source))
    return Path(source).resolve().parent if found else reading.get("data_dir")


def _pool(table: Table, words: Mapping[str, str], needs_texts: bool) -> tuple[Pool, bool]:
    has_texts = needs_texts or "text" in words or "text" in table.cells
    if not has_texts:
        table = replace(table, cells={**table.cells, "text": list(map(row_number, range(len(table))))})
    return pool_from(table, words.get("text"), words.get("label"), words.get("id")), has_texts


def _where(rules: str | None, table: Table) -> Where:
    place = f"{rules} on {table.source}" if rules else table.source
    return lambda row: f"{place} {table.where([row])}"


def _from_table(path: str, task: Task, reading: Mapping[str, Any], source: str) -> Votes:
    """The votes in a table, by id where it has ids."""
    if not is_regular(Path(path)) and not Path(path).suffix:
        raise DataError(
            f"{path or task.name} is not a file with votes: give a table of votes or a rules file (.toml, .py)"
        )
    table = read_table(path, reading.get("encoding"))
    votes = votes_of(table.cells, task.pool.classes, where=_where(None, table))
    ids = _ids(table, reading) or ([str(row) for row in range(len(table))] if path == source else None)
    if ids is None:
        return votes
    _check_ids(ids, path, task, reading, source)
    return _aligned(votes, ids, task.pool)


def _aligned(votes: Votes, ids: Sequence[str], pool: Pool) -> Votes:
    """The votes about rows with these ids, in the order of the pool; a row of the pool that is not named has none."""
    rows = pool.ids.rows_of(ids)
    matrix = np.full((len(pool), len(votes.sources)), ABSTAIN, dtype=np.int64)
    matrix[rows[rows >= 0]] = votes.matrix[rows >= 0]
    return replace(votes, matrix=matrix)


def _ids(table: Table, reading: Mapping[str, Any]) -> list[str] | None:
    name = next((name for name in (reading.get("id"), "id") if name in table.cells), None)
    return None if name is None else [id or "" for id in names_in(table, name, table.cells[name])]


def _check_ids(ids: Sequence[str], path: str, task: Task, reading: Mapping[str, Any], source: str) -> None:
    if len(set(ids)) < len(ids):
        twice = Counter(ids).most_common(1)[0][0]
        raise DataError(f"{path} has more than one row with the id {twice!r}: every row needs a different id")
    pools = [pool for pool in (task.pool, task.dev, task.test) if pool is not None]
    strange = set(ids).difference(*(pool.ids for pool in pools))
    if strange and is_regular(Path(source)):  # rows may have been left out of the task, such as unlabelled ones
        data = read_table(source, reading.get("encoding"))
        strange.difference_update(_ids(data, reading) or map(str, range(len(data))))
    if strange and task.bundled:  # a sample of a named data set leaves rows out too
        strange.difference_update(row_ids(card(task.name), "train"))
    if strange:
        first = next(id for id in ids if id in strange)
        raise DataError(f"{len(strange):,} ids in {path} are not in the data, the first is {first!r}: check them")
