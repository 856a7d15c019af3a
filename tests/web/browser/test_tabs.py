"""One person with two tabs: no text is asked twice, undo goes on in either, and a key does what is printed."""

from __future__ import annotations

import pytest

from tests.web.browser.steps import SOON, Desk
from tests.web.serving import serve


@pytest.fixture
def tabs(sit_down, started, data, truth):
    server = started(serve(data, "--labels", "human,location,numeric", "--no-training", "--port", "0"))
    first = sit_down(server, truth)
    second = Desk(first.page.context.new_page(), server, truth, first.shots)
    second.page.goto(server.url)
    second.page.wait_for_selector("#text", timeout=SOON)
    yield first, second
    assert second.problems == []


def test_a_text_that_was_answered_in_another_tab_is_not_asked_again(tabs):
    first, second = tabs
    first.page.bring_to_front()
    done = [first.answer() for _ in range(3)]
    first.wait_until_saved()
    second.page.bring_to_front()
    assert second.text not in done
    here = second.text
    second.page.wait_for_timeout(500)  # here, no tab loses the focus; else the list is written at once
    second.press("u")  # and its answers are undone here
    second.wait_for("text => document.querySelector('#text').innerText === text", done[-1])
    second.wait_until_saved()
    assert [row["kind"] for row in second.history()] == ["retract", "label", "label", "label"]
    assert second.answer() == done[-1] and second.text == here


def test_a_class_that_changes_in_another_tab_changes_here(tabs):
    first, second = tabs
    second.go("classes")
    second.page.locator("[data-class=human] [data-does=retire]").click()
    second.see("dialog .preview")
    second.page.click("dialog button[type=submit]")
    second.see("[data-class=human].retired")
    first.page.bring_to_front()
    first.page.locator(".class[data-label=human]").wait_for(state="detached", timeout=SOON)
    assert first.key_of("location") == "1"
    text = first.answer("location")
    first.wait_until_saved()
    assert (first.history()[0]["text"], first.history()[0]["label"]) == (text, "location")
