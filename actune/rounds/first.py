"""What to ask before there is a model."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import TYPE_CHECKING

from actune.core.labels import Labels
from actune.core.pool import Pool
from actune.core.spec import RunSpec
from actune.core.streams import Streams
from actune.data.splits import every_row, rows_without
from actune.methods.features import frozen, surprisal
from actune.methods.queries import Query, Representatives
from actune.methods.teaching import equal_quotas
from actune.methods.typical import Typical
from actune.rounds.distinct import distinct_rows, next_rows

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from actune.rounds.prepared import PreparedTask

    Rows = npt.NDArray[np.int64]

NOBODY = Labels({}, frozenset(), 0)  # has answered anything
MOST_DRAWS = 100
FIRST_DRAW = 10  # texts for a page, until the embeddings of the pool are there
MOST_ROWS = 100_000  # that a query chooses among: k-means over a million rows takes minutes
BALANCED = "balanced"  # for simulations alone: it needs the classes of texts that nobody has labelled yet
FIRST = {
    "random": "drawn at random; in a simulation until every class occurred",
    BALANCED: "drawn at random, the same number from every class",
    "representatives": "one text near each centre of k-means on embeddings",
    "typiclust": "the most typical text of each cluster of embeddings",
    "alps": "one text per cluster of the pretrained model's surprisal",
}
QUERIES: dict[str, Query] = {
    "representatives": Representatives(frozen),
    "typiclust": Typical(frozen),
    "alps": Representatives(surprisal),
}


def first_rows(
    spec: RunSpec, pool: Pool, labels: Labels, prepared: Callable[[], PreparedTask], group_of: Rows | None = None
) -> tuple[list[int], str]:
    """What to ask before there is a model: a random draw in a simulation, a diverse batch for a person."""
    if spec.opens:
        source = "rules" if spec.weak else "the class names"
        return [], "nothing: there is a model" if spec.start_from else f"nothing: the first model comes from {source}"
    if len(labels.of_row) >= len(pool.classes) and len(set(labels.of_row.values())) > 1:
        return [], "the file has enough labels to start with"
    if spec.simulated and spec.first in ("", "random"):
        return initial_draw(pool, spec.initial, spec.seed, distinct_rows(every_row(pool), pool, spec.distinct, NOBODY))
    if spec.first == BALANCED:
        return balanced_rows(pool, spec.initial, spec.seed), FIRST[BALANCED]
    return rows_for_a_person(spec, pool, labels, prepared, group_of)


def rows_for_a_person(
    spec: RunSpec, pool: Pool, labels: Labels, prepared: Callable[[], PreparedTask], group_of: Rows | None = None
) -> tuple[list[int], str]:
    """A batch without a model, of texts that nobody has answered or skipped: another one after a batch of skips.

    `group_of` are the groups of near-duplicates, where they are known already.
    """
    first = spec.first or "representatives"
    free = rows_without(pool, [*labels.of_row, *labels.skipped])
    if len(free):
        free = distinct_rows(free, pool, spec.distinct, labels, group_of)
    if first == "random":
        order = Streams(spec.seed).rng("initial").permutation(len(free))[: spec.initial]
        return free[order].tolist(), "drawn at random"
    among = sample_of(free, spec.seed)
    how = FIRST[first] if len(among) == len(free) else f"{FIRST[first]}, among {len(among):,} drawn at random"
    return _by_query(prepared(), QUERIES[first], among, spec), how


def drawn_rows(
    pool: Pool,
    labels: Labels,
    count: int,
    seed: int,
    asked: Collection[int] = (),
    group_of: Rows | None = None,
) -> list[int]:
    """Rows in one random order for the whole run, without those that were asked, answered or skipped.

    Near-duplicates of these come last.
    """
    return next_rows(map(int, _order(seed, len(pool))), count, {*labels.of_row, *labels.skipped, *asked}, group_of)


@lru_cache(1)
def _order(seed: int, count: int) -> Rows:
    """All rows in the random order of a run; a server draws from it again and again."""
    return Streams(seed).rng("initial").permutation(count)


def _by_query(prepared: PreparedTask, query: Query, rows: npt.NDArray[np.int64], spec: RunSpec) -> list[int]:
    """A batch by a query that needs no model."""
    from actune.core.view import View
    from actune.rounds.outputs import ModelOutputs

    streams = Streams(spec.seed)
    view = View(ModelOutputs(prepared, None, streams), rows.tolist(), streams=streams)
    return query(view, spec.initial).tolist()


def balanced_rows(pool: Pool, count: int, seed: int) -> list[int]:
    """The same number of rows of every class, in random order; what a small class lacks, the others give."""
    import numpy as np

    rows = _order(seed, len(pool))
    classes = np.asarray(pool.labels)[rows]
    sizes = np.bincount(classes, minlength=len(pool.classes)).tolist()
    quotas = np.asarray(equal_quotas(sizes, min(count, len(pool))))
    place = np.empty(len(rows), np.int64)  # of each row among those of its class
    for number in range(len(sizes)):
        place[classes == number] = np.arange(sizes[number])
    found: list[int] = rows[place < quotas[classes]].tolist()
    return found


def sample_of(rows: npt.NDArray[np.int64], seed: int) -> npt.NDArray[np.int64]:
    """The rows themselves, or a random sample of them where there are very many; sorted, as they are."""
    import numpy as np

    if len(rows) <= MOST_ROWS:
        return rows
    return np.sort(Streams(seed).rng("first rows").choice(rows, MOST_ROWS, replace=False))


def initial_draw(pool: Pool, count: int, seed: int, among: npt.NDArray[np.int64]) -> tuple[list[int], str]:
    """A uniform draw, made again until every class occurs in it; the same for every method under one seed."""
    rng = Streams(seed).rng("initial")
    for _ in range(MOST_DRAWS):
        rows = among[rng.choice(len(among), min(count, len(among)), replace=False)].tolist()
        missing = set(range(len(pool.classes))) - {pool.labels[row] for row in rows}
        if not missing:
            return rows, "drawn at random until every class occurred"
    names = ", ".join(pool.classes[number] for number in sorted(missing))
    return rows, f"drawn at random; no text of {names} was met in {MOST_DRAWS} draws"
