"""The map of a round: its numbers by hand, its layout for odd pools, labelled rows where they are kept."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from actune.report.map_figure import apart, draw_map
from actune.report.maps import RANDOM_DRAWS, Map, asked_distances, layout, load_map, maps_of, region_table


def tiny(asked: list[bool], labelled: list[bool]) -> Map:
    """Three corners of a 3-4-5 triangle and a point 10 above the first."""
    points = np.array([[0, 0], [3, 0], [0, 4], [0, 10]], np.float32)
    return Map(1, points, np.zeros(4, np.int16), np.array(asked), np.array(labelled), None, None)


def test_distances_by_hand():
    found = tiny([True, True, True, False], [False, False, False, True])
    between, to_labelled = asked_distances(found, seed=0)
    assert between.asked == pytest.approx((3 + 4 + 5) / 3)
    assert to_labelled.asked == pytest.approx((10 + np.hypot(3, 10) + 6) / 3)
    # all three unlabelled rows are in every draw of three
    assert between.random == pytest.approx(between.asked) and between.deviation == pytest.approx(0)


def test_random_draws_are_the_same_every_time_and_skip_labelled_rows():
    found = tiny([True, True, False, False], [False, False, False, True])
    first, second = asked_distances(found, seed=3), asked_distances(found, seed=3)
    assert first == second
    assert 3 < first[0].random < 5 and RANDOM_DRAWS > 1


def test_one_question_has_no_spread():
    assert asked_distances(tiny([True, False, False, False], [False] * 4), seed=0) == []
    assert asked_distances(tiny([False] * 4, [False] * 4), seed=0) == []


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 40])
def test_a_layout_for_any_number_of_points(count):
    places = layout(np.random.default_rng(0).normal(size=(count, 5)).astype(np.float32))
    assert places.shape == (count, 2) and np.isfinite(places).all()


def test_equal_points_can_be_laid_out():
    assert np.isfinite(layout(np.zeros((20, 5), np.float32))).all()


def test_the_number_of_threads_changes_no_bit(opened):
    points = load_map(opened["actune"].store, 1).points  # real ones: a cloud at random forgives a wrong bit
    layout(points[:20])  # a limit holds for the libraries that are loaded
    places = []
    for threads in (1, 2):
        with threadpool_limits(threads, "openmp"):
            places.append(layout(points))
    assert (places[0] == places[1]).all()


def test_near_points_stay_near():
    rng = np.random.default_rng(0)
    centres = 40 * np.eye(3, 6)
    points = np.concatenate([centre + rng.normal(size=(30, 6)) for centre in centres]).astype(np.float32)
    places = layout(points - points.mean(0))
    gaps = np.linalg.norm(places[:, None] - places, axis=2) + 1e9 * np.eye(90)
    assert (gaps.argmin(1) // 30 == np.arange(90) // 30).all()


def test_the_map_knows_what_was_asked(opened):
    session = opened["actune"]
    found = load_map(session.store, 1)
    rows = session.store.load_arrays("select-001")["map_rows"]
    asked = [question.row for question in session.store.questions() if question.round == 1]
    assert sorted(rows[found.asked].tolist()) == sorted(asked)


def test_labelled_rows_are_measured_and_drawn(opened):
    session = opened["actune"]
    found = load_map(session.store, 1)
    rows = session.store.load_arrays("select-001")["map_rows"]
    first = [question.row for question in session.store.questions() if question.round == 0]
    assert sorted(rows[found.labelled].tolist()) == sorted(first)
    assert len(asked_distances(found, seed=0)) == 2
    assert "labelled before" in draw_map(found, session.pool.classes, 10, "map")


def test_maps_are_found_where_they_are(opened):
    both = maps_of([opened["random"], opened["actune"]])
    assert both[0] is None and both[1].round == 2  # the newest
    assert maps_of([opened["random"], opened["begun"]]) == [None, None]
    assert maps_of([opened["actune"]], 2)[0].round == 2


def test_many_classes_share_one_legend_entry():
    rng = np.random.default_rng(0)
    points, classes = rng.normal(size=(60, 4)).astype(np.float32), np.repeat(np.arange(20), 3).astype(np.int16)
    nobody = np.zeros(60, bool)
    drawn = draw_map(Map(1, points, classes, nobody, nobody, None, None), [f"c{n}" for n in range(20)], 10, "map")
    assert "9 other classes" in drawn and ">c10<" in drawn and ">c11<" not in drawn


def test_the_newest_round_is_one_that_all_maps_have(opened, copied):
    shorter = copied("actune")
    shorter.store.drop_arrays("select-002")
    assert [found.round for found in maps_of([opened["actune"], shorter])] == [1, 1]


def test_regions_are_told_by_the_numbers_of_the_map(opened):
    session = opened["actune"]
    found = load_map(session.store, 2)
    rows = region_table(found, 10, session.pool.classes)
    assert [row.number for row in rows] == list(range(1, len(rows) + 1)) and len(rows) <= 10
    assert [row.heat for row in rows] == sorted((row.heat for row in rows), reverse=True)
    assert sum(row.asked for row in rows) == int(found.asked.sum())  # questions come from the hottest regions
    assert found.trusted.any() and not (found.trusted & found.asked).any()
    drawn = draw_map(found, session.pool.classes, 10, "map")
    assert all(f">{row.number}<" in drawn for row in rows) and ">trusted<" in drawn and "heat: less sure" in drawn


def test_numbers_on_a_map_do_not_hide_each_other():
    placed = apart(np.array([[0.0, 0.0], [0.0, 0.0], [0.1, 0.0], [5.0, 5.0]]), gap=1.0)
    gaps = np.linalg.norm(placed[:, None] - placed, axis=2) + 9 * np.eye(4)
    assert gaps.min() >= 1 and placed[3] == pytest.approx([5, 5], abs=0.01)
