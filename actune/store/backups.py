"""Rolling copies of a run's database: the newest ones, and one of each of the last days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from actune.core.files import remove_scratch, storage_sentences
from actune.core.places import PRIVATE_FILE, PRIVATE_FOLDER, inside, is_regular

if TYPE_CHECKING:
    from actune.store.store import Store

FOLDER = "backups"
APART = timedelta(minutes=10)
NEWEST, DAYS = 3, 7  # so many copies are kept, and beside them the last one of each of so many days
STAMP = "run-%Y%m%dT%H%M%SZ.db"
NAME = re.compile(r"run-\d{8}T\d{6}Z\.db")


def back_up_at_times(store: Store) -> Path | None:
    """Copies the database where the last copy is some minutes old, and removes copies that are too old."""
    folder, now = inside(store.folder, FOLDER), datetime.now(UTC)
    with storage_sentences(folder):
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        known = backups_in(store.folder)
        if known and abs(now - _made(known[0])) < APART:
            return None
        remove_scratch(folder)
        copy = folder / now.strftime(STAMP)
        store.copy_to(copy)
        copy.chmod(PRIVATE_FILE)
        for old in too_old([copy, *known]):
            old.unlink(missing_ok=True)
    return copy


def backups_in(folder: Path) -> list[Path]:
    """The copies of a run's database, the newest first."""
    place = folder / FOLDER
    if place.is_symlink() or not place.is_dir():
        return []
    found = [file for file in place.iterdir() if NAME.fullmatch(file.name) and not file.is_symlink()]
    return sorted(filter(is_regular, found), key=lambda file: file.name, reverse=True)


def too_old(backups: Sequence[Path]) -> list[Path]:
    """Those of the copies, which come newest first, that are neither among the newest nor the last of a recent day."""
    last_of_day: dict[str, Path] = {}
    for file in backups:
        last_of_day.setdefault(f"{_made(file):%Y%m%d}", file)
    kept = {*backups[:NEWEST], *list(last_of_day.values())[:DAYS]}
    return [file for file in backups if file not in kept]


def _made(file: Path) -> datetime:
    try:
        return datetime.strptime(file.name, STAMP).replace(tzinfo=UTC)
    except ValueError:  # the name has a day that there is not
        return datetime.min.replace(tzinfo=UTC)
