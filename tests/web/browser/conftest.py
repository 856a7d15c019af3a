from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.web.browser.steps import CLASSES, Desk, questions_of, written

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
SHOTS = Path(__file__).parents[3] / ".pytest_cache" / "screenshots"


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright: pip install it")
    if CHROMIUM is None:
        pytest.skip("the page is tested in chromium, which is not installed here")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, "--disable-sync"])
        yield found
        found.close()


@pytest.fixture
def sit_down(browser):
    """Opens the page of a server as one more person would; every error of the page fails the test."""
    desks = []

    def sit(server, truth=None, login=None) -> Desk:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        desk = Desk(context.new_page(), server, truth or {}, SHOTS)
        desks.append(desk)
        desk.open(login)
        return desk

    yield sit
    for desk in desks:
        desk.page.context.close()
    assert [problem for desk in desks for problem in desk.problems] == []


@pytest.fixture(scope="session")
def truth():
    """Questions of three classes, and which class each has."""
    return questions_of(CLASSES, 300)


@pytest.fixture
def data(tmp_path, truth):
    """The file that somebody wants labelled: texts alone."""
    return written(tmp_path / "questions.csv", list(truth))


@pytest.fixture
def started():
    """Servers that are ended with the test, however it went."""
    servers = []
    yield lambda server: servers.append(server) or server
    for server in servers:
        server.kill()
