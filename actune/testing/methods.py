"""The contracts of scores, queries, self-training and methods, on small views that can give every signal."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch

from actune.core.training_set import PseudoLabels
from actune.core.view import View
from actune.methods.memory import Pace
from actune.methods.method import Method
from actune.methods.queries import Query, Random
from actune.methods.trust import SelfTraining
from actune.methods.uncertainty import Score
from actune.testing.views import Drawn, drawn_view, texts_for, view_of

HORIZON = 10


def check_score(score: Score) -> None:
    """A score is one finite number for every unlabelled row, the same when it is asked again, and is hashable."""
    hash(score)  # what is derived from a score is cached under it
    view = drawn_view()
    before = _arrays(view)
    scores = score(view)
    assert scores.shape == (len(view.log_proba),), f"the scores have the shape {tuple(scores.shape)}, not (pool,)"
    assert scores[view.unlabelled].isfinite().all(), "some scores of unlabelled rows are not finite"
    again = score(drawn_view())
    rows = view.unlabelled
    assert torch.equal(scores[rows], again[rows]), "the same view has other scores the second time"
    assert _same(before, view), "the score has changed the view"


def check_query(query: Query, dtype: torch.dtype = torch.float64) -> None:
    """A query gives min(n, candidates) distinct candidates as int64 on the CPU, always the same ones."""
    view = drawn_view(dtype=dtype)
    before = _arrays(view)
    for n in (0, 1, 7, 50, len(view.candidates), 500):
        _check_asked(query(view, n), view, n)
    few = view.without(view.candidates[::2])
    _check_asked(query(few, 30), few, 30)
    for rows in (0, 1, 2):
        tiny = view.without(view.candidates[rows:])
        _check_asked(query(tiny, 5), tiny, 5)
    assert _same(before, view), "the query has changed the view"
    said = [query(drawn_view(dtype=dtype), 9).tolist() for _ in range(2)]
    assert said[0] == said[1], "the same view was asked about other rows the second time"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # equal rows make fewer groups, which may be told
        _check_asked(query(_equal_rows(), 5), _equal_rows(), 5)


def check_self_training(self_training: SelfTraining, query: Query | None = None, dtype: Any = torch.float64) -> None:
    """Pseudo-labels are distinct candidates with a class and a weight each; the memory goes from round to round."""
    query = query or Random()
    for round in (0, 3, 30):
        view = drawn_view(dtype=dtype)
        rest = view.without(query(view, 40))
        before = _arrays(rest)
        found, memory = self_training(rest, None, Pace(round, HORIZON))
        _check_trusted(found, rest)
        assert memory is None or len(memory) == len(view.log_proba), "the memory is not as long as the pool"
        _check_trusted(self_training(rest, memory, Pace(round + 1, HORIZON))[0], rest)
        assert _same(before, rest), "the self-training has changed the view"
    said = [_plain(self_training(drawn_view(dtype=dtype), None, Pace(0, HORIZON))[0]) for _ in range(2)]
    assert said[0] == said[1], "the same view was given other pseudo-labels the second time"
    assert said[0][0], "no row at all is trusted in a view with sure rows"
    view = drawn_view(dtype=dtype)
    nothing, _ = self_training(view.without(view.candidates), None, Pace(0, HORIZON))
    assert not len(nothing), "rows are trusted where there is no candidate"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _check_trusted(self_training(_equal_rows(), None, Pace(0, HORIZON))[0], _equal_rows())


def check_method(method: Method, dtype: torch.dtype = torch.float64) -> None:
    """Both parts keep their contracts, asked and trusted rows never meet, and no signal is computed twice."""
    check_query(method.query, dtype)
    if method.self_training is not None:
        check_self_training(method.self_training, method.query, dtype)
    computed = signals_of(method)
    twice = sorted({signal for signal in computed if computed.count(signal) > 1})
    assert not twice, f"{', '.join(twice)} was computed more than once in a round"


def signals_of(method: Method) -> list[str]:
    """What a method asks of the model in one round, in its order: read, moments, perturbed, surprisal, frozen."""
    outputs = Drawn(drawn_view().readout)
    view = View(outputs, range(1, 120), [0], labels=[1], texts=lambda: texts_for(120))
    asked = method.query(view, 9)
    if method.self_training is not None:
        method.self_training(view.without(asked), None, Pace(0, HORIZON))
    return outputs.asked


def _check_asked(rows: torch.Tensor, view: View, n: int) -> None:
    assert rows.dtype == torch.int64 and rows.device.type == "cpu" and rows.ndim == 1, "rows are not int64 on the CPU"
    wanted, candidates = min(n, len(view.candidates)), set(view.candidates.tolist())
    assert len(rows) == wanted, f"{len(rows)} rows were asked about and not {wanted}"
    assert len(set(rows.tolist())) == len(rows), "a row was asked about twice"
    assert set(rows.tolist()) <= candidates, "a row was asked about that is no candidate"


def _check_trusted(found: PseudoLabels, view: View) -> None:
    rows, classes = found.rows.tolist(), view.log_proba.shape[1]
    assert len(set(rows)) == len(rows), "a row was trusted twice"
    assert set(rows) <= set(view.candidates.tolist()), "a row was trusted that is no candidate"
    assert found.rows.dtype == found.targets.dtype == np.int64, "rows and targets are not int64"
    assert found.weights.dtype == np.float32, "weights are not float32"
    assert len(found.targets) == len(found.weights) == len(rows), "some rows have no target or no weight"
    assert set(found.targets.tolist()) <= set(range(classes)), "a target is no class"
    assert np.isfinite(found.weights).all() and (found.weights >= 0).all(), "a weight is negative or not finite"


def _equal_rows() -> View:
    """A pool of one predicted class, all of whose rows are equal."""
    one_class = torch.tensor([[0.8, 0.1, 0.1]], dtype=torch.float64).repeat(30, 1)
    return view_of(one_class, torch.ones(30, 4, dtype=torch.float64), [0, 1, 2])


def _arrays(view: View) -> list[torch.Tensor]:
    arrays = (view.log_proba, view.embedding, view.unlabelled, view.labelled, view.labels, view.candidates)
    return [array.clone() for array in arrays]


def _same(before: list[torch.Tensor], view: View) -> bool:
    return all(torch.equal(old, new) for old, new in zip(before, _arrays(view), strict=True))


def _plain(found: PseudoLabels) -> tuple[list[int], list[int], list[float]]:
    return found.rows.tolist(), found.targets.tolist(), found.weights.tolist()
