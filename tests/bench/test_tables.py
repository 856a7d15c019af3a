"""Rankings and tables: by hand, and as other programs read them."""

from __future__ import annotations

import pytest

from actune.bench.evidence import Evidence, Scene
from actune.bench.ranking import common_end, ranking, ranking_table
from actune.bench.statistics import Estimate
from actune.bench.tables import TextTable
from actune.bench.wording import escape_latex, file_name, gap_told, p_told, spread_told
from tests.bench.planted import Planted, cell

SCENE = Scene("sst2", "mpnet", "finetune")


def rows(lines):
    """By method, the last accuracy of each seed; all begin at .5."""
    return [
        row
        for method, ends in lines.items()
        for seed, end in enumerate(ends)
        for row in cell("sst2", method, [0.5, end], seed)
    ]


LINES = {"random": [0.70, 0.72, 0.74], "actune": [0.80, 0.83, 0.83], "cal": [0.75, 0.74, 0.76]}


def test_methods_are_ranked_at_their_last_labels_and_compared_by_seed():
    found = {standing.method: standing for standing in ranking(Evidence(Planted(rows(LINES))), SCENE)}
    assert list(found) == ["actune", "cal", "random"]
    ours = found["actune"]
    assert (ours.labels, ours.last.mean, ours.area.mean) == (200, pytest.approx(0.82), pytest.approx(0.66))
    gap = ours.beside["random"]
    assert gap.gap.mean == pytest.approx(0.1) and gap.gap.deviation == pytest.approx(0.01)
    # the smaller of two p counts twice, and the larger may not fall below it
    assert gap.p == pytest.approx(2 * gap.gap.p) and found["cal"].beside["random"].p >= gap.p
    assert set(found["random"].beside) == {"actune"} and set(ours.beside) == {"random"}


def test_a_method_that_has_just_begun_is_named_and_does_not_cut_the_others():
    planted = rows(LINES) + rows({"badge": [0.71] * 3}) + cell("sst2", "bald", [0.99])
    evidence = Evidence(Planted(planted))
    table = ranking_table(evidence, SCENE)
    assert [row[0] for row in table.rows[:2]] == ["actune", "cal"] and table.columns[3] == "at 200 labels"
    assert "bald" not in [row[0] for row in table.rows] and "Not there yet: bald." in table.note
    assert common_end({key.method: curves for key, curves in evidence.accuracy.items()}) == 200


def test_differences_and_their_draws_are_of_the_same_seeds_whatever_others_lack():
    whole = {standing.method: standing for standing in ranking(Evidence(Planted(rows(LINES), texts=500)), SCENE)}
    planted = Planted(rows(LINES) + rows({"bald": [0.71]}), texts=500)
    found = {standing.method: standing for standing in ranking(Evidence(planted), SCENE)}
    assert whole["actune"].beside["random"].bootstrap is not None
    assert found["actune"].beside["random"].bootstrap == whole["actune"].beside["random"].bootstrap
    note = ranking_table(Evidence(planted), SCENE).note
    assert found["bald"].beside["random"].bootstrap and "with one seed, only the test texts are." in note
    assert "compare differences and not means or places: bald without seeds 1, 2." in note
    note = ranking_table(Evidence(Planted(rows(LINES), texts=500)), SCENE).note
    assert "not means" not in note and "when these seeds and the test texts are resampled." in note


def test_one_seed_is_not_enough_and_says_so():
    table = ranking_table(Evidence(Planted(rows({"random": [0.7], "actune": [0.8]}))), SCENE)
    assert table.rows[0] == ["actune", "1", "65.0", "80.0", "+10.00", "not enough runs", "–", "–"]


TABLE = TextTable("t", "A & B", ["name", "β ± 1"], [["<b>|_x", "−0.5 %"]], "Note $1.")
MARKED = [r"| &lt;b>\|_x | −0.5 % |", "", "Note $1."]


def test_markdown_and_latex_escape_what_means_something_there():
    assert TABLE.markdown().splitlines() == ["**A & B**", "", "| name | β ± 1 |", "| --- | --: |", *MARKED]
    latex = TABLE.latex()
    assert r"$<$b$>$|\_x & $-$0.5 \% \\" in latex and r"\caption{A \& B. Note \$1.}" in latex
    assert latex.count("{") == latex.count("}") and r"\begin{tabular}{lr}" in latex
    assert escape_latex("\\{}^~") == r"\textbackslash{}\{\}\textasciicircum{}\textasciitilde{}"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Estimate(0.01234, 3, 0.1, -0.005, 0.03), "+1.23 [−0.50, +3.00]"),
        (Estimate(-0.01, 1), "−1.00"),
        (None, "–"),
    ],
)
def test_differences_in_words(found, told):
    assert gap_told(found) == told


def test_numbers_in_words():
    assert spread_told(Estimate(0.912, 3, 0.002)) == "91.2 ± 0.2" and spread_told(Estimate(0.912, 1)) == "91.2"
    assert [p_told(p) for p in (0.0004, 0.0312, 1.0, None)] == ["< .001", ".031", "1.000", "not enough runs"]


def test_file_names_are_tame_and_differ():
    assert file_name("curves-trec-mpnet") == "curves-trec-mpnet"
    names = {file_name("a/b"), file_name("a b"), file_name("a_b"), file_name("../a b")}
    assert len(names) == 4 and all(
        set(name) <= set("ab_-0123456789cdef.") and not name.startswith(".") for name in names
    )
