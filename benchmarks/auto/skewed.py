"""Pools where one class is about twenty times as common as another: what the grid `skewed` needs.

    PYTHONPATH=. python benchmarks/auto/skewed.py runs/skewed-data
    actune bench run benchmarks/grids/skewed.toml --workers 2 --out runs/skewed
    PYTHONPATH=. python benchmarks/auto/judge.py collect runs/skewed benchmarks/results/skewed
    PYTHONPATH=. python benchmarks/auto/judge.py show benchmarks/results/skewed --measure macro_f1

Train, dev and test keep all texts of the first class, a twentieth of the last one, and something between of the others.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from actune.core.pool import Pool
from actune.core.streams import Streams
from actune.data.tasks import load_task

TASKS = ("sst2", "ag_news", "pubmed_sections", "dbpedia14")  # TREC and ChemProt are skewed as they are
TIMES = 20


def make(name: str, folder: Path) -> None:
    task = load_task(name)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "labels.json").write_text(json.dumps(task.pool.classes), encoding="utf-8")
    for part, pool in (("train", task.pool), ("dev", task.dev), ("test", task.test)):
        if pool is None:
            raise SystemExit(f"{name} has no {part} part")
        kept = thinned(pool, Streams(0).rng(f"{name} {part} skewed").random(len(pool)).tolist())
        lines = [json.dumps({"text": text, "label": label}, ensure_ascii=False) for text, label in kept]
        (folder / f"{part}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        counts = Counter(label for _, label in kept).values()
        times = max(counts) / min(counts)
        print(f"{folder / part}: {len(kept):,} of {len(pool):,} texts, one class {times:.0f} times another")


def thinned(pool: Pool, draws: list[float]) -> list[tuple[str, str]]:
    """Text and class of the rows whose draw lies below the share that is kept of their class."""
    last = len(pool.classes) - 1
    return [
        (text, pool.classes[label])
        for text, label, draw in zip(pool.texts, pool.labels, draws, strict=True)
        if draw < TIMES ** (-label / last)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for name in TASKS:
        make(name, folder / name)


if __name__ == "__main__":
    main()
