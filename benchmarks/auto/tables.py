"""Files of lines that grow run by run, and tables as Markdown has them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from actune.core.facts import RoundFacts

Line = dict[str, Any]


def stored(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def add_runs(file: Path, one_run: Callable[..., list[Line]], given: Iterable[Sequence[Any]], workers: int) -> None:
    """Calls it with each of these in processes, and adds what it returns to the file as soon as it does."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as processes:
        for future in as_completed([processes.submit(one_run, *words) for words in given]):
            lines, fresh = future.result(), not file.exists()
            with file.open("a", encoding="utf-8", newline="") as out:
                writer = csv.DictWriter(out, lines[0], lineterminator="\n")
                if fresh:
                    writer.writeheader()
                writer.writerows(lines)


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """The first line has the names of the columns."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], ["---"] * len(lines[0]), *lines[1:]])


def columns_of(facts: RoundFacts) -> dict[str, Any]:
    """The facts of a round under the names that they have in the kept tables."""
    pseudo = facts.pseudo_labels
    return {
        "round": facts.round,
        "labels": facts.labels,
        "accuracy": facts.accuracy,
        "macro_f1": facts.macro_f1,
        "dev_accuracy": facts.dev_accuracy,
        "gain": facts.gain,
        "dev_gain": facts.dev_gain,
        "trusted": pseudo.trained_on,
        "offered": pseudo.count,
        "offered_accuracy": pseudo.accuracy,
        "offered_estimate": pseudo.estimate,
        "seconds": dict(facts.seconds),
    }
