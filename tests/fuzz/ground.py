"""What fuzzers begin with: small real data, a tiny encoder, a project, a run and results, made once and then copied."""

from __future__ import annotations

import csv
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tests.models.tiny import WORDS, save_tiny

TEXTS = [f"{a} {b} the {c} ?" for a in WORDS[:5] for b in WORDS[5:9] for c in WORDS[9:11]]  # 40
CLASSES = ("x", "y")
SHORT = ["--learner", "probe", "--device", "cpu", "--set", "steps=3", "--set", "epochs=1"]
PLAN = [*SHORT, "--initial", "6", "--batch", "4"]
RULES = """
[[rule]]
name = "persons"
pattern = "^(who|what)"
label = "y"

[[rule]]
name = "places"
pattern = "where|city"
label = "x"
case = true
"""
PYTHON_RULES = """
def rule_persons(text):
    return "y" if text.startswith(("who", "what")) else None

def rule_long(text):
    return "x" if len(text) > 20 else None
"""
GRID = """
title = "small"

[task.questions]
data = "labelled.csv"
hold_out_test = 0.2

[grid]
tasks = "questions"
methods = ["random", "entropy"]
models = "tiny"
learners = "probe"
seeds = [0, 1]

[settings]
initial = 6
batch = 4
rounds = 2
steps = 3
epochs = 1

[[override]]
when = { method = "random" }
set = { beta = 0.5 }

[[sweep]]
methods = "entropy"
seeds = 0
over = { regions = [3, 4] }
"""


@dataclass(frozen=True)
class Place:
    """Where one input lives: a scratch folder of its own, what all inputs share, and what nothing may touch."""

    folder: Path
    ground: Path
    canary: Path

    def take(self, *names: str) -> None:
        """Copies files and folders of the ground into the scratch folder; the encoder becomes a link."""
        for name in names:
            source, target = self.ground / name, self.folder / name
            if name == "tiny":
                target.symlink_to(source)
            elif source.is_dir():
                shutil.copytree(source, target, symlinks=True)
            else:
                shutil.copyfile(source, target)

    def watched(self) -> dict[str, str]:
        """Digests of what an input has put outside of the folders that its commands may change."""
        found: dict[str, str] = {}
        for root in (self.folder / "outside", self.folder / "deep" / "outside"):
            for path in sorted(root.rglob("*")) if root.is_dir() else ():
                content = sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""
                found[str(path.relative_to(self.folder))] = content
        return found


def label_of(text: str) -> str:
    return CLASSES[text.startswith(("who", "what"))]


def prepare(ground: Path) -> None:
    """Makes everything, in this process: what is imported late is then there for all children."""
    save_tiny(ground / "tiny")
    ids = [f"q{number}" for number in range(len(TEXTS))]
    labels = [label_of(text) for text in TEXTS]
    _write(ground / "labelled.csv", ["id", "text", "label"], zip(ids, TEXTS, labels, strict=True))
    _write(ground / "bare.csv", ["id", "text", "label"], [[id, text, ""] for id, text in zip(ids, TEXTS, strict=True)])
    _write(ground / "test.csv", ["id", "text", "label"], list(zip(ids, TEXTS, labels, strict=True))[::4])
    votes = [
        [id, text, label, ["y", "", "x"][row % 3]]
        for row, (id, text, label) in enumerate(zip(ids, TEXTS, labels, strict=True))
    ]
    _write(ground / "votes.csv", ["id", "text", "vote_first", "vote_second"], votes)
    for name, content in (("rules.toml", RULES), ("rules.py", PYTHON_RULES), ("grid.toml", GRID)):
        (ground / name).write_text(content, encoding="utf-8")
    model = ["--model", str(ground / "tiny")]
    _make_project(ground, [*PLAN, *model])
    run = ["run", str(ground / "labelled.csv"), *PLAN, *model, "--method", "actune", "--rounds", "2"]
    command(*run, "--out", str(ground / "run"))
    _make_results(ground)


def command(*words: str) -> None:
    """Runs a command that must work."""
    from actune.cli.app import app

    code = app(list(words), standalone_mode=False)
    assert not code, f"actune {' '.join(words)} ended with {code}"


def _make_project(ground: Path, words: Sequence[str]) -> None:
    folder, batch = str(ground / "project"), ground / "batch.csv"
    labels = ["--labels", ",".join(CLASSES), "--test", str(ground / "test.csv"), "--method", "actune"]
    command("start", str(ground / "bare.csv"), *labels, *words, "--out", folder)
    for step in ("first", "second"):
        command("ask", folder, "--to", str(batch))
        with batch.open(encoding="utf-8-sig", newline="") as handle:
            rows = [[row["id"], row["text"], label_of(row["text"])] for row in csv.DictReader(handle)]
        _write(batch, ["id", "text", "label"], rows)
        if step == "first":
            command("tell", folder, str(batch))
            command("advance", folder)
            command("report", folder)
            command("export", folder, "--to", str(ground / "exported.csv"), "--pseudo")


def _make_results(ground: Path) -> None:
    """The small grid, cell after cell in this process."""
    from actune.bench.executors import Event
    from actune.bench.grid import parse_grid
    from actune.bench.publishing import publish
    from actune.bench.run import device_of, prepare
    from actune.bench.work import run_cell

    class Here:
        def run(self, cells, job):  # type: ignore[no-untyped-def]
            for cell in cells:
                run_cell(cell, job)
                yield Event("finished", cell)

    text = GRID.replace('"labelled.csv"', f'"{ground / "labelled.csv"}"').replace('"tiny"', f'"{ground / "tiny"}"')
    work = prepare(parse_grid(text), ground / "results", device_of("cpu"))
    for _ in work.events(Here()):  # type: ignore[arg-type]
        pass
    publish(ground / "results", ground / "tidy")


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows([columns, *rows])


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
