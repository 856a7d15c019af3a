"""What a request becomes: the words of the user, completed by the task, wherever one stands."""

from __future__ import annotations

from pathlib import Path

from actune.models.sources import fetch, find_model
from actune.session.request import make_request


def test_what_is_left_open_comes_from_the_task(questions):
    request = make_request(questions, simulated=True)
    plan = questions.plan
    assert (request.data, request.method, request.model) == ("questions", "actune", "minilm")
    assert (request.initial, request.batch, request.rounds) == (plan.initial, plan.batch, plan.rounds)
    assert make_request(questions).rounds == 0  # a project has no planned end


def test_symbols_and_names_are_one_request(questions):
    assert make_request(questions, changes={"K": "20"}) == make_request(questions, changes={"regions": 20.0})


def test_a_models_folder_is_found_again_from_anywhere(questions, tmp_path, monkeypatch):
    (tmp_path / "encoder").symlink_to(fetch(find_model("minilm")))
    monkeypatch.chdir(tmp_path)
    assert Path(make_request(questions, model="encoder").model) == tmp_path / "encoder"
    assert make_request(questions, model="minilm").model == "minilm"
