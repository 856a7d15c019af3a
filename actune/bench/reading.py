"""A folder of results as it lies on the disk: the tidy table, and the predictions that its cells keep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from actune.errors import RunFolderError, UserError

COLUMNS = (
    *("cell", "task", "method", "model", "learner", "seed", "variant", "round", "labels", "accuracy", "macro_f1"),
    *("pseudo_labels", "pseudo_label_accuracy", "seconds_fit", "seconds_evaluate", "seconds_select"),
    *("machine", "versions", "commit"),
)


class ResultsFolder:
    """Results to be read. A table alone will do: then there are no predictions."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._truths: dict[str, np.ndarray | None] = {}  # by the data's fingerprint
        if not (self.folder / "results.csv").is_file():
            raise RunFolderError(f"{str(self.folder)!r} holds no results: it has no results.csv")

    def table(self) -> Any:
        """The rounds of all cells as a pandas.DataFrame."""
        import pandas

        table = pandas.read_csv(self.folder / "results.csv", dtype={"cell": str, "variant": str, "commit": str})
        if missing := [name for name in COLUMNS if name not in table.columns]:
            file = str(self.folder / "results.csv")
            raise RunFolderError(f"{file!r} is no table of results: it has no column {missing[0]!r}")
        if table.empty:
            raise RunFolderError(f"{str(self.folder)!r} holds no finished round yet")
        return table.assign(variant=table["variant"].fillna(""))

    def predictions(self, cell: str) -> np.ndarray | None:
        """(rounds, texts): the class that every round's model gives every test text."""
        from safetensors.numpy import load_file

        files = sorted((self.folder / "cells" / cell / "arrays").glob("fit-*.safetensors"))
        found = [load_file(file).get("test_predictions") for file in files]
        rounds = [each for each in found if each is not None]
        return np.stack(rounds) if rounds and len(rounds) == len(found) else None

    def truth(self, cell: str) -> np.ndarray | None:
        """(texts,): the known classes of the test texts, where the data are at hand."""
        from actune.session.config import load_config

        folder = self.folder / "cells" / cell
        try:
            data = load_config(folder).resolved.fingerprint
        except UserError:
            return None
        if data not in self._truths:
            self._truths[data] = _test_labels(folder)
        return self._truths[data]


def _test_labels(run: Path) -> np.ndarray | None:
    from actune.session.setup import open_session

    try:
        session = open_session(run)
    except UserError:
        return None  # its data are not at hand
    session.store.close()
    return None if session.task.test is None else np.asarray(session.task.test.labels)
