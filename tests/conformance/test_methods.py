"""The contract of every registered method, on small synthetic views that can give every signal."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from actune.core.settings import Settings
from actune.core.training_set import PseudoLabels
from actune.core.view import View
from actune.methods.memory import Pace
from actune.methods.recipes import RECIPES, Method, build
from tests.methods.synthetic import Drawn, drawn_view, view_of

SETTINGS = Settings(
    regions=6,
    regions_used=2,
    growth=4,
    neighbors=3,
    samples=4,
    teacher_samples=5,
    teacher_rows=20,
    agreeing=2,
    limit=0.9,
)
TRUSTING = [name for name in RECIPES if build(name, SETTINGS).self_training]
every_method = pytest.mark.parametrize("name", RECIPES)
every_trusting_method = pytest.mark.parametrize("name", TRUSTING)


@pytest.fixture
def method(name: str) -> Method:
    return build(name, SETTINGS)


@pytest.fixture(params=[torch.float32, torch.float64], ids=["float32", "float64"])
def view(request: pytest.FixtureRequest) -> View:
    return drawn_view(dtype=request.param)


@pytest.fixture(autouse=True)
def no_warnings() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def frozen(view: View) -> list[torch.Tensor]:
    arrays = (view.log_proba, view.embedding, view.unlabelled, view.labelled, view.labels, view.candidates)
    return [array.clone() for array in arrays]


def plain(trusted: PseudoLabels) -> tuple[Any, ...]:
    return trusted.rows.tolist(), trusted.targets.tolist(), trusted.weights.tolist()


@every_method
@pytest.mark.parametrize("n", [0, 1, 7, 50, 107, 500])
def test_a_query_gives_n_distinct_candidates(method: Method, view: View, n: int) -> None:
    rows = method.query(view, n)
    assert rows.dtype == torch.int64 and rows.device.type == "cpu" and rows.ndim == 1
    assert len(rows) == min(n, len(view.candidates)) == len(set(rows.tolist()))
    assert set(rows.tolist()) <= set(view.candidates.tolist())


@every_method
def test_a_query_asks_about_candidates_alone(method: Method, view: View) -> None:
    gone = view.candidates[::2]
    rows = method.query(view.without(gone), 30)
    assert len(rows) == 30 and not set(rows.tolist()) & set(gone.tolist())


@every_method
def test_a_method_says_the_same_twice(method: Method, name: str) -> None:
    said = []
    for again in (method, method, build(name, SETTINGS)):
        view = drawn_view()
        asked = again.query(view, 9).tolist()
        trusted = again.self_training and again.self_training(view.without(asked), None, Pace(0, 10))[0]
        said.append((asked, trusted and plain(trusted)))
    assert said[0] == said[1] == said[2]


@every_method
def test_a_method_changes_nothing_in_the_view(method: Method, view: View) -> None:
    before = frozen(view)
    asked = method.query(view, 9)
    if method.self_training:
        _, state = method.self_training(view.without(asked), None, Pace(0, 10))
        method.self_training(view.without(asked), state, Pace(1, 10))
    assert all(torch.equal(old, new) for old, new in zip(before, frozen(view), strict=True))


@every_method
def test_every_signal_is_computed_once(method: Method, name: str) -> None:
    outputs = Drawn(drawn_view().readout)
    view = View(outputs, range(1, 120), [0], labels=[1])
    asked = method.query(view, 9)
    if method.self_training:
        method.self_training(view.without(asked), None, Pace(0, 10))
    assert len(outputs.asked) == len(set(outputs.asked))
    needed = {"dropout": "moments", "masked language model": "surprisal", "word embeddings": "perturbed"}
    assert {needed[signal] for signal in RECIPES[name].needs} == set(outputs.asked) - {"read", "frozen"}


@every_method
def test_a_pool_of_one_predicted_class_and_equal_rows_is_served(method: Method) -> None:
    one_class = torch.tensor([[0.8, 0.1, 0.1]], dtype=torch.float64).repeat(30, 1)
    view = view_of(one_class, torch.ones(30, 4, dtype=torch.float64), [0, 1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # equal rows make fewer regions, which is told
        asked = method.query(view, 5)
        assert len(set(asked.tolist())) == 5
        if method.self_training:
            trusted, _ = method.self_training(view.without(asked), None, Pace(0, 10))
            assert set(trusted.rows.tolist()) <= set(view.without(asked).candidates.tolist())


@every_method
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_an_empty_or_tiny_pool_is_served(method: Method, rows: int) -> None:
    full = drawn_view()
    taken = full.candidates[rows:]
    view = full.without(taken)
    asked = method.query(view, 5)
    assert sorted(asked.tolist()) == view.candidates.tolist()
    if method.self_training:
        trusted, _ = method.self_training(view.without(asked), None, Pace(0, 10))
        assert len(trusted) == 0


@every_trusting_method
@pytest.mark.parametrize("round", [0, 3, 30])
def test_trusted_rows_are_distinct_candidates_and_never_asked(method: Method, view: View, round: int) -> None:
    assert method.self_training is not None
    asked = method.query(view, 40)
    rest = view.without(asked)
    trusted, state = method.self_training(rest, None, Pace(round, 10))
    assert len(trusted) == len(set(trusted.rows.tolist()))
    assert set(trusted.rows.tolist()) <= set(rest.candidates.tolist())
    assert not set(trusted.rows.tolist()) & set(asked.tolist())
    assert trusted.rows.dtype == trusted.targets.dtype == np.int64 and trusted.weights.dtype == np.float32
    assert len(trusted.targets) == len(trusted.weights) == len(trusted)
    assert set(trusted.targets.tolist()) <= {0, 1, 2}
    assert np.isfinite(trusted.weights).all() and (trusted.weights >= 0).all()
    assert state is None or len(state) == 120


@every_trusting_method
def test_something_is_trusted(method: Method, view: View) -> None:
    assert method.self_training is not None
    assert len(method.self_training(view.without(method.query(view, 9)), None, Pace(0, 10))[0])


@every_trusting_method
def test_rows_are_trusted_in_the_regions_that_are_asked_about(method: Method, view: View) -> None:
    rule = getattr(method.self_training, "rule", None)
    if (regions := getattr(rule, "regions", None)) is None:
        return
    smaller = view.without(method.query(view, 9))
    assert regions(smaller) is regions(view) and regions.score(smaller) is regions.score(view)


def deeds(name: str) -> Any:
    """All that a method does over two rounds on fixed views."""
    # more regions than clouds, so that weights move centres
    method, state, done = build(name, replace(SETTINGS, regions=10)), None, []
    for round in range(2):
        view = drawn_view(seed=round)
        asked = method.query(view, 12)
        trusted = PseudoLabels.none()
        if method.self_training:
            trusted, state = method.self_training(view.without(asked), state, Pace(round, 10))
        done.append((asked.tolist(), plain(trusted)))
    return done, method.objective if method.self_training else None, method.teacher


def test_no_method_is_an_alias_of_another() -> None:
    everything = {name: deeds(name) for name in RECIPES}
    same = [pair for pair in itertools.combinations(RECIPES, 2) if everything[pair[0]] == everything[pair[1]]]
    assert same == []


def another(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return 0.5 if value in (0.0, 1.0) else type(value)(value / 2)


@every_method
def test_exactly_the_named_settings_change_a_method(name: str) -> None:
    usual = Settings()
    other: dict[str, Any] = {
        setting: another(value)
        for setting, value in vars(usual).items()
        if setting not in ("max_tokens", "growth_start")  # of the reader, and of the preset released
    }
    changing = {
        setting
        for setting, value in other.items()
        if build(name, replace(usual, **{setting: value})) != build(name, usual)
    }
    assert changing == set(RECIPES[name].uses)
