"""Runs to report on, made once: a method with regions, one that reads nothing, a person's project, one just begun."""

from __future__ import annotations

import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

import actune
from actune.report.page import render
from actune.session.session import Session

SCRIPT, MATHS, UNDERSCORE, BELL = "<script>alert(1)</script>", '$x$ & "y"', "_hidden", "ding\x07"
HOSTILE = (SCRIPT, MATHS, UNDERSCORE, BELL)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("runs")
    task = actune.load_task("trec")
    plan = {"initial": 30, "batch": 20, "rounds": 3}
    for method in ("actune", "random", "thrifty"):
        session = actune.create(
            base / method, task, method=method, learner="probe", **plan, simulated=True, source="trec"
        )
        actune.run(session, actune.Oracle(task.pool))
    actune.create(base / "begun", task, method="actune", learner="probe", simulated=True, source="trec")
    project(base / "project")
    return {folder.name: folder for folder in base.iterdir()}


def project(folder: Path) -> None:
    """A person's project whose class names want to be markup, formulas, nothing, and a noise."""
    texts = [f"{word} number {number}" for number in range(12) for word in ("apple", "river", "engine", "song")]
    session = actune.create(
        folder, actune.pool_of(texts, classes=HOSTILE), method="actune", learner="probe", initial=8, batch=4
    )
    names = dict(zip(("apple", "river", "engine", "song"), HOSTILE, strict=True))
    for _ in range(2):
        session.tell({question.id: names[question.text.split()[0]] for question in session.ask()})
        session.advance()
    session.tell({session.ask()[0].id: SCRIPT})


@pytest.fixture
def copied(folders: dict[str, Path], tmp_path: Path):
    """A run that a test may change."""

    def copy(name: str) -> Session:
        return actune.open_session(shutil.copytree(folders[name], tmp_path / name))

    return copy


@pytest.fixture(scope="session")
def opened(folders: dict[str, Path]) -> dict[str, Session]:
    return {name: actune.open_session(folder) for name, folder in folders.items()}


@pytest.fixture(scope="session")
def pages(opened: dict[str, Session]) -> dict[str, str]:
    """The pages that most tests read."""
    return {
        "both": render([opened["actune"], opened["random"]]),
        "project": render([opened["project"]]),
        "begun": render([opened["begun"]]),
        "random": render([opened["random"]]),
        "thrifty": render([opened["thrifty"], opened["actune"]]),
    }


class Page(HTMLParser):
    """A page taken apart: tags that are opened and closed in order, table rows, headings and all text."""

    VOID = frozenset({"meta", "br", "link", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.drawn: list[str] = []  # the text of the pictures
        self.feed(text)
        self.close()
        assert not self.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.stack.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.stack:
            return
        self.text += data
        if {"td", "th"} & set(self.stack):
            self.rows[-1][-1] += data
        if "text" in self.stack:
            self.drawn.append(data)


@pytest.fixture(scope="session")
def parse() -> type[Page]:
    return Page


@pytest.fixture(scope="session")
def parsed(pages: dict[str, str]) -> dict[str, Page]:
    return {name: Page(text) for name, text in pages.items()}
