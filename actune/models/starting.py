"""A classifier that a user has already: found, loaded, and brought into the order of the run's classes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actune.errors import ModelError
from actune.models.sources import encoder_digest

if TYPE_CHECKING:
    from torch import nn

    from actune.core.classifier import Classifier, Learner


def model_in(folder: Path) -> Path:
    """The folder of a saved classifier: this one, or one with a usual name in it."""
    for place in (folder / "model", folder / "probe", folder):
        if (place / "config.json").is_file() or (place / "probe.json").is_file():
            return place
    raise ModelError(f"{str(folder)!r} holds no classifier: it has neither a config.json nor a probe.json")


def kind_of(folder: Path) -> str:
    """The learner that such a classifier belongs to."""
    return "probe" if (folder / "probe.json").is_file() else "finetune"


def check_start(folder: Path, classes: Sequence[str]) -> None:
    """One sentence for a classifier that knows other classes than the run."""
    known = classes_of(model_in(folder))
    if len(set(known)) < len(known):
        raise ModelError(f"the classifier in {str(folder)!r} gives two of its classes one name: rename them")
    if sorted(known) != sorted(classes):
        raise ModelError(
            f"the classifier in {str(folder)!r} knows {', '.join(known)}, and the data has {', '.join(classes)}: "
            "both must name the same classes"
        )


def load_start(learner: Learner, folder: Path, classes: Sequence[str]) -> Classifier:
    """The classifier with its outputs in the order of `classes`."""
    from actune.models.finetuning import last_linear

    known = classes_of(folder)
    classifier: Any = learner.load(folder)
    last = classifier.network.out if kind_of(folder) == "probe" else last_linear(classifier.network)
    reorder(last, [known.index(name) for name in classes])
    return classifier  # type: ignore[no-any-return]


def check_encoder(folder: Path, encoder: Path) -> None:
    """A head on embeddings means nothing on those of another encoder; a fine-tuned classifier brings its own."""
    if kind_of(model_in(folder)) != "probe":
        return
    facts = json.loads((model_in(folder) / "probe.json").read_text(encoding="utf-8"))
    if facts.get("encoder") != encoder_digest(encoder):
        raise ModelError(
            f"the probe in {str(folder)!r} stands on another encoder than this run: "
            "give --model (and --adapt) as it was made with"
        )


def reorder(last: nn.Module, order: Sequence[int]) -> None:
    """The same linear layer with its outputs in another order."""
    import torch

    with torch.no_grad():
        for values in (last.weight, last.bias):
            if isinstance(values, torch.Tensor):
                values.copy_(values[list(order)].clone())


def classes_of(folder: Path) -> list[str]:
    """The names that a saved classifier gives its outputs, in their order."""
    file = folder / ("probe.json" if kind_of(folder) == "probe" else "config.json")
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        if "classes" in facts:
            return [str(name) for name in facts["classes"]]
        return [str(facts["id2label"][number]) for number in sorted(facts["id2label"], key=int)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{file} does not name the classes of a classifier: {error!r}") from error
