"""The tidy form of results: finished cells as tables, without their run folders.

cells.jsonl has a line for each cell, rounds.jsonl one for each of its rounds, predictions.parquet what each round's
model said about each test text, and maps.parquet the maps that Fig. 6 of the paper needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actune.bench.checking import checked_classes, checked_key, checked_made, checked_point, checked_rounds
from actune.bench.grid import Point
from actune.bench.parquet import read_limited
from actune.bench.portable import without_paths
from actune.bench.records import CellRecord
from actune.bench.results_table import PLACE
from actune.core.checks import told
from actune.core.facts import RoundFacts
from actune.core.files import storage_sentences, write_atomically
from actune.core.places import open_regular
from actune.errors import RunFolderError
from actune.session.config import Config, config_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from actune.report.maps import Map

    Classes = npt.NDArray[np.int64]

CELLS, ROUNDS, PREDICTIONS, MAPS = "cells.jsonl", "rounds.jsonl", "predictions.parquet", "maps.parquet"
TIDY_FILES = (CELLS, ROUNDS, PREDICTIONS, MAPS)
COLUMNS = {
    PREDICTIONS: ["cell", "round", "truth", "predicted"],
    MAPS: ["cell", "predicted", "asked", "labelled", "point"],
}
MADE = ("machine", "commit", "results")
RESTORE = "restore the file, or choose another folder"


@dataclass(frozen=True)
class TidyRecord:
    """A finished cell as the tables of a folder have it."""

    folder: Path
    key: str
    point: Point
    made: Mapping[str, Any]
    tables: Mapping[str, Any]
    rounds: tuple[RoundFacts, ...]

    @cached_property
    def config(self) -> Config:
        return config_of(self.tables, f"the cell {self.key} in {str(self.folder / CELLS)!r}")

    @property
    def complete(self) -> bool:
        return len(self.rounds) == self.config.request.fits

    def predictions(self) -> Classes | None:
        import numpy as np

        if not (lines := self._lines(PREDICTIONS)):
            return None
        rounds = checked_classes([line["round"] for line in lines], 1, self._told(PREDICTIONS))
        predicted = checked_classes([line["predicted"] for line in lines], 2, self._told(PREDICTIONS))
        whole = sorted(rounds) == list(range(len(lines))) and len(lines) <= len(self.rounds)
        if not whole or predicted.shape[1:] != self._truth(lines).shape:
            raise RunFolderError(f"{self._told(PREDICTIONS)} has rounds or texts that do not fit: {RESTORE}")
        return np.asarray(predicted[np.argsort(rounds)])

    def truth(self) -> Classes | None:
        lines = self._lines(PREDICTIONS)
        return self._truth(lines) if lines else None

    def _truth(self, lines: list[dict[str, Any]]) -> Classes:
        return checked_classes(lines[0]["truth"], 1, self._told(PREDICTIONS))

    def _told(self, name: str) -> str:
        return f"the cell {self.key} in {str(self.folder / name)!r}"

    def first_map(self) -> Map | None:
        import numpy as np

        from actune.report.maps import Map

        if not (lines := self._lines(MAPS)):
            return None
        predicted = checked_classes([line["predicted"] for line in lines], 1, self._told(MAPS))
        try:
            points = np.array([line["point"] for line in lines], np.float32)
            asked, labelled = (np.array([line[name] for line in lines], bool) for name in ("asked", "labelled"))
        except (TypeError, ValueError) as error:
            raise RunFolderError(f"{self._told(MAPS)} is no map ({error}): {RESTORE}") from error
        if points.ndim != 2 or points.shape[1] < 2 or not np.isfinite(points).all():
            raise RunFolderError(f"{self._told(MAPS)} is no map, because its points are no points: {RESTORE}")
        return Map(1, points, predicted, asked, labelled, None, None)

    def _lines(self, name: str) -> list[dict[str, Any]]:
        import pyarrow as pa

        file = self.folder / name
        if not file.is_file():
            return []
        try:
            table = read_limited(file, self.key)
            if missing := [column for column in COLUMNS[name] if column not in table.column_names]:
                raise RunFolderError(f"{str(file)!r} is not a results table: it has no column {missing[0]!r}")
            lines: list[dict[str, Any]] = table.select(COLUMNS[name]).to_pylist()
        # pyarrow raises one of these, or a kind of it, for whatever a file may hold
        except (pa.ArrowException, ValueError, TypeError, OverflowError, OSError) as error:
            why = (str(error).splitlines() or [type(error).__name__])[0]
            raise RunFolderError(f"{str(file)!r} is damaged or not a results table ({why}): {RESTORE}") from error
        return lines


def read_tidy(folder: Path) -> dict[str, TidyRecord]:
    """The cells in the tables of a folder by key, none where it has no tables; a damaged table is one sentence."""
    if not (folder / CELLS).is_file():
        return {}
    rounds = _rounds_of(folder / ROUNDS)
    cells: dict[str, TidyRecord] = {}
    for number, line in _lines_of(folder / CELLS):
        if missing := [name for name in ("cell", *PLACE, "run") if name not in line]:
            raise _damaged(folder / CELLS, number, f"it has no {missing[0]!r}")
        source = f"line {number:,} of {str(folder / CELLS)!r}"
        key, point = checked_key(line["cell"], source), checked_point([line[name] for name in PLACE], source)
        made = checked_made({name: line.get(name) for name in MADE}, source)
        if not isinstance(line["run"], dict):
            raise _damaged(folder / CELLS, number, "its run is no table")
        if key in cells:
            raise _damaged(folder / CELLS, number, f"the cell {key} occurs twice")
        found = checked_rounds(rounds.pop(key, ()), f"the cell {key} in {str(folder / ROUNDS)!r}")
        cells[key] = TidyRecord(folder, key, point, made, line["run"], found)
    return cells  # rounds of other cells are what a killed process wrote before it wrote the cells


def write_tidy(folder: Path, cells: Mapping[str, tuple[Point, CellRecord]], mapped: Iterable[str] = ()) -> None:
    """Writes these cells as tables in the place of those that are there; `mapped` are the cells whose maps are kept."""
    write_atomically(folder / ROUNDS, _json_lines(_round_lines(cells)))
    _write_parquet(folder / PREDICTIONS, _predictions_table(cells))
    _write_parquet(folder / MAPS, _maps_table(cells, mapped))
    write_atomically(folder / CELLS, _json_lines(_cell_lines(cells)))  # last: it says what the others hold


def _cell_lines(cells: Mapping[str, tuple[Point, CellRecord]]) -> Iterator[dict[str, Any]]:
    for key, (point, record) in cells.items():
        place = dict(zip(PLACE, point.coordinates, strict=True))
        yield {
            "cell": key,
            **place,
            **{name: record.made.get(name) for name in MADE},
            "run": without_paths(record.tables),
        }


def _round_lines(cells: Mapping[str, tuple[Point, CellRecord]]) -> Iterator[dict[str, Any]]:
    for key, (_, record) in cells.items():
        for facts in record.rounds:
            yield {"cell": key, **facts.as_json()}


def _predictions_table(cells: Mapping[str, tuple[Point, CellRecord]]) -> pa.Table:
    import pyarrow as pa

    columns: dict[str, list[Any]] = {"cell": [], "round": [], "truth": [], "predicted": []}
    for key, (_, record) in cells.items():
        said, truth = record.predictions(), record.truth()
        for round, predicted in enumerate(said if said is not None and truth is not None else ()):
            for name, value in zip(columns, (key, round, truth, predicted), strict=True):
                columns[name].append(value)
    classes = pa.list_(pa.int16())
    kinds = {"cell": pa.string(), "round": pa.int16(), "truth": classes, "predicted": classes}
    return pa.table({name: pa.array(values, kinds[name]) for name, values in columns.items()})


def _maps_table(cells: Mapping[str, tuple[Point, CellRecord]], mapped: Iterable[str]) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    columns: dict[str, list[Any]] = {"cell": [], "predicted": [], "asked": [], "labelled": [], "point": []}
    for key in mapped:
        if (found := cells[key][1].first_map()) is not None:
            points = list(found.points.astype(np.float16))  # as cells keep them
            rows: tuple[Iterable[Any], ...] = ([key] * len(points), found.classes, found.asked, found.labelled, points)
            for name, values in zip(columns, rows, strict=True):
                columns[name] += list(values)
    kinds = (pa.string(), pa.int16(), pa.bool_(), pa.bool_(), pa.list_(pa.float16()))
    return pa.table({name: pa.array(columns[name], kind) for name, kind in zip(columns, kinds, strict=True)})


def _write_parquet(file: Path, table: pa.Table) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not table.num_rows:
        with storage_sentences(file):
            file.unlink(missing_ok=True)
        return
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", compression_level=19)
    write_atomically(file, sink.getvalue().to_pybytes())


def _rounds_of(file: Path) -> dict[str, tuple[RoundFacts, ...]]:
    """The rounds by cell, in their order."""
    found: dict[str, list[RoundFacts]] = {}
    for number, line in _lines_of(file):
        try:
            key, facts = str(line.pop("cell")), RoundFacts.from_json(line)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _damaged(file, number, f"it is not a round of a cell: {error}") from error
        if type(facts.round) is not int:
            raise _damaged(file, number, f"its round is {told(facts.round)}")
        found.setdefault(key, []).append(facts)
    return {key: tuple(sorted(rounds, key=lambda facts: facts.round)) for key, rounds in found.items()}


def _lines_of(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with open_regular(file) as handle:
        try:
            texts = handle.read().decode("utf-8").split("\n")  # no text has a line break that JSON does not escape
        except (OSError, UnicodeDecodeError) as error:
            raise RunFolderError(f"{str(file)!r} cannot be read ({error}): {RESTORE}") from error
    for number, text in enumerate(texts[: -1 if texts[-1] == "" else None], 1):
        try:
            line = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _damaged(file, number, str(error)) from error
        if not isinstance(line, dict):
            raise _damaged(file, number, "it is not a JSON object")
        yield number, line


def _damaged(file: Path, number: int, why: str) -> RunFolderError:
    return RunFolderError(f"{str(file)!r} is damaged or not a results table, line {number}: {why}: {RESTORE}")


def _json_lines(lines: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
