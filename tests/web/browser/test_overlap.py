"""Two people answer some of the same texts without seeing each other, disagree, and an owner decides."""

from __future__ import annotations

from actune.web.accounts import Accounts
from tests.web.browser.steps import CLASSES, SOON, Desk
from tests.web.serving import serve

PASSWORD = "correct horse battery"
WRONG = {"human": "location", "location": "numeric", "numeric": "human"}


def label_some(desk: Desk, others: list[str]) -> list[str]:
    """Answers until six texts are among those of others; gives all texts, and answers two of the six with a note."""
    answered: list[str] = []
    while len({*answered} & {*others}) < 6:
        text = desk.text
        shared = len({*answered} & {*others}) if text in others else 6
        assert "anna" not in desk.page.locator("main").inner_text()
        if shared < 2:
            desk.press("n")
            desk.page.keyboard.type("Could be both")
            desk.press("Enter")
        desk.answer(WRONG[desk.truth[text]] if shared < 2 else None)
        answered.append(text)
    return answered


def test_two_people_disagree_and_an_owner_decides(sit_down, started, data, truth):
    words = ("--labels", ",".join(CLASSES), "--overlap", "0.5", "--initial", "40", "--no-training", "--port", "0")
    server = started(serve(data, *words))
    accounts = Accounts(server.folder)
    for name, role in (("anna", "annotator"), ("ben", "annotator"), ("olga", "owner")):
        accounts.add(name, role, PASSWORD)
    anna, ben, olga = (sit_down(server, truth, login=(name, PASSWORD)) for name in ("anna", "ben", "olga"))
    olga.go("review/adjudication")
    olga.see("h2", "Nothing to decide")
    olga.shots_of_all("adjudication-empty")

    hers = anna.label(24)
    anna.wait_until_saved()
    his = label_some(ben, hers)
    ben.wait_until_saved()
    shared = [text for text in his if text in hers]
    assert {*his} - {*hers}, "new questions come between"

    # who takes an answer back leaves that of the other, whom he does not see
    ben.press("u")
    ben.wait_for("text => document.querySelector('#text').innerText === text", his[-1])
    ben.wait_until_saved()
    assert ben.state()["labels"] == len({*hers, *his})
    ben.answer()
    ben.wait_until_saved()
    ben.go("review/history")
    ben.see(".log li")
    assert "anna" not in "".join(ben.page.locator(".log li").filter(has_text=shared[0]).all_inner_texts())
    assert ben.page.locator(".tabs a", has_text="Adjudication").count() == 0
    with ben.page.expect_response("**/review/adjudication") as refused:
        ben.page.evaluate("() => fetch('/api/v1/review/adjudication', {headers: {'X-Actune': '1'}})")
    assert refused.value.status == 403

    olga.go("progress")
    olga.see("#agreement b")
    olga.see("#agreement td")
    olga.shots_of_all("agreement")
    olga.see("#agreement a", "Decide on 2 texts").click()
    olga.see(".opinions li", "anna")
    olga.see(".opinions .remark", "Could be both")
    olga.shots_of_all("adjudication")
    first = olga.text
    assert first in shared[:2]
    olga.press(olga.key_of(truth[first]))
    olga.wait_for("text => document.querySelector('#text').innerText !== text", first)
    second = olga.text
    olga.press("u")  # and once more, by a click
    olga.wait_for("text => document.querySelector('#text').innerText === text", first)
    olga.page.click(f".class[data-label='{truth[first]}']")
    olga.wait_for("text => document.querySelector('#text').innerText === text", second)
    olga.press("Space")
    olga.see("h2", "Nothing to decide")
    olga.wait_until_saved()
    olga.shots_of_all("adjudication-done")

    said = [(row["kind"], row["label"]) for row in olga.history() if row["by"] == "olga"]
    assert said == [("decide", None), ("decide", truth[first]), ("retract", None), ("decide", truth[first])]
    olga.go("review/history")
    olga.see(".log li", f"Decided: {truth[first]}")
    olga.page.reload()
    olga.page.wait_for_selector("main#main > *", timeout=SOON)
    olga.go("review/adjudication")
    olga.see("h2", "Nothing to decide")
    with server.program() as client:
        found = client.get("/progress").json()["agreement"]
    assert found["open"] == 0 and found["texts"] == 6 and found["pairs"][0]["people"] == ["anna", "ben"]
