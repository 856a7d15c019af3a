"""What is known of one finished cell: from its run folder, or from the tables that were made of it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from actune.core.facts import RoundFacts
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
        return tomllib.loads((self.folder / RUN).read_text(encoding="utf-8"))

    def predictions(self) -> Classes | None:
        import numpy as np

        files = sorted((self.folder / "arrays").glob("fit-*.safetensors"))
        found = [_array(file, "test_predictions") for file in files]
        kept = [array for array in found if array is not None]
        return np.stack(kept) if kept and len(kept) == len(found) else None

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
        made = store.fact(FINISHED)
        return RunFolderRecord(folder, load_config(folder), made, tuple(store.rounds())) if made else None


def _array(file: Path, name: str) -> Classes | None:
    import numpy as np
    from safetensors.numpy import load_file

    found = load_file(file).get(name) if file.is_file() else None
    return None if found is None else found.astype(np.int64)
