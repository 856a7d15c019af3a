"""Sentences about a project that several commands print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from actune.cli.console import counted
from actune.core.facts import MEASURED_ON

if TYPE_CHECKING:
    from actune.core.facts import Interval, Quality, Share
    from actune.session.overlapping import Agreement
    from actune.session.status import Status

SHOWN = 5  # so many classes are named, the rest is counted


def quality_lines(quality: Quality) -> Iterator[str]:
    """What the answers say about the model, and what that is worth."""
    if validated := quality.cross_validation:
        alone = f" ({validated.left_out:,} more are the only answer of their class)" if validated.left_out else ""
        yield (
            f"cross-validated with the learner {validated.learner} on {counted(validated.accuracy.count, 'answer')}"
            f"{alone}: accuracy {_interval(validated.accuracy)}, macro-F1 {validated.macro_f1:.2f}"
        )
        yield MEASURED_ON["cross_validation"]
    if agreement := quality.agreement:
        answers = counted(agreement.count, "answer")
        yield f"agreement of {answers} with the model's suggestions: {_interval(agreement)}"
        yield MEASURED_ON["agreement"]


def people_lines(agreement: Agreement | None) -> Iterator[str]:
    """How far people agree, and what is still to be done about it."""
    if agreement is None:
        return
    if alpha := agreement.alpha:
        texts = counted(agreement.texts, "text")
        yield f"agreement of people on {texts}: Krippendorff's alpha {_interval(alpha)}"
    else:
        yield "agreement of people: it can be told when several have labelled the same texts, with more than one class"
    if agreement.waiting:
        yield f"{counted(agreement.waiting, 'text')} {'waits' if agreement.waiting == 1 else 'wait'} for another person"
    if agreement.open:
        yield f"people disagree on {counted(agreement.open, 'text')}: decide on the page (Review, Adjudication)"


def class_line(status: Status) -> Iterator[str]:
    """The classes that no answer names, where there are some and answers too."""
    if status.labels and (missing := status.without_answers):
        verb = "has" if len(missing) == 1 else "have"
        yield f"{len(missing):,} of {len(status.class_counts):,} classes {verb} no answer yet: {_named(missing)}"


def model_line(status: Status, folder: Path) -> Iterator[str]:
    """Which model is in use, and how to get one that knows more."""
    if (model := status.model) is None:
        return
    kind = "fine-tuned model after" if model.fine_tuned else "model of"
    what = f"the {kind} round {model.round}"
    if model.knows == status.labels:
        everything = "the only answer" if status.labels == 1 else f"all {status.labels:,} answers"
        yield f"predict uses {what}, trained on {everything}"
        return
    again = f"actune advance {folder}{' --finish' if model.fine_tuned else ''}"
    knows = f"trained on {model.knows:,} of {counted(status.labels, 'answer')}"
    yield f"predict uses {what}, {knows}; run `{again}` to train a new one"


def next_line(status: Status, folder: Path) -> str:
    """The one command that makes sense now."""
    words = {
        "ask": f"ask {folder} --to batch.csv",
        "advance": f"advance {folder}",
        "finish": f"advance {folder} --finish",
        "export": f"export {folder} --to labels.csv",
        "run": f"run ... --out {folder}",
        "report": f"report {folder}",
    }
    return f"next: actune {words[status.next]}"


def _interval(share: Share | Interval) -> str:
    return f"{share.value:.2f} (95 % interval {share.low:.2f} to {share.high:.2f})"


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
