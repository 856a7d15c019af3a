"""What the preset `released` makes of a task: its settings, its training and the size of its pool."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from actune.core.settings import Training
from actune.core.task import Task
from actune.data.tasks import card
from actune.models.training import learning_rates
from actune.session.request import make_request
from actune.session.resolve import settings_of, training_of
from actune.session.setup import find_task
from tests.cli.conftest import write

SCHEDULE = {"warmup": 0.05, "pseudo_rate": 0.25, "pseudo_constant": True}
LENGTHS = {"epochs": 10, "steps": 1500, "dev_every": 30}  # of SST-2


@pytest.fixture
def sst2(questions: Task) -> Task:
    """The tables of SST-2 over another pool."""
    known = card("sst2")
    return replace(questions, settings=known.settings, training=dict(known.training), released=known.released)


def changed(task: Task, learner: str, device: str, changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """The training values that the preset alone makes different."""
    paper, released = (
        vars(training_of(make_request(task, preset=preset, recipe="paper"), task, learner, device, changes or {}))
        for preset in ("paper", "released")
    )
    return {name: value for name, value in released.items() if value != paper[name]}


def test_the_schedule_is_the_scripts_and_shorter_recipes_keep_their_lengths(sst2: Task) -> None:
    assert changed(sst2, "finetune", "cuda") == SCHEDULE | LENGTHS
    assert changed(sst2, "finetune", "cpu") == changed(sst2, "probe", "cuda") == SCHEDULE


def test_what_the_user_sets_stands_above_the_preset(sst2: Task) -> None:
    assert changed(sst2, "finetune", "cuda", {"warmup": 0.2, "steps": 7}) == {
        name: value for name, value in (SCHEDULE | LENGTHS).items() if name not in ("warmup", "steps")
    }
    request = make_request(sst2, preset="released", changes={"gamma": 0.9})
    assert settings_of(request, sst2).threshold == 0.9


def test_the_rates_of_the_scripts() -> None:
    """5e-6 throughout with pseudo-labels; without them 5 % of the steps rise to 2e-5."""
    recipe = Training(**SCHEDULE)  # type: ignore[arg-type]
    with_them, without = (learning_rates(1000, recipe, trusting) for trusting in (True, False))
    assert {with_them(step) for step in range(1000)} == {5e-6}
    rates = [without(step) for step in range(1000)]
    assert max(rates) == pytest.approx(2e-5) and rates.index(max(rates)) == 49


def test_the_settings_are_the_scripts_and_the_paper_keeps_its_own(sst2: Task) -> None:
    paper, released = (settings_of(make_request(sst2, preset=preset), sst2) for preset in ("paper", "released"))
    assert paper == sst2.settings
    assert (released.threshold, released.momentum_low, released.momentum_high) == (0.6, 1.0, 1.0)
    assert (released.growth, released.growth_start, released.regions_used) == (3000, 6000, 7)
    assert released.beta == paper.beta


# the pool


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40,100 short texts of two classes, with dev and test."""
    folder = tmp_path_factory.mktemp("large")
    for name, rows in (("train", 40_100), ("dev", 40), ("test", 50)):
        write(
            folder / f"{name}.csv",
            ["id", "text", "label"],
            [[f"{row}", f"{name} {row}", row % 2] for row in range(rows)],
        )
    return folder


def rows_of(task: Task) -> set[tuple[str, str, int]]:
    return set(zip(task.pool.ids, task.pool.texts, task.pool.labels, strict=True))


def test_the_pool_is_cut_to_20_000_rows_a_class_by_seed(large: Path) -> None:
    whole = find_task(str(large), {}, seed=0)
    one, again, other = (find_task(str(large), {}, seed, "released") for seed in (0, 0, 1))
    assert (len(whole.pool), len(one.pool), len(other.pool)) == (40_100, 40_000, 40_000)
    assert one.pool == again.pool != other.pool
    assert rows_of(one) < rows_of(whole)
    assert (one.dev, one.test) == (whole.dev, whole.test)
    assert one.notes == (*whole.notes, "the pool is a random sample of 40,000 of 40,100 rows: preset released")


def test_a_pool_of_fewer_rows_stays_whole() -> None:
    assert find_task("trec", {}, 0, "released") == find_task("trec", {}, 0, "paper")
