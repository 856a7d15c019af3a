"""A project from start to predictions and a merge of results, killed before its k-th change of a file, for every k.

    python -m tests.end_to_end.killing FOLDER PART PARTS [postgres]

One process that forks: importing torch takes seconds, and a project on a tiny encoder much less than one. Of PARTS
equal shares of the kills this does the one with the number PART. With `postgres` the answers are in a PostgreSQL
server of its own, and the kills come before and after its statements too.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg

import actune
from actune.bench.copying import files_in
from actune.bench.merging import merge
from actune.bench.store import Results
from actune.core.dialogue import Answer
from actune.core.pool import pool_of
from actune.data.export import write_table
from actune.session.labelled import COLUMNS, human_rows, pseudo_rows
from actune.store.store import FILE, Store
from tests.bench.conftest import make
from tests.models.tiny import WORDS, save_tiny
from tests.postgres import server

TEXTS = [f"{a} {b} the {c} ?" for a in WORDS[:5] for b in WORDS[5:9] for c in WORDS[9:11]]  # 40
NEW = [f"{a} is it {b}" for a in WORDS[:3] for b in WORDS[10:12]]
CLASSES = ("x", "y")
GRID = """title = "one cell"
[task.questions]
data = "{data}"
[grid]
tasks = "questions"
methods = ["entropy"]
learners = "probe"
models = ["{model}"]
[settings]
initial = 6
batch = 4
rounds = 2
steps = 3
epochs = 1
"""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
STORE: dict[str, Any] = {}  # the option of a project that names its database
WRITES = "pg_advisory_xact_lock"  # in what begins a transaction that writes
CHANGING = ("BEGIN", "INSERT", "UPDATE", "COMMIT", "PRAGMA journal_mode")
EVENTS = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.chmod"}


def label_of(text: str) -> str:
    return CLASSES[text.startswith(("who", "what"))]


def project(work: Path, name: str, acknowledge: Callable[[str], None]) -> None:
    """What a user does, command by command; what is done already is not done again."""
    folder = work / name / "project"
    if not (folder / FILE).exists():
        pool = pool_of(TEXTS, classes=CLASSES)
        plan: dict[str, Any] = {"initial": 6, "batch": 4, "changes": {"steps": 3, "epochs": 1}, "round_seconds": 0.0}
        actune.create(folder, pool, method="actune", model=str(work / "tiny"), device="cpu", **STORE, **plan).close()
    with actune.open_session(folder) as session:
        if session.config.final_training.steps != 2:
            short = replace(session.config.final_training, steps=2, epochs=1)
            session.reconfigure(replace(session.config, final_training=short))
    for round in range(2):
        with actune.open_session(folder) as session:
            if session.fitted == round:
                for question in session.ask():
                    session.tell([Answer(question.id, label_of(question.text), by=f"person {round}")])
                    acknowledge(question.id)
        with actune.open_session(folder) as session:
            if session.fitted == round:
                session.advance()
        if round == 0:
            with actune.open_session(folder) as session:
                if len(session.pool) == len(TEXTS):
                    ids = [f"new-{number}" for number in range(len(NEW))]
                    session.add(pool_of(NEW, [*map(label_of, NEW[:2]), *[None] * 4], ids, CLASSES))
    with actune.open_session(folder) as session:
        if session.final is None:
            session.finish()
    with actune.open_session(folder) as session:
        write_table(work / name / "labels.csv", COLUMNS, [*human_rows(session), *pseudo_rows(session)])
        found = [[text, one.label, one.confidence] for text, one in zip(NEW, session.predict(NEW), strict=True)]
        write_table(work / name / "predicted.csv", ["text", "label", "confidence"], found)
    merge([work / "results"], work / name / "merged")


def kill_at(number: int | None, below: Path) -> list[int]:
    """Counts the changes of files below a folder from now on, and ends the process before the one with this number."""
    count = [0]

    def change() -> None:
        count[0] += 1
        if count[0] == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, words: tuple[Any, ...]) -> None:
        if event == "open" and words[2] & WRITING:
            path = words[0]
        elif event in EVENTS:
            path = words[0 if event != "os.symlink" else 1]
        else:
            return
        if isinstance(path, (str, Path)) and str(path).startswith(str(below)):
            change()

    class Counted(sqlite3.Connection):
        changes = False

        def execute(self, statement: str, *words: Any) -> sqlite3.Cursor:  # type: ignore[override]
            if statement.startswith("BEGIN"):
                self.changes = statement == "BEGIN IMMEDIATE"
            if not statement.startswith("PRAGMA journal_mode" if not self.changes else CHANGING):
                return super().execute(statement.replace("synchronous = FULL", "synchronous = OFF"), *words)
            change()
            found = super().execute(statement, *words)
            change()
            return found

    execute = psycopg.Connection.execute

    def counted(connection: psycopg.Connection, statement: str, *words: Any) -> psycopg.Cursor:
        writes = WRITES in statement or (statement.startswith(CHANGING) and not statement.startswith("BEGIN"))
        if not writes:
            return execute(connection, statement, *words)
        change()
        found = execute(connection, statement, *words)
        change()
        return found

    psycopg.Connection.execute = counted  # type: ignore[assignment,method-assign]
    connect = sqlite3.connect
    sqlite3.connect = lambda *words, **more: connect(*words, **more, factory=Counted)  # type: ignore[assignment]
    # counted and left out: a killed process loses nothing that it has written, and there is no power cut here
    os.fsync = lambda handle: change()
    sys.addaudithook(hook)
    return count


def in_a_child(work: Callable[[Callable[[str], None]], Any]) -> tuple[int, list[str]]:
    """Runs in a forked process; gives how it ended, and what it acknowledged before."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            os.close(reader)
            work(lambda word: os.write(writer, f"{word}\n".encode()) and None)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader) as lines:
        said = lines.read().splitlines()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def weights(folder: Path) -> str:
    """What tells the weights of a model from any other's."""
    found = [sha256(file.read_bytes()).hexdigest() for file in sorted(folder.glob("*.safetensors"))]
    return " ".join(found)


def state(work: Path, name: str) -> dict[str, Any]:
    """All that an unbroken and a broken project must share in the end."""
    folder = work / name / "project"
    merged = Results(work / name / "merged")
    with Store.reading(folder) as store:
        final = store.fact("final")
        newest = store.newest_model()
        assert newest is not None
        return {
            "rounds": [replace(facts, seconds={}) for facts in store.rounds()],
            "final": {**final, "seconds": None},
            "answers": [(a.row, a.kind, a.label, a.by, a.round) for a in store.answers()],
            "questions": [(q.round, q.row, q.suggestion, q.confidence) for q in store.questions()],
            "texts": store.texts("pool"),
            "files": sorted(path.name for path in (folder / "texts").glob("*.arrow")),
            "classes": store.classes(),
            "arrays": {file.name: file.read_bytes() for file in sorted((folder / "arrays").iterdir())},
            "models": {row.folder: weights(folder / row.folder) for row in store.models()},
            "linked": weights(folder / "model"),
            "labels": (work / name / "labels.csv").read_text(),
            "predicted": (work / name / "predicted.csv").read_text(),
            "merged": (merged.table().to_csv(), [files_in(merged.place(key)) for key in merged.finished()]),
            # scratch files go with the next advance
            "names": sorted(path.name for path in folder.iterdir() if not path.name.startswith((".", "run.db-"))),
        }


def check_after_kill(
    work: Path, name: str, acknowledged: list[str], models: Mapping[str, str], _: Callable[[str], None]
) -> None:
    """Whatever was promised before the kill is there: answers, and for every round that counts its model."""
    folder = work / name / "project"
    if not (folder / FILE).exists():
        assert not acknowledged
        return
    with actune.open_session(folder) as session:
        rows = {answer.row for answer in session.store.answers()}
        assert {session.pool.row_of[id] for id in acknowledged} <= rows
        session.ask()
        newest = session.store.newest_model()
        if not session.fitted:
            assert newest is None
            return
        expected = models["final" if session.final else f"round {session.fitted - 1}"]
        assert newest is not None and weights(newest) == expected == weights(folder / "model")
        assert len(session.predict(["who is it ?"])) == 1


def go_on(work: Path, name: str, killed: int | None, acknowledge: Callable[[str], None]) -> None:
    kill_at(killed, work / name)
    project(work, name, acknowledge)


def unbroken(work: Path, acknowledge: Callable[[str], None]) -> None:
    """The whole project; tells each model that ever counted, and how many changes of files there were."""
    commit = Store.commit

    def told(store: Store, *words: Any, **more: Any) -> None:
        commit(store, *words, **more)
        for model in store.models():
            kind = "final" if model.kind == "final" else f"round {model.round}"
            acknowledge(f"{kind}: {weights(store.folder / model.folder)}")

    Store.commit = told  # type: ignore[method-assign]
    count = kill_at(None, work / "whole")
    project(work, "whole", lambda word: None)
    acknowledge(f"changes: {count[0]}")


def one_cell(work: Path) -> None:
    """Results to be merged: a grid of one cell."""
    rows = [["text", "label"], *([text, label_of(text)] for text in TEXTS)]
    (work / "labelled.csv").write_text("".join(f"{text},{label}\n" for text, label in rows), encoding="utf-8")
    make(GRID.format(data=work / "labelled.csv", model=work / "tiny"), work / "results")


def main(place: str, part: str, parts: str, database: str = "sqlite") -> None:
    with server() if database == "postgres" else nullcontext() as postgres:
        STORE.update({"store": postgres.url} if postgres else {})
        kill_all(place, part, parts)


def kill_all(place: str, part: str, parts: str) -> None:
    work, kills = Path(place), 0
    save_tiny(work / "tiny")
    for name in ("warm", "whole"):
        (work / name).mkdir()
    one_cell(work)
    project(work, "warm", lambda word: None)  # all that is imported late, and the cache of embeddings
    code, said = in_a_child(partial(unbroken, work))
    assert code == 0
    models, whole = dict(line.split(": ") for line in said), state(work, "whole")
    assert set(models) == {"round 0", "round 1", "final", "changes"}
    for number in range(1 + int(part), int(models["changes"]) + 1, int(parts)):
        name, when = f"killed-{number}", f"after a kill before change {number}"
        (work / name).mkdir()
        code, acknowledged = in_a_child(partial(go_on, work, name, number))
        assert code == -signal.SIGKILL, f"before change {number} it ended with {code}"
        code, _ = in_a_child(partial(check_after_kill, work, name, acknowledged, models))
        assert code == 0, f"{when} something is missing"
        code, _ = in_a_child(partial(go_on, work, name, None))
        assert code == 0, f"{when} it does not go on"
        found = state(work, name)
        assert not (wrong := [key for key in whole if found[key] != whole[key]]), f"{when} these differ: {wrong}"
        shutil.rmtree(work / name)
        kills += 1
    print(json.dumps({"changes": int(models["changes"]), "kills": kills}))


if __name__ == "__main__":
    main(*sys.argv[1:])
