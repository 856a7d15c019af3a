"""The contract of every registered method, on small synthetic views."""

from __future__ import annotations

import warnings

import pytest
import torch

from actune.core.classifier import Readout
from actune.core.settings import Settings
from actune.core.view import View
from actune.methods.recipes import RECIPES, Method, build
from actune.methods.trust import Pace
from tests.methods.synthetic import drawn_view

SETTINGS = Settings(regions=6, regions_used=2, growth=4, neighbors=3)
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
    return [
        array.clone() for array in (view.log_proba, view.embedding, view.unlabelled, view.labelled, view.candidates)
    ]


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
        said.append((asked, trusted and (trusted.rows.tolist(), trusted.targets.tolist())))
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
def test_the_pool_is_read_once(method: Method) -> None:
    reads: list[Readout] = []

    def read() -> Readout:
        reads.append(drawn_view().readout)
        return reads[-1]

    view = View(read, range(1, 120), [0])
    asked = method.query(view, 9)
    if method.self_training:
        method.self_training(view.without(asked), None, Pace(0, 10))
    assert len(reads) == (0 if method == build("random", SETTINGS) else 1)


@every_trusting_method
@pytest.mark.parametrize("round", [0, 3, 30])
def test_trusted_rows_are_allowed_distinct_and_never_asked(method: Method, view: View, round: int) -> None:
    assert method.self_training is not None
    asked = method.query(view, 40)
    rest = view.without(asked)
    trusted, state = method.self_training(rest, None, Pace(round, 10))
    allowed = method.self_training.rule(rest)
    assert len(trusted) == min(SETTINGS.growth * (round + 1), len(allowed)) == len(set(trusted.rows.tolist()))
    assert set(trusted.rows.tolist()) <= set(allowed.tolist()) <= set(rest.candidates.tolist())
    assert not set(trusted.rows.tolist()) & set(asked.tolist())
    assert len(trusted.targets) == len(trusted.weights) == len(trusted)
    assert set(trusted.targets.tolist()) <= {0, 1, 2}
    assert state is None or len(state) == 120


@every_trusting_method
def test_what_is_derived_is_shared_by_a_smaller_view(method: Method, view: View) -> None:
    assert method.self_training is not None
    rule = method.self_training.rule
    regions, score = rule.regions, rule.regions.score  # type: ignore[attr-defined]
    smaller = view.without(method.query(view, 9))
    assert regions(smaller) is regions(view) and score(smaller) is score(view)
