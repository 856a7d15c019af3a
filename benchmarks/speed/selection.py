"""Seconds and memory to choose rows: regions, CAL, BADGE and top-k, against the libraries that do the same.

    PYTHONPATH=. python benchmarks/speed/selection.py --rows 10000 100000 --width 384 --out selection.jsonl
    PYTHONPATH=. python benchmarks/speed/selection.py --device cuda --rows 180000 1000000 --width 768

The same numbers for all: clouds of unequal size, random weights, made-up predictions. Every line is the shortest of
some repeats, each with its own seed; inertia is the mean over them, so that it tells the seeding and not the luck.
`times` is how often our time fits into the peer's, in this run. Peers have the CPU, as they always do. `gib` is what a
call adds to the data at its peak: allocated on the device, or resident in the process.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch

from actune.core.classifier import Readout
from actune.core.kmeans import kmeans
from actune.core.streams import Streams
from actune.core.view import View
from actune.methods.features import gradient_factors
from actune.methods.queries import Query, Spread, Top
from actune.methods.uncertainty import Cal, entropy
from benchmarks.speed.common import Results, seconds_of

K, STARTS, ITERATIONS = 40, 3, 50
CLASSES, LABELLED, NEIGHBORS, ASKED = 14, 1000, 10, 100
CLOUDS = 60
GIB = 2**30

Work = Callable[[int], Any]  # what is timed, given a seed


@dataclass(frozen=True)
class Pool:
    """Tensors on the device, for us, and the same numbers as arrays, for peers; the first rows are labelled."""

    embedding: torch.Tensor  # (rows, width)
    importance: torch.Tensor  # (rows,)
    log_proba: torch.Tensor  # (rows, classes)

    def view(self, seed: int) -> View:
        labelled = torch.arange(LABELLED)
        readout = Readout(self.log_proba, self.embedding, self.embedding)
        rest = torch.arange(LABELLED, len(self.embedding))
        return View(readout, rest, labelled, Streams(seed), labels=labelled % CLASSES)

    @cached_property
    def points(self) -> Any:
        return self.embedding.cpu().numpy()

    @cached_property
    def unit(self) -> Any:
        return torch.nn.functional.normalize(self.embedding).cpu().numpy()

    @cached_property
    def weights(self) -> Any:
        return self.importance.cpu().numpy()

    @cached_property
    def proba(self) -> Any:
        return self.log_proba.exp().cpu().numpy()


def made_up(rows: int, width: int, device: torch.device) -> Pool:
    """Clouds of unequal size that overlap a little, and are predicted alike within."""
    draw = torch.Generator(device).manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=draw, device=device)

    shares = torch.rand(CLOUDS, generator=draw, device=device).square() + 0.01
    cloud = torch.multinomial(shares, rows, replacement=True, generator=draw)
    points = normal(rows, width)
    centres = normal(CLOUDS, width)
    for first in range(0, rows, 65_536):  # in place: a million rows are 3 GB
        points[first : first + 65_536] += centres[cloud[first : first + 65_536]]
    logits = 3 * normal(CLOUDS, CLASSES)[cloud] + normal(rows, CLASSES)
    return Pool(points, torch.rand(rows, generator=draw, device=device).square(), logits.log_softmax(1))


# ours


def our_regions(pool: Pool) -> Work:
    def work(seed: int) -> float:
        rng = np.random.default_rng(seed)
        return kmeans(pool.embedding, pool.importance, k=K, rng=rng, restarts=STARTS, iterations=ITERATIONS).inertia

    return work


def asking(query: Query) -> Callable[[Pool], Work]:
    return lambda pool: lambda seed: query(pool.view(seed), ASKED).numpy()


# peers: an ImportError says that one is not installed


def sklearn_regions(pool: Pool) -> Work:
    clusters: Any = import_module("sklearn.cluster")

    def work(seed: int) -> float:
        found = clusters.KMeans(K, n_init=STARTS, max_iter=ITERATIONS, random_state=seed)
        return float(found.fit(pool.points, sample_weight=pool.weights).inertia_)

    return work


def sklearn_cal(pool: Pool) -> Work:
    neighbors: Any = import_module("sklearn.neighbors")

    def work(seed: int) -> Any:
        unit = pool.points / np.linalg.norm(pool.points, axis=1, keepdims=True)
        search = neighbors.NearestNeighbors(n_neighbors=NEIGHBORS, algorithm="brute").fit(unit[:LABELLED])
        near = pool.proba[search.kneighbors(unit[LABELLED:], return_distance=False)]  # (rows, neighbours, classes)
        return highest((near * np.log(near / pool.proba[LABELLED:, None])).sum(2).mean(1))

    return work


def sklearn_badge(pool: Pool) -> Work:
    clusters: Any = import_module("sklearn.cluster")

    def work(seed: int) -> Any:
        proba = pool.proba[LABELLED:]
        left = proba - np.eye(CLASSES, dtype=np.float32)[proba.argmax(1)]
        gradients = (left[:, :, None] * pool.points[LABELLED:, None, :]).reshape(len(left), -1)
        return LABELLED + clusters.kmeans_plusplus(gradients, ASKED, random_state=seed, n_local_trials=1)[1]

    return work


def numpy_top(pool: Pool) -> Work:
    def work(seed: int) -> Any:
        proba = pool.proba[LABELLED:]
        return highest(-(proba * np.log(proba)).sum(1))

    return work


def highest(scores: Any) -> Any:
    return LABELLED + np.argsort(-scores, kind="stable")[:ASKED]


def skactiveml_cal(pool: Pool) -> Work:
    peer: Any = import_module("skactiveml.pool")
    nearest = {"n_neighbors": NEIGHBORS, "algorithm": "brute"}
    return skactiveml(peer.ContrastiveAL(nearest, clf_embedding_flag_name="embeddings"), pool.unit, pool.proba)


def skactiveml_badge(pool: Pool) -> Work:
    peer: Any = import_module("skactiveml.pool")
    return skactiveml(peer.Badge(clf_embedding_flag_name="embeddings"), pool.points, pool.proba)


def skactiveml(query: Any, points: Any, proba: Any) -> Work:
    """A strategy of scikit-activeml with a classifier that looks up what it says: a sample is the number of its row."""
    base: Any = import_module("skactiveml.base")

    class LookUp(base.SkactivemlClassifier):  # type: ignore[misc]
        def fit(self, samples: Any, labels: Any) -> Any:
            return self

        def predict_proba(self, samples: Any, embeddings: bool) -> Any:
            rows = samples[:, 0].astype(int)
            return proba[rows], points[rows]

    samples = np.arange(len(points), dtype=float)[:, None]
    labels = np.where(samples[:, 0] < LABELLED, samples[:, 0] % CLASSES, np.nan)
    return lambda seed: query.query(samples, labels, LookUp(), fit_clf=False, batch_size=ASKED)


def small_text_badge(pool: Pool) -> Work:
    peer: Any = import_module("small_text.integrations.pytorch.query_strategies.strategies")
    strategy, rows = peer.BADGE(CLASSES), np.arange(LABELLED, len(pool.points))
    return lambda seed: strategy.sample(None, None, rows, None, None, ASKED, pool.points, pool.proba)


LINES: dict[str, dict[str, Callable[[Pool], Work]]] = {
    "regions": {"ours": our_regions, "scikit-learn": sklearn_regions},
    "cal": {"ours": asking(Top(Cal(NEIGHBORS))), "scikit-learn": sklearn_cal, "scikit-activeml": skactiveml_cal},
    "badge": {
        "ours": asking(Spread(gradient_factors)),
        "scikit-learn": sklearn_badge,
        "scikit-activeml": skactiveml_badge,
        "small-text": small_text_badge,
    },
    "top": {"ours": asking(Top(entropy)), "NumPy": numpy_top},
}


def too_large(what: str, pool: Pool, given: argparse.Namespace) -> str | None:
    if len(pool.embedding) > given.peer_rows:
        return f"more than {given.peer_rows:,} rows"
    gradients = pool.embedding.numel() * CLASSES * 8 / GIB  # peers build them, some in float64
    if what == "badge" and gradients > given.peer_gib:
        return f"{gradients:.0f} GiB of gradient embeddings"
    return None


def measured(work: Work, repeats: int, device: torch.device) -> tuple[dict[str, Any], list[Any]]:
    """The shortest time, the highest peak, and what each seed gave."""
    seconds, peaks, found = [], [], []
    for seed in range(repeats):
        before = start_peak(device)
        took, result = seconds_of(lambda seed=seed: work(seed), 1, device)  # type: ignore[misc]
        peaks.append(peak(device) - before)
        seconds.append(took)
        found.append(result)
    return {"seconds": round(min(seconds), 4), "gib": round(max(peaks), 3)}, found


def start_peak(device: torch.device) -> float:
    """GiB in use now, from where a peak is measured."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        return torch.cuda.memory_allocated(device) / GIB
    with suppress(OSError):  # where Linux does not let go of an earlier peak, a lower one counts as nothing
        Path("/proc/self/clear_refs").write_text("5")
    return peak(device)


def peak(device: torch.device) -> float:
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / GIB
    if (status := Path("/proc/self/status")).exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def compared(what: str, found: list[Any], ours: list[Any]) -> dict[str, Any]:
    """Regions by our inertia as a share of theirs; CAL and top-k by the rows that both ask about; BADGE is a draw."""
    if what == "regions":
        return {"inertia": round(float(np.mean(found))), "ours/theirs": round(float(np.mean(ours) / np.mean(found)), 4)}
    return {} if what == "badge" else {"same_rows": len(np.intersect1d(found[0], ours[0]))}


def run(what: str, pool: Pool, given: argparse.Namespace, results: Results) -> None:
    rows, width = pool.embedding.shape
    ours: list[Any] = []
    own = 0.0
    for name, prepared in LINES[what].items():
        facts: dict[str, Any] = {"what": what, "rows": rows, "width": width, "who": name}
        mine = name == "ours"
        if not mine and (reason := too_large(what, pool, given)):
            results.add(**facts, left_out=reason)
            continue
        try:
            work = prepared(pool)
        except ImportError as missing:
            results.add(**facts, left_out=str(missing))
            continue
        measures, found = measured(work, given.repeats, pool.embedding.device if mine else torch.device("cpu"))
        if mine:
            own, ours = measures["seconds"], found
        results.add(**facts, **measures, times=round(measures["seconds"] / own, 2), **compared(what, found, ours))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--width", type=int, nargs="+", default=[384])
    parser.add_argument("--what", nargs="+", default=list(LINES), choices=list(LINES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer-rows", type=int, default=200_000, help="peers are left out for larger pools")
    parser.add_argument("--peer-gib", type=float, default=8, help="and for larger gradient embeddings")
    parser.add_argument("--out")
    given = parser.parse_args()
    assert torch.get_float32_matmul_precision() == "highest"  # float32 is float32, on a GPU too
    results = Results(given.out, torch.device(given.device))
    for width in given.width:
        for rows in given.rows:
            pool = made_up(rows, width, torch.device(given.device))
            for what in given.what:
                run(what, pool, given, results)


if __name__ == "__main__":
    main()
