"""Every figure is drawn from a whole table; from less it is drawn as far as it goes, and says what is missing."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib import image
from matplotlib.figure import Figure

from actune.bench.evidence import Evidence
from actune.bench.figures.drawing import FORMATS, Drawing
from actune.bench.paper import subjects
from actune.bench.paper.figures.collection import draw_all, figures_of
from tests.bench.planted import Planted, cell, learning

OF_THE_PAPER = [
    *("fig1-al", "fig1-ssal", "fig2-weak", "fig3-labels", "fig4a-beta", "fig4b-regions", "fig4c-pseudo-labels"),
    *("fig4de-momentum", "fig5a-plugged", "fig5b-ablation"),
]


@pytest.fixture(scope="module")
def drawn(paper_results: Planted, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list, list]:
    folder = tmp_path_factory.mktemp("figures")
    return folder, *draw_all(paper_results, folder)


@pytest.fixture(scope="module")
def drawings(paper_evidence: Evidence) -> dict[str, Drawing]:
    return {drawing.name: drawing for drawing in figures_of(paper_evidence)[0]}


def on_axes(drawing: Drawing) -> Figure:
    figure = Figure(layout="constrained")
    drawing.draw(figure)
    return figure


def test_a_whole_table_fills_every_figure_but_the_maps(drawn):
    folder, made, missing = drawn
    assert [each.name for each in made] == [*OF_THE_PAPER, "table1-data", "table2-settings", "table3-seconds"]
    assert [each.name for each in missing] == ["fig6-maps"]
    for name in OF_THE_PAPER:
        ElementTree.parse(folder / f"{name}.svg")
        assert (folder / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        pixels = image.imread(folder / f"{name}.png")
        assert pixels.shape[1] >= 900 and pixels[..., :3].std() > 0.05  # not an empty sheet


def test_captions_lie_beside_the_files_and_say_what_is_missing(drawn):
    text = (drawn[0] / "captions.md").read_text(encoding="utf-8")
    assert all(f"{name}.{kind}" in text for name in OF_THE_PAPER for kind in FORMATS)
    assert "dbpedia14: no runs of revival" in text
    assert "Fig. 6: what is asked first** is missing" in text and "core.toml" in text


def test_the_same_table_gives_the_same_bytes(drawings, tmp_path):
    for part in ("once", "again"):
        (tmp_path / part).mkdir()
        for name in ("fig3-labels", "fig5b-ablation"):
            drawings[name].save(tmp_path / part)
    for file in (tmp_path / "once").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes(), file.name


def test_curves_are_means_and_bands_deviations(drawings, paper_evidence):
    axes = on_axes(drawings["fig1-ssal"]).axes[1]  # ag_news
    lines = paper_evidence.plain_curves(paper_evidence.main("ag_news"), subjects.TRUSTING + subjects.OURS)
    assert axes.get_title() == "(f) ag_news"
    for line, whole in zip(axes.lines, lines.values(), strict=True):
        curves = whole.within(0, 1000)
        assert line.get_xdata().tolist() == list(curves.labels)
        assert line.get_ydata() == pytest.approx(100 * curves.mean)
    assert len(axes.collections) == 1  # a band for the best line only
    ours = lines["actune"]
    corners = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert corners.max() == pytest.approx(100 * (ours.mean + ours.deviation).max())


def test_rivals_that_went_on_for_figure_3_end_where_actune_does_in_figure_1(drawings):
    assert on_axes(drawings["fig1-al"]).axes[0].lines[0].get_xdata().max() == 1000


def test_full_supervision_is_a_level_line_where_it_was_run(drawings):
    trec, chemprot = on_axes(drawings["fig2-weak"]).axes[:2]
    assert len(trec.lines) == len(chemprot.lines) + 1
    assert trec.lines[-1].get_ydata() == pytest.approx([96.8, 96.8])
    assert "every label of chemprot" in drawings["fig2-weak"].caption
    assert "All labels: trec seeds 0, 1, 2." in drawings["fig2-weak"].caption


def test_bars_say_how_many_labels_and_how_many_at_least(drawings, paper_evidence):
    texts = {text.get_text() for text in on_axes(drawings["fig3-labels"]).axes[0].texts}
    for rival in (*subjects.rivals(paper_evidence, subjects.ASKING), *subjects.rivals(paper_evidence, ("ust",))):
        told = (
            f"{rival.saving.needed:,.0f}\n{100 * rival.saving.share.mean:.0f} %" if rival.saving.reached else "> 3,000"
        )
        assert told in texts
    assert "> 3,000" in texts and "More than (>)" in drawings["fig3-labels"].caption


def test_a_setting_nobody_changed_stands_at_its_usual_value(drawings):
    (axes,) = on_axes(drawings["fig4a-beta"]).axes
    assert axes.lines[0].get_xdata().tolist() == [0, 0.25, 0.5, 0.75, 1]
    (axes,) = on_axes(drawings["fig4b-regions"]).axes
    assert 25 in axes.lines[0].get_xdata()


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_lines_of_every_figure_are_told_apart_in_black_and_white(drawings, name):
    for axes in on_axes(drawings[name]).axes:
        signs = [
            (str(line.get_linestyle()), str(line._unscaled_dash_pattern), line.get_marker()) for line in axes.lines
        ]
        marked = [sign for sign in signs if sign[2] not in ("None", "_", "|")]
        assert len(set(marked)) == len(marked)


def test_part_of_a_table_draws_part_of_a_figure():
    rows = [row for seed in (0, 1) for method in ("random", "cal") for row in _curve("sst2", method, seed)]
    drawings, missing = figures_of(Evidence(Planted(rows[:-10])))
    assert [drawing.name for drawing in drawings] == ["fig1-al"]
    caption = drawings[0].caption
    assert "no runs on ag_news, pubmed_sections, dbpedia14" in caption
    assert "sst2: no runs of entropy, bald, badge, alps, actune-query, actune-cal-query" in caption
    assert "Not all lines are of the same seeds: (a) sst2: cal without seed 1." in caption
    assert {each.name for each in missing} == {*OF_THE_PAPER, "fig6-maps"} - {"fig1-al"}
    assert all(each.grid.endswith(".toml") and each.needs for each in missing)


def test_captions_name_every_method_with_fewer_seeds_though_most_lack_them():
    seeds = {"random": (0, 1, 2), "entropy": (0, 1), "cal": (0, 1), "actune-query": (0,)}
    rows = [row for method in seeds for seed in seeds[method] for row in _curve("sst2", method, seed)]
    caption = _captions(rows)["fig1-al"]
    assert "(a) sst2: entropy, cal without seed 2; actune-query without seeds 1, 2." in caption
    assert "Means over 1 to 3 seeds" in caption and "a single seed has none" in caption


def test_one_seed_each_need_not_be_the_same():
    random = _curve("sst2", "random", 0)
    assert "no bands. Not all lines are of the same seeds" in _captions(random + _curve("sst2", "cal", 1))["fig1-al"]
    assert "Not all" not in _captions(random + _curve("sst2", "cal", 0))["fig1-al"]


def test_bars_are_of_common_seeds_which_the_caption_names():
    rows = [row for method in ("actune", "cal", "entropy") for seed in (0, 1) for row in _curve("sst2", method, seed)]
    (rival,) = subjects.rivals(Evidence(Planted(rows)), subjects.ASKING)
    assert (rival.method, rival.seeds) == ("entropy", (0, 1))
    rows += cell("sst2", "cal", [0.99] * 10, 9) + cell("sst2", "actune", [0.99] * 10, 2) + _curve("sst2", "ust", 7)
    assert subjects.rivals(Evidence(Planted(rows)), subjects.ASKING) == [rival]  # others' luck changes nothing
    caption = _captions(rows)["fig3-labels"]
    assert "AcTune and the other method have: sst2: entropy under seeds 0, 1." in caption
    assert "nothing to compare on ag_news, pubmed_sections, dbpedia14" in caption
    assert "sst2: no runs of random, bald, badge, alps" in caption
    assert "sst2: no seed that ust and AcTune share" in caption


def test_settings_with_fewer_seeds_are_named():
    rows = [row for seed in (0, 1) for row in _curve("sst2", "actune", seed)] + _curve("sst2", "actune", 0, "beta=1")
    caption = _captions(rows)["fig4a-beta"]
    assert "means over 1 to 2 seeds" in caption and "sst2: beta 1 without seed 1." in caption


def test_what_the_paper_has_not_gets_a_figure_of_its_own():
    rows = _curve("<b>mine", "random", 0) + _curve("<b>mine", "clever", 0) + _curve("sst2", "margin", 0)
    rows += _curve("sst2", "margin", 0, "growth=10")
    drawings, _ = figures_of(Evidence(Planted(rows)))
    names = [drawing.name for drawing in drawings]
    assert names == [
        "curves-b_mine-mpnet-finetune-66988c",
        "curves-sst2-mpnet-finetune",
        "settings-sst2-mpnet-finetune-margin",
    ]
    assert "One seed each" in drawings[0].caption
    assert "<b>" not in drawings[0].inline() and "&lt;b&gt;mine" in drawings[0].inline()


def test_many_methods_of_ones_own_are_shown_in_two_panels():
    rows = [row for method in (*subjects.ASKING, *subjects.TRUSTING) for row in _curve("mine", method, 0)]
    (drawing,) = figures_of(Evidence(Planted(rows)))[0]
    first, second = on_axes(drawing).axes
    assert (len(first.lines), len(second.lines)) == (len(subjects.ASKING), len(subjects.TRUSTING))


def _captions(rows: list[dict]) -> dict[str, str]:
    return {drawing.name: drawing.caption for drawing in figures_of(Evidence(Planted(rows)))[0]}


def _curve(task: str, method: str, seed: int, variant: str = "") -> list[dict]:
    return cell(task, method, learning("sst2", 1 + len(method) / 10, seed, range(100, 1001, 100)), seed, variant)
