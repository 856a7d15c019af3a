"""Opens the database of a run, whichever it is, with the tables of this version."""

from __future__ import annotations

from pathlib import Path

from actune.errors import SettingError
from actune.store.addresses import NO_DRIVER, Schema
from actune.store.connections import Connections
from actune.store.database import Database
from actune.store.schema import prepare


def opened(place: Path | Schema, create: bool, readonly: bool) -> Database:
    """A database that is ready; one of an earlier version is brought up to date."""
    if isinstance(place, Schema):
        try:
            from actune.store.postgres import PostgreSQL
        except ImportError:
            raise SettingError(NO_DRIVER) from None
        return PostgreSQL(place, create, readonly)
    connections = Connections(place, create, readonly)
    try:
        prepare(connections, create)
    except BaseException:
        connections.close()
        raise
    return connections
