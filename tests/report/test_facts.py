"""Names of runs and the sentence on top of the page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actune.core.facts import FinalFacts, Metrics, RoundFacts
from actune.report.facts import ReportedRun, names, runs_of, verdict


@pytest.fixture
def run(opened) -> ReportedRun:
    return runs_of([opened["actune"]])[0]


def made(run: ReportedRun, method: str, seed: int, curve: dict[int, float | None]) -> ReportedRun:
    """A run with another curve."""
    rounds = tuple(RoundFacts(0, labels, 0, (), Metrics(accuracy)) for labels, accuracy in curve.items())
    request = replace(run.config.request, method=method, seed=seed)
    return replace(run, name=method, config=replace(run.config, request=request), rounds=rounds, final=None)


def test_another_run_is_compared_at_the_same_labels(run):
    first, other = made(run, "a", 0, {50: 0.5, 100: 0.6}), made(run, "b", 0, {100: 0.55, 150: 0.9})
    assert verdict([first, other]) == (
        "a reaches 60.0 % with 100 labels; b 55.0 % with the same. One seed proves nothing."
    )


def test_where_no_labels_are_the_same_its_own_are_named(run):
    first, other = made(run, "a", 0, {50: 0.5}), made(run, "b", 0, {1150: 0.9})
    assert "b 90.0 % with 1,150 labels." in verdict([first, other])


def test_a_worse_subject_is_told_alike(run):
    first, other = made(run, "a", 0, {50: 0.25}), made(run, "b", 0, {50: 0.75})
    assert verdict([first, other]).startswith("a reaches 25.0 % with 50 labels; b 75.0 % with the same.")


def test_the_warning_goes_only_when_every_method_has_several_seeds(run):
    runs = [made(run, method, seed, {50: 0.5}) for method in "ab" for seed in (0, 1)]
    assert "One seed" not in verdict(runs)
    assert "One seed" in verdict(runs[:3])
    assert "One seed" in verdict(runs[:1])


def test_a_run_that_is_not_measured_is_no_competitor(run):
    assert "b has no accuracy yet" in verdict([made(run, "a", 0, {50: 0.5}), made(run, "b", 0, {})])


def test_the_end_is_told_beside_the_last_round(run):
    first = replace(made(run, "a", 0, {50: 0.5}), final=FinalFacts(1, 50, 0.75, None, None, 0.0))
    assert "a reaches 50.0 % with 50 labels (75.0 % once the encoder is fine-tuned on them)." in verdict([first])


def test_names_are_as_short_as_they_may_be(opened, copied):
    assert names([opened["actune"], opened["random"]]) == ["actune", "random"]
    assert names([opened["actune"], opened["begun"]]) == ["actune, seed 0 (actune)", "actune, seed 0 (begun)"]
    assert names([opened["actune"], copied("actune")]) == [
        "actune, seed 0 (actune) no. 1",
        "actune, seed 0 (actune) no. 2",
    ]
