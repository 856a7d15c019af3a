"""Fuzzes data files: the files of `data_files`, through the functions that read them and through commands."""

from __future__ import annotations

import random

from tests.fuzz import data_files
from tests.fuzz.ground import Place
from tests.fuzz.inputs import Input

COMMANDS = (
    ["add", "project", "FILE"],
    ["tell", "project", "FILE"],
    ["predict", "project", "FILE", "--out", "new.csv"],
    ["label-model", "FILE"],
    ["start", "FILE", "--labels", "a,b", "--model", "tiny", "--learner", "probe", "--out", "new"],
)


def make(rng: random.Random, place: Place) -> Input:
    """A damaged file; nine of ten are read by the library, which is faster."""
    name, content = data_files.make(rng)
    file = place.folder / name
    file.write_bytes(content)
    if rng.random() < 0.9:
        return lambda: data_files.run(file)
    place.take("tiny", "project")
    return [[name if word == "FILE" else word for word in rng.choice(COMMANDS)]]
