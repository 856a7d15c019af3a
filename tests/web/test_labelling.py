"""What a person does on the page, by the requests that the page sends."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import subprocess
import sys
import time
from itertools import count

import httpx
import pytest

from actune.data.exchange import TOOLS, records_in
from actune.store.store import Store
from tests.web.conftest import HOSTILE
from tests.web.serving import Served, serve

NUMBERS = count()


@pytest.fixture(scope="module")
def page(texts, tmp_path_factory) -> Served:
    """A project that begins without classes."""
    server = serve(texts, "--port", "0", "--no-training", "--out", str(tmp_path_factory.mktemp("page") / "project"))
    yield server
    server.kill()


@pytest.fixture
def client(page):
    with page.program() as client:
        yield client


def said(id: str, kind: str, label: str | None = None, **more: object) -> dict:
    found = {"client": f"l-{next(NUMBERS)}", "id": id, "kind": kind, **more}
    return found | ({"label": label} if label else {})


def answer(client: httpx.Client, *answers: dict) -> dict:
    found = client.post("/answers", json={"answers": list(answers)})
    assert found.status_code == 200, found.text
    return found.json()


def change(client: httpx.Client, **words: object) -> dict:
    body = {"change": words, "client": f"l-{next(NUMBERS)}"}
    preview = client.post("/classes/preview", json={"change": words}).json()
    found = client.post("/classes/changes", json=body)
    assert found.status_code == 200, found.text
    assert found.json()["sentence"] == preview["sentence"]
    assert client.post("/classes/changes", json=body).status_code == 200  # the same request changes nothing more
    return preview


def test_a_project_begins_with_writing_its_classes_down(client):
    assert client.get("/state").json()["project"]["classes"] == []
    names = [{"name": "food", "description": "what is eaten"}, {"name": "animal"}, {"name": "<b>bold</b>"}]
    body = {"names": names, "client": "first"}
    for _ in range(2):  # the page may repeat it
        found = client.post("/classes", json=body)
        assert found.status_code == 200, found.text
    classes = client.get("/state").json()["project"]["classes"]
    assert [(each["name"], each["key"], each["description"]) for each in classes] == [
        ("food", "1", "what is eaten"),
        ("animal", "2", None),
        ("<b>bold</b>", "3", None),
    ]
    again = client.post("/classes", json={"names": names, "client": "second"})
    assert again.status_code == 422 and "already" in again.json()["error"]


def test_an_answer_is_saved_once_however_often_it_is_sent(client):
    first = said("q1", "label", "food", seconds=1.5)
    one, two = answer(client, first), answer(client, first)
    assert one["saved"][0]["number"] and one["saved"][0]["before"] is None
    assert one["state"]["labels"] == two["state"]["labels"]
    rows = client.get("/history", params={"by": "person"}).json()["rows"]
    assert [(row["id"], row["label"], row["seconds"]) for row in rows] == [("q1", "food", 1.5)]


def test_every_kind_of_answer_and_what_stood_before(client):
    answer(client, said("q2", "label", "food"))
    found = answer(client, said("q2", "label", "animal"))["saved"][0]
    assert found["before"] == {"kind": "label", "label": "food"}
    assert answer(client, said("q2", "clear"))["saved"][0]["before"] == {"kind": "label", "label": "animal"}
    assert client.get("/texts/q2").json()["answer"] is None
    answer(client, said("q2", "unsure"))
    assert client.get("/texts/q2").json()["answer"]["kind"] == "unsure"
    answer(client, said("q2", "unskip"))
    assert client.get("/texts/q2").json()["answer"] is None


def test_questions_are_not_asked_again_and_go_on_without_a_model(client):
    seen: set[str] = set()
    for _ in range(8):
        asked = [each["id"] for each in client.get("/questions?n=5").json()["questions"]]
        assert asked and not seen & set(asked)
        seen |= set(asked)
        answer(client, *(said(id, "label", ("food", "animal")[len(id) % 2]) for id in asked))
    assert len(seen) == 40


def test_a_picked_text_comes_first_and_says_so(client):
    assert client.post("/queue", json={"ids": ["x5", "x1"], "client": "pick"}).status_code == 200
    asked = client.get("/questions?n=3").json()["questions"]
    assert [(each["id"], each["picked"]) for each in asked[:2]] == [("x5", True), ("x1", True)]
    assert asked[1]["text"] == HOSTILE[1]


def test_audit_texts_are_asked_and_never_led(client):
    state = client.get("/state").json()["audit"]
    assert state["planned"] > 0 and not state["released"]
    found = client.get("/questions?n=50").json()["questions"]
    assert all(each["suggestion"] is None for each in found if each["audit"])
    assert client.post("/audit/release", json={}).json()["state"]["audit"]["released"]


def test_notes_and_flags_belong_to_a_text(client):
    note = "<img src=x onerror=alert(1)> ; DROP TABLE"
    assert client.post("/remarks", json={"client": "n1", "id": "q3", "note": note, "flag": True}).status_code == 200
    found = client.get("/texts/q3").json()
    assert (found["note"], found["flag"]) == (note, True)
    client.post("/remarks", json={"client": "n2", "id": "q3", "flag": False})
    assert client.get("/texts/q3").json()["flag"] is False


def test_history_is_searched_and_turned_page_by_page(client):
    pages, before = [], None
    while True:
        found = client.get("/history", params={"limit": 7, **({"before": before} if before else {})}).json()
        pages += [row["number"] for row in found["rows"]]
        if not found["more"]:
            break
        before = found["rows"][-1]["number"]
    assert pages == sorted(pages, reverse=True) and len(set(pages)) == len(pages) > 40
    found = client.get("/history", params={"label": "animal"}).json()["rows"]
    assert found and all(row["label"] == "animal" for row in found)
    word = client.get("/texts/q1").json()["text"].split()[1]
    assert "q1" in [row["id"] for row in client.get("/history", params={"search": word.upper()}).json()["rows"]]
    assert client.get("/history", params={"search": "no text has this"}).json() == {"rows": [], "more": False}


def test_classes_change_with_a_preview_and_are_taken_back(client):
    before = {each["name"]: each["answers"] for each in client.get("/state").json()["project"]["classes"]}
    preview = change(client, kind="merge", old="food", into="animal")
    assert preview["answers_moved"] == before["food"]
    assert client.get("/state").json()["undo_classes"]
    now = {each["name"]: each["answers"] for each in client.get("/state").json()["project"]["classes"]}
    assert now["animal"] == before["food"] + before["animal"] and "food" not in now
    undone = client.post("/classes/undo", json={})
    assert undone.status_code == 200
    after = {each["name"]: each["answers"] for each in client.get("/state").json()["project"]["classes"]}
    assert after == before
    change(client, kind="rename", old="food", new="meal")
    change(client, kind="add", name="drink")
    change(client, kind="split", old="meal", into=["breakfast", "supper"])
    assert change(client, kind="retire", name="meal")["texts_reopened"] == before["food"]
    wrong = client.post("/classes/preview", json={"change": {"kind": "rename", "old": "no class", "new": "x"}})
    assert wrong.status_code == 422 and "no class" in wrong.json()["error"]
    assert client.post("/classes/preview", json={"change": {"kind": "burn", "name": "x"}}).status_code == 422


def test_the_state_is_sent_only_when_it_has_changed(client):
    first = client.get("/state")
    tag = {"If-None-Match": first.headers["etag"]}
    assert client.get("/state", headers=tag).status_code == 304
    answer(client, said("q4", "label", "animal"))
    assert client.get("/state", headers=tag).status_code == 200


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
def test_an_export_is_a_download_and_safe_for_spreadsheets(page, client, format):
    answer(client, said("x2", "label", "animal"))
    found = client.get("/export", params={"format": format})
    assert found.status_code == 200
    assert found.headers["content-disposition"].startswith(f'attachment; filename="project.{format}"')
    page.check_nothing_is_left()
    if format in ("csv", "jsonl"):
        lines = io.StringIO(found.content.decode("utf-8-sig"))
        rows = list(csv.DictReader(lines)) if format == "csv" else [json.loads(line) for line in lines]
        (row,) = [row for row in rows if row["id"] == "x2"]
        assert row["label"] == "animal" and row["source"] == "human"
        assert row["text"] == ("'" if format == "csv" else "") + HOSTILE[2]


def exported(page, target, *words):
    """What the command writes of the same project."""
    command = [sys.executable, "-m", "actune", "export", str(page.folder), "--to", str(target), *words]
    subprocess.run(command, check=True, capture_output=True)
    return target.read_bytes()


@pytest.mark.parametrize("tool", TOOLS)
def test_an_export_for_another_tool_is_that_of_the_command(page, client, tool, tmp_path):
    answer(client, said("x2", "label", "animal"), said("x3", "skip"))
    found = client.get("/export", params={"format": tool})
    assert found.headers["content-disposition"].startswith(f'attachment; filename="project-{tool}.json"')
    config = tmp_path / f"classes{TOOLS[tool].configuration}"
    words = ("--format", tool)
    assert found.content == exported(page, tmp_path / "some.json", *words, "--config", str(config))
    records = {record.id: record for record in records_in(found.json())}
    assert records["x2"].given[-1].label == "animal" and "x3" not in records

    everything = client.get("/export", params={"format": tool, "all": True})
    assert everything.content == exported(page, tmp_path / "all.json", *words, "--all")
    assert {"x3", "q59"} <= {record.id for record in records_in(everything.json())}
    classes = client.get("/export", params={"format": tool, "config": True})
    assert classes.headers["content-disposition"].endswith(f'-classes{TOOLS[tool].configuration}"')
    assert classes.content == config.read_bytes() and b"animal" in classes.content
    page.check_nothing_is_left()


def test_an_export_of_all_texts_has_skipped_ones(page, client, tmp_path):
    answer(client, said("x3", "skip"))
    found = client.get("/export", params={"format": "csv", "all": True})
    assert found.content == exported(page, tmp_path / "all.csv", "--all")
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(found.content.decode("utf-8-sig")))}
    assert len(rows) == client.get("/state").json()["project"]["texts"]
    assert rows["x3"]["skipped"] == "yes" and any(row["label"] == row["skipped"] == "" for row in rows.values())
    refused = client.get("/export", params={"format": "csv", "config": True})
    assert refused.status_code == 422 and "label-studio" in refused.json()["error"]


def test_what_is_not_there_has_a_sentence(client):
    for path in ("/texts/no such text", "/map", "/models/none", "/no/such/route"):
        found = client.get(path)
        assert found.status_code == 404 and found.json()["error"], path
    assert client.get("/review/disagreements").json() == {"rows": []}
    assert client.get("/review/pseudo-labels").json()["total"] == 0
    assert client.get("/texts/q1/why").json()["memory"] == []


def test_a_locked_database_is_a_503_and_nothing_is_lost(page, client):
    """Another program holds the database: the request is refused with a time to try again, and then it goes through."""
    body = {"answers": [said("q5", "label", "animal")]}
    held = sqlite3.connect(page.folder / "run.db", isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    refused = client.post("/answers", json=body, timeout=60)
    assert (refused.status_code, refused.json()["code"]) == (503, "busy")
    assert refused.headers["retry-after"] and time.monotonic() - began < 15
    assert client.get("/state").status_code == 200  # reading goes on
    held.execute("ROLLBACK")
    held.close()
    assert client.post("/answers", json=body).json()["saved"][0]["number"]


def test_the_same_command_goes_on_with_the_same_texts_at_the_same_place(texts, tmp_path):
    server = serve(texts, "--labels", "a,b", "--port", "0", "--no-training", "--out", str(tmp_path / "project"))
    with server.program() as client, server.browser() as browser:
        asked = client.get("/questions?n=3").json()
        answer(client, said(asked["questions"][0]["id"], "label", "a"))
        rest = client.get("/questions?n=2").json()
        server.kill()
        again = serve(texts, "--no-training", "--out", str(tmp_path / "project"))
        assert again.url == server.url
        assert client.get("/questions?n=2").json() == rest
        assert browser.get("/api/v1/state").json()["labels"] == 1  # the cookie outlives the server
    assert "every answer is saved" in again.end()
    with Store.reading(again.folder) as store:
        assert [answer.label for answer in store.answers()] == [0]
