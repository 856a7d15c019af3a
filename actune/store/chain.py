"""A digest in every row of the log that covers the row and all before it, so that damage to old answers is found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

from actune.store.database import Connection

SIZE = 16  # bytes: enough to find damage
# the columns that a digest covers, in their order
COLUMNS = {
    "answers": "number, row, kind, label, by, at, seconds, round, client, before, applied",
    "class_changes": "number, kind, class, name, target, after, by, at, step, undoes, client",
    "marks": "number, row, kind, value, by, at, after, client",
}
FIRST_COLUMNS = 8  # that every row has; those that came later count in a digest where they have a value


def now() -> str:
    """The time in UTC, as the log has it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def link(before: bytes, values: Sequence[Any]) -> bytes:
    """The digest of a row of the log that comes after the one with the digest `before`."""
    kept = list(values)
    while len(kept) > FIRST_COLUMNS and kept[-1] is None:
        kept.pop()
    return blake2b(before + repr(tuple(kept)).encode("utf-8", "replace"), digest_size=SIZE).digest()


def last_link(connection: Connection, table: str) -> bytes:
    """The digest of the newest row."""
    found = connection.execute(f"SELECT digest FROM {table} ORDER BY number DESC LIMIT 1").fetchone()
    return found[0] if found and isinstance(found[0], bytes) else b""


def broken_links(connection: Connection, table: str) -> Iterator[int]:
    """The numbers of the rows that are not as they were written, or that come after a row that is missing."""
    before = b""
    for *values, digest in connection.execute(f"SELECT {COLUMNS[table]}, digest FROM {table} ORDER BY number"):
        if link(before, values) != digest:
            yield values[0]
        before = digest if isinstance(digest, bytes) else b""


def write_links(connection: Connection, table: str) -> None:
    """Gives every row its digest: of tables that an earlier version wrote, or that were repaired."""
    before, found = b"", []
    for values in connection.execute(f"SELECT {COLUMNS[table]} FROM {table} ORDER BY number"):
        before = link(before, values)
        found.append((before, values[0]))
    connection.executemany(f"UPDATE {table} SET digest = ? WHERE number = ?", found)
