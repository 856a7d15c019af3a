"""Fuzzes tables of votes, through `label-model` and through a project that starts with them."""

from __future__ import annotations

import csv
import io
import json
import random

from tests.fuzz.ground import PLAN, TEXTS, Place
from tests.fuzz.words import NUMBERS, encoded, mutated_text, value

VOTES = ("x", "y", "", "-1", "0", "1", "1.0", "nan", "z", "X ", "2")


def make(rng: random.Random, place: Place) -> list[list[str]]:
    """Some rows of votes, as columns or as lists."""
    kind = rng.choice(("columns", "columns", "lists", "jsonl"))
    file = "votes.jsonl" if kind == "jsonl" else "votes.csv"
    usual = rng.choice((("x", "y", ""), ("x", "y", ""), ("0", "1", "-1"), VOTES))
    (place.folder / file).write_bytes(encoded(rng, _damaged(rng, _rows(rng, kind, usual), kind)))
    place.take("tiny", "bare.csv")
    if rng.random() < 0.8:
        words = ["label-model", file, "--label-model", rng.choice(("em", "em", "majority"))]
        if rng.random() < 0.5:
            strange = rng.choice(("x", "0,1,2", value(rng).replace("\0", "")))
            words += ["--labels", rng.choice(("x,y", "x,y", "x,y,z", strange))]
        if rng.random() < 0.2:
            words += ["--columns", rng.choice(("vote_a", "vote_a", "vote_a,vote_b", "votes", "", ",", "id"))]
        if rng.random() < 0.2:
            words += ["--to", "labels.csv"]
        return [words]
    short = [*PLAN, "--model", "tiny", "--out", "new", "--labels", "x,y"]
    return [["start", "bare.csv", *short, "--votes", file]]


def _rows(rng: random.Random, kind: str, usual: tuple[str, ...]) -> list[dict[str, object]]:
    sources = rng.choice((1, 2, 3, 3, 8))
    rows: list[dict[str, object]] = []
    for number, text in enumerate(TEXTS):
        votes = [rng.choice(usual) for _ in range(sources)]
        if rng.random() < 0.01:
            votes[0] = rng.choice((*NUMBERS, value(rng)))
        row: dict[str, object] = {"id": f"q{number}", "text": text}
        if kind == "columns":
            row |= {f"vote_{'abcdefgh'[place]}": vote for place, vote in enumerate(votes)}
        else:
            row["votes"] = votes if kind == "jsonl" else json.dumps(votes)
        rows.append(row)
    return rows[: rng.choice((1, 2, 40, 40, 40))]


def _damaged(rng: random.Random, rows: list[dict[str, object]], kind: str) -> str:
    for _ in range(rng.choice((0, 0, 1, 2))):
        row, name = rng.choice(rows), rng.choice(list(rows[0]))
        row[name] = rng.choice((value(rng), None, [], {}, 10**9, 10**30, -5, True, 0.5, float("inf"), [["x"]]))
    if kind == "jsonl":
        text = "\n".join(json.dumps(row) for row in rows) + "\n"
    else:
        table = io.StringIO(newline="")
        writer = csv.DictWriter(table, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        text = table.getvalue()
    return mutated_text(rng, text) if rng.random() < 0.4 else text
