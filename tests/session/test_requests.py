"""What a request becomes: the words of the user, completed by the task, wherever one stands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from actune.core.progress import silent
from actune.core.task import Task
from actune.models.sources import fetch, find_model
from actune.session.request import make_request
from actune.session.resolve import resolve_request


def test_what_is_left_open_comes_from_the_task(questions):
    request = make_request(questions, simulated=True)
    plan = questions.plan
    assert (request.data, request.method, request.model) == ("questions", "thrifty", "minilm")
    assert (request.initial, request.batch, request.rounds) == (plan.initial, plan.batch, plan.rounds)
    assert make_request(questions).rounds == 0  # a project has no planned end


def test_symbols_and_names_are_one_request(questions):
    assert make_request(questions, changes={"K": "20"}) == make_request(questions, changes={"regions": 20.0})


def test_a_models_folder_is_found_again_from_anywhere(questions, tmp_path, monkeypatch):
    (tmp_path / "encoder").symlink_to(fetch(find_model("minilm")))
    monkeypatch.chdir(tmp_path)
    assert Path(make_request(questions, model="encoder").model) == tmp_path / "encoder"
    assert make_request(questions, model="minilm").model == "minilm"


@pytest.mark.parametrize(
    ("seconds", "learner", "layers", "final"),
    [(50.0, "finetune", 0, False), (100.0, "finetune", 3, False), (130.0, "probe", 0, True)],
)
def test_auto_takes_what_a_round_can_afford(
    questions: Task,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    learner: str,
    layers: int,
    final: bool,
) -> None:
    """The whole encoder, else its upper half, else a probe and one fine-tuning at the end."""
    from actune.models import learners

    def estimate(learner: object, sample: object, sizes: list[learners.RoundSize]) -> list[float]:
        return [seconds] * len(sizes)

    priced = replace(learners.LEARNERS["finetune"], estimate_rounds=estimate)
    monkeypatch.setitem(learners.LEARNERS, "finetune", priced)
    request = make_request(questions, method="random", simulated=True, initial=20, batch=10, rounds=2)
    config = resolve_request(request, questions, silent)
    assert (config.resolved.learner, config.training.train_layers, config.resolved.final) == (learner, layers, final)
    assert f"estimated at {seconds:.0f} s" in " ".join(config.resolved.notes)
