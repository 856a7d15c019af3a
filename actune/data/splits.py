"""A task from a user's own files: pool, dev and test, given or held out by seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from actune.core.checks import check_many
from actune.core.matching import alike, matches
from actune.core.pool import UNKNOWN, Coded, Pool, pool_of
from actune.core.printing import counted
from actune.core.settings import own_settings
from actune.core.streams import Streams
from actune.core.task import Plan, Task
from actune.data.cells import Table
from actune.data.finding import find_columns
from actune.data.formats import pool_from, repeats, with_texts
from actune.data.frames import Data
from actune.data.tables import read_table
from actune.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Rows = Sequence[int] | npt.NDArray[np.int64]

MOST_DEV = 1000  # a larger dev set would cost more than training itself
SPLITS = {"train": "train", "dev": "dev", "valid": "dev", "validation": "dev", "val": "dev", "test": "test"}


@dataclass(frozen=True)
class Reading:
    """How a user's own files are read: the names of columns, the classes, and what is held out."""

    text: str | None = None
    label: str | None = None
    id: str | None = None
    split: str | None = None  # the column that says train, dev or test
    classes: tuple[str, ...] | None = None
    hold_out_dev: float = 0.1  # a share of the labelled rows if below 1, else a number of rows
    hold_out_test: float = 0.2
    keep_together: float = 0.0  # the similarity of texts that are held out together or not at all; 0 for none
    sample: int | None = None  # at most so many rows of the pool, by seed
    encoding: str | None = None  # of files that are not UTF-8


USUAL = Reading()


def make_task(
    name: str,
    train: Data,
    dev: Data | None = None,
    test: Data | None = None,
    reading: Reading = USUAL,
    seed: int = 0,
) -> Task:
    """A task from one to three files, frames or lists. What is not given is held out of the labelled rows."""
    table = read_table(train, reading.encoding)
    parts = _by_column(table, reading) if reading.split else {"train": _pool(table, reading)}
    notes: list[str] = []
    for part, data in (("dev", dev), ("test", test)):
        if data is not None:
            parts[part], found = _held(part, data, reading, parts["train"].classes)
            notes += found
    task = task_of(name, parts, reading, seed)
    return replace(task, notes=(*notes, *task.notes))


def make_task_from_splits(name: str, splits: Mapping[str, Data], reading: Reading = USUAL, seed: int = 0) -> Task:
    """A task from data by the name of its split."""
    return task_of(name, read_splits(splits, lambda split: read_part(splits[split], reading)), reading, seed)


def read_splits(splits: Iterable[str], read: Callable[[str], Pool]) -> dict[str, Pool]:
    """Pools by part; a dev or test split whose labels are hidden is left out, and so is one of another name."""
    parts: dict[str, Pool] = {}
    for split in splits:
        part = SPLITS.get(split)
        if part is None or part in parts:
            continue
        pool = read(split)
        if part == "train" or len(pool.known_rows()) == len(pool):
            parts[part] = pool
    return parts


def are_splits(data: object) -> bool:
    """Whether this is data by the name of its split, such as a DatasetDict."""
    return isinstance(data, Mapping) and "train" in data and not isinstance(data["train"], str)


def read_part(data: Data, reading: Reading, require_labels: bool = False) -> Pool:
    """The pool in one file or frame, read as the user asked."""
    return _pool(read_table(data, reading.encoding), reading, require_labels)


def _held(part: str, data: Data, reading: Reading, train_classes: Sequence[str]) -> tuple[Pool, list[str]]:
    """A dev or test set, which may name its columns differently and need not have ids, and notes on it."""
    table = read_table(data, reading.encoding)
    classes = reading.classes or train_classes
    found = find_columns(table, reading.text, reading.label, reading.id, classes)
    pool = pool_from(found.table, found.text, found.label, found.id, reading.classes, require_labels=True)
    notes = [*found.notes, *(note for note in pool.notes if note not in repeats(pool.texts))]
    meant = matches(pool.classes, train_classes)
    names = tuple(meant.get(name, name) for name in pool.classes)
    if reading.classes is None and names != pool.classes:
        notes.append("its labels were matched to the classes after ignoring case and spaces")
        pool = pool_of(pool.texts, Coded(names, pool.labels), pool.ids, notes=pool.notes)
    return pool, [f"{part}: {note}" for note in notes]


def task_of(name: str, parts: dict[str, Pool], reading: Reading, seed: int) -> Task:
    """A task from pools by part, with one set of classes for all of them."""
    classes = _classes(parts, reading)
    parts = {part: relabel(pool, classes) for part, pool in parts.items()}
    pool, dev, test = _held_out(parts, reading, seed)
    pool, notes = cut_pool(pool, reading.sample, seed)
    if dev is not None:
        dev, cut = cut_dev(dev, seed)
        notes += cut
    for part, other in (("dev", dev), ("test", test)):
        if other is not None and (shared := pool.texts.in_common(other.texts)):
            notes.append(
                f"the {part} set shares {counted(shared, 'text')} with the pool, so its scores may be too high"
            )
    for names in alike(classes):
        told = " and ".join(map(repr, names))
        notes.append(
            f"{told} differ only in case or spaces, but count as {len(names)} classes unless you correct the data"
        )
    settings = own_settings(len(pool), len(classes))
    return Task(name, pool, dev, test, settings, own_plan(len(pool), len(classes)), notes=tuple(notes))


def labelled_only(task: Task) -> Task:
    """The task without pool rows whose label nobody knows: a simulation needs answers."""
    known = task.pool.known_rows()
    if not (bare := len(task.pool) - len(known)):
        return task
    pool, classes = part_of(task.pool, known), len(task.pool.classes)
    note = f"{bare:,} of {len(task.pool):,} texts have no label and are left out: a simulation needs known answers"
    settings, plan = own_settings(len(pool), classes), own_plan(len(pool), classes)
    return replace(task, pool=pool, settings=settings, plan=plan, notes=(*task.notes, note))


def own_plan(pool: int, classes: int) -> Plan:
    """A plan for a user's own data: near two percent of the pool a round, and never more than there is."""
    batch = max(1, min(100, max(2 * classes, round(0.02 * pool)), pool))
    return Plan(initial=batch, batch=batch, rounds=min(10, pool // batch))


def cut_dev(dev: Pool, seed: int) -> tuple[Pool, list[str]]:
    """At most a thousand rows of dev, drawn by seed, and a note if some were left out."""
    if len(dev) <= MOST_DEV:
        return dev, []
    note = f"the dev set is a random sample of {MOST_DEV:,} of {len(dev):,} rows"
    return dev.only(draw(range(len(dev)), MOST_DEV, seed, "dev")), [note]


def cut_pool(pool: Pool, most: int | None, seed: int) -> tuple[Pool, list[str]]:
    """At most so many rows, drawn by the seed, and a word about it."""
    if most is not None and most < 1:
        raise DataError(f"--sample must be at least 1, not {most}")
    if most is None or len(pool) <= most:
        return pool, []
    note = f"the pool is a random sample of {most:,} of {len(pool):,} rows"
    return part_of(pool, draw(range(len(pool)), most, seed, "pool")), [note]


def part_of(pool: Pool, rows: Rows) -> Pool:
    """These rows as a pool of their own: texts that occur more than once are counted anew, other notes stay."""
    import numpy as np

    part, counted = pool.only(np.sort(np.asarray(rows, np.int64))), repeats(pool.texts)
    return replace(part, notes=(*(note for note in pool.notes if note not in counted), *repeats(part.texts)))


def every_row(pool: Pool) -> npt.NDArray[np.int64]:
    """All rows of the pool."""
    import numpy as np

    return np.arange(len(pool))


def rows_without(pool: Pool, rows: Rows) -> npt.NDArray[np.int64]:
    """All other rows of the pool, in their order."""
    import numpy as np

    left = np.ones(len(pool), bool)
    left[np.asarray(rows, np.int64)] = False
    return np.flatnonzero(left)


def draw(rows: Sequence[int], n: int, seed: int, purpose: str) -> list[int]:
    """`n` of these rows, uniformly and without replacement, in their old order."""
    return sorted(Streams(seed).rng(purpose).choice(rows, n, replace=False).tolist())


def relabel(pool: Pool, classes: Sequence[str]) -> Pool:
    """The same rows with other class numbers."""
    if pool.classes == tuple(classes):
        return pool
    return pool_of(pool.texts, Coded(pool.classes, pool.labels), pool.ids, classes, pool.notes)


def _held_out(parts: dict[str, Pool], reading: Reading, seed: int) -> tuple[Pool, Pool | None, Pool | None]:
    import numpy as np

    pool, dev, test = parts["train"], parts.get("dev"), parts.get("test")
    labelled = pool.known_rows()
    n_test = _number("test", reading.hold_out_test, len(labelled)) if test is None else 0
    n_dev = min(MOST_DEV, _number("dev", reading.hold_out_dev, len(labelled))) if dev is None else 0
    if not labelled or not n_test + n_dev:
        return pool, dev, test
    if not 0 <= reading.keep_together <= 1:
        raise DataError(f"--keep-together must be a similarity from 0 to 1, not {reading.keep_together:g}")
    if len(labelled) < len(pool.classes):
        counts = f"there are {len(labelled)} labelled rows for {len(pool.classes)} classes"
        raise DataError(f"{counts}: label more rows, or use --hold-out-dev 0 --hold-out-test 0")
    if n_test + n_dev >= len(labelled):
        raise DataError(
            f"cannot hold out {n_test + n_dev:,} of {len(labelled):,} labelled rows: lower --hold-out-dev or "
            "--hold-out-test"
        )
    order = np.asarray(labelled, np.int64)[Streams(seed).rng("split").permutation(len(labelled))]
    for_test, for_dev = order[:n_test], order[n_test : n_test + n_dev]
    if reading.keep_together:
        groups = _groups(pool, order, reading.keep_together)
        for_test, groups = _first_groups("test", groups, n_test)
        for_dev, _ = _first_groups("dev", groups, n_dev)
    if n_test:
        test = part_of(pool, for_test)
    if n_dev:
        dev = part_of(pool, for_dev)
    return part_of(pool, rows_without(pool, np.concatenate([for_test, for_dev]))), dev, test


def _groups(pool: Pool, order: npt.NDArray[np.int64], similarity: float) -> list[list[int]]:
    """The rows in their order, each with its near-duplicates; a group stays in the pool where some have no label."""
    from actune.data.duplicates import near_duplicates

    group_of = near_duplicates(pool.texts, similarity).tolist()
    bare = {group_of[row] for row in (pool.labels == UNKNOWN).nonzero()[0].tolist()}
    groups: dict[int, list[int]] = {}
    for row in order.tolist():
        if group_of[row] not in bare:
            groups.setdefault(group_of[row], []).append(row)
    return list(groups.values())


def _first_groups(part: str, groups: list[list[int]], most: int) -> tuple[npt.NDArray[np.int64], list[list[int]]]:
    """The rows of the first groups that are no more than `most` together, and the other groups."""
    import numpy as np

    rows: list[int] = []
    others: list[list[int]] = []
    for group in groups:
        if len(rows) + len(group) <= most:
            rows += group
        else:
            others.append(group)
    if most and not rows:
        raise DataError(
            f"no {most:,} rows can be held out for {part} without separating near-duplicates: raise --keep-together or "
            f"--hold-out-{part}"
        )
    return np.array(rows, np.int64), others


def _number(part: str, asked: float, labelled: int) -> int:
    if not 0 <= asked < math.inf:
        raise DataError(f"{asked:g} rows cannot be held out for {part}: use a share below 1, a number of rows, or 0")
    return round(asked * labelled) if asked < 1 else round(asked)


def _classes(parts: dict[str, Pool], reading: Reading) -> tuple[str, ...]:
    found = sorted({name for pool in parts.values() for name in pool.classes})
    classes = reading.classes or tuple(found)
    if not classes:
        raise DataError("the data has no labels: set the label column with --label, or the class names with --labels")
    check_many(classes)
    if twice := [name for name in classes if classes.count(name) > 1]:
        raise DataError(f"the class {twice[0]!r} is named twice: name each class once")
    if len(classes) < 2:
        raise DataError(f"the only class is {classes[0]!r}: a classifier needs at least two classes")
    return classes


def _pool(table: Table, reading: Reading, require_labels: bool = False) -> Pool:
    return pool_from(table, reading.text, reading.label, reading.id, reading.classes, require_labels)


def _by_column(table: Table, reading: Reading) -> dict[str, Pool]:
    table = with_texts(table, reading.text)
    cells = table.column(str(reading.split), "--split")
    found = [SPLITS.get(str(cell).strip().lower()) for cell in cells]
    if strange := [row for row, part in enumerate(found) if part is None]:
        first = f"{cells[strange[0]]!r}, in {table.where(strange)}"
        raise DataError(f"column {reading.split!r} in {table.source} must contain train, dev or test, not {first}")
    pool = _pool(table, reading)
    rows = {part: [row for row, other in enumerate(found) if other == part] for part in ("train", "dev", "test")}
    if not rows["train"]:
        raise DataError(f"column {reading.split!r} in {table.source} marks no row as train: mark at least one")
    if bare := [row for row in rows["dev"] + rows["test"] if pool.labels[row] == UNKNOWN]:
        raise DataError(f"{table.source} has no label in {table.where(bare)}: dev and test rows need one")
    return {part: part_of(pool, chosen) for part, chosen in rows.items() if chosen}
