"""Texts for several people over the interface: nobody sees the other, and only an owner decides."""

from __future__ import annotations

from itertools import count

import httpx
import pytest

from tests.web.serving import Served, serve
from tests.web.test_accounts import PASSWORD, logged_in

NUMBERS = count()


@pytest.fixture(scope="module")
def shared(texts, tmp_path_factory) -> Served:
    from actune.web.accounts import Accounts

    words = ("--labels", "a,b,c", "--overlap", "1", "--port", "0", "--no-training")
    server = serve(texts, *words, "--out", str(tmp_path_factory.mktemp("p") / "project"))
    accounts = Accounts(server.folder)
    for name, role in (("anna", "annotator"), ("ben", "annotator"), ("cleo", "annotator"), ("olga", "owner")):
        accounts.add(name, role, PASSWORD)
    yield server
    server.kill()


@pytest.fixture
def people(shared):
    clients = {name: logged_in(shared, name) for name in ("anna", "ben", "cleo", "olga")}
    yield clients
    for client in clients.values():
        client.close()


def said(id: str, kind: str, label: str | None = None) -> dict:
    return {"client": f"o-{next(NUMBERS)}", "id": id, "kind": kind} | ({"label": label} if label else {})


def say(client: httpx.Client, *answers: dict) -> httpx.Response:
    return client.post("/api/v1/answers", json={"answers": list(answers)})


def asked(client: httpx.Client, n: int) -> list[str]:
    return [each["id"] for each in client.get(f"/api/v1/questions?n={n}").json()["questions"]]


@pytest.fixture
def conflict(people) -> str:
    """A text that anna and ben have just given different classes, with a note of anna."""
    hers, his = asked(people["anna"], 10), asked(people["ben"], 10)
    id = next(each for each in hers if each in his)
    assert say(people["anna"], said(id, "label", "a")).status_code == 200
    note = {"client": f"o-{next(NUMBERS)}", "id": id, "note": "secret of anna"}
    assert people["anna"].post("/api/v1/remarks", json=note).status_code == 200
    assert say(people["ben"], said(id, "label", "b")).status_code == 200
    return id


def test_the_second_person_sees_nothing_of_the_first(people, conflict):
    ben = people["ben"]
    paths = [
        f"/texts/{conflict}",
        "/history?limit=1000",
        "/review/disagreements",
        "/review/near-duplicates",
        f"/texts/{conflict}/why",
        "/progress",
    ]
    for path in paths:
        found = ben.get(f"/api/v1{path}")
        assert found.status_code == 200 and "anna" not in found.text, path
    text = ben.get(f"/api/v1/texts/{conflict}").json()
    assert (text["answer"]["label"], [word["by"] for word in text["words"]], text["remarks"]) == ("b", ["ben"], [])
    rows = [row for row in ben.get("/api/v1/history?limit=1000").json()["rows"] if row["id"] == conflict]
    assert [(row["label"], row["before"]) for row in rows] == [("b", None)]
    assert say(ben, said(conflict, "label", "c")).json()["saved"][0]["before"] is None
    third = people["cleo"].get(f"/api/v1/texts/{conflict}").json()
    assert (third["answer"], third["words"]) == (None, [])
    everything = people["olga"].get(f"/api/v1/texts/{conflict}").json()
    assert [word["by"] for word in everything["words"]] == ["anna", "ben"]


def test_pages_of_the_history_go_on_where_answers_are_hidden(people, conflict):
    def pages(client, limit):
        rows, before = [], None
        while True:
            words = {"limit": limit} | ({"before": before} if before else {})
            found = client.get("/api/v1/history", params=words).json()
            rows += found["rows"]
            if not found["more"]:
                return [row["number"] for row in rows]
            before = rows[-1]["number"]

    for name in ("anna", "ben", "olga"):
        whole = people[name].get("/api/v1/history?limit=1000").json()["rows"]
        assert pages(people[name], 1) == [row["number"] for row in whole]


def test_an_annotator_clears_what_she_said_and_nothing_else(people, conflict):
    assert say(people["anna"], said(conflict, "clear")).status_code == 200
    words = people["olga"].get(f"/api/v1/texts/{conflict}").json()["words"]
    assert [(word["by"], word["label"]) for word in words if word["kind"] == "label"] == [("ben", "b")]


def test_a_short_list_is_full_where_something_is_hidden(people, conflict):
    """The newest answers are on a text that cleo may not see; she still gets as many as she asks for."""
    (own,) = [each for each in asked(people["cleo"], 10) if each != conflict][:1]
    assert say(people["cleo"], said(own, "label", "a")).status_code == 200
    for label in "cacaca":
        assert say(people["ben"], said(conflict, "label", label)).status_code == 200
    found = people["cleo"].get("/api/v1/history?limit=1").json()["rows"]
    assert [(row["id"], row["by"]) for row in found] == [(own, "cleo")]


def test_only_an_owner_sees_the_list_and_decides(people, conflict):
    for name in ("anna", "ben"):
        assert people[name].get("/api/v1/review/adjudication").status_code == 403
        refused = say(people[name], said(conflict, "decide", "a"))
        assert refused.status_code == 403 and "only an owner" in refused.json()["error"]
    olga = people["olga"]
    found = olga.get("/api/v1/review/adjudication").json()
    row = next(row for row in found["rows"] if row["id"] == conflict)
    assert [(each["by"], each["label"], each["note"]) for each in row["answers"]] == [
        ("anna", "a", "secret of anna"),
        ("ben", "b", None),
    ]
    decision = said(conflict, "decide", "c")
    one, two = say(olga, decision), say(olga, decision)
    assert one.status_code == two.status_code == 200 and one.json()["saved"] == two.json()["saved"]
    after = olga.get("/api/v1/review/adjudication").json()
    assert after["total"] == found["total"] - 1 and conflict not in {row["id"] for row in after["rows"]}
    assert say(people["ben"], said(conflict, "label", "a")).status_code == 200
    assert say(people["anna"], said(conflict, "clear")).status_code == 200
    answer = olga.get(f"/api/v1/texts/{conflict}").json()["answer"]
    assert answer == {"kind": "decide", "label": "c", "by": "olga"}
    assert say(olga, said(conflict, "retract")).status_code == 200
    assert olga.get(f"/api/v1/texts/{conflict}").json()["answer"]["label"] == "a"


def test_only_an_owner_sees_who_agrees_with_whom(people, conflict):
    found = {name: people[name].get("/api/v1/progress").json()["agreement"] for name in ("anna", "olga")}
    assert found["olga"]["pairs"][0]["people"] == ["anna", "ben"] and found["anna"]["pairs"] == []
    assert found["olga"]["alpha"] == found["anna"]["alpha"] is not None


def test_a_third_person_is_refused_while_two_hold_a_text(people):
    held = set(asked(people["anna"], 3)) & set(asked(people["ben"], 20))
    assert held
    id = min(held)
    refused = say(people["cleo"], said(id, "label", "a"))
    assert refused.status_code == 409 and refused.json()["code"] == "lease"
    assert not held & set(asked(people["cleo"], 50))
    assert say(people["anna"], said(id, "label", "a")).status_code == 200
    assert say(people["ben"], said(id, "label", "a")).status_code == 200


def test_words_that_need_a_label_or_none(people, conflict):
    assert say(people["olga"], said(conflict, "retract", "a")).status_code == 422
    assert say(people["olga"], said(conflict, "label")).status_code == 422
    assert say(people["olga"], said(conflict, "decide")).status_code == 200  # leaves it out
    assert people["olga"].get(f"/api/v1/texts/{conflict}").json()["answer"]["label"] is None
