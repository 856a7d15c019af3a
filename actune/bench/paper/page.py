"""One HTML file about a table of results: claims, figures, rankings, what is missing and how it was made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from actune.bench.evidence import Evidence, ResultsTable
from actune.bench.paper.claims import judge_paper
from actune.bench.paper.figures.collection import figures_of
from actune.bench.paper.figures.missing import Missing
from actune.bench.paper.judging import FAILS, HOLDS, OPEN, Finding, claims_table
from actune.bench.paper.tables import paper_tables
from actune.bench.progress import GridProgress
from actune.bench.ranking import ranking_table
from actune.bench.store import GRID
from actune.bench.tables import TextTable
from actune.core.files import write_atomically
from actune.core.outputs import write_output
from actune.report.names import method_name
from actune.report.page import check_place, fill


@dataclass(frozen=True)
class PageFigure:
    """A drawing as it stands in the page."""

    title: str
    svg: str
    caption: str


@dataclass(frozen=True)
class PaperReport:
    """All that the page says."""

    findings: list[Finding]
    figures: list[PageFigure]
    tables: list[TextTable]
    rankings: list[TextTable]
    missing: list[Missing]
    progress: GridProgress
    facts: dict[str, list[str]]  # of how it was made

    @property
    def judged(self) -> bool:
        """Whether these results say anything about the paper's claims."""
        return any(finding.measured.found is not None for finding in self.findings)


def report_of(results: ResultsTable) -> PaperReport:
    """Everything that a table of results says."""
    evidence = Evidence(results)
    drawings, missing = figures_of(evidence)
    progress = results.progress()
    return PaperReport(
        findings=judge_paper(evidence),
        figures=[PageFigure(each.title, each.inline(), each.caption) for each in drawings],
        tables=paper_tables(evidence),
        rankings=[ranking_table(evidence, scene) for scene in evidence.scenes if evidence.methods(scene)],
        missing=missing,
        progress=progress,
        facts=_facts(evidence, progress),
    )


def write_page(results: ResultsTable, path: Path, latex: bool = False) -> tuple[PaperReport, list[Path]]:
    """Writes the page and, on request, its tables for LaTeX beside it; says which files these are."""
    check_place(path)
    report = report_of(results)
    counts = {verdict: sum(each.verdict == verdict for each in report.findings) for verdict in (HOLDS, FAILS, OPEN)}
    shown = replace(report, rankings=[_named(table) for table in report.rankings])
    page = fill("actune.bench.paper", "page.html.jinja", report=shown, counts=counts, folder=results.folder.name)
    write_output(path, page.encode("utf-8", "replace"))
    if not latex:
        return report, [path]
    beside = path.with_suffix(".tex")
    claims = [claims_table(report.findings)] if report.judged else []
    tables = [*claims, *shown.rankings, *report.tables]
    write_atomically(beside, "\n".join(table.latex() for table in tables).encode("utf-8", "replace"))
    return report, [path, beside]


def _facts(evidence: Evidence, progress: GridProgress) -> dict[str, list[str]]:
    """What the runs were made of and with, by what it is."""
    table, scenes = evidence.table, evidence.scenes
    methods = sorted({key.method for key in evidence.keys})
    seeds = sorted({int(seed) for seed in table["seed"]})
    runs = f"{table['cell'].nunique():,} runs, {len(table):,} rounds"
    return {
        "runs": [runs],
        "cells": [progress.sentence],
        "tasks": list(dict.fromkeys(scene.shown for scene in scenes)),
        "methods": methods,
        "seeds": [", ".join(map(str, seeds))],
        "encoders and learners": list(dict.fromkeys(f"{scene.model}, {scene.learner}" for scene in scenes)),
        "machines": _different(table, "machine"),
        "versions": _different(table, "versions"),
        "commits": _different(table, "commit"),
        "grid": [f"actune bench run {GRID}"] if (evidence.results.folder / GRID).is_file() else [],
    }


def _named(table: TextTable) -> TextTable:
    """A ranking with the methods' display names, as the figures have them."""
    columns = [" ".join(method_name(word) for word in column.split(" ")) for column in table.columns]
    return replace(table, columns=columns, rows=[[method_name(row[0]), *row[1:]] for row in table.rows])


def _different(table: Any, column: str) -> list[str]:
    return sorted({str(value) for value in table[column].dropna()})
