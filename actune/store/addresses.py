"""Where a run's database is: run.db in its folder, or a schema on a PostgreSQL server that database.toml names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from urllib.parse import quote, urlencode

from actune.core import toml
from actune.core.files import write_atomically
from actune.core.shapes import WrongShape, shaped
from actune.errors import RunFolderError, SettingError, nearest

DATABASE = "run.db"
FILE = "database.toml"
SCHEMES = ("postgresql", "postgres")
EXAMPLE = "postgresql://ann@db.example.org/labels"
# what an address may say; a file in the folder may be somebody else's, so it names no files of passwords
KNOWN = {"host", "hostaddr", "port", "dbname", "user", "sslmode", "sslrootcert", "sslcert", "sslkey", "password"}
SCHEMA_NAME = re.compile(r"actune_[0-9a-f]{16}")
NO_DRIVER = "a run in PostgreSQL needs a package that is not installed: pip install 'actune[postgres]'"
NOTE = """\
# The answers of this run are in PostgreSQL. The password is not kept here: libpq finds it in PGPASSWORD or ~/.pgpass.
# When the database moves to another server, change the address.
"""


@dataclass(frozen=True)
class Schema:
    """The tables of one run on a PostgreSQL server."""

    folder: Path
    address: str  # with a password where one was given
    name: str


@dataclass(frozen=True)
class Recorded:
    """What database.toml says."""

    address: str
    schema: str


def new_place(folder: Path, address: str) -> Path | Schema:
    """Where a new run keeps its events; an address is written into the folder, without its password."""
    if not address:
        return folder / DATABASE
    schema = Schema(folder, address, f"actune_{token_hex(8)}")
    content = NOTE + toml.dumps({"address": public(address), "schema": schema.name})
    write_atomically(folder / FILE, content.encode())
    return schema


def known_place(folder: Path, address: str = "") -> Path | Schema:
    """Where a run keeps its events; an `address` that is given counts, as another user or with a password."""
    file = folder / FILE
    if not file.exists() and not file.is_symlink():
        if address:
            raise RunFolderError(f"{str(folder)!r} keeps its answers in {DATABASE}, not in PostgreSQL: omit --store")
        return folder / DATABASE
    try:
        found = shaped(Recorded, toml.read(file, follow=False))
        if not SCHEMA_NAME.fullmatch(found.schema):
            raise WrongShape("schema is no name of a schema of actune")
        recorded = public(found.address)
    except (WrongShape, SettingError) as error:
        raise RunFolderError(f"{str(file)!r} cannot be used ({error}): restore it from a backup") from error
    return Schema(folder, address or recorded, found.schema)


def public(address: str) -> str:
    """The address without its password."""
    found = {name: value for name, value in parameters(address).items() if name != "password"}
    beginning = "postgresql://"
    if "user" in found:
        beginning += f"{quote(found.pop('user'), safe='')}@"
    if not re.search(r"[,/:]", found.get("host", "") + found.get("port", "")):  # one server, and no socket
        beginning += found.pop("host", "") + (f":{found.pop('port')}" if "port" in found else "")
    beginning += f"/{quote(found.pop('dbname', ''), safe='')}"
    return f"{beginning}?{urlencode(found, quote_via=quote)}" if found else beginning


def parameters(address: str) -> dict[str, str]:
    """What an address says. No sentence quotes it, for it may have a password."""
    scheme, sign, _ = address.partition("://")
    if not sign or scheme not in SCHEMES:
        raise SettingError(f"--store takes the address of a PostgreSQL database, such as {EXAMPLE}")
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise SettingError(NO_DRIVER) from None
    try:
        found = {name: str(value) for name, value in conninfo_to_dict(address).items()}
    except (psycopg.Error, UnicodeError):  # whose message quotes parts of it
        raise SettingError(
            f"--store has an address that PostgreSQL cannot read: write it as {EXAMPLE}, with %40 for an @ in a "
            "password, and so on"
        ) from None
    if strange := sorted(found.keys() - KNOWN):
        raise SettingError(f"--store has the unknown parameter {strange[0]!r}: {nearest(strange[0], KNOWN)}")
    return found
