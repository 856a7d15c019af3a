"""The page of `actune compare`: the verdict first, then curves, numbers, a table for a paper, and how to repeat it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actune.bench.compared import Compared, by_labels, compared, differences, for_a_paper, prices
from actune.bench.evidence import Evidence, ResultsTable
from actune.bench.figures.panels import Panel, curve_drawing
from actune.bench.verdict import Comparison
from actune.core.files import write_atomically
from actune.core.outputs import STANDARD_OUTPUT, write_output
from actune.report.page import check_place, fill

FILE = "compare.html"


def write_comparison(results: ResultsTable, comparison: Comparison, path: Path, command: str) -> list[Path]:
    """Writes the page, and its table for LaTeX beside it; says which files these are."""
    check_place(path)
    evidence = Evidence(results)
    found = compared(evidence, comparison)
    paper, beside = for_a_paper(found), path.with_suffix(".tex")
    page = fill(
        "actune.bench",
        "compared.html.jinja",
        comparison=comparison,
        task=comparison.scene.shown,
        found=found,
        figure=_curves(found),
        by_labels=by_labels(found),
        tables=[differences(found), prices(found)],
        paper=paper,
        tex=beside.name,
        facts=_facts(evidence, found, command),
    )
    write_output(path, page.encode("utf-8", "replace"))
    if path == STANDARD_OUTPUT:
        return [path]
    write_atomically(beside, paper.latex().encode("utf-8", "replace"))
    return [path, beside]


def _curves(found: Compared) -> Any:
    titles = {"accuracy": "test accuracy", "macro-F1": "macro-F1 on the test set"}
    panels = [Panel(titles[measure], found.comparison.scene, lines) for measure, lines in found.lines.items()]
    title = f"Learning curves on {found.comparison.scene.shown}"
    return curve_drawing("compared", title, "By number of labels.", panels, measure="percent")


def _facts(evidence: Evidence, found: Compared, command: str) -> dict[str, str]:
    """What somebody needs who wants to repeat it."""
    table, scene = evidence.table, found.comparison.scene
    return {
        "command": command,
        "data": scene.shown,
        "encoder and learner": f"{scene.model}, {scene.learner}",
        "methods": ", ".join(found.methods),
        "labels": ", ".join(f"{labels:,}" for labels in found.random.labels),
        "seeds": ", ".join(map(str, found.random.seeds)),
        "runs": f"{table['cell'].nunique():,}",
        **{name: _different(table, name) for name in ("machine", "versions", "commit")},
    }


def _different(table: Any, column: str) -> str:
    return "; ".join(sorted({str(value) for value in table[column].dropna()}))
