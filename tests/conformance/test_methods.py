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
from actune.methods.features import Propagation
from actune.methods.memory import Pace
from actune.methods.recipes import RECIPES, Method, build
from actune.methods.uncertainty import Adversarial, Bald, Cal, Score, entropy, least_confidence, margin
from actune.testing import check_method, check_query, check_score, check_self_training
from actune.testing.methods import signals_of
from actune.testing.views import drawn_view

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


@pytest.fixture(autouse=True)
def no_warnings() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@every_method
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_every_method_keeps_the_contract(method: Method, dtype: torch.dtype) -> None:
    check_method(method, dtype)


@every_method
def test_a_recipe_makes_the_same_method_twice(name: str) -> None:
    assert build(name, SETTINGS) == build(name, SETTINGS)


@every_method
def test_a_recipe_names_the_signals_that_it_needs(method: Method, name: str) -> None:
    needed = {"dropout": "moments", "masked language model": "surprisal", "word embeddings": "perturbed"}
    assert {needed[signal] for signal in RECIPES[name].needs} == set(signals_of(method)) - {"read", "frozen"}


@pytest.mark.parametrize("score", [entropy, least_confidence, margin, Bald(4), Cal(3), Adversarial(Propagation())])
def test_every_score_keeps_the_contract(score: Score) -> None:
    check_score(score)


# what the checks are worth: each breach is told


class Repeating:
    def __call__(self, view: View, n: int) -> torch.Tensor:
        return view.candidates[:1].repeat(min(n, len(view.candidates)))


class Forgetful:
    """Draws from torch's own random numbers."""

    def __call__(self, view: View, n: int) -> torch.Tensor:
        return view.candidates[torch.randperm(len(view.candidates))[:n]]


class Spoiling:
    def __call__(self, view: View, n: int) -> torch.Tensor:
        view.log_proba.mul_(2)
        return view.candidates[:n]


def everything(view: View, n: int) -> torch.Tensor:
    return torch.arange(len(view.log_proba))[:n]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (Repeating(), "a row was asked about twice"),
        (Forgetful(), "other rows the second time"),
        (Spoiling(), "the query has changed the view"),
        (everything, "that is no candidate"),
        (lambda view, n: view.candidates[: n // 2], "rows were asked about and not"),
    ],
)
def test_a_query_that_breaks_the_contract_is_told(query: Any, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_query(query)


def test_a_self_training_that_trusts_what_is_asked_is_told() -> None:
    def careless(view: View, memory: Any, pace: Pace) -> tuple[PseudoLabels, None]:
        rows = view.unlabelled.numpy()
        return PseudoLabels(rows, np.zeros(len(rows), np.int64), np.ones(len(rows), np.float32)), None

    with pytest.raises(AssertionError, match="a row was trusted that is no candidate"):
        check_self_training(careless)


def test_a_score_that_is_not_finite_is_told() -> None:
    with pytest.raises(AssertionError, match="not finite"):
        check_score(lambda view: view.log_proba.amax(1).sub(view.log_proba.amax(1)).log())


def plain(trusted: PseudoLabels) -> tuple[Any, ...]:
    return trusted.rows.tolist(), trusted.targets.tolist(), trusted.weights.tolist()


@every_trusting_method
def test_rows_are_trusted_in_the_regions_that_are_asked_about(method: Method) -> None:
    view = drawn_view()
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
