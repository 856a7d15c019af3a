"""What one classifier says about one pool in one round: outputs, candidates, labels, random streams."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from actune.core.classifier import Moments, Readout
from actune.core.streams import Streams
from actune.errors import Diverged, MissingSignal

if TYPE_CHECKING:
    import numpy as np
    import torch

Derived = TypeVar("Derived")


class Outputs:
    """Where the outputs come from, each computed when something asks for it. These are of a readout, and no more."""

    def __init__(self, readout: Readout) -> None:
        self.readout = readout

    def read(self, head_input: bool) -> Readout:
        return self.readout

    def moments(self, samples: int, rows: torch.Tensor) -> Moments:
        """Of these rows alone, in their order."""
        raise MissingSignal("this model has no dropout, which the method needs: use margin or entropy")

    def perturbed(self, epsilon: float) -> torch.Tensor:  # (pool, classes)
        """Log-probabilities under the perturbation of this length that changes each prediction most."""
        raise MissingSignal("this model has no word embeddings to perturb: use --learner finetune")

    def surprisal(self) -> torch.Tensor:  # (pool, tokens)
        """How much each token surprises the pretrained masked language model."""
        raise MissingSignal("this model has no masked language model: use badge")

    def frozen(self) -> torch.Tensor:  # (pool, width)
        """Unit embeddings of the encoder as it was before any label."""
        raise MissingSignal("this model has no frozen encoder: use badge")


class View:
    """Every array has the pool's length and is indexed by row.

    `unlabelled` are the rows nobody had labelled or skipped when the round began; `candidates` are those that may
    still be chosen. What is derived from the model's outputs, the labelled and the unlabelled rows is cached under its
    own key and shared by `without`; what depends on the candidates is not cached.
    """

    def __init__(
        self,
        outputs: Outputs | Readout,
        unlabelled: Sequence[int] | torch.Tensor,
        labelled: Sequence[int] | torch.Tensor = (),
        streams: Streams | None = None,
        ids: Sequence[str] | None = None,
        labels: Sequence[int] | torch.Tensor = (),
        texts: Callable[[], Sequence[str]] | None = None,
    ) -> None:
        import torch

        self.unlabelled = torch.as_tensor(unlabelled, dtype=torch.int64)  # sorted rows
        self.labelled = torch.as_tensor(labelled, dtype=torch.int64)
        self.labels = torch.as_tensor(labels, dtype=torch.int64)  # of the labelled rows, in their order
        self.candidates = self.unlabelled
        self.streams = streams or Streams(seed=0)
        self._outputs = outputs if isinstance(outputs, Outputs) else Outputs(outputs)
        self._ids = ids
        self._texts = texts
        self._cache: dict[Hashable, Any] = {}

    def __repr__(self) -> str:
        sizes = {"unlabelled": self.unlabelled, "labelled": self.labelled, "candidates": self.candidates}
        return f"View({', '.join(f'{len(rows):,} {name}' for name, rows in sizes.items())})"

    def rng(self, purpose: str) -> np.random.Generator:
        return self.streams.rng(purpose)

    @property
    def texts(self) -> Sequence[str]:  # (pool,)
        """The texts themselves, by row; none is read before somebody asks for it."""
        if self._texts is None:
            raise MissingSignal("this view was made without texts: use a score that needs only predictions")
        return self.cached("texts", self._texts)

    @property
    def was_read(self) -> bool:
        """Whether anything has needed the model's outputs yet."""
        return "readout" in self._cache

    @property
    def readout(self) -> Readout:
        return self.cached("readout", lambda: self._checked(head_input=False))

    @property
    def log_proba(self) -> torch.Tensor:  # (pool, classes)
        return self.readout.log_proba

    @property
    def embedding(self) -> torch.Tensor:  # (pool, width)
        return self.readout.embedding

    @property
    def head_input(self) -> torch.Tensor:  # (pool, width)
        """What the last linear layer sees. Whoever asks first makes it part of the one read."""
        if not self.was_read:
            self.cached("readout", lambda: self._checked(head_input=True))
        if (found := self.readout.head_input) is not None:
            return found
        again = self.cached("head input", lambda: self._checked(head_input=True).head_input)
        if again is None:
            raise MissingSignal("this model has no last linear layer: use margin or entropy")
        return again

    @property
    def surprisal(self) -> torch.Tensor:  # (pool, tokens)
        return self.cached("surprisal", self._outputs.surprisal)

    @property
    def frozen(self) -> torch.Tensor:  # (pool, width)
        return self.cached("frozen", self._outputs.frozen)

    def perturbed(self, epsilon: float) -> torch.Tensor:  # (pool, classes)
        return self.cached(("perturbed", epsilon), lambda: self._outputs.perturbed(epsilon))

    def moments(self, samples: int, rows: torch.Tensor | None = None) -> Moments:
        """Pool-length as everything: NaN outside the unlabelled rows, or outside `rows`."""
        if rows is not None:
            return self._moments(samples, rows)
        return self.cached(("moments", samples), lambda: self._moments(samples, self.unlabelled))

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

    def _checked(self, head_input: bool) -> Readout:
        return checked(self._outputs.read(head_input), self._ids)

    def _moments(self, samples: int, rows: torch.Tensor) -> Moments:
        found, pool = self._outputs.moments(samples, rows), len(self.log_proba)

        def whole_pool(values: torch.Tensor) -> torch.Tensor:
            whole = values.new_full((pool, *values.shape[1:]), float("nan"))
            whole[rows.to(values.device)] = values
            return whole

        return Moments(whole_pool(found.mean), whole_pool(found.entropy), whole_pool(found.variance))


def checked(readout: Readout, ids: Sequence[str] | None = None) -> Readout:
    """The readout itself, unless the model that gave it diverged."""
    if not (readout.log_proba.sum() + readout.embedding.sum()).isnan():  # one NaN would make it NaN
        return readout
    broken = readout.log_proba.isnan().any(1) | readout.embedding.isnan().any(1)
    if broken.any():
        rows = broken.nonzero().flatten().tolist()
        names = [ids[row] if ids else str(row) for row in rows[:5]]
        raise Diverged(
            f"the model returned NaN for {len(rows):,} of {len(broken):,} texts (ids {', '.join(names)}"
            f"{', ...' if len(rows) > 5 else ''}): lower learning_rate, or check these texts"
        )
    return readout
