"""Near-duplicates: time, memory and quality, beside MinHash with locality-sensitive hashing (package datasketch).

    python benchmarks/speed/duplicates.py --rows 10000 100000 1000000 --out duplicates.jsonl
    pip install datasketch && python benchmarks/speed/duplicates.py --peer --rows 10000

Each measurement is a process of its own, and its memory is the peak of that process without what the texts take. Half
of the texts (`planted`) are copies of others with one word changed, left out or added, or with other punctuation;
with `dense` all texts are made from a few thousand others by adding words, so that very many are rather similar. The
truth is the same join without its limit for shingles that very many texts share, which tests compare with all pairs.
Recall and precision count the pairs of texts that are in one group.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import resource
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

KINDS = ("planted", "dense")
PERMUTATIONS = 128
WIDER = 0.25
PEERS = ("datasketch", "datasketch, wide")
Rows = npt.NDArray[np.int64]


def make(kind: str, rows: int) -> list[str]:
    from actune.data.tasks import load_task

    real = list(load_task("trec").pool.texts)
    words = [word for text in real for word in text.split()]
    draw = random.Random(0)
    if kind == "dense":
        return [" ".join([draw.choice(real), *draw.choices(words, k=3)]) for _ in range(rows)]
    texts = [" ".join(draw.choices(words, k=draw.randint(6, 20))) for _ in range(rows // 2)]
    for _ in range(rows - len(texts)):
        texts.append(changed(draw.choice(texts), words, draw))
    draw.shuffle(texts)
    return texts


def changed(text: str, words: list[str], draw: random.Random) -> str:
    parts, place = text.split(), draw.randrange(len(text.split()))
    how = draw.randrange(4)
    if how == 0:
        parts[place] = draw.choice(words)
    elif how == 1 and len(parts) > 1:
        del parts[place]
    elif how == 2:
        parts.insert(place, draw.choice(words))
    else:
        return text.upper() + " !!"
    return " ".join(parts)


def ours(texts: list[str], threshold: float) -> Rows:
    from actune.data.duplicates import near_duplicates

    return near_duplicates(texts, threshold)


def without_limit(texts: list[str], threshold: float) -> Rows:
    from actune.data import duplicates

    duplicates.MOST_PAIRS = len(texts) ** 2 * 100
    return duplicates.near_duplicates(texts, threshold)


def peer_wide(texts: list[str], threshold: float) -> Rows:
    """The same with a lower threshold for what is proposed, which finds more and takes longer."""
    return peer(texts, threshold, threshold - WIDER)


def peer(texts: list[str], threshold: float, proposed: float | None = None) -> Rows:
    """MinHash of the same pairs of words, locality-sensitive hashing, and an exact check of what it proposes."""
    import datasketch

    sets = []
    for text in texts:
        words = re.findall(r"\w+", text.lower())
        sets.append({" ".join(pair) for pair in pairwise(words)} or set(words) or {text.strip()})
    index = datasketch.MinHashLSH(threshold=proposed or threshold, num_perm=PERMUTATIONS)
    parent = list(range(len(texts)))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = row = parent[parent[row]]
        return row

    hashes = datasketch.MinHash.bulk([[shingle.encode() for shingle in each] for each in sets], num_perm=PERMUTATIONS)
    for row, sketch in enumerate(hashes):
        for other in index.query(sketch):
            one, two = root(row), root(other)
            if one != two and len(sets[row] & sets[other]) >= threshold * len(sets[row] | sets[other]):
                parent[max(one, two)] = min(one, two)
        index.insert(row, sketch)
    return np.array([root(row) for row in range(len(texts))])


METHODS = {"ours": ours, "without limit": without_limit, "datasketch": peer, "datasketch, wide": peer_wide}


def together(groups: Rows) -> int:
    """How many pairs of rows are in one group."""
    sizes = np.unique(groups, return_counts=True)[1].astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def shared(one: Rows, other: Rows) -> int:
    """How many pairs are in one group of both."""
    return together(np.unique(np.stack([one, other]), axis=1, return_inverse=True)[1].ravel())


def measure(method: str, kind: str, rows: int, threshold: float, save: Path) -> None:
    texts = make(kind, rows)
    before, started, worked = (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        time.perf_counter(),
        time.process_time(),
    )
    groups = METHODS[method](texts, threshold)
    times = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - worked}
    np.save(save, groups)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told = {name: round(seconds, 2) for name, seconds in times.items()}
    print(json.dumps({**told, "mebibytes": round((peak - before) / 1024)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--truth", type=int, default=100_000, help="up to so many rows the truth is found too")
    parser.add_argument("--peer", action="store_true", help="also datasketch")
    parser.add_argument("--out", help="a file to add results to")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        return measure(given.measure[0], given.kinds[0], given.rows[0], given.threshold, Path(given.measure[1]))
    about = {"command": " ".join(["python", *sys.argv]), "machine": f"{platform.machine()} {os.cpu_count()} cores"}
    for kind in given.kinds:
        for rows in given.rows:
            found: dict[str, Rows] = {}
            methods = ["ours", *(["without limit"] if rows <= given.truth else []), *(PEERS if given.peer else [])]
            for method in methods:
                place = f"/tmp/duplicates-{os.getpid()}.npy"
                words = ["--kinds", kind, "--rows", str(rows), "--threshold", str(given.threshold)]
                command = [sys.executable, __file__, *words, "--measure", method, place]
                facts = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
                found[method] = np.load(place)
                Path(place).unlink()
                facts = {"kind": kind, "rows": rows, "threshold": given.threshold, "method": method, **facts}
                facts["pairs"] = together(found[method])
                report(facts, about, given.out)
            for method in [each for each in found if each != "without limit" and "without limit" in found]:
                truth = found["without limit"]
                both = shared(found[method], truth)
                facts = {"kind": kind, "rows": rows, "threshold": given.threshold, "method": method}
                facts["recall"] = round(both / max(1, together(truth)), 4)
                facts["precision"] = round(both / max(1, together(found[method])), 4)
                report(facts, about, given.out)


def report(facts: dict[str, object], about: dict[str, str], out: str | None) -> None:
    print(json.dumps(facts), flush=True)
    if out:
        with Path(out).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({**facts, **about}) + "\n")


if __name__ == "__main__":
    main()
