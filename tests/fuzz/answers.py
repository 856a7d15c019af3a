"""Fuzzes files of answers, through `tell`, on a real small project."""

from __future__ import annotations

import csv
import io
import json
import random

from tests.fuzz.ground import Place
from tests.fuzz.words import encoded, mutated_text, value

LABELS = ("x", "y", "X", " y ", "", "skip", "unskip", "z", "SKIP", "x\n", "0", "-1", "nan", "=x")


def make(rng: random.Random, place: Place) -> list[list[str]]:
    """A filled batch, damaged."""
    place.take("project", "batch.csv")
    rows = list(csv.DictReader((place.folder / "batch.csv").open(encoding="utf-8")))
    for row in rows:
        if rng.random() < 0.5:
            row["label"] = rng.choice((*LABELS, value(rng)))
        if rng.random() < 0.1:
            row["id"] = rng.choice(("", "q0", "q1", "Q2", " q3", "q999", value(rng)))
    rows += rng.choices(rows, k=rng.choice((0, 0, 1, 3)))
    if rng.random() < 0.15:
        rng.choice(rows)["extra"] = value(rng)
    kind = rng.choice((".csv", ".csv", ".csv", ".tsv", ".jsonl", ".json"))
    text = _written(rows, kind)
    if rng.random() < 0.7:
        text = mutated_text(rng, text)
    (place.folder / f"told{kind}").write_bytes(encoded(rng, text))
    words = ["tell", "project", f"told{kind}"]
    if rng.random() < 0.2:
        words += ["--by", rng.choice(("me", "", "\x1b[31m", "a" * 3000, "\udcff"))]
    if rng.random() < 0.1:
        words += [rng.choice(("--label-column", "--id-column", "--encoding")), value(rng).replace("\0", "")]
    if rng.random() < 0.2:
        words.append("--json")
    return [words, ["status", "project"]] if rng.random() < 0.3 else [words]


def _written(rows: list[dict[str, str]], kind: str) -> str:
    if kind == ".jsonl":
        return "\n".join(json.dumps(row) for row in rows) + "\n"
    if kind == ".json":
        return json.dumps(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, columns, delimiter="\t" if kind == ".tsv" else ",")
    writer.writeheader()
    writer.writerows(rows)
    return table.getvalue()
