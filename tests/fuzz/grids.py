"""Fuzzes grids: the repository's own and a small one, mutated, through the commands that read a grid."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from tests.fuzz.ground import GRID, Place
from tests.fuzz.words import NUMBERS, encoded, mutated_text

FOLDER = Path(__file__).parents[2] / "benchmarks" / "grids"
FURTHER = (
    '[task.own]\ndata = "bare.csv"\ntext = "text"\n',
    '[[block]]\ntasks = "questions"\nmethods = "bald"\nsettings = { weak = "rules.toml" }\n',
    '[[block]]\nmethods = "badge"\nsettings = { noise = 0.1, first = "alps", preset = "released", adapt = 1 }\n',
    '[[sweep]]\nover = { beta = [0, 1], noise = [0.1, 0.2] }\nmethods = "actune"\n',
    '[[override]]\nwhen = { task = "questions", seed = 0 }\nset = { momentum_low = 0.1, skip_word = "x" }\n',
    "x = " + "[" * 300 + "]" * 300 + "\n",
    "a" + ".a" * 300 + " = 1\n",
)


def make(rng: random.Random, place: Place) -> list[list[str]]:
    """A damaged grid through `plan`, and now and then `run` and `status`."""
    text = GRID if rng.random() < 0.7 else rng.choice(_own_grids())
    for piece in rng.sample(FURTHER, rng.choice((0, 0, 1, 2))):
        text += "\n" + piece
    if rng.random() < 0.3:
        text = _with_setting(rng, text)
    if rng.random() < 0.95:
        text = mutated_text(rng, text)
    place.take("tiny", "labelled.csv", "bare.csv", "rules.toml")
    (place.folder / "grid.toml").write_bytes(encoded(rng, text))
    plan = ["bench", "plan", "grid.toml", "--device", "cuda"]
    if rng.random() < 0.2:
        plan.append("--json")
    if rng.random() < 0.2:
        return [plan, ["bench", "run", "grid.toml", "--device", "cpu", "--out", "new"], ["bench", "status", "new"]]
    return [plan]


def _with_setting(rng: random.Random, text: str) -> str:
    from dataclasses import asdict

    from actune.core.settings import Settings, Training

    name = rng.choice([*asdict(Settings()), *asdict(Training()), "noise", "adapt", "preset", "weak", "label_model"])
    given = rng.choice((*(number for number in NUMBERS if "_" not in number), "[]", "{}", '"x"', "true", "[1, 2]"))
    return text.replace("[settings]\n", f"[settings]\n{name} = {given}\n")


@cache
def _own_grids() -> list[str]:
    return [file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.toml"))]
