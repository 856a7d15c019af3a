"""The library against numbers worked out by hand; the working stands in the names and in METHODS."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from actune.core.kmeans import Partition, kmeans
from actune.core.neighbors import nearest_points
from actune.core.view import View
from actune.methods.memory import Memory, Pace, momentum
from actune.methods.queries import Top
from actune.methods.regions import Calmest, Hottest, Regions, heat
from actune.methods.trust import Anywhere, Surest
from actune.methods.uncertainty import Cal, entropy, entropy_of
from actune.testing.views import view_of
from tests.golden.inputs import (
    GOLDEN,
    LABELLED,
    LABELLED_PROBA,
    LINE,
    PREDICTED,
    REGION,
    ROUNDS,
    SCORES,
    UNLABELLED,
    UNLABELLED_PROBA,
    close,
    given_scores,
    golden,
    line_view,
    tensor,
)

LINE_REGIONS = Regions(given_scores, k=3, beta=0.5, weighted=True)


def test_g1_entropy() -> None:
    proba = tensor([[1.0, 0.0], [0.5, 0.5], [0.9, 0.1], [0.25, 0.75]])
    close(entropy(view_of(proba)), "G1.entropy_nats")
    close(entropy_of(tensor([[1 / 3, 1 / 3, 1 / 3], [0.7, 0.2, 0.1], [0.98, 0.01, 0.01]]).log()), "G1.entropy_3class")
    assert Top(entropy)(view_of(proba), 2).tolist() == GOLDEN["G1.top2_of_P"]


def cal_view() -> View:
    proba, embedding = torch.cat([UNLABELLED_PROBA, LABELLED_PROBA]), torch.cat([UNLABELLED, LABELLED])
    return view_of(proba, embedding, labelled=range(6, 10))


@pytest.mark.parametrize(
    ("score", "name"),
    [
        (Cal(2), "G2.cal_score_normalised"),
        (Cal(2, normalise=False), "G2.cal_score_raw_features"),
        (Cal(10), "G2.k_larger_than_labelled"),
    ],
)
def test_g2_cal(score: Cal, name: str) -> None:
    close(score(cal_view())[:6], name)


def test_g2_neighbours_and_rank() -> None:
    normalise = torch.nn.functional.normalize
    found = nearest_points(normalise(UNLABELLED), normalise(LABELLED), 2)
    assert found.tolist() == GOLDEN["G2.neighbours_normalised"]
    assert nearest_points(UNLABELLED, LABELLED, 2).tolist() == GOLDEN["G2.neighbours_raw_features"]
    assert Top(Cal(2))(cal_view(), 6).tolist() == GOLDEN["G2.cal_rank"]
    assert Top(Cal(2, normalise=False))(cal_view(), 6).tolist() == GOLDEN["G2.cal_rank_raw"]


def test_trap_1_cal_direction_and_neighbours() -> None:
    found = Cal(2)(cal_view())[:6]
    assert not torch.allclose(found, golden("G2.WRONG_direction_KL"))
    assert not torch.allclose(found, golden("G2.small_text_scale"))


def lloyd(points: torch.Tensor, weights: torch.Tensor | None, start: list[float]) -> Partition:
    return kmeans(points, weights, k=len(start), rng=np.random.default_rng(0), start=tensor(start)[:, None])


def test_g6_weighted_kmeans() -> None:
    weighted = lloyd(LINE, SCORES, [0, 5, 10])
    close(weighted.centres[:, 0], "G6.centres_weighted")
    assert weighted.labels.tolist() == GOLDEN["G6.labels_weighted"]
    assert weighted.inertia == pytest.approx(GOLDEN["G6.weighted_inertia"], abs=1e-8)
    plain = lloyd(LINE, None, [0, 5, 10])
    close(plain.centres[:, 0], "G6.centres_unweighted")
    assert plain.labels.tolist() == GOLDEN["G6.labels_unweighted"]


def test_g6b_weights_change_the_partition() -> None:
    points = torch.arange(8.0, dtype=torch.float64)[:, None]
    weighted = lloyd(points, tensor([0.9, 0.8, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]), [0, 1])
    close(weighted.centres[:, 0], "G6b.centres_weighted")
    assert weighted.labels.tolist() == GOLDEN["G6b.labels_weighted"]
    plain = lloyd(points, None, [0, 1])
    close(plain.centres[:, 0], "G6b.centres_unweighted")
    assert plain.labels.tolist() == GOLDEN["G6b.labels_unweighted"]


def test_g7_region_heat() -> None:
    found = heat(SCORES, PREDICTED, REGION, classes=3, beta=0.5)
    close(found, "G7.u(beta=0.5)")
    close(heat(SCORES, PREDICTED, REGION, classes=3, beta=0.0), "G7.U")
    close(heat(0 * SCORES, PREDICTED, REGION, classes=3, beta=1.0), "G7.I")
    assert (-found).sort(stable=True).indices.tolist() == GOLDEN["G7.clusters_high_to_low"]


@pytest.mark.parametrize(("counts", "name"), [((5, 5), "5_5"), ((8, 2), "8_2")])
def test_trap_3_region_entropy_is_of_shares_in_nats(counts: tuple[int, int], name: str) -> None:
    predicted = torch.tensor([0] * counts[0] + [1] * counts[1])
    nothing = torch.zeros(10, dtype=torch.int64)
    found = heat(nothing.double(), predicted, nothing, classes=2, beta=1.0)
    close(found[0], f"G7.paper_I_for_counts_{name}")


@pytest.mark.parametrize(("m", "n"), [(2, 4), (2, 5), (2, 8), (3, 10), (3, 12), (5, 4)])
def test_g8_query_with_carry_over(m: int, n: int) -> None:
    assert Hottest(LINE_REGIONS, m)(line_view(), n).tolist() == GOLDEN[f"G8.M{m}_B{n}"]["picked"]


def test_g8_without_regions() -> None:
    assert Top(given_scores)(line_view(), 4).tolist() == GOLDEN["G8.ablation_without_RS_B4"]


@pytest.mark.parametrize(("low", "high"), [(0.8, 0.9), (0.7, 0.8), (0.8, 1.0)])
def test_g9_momentum(low: float, high: float) -> None:
    found = tensor([momentum(round, 10, low, high) for round in range(1, 11)])
    close(found, f"G9.paper_mL{low}_mH{high}_t1..10")


def test_g10_remembered_predictions() -> None:
    memory = Memory(entropy, "predictions", low=0.8, high=0.9)
    state = None
    for round, proba in enumerate(ROUNDS):
        view = view_of(proba)
        state = memory.update(view, state, Pace(round, 10))
        assert state is not None
        if round:
            close(torch.from_numpy(state), f"G10.pred_g{round}")
            close(memory.ranking(view, state), f"G10.entropy_g{round}")
        if round == 1:
            trusted, _ = Surest(replace(memory, low=1.0, high=1.0), Anywhere(), 3)(view, state, Pace(1, 10))
            assert trusted.rows.tolist() == GOLDEN["G10.order_low_to_high_by_f1"]
            assert memory.ranking(view, state).sort(stable=True).indices.tolist() == [1, 2, 0]
    assert memory.targets(view, state).tolist() == GOLDEN["G10.pseudo_label_from_g2"]


def test_g10_remembered_scores() -> None:
    memory = Memory(entropy, "scores", low=0.8, high=0.9)
    state = None
    for round, proba in enumerate(ROUNDS):
        view = view_of(proba)
        state = memory.update(view, state, Pace(round, 10))
        close(memory.ranking(view, state), f"G10.value_g{round}")
    assert memory.ranking(view, state).sort(stable=True).indices.tolist() == GOLDEN["G10.order_low_to_high_by_value_g2"]


def test_g10_example_of_the_paper() -> None:
    memory = Memory(entropy, "predictions", low=0.8, high=0.8)
    view = view_of(tensor([[0.05, 0.95]]))
    state = memory.update(view, np.array([[0.65, 0.35]]), Pace(1, 10))
    assert state is not None
    close(torch.from_numpy(state)[0], "G10.paper_text_example_m0.8")
    found = torch.cat([entropy(view), memory.ranking(view, state)])
    close(found, "G10.paper_text_example_entropies")


@pytest.mark.parametrize(("growth", "name"), [(3, "G11.S_paper(bottom-3 in C_s)"), (6, "G11.S_paper_k=6")])
def test_g11_trusted_rows(growth: int, name: str) -> None:
    view = line_view()
    asked = Hottest(LINE_REGIONS, 2)(view, 4)
    assert asked.tolist() == GOLDEN["G11.queried"]
    memory = Memory(given_scores, "scores")
    trusted, _ = Surest(memory, Calmest(LINE_REGIONS, 1), growth)(view.without(asked), None, Pace(0, 10))
    assert trusted.rows.tolist() == golden(name).tolist()
    anywhere, _ = Surest(memory, Anywhere(), 3)(view.without(asked), None, Pace(0, 10))
    assert anywhere.rows.tolist() == GOLDEN["G11.S_code(bottom-3 over whole pool)"]


@pytest.mark.parametrize(
    ("growth", "pool", "name"),
    [
        (3000, 30_001, "G12.paper_k3000_t1..10"),
        (5000, 50_001, "G12.paper_k5000_t1..10"),
        (500, 4965, "G12.paper_k500_t1..10_U4965"),
    ],
)
def test_g12_trusted_rows_grow_up_to_what_the_rule_allows(growth: int, pool: int, name: str) -> None:
    view = view_of(torch.full((pool, 2), 0.5))
    training = Surest(Memory(entropy, "nothing"), Anywhere(), growth)
    assert [len(training(view, None, Pace(round, 10))[0]) for round in range(10)] == GOLDEN[name]
