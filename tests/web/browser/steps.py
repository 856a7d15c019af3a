"""What a person does at the page, in her words."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from tests.web.serving import Served

CLASSES = ("human", "location", "numeric")
SOON, LATE = 20_000, 120_000  # milliseconds on a busy machine; of a reply, of a model


def questions_of(classes: Sequence[str], most: int) -> dict[str, str]:
    """Real questions of these classes, each once, with the class of each."""
    from actune.data.tasks import load_task

    task = load_task("trec")
    names = {number: name.lower() for number, name in enumerate(task.pool.classes)}
    found = {}
    for text, label in zip(task.pool.texts, task.pool.labels, strict=True):
        name = next((name for name in classes if name == names[int(label)]), None)
        if name is not None:
            found.setdefault(str(text), name)
    return dict(list(found.items())[:most])


def written(file: Path, texts: Sequence[str]) -> Path:
    with file.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["id", "text"])
        writer.writerows([f"q{row}", text] for row, text in enumerate(texts))
    return file


class Desk:
    """One person at one page."""

    def __init__(self, page: Any, server: Served, truth: dict[str, str], shots: Path) -> None:
        self.page, self.server, self.truth, self.shots = page, server, truth, shots
        self.problems: list[str] = []
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda line: self._hear(line.type, line.text))

    def _hear(self, kind: str, text: str) -> None:
        if kind == "error" and "Content Security Policy" in text:
            self.problems.append(text)

    def open(self, login: tuple[str, str] | None = None) -> None:
        if login:
            self.page.goto(f"{self.server.url}/login")
            self.page.fill("#name", login[0])
            self.page.fill("#password", login[1])
            self.page.click("button[type=submit]")
        else:
            self.page.goto(self.server.fresh_link())
        self.page.wait_for_selector("main#main > *", timeout=SOON)

    def go(self, view: str) -> None:
        self.page.evaluate("view => { location.hash = `#/${view}`; }", view)
        self.page.wait_for_selector(f".frame[data-view='{view.split('/')[0]}']", timeout=SOON)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def text(self) -> str:
        self.page.wait_for_selector("#text", timeout=LATE)
        return self.page.locator("#text").inner_text()

    def key_of(self, label: str) -> str:
        return self.page.locator(f".class[data-label='{label}'] kbd").inner_text()

    def answer(self, label: str | None = None) -> str:
        """Answers the text on the table by its key, with its true class unless told otherwise."""
        text = self.text
        self.press(self.key_of(label or self.truth[text]))
        return text

    def label(self, number: int) -> list[str]:
        """Answers so many texts; where a batch is done, the next one comes by itself."""
        return [self.answer() for _ in range(number)]

    def wait_until_saved(self) -> None:
        self.wait_for("() => document.querySelector('#saved')?.textContent === 'Saved'")

    def wait_for(self, holds: str, about: Any = None, timeout: int = SOON) -> None:
        """Waits until this holds in the page. (The page's own policy forbids Playwright's way, which needs eval.)"""
        end = monotonic() + timeout / 1000
        while not self.page.evaluate(holds, about):
            assert monotonic() < end, f"this has not come true: {holds}"
            self.page.wait_for_timeout(50)

    def see(self, selector: str, has: str | None = None, timeout: int = SOON) -> Any:
        found = self.page.locator(selector)
        found = (found.filter(has_text=has) if has else found).first
        found.wait_for(state="visible", timeout=timeout)
        return found

    def until(self, told: Callable[[dict[str, Any]], Any], timeout: int = LATE) -> dict[str, Any]:
        """Waits for a state of the server."""
        end = monotonic() + timeout / 1000
        while monotonic() < end:
            state = self.state()
            if told(state):
                return state
            self.page.wait_for_timeout(500)
        raise AssertionError(f"the state has not come: {state}")

    def state(self) -> dict[str, Any]:
        with self.server.program() as client:
            return client.get("/state").json()

    def history(self) -> list[dict[str, Any]]:
        with self.server.program() as client:
            return client.get("/history", params={"limit": 500}).json()["rows"]

    def shot(self, name: str, whole: bool = False) -> None:
        """A picture for people to look at."""
        self.shots.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=self.shots / f"{name}.png", full_page=whole, animations="disabled")

    def shots_of_all(self, name: str, whole: bool = True) -> None:
        """The same in light and dark, and as wide as a phone."""
        size = self.page.viewport_size
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            self.page.wait_for_timeout(250)
            self.shot(f"{name}-{scheme}", whole)
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": 360, "height": 740})
        self.page.wait_for_timeout(250)
        self.shot(f"{name}-phone", whole)
        assert not self.overflows(), f"{name} is wider than a phone"
        self.page.set_viewport_size(size)

    def overflows(self) -> bool:
        return self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
