"""A folder of results: run folders by key, which of them belong to the grid, and one tidy table of all rounds."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from actune import __version__
from actune.bench.grid import Grid, Point, load_grid
from actune.bench.progress import GridProgress
from actune.core import toml
from actune.core.facts import RoundFacts
from actune.core.files import replacing_folder, storage_sentences, write_atomically
from actune.errors import ActuneError, RunFolderError
from actune.session.config import load_config
from actune.store.store import Store

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    Classes = npt.NDArray[np.int64]

RESULTS_FORMAT = 1
FILE, GRID, TABLE = "bench.toml", "grid.toml", "results.csv"
PLACE = ("task", "method", "model", "learner", "seed", "variant")
SECONDS = ("fit", "evaluate", "select")
TEXTS = ("cell", "task", "method", "model", "learner", "variant", "machine", "versions", "commit")
NUMBERS = ("seed", "round", "labels", "pseudo_labels")
RESULT_COLUMNS = (
    *("cell", *PLACE, "round", "labels", "accuracy", "macro_f1", "pseudo_labels", "pseudo_label_accuracy"),
    *(f"seconds_{phase}" for phase in SECONDS),
    *("machine", "versions", "commit"),
)
ORDER = ["task", "model", "learner", "variant", "method", "seed", "round"]
FINISHED = "finished"  # a fact of a cell: where it was made, once nothing is left to do


class Results:
    """The results in a folder. Finished cells never change, so what was read of them is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: dict[str, list[dict[str, Any]]] = {}
        if not folder.is_dir():
            raise RunFolderError(f"there is no folder {str(folder)!r}")
        if not (folder / FILE).is_file() and not (folder / TABLE).is_file():
            raise RunFolderError(f"{str(folder)!r} holds no results: it has neither {FILE} nor {TABLE}")

    @classmethod
    def opened(cls, folder: Path) -> Results:
        """The results of a folder, which is made where there is none; a strange folder is refused."""
        with storage_sentences(folder):
            if folder.exists() and not (folder / FILE).is_file() and any(folder.iterdir()):
                raise RunFolderError(f"{str(folder)!r} is neither empty nor a folder of results: choose another one")
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / FILE).is_file():
                _write(folder, {"format": RESULTS_FORMAT, "actune": __version__, "id": uuid4().hex, "cells": {}})
        found = cls(folder)
        found.check_version("choose another folder")
        if found.published:
            raise RunFolderError(f"{str(folder)!r} holds a table without the cells that it was made of: choose another")
        with storage_sentences(folder):
            (folder / "cells").mkdir(exist_ok=True)
        return found

    @cached_property
    def facts(self) -> dict[str, Any]:
        """bench.toml; of a published table alone the cells that it has lines of."""
        file = self.folder / FILE
        if not file.is_file():
            return {"cells": _places(_read(self.folder / TABLE))}
        try:
            facts = tomllib.loads(file.read_text(encoding="utf-8"))
            version = facts["format"]
        except (ValueError, KeyError) as error:
            raise RunFolderError(f"{str(file)!r} cannot be read: {error}") from error
        if version != RESULTS_FORMAT:
            raise RunFolderError(
                f"{str(self.folder)!r} was written by another version of actune (format {version}, this one reads "
                f"{RESULTS_FORMAT}): use that version, or choose another folder"
            )
        return facts

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

    def place(self, key: str) -> Path:
        """The run folder of a cell."""
        return self.folder / "cells" / key

    def finished(self) -> list[str]:
        """The planned cells that are done, in the order of the plan."""
        if self.published:
            known = set(self.table().cell)
            return [key for key in self.cells if key in known]
        return [key for key in self.cells if self._finished(key)]

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
        if not self._finished(key):
            raise RunFolderError(f"the cell {key} is not finished")
        point = self.cells[key]
        place = {name: getattr(point, name) for name in PLACE}
        return [{"cell": key, **place, **row} for row in self._rows[key]]

    def table(self) -> pd.DataFrame:
        """One line per finished cell and round."""
        import pandas as pd

        if self.published:
            return _read(self.folder / TABLE)
        table = pd.DataFrame([row for key in self.finished() for row in self.rows(key)], columns=RESULT_COLUMNS)
        return _typed(table).sort_values(ORDER, kind="stable", ignore_index=True)

    def write_table(self) -> Path:
        """Writes the table as CSV and as Parquet."""
        table = self.table()
        write_atomically(self.folder / TABLE, table.to_csv(index=False, lineterminator="\n").encode())
        write_atomically(self.folder / "results.parquet", table.to_parquet(index=False))
        return self.folder / TABLE

    def predictions(self, key: str) -> Classes | None:
        """The class that each round's model gave each test row (rounds, test rows)."""
        import numpy as np

        files = sorted((self.place(key) / "arrays").glob("fit-*.safetensors"))
        found = [_array(file, "test_predictions") for file in files]
        kept = [array for array in found if array is not None]
        return np.stack(kept) if kept and len(kept) == len(found) else None

    def truth(self, key: str) -> Classes | None:
        """The known class of each test row."""
        return _array(self.place(key) / "arrays" / "truth.safetensors", "test")

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
        return (self.folder / TABLE).is_file() and not (self.folder / "cells").is_dir()

    def _finished(self, key: str) -> bool:
        if key in self._rows:
            return True
        if not (self.place(key) / "run.toml").is_file():
            return False
        with Store.reading(self.place(key)) as store:
            if made := store.fact(FINISHED):
                versions = load_config(self.place(key)).versions
                self._rows[key] = [_row(facts, versions, made) for facts in store.rounds()]
        return bool(made)


def files_in(folder: Path) -> dict[str, bytes]:
    """A run folder as bytes by name, to be sent elsewhere; nothing where it is no run yet."""
    if not (folder / "run.toml").is_file():
        return {}
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def put_files(files: Mapping[str, bytes], folder: Path) -> None:
    """The run folder that these files are, in the place of what was there: all of it or nothing."""
    with storage_sentences(folder), replacing_folder(folder) as scratch:
        for name, content in files.items():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            (scratch / name).write_bytes(content)


def _row(facts: RoundFacts, versions: Mapping[str, str], made: Mapping[str, str]) -> dict[str, Any]:
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


def _read(file: Path) -> pd.DataFrame:
    import pandas as pd

    table = pd.read_csv(file, dtype=str, keep_default_na=False)
    if missing := [name for name in RESULT_COLUMNS if name not in table]:
        raise RunFolderError(f"{str(file)!r} is no table of results: it has no column {missing[0]!r}")
    return _typed(table[list(RESULT_COLUMNS)].mask(table == ""))


def _places(table: pd.DataFrame) -> dict[str, list[Any]]:
    """Where each cell of a table stands in its grid."""
    columns = [table[name].tolist() for name in ("cell", *PLACE)]
    return {cell: place for cell, *place in zip(*columns, strict=True)}


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    texts = {name: table[name].fillna("").astype(str) for name in TEXTS}
    numbers = {name: table[name].astype("int64") for name in NUMBERS}
    others: Iterable[str] = [name for name in RESULT_COLUMNS if name not in texts and name not in numbers]
    return table.assign(**texts, **numbers, **{name: table[name].astype("float64") for name in others})


def _array(file: Path, name: str) -> Classes | None:
    import numpy as np
    from safetensors.numpy import load_file

    found = load_file(file).get(name) if file.is_file() else None
    return None if found is None else found.astype(np.int64)


def _write(folder: Path, facts: Mapping[str, Any]) -> None:
    write_atomically(folder / FILE, toml.dumps(facts).encode())
