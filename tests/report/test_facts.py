"""Names of runs and the sentence on top of the page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actune.core.facts import CrossValidation, FinalFacts, Metrics, Quality, RoundFacts, Share
from actune.report.facts import ReportedRun, names, runs_of
from actune.report.headline import next_step, stands_still, verdict
from actune.report.page import render
from actune.report.signals import Signal, signals_of


@pytest.fixture
def run(opened) -> ReportedRun:
    return runs_of([opened["actune"]])[0]


def made(run: ReportedRun, method: str, seed: int, curve: dict[int, float | None]) -> ReportedRun:
    """A run with another curve."""
    rounds = tuple(RoundFacts(0, labels, 0, (), Metrics(accuracy)) for labels, accuracy in curve.items())
    request = replace(run.config.request, method=method, seed=seed)
    return replace(run, name=method, config=replace(run.config, request=request), rounds=rounds, finals=())


def test_another_run_is_compared_at_the_same_labels(run):
    first, other = made(run, "a", 0, {50: 0.5, 100: 0.6}), made(run, "b", 0, {100: 0.55, 150: 0.9})
    assert verdict([first, other]) == (
        "a reaches 60.0 % with 100 labels; b 55.0 % with the same. "
        "A test set of 500 texts leaves an error of about ±\u00a04.3 points. One seed is not enough for a conclusion."
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


def test_a_run_that_is_not_measured_is_no_competitor(run):
    assert "b has no accuracy yet" in verdict([made(run, "a", 0, {50: 0.5}), made(run, "b", 0, {})])


def test_the_end_is_told_beside_the_last_round(run):
    first = replace(made(run, "a", 0, {50: 0.5}), finals=(FinalFacts(1, 50, 0.75, None, None, 0.0),))
    assert "50.0 % on 500 test texts" in verdict([first])
    assert "(75.0 % once the encoder is fine-tuned on them)." in verdict([first])


def test_a_fine_tuning_stays_told_after_later_rounds(run):
    first = replace(made(run, "a", 0, {50: 0.5, 70: 0.6}), finals=(FinalFacts(1, 50, 0.75, None, None, 0.0),))
    assert "(75.0 % once the encoder is fine-tuned on 50 of them)" in verdict([first])


def test_a_run_alone_tells_its_error_and_what_the_last_answers_brought(run):
    last = replace(made(run, "a", 0, {50: 0.5, 70: 0.6}), error=0.02)
    assert verdict([last]) == (
        "70 answers: accuracy 60.0 % on 500 test texts (55.6 % to 64.2 % with 95 % confidence). "
        "The last 20 answers brought +10.0 points (±\u00a02.0)."
    )
    assert "+10.0 points, which is within the error of the test set (±\u00a012.0 points)." in verdict(
        [replace(last, error=0.12)]
    )
    assert "This is the first round, so there is no trend yet." in verdict([made(run, "a", 0, {50: 0.5})])


def test_without_a_test_set_signals_are_told_as_such(run):
    bare = made(run, "a", 0, {50: None})
    assert verdict([bare]) == "50 answers, one round. The accuracy is not known, because there is no test set."
    hinted = replace(bare, signals=(Signal("agreement of answers with suggestions", 0.75, "why", 0.7, 0.8, 40),))
    assert verdict([hinted]).endswith("Signals of quality: agreement of answers with suggestions 75.0 %.")


def of_people(run: ReportedRun, **facts: object) -> ReportedRun:
    request = replace(run.config.request, simulated=False)
    return replace(run, folder="posts", config=replace(run.config, request=request), labels=70, **facts)


def test_the_next_step_of_a_project(run):
    base = of_people(made(run, "a", 0, {50: 0.5, 60: 0.55, 70: 0.6}), error=0.05)
    assert "Answer the 5 open questions with `actune ask posts --to batch.csv`" in next_step(replace(base, questions=5))
    both = next_step(replace(base, questions=5, labels=72))
    assert both.startswith("Train on the 2 new answers with `actune advance posts`, or answer the other 5 open")
    assert next_step(replace(base, labels=72)) == "Train on the 2 new answers with `actune advance posts`."
    assert "`actune predict posts" in next_step(base)
    final = replace(base, config=replace(base.config, resolved=replace(base.config.resolved, final=True)))
    assert "`actune advance posts --finish`" in next_step(final)


def test_two_rounds_within_the_error_stand_still(run):
    rising = replace(made(run, "a", 0, {50: 0.5, 60: 0.55, 70: 0.6}), error=0.05)
    assert not stands_still(rising)
    still = replace(rising, error=0.12)
    assert stands_still(still)
    assert "no improvement that this test set can detect" in next_step(of_people(still, questions=3))


def test_names_are_as_short_as_they_may_be(opened, copied):
    assert names([opened["actune"], opened["random"]]) == ["AcTune", "Random"]
    assert names([opened["actune"], opened["begun"]]) == ["AcTune, seed 0 (actune)", "AcTune, seed 0 (begun)"]
    assert names([opened["actune"], copied("actune")]) == [
        "AcTune, seed 0 (actune) no. 1",
        "AcTune, seed 0 (actune) no. 2",
    ]


def test_the_signals_of_a_session_are_read_where_it_has_any(opened, monkeypatch, parse):
    session = opened["project"]
    quality = Quality(CrossValidation(Share(0.8, 0.7, 0.9, 12), 0.75, 5, "probe"))
    monkeypatch.setattr(session, "quality", lambda: quality)
    (signal,) = signals_of(session)
    assert (signal.value, signal.low, signal.high, signal.count) == (0.8, 0.7, 0.9, 12)
    assert ["cross-validated accuracy on the answers", "80.0 %", "70.0 % to 90.0 %", "12", signal.note] in parse(
        render([session])
    ).rows
    assert signals_of(opened["actune"]) == ()  # a test set tells more
