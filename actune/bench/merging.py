"""Results of several machines in one folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from actune.bench.copying import copy_cell
from actune.bench.portable import grid_without_paths
from actune.bench.store import GRID, Results, has_cells
from actune.bench.tidy import TidyRecord, write_tidy
from actune.core import toml
from actune.core.files import locked
from actune.errors import SettingError


@dataclass(frozen=True)
class Merged:
    """What a merge did."""

    results: Results
    taken: int  # finished cells that were copied
    notes: tuple[str, ...]  # where two folders disagree


def merge(folders: Sequence[Path], out: Path) -> Merged:
    """Copies finished cells into `out`. What is there already, or in an earlier folder, stays."""
    sources = [Results(folder) for folder in folders]
    for source in sources:
        if source.published or not has_cells(source.folder):
            raise SettingError(
                f"{str(source.folder)!r} has a results table but no cells: merge folders that `actune bench run` "
                "or `actune bench tidy` wrote"
            )
        if source.folder.resolve() == out.resolve():
            raise SettingError(f"{str(out)!r} cannot be merged into itself: choose another --out")
        source.check_version("leave it out, or merge with that version")
    Results.opened(out)
    notes: list[str] = []
    with locked(out, "running cells in or merging into"):
        results = Results(out)
        taken = sum([_take(source, results, notes) for source in sources])
        results.write_table()
    return Merged(results, taken, tuple(notes))


def _take(source: Results, results: Results, notes: list[str]) -> int:
    """The cells of one folder, planned ones included: they are what is still missing."""
    at = {point.coordinates: key for key, point in results.cells.items()}
    new = {key: point for key, point in source.cells.items() if at.get(point.coordinates, key) == key}
    for key, point in source.cells.items():
        if key not in new:
            notes.append(
                f"{point.name} in {source.folder} was run with other settings or on another device, so it is left out"
            )
    grid = source.folder / GRID
    # a link could stand for any file of this machine, and what is copied may be published
    text = grid_without_paths(toml.read_text(grid, follow=False)) if grid.is_file() and not results.cells else None
    results.add(new, text)
    finished, taken, tabled = set(results.finished()), 0, dict[str, TidyRecord]()
    for key in (key for key in source.finished() if key in new):
        record = source.record(key)
        if key not in finished:
            if isinstance(record, TidyRecord):
                tabled[key] = record
            else:
                copy_cell(source.place(key), results.place(key))
            taken += 1
        elif _accuracies(source, key) != _accuracies(results, key):
            notes.append(
                f"{source.folder} has different accuracies for {source.cells[key].name}: the first ones are kept"
            )
    if tabled:
        every = {**results.tidy, **tabled}
        write_tidy(results.folder, {key: (each.point, each) for key, each in every.items()}, every)
        results.tables_changed()
    return taken


def _accuracies(results: Results, key: str) -> list[tuple[int, float | None]]:
    return [(row["labels"], row["accuracy"]) for row in results.rows(key)]
