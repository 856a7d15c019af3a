"""What the page does with a model: suggestions, the map, and the end of a project."""

from __future__ import annotations

import pytest

from tests.web.browser.steps import LATE, questions_of, written
from tests.web.serving import serve


@pytest.fixture(scope="module")
def known():
    return questions_of(("human", "location"), 120)


@pytest.fixture(scope="module")
def trained(known, tmp_path_factory):
    """A project whose first model is there; half of its answers came over the interface for programs."""
    data = written(tmp_path_factory.mktemp("data") / "known.csv", list(known))
    words = ("--labels", "human,location", "--model", "minilm", "--initial", "20", "--batch", "20", "--port", "0")
    server = serve(data, *words)
    with server.program() as client:
        client.timeout = LATE / 1000
        while client.get("/state").json()["model"] is None:
            found = client.get("/questions", params={"n": 5}).json()["questions"]
            answers = [
                {"client": f"c{each['id']}", "id": each["id"], "kind": "label", "label": known[each["text"]]}
                for each in found
            ]
            if answers and client.get("/state").json()["labels"] < 30:
                client.post("/answers", json={"answers": answers})
    yield server
    server.kill()


def shown(desk, most=12):
    """Turns to the next text with a suggestion; audit texts have none."""
    for _ in range(most):
        text = desk.text
        if desk.page.locator(".suggestion").count():
            assert not desk.page.locator(".mark-word", has_text="Audit").count()
            return text
        desk.press("ArrowRight")
        desk.wait_for("text => document.querySelector('#text')?.innerText !== text", text)
    raise AssertionError("no text has a suggestion")


def test_enter_accepts_a_suggestion_and_s_hides_all(sit_down, trained, known):
    desk = sit_down(trained, known)
    text = shown(desk)
    offered = desk.page.locator(".suggestion b").inner_text()
    desk.press("s")
    assert desk.page.locator(".suggestion, .class.suggested").count() == 0
    desk.press("Enter")  # nothing is accepted that nobody sees
    assert desk.text == text
    desk.press("s", "Enter")
    desk.wait_until_saved()
    newest = desk.history()[0]
    assert (newest["text"], newest["label"]) == (text, offered)


def test_an_audit_text_has_no_suggestion(sit_down, trained, known):
    desk = sit_down(trained, known)
    with trained.program() as client:
        found = client.get("/questions", params={"n": 100}).json()["questions"]
    audit = next(each for each in found if each["audit"])
    desk.go(f"label/{audit['id']}")
    desk.wait_for("text => document.querySelector('#text')?.innerText === text", audit["text"])
    desk.see(".mark-word", "Audit text")
    assert desk.page.locator(".suggestion, .class.suggested").count() == 0
    desk.press("w")
    desk.see(".why p", "drawn at random")
    assert desk.page.locator(".why progress, .why .memory").count() == 0  # nothing that would lead the answer


def test_a_click_on_the_map_shows_a_text_and_a_line_queues_texts(sit_down, trained, known):
    desk = sit_down(trained, known)
    page = desk.page
    desk.go("progress")
    canvas = desk.see("canvas.map", timeout=LATE)
    canvas.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    box = canvas.bounding_box()
    with trained.program() as client:
        points = client.get("/map").json()
    row = next(row for row, label in enumerate(points["label"]) if label is None)
    x, y = page.evaluate(
        """async ([points, width, height, row]) => {
            const { placed } = await import('/static/map.js');
            return placed(points, width, height, { scale: 1, x: 0, y: 0 })(row);
        }""",
        [points, box["width"], box["height"], row],
    )
    page.mouse.click(box["x"] + x, box["y"] + y)
    text = desk.see(".told p[dir=auto]").inner_text()
    assert text in known

    corners = [(4, 4), (box["width"] - 4, 4), (box["width"] - 4, box["height"] - 4), (4, box["height"] - 4), (4, 8)]
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    page.mouse.down()
    for right, down in corners:
        page.mouse.move(box["x"] + right, box["y"] + down, steps=4)
    desk.shot("lasso")
    page.mouse.up()
    free = sum(label is None for label in points["label"])
    desk.see(".told", f"{free} unlabelled texts inside the line")
    page.mouse.click(box["x"] + x, box["y"] + y)
    desk.see(".told p[dir=auto]", text)
    page.click(".told button:has-text('Queue')")
    desk.see(".toast", "1 text is asked about next")
    with trained.program() as client:
        picked = {
            each["text"] for each in client.get("/questions", params={"n": 100}).json()["questions"] if each["picked"]
        }
    assert text in picked


def test_on_a_phone_nothing_that_has_the_focus_is_under_the_bars(sit_down, trained, known):
    desk = sit_down(trained, known)
    desk.page.set_viewport_size({"width": 360, "height": 640})
    desk.go("export")
    desk.see("[data-model]", timeout=LATE)
    covered = """() => {
        if (document.activeElement === document.body) return false;
        const { left, right, top, bottom } = document.activeElement.getBoundingClientRect();
        const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return Boolean(found?.closest('.top')) && !document.activeElement.closest('.top');
    }"""
    for way in ("Tab", "Shift+Tab"):
        for _ in range(25):
            desk.press(way)
            desk.page.wait_for_timeout(30)
            assert not desk.page.evaluate(covered), desk.page.evaluate("document.activeElement.innerText")


def test_the_end_of_a_small_project(sit_down, started, tmp_path):
    few = {f"text number {number}": "ab"[number % 2] for number in range(6)}
    data = written(tmp_path / "few.csv", list(few))
    desk = sit_down(started(serve(data, "--labels", "a,b", "--no-training", "--port", "0", "--initial", "6")), few)
    desk.label(6)
    desk.see(".face h2", "All texts are answered")
    desk.shots_of_all("done")
    desk.press("u")
    assert desk.text in few
