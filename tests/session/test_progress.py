"""Whether to stop: the sentence for each kind of forecast."""

from __future__ import annotations

from pathlib import Path

import pytest

from actune.core.curves import Forecast
from actune.core.facts import Metrics, RoundFacts, Share
from actune.core.pool import pool_of
from actune.session.labelling import create_labelling
from actune.session.progress import RoundPoint, advice, interval_words

CURVE = [RoundPoint(round, 100 * (round + 1), Share.of(70 + round, 100), None, None) for round in range(5)]


@pytest.mark.parametrize(
    ("labels", "low", "high", "stop", "said"),
    [
        (40, 20, 90, False, "More labels still pay: the curve forecasts about 40 more labels"),
        (40, 20, None, False, "(95 % interval: 20 or more)"),
        (40, None, None, False, "(too uncertain for a 95 % interval)"),
        (900, 400, 2000, True, "More labels bring little"),
        (900, 60, 2000, False, "More labels still pay"),  # as few as 60 may do
        (7000, 400, None, True, "only 5,000 texts are left"),
        (None, None, None, True, "The learning curve is flat after 500 labels"),
        (None, 60, None, False, "this is uncertain: 60 more may bring one more point of accuracy"),
    ],
)
def test_the_advice_names_the_numbers_that_decide(
    labels: int | None, low: int | None, high: int | None, stop: bool, said: str
) -> None:
    found = advice(CURVE, Forecast(0.01, labels, low, high), batch=50, unlabelled=5000)
    assert found.stop is stop
    assert said in found.reason


def test_without_texts_or_rounds_there_is_no_forecast() -> None:
    assert advice(CURVE, None, 50, 0).stop
    assert "ask again" in advice(CURVE[:1], None, 50, 100).reason
    assert interval_words(Forecast(0.01, 5, 1234, 5678)) == "95 % interval: 1,234 to 5,678"


def test_what_was_found_in_rounds_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with create_labelling(tmp_path / "p", pool_of([f"text {row}" for row in range(30)], classes=("a", "b"))) as session:
        facts = [RoundFacts(round, 0, 0, (0, 0), Metrics()) for round in range(3)]
        for each in facts[:2]:
            session.store.commit(each)
        assert session.rounds() == facts[:2]
        session.store.commit(facts[2])
        assert session.rounds() == facts
        monkeypatch.setattr(session.store, "rounds", lambda: pytest.fail("rounds are read again"))
        assert session.rounds() == facts and session.news() == 0
