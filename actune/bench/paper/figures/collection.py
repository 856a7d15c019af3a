"""Every figure and table of the paper, as far as a table of results speaks for it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from actune.bench.evidence import Evidence, ResultsTable
from actune.bench.figures.drawing import FORMATS, Drawing
from actune.bench.paper.figures.curves import figure_1, figure_2, figure_5, others
from actune.bench.paper.figures.efficiency import figure_3
from actune.bench.paper.figures.maps import figure_6, find_maps
from actune.bench.paper.figures.missing import Missing
from actune.bench.paper.figures.settings import figure_4
from actune.bench.paper.tables import paper_tables
from actune.bench.tables import TextTable
from actune.core.files import storage_sentences, write_atomically


def figures_of(evidence: Evidence) -> tuple[list[Drawing], list[Missing]]:
    """What can be drawn, the paper's figures first, and what cannot."""
    found = [
        *figure_1(evidence),
        *figure_2(evidence),
        *figure_3(evidence),
        *figure_4(evidence),
        *figure_5(evidence),
        *figure_6(find_maps(evidence)),
        *others(evidence),
    ]
    drawings = [each for each in found if isinstance(each, Drawing)]
    return drawings, [each for each in found if isinstance(each, Missing)]


def draw_all(
    results: ResultsTable, out: Path, formats: Iterable[str] = FORMATS
) -> tuple[list[Drawing | TextTable], list[Missing]]:
    """Writes every figure and table that there are cells for, with their captions, and says what is missing."""
    evidence = Evidence(results)
    drawings, missing = figures_of(evidence)
    tables = paper_tables(evidence)
    with storage_sentences(out):
        out.mkdir(parents=True, exist_ok=True)
    kinds = tuple(formats)
    lines = []
    for drawing in drawings:
        files = drawing.save(out, kinds)
        lines += [f"**{drawing.title}** ({', '.join(file.name for file in files)})", drawing.caption]
    for table in tables:
        write_atomically(out / f"{table.name}.md", table.markdown().encode())
        write_atomically(out / f"{table.name}.tex", table.latex().encode())
        lines.append(f"**{table.title}** ({table.name}.md, {table.name}.tex)")
    lines += [f"**{each.title}** is missing: it needs {each.needs} (see `{each.grid}`)." for each in missing]
    write_atomically(out / "captions.md", ("\n\n".join(lines) + "\n").encode())
    return [*drawings, *tables], missing
