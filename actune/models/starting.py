"""A classifier that a user has already: found, loaded, and brought into the order of the run's classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actune.errors import ModelError
from actune.models.folders import read_json
from actune.models.learners import LEARNERS, LearnerKind, all_learners
from actune.models.sources import encoder_digest

MOST_CLASSES = 100_000

if TYPE_CHECKING:
    from actune.core.classifier import Classifier, Learner


def model_in(folder: Path) -> Path:
    """The folder of a saved classifier: this one, or one with a usual name in it."""
    for place in (folder / "model", folder / "probe", folder):
        if _found(place):
            return place
    files = ", ".join(sorted(kind.saved_file for kind in LEARNERS.values()))
    raise ModelError(f"{str(folder)!r} is not a saved classifier: it has none of the files {files}")


def saved_learner(folder: Path) -> LearnerKind:
    """The learner that a saved classifier belongs to."""
    if kind := _found(folder):
        return kind
    raise ModelError(f"{str(folder)!r} was saved by a learner that is not installed here: install its package")


def _found(folder: Path) -> LearnerKind | None:
    """Of several learners that know the folder's files the one that came last: transformers' config.json is common."""
    return next((kind for kind in reversed(all_learners()) if kind.saved_here(folder)), None)


def check_start(folder: Path, classes: Sequence[str]) -> None:
    """One sentence for a classifier that knows other classes than the run."""
    known = saved_classes(model_in(folder))
    if len(set(known)) < len(known):
        raise ModelError(f"the classifier in {str(folder)!r} has two classes with the same name: rename one of them")
    if sorted(known) != sorted(classes):
        raise ModelError(
            f"the classifier in {str(folder)!r} has the classes {', '.join(known)}, but the data has "
            f"{', '.join(classes)}: they must be the same"
        )


def load_start(learner: Learner, folder: Path, classes: Sequence[str]) -> Classifier:
    """The classifier with its outputs in the order of `classes`."""
    known, kind = saved_classes(folder), saved_learner(folder)
    classifier = learner.load(folder)
    if kind.reorder is not None:
        kind.reorder(classifier, [known.index(name) for name in classes])
    elif known != list(classes):
        raise ModelError(
            f"the classifier in {str(folder)!r} has its classes in another order than the data, and the learner "
            f"{kind.name!r} cannot change it: list the classes in the order {', '.join(known)}"
        )
    return classifier


def check_encoder(folder: Path, encoder: Path) -> None:
    """A head on embeddings means nothing on those of another encoder; a fine-tuned classifier brings its own."""
    place = model_in(folder)
    kind = saved_learner(place)
    if kind.is_frozen_encoder and facts_of(place, kind).get("encoder") != encoder_digest(encoder):
        raise ModelError(
            f"the {kind.name} in {str(folder)!r} uses another encoder than this run: "
            "set --model (and --adapt) as when it was trained"
        )


def saved_classes(folder: Path) -> list[str]:
    """The names that a saved classifier gives its outputs, in their order."""
    kind = saved_learner(folder)
    facts = facts_of(folder, kind)
    names = facts["classes"] if "classes" in facts else _labels(facts.get("id2label"))
    # a number is the name of a class too, and a list or a mapping is none
    if not isinstance(names, list) or not names or not all(isinstance(name, (str, int, float)) for name in names):
        raise ModelError(f"{folder / kind.saved_file} has no class names: it must list one for each class")
    if len(names) > MOST_CLASSES:
        raise ModelError(f"{folder / kind.saved_file} has {len(names):,} classes, and actune allows {MOST_CLASSES:,}")
    return list(map(str, names))


def facts_of(folder: Path, kind: LearnerKind) -> dict[str, Any]:
    """What a learner wrote about a saved classifier."""
    return read_json(folder / kind.saved_file)


def _labels(names: Any) -> list[Any]:
    """The names by their numbers, as transformers has them, which must be 0, 1, 2 and so on."""
    if not isinstance(names, dict) or set(names) != {str(number) for number in range(len(names))}:
        return []
    return [names[str(number)] for number in range(len(names))]
