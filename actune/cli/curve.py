"""Learning curves as tables for a terminal."""

from __future__ import annotations

from typing import Any

from actune.cli.console import Output

CURVE_COLUMNS = {
    "labels": "labels",
    "accuracy": "accuracy",
    "macro_f1": "macro-F1",
    "pseudo_labels": "pseudo-labels",
    "pseudo_label_accuracy": "right pseudo-labels",
    "seconds": "seconds",
}


def show_curve(output: Output, facts: dict[str, Any]) -> None:
    """One run, one line a round."""
    rows = [[*cells[:-1], f"{cells[-1]:.1f}"] for cells in zip(*(facts[name] for name in CURVE_COLUMNS), strict=True)]
    for final in facts.get("finals", []):
        measured = (final["accuracy"], final["macro_f1"], None, None)
        rows.append([f"{final['labels']}, fine-tuned", *measured, f"{final['seconds']:.1f}"])
    output.show(_title(facts), list(CURVE_COLUMNS.values()), rows)


def show_curves(output: Output, runs: list[dict[str, Any]]) -> None:
    """Several runs side by side: accuracy by number of labels."""
    found = [dict(zip(facts["labels"], facts["accuracy"], strict=True)) for facts in runs]
    rows: list[list[object]] = [
        [labels, *(curve.get(labels) for curve in found)] for labels in sorted(set().union(*found))
    ]
    if any("final_accuracy" in facts for facts in runs):
        rows.append(["fine-tuned", *(facts.get("final_accuracy") for facts in runs)])
    output.show("accuracy by number of labels", ["labels", *map(_title, runs)], rows)


def _title(facts: dict[str, Any]) -> str:
    from actune.methods.recipes import shown

    method = shown(facts["method"])
    return f"{facts['folder']}: {method}, {facts['model']}, {facts['learner']}, seed {facts['seed']}"
