"""Tables 1 to 3 of the paper."""

from __future__ import annotations

from actune.bench.evidence import Evidence
from actune.bench.paper.tables import PAPERS_SECONDS, paper_tables, seconds_table
from tests.bench.planted import Planted, cell


def test_seconds_leave_out_the_first_round_which_cells_share_and_the_last_which_chooses_nothing():
    planted = cell("pubmed_sections", "entropy", [0.5, 0.6, 0.65, 0.7]) + cell("mine", "entropy", [0.5, 0.6])
    planted = [{**row, "seconds_select": 600.0} if row["round"] == 0 else row for row in planted]
    table = seconds_table(evidence := Evidence(Planted(planted)), evidence.scenes)
    assert table.columns == ["method", "pubmed_sections", "pubmed_sections in the paper", "mine"]
    assert table.rows == [["Entropy", "2.7", PAPERS_SECONDS["pubmed_sections"]["entropy"], "–"]]
    assert "over all rounds but the first and the last, on one planted GPU" in table.note


def test_seconds_of_methods_that_ran_on_different_machines_are_marked():
    planted = cell("mine", "entropy", [0.5, 0.6, 0.7]) + cell("mine", "cal", [0.5, 0.6, 0.7])
    for row in planted[3:]:
        row["machine"] = "another"
    evidence = Evidence(Planted(planted))
    note = seconds_table(evidence, evidence.scenes).note
    assert "on another, one planted GPU; on mine not every method on the same" in note


def test_tables_without_run_folders_come_from_what_is_known_of_a_task(paper_evidence):
    data, settings, seconds = paper_tables(paper_evidence)
    assert ["trec", "6", "4,965", "500", "500", "4,965"] in data.rows
    assert settings.columns[:2] == ["setting", "sst2"] and settings.rows[0][:2] == ["regions (K)", "25"]
    assert len(seconds.rows) == 22
