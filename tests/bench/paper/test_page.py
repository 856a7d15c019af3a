"""The page of a whole table and of a small one: what it says, that it is whole, and that it runs nothing."""

from __future__ import annotations

import pytest

from actune.bench.grid import Point
from actune.bench.paper.claims import CLAIMS
from actune.bench.paper.page import write_page
from actune.errors import UserError
from tests.bench.planted import Planted, cell
from tests.report.conftest import Page

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def page(paper_results, tmp_path_factory) -> Page:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(paper_results, path)
    return Page(path.read_text(encoding="utf-8"))


def test_it_says_of_every_claim_whether_it_holds(page):
    rows = {row[0]: row for row in page.rows if len(row) == 6}
    for claim in CLAIMS:
        assert rows[claim.sentence][1] in ("holds", "holds so far", "does not hold", "not enough runs")
        assert claim.measured_as in page.text
    assert "Of 16 claims of the paper" in page.text


def test_it_has_figures_rankings_tables_and_how_it_was_made(page):
    assert sum(tag == "svg" for tag, _ in page.tags) == 10
    assert "Fig. 1 a-d: active learning" in page.text and "Means over 3 seeds" in page.text
    assert any(row[:2] == ["AcTune", "3"] for row in page.rows)
    for word in ("Table 1: data", "Table 3: seconds of one choice", "one planted GPU", "torch 2.11", "0123abc"):
        assert word in page.text
    assert "Fig. 6: what is asked first: needs" in page.text
    assert "nan" not in page.text.lower().replace("finance", "")


def test_it_asks_the_network_for_nothing_and_has_no_id_twice(page):
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in page.tags:
        assert tag not in ("script", "link", "img", "iframe")
        assert (attributes.get("href") or "#").startswith("#") and "src" not in attributes


def test_names_are_text_and_nothing_else(tmp_path):
    rows = cell(SCRIPT, SCRIPT, [0.5, 0.6]) + cell(SCRIPT, "random", [0.5, 0.6])
    rows = [{**row, "machine": SCRIPT, "commit": SCRIPT, "versions": SCRIPT} for row in rows]
    _, files = write_page(Planted(rows), tmp_path / "report.html", latex=True)
    content = files[0].read_text(encoding="utf-8")
    assert "<script" not in content and SCRIPT in Page(content).text
    assert r"$<$script$>$" in files[1].read_text(encoding="utf-8")


def test_cells_that_are_not_finished_are_told(tmp_path):
    planted = Planted(cell("mine", "random", [0.5]))
    planted.unfinished = (Point("mine", "cal", "mpnet", "finetune", 0), Point(SCRIPT, "cal", "mpnet", "finetune", 1))
    report, (file,) = write_page(planted, tmp_path / "report.html")
    page, sentence = Page(file.read_text(encoding="utf-8")), "1 of 3 cells finished: the grid is not complete"
    assert page.text.count(sentence) == 3 and f"Not finished, by task: mine 1, {SCRIPT} 1." in page.text
    assert report.facts["cells"] == [sentence] and "<script" not in file.read_text(encoding="utf-8")


def test_runs_that_say_nothing_about_the_paper_have_no_section_of_its_claims(page, tmp_path):
    _, (file,) = write_page(Planted(cell("mine", "random", [0.5]) + cell("mine", "cal", [0.6])), tmp_path / "mine.html")
    mine = Page(file.read_text(encoding="utf-8")).text
    assert "Claims of the paper" in page.text and "Claims of the paper" not in mine
    assert "claims of the paper" not in mine and "Methods by task" in mine and "What is missing" not in mine


def test_only_the_grid_is_named_as_one(tmp_path):
    planted = Planted(cell("mine", "random", [0.5]))
    planted.folder = tmp_path
    (tmp_path / "bench.toml").touch()
    assert write_page(planted, tmp_path / "report.html")[0].facts["grid"] == []
    (tmp_path / "grid.toml").touch()
    assert write_page(planted, tmp_path / "report.html")[0].facts["grid"] == ["actune bench run grid.toml"]


def test_latex_comes_on_request(paper_results, tmp_path):
    report, files = write_page(Planted(cell("mine", "random", [0.5])), tmp_path / "small.html")
    assert files == [tmp_path / "small.html"] and not (tmp_path / "small.tex").exists()
    assert len(report.missing) == 11


def test_a_place_that_is_none_is_refused_before_anything_is_drawn(tmp_path):
    with pytest.raises(UserError, match="is a folder"):
        write_page(Planted([]), tmp_path)
    with pytest.raises(UserError, match="there is no folder"):
        write_page(Planted([]), tmp_path / "none" / "report.html")
