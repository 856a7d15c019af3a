"""The page of a comparison: the verdict, both measures, one p-value, a table for LaTeX, and no claims of the paper."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from actune.bench.compared import Compared, by_labels, compared, differences, for_a_paper, prices
from actune.bench.compared_page import write_comparison
from actune.bench.evidence import Evidence
from actune.bench.verdict import compare_with_random
from tests.bench.planted import Planted, cell

RANDOM = [[0.50, 0.60, 0.70], [0.52, 0.60, 0.72], [0.51, 0.63, 0.71]]
BETTER = [[0.50, 0.72, 0.80], [0.52, 0.71, 0.82], [0.51, 0.73, 0.80]]
ODD = "my<b>method&"


def rows(task: str = "mine", **lines: list[list[float]]) -> list[dict[str, Any]]:
    """By method, a curve for each seed; macro-F1 is ten points lower everywhere."""
    found = []
    for method, seeds in lines.items():
        for seed, line in enumerate(seeds):
            found += [{**row, "macro_f1": row["accuracy"] - 0.1} for row in cell(task, method, line, seed)]
    return found


@pytest.fixture
def results() -> Planted:
    return Planted(rows(random=RANDOM, actune=BETTER, **{ODD: [*RANDOM[1:], RANDOM[0]]}))


def found_in(results: Planted) -> Compared:
    return compared(Evidence(results), compare_with_random(results))


def test_the_page_says_the_verdict_first_and_one_p_value(results: Planted, tmp_path: Path) -> None:
    comparison = compare_with_random(results)
    page, tex = write_comparison(results, comparison, tmp_path / "compare.html", "actune compare mine.csv")
    text = page.read_text(encoding="utf-8")
    shown = unescape(re.sub(r"<svg.*?</svg>|<style>.*?</style>|<pre.*?</pre>", "", text, flags=re.DOTALL))
    body = shown[shown.index("<body>") :]
    assert body.index(comparison.sentences[0]) < body.index("Learning curves")
    assert comparison.p_of in shown
    assert len(set(re.findall(r"p (?:=|<) \.\d+", shown))) == 1
    assert "claim" not in shown and "the paper's" not in shown
    assert text.count("<svg") == 1 and "<script" not in text
    assert not re.findall(r'(?:src|href)="(?!#)', text) and "default-src 'none'" in text
    assert "<b>method" not in text and "my&lt;b&gt;method&amp;" in text
    assert "actune compare mine.csv" in text and "actune 0.1.0, torch 2.11" in text
    assert tex == tmp_path / "compare.tex" and tex.read_text() in unescape(text)


def test_the_p_value_says_what_it_is_of(results: Planted) -> None:
    comparison = compare_with_random(results)
    assert comparison.p_of == (
        "p = .004 comes from a two-sided paired t-test of actune minus random, paired by seed (3 seeds), on accuracy "
        "averaged over 100 to 300 labels, after Holm's correction over 2 methods."
    )
    assert comparison.facts()["p"] == comparison.p and "p" not in comparison.table.columns


def test_both_measures_by_labels_with_the_best_in_bold(results: Planted) -> None:
    table = by_labels(found_in(results))
    assert table.columns[:3] == ["labels", "AcTune accuracy", "AcTune macro-F1"]
    assert table.rows[1][:3] == ["200", "72.0", "62.0"] and table.rows[1][-2:] == ["61.0", "51.0"]
    assert {column for row, column in table.bold if row == 1} == {1, 2}
    assert {column for row, column in table.bold if row == 0} == set(range(1, 7))  # all begin alike


def test_differences_have_intervals_for_both_measures(results: Planted) -> None:
    table = differences(found_in(results))
    assert [row[0] for row in table.rows] == ["AcTune", ODD]
    assert table.rows[0][1].startswith("+7.") and "[" in table.rows[0][1] and table.rows[0][1] == table.rows[0][3]
    assert table.rows[0][2].startswith("+9.67 [")


def test_labels_needed_for_a_target(results: Planted) -> None:
    table = prices(found_in(results))
    # random ends at .71; actune has .51 at 100 and .72 at 200: 195 labels
    assert ["71.0 %", "195", "300", "300"] in table.rows
    assert table.rows[-1][0] == "80.0 %" and table.rows[-1][2:] == ["more than 300"] * 2


def test_latex_has_the_best_in_bold_and_escapes_names() -> None:
    lines = {"random": RANDOM, "a_b": BETTER}
    latex = for_a_paper(found_in(Planted(rows(**lines)))).latex()
    (best,) = [line for line in latex.splitlines() if line.startswith(r"a\_b &")]
    (random,) = [line for line in latex.splitlines() if line.startswith("Random &")]
    assert best.count(r"\textbf{") == 4 and r"\textbf{80.7 $\pm$ 1.2}" in best and r"\textbf" not in random
    assert r"\toprule" in latex and "two-sided paired t-test" in latex


def test_results_without_macro_f1_have_a_page_too(tmp_path: Path) -> None:
    bare = Planted([{**row, "macro_f1": None} for row in rows(random=RANDOM[:1], actune=BETTER[:1])])
    found = found_in(bare)
    assert list(found.lines) == ["accuracy"]
    files = write_comparison(bare, found.comparison, tmp_path / "compare.html", "")
    text = files[0].read_text(encoding="utf-8")
    assert (
        "There is no p-value" in text and "only p-value" not in text and "nan" not in text.lower().replace("nano", "")
    )
