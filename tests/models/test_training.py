"""The training loop: its batches, its schedule, its checkpoints and its luck."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from actune.core.classifier import Readout
from actune.core.objective import Objective
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet, WeakRows
from actune.core.view import View
from actune.methods.queries import Top
from actune.methods.uncertainty import entropy
from actune.models.training import (
    endless,
    epochs_of,
    learning_rates,
    linear_schedule,
    plan_batches,
    ramp,
    train,
)
from actune.models.weights import Weights
from tests.models.tiny import Plain, plain_descent, spied, training_of

ROWS, CLASSES = 40, 3
POINTS = torch.randn(ROWS, 6, generator=torch.Generator().manual_seed(7))
RECIPE = Training(
    learning_rate=0.05, epochs=3, steps=9, no_fewer_steps=False, dev_every=4, dev_at_epoch_end=False, pseudo_batch=5
)
ALWAYS = Objective(threshold=0.0)
TRUSTED = np.arange(20, 32)


class Trained:
    """One fit of a small network with dropout; remembers its rows and its weights at every step and every look."""

    def __init__(
        self,
        training: TrainingSet,
        objective: Objective = ALWAYS,
        recipe: Training = RECIPE,
        streams: Streams = Streams(0),  # noqa: B008
        accuracies: list[float] | None = None,
    ) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            self.network = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, CLASSES))
        self.rows: list[list[int]] = []
        self.steps: list[torch.Tensor] = []  # the weights after each step
        self.looks: list[int] = []  # the steps after which dev was read
        self.modes: list[bool] = []
        self.accuracies = accuracies
        look = None if accuracies is None else self.look
        fitting = Plain(self.network, self.logits_of)
        train(fitting, training, objective, recipe, streams, look, self.progress)

    def logits_of(self, rows: torch.Tensor) -> torch.Tensor:
        self.rows.append(rows.tolist())
        self.modes.append(self.network.training)
        logits: torch.Tensor = self.network(POINTS[rows])
        return logits

    def look(self) -> float:
        assert not self.network.training and self.accuracies is not None
        self.network(POINTS)  # reading dev draws no dropout
        self.looks.append(len(self.steps))
        return self.accuracies[(len(self.looks) - 1) % len(self.accuracies)]

    def progress(self, stage: str, done: int, total: int) -> None:
        assert stage == "train" and done == len(self.steps) + 1 <= total
        self.steps.append(self.weights.clone())

    @property
    def weights(self) -> torch.Tensor:
        return torch.cat([parameter.detach().flatten() for parameter in self.network.parameters()])


def batches_of(
    training: TrainingSet, objective: Objective = ALWAYS, recipe: Training = RECIPE, round: int = 0
) -> list[Any]:
    planned = plan_batches(training, objective, recipe, Streams(0, round))
    return [(batch.labelled.tolist(), batch.trusted.tolist(), batch.epoch_ends) for batch in planned]


# batches


@pytest.mark.parametrize("labelled", [1, 3, 7, 8, 9, 20])
def test_an_epoch_meets_every_labelled_row_once(labelled: int) -> None:
    batches = batches_of(training_of(labelled))
    steps = -(-labelled // 8)
    assert len(batches) == 3 * steps
    for epoch in range(3):
        met = [place for rows, _, _ in batches[epoch * steps : (epoch + 1) * steps] for place in rows]
        assert sorted(met) == list(range(labelled))
    assert all(0 < len(rows) <= 8 and not trusted for rows, trusted, _ in batches)


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(1, 40), st.integers(1, 5))
def test_endless_batches_are_full_and_cover_evenly(count: int, size: int, passes: int) -> None:
    used = min(size, count)
    batches = list(islice(endless(count, size, np.random.default_rng(0)), passes * count))
    assert all(len(batch) == used for batch in batches)
    counts = Counter(np.concatenate(batches).tolist())
    assert counts == dict.fromkeys(range(count), passes * used)


def test_with_trusted_rows_there_are_as_many_steps_as_the_recipe_says() -> None:
    batches = batches_of(training_of(20, 12))
    assert len(batches) == RECIPE.steps
    assert all(len(rows) == 8 and len(trusted) == 5 and not ends for rows, trusted, ends in batches)
    few = batches_of(training_of(3, 2))
    assert all(sorted(rows) == [0, 1, 2] and sorted(trusted) == [0, 1] for rows, trusted, _ in few)


@pytest.mark.parametrize("labels, most, expected", [(20, 2000, 60), (200, 2000, 375), (200, 100, 100), (3, 2000, 60)])
def test_a_fit_with_trusted_rows_is_as_long_as_one_on_the_labels_alone(labels: int, most: int, expected: int) -> None:
    recipe = replace(RECIPE, epochs=15, steps=60, most_steps=most, no_fewer_steps=True)
    assert len(plan_batches(training_of(labels, 12), ALWAYS, recipe, Streams(0))) == expected
    alone = len(plan_batches(training_of(labels), ALWAYS, recipe, Streams(0)))
    assert expected == max(60, min(alone, most))
    shorter = replace(recipe, no_fewer_steps=False)
    assert len(plan_batches(training_of(labels, 12), ALWAYS, shorter, Streams(0))) == 60
    least = Objective(threshold=0.0, most_steps=10)
    assert len(plan_batches(training_of(200, 12), least, recipe, Streams(0))) == min(375, most)


def test_an_objective_may_want_fewer_steps_with_trusted_rows_and_never_more() -> None:
    fewer = Objective(threshold=0.0, most_steps=RECIPE.steps - 1)
    assert len(plan_batches(training_of(20, 12), fewer, RECIPE, Streams(0))) == RECIPE.steps - 1
    assert len(plan_batches(training_of(20), fewer, RECIPE, Streams(0))) == len(batches_of(training_of(20)))
    assert Objective(most_steps=500).steps(150) == 150 and Objective().steps(150) == 150


def test_the_order_is_the_streams_and_every_round_has_another() -> None:
    for training in (training_of(20), training_of(20, 12)):
        assert batches_of(training) == batches_of(training) != batches_of(training, round=1)


def test_labelled_rows_come_in_the_same_order_with_other_trusted_rows() -> None:
    """Methods compared under one seed share their luck."""
    few, many = batches_of(training_of(20, 6)), batches_of(training_of(20, 18))
    assert [rows for rows, _, _ in few] == [rows for rows, _, _ in many]


def test_rows_labels_and_targets_stay_together() -> None:
    """Scattered rows learn their own class by heart: any shift between rows, labels and targets would show."""
    rows = np.random.default_rng(1).permutation(ROWS)
    classes = rows * 7 % CLASSES
    trusted = PseudoLabels(rows[10:30], classes[10:30], np.ones(20, np.float32))
    training = TrainingSet(rows[:10], classes[:10], trusted)
    table = nn.Embedding(ROWS, CLASSES)
    recipe = replace(RECIPE, learning_rate=1.0, steps=60)
    train(Plain(table, table), training, ALWAYS, recipe, Streams(0))
    assert table.weight.argmax(1)[rows[:30]].tolist() == classes[:30].tolist()


def test_a_step_sees_labelled_rows_first() -> None:
    fit = Trained(training_of(20, 12))
    assert all(max(rows[:8]) < 20 <= min(rows[8:]) for rows in fit.rows)


# schedule and optimizer


def test_the_rate_rises_over_a_tenth_and_falls_in_a_line() -> None:
    factors = [linear_schedule(100, 0.1)(step) for step in range(101)]
    assert factors[:10] == pytest.approx([0.1 * step for step in range(1, 11)])
    assert np.diff(factors[10:]) == pytest.approx(-1 / 90)
    assert max(factors) == 1 and factors[99] > 0 and factors[100] == 0


@settings(deadline=None)
@given(st.integers(1, 500), st.floats(0, 1))
def test_every_step_learns_something_and_one_learns_most(steps: int, warmup: float) -> None:
    factors = [linear_schedule(steps, warmup)(step) for step in range(steps)]
    assert min(factors) > 0 and max(factors) == 1
    top = factors.index(1)
    assert factors[: top + 1] == sorted(factors[: top + 1])
    assert factors[top:] == sorted(factors[top:], reverse=True)


@pytest.mark.parametrize("scale", [100.0, 0.001])
def test_gradients_are_clipped_and_the_schedule_is_applied(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With plain descent the length of a step is rate x factor x clipped gradient."""
    recipe = replace(RECIPE, clip=0.5, learning_rate=1.0)
    monkeypatch.setattr(torch.optim, "AdamW", plain_descent)
    point = nn.Parameter(torch.zeros(2, dtype=torch.float64))
    network = nn.ParameterList([point])
    places = [point.detach().clone()]
    train(
        Plain(network, lambda rows: scale * point.expand(len(rows), 2)),
        TrainingSet(np.arange(8), np.zeros(8, np.int64), PseudoLabels.none()),
        ALWAYS,
        replace(recipe, epochs=10),
        Streams(0),
        progress=lambda *_: places.append(point.detach().clone()),
    )
    factor = linear_schedule(10, 0.1)
    for step, (before, after) in enumerate(pairwise(places)):
        error = (scale * before).softmax(0) - torch.tensor([1.0, 0.0], dtype=torch.float64)
        length = min(0.5, (scale * error).norm().item())
        assert (after - before).norm().item() == pytest.approx(factor(step) * length, rel=1e-4, abs=1e-12)


def test_vectors_do_not_decay() -> None:
    network = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Embedding(5, 4))
    network[2].requires_grad_(False)
    decaying, still = Weights(network, replace(RECIPE, weight_decay=0.3)).optimizer.param_groups
    assert decaying["params"] == [network[0].weight] and decaying["weight_decay"] == 0.3
    assert [id(p) for p in still["params"]] == [id(p) for p in (network[0].bias, network[1].weight, network[1].bias)]
    assert still["weight_decay"] == 0
    assert all(group["lr"] == RECIPE.learning_rate and group["eps"] == 1e-8 for group in (decaying, still))


# dev


@pytest.mark.parametrize(
    ("at_epoch_end", "trusted", "expected"),
    [(False, 0, [4, 8, 9]), (True, 0, [3, 4, 6, 8, 9]), (True, 12, [4, 8, 9])],
)
def test_when_dev_is_read(at_epoch_end: bool, trusted: int, expected: list[int]) -> None:
    recipe = replace(RECIPE, dev_at_epoch_end=at_epoch_end)
    assert Trained(training_of(20, trusted), recipe=recipe, accuracies=[0.5]).looks == expected


@pytest.mark.parametrize(
    ("accuracies", "best"),
    [([0.2, 0.6, 0.4], 8), ([0.5, 0.5, 0.5], 4), ([0.1, 0.2, 0.3], 9), ([0.0, 0.0, 0.0], 4), ([0.1, 0.7, 0.7], 8)],
)
def test_the_earliest_best_checkpoint_is_kept(accuracies: list[float], best: int) -> None:
    fit = Trained(training_of(20), accuracies=accuracies)
    assert fit.looks == [4, 8, 9]
    assert torch.equal(fit.weights, fit.steps[best - 1])
    assert not fit.network.training


def test_without_dev_the_last_step_is_kept() -> None:
    fit = Trained(training_of(20))
    assert torch.equal(fit.weights, fit.steps[-1]) and len(fit.steps) == 9
    assert not torch.equal(fit.steps[0], fit.steps[-1]) and not fit.network.training


def test_looking_at_dev_does_not_change_the_training() -> None:
    blind, looking = Trained(training_of(20, 12)), Trained(training_of(20, 12), accuracies=[0.5])
    assert all(torch.equal(*pair) for pair in zip(blind.steps, looking.steps, strict=True))
    assert all(blind.modes) and all(looking.modes)  # dropout is on again after a look


# luck


def test_the_global_generators_are_untouched() -> None:
    torch.manual_seed(11)
    np.random.seed(11)
    before, legacy = torch.get_rng_state(), np.random.get_state(legacy=False)["state"]["key"].copy()
    first = Trained(training_of(20, 12))
    assert torch.equal(torch.get_rng_state(), before)
    assert (np.random.get_state(legacy=False)["state"]["key"] == legacy).all()
    torch.manual_seed(12)
    assert torch.equal(Trained(training_of(20, 12)).weights, first.weights)


@pytest.mark.parametrize("trusted", [0, 12])
def test_the_same_streams_give_the_same_weights(trusted: int) -> None:
    training = training_of(20, trusted)
    first = Trained(training)
    assert torch.equal(first.weights, Trained(training).weights)
    assert not torch.equal(first.weights, Trained(training, streams=Streams(0, 1)).weights)
    assert not torch.equal(first.weights, Trained(training, streams=Streams(1, 0)).weights)


def test_the_callers_mode_does_not_stop_the_training() -> None:
    """An interrupt may land where torch switches gradients back on, and leave them off."""
    with torch.no_grad():
        aside = Trained(training_of(20)).weights
    assert torch.equal(aside, Trained(training_of(20)).weights)


@pytest.mark.parametrize("objective", [Objective(weight=0.0), Objective(threshold=1.0)])
def test_no_weight_or_a_shut_gate_is_plain_training(objective: Objective) -> None:
    plain, with_trusted = Trained(training_of(20), objective), Trained(training_of(20, 12), objective)
    assert plain.rows == with_trusted.rows
    assert torch.equal(plain.weights, with_trusted.weights)
    assert not torch.equal(plain.weights, Trained(training_of(20, 12), ALWAYS).weights)


def test_frozen_weights_stay() -> None:
    frozen = nn.Linear(6, 6)
    network = nn.Sequential(frozen.requires_grad_(False), nn.Linear(6, CLASSES))
    before = frozen.weight.clone()
    train(
        Plain(network, lambda rows: network(POINTS[rows])),
        training_of(20),
        ALWAYS,
        replace(RECIPE, weight_decay=0.5),
        Streams(0),
        lambda: 0.5,
    )
    assert torch.equal(frozen.weight, before)


# how many steps, and how large


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param(100, 15, id="13 steps an epoch"),
        pytest.param(1000, 15, id="125 steps an epoch: 1,875 in all"),
        pytest.param(1072, 14, id="134 steps an epoch: 15 would be 2,010"),
        pytest.param(5000, 3, id="625 steps an epoch"),
        pytest.param(100_000, 1, id="one epoch at least"),
        pytest.param(1, 15, id="one label"),
    ],
)
def test_epochs_fit_into_the_most_steps(labels: int, expected: int) -> None:
    assert epochs_of(labels, Training()) == expected
    planned = plan_batches(training_of(labels), ALWAYS, Training(), Streams(0))
    assert len(planned) == expected * -(-labels // 8)


def test_pseudo_labels_may_have_another_rate_and_a_constant_one() -> None:
    recipe = Training(learning_rate=0.1, pseudo_rate=0.5)
    factor = linear_schedule(50, 0.1)
    alone, beside = learning_rates(50, recipe, trusting=False), learning_rates(50, recipe, trusting=True)
    constant = learning_rates(50, replace(recipe, pseudo_constant=True), trusting=True)
    for step in range(50):
        assert alone(step) == pytest.approx(0.1 * factor(step))
        assert beside(step) == pytest.approx(0.05 * factor(step))
        assert constant(step) == pytest.approx(0.05)
    assert learning_rates(50, replace(recipe, pseudo_constant=True), trusting=False)(49) == alone(49)


@pytest.mark.parametrize("trusted", [0, 12])
def test_the_rate_of_pseudo_labels_is_applied_where_there_are_some(trusted: int) -> None:
    usual = Trained(training_of(20, trusted))
    other = Trained(training_of(20, trusted), recipe=replace(RECIPE, pseudo_rate=0.5))
    assert torch.equal(usual.weights, other.weights) is (trusted == 0)


# what a step is given


def test_trap_4_targets_and_weights_are_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = spied(monkeypatch)
    Trained(training_of(20, 12))
    assert len(batches) == 9
    for batch in batches:
        assert batch["labels"].shape == (8,) and batch["targets"].shape == batch["weights"].shape == (5,)


def test_the_ramp_starts_at_nothing_and_ends_at_all_of_it() -> None:
    assert [ramp(step, 5, 30, 1.0) for step in (0, 4, 5, 10, 30, 99)] == pytest.approx([0, 0, 0, 0.2, 1, 1])
    assert ramp(3, begin=3, end=3, highest=2.0) == 2


def test_a_ramp_scales_the_weights_of_the_pseudo_labels_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    training = training_of(20, 12)
    training.pseudo_labels.weights[:] = np.linspace(0.5, 2, 12)
    batches = spied(monkeypatch)
    for objective in (replace(ALWAYS, ramp=True), ALWAYS):
        Trained(training, objective, replace(RECIPE, steps=40))
    rising, flat = batches[:40], batches[40:]
    for step, (one, other) in enumerate(zip(rising, flat, strict=True)):
        torch.testing.assert_close(one["weights"], ramp(step, 2, 12, 1.0) * other["weights"])
        assert one["weights"].dtype == torch.float32
        assert all(torch.equal(one[name], other[name]) for name in ("rows", "labels", "targets"))
    assert not rising[0]["weights"].any() and rising[12]["weights"].all()


def test_a_ramp_lets_the_first_steps_learn_from_labels_alone() -> None:
    rising, ignoring = (
        Trained(
            TrainingSet(np.arange(20), np.arange(20) % CLASSES, PseudoLabels(TRUSTED, TRUSTED % CLASSES, weights)),
            replace(ALWAYS, ramp=rises),
            replace(RECIPE, steps=40),
        )
        for rises, weights in ((True, np.ones(12, np.float32)), (False, np.zeros(12, np.float32)))
    )
    same = [torch.equal(*pair) for pair in zip(rising.steps, ignoring.steps, strict=True)]
    assert same.index(False) == 3 and not any(same[3:])  # a twentieth of the steps, and the one where it begins


# what asks


def test_trap_15_the_best_checkpoint_is_the_one_that_asks() -> None:
    """The questions are those of the network as it stood at its best look at dev, not as it stood at the end."""

    def asked(weights: torch.Tensor) -> list[int]:
        network = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, CLASSES)).eval()
        nn.utils.vector_to_parameters(weights, network.parameters())
        with torch.no_grad():
            log_proba = network(POINTS).log_softmax(1)
        return Top(entropy)(View(Readout(log_proba, POINTS), range(20, ROWS), range(20), labels=[0] * 20), 5).tolist()

    fit = Trained(training_of(20), accuracies=[0.9, 0.2, 0.3])
    assert fit.looks == [4, 8, 9]
    assert asked(fit.weights) == asked(fit.steps[3]) != asked(fit.steps[8])


def weak_training(labelled: int = 8, mass: int = 10, trusted: bool = False) -> TrainingSet:
    weak = WeakRows(np.arange(10, 20), np.arange(10) % CLASSES, np.full(10, 0.1), mass, until=0.5)
    pseudo = PseudoLabels.none()
    if trusted:
        pseudo = PseudoLabels(TRUSTED, TRUSTED % CLASSES, np.ones(len(TRUSTED), np.float32))
    return TrainingSet(np.arange(labelled), np.arange(labelled) % CLASSES, pseudo, weak)


@pytest.mark.parametrize("balanced_batches", [False, True])
@pytest.mark.parametrize("trusted", [False, True])
def test_weak_rows_come_first_and_answers_have_the_last_word(balanced_batches: bool, trusted: bool) -> None:
    recipe = replace(RECIPE, labelled_batch=4, epochs=20, balanced_batches=balanced_batches, steps=60)
    training = weak_training(trusted=trusted)
    batches = plan_batches(training, ALWAYS, recipe, Streams(0))
    assert len(batches) == (60 if trusted else 20 * 5)  # as with ten more labels
    first, last = batches[: len(batches) // 2], batches[len(batches) // 2 :]
    assert any(place >= 8 for batch in first for place in batch.labelled)
    assert all(place < 8 for batch in last for place in batch.labelled)
    assert {int(place) for batch in last for place in batch.labelled} == set(range(8))
    assert all(bool(len(batch.trusted)) == trusted for batch in batches)
    again = plan_batches(training, ALWAYS, recipe, Streams(0))
    assert all((one.labelled == other.labelled).all() for one, other in zip(batches, again, strict=True))


def test_weak_rows_bring_their_own_labels() -> None:
    rows, labels = weak_training().supervised
    assert rows.tolist() == [*range(8), *range(10, 20)]
    assert labels.tolist() == [*(np.arange(8) % CLASSES), *(np.arange(10) % CLASSES)]
