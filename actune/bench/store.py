"""A folder of results: cells by key, as run folders or in tables, and one tidy table of all rounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from actune import __version__
from actune.bench.checking import check_facts, checked_key
from actune.bench.grid import Grid, Point, load_grid
from actune.bench.progress import GridProgress
from actune.bench.records import CellRecord, record_in
from actune.bench.results_table import (
    PARQUET,
    PLACE,
    RESULT_COLUMNS,
    SECONDS,
    TABLE,
    as_csv,
    places,
    read_results,
    table_in,
    typed,
)
from actune.bench.tidy import CELLS, TidyRecord, read_tidy
from actune.core import toml
from actune.core.checks import told
from actune.core.facts import RoundFacts
from actune.core.files import is_scratch, storage_sentences, write_atomically
from actune.core.places import PRIVATE_FOLDER, inside
from actune.errors import ActuneError, RunFolderError
from actune.store.store import Store

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    Classes = npt.NDArray[np.int64]

RESULTS_FORMAT = 1
FILE, GRID, PLACES = "bench.toml", "grid.toml", "cells"
ORDER = ["task", "model", "learner", "variant", "method", "seed", "round"]


class Results:
    """The results in a folder. Finished cells never change, so what was read of them is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._records: dict[str, CellRecord] = {}
        if not folder.is_dir():
            raise RunFolderError(f"there is no folder {str(folder)!r}: check the path")
        if not has_cells(folder) and table_in(folder) is None:
            raise RunFolderError(
                f"{str(folder)!r} is not a results folder: it has neither {FILE} nor {CELLS} nor {TABLE}"
            )

    @classmethod
    def opened(cls, folder: Path) -> Results:
        """The results of a folder, which is made where there is none; a strange folder is refused."""
        with storage_sentences(folder):
            if folder.exists() and not has_cells(folder) and not all(map(is_scratch, folder.iterdir())):
                if table_in(folder):
                    raise _table_alone(folder)
                raise RunFolderError(f"{str(folder)!r} is not empty and not a results folder: choose another folder")
            folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
        new = not has_cells(folder)
        if new:
            _write(folder, {"format": RESULTS_FORMAT, "actune": __version__, "id": uuid4().hex, "cells": {}})
        found = cls(folder)
        found.check_version("choose another folder")
        if found.published:
            raise _table_alone(folder)
        if not (folder / FILE).is_file():  # tables that somebody published: work goes on here
            _write(folder, {**found.facts, "id": uuid4().hex})
        with storage_sentences(folder):
            inside(folder, PLACES).mkdir(exist_ok=True, mode=PRIVATE_FOLDER)
        return found

    @cached_property
    def facts(self) -> dict[str, Any]:
        """bench.toml; without it the cells that the tables have."""
        file = self.folder / FILE
        if not file.is_file() and self.tidy:
            cells = {key: list(record.point.coordinates) for key, record in self.tidy.items()}
            version = next(iter(self.tidy.values())).config.versions.get("actune", "")
            return {"format": RESULTS_FORMAT, "actune": version, "cells": cells}
        if not file.is_file():
            if not self.published:
                raise RunFolderError(f"{str(self.folder)!r} does not say which cells it has: {FILE} is missing")
            return {"cells": places(self.table())}
        facts = toml.read(file)
        if (found := facts.get("format")) != RESULTS_FORMAT:
            raise RunFolderError(
                f"{str(self.folder)!r} was written by another version of actune (format {told(found)}, this one reads "
                f"{RESULTS_FORMAT}): use that version, or choose another folder"
            )
        check_facts(facts, repr(str(file)))
        return facts

    @cached_property
    def tidy(self) -> dict[str, TidyRecord]:
        """The cells that the tables of the folder have."""
        return read_tidy(self.folder)

    def tables_changed(self) -> None:
        """Reads the tables again, the next time that they are needed."""
        self.__dict__.pop("tidy", None)

    def check_version(self, instead: str) -> None:
        """Refuses cells of another version; `instead` says what to do."""
        if (version := self.facts["actune"]) != __version__:
            raise RunFolderError(
                f"{str(self.folder)!r} was made with actune {version}, and this is {__version__}; "
                f"results of different versions cannot be mixed: {instead}"
            )

    @property
    def cells(self) -> dict[str, Point]:
        """The planned cells by key."""
        return {key: Point(*place) for key, place in self.facts["cells"].items()}

    def add(self, points: Mapping[str, Point], grid: str | None = None) -> None:
        """Plans cells. A cell of an earlier plan at the same place of the table gives way: its settings were others."""
        taken = {point.coordinates for point in points.values()}
        kept = {key: list(point.coordinates) for key, point in self.cells.items() if point.coordinates not in taken}
        cells = kept | {key: list(point.coordinates) for key, point in points.items()}
        self.facts = {**self.facts, "cells": cells}
        _write(self.folder, self.facts)
        if grid is not None:
            write_atomically(self.folder / GRID, grid.encode())

    @property
    def failed(self) -> dict[str, str]:
        """Why planned cells failed the last time they were tried, by key."""
        return {key: reason for key, reason in self.facts.get("failed", {}).items() if key in self.facts["cells"]}

    def note_failure(self, key: str, reason: str | None) -> None:
        """Keeps the reason of a failure, or takes it back."""
        if self.failed.get(key) != reason:
            others = {other: why for other, why in self.failed.items() if other != key}
            self.facts = {**self.facts, "failed": others if reason is None else {**others, key: reason}}
            _write(self.folder, self.facts)

    def run_anew(self, keys: Iterable[str]) -> None:
        """Keeps that cells are not to be taken from the tables of the folder."""
        if fresh := sorted({*keys} - {*self._anew}):
            self.facts = {**self.facts, "anew": [*self._anew, *fresh]}
            _write(self.folder, self.facts)

    def place(self, key: str) -> Path:
        """The run folder of a cell: a folder in cells/, whatever somebody else's files call it."""
        return inside(self.folder, f"{PLACES}/{checked_key(key, repr(str(self.folder)))}")

    def finished(self) -> list[str]:
        """The planned cells that are done, in the order of the plan."""
        if self.published:
            known = set(self.table().cell)
            return [key for key in self.cells if key in known]
        return [key for key in self.cells if self.record(key)]

    def record(self, key: str) -> CellRecord | None:
        """What is known of a finished cell; its run folder is asked before the tables."""
        if self.published:
            return None
        if key not in self._records:
            found: CellRecord | None = record_in(self.place(key))
            if found is None and key in self.tidy and key not in self._anew and self.tidy[key].complete:
                found = self.tidy[key]
            if found is None:
                return None
            self._records[key] = found
        return self._records[key]

    def progress(self) -> GridProgress:
        """How far the whole grid is, with the cells that were never planned."""
        finished = set(self.finished())
        begun = [point for key, point in self.cells.items() if key not in finished]
        return GridProgress(len(finished), (*begun, *self.unplanned()), self._grid is not None)

    def unplanned(self) -> list[Point]:
        """Cells of the stored grid without a key: a machine that lacks their data plans its share alone."""
        planned = {point.coordinates for point in self.cells.values()}
        points = self._grid.points if self._grid else ()
        return [point for point in points if point.coordinates not in planned]

    def rounds(self, key: str) -> int:
        """How far a cell is."""
        if not (self.place(key) / "run.toml").is_file():
            return 0
        with Store.reading(self.place(key)) as store:
            return store.round_count()

    def rows(self, key: str) -> list[dict[str, Any]]:
        """A finished cell as lines of the table."""
        record, point = self.record(key), self.cells[key]
        if record is None:
            raise RunFolderError(f"the cell {key} is not finished: run the grid again")
        place = dict(zip(PLACE, point.coordinates, strict=True))
        versions = record.config.versions
        return [{"cell": key, **place, **_row(facts, versions, record.made)} for facts in record.rounds]

    def table(self) -> pd.DataFrame:
        """One line per finished cell and round."""
        import pandas as pd

        if self.published:
            return read_results(self._table_file)
        table = pd.DataFrame([row for key in self.finished() for row in self.rows(key)], columns=RESULT_COLUMNS)
        return typed(table).sort_values(ORDER, kind="stable", ignore_index=True)

    def write_table(self) -> Path:
        """Writes the table as CSV and as Parquet."""
        write_atomically(self.folder / PARQUET, self.table().to_parquet(index=False))
        return self.write_csv(self.folder)

    def write_csv(self, folder: Path) -> Path:
        """Writes the table as CSV into a folder."""
        write_atomically(folder / TABLE, as_csv(self.table()))
        return folder / TABLE

    def predictions(self, key: str) -> Classes | None:
        """The class that each round's model gave each test row (rounds, test rows)."""
        record = self.record(key)
        return record.predictions() if record else None

    def truth(self, key: str) -> Classes | None:
        """The known class of each test row."""
        record = self.record(key)
        return record.truth() if record else None

    @property
    def _anew(self) -> list[str]:
        return list(self.facts.get("anew", ()))

    @property
    def _grid(self) -> Grid | None:
        """The whole grid; nothing where there is none, or its words are another version's."""
        try:
            return load_grid(self.folder / GRID)
        except ActuneError:
            return None

    @property
    def published(self) -> bool:
        """Whether there is a table alone, without the cells that it was made of."""
        cells = (self.folder / PLACES).is_dir() or (self.folder / CELLS).is_file()
        return table_in(self.folder) is not None and not cells

    @property
    def _table_file(self) -> Path:
        file = table_in(self.folder)
        assert file is not None
        return file


def has_cells(folder: Path) -> bool:
    """Whether a folder says which cells it has: in bench.toml, or in the tables that `bench tidy` writes."""
    return (folder / FILE).is_file() or (folder / CELLS).is_file()


def _table_alone(folder: Path) -> RunFolderError:
    return RunFolderError(
        f"{str(folder)!r} has a results table without {CELLS}, which says how its cells were made: choose another "
        "folder"
    )


def _row(facts: RoundFacts, versions: Mapping[str, str], made: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "round": facts.round,
        "labels": facts.labels,
        "accuracy": facts.accuracy,
        "macro_f1": facts.macro_f1,
        "pseudo_labels": facts.pseudo_labels.trained_on,
        "pseudo_label_accuracy": facts.pseudo_labels.accuracy_trained_on,
        **{f"seconds_{phase}": round(facts.seconds[phase], 4) for phase in SECONDS},
        "machine": made["machine"],
        "versions": " ".join(f"{name}={version}" for name, version in versions.items()),
        "commit": made["commit"],
    }


def _write(folder: Path, facts: Mapping[str, Any]) -> None:
    write_atomically(folder / FILE, toml.dumps(facts).encode())
