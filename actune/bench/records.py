"""What is known of one finished cell: from its run folder, or from the tables that were made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from actune.bench.checking import checked_classes, checked_made, checked_rounds
from actune.core import toml
from actune.core.facts import RoundFacts
from actune.errors import RunFolderError
from actune.session.config import Config, load_config
from actune.store.store import FILE as RUN
from actune.store.store import Store

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from actune.report.maps import Map

    Classes = npt.NDArray[np.int64]

FINISHED = "finished"  # a fact of a cell: where it was made, once nothing is left to do


class CellRecord(Protocol):
    """A finished cell."""

    @property
    def config(self) -> Config: ...

    @property
    def tables(self) -> Mapping[str, Any]:
        """The run.toml of the cell, as it was written."""

    @property
    def made(self) -> Mapping[str, Any]:
        """The machine, the commit and, unless the cell is older than that, the version of what cells come out with."""

    @property
    def rounds(self) -> tuple[RoundFacts, ...]: ...

    def predictions(self) -> Classes | None:
        """The class that each round's model gave each test row (rounds, test rows)."""

    def truth(self) -> Classes | None:
        """The known class of each test row."""

    def first_map(self) -> Map | None:
        """The map of the pool at the first choice of questions."""


@dataclass(frozen=True)
class RunFolderRecord:
    """A finished cell in its run folder."""

    folder: Path
    config: Config
    made: Mapping[str, Any]
    rounds: tuple[RoundFacts, ...]

    @property
    def tables(self) -> Mapping[str, Any]:
        return toml.read(self.folder / RUN)

    def predictions(self) -> Classes | None:
        import numpy as np

        files = sorted((self.folder / "arrays").glob("fit-*.safetensors"))
        found = [_array(file, "test_predictions") for file in files]
        kept = [array for array in found if array is not None]
        if not kept or len(kept) < len(found):
            return None
        truth = self.truth()
        sizes = {len(array) for array in (*kept, *(() if truth is None else (truth,)))}
        if len(sizes) > 1 or len(kept) > len(self.rounds):
            raise RunFolderError(
                f"{str(self.folder)!r} has predictions that do not fit to its rounds or texts: restore the folder from "
                "a backup"
            )
        return np.stack(kept)

    def truth(self) -> Classes | None:
        return _array(self.folder / "arrays" / "truth.safetensors", "test")

    def first_map(self) -> Map | None:
        from actune.report.maps import load_map

        with Store.reading(self.folder) as store:
            return load_map(store, 1)


def record_in(folder: Path) -> RunFolderRecord | None:
    """The finished cell in a run folder, if it is one."""
    if not (folder / RUN).is_file():
        return None
    with Store.reading(folder) as store:
        if not (made := store.fact(FINISHED)):
            return None
        source = repr(str(folder))
        rounds = checked_rounds(tuple(store.rounds()), source)
        return RunFolderRecord(folder, load_config(folder), checked_made(made, source), rounds)


def _array(file: Path, name: str) -> Classes | None:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        found = load_file(file).get(name) if file.is_file() else None
    # safetensors' own for a broken header, and the others for what numpy cannot make of a whole one
    except (SafetensorError, OSError, ValueError, TypeError, KeyError) as error:
        raise RunFolderError(f"{str(file)!r} is damaged ({error}): restore the folder from a backup") from error
    return None if found is None else checked_classes(found, 1, repr(str(file)))
