"""`actune verify`: everything in a run's folder is checked, and nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from actune.core.checks import checked_folder
from actune.errors import ActuneError, RunFolderError
from actune.session.config import load_config
from actune.session.setup import check_counts, class_names
from actune.store.store import FILE, Store
from actune.store.verifying import problems_of

CELLS = "cells"  # of a folder with results, each a run of its own


@dataclass(frozen=True)
class Verified:
    """What was found in one or several run folders."""

    folders: tuple[Path, ...]
    problems: tuple[str, ...]  # each a sentence


def verify(folder: str | Path) -> Verified:
    """The problems of a run folder, or of all cells of a folder with results."""
    folder = checked_folder(folder)
    folders = [folder]
    if not (folder / FILE).exists() and (folder / CELLS).is_dir():
        folders = sorted(file.parent for file in (folder / CELLS).glob(f"*/{FILE}"))
    elif not folder.is_dir():
        raise RunFolderError(f"there is no folder {str(folder)!r}: check the path")
    problems = [problem for each in folders for problem in problems_in(each)]
    return Verified(tuple(folders), tuple(problems))


def problems_in(folder: Path) -> list[str]:
    """What is wrong with one run folder."""
    found, config = [], None
    try:
        config = load_config(folder)
    except ActuneError as error:
        found.append(str(error))
    try:
        with Store.reading(folder) as store:
            if config is not None:
                store.classes_expected = len(class_names(store, config))
                store.rows_expected = None if config.resolved.stored else config.resolved.pool
            found += problems_of(store)
            if config is not None and not found:
                check_counts(store, config)
    except ActuneError as error:
        found.append(str(error))
    return found
