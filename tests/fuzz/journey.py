"""What a user does from start to report and a benchmark, as steps that can each be broken off and done again."""

from __future__ import annotations

import csv
import faulthandler
import os
import shutil
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

import actune
from actune.bench.store import Results
from actune.core.files import SCRATCH
from actune.errors import ActuneError
from actune.store.store import FILE, Store
from tests.bench.conftest import lasting, make
from tests.cli.conftest import Said, call
from tests.end_to_end.killing import GRID, NEW, TEXTS, label_of, weights
from tests.models.tiny import save_tiny

PLAN = ["--method", "actune", "--device", "cpu", "--initial", 6, "--batch", 4, "--round-seconds", 0]
PLAN += ["--set", "steps=3", "--set", "epochs=1"]
LONGEST = 60  # seconds of one step: what takes longer hangs
LOST = "an acknowledged answer is lost"
REFUSED, BROKEN = 2, 70  # how a child ends: with one sentence, or with a traceback


@dataclass(frozen=True)
class Place:
    """A folder `now` that steps work in, beside copies of it as it was before each of them."""

    work: Path

    @property
    def now(self) -> Path:
        return self.work / "now"

    @property
    def project(self) -> Path:
        return self.now / "project"

    def keep(self, name: str) -> None:
        shutil.copytree(self.now, self.work / name, symlinks=True)

    def restore(self, name: str) -> None:
        shutil.rmtree(self.now)
        shutil.copytree(self.work / name, self.now, symlinks=True)


@dataclass(frozen=True)
class Step:
    """One command; doing it again after it has counted changes nothing."""

    name: str
    do: Callable[[Place], None]


def said(*words: object) -> Said:
    """A command that must not end with a traceback; its refusal is raised, as it is from the library."""
    found = call(*words)
    if found.code:
        raise ActuneError(f"{found.code}: {found.err.strip() or found.out.strip()}")
    return found


def start(place: Place) -> None:
    if not (place.project / FILE).exists():
        model = ["--labels", "x,y", "--model", place.work / "tiny"]
        said("start", place.work / "pool.csv", *model, *PLAN, "--out", place.project)
    with actune.open_session(place.project) as session:  # there are no words for a short fine-tuning at the end
        if session.config.final_training.steps != 2:
            short = replace(session.config.final_training, steps=2, epochs=1)
            session.reconfigure(replace(session.config, final_training=short))


def tell(place: Place) -> None:
    asked = said("ask", place.project, "--json").facts["questions"]
    if not asked:
        return
    table(place.work / "answers.csv", ["id", "label"], [[each["id"], label_of(each["text"])] for each in asked])
    said("tell", place.project, place.work / "answers.csv")


def add(place: Place) -> None:
    with Store.reading(place.project) as store:
        if store.text_count("pool") > len(TEXTS):
            return
    said("add", place.project, place.work / "new.csv")


def bench(place: Place) -> None:
    """In this process: the workers of `bench run` would import torch once more."""
    make((place.work / "grid.toml").read_text(), place.now / "results")


def command(*words: str) -> Callable[[Place], None]:
    """A command in whose words `{now}` and `{work}` stand for folders."""
    return lambda place: said(*(word.format(now=place.now, work=place.work) for word in words)) and None


PROJECT = "{now}/project"
STEPS = [
    Step("start", start),
    Step("tell", tell),
    Step("advance", command("advance", PROJECT)),
    Step("add", add),
    Step("tell", tell),
    Step("advance", command("advance", PROJECT)),
    Step("finish", command("advance", PROJECT, "--finish")),
    Step("export", command("export", PROJECT, "--to", "{now}/labels.csv", "--pseudo")),
    Step("predict", command("predict", PROJECT, "{work}/new.csv", "--out", "{now}/predicted.csv")),
    Step("report", command("report", PROJECT, "--to", "{now}/page.html")),
    Step("bench run", bench),
    Step("bench merge", command("bench", "merge", "{now}/results", "--out", "{now}/merged")),
]


def prepare(work: Path) -> Place:
    """The user's files; the cache lies where the steps work, for it is written too."""
    torch.set_num_threads(1)  # a forked process waits for ever for threads that it did not inherit
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ["ACTUNE_CACHE"] = str(work / "now" / "cache")
    save_tiny(work / "tiny")
    table(work / "pool.csv", ["id", "text"], enumerate(TEXTS))
    table(work / "labelled.csv", ["id", "text", "label"], [[n, text, label_of(text)] for n, text in enumerate(TEXTS)])
    new = [[f"new-{n}", text, label_of(text) if n < 2 else ""] for n, text in enumerate(NEW)]
    table(work / "new.csv", ["id", "text", "label"], new)
    (work / "grid.toml").write_text(GRID.format(data=work / "labelled.csv", model=work / "tiny"), encoding="utf-8")
    (work / "now").mkdir()
    return Place(work)


def table(file: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows([columns, *rows])


def walk(place: Place, took: Callable[[float], None] = lambda seconds: None) -> list[dict[str, Any]]:
    """All steps unbroken, in this process, with a copy before each; gives the state after each."""
    states = []
    for number, step in enumerate(STEPS):
        place.keep(before(number))
        began = time.monotonic()
        step.do(place)
        took(time.monotonic() - began)
        states.append(state(place))
    return states


def before(number: int) -> str:
    return f"before-{number:02d}"


def state(place: Place) -> dict[str, Any]:
    """All that must be the same after a broken step that was done again."""
    found: dict[str, Any] = {}
    if (place.project / FILE).exists():
        found |= _project(place.project)
    for name in ("labels.csv", "predicted.csv", "page.html"):
        if (place.now / name).exists():
            found[name] = (place.now / name).read_bytes()
    for name in ("results", "merged"):
        if (place.now / name).exists():
            found |= _results(place.now / name)
    return found


def _project(folder: Path) -> dict[str, Any]:
    with Store.reading(folder) as store:
        final = store.fact("final")
        return {
            "rounds": [replace(facts, seconds={}) for facts in store.rounds()],
            "final": final and {**final, "seconds": None},
            "answers": [(a.row, a.kind, a.label, a.by, a.round) for a in store.answers()],
            "questions": [(q.round, q.row, q.suggestion, q.confidence) for q in store.questions()],
            "texts": store.texts("pool"),
            "classes": store.classes(),
            "arrays": _without_old_memories(_files(folder / "arrays")),
            "models": {row.folder: weights(folder / row.folder) for row in store.models()},
            "linked": weights(folder / "model") if (folder / "model").exists() else None,
        }


def _results(folder: Path) -> dict[str, Any]:
    results = Results(folder)
    cells = {key: _files(results.place(key) / "arrays") for key in results.finished()}
    written = (folder / "results.csv").read_text(encoding="utf-8").count("\n")
    return {f"{folder.name} table": lasting(results.table()).to_csv(), f"{folder.name} cells": (cells, written)}


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*")) if not path.name.endswith(SCRATCH)}


def _without_old_memories(arrays: dict[str, bytes]) -> dict[str, bytes]:
    """What a broken round could not remove goes with the next one."""
    newest = max((name for name in arrays if name.startswith("memory-")), default="")
    return {name: content for name, content in arrays.items() if not name.startswith("memory-") or name == newest}


def answers(place: Place) -> set[tuple[Any, ...]]:
    """What was acknowledged so far."""
    if not (place.project / FILE).exists():
        return set()
    with actune.open_session(place.project) as session:
        session.ask()
        return {(answer.row, answer.kind, answer.label, answer.at) for answer in session.store.answers()}


def in_a_child(work: Callable[[], None]) -> tuple[int, str]:
    """Runs in a forked process; gives how it ended and what it said."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        code, word = BROKEN, ""
        try:
            os.close(reader)
            faulthandler.dump_traceback_later(LONGEST, exit=True, file=writer)
            work()
            code = 0
        except ActuneError as error:
            code, word = REFUSED, str(error)
        except BaseException:
            word = traceback.format_exc()
        finally:
            os.write(writer, word.encode("utf-8", "replace")[-60_000:])
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8", errors="replace") as lines:
        word = lines.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), word


def goes_on(place: Place, step: Step, kept: set[tuple[Any, ...]], expected: dict[str, Any]) -> str:
    """What is wrong after a broken step that is done again: `lost` answers, a `hand` that it needs, or `unequal`."""

    def look() -> None:
        assert kept <= answers(place), LOST

    for work in (look, partial(step.do, place)):
        code, word = in_a_child(work)
        if code:
            print(f"after a broken {step.name}: {word}")
            return "lost" if LOST in word else "hand"
    found = state(place)
    if differ := [key for key in {*expected, *found} if expected.get(key) != found.get(key)]:
        print(f"after a broken {step.name} these differ: {differ}")
        return "unequal"
    return ""
