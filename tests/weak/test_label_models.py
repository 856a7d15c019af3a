"""Label models: laws, rows and sources without votes, planted truth, and what a model that ignores abstention does."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from actune.errors import Diverged, SettingError
from actune.weak.label_models import LABEL_MODELS, combine, posterior
from actune.weak.votes import ABSTAIN, Votes
from tests.weak.planted import CLASSES, one_class_rules

NAMES = list(LABEL_MODELS)


def votes_of_rows(*rows: list[int]) -> Votes:
    return Votes(np.array(rows, dtype=np.int64), tuple(f"s{place}" for place in range(len(rows[0]))))


def accuracy(name: str, votes: Votes, truth: NDArray[np.int64]) -> float:
    found = combine(name, votes, CLASSES).labels
    return float((found == truth)[votes.covered].mean())


def naive_dawid_skene(votes: Votes) -> NDArray[np.int64]:
    """The textbook model, which estimates P(vote | class, it voted): a rule with one class then says nothing."""
    matrix = votes.matrix[votes.covered]
    said = matrix[:, :, None] == np.arange(CLASSES)  # (rows, sources, classes)
    proba = said.sum(axis=1) / said.sum(axis=(1, 2))[:, None]
    for _ in range(30):
        counts = np.einsum("rsv,rc->svc", said, proba) + 0.1
        log = np.einsum("rsv,svc->rc", said, np.log(counts / counts.sum(axis=1, keepdims=True)))
        log += np.log(proba.mean(axis=0) + 1e-12)
        proba = np.exp(log - log.max(axis=1, keepdims=True))
        proba /= proba.sum(axis=1, keepdims=True)
    labels = np.full(len(votes), ABSTAIN)
    labels[votes.covered] = proba.argmax(axis=1)
    return labels


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["em", "snorkel"])
def test_planted_rules_of_one_class(name: str, seed: int) -> None:
    votes, truth = one_class_rules(seed)
    assert accuracy(name, votes, truth) > accuracy("majority", votes, truth) - 0.01


@pytest.mark.parametrize("seed", range(3))
def test_a_model_that_ignores_abstention_collapses(seed: int) -> None:
    votes, truth = one_class_rules(seed)
    naive = (naive_dawid_skene(votes) == truth)[votes.covered].mean()
    assert naive < 0.4 < 0.6 < accuracy("em", votes, truth)


def test_em_knows_good_rules_from_bad_ones() -> None:
    votes, truth = one_class_rules(1, rules=24)
    measured = [(truth == column)[column != ABSTAIN].mean() for column in votes.matrix.T]
    assert np.corrcoef(combine("em", votes, CLASSES).accuracy, measured)[0, 1] > 0.8


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_sources_and_rows_does_not_matter(name: str) -> None:
    votes, _ = one_class_rules(rows=800)
    rng = np.random.default_rng(5)
    rows, sources = rng.permutation(len(votes)), rng.permutation(len(votes.sources))
    before = combine(name, votes, CLASSES)
    shuffled = Votes(votes.matrix[rows][:, sources], tuple(votes.sources[place] for place in sources))
    after = combine(name, shuffled, CLASSES)
    np.testing.assert_allclose(after.proba, before.proba[rows], atol=1e-4)
    np.testing.assert_allclose(after.accuracy, before.accuracy[sources], atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_the_names_of_classes_do_not_matter(name: str) -> None:
    votes, _ = one_class_rules(rows=800)
    order = np.random.default_rng(6).permutation(CLASSES)
    renamed = Votes(np.where(votes.matrix == ABSTAIN, ABSTAIN, order[votes.matrix]), votes.sources)
    before, after = combine(name, votes, CLASSES), combine(name, renamed, CLASSES)
    np.testing.assert_allclose(after.proba[:, order], before.proba, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_trap_14_rows_without_votes_and_a_source_that_never_votes(name: str) -> None:
    votes = votes_of_rows([0, 0, -1, -1], [-1, -1, -1, -1], [1, 1, 0, -1], [0, 0, 0, -1], [1, 1, 1, -1])
    found = combine(name, votes, 2)
    assert found.labels.tolist() == [0, ABSTAIN, 1, 0, 1]
    assert found.proba[1].tolist() == [0, 0]
    assert found.proba[votes.covered].sum(axis=1) == pytest.approx(1)
    assert np.isnan(found.accuracy).tolist() == [False, False, False, True]
    rest = combine(name, Votes(votes.matrix[votes.covered][:, :3], votes.sources[:3]), 2)
    np.testing.assert_allclose(rest.proba, found.proba[votes.covered], atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_no_votes_at_all(name: str) -> None:
    found = combine(name, votes_of_rows([-1, -1, -1], [-1, -1, -1]), 2)
    assert found.labels.tolist() == [ABSTAIN, ABSTAIN]
    assert not found.proba.any()


@pytest.mark.parametrize("name", NAMES)
def test_two_sources_are_counted(name: str) -> None:
    votes = votes_of_rows([0, 0], [0, 0], [0, 0], [1, 0], [-1, 2])
    assert combine(name, votes, 3).proba.tolist() == [[1, 0, 0], [1, 0, 0], [1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_twice_and_ties_to_the_lowest_class(name: str) -> None:
    votes = votes_of_rows(*[[0, 1, 2]] * 4, [2, 0, 1], [1, 2, 0], [0, 0, 0], [1, 1, 1], [2, 2, 2])
    first, again = combine(name, votes, 3), combine(name, votes, 3)
    np.testing.assert_array_equal(first.proba, again.proba)
    if name == "majority":
        assert first.labels.tolist() == [0, 0, 0, 0, 0, 0, 0, 1, 2]
        assert first.accuracy == pytest.approx([(6 / 3 + 3) / 9] * 3)


def many_sources(coverage: float) -> tuple[Votes, NDArray[np.int64]]:
    """300 sources that are right in four of five votes about two classes."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=60)
    matrix = np.where(rng.random((60, 300)) < 0.8, truth[:, None], 1 - truth[:, None])
    matrix[rng.random(matrix.shape) > coverage] = ABSTAIN
    return Votes(matrix, tuple(map(str, range(300)))), truth


@pytest.mark.parametrize(("name", "coverage"), [("majority", 1.0), ("em", 1.0), ("snorkel", 0.2)])
def test_hundreds_of_sources(name: str, coverage: float) -> None:
    votes, truth = many_sources(coverage)
    found = combine(name, votes, 2)
    assert found.labels.tolist() == truth.tolist()
    assert np.isfinite(found.proba).all()


def test_snorkel_may_diverge() -> None:
    with pytest.raises(Diverged, match="diverged with 300 sources that vote on 100% of the rows: use em"):
        combine("snorkel", many_sources(1.0)[0], 2)


def test_snorkel_is_the_package_itself() -> None:
    from snorkel.labeling.model import LabelModel

    votes, _ = one_class_rules(rows=800)
    model = LabelModel(cardinality=CLASSES, verbose=False)
    model.fit(votes.matrix[votes.covered], seed=3, progress_bar=False)
    expected = model.predict_proba(votes.matrix[votes.covered])
    found = combine("snorkel", votes, CLASSES, seed=3).proba[votes.covered]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.abs(combine("snorkel", votes, CLASSES, seed=4).proba[votes.covered] - expected).max() > 1e-5


def test_snorkel_leaves_global_random_numbers_alone(capfd: pytest.CaptureFixture[str]) -> None:
    def drawn() -> list[float]:
        return [random.random(), float(np.random.random()), float(torch.rand(1))]

    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    expected = drawn()
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    for module in [name for name in sys.modules if name.startswith("snorkel")]:
        del sys.modules[module]
    combine("snorkel", votes_of_rows([0, 0, 1], [1, 1, 1], [0, 0, 0]), 2)
    assert drawn() == expected
    assert capfd.readouterr() == ("", "")


def test_snorkel_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "snorkel.labeling.model", None)
    with pytest.raises(SettingError, match=r"pip install 'actune\[weak\]'"):
        combine("snorkel", votes_of_rows([0, 0, 1]), 2)


def test_an_unknown_model() -> None:
    with pytest.raises(SettingError, match="no label model 'majorty': did you mean 'majority'"):
        combine("majorty", votes_of_rows([0, 1]), 2)


def test_who_said_nothing_is_left_out_of_the_posterior() -> None:
    chances = np.array([[[0.5, 0.1], [0.1, 0.2], [0.4, 0.7]]] * 3)
    prior = np.array([0.3, 0.7])
    found = posterior(np.array([[0, ABSTAIN, ABSTAIN], [ABSTAIN, 0, 1]]), chances, prior)
    np.testing.assert_allclose(found, [[15 / 22, 7 / 22], [15 / 29, 14 / 29]])
