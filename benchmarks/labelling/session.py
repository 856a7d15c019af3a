"""A whole session at the labelling page by keyboard: answers per hour, and the accuracy on the test set over time.

    PYTHONPATH=. python benchmarks/labelling/session.py --answers 300 --think 0 2 --out session.jsonl
    PYTHONPATH=. python benchmarks/labelling/session.py show benchmarks/results/session_cpu.jsonl

A real server has the bundled TREC questions as `make label` starts it, and Chromium shows the page. A scripted person
reads for `--think` seconds, presses the key of the right class, and goes on when the next text is there; models are
trained in the background meanwhile. `--think 0` tells how many answers the page itself allows. Afterwards every model
that had arrived is tested on the 500 test questions, which the project does not have.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

import actune
from actune.core.task import Task
from tests.web.browser.conftest import CHROMIUM, FLAGS
from tests.web.browser.steps import Desk
from tests.web.serving import Served, serve

LONGEST = 120.0  # seconds that a person waits for a next text


class Watch(threading.Thread):
    """Notes when a model arrives, and how many answers there were by then."""

    def __init__(self, server: Served, began: float) -> None:
        super().__init__(daemon=True)
        self.models: list[dict[str, Any]] = []
        self._server, self._began, self._end = server, began, threading.Event()

    def run(self) -> None:
        with self._server.program() as client:
            while not self._end.wait(0.5):
                state = client.get("/state").json()
                model = state["model"]
                if model and (not self.models or self.models[-1]["round"] != model["round"]):
                    at = {"minutes": round((time.monotonic() - self._began) / 60, 2), "answers": state["labels"]}
                    self.models.append({"round": model["round"], **at, "trained on": model["knows"]})

    def end(self) -> None:
        self._end.set()
        self.join()


def measured(folder: Path, answers: int, think: float) -> dict[str, Any]:
    """One project from its first text to its last model."""
    task = actune.load_task("trec")
    names = [task.pool.classes[label] for label in task.pool.labels]
    truth = dict(zip((" ".join(text.split()) for text in task.pool.texts), names, strict=True))
    server = serve(Path("trec"), "--model", "minilm", "--learner", "probe", "--out", str(folder), "--port", "0")
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            desk = Desk(browser.new_page(), server, truth, folder)
            desk.open()
            began = time.monotonic()
            watch = Watch(server, began)
            watch.start()
            waits = [answered(desk, think) for _ in range(answers)]
            seconds = time.monotonic() - began
            desk.wait_until_saved()
            desk.until(lambda state: state["training"]["state"] == "idle" and not state["stale"])
            time.sleep(1)
            watch.end()
            with server.program() as client:
                audit = client.get("/progress").json()["audit"]
            browser.close()
    finally:
        server.end()
    for model in watch.models:
        model["accuracy"] = tested(folder / "models" / f"{model['round']:03}", task)
    at = {f"next_{name}_ms": round(1_000 * float(np.quantile(waits, share)), 1) for name, share in SHARES.items()}
    found = {"answers": answers, "think_s": think, "minutes": round(seconds / 60, 2)}
    return found | {"per_hour": round(3_600 * answers / seconds), **at, "models": watch.models, "audit": audit}


SHARES = {"p50": 0.5, "p95": 0.95, "worst": 1.0}


def answered(desk: Desk, think: float) -> float:
    """Answers the text on the table; gives the seconds from the key to the next text."""
    text = desk.text
    key = desk.key_of(desk.truth[" ".join(text.split())])
    time.sleep(think)
    began = time.monotonic()
    desk.press(key)
    while desk.page.evaluate("document.querySelector('#text')?.innerText ?? ''") in ("", text):
        if time.monotonic() - began > LONGEST:
            raise SystemExit(f"no next text came within {LONGEST:.0f} seconds")
    return time.monotonic() - began


def tested(model: Path, task: Task) -> float:
    """The accuracy of one model on the test questions."""
    assert task.test is not None
    right = [task.pool.classes[label] for label in task.test.labels]
    found = actune.load(model).predict(task.test.texts)
    return round(float(np.mean([each.label == name for each, name in zip(found, right, strict=True)])), 4)


def show(file: Path) -> None:
    """The tables of docs/labelling.md."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    print("| seconds before each key | answers | minutes | answers per hour | from key to next text, p95 |")
    print("|---|---|---|---|---|")
    for line in lines:
        found = [line[name] for name in ("think_s", "answers", "minutes")]
        print("|", " | ".join(map(str, [*found, f"{line['per_hour']:,}", f"{line['next_p95_ms']} ms"])), "|")
    models = lines[-1]["models"]
    some = [*models[:-1:3], models[-1]]
    rows = {
        "answers when the model arrived": [model["answers"] for model in some],
        "minutes": [round(model["minutes"], 1) for model in some],
        "accuracy on test, %": [f"{100 * model['accuracy']:.1f}" for model in some],
    }
    print()
    for place, (name, cells) in enumerate(rows.items()):
        print("|", " | ".join(map(str, [name, *cells])), "|")
        if not place:
            print("|---" * (1 + len(some)) + "|")


def main(words: list[str]) -> None:
    if words[:1] == ["show"]:
        return show(Path(words[1]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--think", type=float, nargs="+", default=[0.0, 2.0], help="seconds before each answer")
    parser.add_argument("--out", type=Path, help="a file to add results to")
    given = parser.parse_args(words)
    if CHROMIUM is None or shutil.which(CHROMIUM) is None:
        parser.error("this needs chromium, which is not installed here")
    for think in given.think:
        with tempfile.TemporaryDirectory() as folder:
            found = measured(Path(folder) / "project", given.answers, think)
        found |= {"command": " ".join(["python benchmarks/labelling/session.py", *words])}
        line = json.dumps(found | {"machine": f"{platform.machine()} {os.cpu_count()} cores"})
        print(line)
        if given.out:
            with given.out.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
