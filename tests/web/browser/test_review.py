"""Near-duplicates, kept disagreements and the regions of pseudo-labels, as a person meets them."""

from __future__ import annotations

import pytest

from tests.web.browser.steps import CLASSES, LATE, questions_of, written
from tests.web.serving import serve

ENDS = ("", " please", " now")


@pytest.fixture(scope="module")
def repeated():
    """Long questions three times with other words at the end, and some others once; with the class of each."""
    found = questions_of(CLASSES, 260)
    long = [text for text in found if len(text.split()) > 11][:40]
    return {f"{text}{end}": found[text] for end in ENDS for text in long} | found


@pytest.fixture
def page(sit_down, started, tmp_path, repeated):
    data = written(tmp_path / "repeated.csv", list(repeated))
    server = started(serve(data, "--labels", ",".join(CLASSES), "--no-training", "--port", "0"))
    return sit_down(server, repeated)


def offered(desk):
    """Answers texts until one has near-duplicates; gives its text."""
    for _ in range(60):
        text = desk.answer()
        desk.wait_for("text => document.querySelector('#text')?.innerText !== text", text)
        if desk.page.locator(".offer [data-does=apply]").count():
            return text
    raise AssertionError("no text with near-duplicates has come")


def test_one_answer_for_all_near_duplicates_and_back(page):
    desk = page
    text = offered(desk)
    assert "2 near-duplicates" in desk.see(".offer").inner_text()
    desk.shots_of_all("near-duplicates-offer", whole=False)
    desk.wait_until_saved()
    labels = desk.state()["labels"]
    desk.press("d")
    desk.see(".toast", "was applied to 2 near-duplicates")
    assert desk.state()["labels"] == labels + 2
    assert not desk.page.locator(".offer [data-does=apply]").count()
    told = [row for row in desk.history() if row["applied"]]
    assert len(told) == 2
    assert {row["text"].removesuffix(" please").removesuffix(" now") for row in told} == {
        text.removesuffix(" please").removesuffix(" now")
    }

    desk.press("u")
    desk.see(".toast", "was taken back from 2 near-duplicates")
    assert desk.state()["labels"] == labels
    desk.press("r")
    desk.see(".toast", "was applied to 2 near-duplicates")
    assert desk.state()["labels"] == labels + 2
    desk.go("review/history")
    desk.see(".log", "applied to a near-duplicate")
    desk.go("label")
    desk.press("u", "r")
    desk.see(".toast", "was applied to 2 near-duplicates")
    desk.page.click(".toast button:has-text('Undo')")
    desk.see(".toast", "was taken back from 2 near-duplicates")
    assert desk.state()["labels"] == labels


def test_a_change_of_an_older_answer_is_undone_to_what_stood_there(page):
    """The history lists all answers; an undo brings back the newest one, not the one in that line."""
    desk = page
    text = desk.answer("human")
    desk.press("u")
    desk.wait_for("text => document.querySelector('#text')?.innerText === text", text)
    desk.answer("location")
    desk.wait_until_saved()
    desk.go("review/history")
    line = desk.page.locator(".log > li").last
    assert "human" in line.inner_text()
    line.locator("[data-does=edit]").click()
    line.locator("select").select_option("numeric")
    line.locator("[data-does=save]").click()
    desk.page.click(".toast button:has-text('Undo')")
    desk.wait_for("text => document.querySelector('#text')?.innerText === text", text)
    desk.wait_until_saved()
    assert [row["label"] for row in desk.history()] == ["location", "numeric", "location", None, "human"]


def test_going_on_leaves_near_duplicates_open(page):
    desk = page
    offered(desk)
    desk.page.click(".offer button[title='Leave them open']")
    assert not desk.page.locator(".offer [data-does=apply]").count()
    desk.wait_until_saved()
    assert not any(row["applied"] for row in desk.history())


def test_the_list_of_near_duplicates(page):
    desk = page
    offered(desk)
    desk.wait_until_saved()
    desk.go("review/near-duplicates")
    desk.see(".groups > li", "3 texts")
    desk.shots_of_all("near-duplicates")
    desk.page.select_option(".filters select", "partly")
    apply = desk.see(".groups [data-does=apply]", "to 2 others")
    labels = desk.state()["labels"]
    apply.click()
    desk.see(".groups .settled", "Applied to 2 texts")
    desk.see(".toast", "was applied to 2")
    assert desk.state()["labels"] == labels + 2
    desk.page.locator(".groups .settled [data-does=undo]").click()
    desk.see(".toast", "was taken back from 2")
    assert desk.state()["labels"] == labels
    desk.page.select_option(".filters select", "differ")
    desk.see(".face", "No group has different labels")
    desk.shots_of_all("near-duplicates-none", whole=False)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A project whose model contradicts some wrong answers, by a method with regions."""
    known = questions_of(("human", "location"), 120)
    data = written(tmp_path_factory.mktemp("data") / "known.csv", list(known))
    words = ("--labels", "human,location", "--model", "minilm", "--initial", "20", "--batch", "20", "--port", "0")
    server = serve(data, *words, "--method", "actune", "--set", "regions=4")
    wrong = 0
    with server.program() as client:
        client.timeout = LATE / 1000
        while client.get("/state").json()["model"] is None:
            found = client.get("/questions", params={"n": 5}).json()["questions"]
            for each in found:
                label = known[each["text"]]
                if not each["audit"] and wrong < 3:
                    label, wrong = ("human" if label == "location" else "location"), wrong + 1
                said = {"client": f"c{each['id']}", "id": each["id"], "kind": "label", "label": label}
                if client.get("/state").json()["labels"] < 30:
                    client.post("/answers", json={"answers": [said]})
    yield server
    server.kill()


def test_a_kept_label_does_not_come_again(sit_down, trained):
    desk = sit_down(trained)
    desk.go("review/disagreements")
    first = desk.see(".log > li", timeout=LATE)
    id = first.get_attribute("data-id")
    first.locator("[data-does=keep]").click()
    desk.see(f".log > li.settled[data-id='{id}']", "Kept.")
    desk.wait_until_saved()
    desk.shots_of_all("disagreements-kept")
    shown = lambda: [row["id"] for row in rows(trained, "disagreements")]  # noqa: E731
    assert id not in shown()
    desk.page.locator(f".log > li[data-id='{id}'] [data-does=undo]").click()
    desk.wait_until_saved()
    assert id in shown()


def test_pseudo_labels_of_one_region(sit_down, trained):
    desk = sit_down(trained)
    desk.go("review/pseudo-labels")
    desk.see(".log > li", timeout=LATE)
    choice = desk.see("select[aria-label='Only this region']")
    values = [option.get_attribute("value") for option in choice.locator("option").all()]
    assert len(values) > 1
    choice.select_option(values[1])
    desk.wait_for(
        "region => [...document.querySelectorAll('.log > li')].every(li => li.innerText.includes(`region ${region}`))",
        values[1],
    )
    assert desk.page.locator(".log > li").count()
    desk.shots_of_all("pseudo-labels-region")


def rows(server, part):
    with server.program() as client:
        return client.get(f"/review/{part}", params={"limit": 500}).json()["rows"]
