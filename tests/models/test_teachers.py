"""Within a fit: a student that becomes its own teacher, a teacher that was written down, and an adversary."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import nn

from actune.core.objective import NO_GATE, Objective
from actune.core.settings import Training
from actune.core.streams import Streams
from actune.core.training_set import PseudoLabels, TrainingSet
from actune.models.tokens import NamedTensors
from actune.models.training import train
from tests.models.tiny import Plain, plain_descent, spied, training_of

ROWS, CLASSES = 40, 3
POINTS = torch.randn(ROWS, 6, generator=torch.Generator().manual_seed(7))
RECIPE = Training(learning_rate=0.05, epochs=3, steps=9, pseudo_batch=5)


class Taught(Plain):
    """A student that counts what it is asked about itself, and how it stood then."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__(network, lambda rows: network(POINTS[rows]))
        self.asked: list[list[int]] = []
        self.reading: list[bool] = []
        self.said: list[torch.Tensor] = []

    def log_proba(self, rows: npt.NDArray[np.int64]) -> torch.Tensor:
        self.asked.append(rows.tolist())
        self.reading.append(not self.network.training)
        self.said.append(super().log_proba(rows).exp())
        return self.said[-1].log()


SOFT = Objective(1.0, NO_GATE, targets="soft", certainty=0.0, teacher_every=1 / 3)


def taught(objective: Objective, training: TrainingSet) -> Taught:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        fitting = Taught(nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, CLASSES)))
    train(fitting, training, objective, RECIPE, Streams(0))
    return fitting


def test_the_student_becomes_the_teacher_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine steps in three thirds: before each, the student says what the rows of the coming three steps are."""
    batches = spied(monkeypatch)
    fitting = taught(SOFT, training_of(20, 12))
    assert len(fitting.asked) == 3 and all(fitting.reading)
    for third, (rows, said) in enumerate(zip(fitting.asked, fitting.said, strict=True)):
        coming = batches[3 * third : 3 * third + 3]
        assert rows == sorted({int(row) for batch in coming for row in batch["rows"][8:]})
        of_row = dict(zip(rows, said, strict=True))
        for batch in coming:
            expected = torch.stack([of_row[int(row)] for row in batch["rows"][8:]])
            torch.testing.assert_close(batch["proba"], expected)
    assert not torch.equal(fitting.said[0][:3], fitting.said[2][:3])
    assert not fitting.network.training


def test_a_teacher_changes_neither_the_luck_nor_a_loss_that_does_not_listen() -> None:
    quiet = taught(Objective(threshold=0.0), training_of(20, 12))
    asked = taught(Objective(threshold=0.0, teacher_every=0.1), training_of(20, 12))
    assert not quiet.asked and len(asked.asked) == 9
    pairs = zip(quiet.network.parameters(), asked.network.parameters(), strict=True)
    assert all(torch.equal(*pair) for pair in pairs)


def test_without_trusted_rows_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = spied(monkeypatch)
    fitting = taught(SOFT, training_of(20))
    assert fitting.asked == [] and all("proba" not in batch for batch in batches)


def test_a_stored_teacher_says_what_it_said(monkeypatch: pytest.MonkeyPatch) -> None:
    proba = np.random.default_rng(0).dirichlet([1, 1, 1], 12).astype(np.float32)
    trusted = PseudoLabels(np.arange(20, 32), proba.argmax(1), np.ones(12, np.float32), proba)
    training = TrainingSet(np.arange(20), np.arange(20) % CLASSES, trusted)
    batches = spied(monkeypatch)
    fitting = taught(replace(SOFT, targets="sharpened", teacher_every=0.0), training)
    assert fitting.asked == []
    for batch in batches:
        assert torch.equal(batch["proba"], torch.from_numpy(proba)[batch["rows"][8:] - 20])


# adversaries


class Attacked(Plain):
    """What an adversary costs is given, and it remembers whom it was asked about."""

    def adversarial(self, batch: NamedTensors, epsilon: float) -> torch.Tensor:
        self.attacked = [*getattr(self, "attacked", []), (batch["rows"].tolist(), epsilon)]
        return epsilon * self.logits_of(batch["rows"])[:, 0].mean()


@pytest.mark.parametrize("trusted", [0, 12])
def test_an_adversary_meets_the_trusted_rows_and_its_cost_is_added(
    trusted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With plain descent and one step, what it adds to the loss is what it adds to the weights."""
    monkeypatch.setattr(torch.optim, "AdamW", plain_descent)
    recipe = replace(RECIPE, steps=1, epochs=1, labelled_batch=20, learning_rate=1.0, clip=1e9)

    def after(adversarial: float) -> tuple[torch.Tensor, Attacked]:
        table = nn.Embedding(ROWS, CLASSES)
        nn.init.zeros_(table.weight)
        fitting = Attacked(table, table)
        objective = Objective(threshold=0.0, adversarial=adversarial, perturbation=3.0)
        train(fitting, training_of(20, trusted), objective, recipe, Streams(0))
        return table.weight.detach(), fitting

    (plain, quiet), (moved, attacked) = after(0.0), after(0.5)
    assert not hasattr(quiet, "attacked")
    if not trusted:
        assert torch.equal(plain, moved) and not hasattr(attacked, "attacked")
        return
    ((rows, epsilon),) = attacked.attacked
    assert len(rows) == 5 and min(rows) >= 20 and epsilon == 3.0
    expected = torch.zeros(ROWS, CLASSES)
    expected[rows, 0] = -0.5 * 3.0 / 5
    torch.testing.assert_close(moved - plain, expected)
