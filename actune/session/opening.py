"""A first model without any answer: what rules, class names or an earlier classifier say, kept with the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    from actune.core.classifier import Classifier
    from actune.rounds.prepared import PreparedTask
    from actune.rounds.weighing import Guesses
    from actune.store.store import Store
    from actune.weak.label_models import Combined
    from actune.weak.votes import Votes

ARRAYS, FACT = "weak", "weak_sources"
WEIGHT, LEARNT = "weak_weight", "learnt"  # a fact of runs whose weak labels count in later rounds too
CLASS_NAMES, CLASSIFIER = "class names", "the classifier to start from"  # sources that are no rules
NO_NAMES = "the class names are not used for a first model, because they say nothing about the classes"
MOST_NAMED = 20_000  # texts that class names label: more are not needed, and reading them may take long


@dataclass(frozen=True)
class WeakLabels:
    """Votes and the labels they were combined into."""

    votes: Votes
    combined: Combined

    @property
    def of_row(self) -> dict[int, int]:
        """The weak label of every row that a rule voted on."""
        return {row: label for row, label in enumerate(self.combined.labels.tolist()) if label != UNKNOWN}

    @property
    def guesses(self) -> Guesses:
        """The weak labels as later rounds weigh them."""
        import numpy as np

        from actune.rounds.weighing import Guesses

        known = {CLASS_NAMES: "the class names", CLASSIFIER: "the labels of the classifier to start from"}
        source = known.get(self.votes.sources[0], "the weak labels")
        return Guesses(self.combined.labels, np.asarray(self.combined.proba.max(1)), source)

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


def named_labels(request: RunSpec, prepared: PreparedTask) -> WeakLabels:
    """Labels by the class whose name or description is nearest; of very many texts some have one."""
    import numpy as np

    from actune.core.streams import Streams
    from actune.models.learners import PROBE
    from actune.models.probing import Probing
    from actune.session.naming import described_of
    from actune.weak.names import by_names

    pool = prepared.task.pool
    count = min(len(pool), MOST_NAMED)
    rows = np.sort(Streams(request.seed).rng("named rows").permutation(len(pool))[:count])
    encoder = Probing(prepared.folder, len(pool.classes), prepared.max_tokens, PROBE, prepared.device)
    texts = encoder.own_embeddings(pool.texts.take(rows), prepared.progress).cpu().numpy()

    def embed(phrases: Sequence[str]) -> npt.NDArray[np.float32]:
        found: npt.NDArray[np.float32] = encoder.own_embeddings(phrases).cpu().numpy()
        return found

    return _of_one_source(
        CLASS_NAMES, len(pool), rows, by_names(described_of(request.names, pool.classes), texts, embed)
    )


def guessed_labels(prepared: PreparedTask, classifier: Classifier) -> WeakLabels:
    """What a classifier says about the pool."""
    import numpy as np

    proba = classifier.read(prepared.pool, prepared.progress).log_proba.exp().cpu().numpy()
    return _of_one_source(CLASSIFIER, len(proba), np.arange(len(proba)), proba)


def _of_one_source(source: str, count: int, rows: npt.NDArray[np.int64], proba: npt.NDArray[np.floating]) -> WeakLabels:
    """The likeliest class of some of so many rows."""
    import numpy as np

    from actune.weak.label_models import Combined
    from actune.weak.votes import Votes

    whole = np.zeros((count, proba.shape[1]))
    whole[rows] = proba
    labels = np.full(count, UNKNOWN, np.int64)
    labels[rows] = proba.argmax(1)
    combined = Combined(whole, labels, np.array([float(proba.max(1).mean())]))
    return WeakLabels(Votes(labels[:, None], (source,)), combined)


def load_weak_labels(arrays: Mapping[str, Any], sources: Any, folder: Path) -> WeakLabels:
    """As `save` has kept them."""
    from actune.weak.label_models import Combined
    from actune.weak.votes import Votes

    named = isinstance(sources, list) and all(isinstance(source, str) for source in sources)
    if not named or {"votes", *PARTS} - arrays.keys() or len(sources) != arrays["votes"].shape[1]:
        raise RunFolderError(f"the weak labels in {str(folder)!r} are damaged: restore the folder from a backup")
    votes = Votes(arrays["votes"], tuple(sources))
    return WeakLabels(votes, Combined(**{name: arrays[name] for name in PARTS}))
