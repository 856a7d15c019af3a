"""A folder of results as tables that can be published: `actune bench tidy`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from actune.bench.evidence import Evidence, Key
from actune.bench.portable import grid_without_paths
from actune.bench.results_table import TABLE
from actune.bench.store import GRID, Results, has_cells
from actune.bench.tidy import TIDY_FILES, write_tidy
from actune.core import toml
from actune.core.files import replacing_folder, storage_sentences
from actune.errors import SettingError


@dataclass(frozen=True)
class Published:
    """What was written."""

    folder: Path
    cells: int
    unfinished: int  # planned cells that were left out
    size: int  # bytes


def publish(source: Path, target: Path) -> Published:
    """Writes the finished cells of a folder as tables, in the place of the tables that are there."""
    results = Results(source)
    if source.resolve() == target.resolve():
        raise SettingError(f"{str(target)!r} cannot be written into itself: choose another --to")
    if not has_cells(source):
        raise SettingError(f"{str(source)!r} has only a results table, which is tidy already")
    cells = {key: (results.cells[key], record) for key in results.finished() if (record := results.record(key))}
    if not cells:
        raise SettingError(f"{str(source)!r} has no finished cell yet: run the grid first")
    _check_target(target, set(cells))
    if target.is_symlink():
        target = target.resolve()
    with storage_sentences(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    with replacing_folder(target) as scratch:
        write_tidy(scratch, cells, cells_on_the_map(results))
        results.write_csv(scratch)
        if (source / GRID).is_file():
            text = grid_without_paths(toml.read_text(source / GRID, follow=False))
            (scratch / GRID).write_text(text, encoding="utf-8", newline="\n")
    size = sum(file.stat().st_size for file in target.iterdir())
    return Published(target, len(cells), len(results.cells) - len(cells), size)


def cells_on_the_map(results: Results) -> list[str]:
    """The cells whose maps Fig. 6 shows: a map is large, and the others are never drawn."""
    from actune.bench.paper.figures.maps import find_maps

    evidence = Evidence(results)
    found = find_maps(evidence)
    return [evidence.cells[Key(found.scene, part.method), found.seed] for part in found.parts] if found else []


def _check_target(target: Path, cells: set[str]) -> None:
    """Tables may be replaced by tables that have all of their cells, and nothing else may be."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not target.is_dir():
        raise SettingError(f"{str(target)!r} is a file: choose another --to")
    strange = sorted({path.name for path in target.iterdir()} - {*TIDY_FILES, GRID, TABLE})
    if strange or not has_cells(target):
        what = f"it has {strange[0]}" if strange else "it has no cells"
        raise SettingError(f"{str(target)!r} was not written by this command ({what}): choose another --to")
    if lost := set(Results(target).finished()) - cells:
        raise SettingError(
            f"{str(target)!r} has {len(lost)} finished cells that would be lost: merge the two folders first "
            "(actune bench merge), or choose another --to"
        )
