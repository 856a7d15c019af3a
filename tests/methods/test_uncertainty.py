"""Scores against their formulas written naively."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import torch

from actune.core.classifier import Readout
from actune.core.view import View
from actune.errors import Diverged, MissingSignal
from actune.methods.features import Propagation
from actune.methods.queries import Top
from actune.methods.uncertainty import (
    Adversarial,
    Bald,
    Cal,
    Score,
    divergence,
    entropy,
    entropy_of,
    least_confidence,
    margin,
)
from actune.testing.views import drawn_view, stored_view, view_of


def naive_cal(view: View, k: int, normalise: bool) -> npt.NDArray[np.float64]:
    proba, points = view.log_proba.exp().numpy(), view.embedding.numpy()
    if normalise:
        points = points / np.linalg.norm(points, axis=1, keepdims=True)
    scores = []
    for row in range(len(proba)):
        by_distance = sorted(view.labelled.tolist(), key=lambda other: ((points[row] - points[other]) ** 2).sum())
        nearest = by_distance[:k]
        scores.append(np.mean([(proba[near] * np.log(proba[near] / proba[row])).sum() for near in nearest]))
    return np.array(scores)


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("k", [1, 4, 10, 50])
def test_cal_is_its_formula(k: int, normalise: bool) -> None:
    view = drawn_view(classes=4)
    np.testing.assert_allclose(Cal(k, normalise)(view).numpy(), naive_cal(view, k, normalise), atol=1e-10)


def test_trap_1_cal_looks_at_labelled_rows_alone() -> None:
    """An unlabelled twin with the same prediction would give 0 if the pool were searched."""
    proba = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.2, 0.8]]).double()
    view = view_of(proba, torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]).double(), labelled=[0])
    expected = 0.9 * np.log(0.9 / 0.2) + 0.1 * np.log(0.1 / 0.8)
    assert Cal(1)(view).tolist() == pytest.approx([0, expected, expected])


def test_cal_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    view = drawn_view(dtype=torch.float32)
    monkeypatch.setattr("actune.core.kmeans.BLOCK", 50)
    monkeypatch.setattr("actune.core.neighbors.ENTRIES", 30)
    np.testing.assert_allclose(Cal(3)(view).numpy(), naive_cal(view, 3, True), atol=1e-4)


def test_cal_without_labels_warns_and_is_entropy() -> None:
    view = view_of(torch.tensor([[0.5, 0.5], [0.9, 0.1]]))
    with pytest.warns(UserWarning, match="CAL needs labelled texts and there are none yet: entropy is used instead"):
        assert torch.equal(Cal()(view), entropy(view))


def test_cal_with_impossible_classes() -> None:
    """A class that the neighbour rules out adds nothing, even where the row rules it out too."""
    view = view_of(torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]), labelled=[0])
    assert Cal(1)(view).tolist() == pytest.approx([0, 0, np.log(2)])


def test_cal_with_an_embedding_of_zeros() -> None:
    view = view_of(torch.tensor([[0.6, 0.4], [0.5, 0.5]]), torch.zeros(2, 3), labelled=[0])
    assert torch.isfinite(Cal()(view)).all()


def test_a_class_may_be_missing_among_the_labels() -> None:
    view = view_of(torch.tensor([[0.9, 0.05, 0.05], [0.1, 0.1, 0.8]]), labelled=[0])
    assert Cal()(view)[1] > 0


def test_entropy_of_an_impossible_class() -> None:
    assert entropy_of(torch.tensor([[0.0, -float("inf"), -float("inf")]])).tolist() == [0]
    assert entropy_of(torch.tensor([[0.0]])).tolist() == [0]


def test_entropy_ranks_confident_rows_in_float32() -> None:
    draw = torch.Generator().manual_seed(0)
    logits = torch.randn(2000, 5, generator=draw, dtype=torch.float64)
    logits[:, 0] += torch.linspace(12, 30, 2000, dtype=torch.float64)
    exact = entropy_of(logits.log_softmax(1))
    found = entropy_of(logits.float().log_softmax(1))
    torch.testing.assert_close(found.double(), exact, rtol=2e-5, atol=0)
    assert len(torch.unique(found)) > 1990


def test_scores_are_computed_once_for_a_view_and_what_comes_from_it() -> None:
    view = drawn_view()
    for score in (entropy, least_confidence, margin, Cal(3), Bald(3)):
        assert score(view) is score(view.without([1, 2]))
    assert Cal(3)(view) is Cal(3)(view) and Cal(3)(view) is not Cal(4)(view)


# the likeliest class and the next


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_margin_and_least_confidence_are_their_formulas(classes: int) -> None:
    view = drawn_view(classes=classes)
    ranked = np.sort(view.log_proba.exp().numpy(), axis=1)
    np.testing.assert_allclose(least_confidence(view), 1 - ranked[:, -1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(margin(view), 1 - (ranked[:, -1] - ranked[:, -2]), rtol=0, atol=1e-12)


def test_scores_of_a_tie_and_of_certainty() -> None:
    view = view_of(torch.tensor([[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]]))
    assert least_confidence(view).tolist() == pytest.approx([0.5, 0, 0.25])
    assert margin(view).tolist() == pytest.approx([1, 0, 0.5])


@pytest.mark.parametrize("score", [entropy, least_confidence, margin])
def test_trap_18_confident_rows_keep_their_order_in_float32(score: Score) -> None:
    """At logits around 40, 1 - max p is 0 for all of them; in float16 every probability is 0 or 1."""
    logits = torch.zeros(400, 4, dtype=torch.float64)
    logits[:, 2] = 30 + 0.05 * torch.from_numpy(np.random.default_rng(0).permutation(400))
    log_proba = logits.float().log_softmax(1)
    view = View(Readout(log_proba, log_proba), range(400))
    least_sure_first = Top(score)(view, 400).tolist()
    assert least_sure_first == logits[:, 2].argsort().tolist()
    assert (score(view) > 0).all()
    assert len(torch.unique(1 - log_proba.exp().amax(1))) == 1
    half = log_proba.exp().half().float()
    assert len(torch.unique(entropy_of(half.log()))) == 1


# dropout passes


def drawn_passes(passes: int = 6, rows: int = 40, classes: int = 3, seed: int = 0) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return (2 * torch.randn(passes, rows, classes, generator=draw, dtype=torch.float64)).softmax(2)


@pytest.mark.parametrize("seed", range(3))
def test_bald_is_the_mean_divergence_of_the_passes_from_their_mean(seed: int) -> None:
    passes = drawn_passes(seed=seed)
    stored = passes.numpy()
    mean = stored.mean(0)
    mutual = -(mean * np.log(mean)).sum(1) + (stored * np.log(stored)).sum(2).mean(0)
    divergences = (stored * np.log(stored / mean)).sum(2).mean(0)
    found = Bald(6)(stored_view(passes)).numpy()
    np.testing.assert_allclose(found, mutual, atol=1e-12)
    np.testing.assert_allclose(found, divergences, atol=1e-12)


def test_trap_9_passes_that_agree_have_no_disagreement_and_none_is_negative() -> None:
    one = drawn_passes(passes=1).float()
    found = Bald(10)(stored_view(one.repeat(10, 1, 1)))
    assert (found >= 0).all() and found.max() < 1e-6
    assert (Bald(6)(stored_view(drawn_passes().float())) >= 0).all()


def test_trap_9_the_order_of_the_passes_does_not_matter() -> None:
    passes = drawn_passes()
    torch.testing.assert_close(Bald(6)(stored_view(passes)), Bald(6)(stored_view(passes.flip(0))), rtol=0, atol=1e-12)


def test_bald_says_nothing_of_labelled_rows_and_asks_for_no_more_than_the_others() -> None:
    view = stored_view(drawn_passes(), labelled=[3, 8])
    missing = Bald(6)(view).isnan().nonzero().flatten().tolist()
    assert missing == [3, 8]
    assert not {3, 8} & set(Top(Bald(6))(view, 40).tolist())
    assert Bald(6)(view)[4] == Bald(6)(stored_view(drawn_passes()))[4]


def test_without_dropout_the_error_names_what_to_use() -> None:
    plain = View(drawn_view().readout, range(120))
    with pytest.raises(MissingSignal, match="use margin or entropy"):
        Bald()(plain)


# perturbations


def test_adversarial_is_the_divergence_of_the_graph_from_the_perturbed_model() -> None:
    view = drawn_view()
    given = Propagation(neighbors=5)
    graph, moved = given(view).numpy(), view.perturbed(1.0).exp().numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.where(graph > 0, graph * np.log(graph / moved), 0).sum(1)
    np.testing.assert_allclose(Adversarial(given, 1.0)(view), expected, atol=1e-10)
    assert not torch.equal(Adversarial(given, 1.0)(view), Adversarial(given, 2.0)(view))


def test_a_class_that_the_first_rules_out_adds_nothing_to_a_divergence() -> None:
    log_p, log_q = torch.tensor([[1.0, 0.0]]).log(), torch.tensor([[0.5, 0.5]]).log()
    assert divergence(log_p, log_q).tolist() == pytest.approx([np.log(2)])
    assert divergence(log_q, log_p).tolist() == [float("inf")]
    with pytest.raises(Diverged, match="not a number"):
        Top(lambda view: divergence(log_q, log_p))(view_of(torch.tensor([[0.5, 0.5]])), 1)
