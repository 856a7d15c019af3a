"""The preset `released` against the numbers of the authors' scripts: METHODS G7, G9, G11, G12, G13 and section 6."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from actune.core.objective import NO_GATE, Objective
from actune.core.settings import Settings
from actune.data.tasks import card
from actune.methods.memory import Memory, Pace
from actune.methods.method import Method
from actune.methods.queries import Top
from actune.methods.recipes import build
from actune.methods.regions import Calmest, Hottest, Regions, heat
from actune.methods.released import ReleasedTrust, as_released, ramp_size
from actune.methods.trust import Surest
from actune.methods.uncertainty import Cal, entropy
from actune.testing.views import view_of
from tests.golden.inputs import GOLDEN, PREDICTED, REGION, SCORES, close, given_scores, golden, line_view, tensor
from tests.golden.test_g13 import LABELLED, STORED, TRUSTED
from tests.models.tiny import loss_of

FIRST = Pace(0, 10)


# G7: the diversity of a region


def test_g7_region_heat_by_the_largest_class() -> None:
    close(heat(SCORES, PREDICTED, REGION, classes=3, beta=0.5, by_largest=True), "G7.u_as_released")
    close(heat(0 * SCORES, PREDICTED, REGION, classes=3, beta=1.0, by_largest=True), "G7.I_as_released")


@pytest.mark.parametrize(("counts", "name"), [((5, 5), "5_5"), ((8, 2), "8_2")])
def test_g7_an_even_region_counts_as_a_pure_one(counts: tuple[int, int], name: str) -> None:
    predicted = torch.tensor([0] * counts[0] + [1] * counts[1])
    nothing = torch.zeros(10, dtype=torch.int64)
    found = heat(nothing.double(), predicted, nothing, classes=2, beta=1.0, by_largest=True)
    close(found[0], f"G7.released_I_for_counts_{name}")


def test_g7_regions_of_the_preset_have_that_heat() -> None:
    """Mini-batches of 256 hold all ten points, and the three groups are far apart: only the numbering is open."""
    parts = Regions(given_scores, k=3, beta=0.5, released=True)(line_view())
    assert [parts.region.tolist().index(number) for number in parts.order] == [3, 0, 6]  # the first row of each
    close(parts.heat[parts.region[[0, 3, 6]]], "G7.u_as_released")


# G9: the memory


@pytest.mark.parametrize(("low", "high"), [(0.9, 1.0), (0.7, 0.9)])
@pytest.mark.parametrize("remembers", ["predictions", "scores"])
def test_g9_the_first_update_has_m_low_and_the_last_one_m_high(low: float, high: float, remembers: str) -> None:
    """From nothing remembered to one: what is remembered then is m_t itself."""
    memory = Memory(lambda view: view.log_proba.exp()[:, 0], remembers, low, high, late=True)  # type: ignore[arg-type]
    view = view_of(tensor([[1.0, 0.0]]))
    before = np.array([[0.0, 1.0]]) if remembers == "predictions" else np.array([0.0])
    found = [np.ravel(memory.update(view, before, Pace(round, 10)))[0] for round in range(1, 10)]
    close(tensor(found), f"G9.code_gmin{low}_g{high}_R10_i1..9")


@pytest.mark.parametrize("horizon", [1, 2])
def test_a_run_of_two_rounds_takes_m_high_where_the_scripts_divide_by_zero(horizon: int) -> None:
    memory = Memory(entropy, low=0.7, high=0.9, late=True)
    state = memory.update(view_of(tensor([[1.0, 0.0]])), np.array([[0.0, 1.0]]), Pace(1, horizon))
    np.testing.assert_allclose(state, [[0.9, 0.1]])  # type: ignore[arg-type]


# G11: which rows are trusted


def test_g11_trusted_rows_come_from_the_whole_pool() -> None:
    regions = Regions(given_scores, k=3, beta=0.5)
    paper = Method(
        Hottest(regions, 2), Surest(Memory(given_scores, "scores"), Calmest(regions, 1), growth=3), Objective()
    )
    view = line_view()
    rest = view.without(paper.query(view, 4))
    rules = [paper.self_training, as_released(paper, Settings(growth=3)).self_training]
    found = [rule(rest, None, FIRST)[0].rows.tolist() for rule in rules if rule]
    assert found == [GOLDEN["G11.S_paper(bottom-3 in C_s)"], GOLDEN["G11.S_code(bottom-3 over whole pool)"]]


@pytest.mark.parametrize(("gate", "weights"), [(0.5, [0.55, 0.9]), (0.6, [0.0, 0.9]), (0.9, [0.0, 0.0])])
def test_memory_ranks_and_the_current_model_labels_and_weighs(gate: float, weights: list[float]) -> None:
    """The current model is surer of row 0; the memory is of row 1, and there of the other class."""
    view = view_of(tensor([[0.1, 0.9], [0.45, 0.55]]))
    trust = ReleasedTrust(Memory(entropy, low=0.5, high=0.5, late=True), growth=2, first=2, gate=gate)
    found, state = trust(view, np.array([[0.9, 0.1], [1.0, 0.0]]), Pace(1, 2))
    np.testing.assert_allclose(state, [[0.5, 0.5], [0.725, 0.275]])  # type: ignore[arg-type]
    assert found.rows.tolist() == [1, 0] and found.targets.tolist() == [1, 1]
    assert found.weights.tolist() == pytest.approx(weights)
    np.testing.assert_allclose(found.proba, [[0.45, 0.55], [0.1, 0.9]], rtol=1e-6)  # type: ignore[arg-type]


# G12: how many rows are trusted


@pytest.mark.parametrize(
    ("task", "horizon", "rounds", "name"),
    [
        ("ag_news", 10, range(10), "G12.code_agnews_pool5000_min6000_R10_i0..9"),
        ("sst2", 10, range(10), "G12.code_sst2_pool3000_min6000_R10"),
        ("pubmed_sections", 10, range(10), "G12.code_pubmed_pool3000_min3000_R10"),
        ("dbpedia14", 40, (0, 1, 2, 39), "G12.code_dbpedia_pool4000_min5000_R40_first3_last"),
    ],
)
def test_g12_trusted_rows_grow_as_in_the_scripts(task: str, horizon: int, rounds: range, name: str) -> None:
    """With the task's own table of the preset, and a pool that has more rows than are ever trusted."""
    settings = Settings(**card(task).released["settings"])  # type: ignore[arg-type]
    trust = as_released(build("actune", settings), settings).self_training
    assert isinstance(trust, ReleasedTrust)
    view = view_of(torch.full((max(GOLDEN[name]) + 1, 2), 0.5))
    assert [len(trust(view, None, Pace(round, horizon))[0]) for round in rounds] == GOLDEN[name]


@pytest.mark.parametrize(("round", "horizon", "expected"), [(9, 10, 50), (25, 10, 50), (0, 1, 6), (3, 1, 6)])
def test_a_run_that_goes_on_trusts_no_more_than_at_its_planned_end(round: int, horizon: int, expected: int) -> None:
    assert ramp_size(round, growth=5, first=6, horizon=horizon) == expected


def test_without_a_first_number_the_ramp_is_that_of_the_paper() -> None:
    settings = Settings(growth=7, growth_start=0)
    trust = as_released(build("actune", settings), settings).self_training
    assert trust is not None
    view = view_of(torch.full((100, 2), 0.5))
    assert [len(trust(view, None, Pace(round, 10))[0]) for round in range(10)] == [7 * t for t in range(1, 11)]


# G13: the loss


def test_g13_the_loss_is_half_and_half_and_each_row_keeps_its_own_weight() -> None:
    """From the stored predictions to the loss; the scripts' own total mixes the rows and is not repeated."""
    settings = Settings(threshold=0.6, weight=1.0, growth=4)
    method = as_released(build("actune", settings), settings)
    assert method.self_training is not None
    chosen, _ = method.self_training(view_of(STORED), None, FIRST)
    by_row = torch.from_numpy(chosen.rows.argsort())
    weights, targets = torch.from_numpy(chosen.weights)[by_row].double(), torch.from_numpy(chosen.targets)[by_row]
    proba = torch.as_tensor(chosen.proba)[by_row].double()
    logits = torch.cat([LABELLED, TRUSTED]).log()
    labels = torch.zeros(2, dtype=torch.int64)
    found = loss_of(logits, labels, targets, weights, method.objective, proba=proba).item()
    halves = (golden("G13.ce_labelled").mean() + golden("G13.intended_mean")) / 2
    assert found == pytest.approx(halves.item(), abs=1e-6)  # what is stored is float32
    assert found != pytest.approx(golden("G13.code_total").item(), abs=1e-3)


def test_lambda_and_the_power_of_the_loss_are_those_of_the_settings() -> None:
    settings = Settings(weight=0.4, power=0.8, threshold=0.7)
    method = as_released(build("actune", settings), settings)
    assert method.objective == Objective(0.2, NO_GATE, supervised=0.5, targets="sharpened", power=0.8)
    assert isinstance(method.self_training, ReleasedTrust) and method.self_training.gate == 0.7


# which methods the preset changes


def test_cal_takes_embeddings_as_they_are() -> None:
    raw = Cal(10, normalise=False)
    assert as_released(build("cal", Settings()), Settings()) == replace(build("cal", Settings()), query=Top(raw))
    method = as_released(build("actune-cal", Settings()), Settings())
    assert method.query == Hottest(Regions(raw, k=25, beta=0.5, released=True), 5)
    assert isinstance(method.self_training, ReleasedTrust)
    assert method.self_training.memory == Memory(raw, "scores", late=True)


@pytest.mark.parametrize("name", ["random", "entropy", "badge", "bald", "st", "ust", "asst", "ceal", "hast"])
def test_methods_that_the_scripts_do_not_change_stay_as_they_are(name: str) -> None:
    method = build(name, Settings())
    assert as_released(method, Settings()) == method
