"""A small run folder, and everything that can be wrong with one: each damage has a name and changes one thing."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

Damage = Callable[[Path, Random], None]
CLASSES = ("who", "what", "when")
WORDS = ("who is the man", "what is the capital of the city ?", "when did the man invent it")
ODD = (
    "x",
    "",
    "\x1b[31m",
    "../../x",
    "/etc/passwd",
    -1,
    2**62,
    2.5,
    None,
    b"\xff\x00",
    "9" * 400,
    "[" * 5000,
    "{}",
    "[]",
)
MODEL_FILES = ("models/000/head.safetensors", "models/000/probe.json")
FILES = ("run.toml", "run.db", "texts/pool-000.arrow", "texts/test-000.arrow", *MODEL_FILES)
ARRAYS = ("arrays/select-001.safetensors", "arrays/memory-001.safetensors", "arrays/fit-000.safetensors")


def make_folder(folder: Path, encoder: Path) -> Path:
    """A project on a tiny encoder after its first round, with a test set, open questions and a memory bank."""
    from dataclasses import replace

    import actune
    from actune.core.pool import pool_of
    from actune.session.setup import project_task

    texts = [f"{WORDS[row % 3]} {row}" for row in range(36)]
    labels = [CLASSES[row % 3] for row in range(36)]
    task = project_task(pool_of(texts[:30], ids=[f"id-{row}" for row in range(30)], classes=CLASSES), "posts")
    task = replace(task, test=pool_of(texts[30:], labels[30:], [f"t-{row}" for row in range(6)], CLASSES))
    options: dict[str, Any] = {"method": "actune", "learner": "probe", "model": str(encoder), "device": "cpu"}
    changes = {"steps": 4, "epochs": 1, "max_tokens": 16, "regions": 3, "growth": 4}
    with actune.create(folder, task, initial=9, batch=3, changes=changes, **options) as session:
        session.tell({question.id: labels[int(question.id[3:])] for question in session.ask()})
        session.advance()
        session.tell({session.ask()[0].id: CLASSES[0]})
    return folder


def damage(folder: Path, random: Random) -> str:
    """Damages one thing at random; says what. Nothing outside of the folder is touched."""
    name = random.choice(sorted(DAMAGES))
    with suppress(FileNotFoundError, sqlite3.Error):  # an earlier damage may have taken it away
        DAMAGES[name](folder, random)
    return name


# files


def missing(name: str, folder: Path, random: Random) -> None:
    path = folder / name
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def truncated(name: str, folder: Path, random: Random) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: random.randrange(len(content))] if content else b"")


def emptied(name: str, folder: Path, random: Random) -> None:
    (folder / name).write_bytes(b"")


def flipped(name: str, folder: Path, random: Random) -> None:
    content = bytearray((folder / name).read_bytes())
    for _ in range(random.choice([1, 1, 3, 30])):
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    (folder / name).write_bytes(content)


def noise(name: str, folder: Path, random: Random) -> None:
    (folder / name).write_bytes(random.randbytes(random.choice([1, 100, 5000])))


def zeroed(name: str, folder: Path, random: Random) -> None:
    """A block of zeros, as a crash of the file system leaves it."""
    content = bytearray((folder / name).read_bytes())
    start = random.randrange(len(content))
    end = min(len(content), start + random.choice([1, 64, 4096]))
    content[start:end] = bytes(end - start)
    (folder / name).write_bytes(content)


def swapped(one: str, other: str, folder: Path, random: Random) -> None:
    a, b = (folder / one).read_bytes(), (folder / other).read_bytes()
    (folder / one).write_bytes(b)
    (folder / other).write_bytes(a)


def linked(name: str, folder: Path, random: Random) -> None:
    """A link to a target beside the folder, which must neither be changed nor deleted."""
    path, outside = folder / name, folder.with_name("outside")
    outside.mkdir(exist_ok=True)
    (outside / "thesis.txt").write_text("years of work")
    (outside / "000").mkdir(exist_ok=True)
    (outside / "000" / "head.safetensors").write_text("years of work")
    (outside / ".x.0123456789abcdef.tmp").write_text("years of work")
    (outside / "pool-009.arrow").write_text("years of work")
    is_folder = path.is_dir() or "." not in name
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.symlink_to(outside if is_folder else outside / "thesis.txt")


def fifo(name: str, folder: Path, random: Random) -> None:
    path = folder / name
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    os.mkfifo(path)


def in_the_way(name: str, folder: Path, random: Random) -> None:
    """A folder where a file should be."""
    (folder / name).unlink(missing_ok=True)
    (folder / name / "thesis").mkdir(parents=True)


# run.toml


def toml_value(pattern: str, value: str, folder: Path, random: Random) -> None:
    """The value of the first line that begins with a key, replaced."""
    text = (folder / "run.toml").read_text()
    found = re.sub(rf"(?m)^({pattern}) = .*$", lambda line: f"{line[1]} = {value}", text, count=1)
    (folder / "run.toml").write_text(found)


def any_toml_value(folder: Path, random: Random) -> None:
    keys = re.findall(r"(?m)^(\w+) = ", (folder / "run.toml").read_text())
    values = ('"x"', "-1", "1e999", "nan", "[]", "{}", "true", "99999999999999999999", '[["a"]]', '"\\u001b[31m"', '""')
    toml_value(random.choice(keys), random.choice(values), folder, random)


def toml_without(part: str, folder: Path, random: Random) -> None:
    text = (folder / "run.toml").read_text()
    (folder / "run.toml").write_text(re.sub(rf"(?ms)^\[{part}\]\n.*?(?=^\[|\Z)", "", text))


def toml_added(text: str, folder: Path, random: Random) -> None:
    with (folder / "run.toml").open("a") as stream:
        stream.write(text)


# run.db


def sql(statement: str, folder: Path, random: Random) -> None:
    connection = sqlite3.connect(folder / "run.db")
    try:
        connection.execute(statement)
        connection.commit()
    finally:
        connection.close()


def any_cell(folder: Path, random: Random) -> None:
    """One cell of one table with an odd value."""
    connection = sqlite3.connect(folder / "run.db")
    try:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = random.choice([name for name in tables if not name.startswith("sqlite_")])
        column = random.choice(connection.execute(f"PRAGMA table_info({table})").fetchall())[1]
        rows = connection.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall()
        with suppress(sqlite3.IntegrityError):
            if rows:
                values = (random.choice(ODD), random.choice(rows)[0])
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS ?", values)
        connection.commit()
    finally:
        connection.close()


def broken_page(folder: Path, random: Random) -> None:
    """Whole pages of the database overwritten, but not the first, without which it is none."""
    _without_wal(folder)
    content = bytearray((folder / "run.db").read_bytes())
    for _ in range(random.choice([1, 3])):
        start = 4096 * random.randrange(1, len(content) // 4096)
        content[start : start + 4096] = random.randbytes(4096)
    (folder / "run.db").write_bytes(content)


def _without_wal(folder: Path) -> None:
    connection = sqlite3.connect(folder / "run.db")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


# models and arrays


def arrays_of(name: str, change: Callable[[dict[str, Any]], None], folder: Path, random: Random) -> None:
    """Arrays that are another file of safetensors, with a right digest or none: as another program writes them."""
    from safetensors.numpy import load_file, save_file

    file = folder / "arrays" / f"{name}.safetensors"
    found = load_file(file)
    change(found)
    save_file(found, file)


def _longer(key: str) -> Callable[[dict[str, Any]], None]:
    import numpy as np

    return lambda found: found.update({key: np.concatenate([found[key], found[key]])})


def _filled(key: str, value: float) -> Callable[[dict[str, Any]], None]:
    import numpy as np

    return lambda found: found.update({key: np.full_like(found[key], value)})


def _as_type(key: str, kind: str) -> Callable[[dict[str, Any]], None]:
    return lambda found: found.update({key: found[key].astype(kind)})


def json_of(name: str, text: str, folder: Path, random: Random) -> None:
    (folder / name).write_text(text)


def json_key(name: str, key: str, value: Any, folder: Path, random: Random) -> None:
    found = json.loads((folder / name).read_text())
    found[key] = value
    (folder / name).write_text(json.dumps(found))


def _facts(key: str, value: str) -> Damage:
    return partial(sql, f"UPDATE rounds SET facts = json_set(facts, '$.{key}', {value})")


def _files() -> dict[str, Damage]:
    kinds = (missing, truncated, emptied, flipped, noise, zeroed, fifo, in_the_way)
    found: dict[str, Damage] = {
        f"{kind.__name__} {name}": partial(kind, name) for name in (*FILES, *ARRAYS) for kind in kinds
    }
    for name in ("arrays", "models", "texts"):
        found |= {f"missing {name}": partial(missing, name), f"fifo {name}": partial(fifo, name)}
    links = ("arrays", "models", "texts", "checkpoints", "model", "report.html", "run.db", "run.db-wal", "run.toml")
    for name in (*links, "run.db.v2.bak", "advance.lock", "texts/adding.lock", "models/000", *ARRAYS, *FILES[2:]):
        found[f"linked {name}"] = partial(linked, name)
    for name in ("run.db-wal", "run.db-shm", "run.db-journal"):
        found[f"noise {name}"] = partial(noise, name)
        found[f"in_the_way {name}"] = partial(in_the_way, name)
    found["swapped arrays"] = partial(swapped, ARRAYS[0], ARRAYS[1])
    found["swapped texts"] = partial(swapped, "texts/pool-000.arrow", "texts/test-000.arrow")
    found["texts are a model"] = partial(swapped, "texts/pool-000.arrow", "models/000/head.safetensors")
    return found


def _toml() -> dict[str, Damage]:
    values = {
        "format": ('"x"', "[]", "1e999", "99"),
        "batch": ('"x"', "-3", "0", "true", "99999999999999999999", "1.5"),
        "rounds": ("-1", '"many"'),
        "seed": ("-1", "1e999"),
        "learner": ('"nothing"', "3"),
        "model": ('"/dev/zero"', '""', "[]"),
        "method": ('"os:system"', '"\\u0000"', "{}"),
        "device": ('"x"', '"cuda:99"'),
        "data": ("3",),
        "simulated": ("true", '"no"'),
        "classes": ("[]", '["a"]', '["a", "a", "b"]', '"who"', "[1, 2, 3]", '["a", "b", "c", "d"]'),
        "threads": ("0", "-1", "99999999999"),
        "stored": ("false", '"x"'),
        "pool": ("-1", '"x"'),
        "horizon": ("0", "nan"),
        "max_tokens": ("-1", "1e999", '"x"', "true"),
        "regions": ("inf", "0", '"3"'),
        "steps": ("-5", "nan"),
        "notes": ("3", "[[1]]"),
        "method_origin": ('"place os:system"', '"place os"', "3"),
    }
    found: dict[str, Damage] = {
        f"run.toml {key} = {value}": partial(toml_value, key, value) for key, words in values.items() for value in words
    }
    for part in ("request", "resolved", "settings", "training", "final_training", "versions", "set", "reading"):
        found[f"run.toml without {part}"] = partial(toml_without, part)
    found["run.toml with brackets"] = partial(toml_added, "\nx = " + "[" * 5000 + "]" * 5000 + "\n")
    found["run.toml with dots"] = partial(toml_added, "\n" + "a." * 200_000 + "a = 1\n")
    found["run.toml twice"] = partial(toml_added, "\n[request]\nbatch = 3\n")
    found["run.toml of odd values"] = any_toml_value
    return found


def _database() -> dict[str, Damage]:
    statements = {
        "a trigger": "CREATE TRIGGER evil AFTER INSERT ON answers BEGIN DELETE FROM answers; END",
        "a view": "CREATE VIEW evil AS SELECT * FROM answers",
        "a strange table": "CREATE TABLE evil (x)",
        "an index": "CREATE INDEX evil ON answers (row)",
        "no answers": "DROP TABLE answers",
        "no facts": "DROP TABLE facts",
        "another version": "PRAGMA user_version = 99",
        "no version": "PRAGMA user_version = 0",
        "an earlier version": "PRAGMA user_version = 2",
        "a row that is a word": "UPDATE answers SET row = 'x' WHERE number = 2",
        "a row out of range": "UPDATE latest SET row = 4000 WHERE row = (SELECT max(row) FROM latest)",
        "a negative row": "UPDATE latest SET row = -4 WHERE row = (SELECT min(row) FROM latest)",
        "a class out of range": "UPDATE latest SET label = 77",
        "a class that is a word": "UPDATE latest SET label = 'who'",
        "an unknown kind": "UPDATE latest SET kind = 'maybe'",
        "an answer that changed": "UPDATE answers SET label = (label + 1) % 3 WHERE number = 1",
        "an answer that is gone": "DELETE FROM answers WHERE number = 3",
        "all answers gone": "DELETE FROM answers",
        "words that are gone": "DELETE FROM words",
        "counts that are wrong": "UPDATE counts SET rows = rows + 1",
        "counts that are words": "UPDATE counts SET rows = 'many'",
        "a question out of range": "UPDATE questions SET row = 99999",
        "a question about a word": "UPDATE questions SET row = 'x'",
        "a suggestion out of range": "UPDATE questions SET suggestion = 50",
        "a round that is no JSON": "UPDATE rounds SET facts = '{'",
        "a round that is a list": "UPDATE rounds SET facts = '[]'",
        "a round of brackets": "UPDATE rounds SET facts = replace(hex(zeroblob(50000)), '0', '[')",
        "a round without facts": "UPDATE rounds SET facts = '{}'",
        "a round with another number": "UPDATE rounds SET round = 7",
        "no round": "DELETE FROM rounds",
        "no selections": "DELETE FROM selections",
        "a final fact that is a word": "INSERT INTO facts VALUES ('final', '\"x\"')",
        "a final fact without a model": "INSERT INTO facts VALUES ('final', '{\"round\": 1, \"labels\": 9}')",
        "finals that are a number": "INSERT INTO facts VALUES ('earlier_finals', '3')",
        "a model outside": "UPDATE models SET folder = '../outside'",
        "a model that is the root": "UPDATE models SET folder = '/'",
        "a model that is the folder": "UPDATE models SET folder = '.'",
        "a model that is a number": "UPDATE models SET folder = 3",
        "a model of another kind": "UPDATE models SET kind = 'x'",
        "no models": "DELETE FROM models",
        "a wrong digest": "UPDATE models SET digest = 'x'",
        "texts outside": "UPDATE chunks SET file = '/etc/passwd'",
        "texts beside": "UPDATE chunks SET file = '../outside/thesis.txt'",
        "texts that are the database": "UPDATE chunks SET file = 'run.db'",
        "texts of another length": "UPDATE chunks SET rows = 1000000",
        "texts of a negative length": "UPDATE chunks SET rows = -5",
        "texts that begin later": "UPDATE chunks SET first = 5",
        "no texts": "DELETE FROM chunks",
        "no ids": "DELETE FROM ids",
        "ids that are out of range": "UPDATE ids SET row = 5000",
        "ids that are words": "UPDATE ids SET row = 'x'",
        "a class without a name": "UPDATE classes SET name = x'ff'",
        "a merged class": "UPDATE classes SET merged_into = 'x'",
        "texts in the database": "INSERT INTO texts VALUES ('pool', 0, 3, 4, 'x')",
    }
    found: dict[str, Damage] = {
        f"run.db with {name}": partial(sql, statement) for name, statement in statements.items()
    }
    for key, value in {
        "labels": "'x'",
        "class_counts": "3",
        "metrics": "'x'",
        "metrics.accuracy": "'high'",
        "pseudo_labels": "json('[]')",
        "seconds": 'json(\'{"fit": "x"}\')',
        "quality": 'json(\'{"cross_validation": 3, "agreement": 4}\')',
        "notes": "json('[1]')",
        "answers_seen": "-1",
        "unknown": "1",
        "round": "5",
    }.items():
        found[f"run.db with facts of a round: {key} = {value}"] = _facts(key, value)
    return found | {"run.db with an odd cell": any_cell, "run.db with broken pages": broken_page}


def _models_and_arrays() -> dict[str, Damage]:
    changes: dict[str, tuple[str, Callable[[dict[str, Any]], None]]] = {
        "rows that are too many": ("select-001", _longer("pseudo_rows")),
        "rows out of range": ("select-001", _filled("pseudo_rows", 10_000)),
        "negative rows": ("select-001", _filled("pseudo_rows", -3)),
        "targets out of range": ("select-001", _filled("pseudo_targets", 99)),
        "rows that are fractions": ("select-001", _as_type("pseudo_rows", "float32")),
        "no rows": ("select-001", lambda found: found.pop("pseudo_rows")),
        "an unknown array": ("select-001", lambda found: found.update(pseudo_evil=found["pseudo_rows"])),
        "a map out of range": ("select-001", _filled("map_rows", 10_000)),
        "classes of a map out of range": ("select-001", _filled("map_classes", 99)),
        "a map without points": ("select-001", lambda found: found.pop("map_points")),
        "points that are not finite": ("select-001", _filled("map_points", float("nan"))),
        "a memory that is too long": ("memory-001", _longer("memory")),
        "a memory without a memory": ("memory-001", lambda found: found.update(x=found.pop("memory"))),
        "a memory that is short": ("memory-001", lambda found: found.update(memory=found["memory"][:3])),
        "a memory of words": ("memory-001", _as_type("memory", "int64")),
        "predictions out of range": ("fit-000", _filled("test_predictions", 99)),
        "predictions that are too many": ("fit-000", _longer("test_predictions")),
    }
    found: dict[str, Damage] = {
        f"arrays with {name}": partial(arrays_of, file, change) for name, (file, change) in changes.items()
    }
    head = "models/000/probe.json"
    for text in ("", "[]", "3", "{}", "[" * 5000, '{"classes": 3}'):
        found[f"probe.json is {text[:20]!r}"] = partial(json_of, head, text)
    for key, value in {"classes": ["a"], "encoder": 3, "max_tokens": "x"}.items():
        found[f"probe.json has {key} = {value}"] = partial(json_key, head, key, value)
    return found


DAMAGES: dict[str, Damage] = {**_files(), **_toml(), **_database(), **_models_and_arrays()}
