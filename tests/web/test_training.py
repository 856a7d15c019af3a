"""The trainer: a model arrives while people label, and neither a killed trainer nor a killed server is in the way."""

from __future__ import annotations

import io
import os
import signal
import time
import zipfile
from pathlib import Path

import pytest

from tests.web.serving import Served, serve

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")
LONG = 240  # seconds on a busy machine


@pytest.fixture(scope="module")
def learning(texts, tmp_path_factory) -> Served:
    server = serve(texts, "--labels", "a,b", "--port", "0", "--batch", "10", "--initial", "10",
                   "--out", str(tmp_path_factory.mktemp("learning") / "project"))  # fmt: skip
    yield server
    server.kill()


def wait_until(client, true, seconds: float = LONG) -> dict:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        state = client.get("/state").json()
        if true(state):
            return state
        time.sleep(0.3)
    raise AssertionError(state["training"])


def answer(client, ids: list[str]) -> None:
    said = [{"client": f"t-{id}", "id": id, "kind": "label", "label": "ab"[len(id) % 2]} for id in ids]
    assert client.post("/answers", json={"answers": said}).status_code == 200


def trainer_of(served: Served) -> list[int]:
    """The processes that the server has started."""
    tasks = Path(f"/proc/{served.process.pid}/task").glob("*/children")
    return [int(pid) for task in tasks for pid in task.read_text().split()]


def test_a_model_arrives_in_the_background_and_can_be_taken_away(learning, tmp_path):
    import actune

    with learning.program() as client:
        assert client.get("/models").json() == {"models": []}
        answer(client, [f"q{row}" for row in range(14)])
        state = wait_until(client, lambda state: state["model"] is not None)
        assert state["model"]["round"] == 0
        found = client.get("/models").json()["models"]
        assert [each["newest"] for each in found] == [True]
        ahead = client.get("/progress").json()
        assert sum(each["answers"] for each in ahead["classes"]) == 14 and ahead["stop"]["reason"]
        assert [each["labels"] for each in ahead["curve"]] == [state["model"]["knows"]]
        points = client.get("/map").json()
        (size,) = {len(points[name]) for name in ("ids", "x", "y", "predicted", "confidence", "label", "state")}
        assert size >= 66 - 13 and 0 < size - points["label"].count(None) <= 14  # audit texts may stand aside
        asked = client.get("/questions?n=5").json()["questions"]
        assert any(each["suggestion"] for each in asked)
        free = next(each["id"] for each in asked if each["suggestion"])
        why = client.get(f"/texts/{free}/why").json()
        assert len(why["top"]) == 2 and why["neighbors"] and why["memory"]
        archive = client.get(f"/models/{found[0]['name']}", timeout=LONG)
        zipfile.ZipFile(io.BytesIO(archive.content)).extractall(tmp_path)
        model = actune.load(tmp_path / found[0]["name"])
        assert model.predict(["Where is Bonn ?"])[0].label in ("a", "b")
        assert client.get("/models/..%2f..%2fweb").status_code == 404
    learning.check_nothing_is_left()


def test_a_killed_trainer_is_told_about_and_started_again(learning):
    with learning.program() as client:
        wait_until(client, lambda state: state["training"]["state"] == "idle")
        answer(client, [f"q{row}" for row in range(20, 35)])
        wait_until(client, lambda state: state["training"]["state"] != "idle")
        for pid in trainer_of(learning):
            os.kill(pid, signal.SIGKILL)
        state = wait_until(client, lambda state: state["training"]["state"] == "failed")
        assert "exit code -9" in state["training"]["error"]
        before = state["model"]["round"]
        client.post("/train", json={})
        wait_until(client, lambda state: state["model"]["round"] > before)


def test_the_end_of_the_server_is_the_end_of_its_trainer(learning):
    pids = trainer_of(learning)
    assert pids
    folder = learning.folder
    learning.kill()
    wait_for_the_end_of(pids)
    again = serve(folder, "--port", "0")
    with again.program() as client:
        wait_until(client, lambda state: state["training"]["state"] != "waiting")
    pids = trainer_of(again)
    assert "every answer is saved" in again.end(signal.SIGHUP)
    assert again.process.returncode == 0
    wait_for_the_end_of(pids)


def wait_for_the_end_of(pids: list[int]) -> None:
    end = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < end
        time.sleep(0.1)
