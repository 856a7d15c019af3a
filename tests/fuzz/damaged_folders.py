"""Fuzzes run folders of others: a damaged project, through every command that opens one."""

from __future__ import annotations

import random
from contextlib import suppress

from tests.fuzz import folders
from tests.fuzz.ground import Place

COMMANDS = (
    ["status", "project"],
    ["status", "project", "--json"],
    ["ask", "project", "--to", "new.csv"],
    ["ask", "project"],
    ["tell", "project", "batch.csv"],
    ["advance", "project", "--force"],
    ["export", "project", "--to", "labels.csv", "--pseudo"],
    ["report", "project", "--to", "page.html"],
    ["predict", "project", "bare.csv", "--out", "predicted.csv"],
    ["add", "project", "bare.csv"],
    ["start", "bare.csv", "--labels", "x,y", "--start-from", "project", "--model", "tiny", "--out", "new"],
    ["verify", "project"],
    ["repair", "project"],
)


def make(rng: random.Random, place: Place) -> list[list[str]]:
    """One or two damages, and one to three commands."""
    place.take("project", "batch.csv", "bare.csv", "tiny")
    project = place.folder / "project"
    twice = rng.choice((1, 1, 1, 2)) == 2
    folders.damage(project, rng)
    if twice and not any(path.is_fifo() for path in project.rglob("*")):  # to read one would never end
        with suppress(Exception):  # the first damage may have left nothing that the second one can read
            folders.damage(project, rng)
    known = [words for words in COMMANDS if words[0] in _commands()]
    return [list(words) for words in rng.sample(known, rng.choice((1, 1, 2, 3)))]


def _commands() -> set[str]:
    import typer

    from actune.cli.app import app

    return set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
