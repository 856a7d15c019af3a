"""What to ask before there is a model."""

from __future__ import annotations

from actune.core.pool import Pool
from actune.core.streams import Streams
from actune.methods.features import frozen
from actune.methods.queries import Representatives
from actune.session.session import Session

MOST_DRAWS = 100


def first_rows(session: Session) -> tuple[list[int], str]:
    """What to ask before there is a model: a random draw in a simulation, a diverse batch for a person."""
    request, pool = session.config.request, session.pool
    if request.simulated:
        return initial_draw(pool, request.initial, request.seed)
    labels = session.labels()
    if len(labels.of_row) >= len(pool.classes) and len(set(labels.of_row.values())) > 1:
        return [], "the file has labels enough to begin with"
    free = [row for row in range(len(pool)) if row not in labels.of_row]
    rows = session.machine.first(Representatives(frozen), free, request.initial)
    return rows, "one text near each centre of k-means on embeddings"


def initial_draw(pool: Pool, count: int, seed: int) -> tuple[list[int], str]:
    """A uniform draw, made again until every class occurs in it; the same for every method under one seed."""
    rng = Streams(seed).rng("initial")
    for _ in range(MOST_DRAWS):
        rows = rng.choice(len(pool), count, replace=False).tolist()
        missing = set(range(len(pool.classes))) - {pool.labels[row] for row in rows}
        if not missing:
            return rows, "drawn at random until every class occurred"
    names = ", ".join(pool.classes[number] for number in sorted(missing))
    return rows, f"drawn at random; no text of {names} was met in {MOST_DRAWS} draws"
