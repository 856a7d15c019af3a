"""What clients have sent already, by the ids that they chose: a request may be repeated, and counts once."""

from __future__ import annotations

from actune.store.database import Connection


def is_known(connection: Connection, by: str, client: str | None) -> bool:
    """Whether this person has sent something under this id before."""
    return place_of(connection, by, client) is not None


def place_of(connection: Connection, by: str, client: str | None) -> tuple[str, int] | None:
    """The log in which lies what a person sent under an id, and its number there."""
    if client is None:
        return None
    query = "SELECT log, number FROM clients WHERE by = ? AND client = ?"
    found = connection.execute(query, (by, client)).fetchone()
    return (str(found[0]), int(found[1])) if found else None


def remember(connection: Connection, by: str, client: str | None, log: str, number: int) -> None:
    """Keeps that the row of a log with this number came under an id."""
    if client is not None:
        connection.execute("INSERT INTO clients VALUES (?, ?, ?, ?)", (by, client, log, number))


def write_clients(connection: Connection) -> None:
    """All of it anew from the logs."""
    connection.execute("DELETE FROM clients")
    for log in ("answers", "class_changes", "marks"):
        connection.execute(
            f"INSERT INTO clients SELECT by, client, '{log}', number FROM {log} WHERE client IS NOT NULL "
            "ORDER BY number ON CONFLICT DO NOTHING"
        )
