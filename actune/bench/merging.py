"""Results of several machines in one folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from actune.bench.store import FILE, GRID, Results, files_in, put_files
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
        if source.published or not (source.folder / FILE).is_file():
            raise SettingError(f"{str(source.folder)!r} has a table and no cells: only whole folders can be merged")
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
            notes.append(f"{source.folder} made {point.name} with other settings or on another device: it is left out")
    grid = source.folder / GRID
    text = grid.read_text(encoding="utf-8") if grid.is_file() and not results.cells else None
    results.add(new, text)
    finished, taken = set(results.finished()), 0
    for key in (key for key in source.finished() if key in new):
        if key not in finished:
            put_files(files_in(source.place(key)), results.place(key))
            taken += 1
        elif _accuracies(source, key) != _accuracies(results, key):
            notes.append(
                f"{source.folder} has different accuracies for {source.cells[key].name}: the first ones are kept"
            )
    return taken


def _accuracies(results: Results, key: str) -> list[tuple[int, float | None]]:
    return [(row["labels"], row["accuracy"]) for row in results.rows(key)]
