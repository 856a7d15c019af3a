"""Two people at once: no question is asked of both, and each answer knows whose it is."""

from __future__ import annotations

from actune.web.accounts import Accounts
from tests.web.browser.steps import SOON, written
from tests.web.serving import serve

PASSWORD = "correct horse battery"


def test_two_people_never_get_the_same_question(sit_down, started, data, truth):
    labels = ("--labels", "human,location,numeric", "--initial", "40", "--no-training", "--port", "0")
    server = started(serve(data, *labels))
    accounts = Accounts(server.folder)
    for name in ("anna", "ben"):
        accounts.add(name, "annotator", PASSWORD)
    desks = [sit_down(server, truth, login=(name, PASSWORD)) for name in ("anna", "ben")]

    answered = {"anna": [], "ben": []}
    for _ in range(12):  # in turn, so that both fetch more in between
        for desk, texts in zip(desks, answered.values(), strict=True):
            texts.append(desk.answer())
    for desk in desks:
        desk.wait_until_saved()
        assert desk.page.locator("#logout").is_visible()

    assert len({*answered["anna"], *answered["ben"]}) == 24
    by = {row["text"]: row["by"] for row in desks[0].history()}
    assert by == {text: name for name, texts in answered.items() for text in texts}


def test_somebody_for_whom_no_text_is_left_is_told_why(sit_down, started, tmp_path):
    data = written(tmp_path / "few.csv", [f"text {number}" for number in range(8)])
    server = started(serve(data, "--labels", "a,b", "--initial", "8", "--no-training", "--port", "0"))
    accounts = Accounts(server.folder)
    for name in ("anna", "ben"):
        accounts.add(name, "annotator", PASSWORD)
    anna = sit_down(server, login=("anna", PASSWORD))
    assert anna.text
    ben = sit_down(server, login=("ben", PASSWORD))
    ben.see(".face h2", "Other people have the open texts")
    ben.shots_of_all("others")
    assert ben.page.locator(".face a, .face button").all_inner_texts() == ["Progress"]


def test_an_annotator_has_no_buttons_of_an_owner(sit_down, started, data, truth):
    server = started(serve(data, "--labels", "human,location,numeric", "--no-training", "--port", "0"))
    Accounts(server.folder).add("anna", "annotator", PASSWORD)
    desk = sit_down(server, truth, login=("anna", PASSWORD))
    desk.shots_of_all("annotator")
    desk.go("classes")
    desk.see(".class-list li")
    assert desk.page.locator("[data-does=rename], .adder").count() == 0
    desk.go("export")
    desk.see("h2", "Only an owner exports")
    desk.page.click("#logout")
    desk.page.wait_for_selector("input[type=password]", timeout=SOON)
    desk.shots_of_all("login")
