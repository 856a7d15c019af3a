"""What one classifier says about one pool in one round: outputs, candidates, random streams."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from actune.core.classifier import Readout
from actune.core.streams import Streams
from actune.errors import Diverged

if TYPE_CHECKING:
    import numpy as np
    import torch

Derived = TypeVar("Derived")


class View:
    """Every array has the pool's length and is indexed by row.

    `unlabelled` are the rows nobody had labelled or skipped when the round began; `candidates` are those that may
    still be chosen. What is derived from the model's outputs, the labelled and the unlabelled rows is cached under its
    own key and shared by `without`; what depends on the candidates is not cached.
    """

    def __init__(
        self,
        read: Callable[[], Readout] | Readout,
        unlabelled: Sequence[int] | torch.Tensor,
        labelled: Sequence[int] | torch.Tensor = (),
        streams: Streams | None = None,
        ids: Sequence[str] | None = None,
    ) -> None:
        import torch

        self.unlabelled = torch.as_tensor(unlabelled, dtype=torch.int64)  # sorted rows
        self.labelled = torch.as_tensor(labelled, dtype=torch.int64)
        self.candidates = self.unlabelled
        self.streams = streams or Streams(seed=0)
        self._read = read
        self._ids = ids
        self._cache: dict[Hashable, Any] = {}

    def rng(self, purpose: str) -> np.random.Generator:
        return self.streams.rng(purpose)

    @property
    def was_read(self) -> bool:
        """Whether anything has needed the model's outputs yet."""
        return "readout" in self._cache

    @property
    def readout(self) -> Readout:
        return self.cached("readout", self._checked_read)

    @property
    def log_proba(self) -> torch.Tensor:  # (pool, classes)
        return self.readout.log_proba

    @property
    def embedding(self) -> torch.Tensor:  # (pool, width)
        return self.readout.embedding

    def cached(self, key: Hashable, compute: Callable[[], Derived]) -> Derived:
        """`compute()`, once per key; the key holds all that the value depends on beside the view itself."""
        if key not in self._cache:
            self._cache[key] = compute()
        return self._cache[key]  # type: ignore[no-any-return]

    def without(self, rows: Sequence[int] | torch.Tensor) -> View:
        """The same view with fewer candidates; shares outputs and everything derived from them."""
        import torch

        smaller = View.__new__(View)
        smaller.__dict__.update(self.__dict__)
        gone = torch.as_tensor(rows, dtype=torch.int64)
        smaller.candidates = self.candidates[~torch.isin(self.candidates, gone)]
        return smaller

    def _checked_read(self) -> Readout:
        return checked(self._read() if callable(self._read) else self._read, self._ids)


def checked(readout: Readout, ids: Sequence[str] | None = None) -> Readout:
    """The readout itself, unless the model that gave it diverged."""
    broken = readout.log_proba.isnan().any(1) | readout.embedding.isnan().any(1)
    if broken.any():
        rows = broken.nonzero().flatten().tolist()
        names = [ids[row] if ids else str(row) for row in rows[:5]]
        raise Diverged(
            f"the model gave NaN for {len(rows):,} of {len(broken):,} texts (ids {', '.join(names)}"
            f"{', ...' if len(rows) > 5 else ''}): lower learning_rate, or check these texts"
        )
    return readout
