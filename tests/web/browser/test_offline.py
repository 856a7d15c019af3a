"""A server that goes away in the middle: answers wait in the browser, visibly, and none is lost."""

from __future__ import annotations

from tests.web.browser.steps import LATE
from tests.web.serving import serve

QUIET = ("--labels", "human,location,numeric", "--no-training")


def test_answers_wait_for_the_server_and_survive_a_reload(sit_down, started, data, truth):
    server = started(serve(data, *QUIET, "--port", "0"))
    desk = sit_down(server, truth)
    page = desk.page
    sent = desk.label(3)
    desk.wait_until_saved()

    server.kill()
    waiting = desk.label(4)
    desk.see(".banner", "4 answers are kept in this browser")
    assert page.locator("#saved").inner_text() == "4 answers waiting"
    desk.shots_of_all("offline", whole=False)
    page.close()  # what is kept outlives the page

    again = started(serve(data, *QUIET, "--port", str(server.port)))
    desk.server = again
    desk.page = page.context.new_page()
    desk.page.goto(again.url)
    desk.wait_until_saved()
    answers = [row for row in reversed(desk.history()) if row["kind"] == "label"]
    assert [row["text"] for row in answers] == sent + waiting  # all of them, once, in order
    assert [row["label"] for row in answers] == [truth[text] for text in sent + waiting]
    assert desk.answer() not in sent + waiting


def test_answers_arrive_by_themselves_when_the_server_is_back(sit_down, started, data, truth):
    server = started(serve(data, *QUIET, "--port", "0"))
    desk = sit_down(server, truth)
    desk.label(2)
    desk.wait_until_saved()
    server.kill()
    desk.label(2)
    desk.see(".banner", "The server does not answer", LATE)

    desk.server = started(serve(data, *QUIET, "--port", str(server.port)))
    desk.wait_until_saved()
    desk.page.wait_for_selector(".banner", state="detached", timeout=LATE)
    assert desk.state()["labels"] == 4
    desk.label(2)
    desk.wait_until_saved()
    assert desk.state()["labels"] == 6


def test_an_answer_that_the_server_refuses_stays_visible(sit_down, started, data, truth):
    server = started(serve(data, *QUIET, "--port", "0"))
    desk = sit_down(server, truth)
    desk.label(1)
    desk.wait_until_saved()
    refusal = {"error": "this text is with somebody else", "code": "lease"}
    desk.page.route("**/api/v1/answers", lambda route: route.fulfill(status=409, json=refusal))
    desk.answer()
    desk.see(".banner.error", "this text is with somebody else")
    desk.shots_of_all("refused", whole=False)
    desk.page.unroute("**/api/v1/answers")
    desk.page.click(".banner.error button:has-text('Send again')")
    desk.wait_until_saved()
    assert desk.state()["labels"] == 2
    assert desk.page.locator(".banner.error").count() == 0


def test_a_download_that_fails_says_why(sit_down, started, data, truth):
    """A browser itself would say no more than that there is no file."""
    server = started(serve(data, *QUIET, "--port", "0"))
    desk = sit_down(server, truth)
    desk.label(1)
    desk.wait_until_saved()
    desk.go("export")
    refusal = {"error": "the disk is full", "code": "disk"}
    desk.page.route("**/api/v1/export*", lambda route: route.fulfill(status=503, json=refusal))
    desk.page.click("[data-format=xlsx]")
    desk.see(".toast", "The file could not be made: the disk is full")
    desk.page.unroute("**/api/v1/export*")
    with desk.page.expect_download() as download:
        desk.page.click("[data-format=xlsx]")
    assert download.value.suggested_filename == "questions-actune.xlsx"
    server.kill()
    desk.page.click("[data-format=argilla]")
    desk.see(".toast", "The file could not be made: The server does not answer.")
