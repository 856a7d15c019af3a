"""A first model without any answer: what rules voted, kept with the run, and what is known of each rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actune.core.pool import UNKNOWN
from actune.core.spec import RunSpec
from actune.core.task import Task
from actune.errors import RunFolderError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from actune.store.store import Store
    from actune.weak.label_models import Combined
    from actune.weak.votes import Votes

ARRAYS, FACT = "weak", "weak_sources"


@dataclass(frozen=True)
class WeakLabels:
    """Votes and the labels they were combined into."""

    votes: Votes
    combined: Combined

    @property
    def of_row(self) -> dict[int, int]:
        """The weak label of every row that a rule voted on."""
        return {row: label for row, label in enumerate(self.combined.labels.tolist()) if label != UNKNOWN}

    def save(self, store: Store) -> None:
        arrays = {"votes": self.votes.matrix, **{name: getattr(self.combined, name) for name in PARTS}}
        store.save_arrays(ARRAYS, arrays)
        store.set_fact(FACT, list(self.votes.sources))

    def sources(self, answers: Mapping[int, int]) -> list[dict[str, Any]]:
        """The facts of every rule, measured against what people have answered so far."""
        import numpy as np

        from actune.weak.sources import describe

        truth: npt.NDArray[np.int64] = np.full(len(self.votes.matrix), UNKNOWN, np.int64)
        for row, label in answers.items():
            if row < len(truth):  # texts that were added later have no votes
                truth[row] = label
        return [asdict(facts) for facts in describe(self.votes, self.combined, truth)]


PARTS = ("proba", "labels", "accuracy")


def weak_labels(request: RunSpec, task: Task) -> WeakLabels:
    """The votes that a request names, combined as it asks."""
    from actune.session.votes import find_votes
    from actune.weak.label_models import combine

    votes = find_votes(request.weak, task, request.reading, request.data)
    return WeakLabels(votes, combine(request.label_model, votes, len(task.pool.classes), request.seed))


def load_weak_labels(arrays: Mapping[str, Any], sources: Any, folder: Path) -> WeakLabels:
    """As `save` has kept them."""
    from actune.weak.label_models import Combined
    from actune.weak.votes import Votes

    named = isinstance(sources, list) and all(isinstance(source, str) for source in sources)
    if not named or {"votes", *PARTS} - arrays.keys() or len(sources) != arrays["votes"].shape[1]:
        raise RunFolderError(f"the weak labels in {str(folder)!r} are damaged: restore the folder from a backup")
    votes = Votes(arrays["votes"], tuple(sources))
    return WeakLabels(votes, Combined(**{name: arrays[name] for name in PARTS}))
