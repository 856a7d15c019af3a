"""What the paper compares: its tasks and methods under our names, and which grid fills each of its figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from actune.bench.comparison import Saving, best, saving, shared
from actune.bench.evidence import FULL, WEAK, Curves, Evidence, Key, Scene
from actune.data.tasks import cards
from actune.session.config import Config

TASKS = ("sst2", "ag_news", "pubmed_sections", "dbpedia14")  # of Fig. 1 and 3
WEAK_TASKS = ("trec", "chemprot")  # of Fig. 2

ASKING = ("random", "entropy", "bald", "badge", "alps", "cal")  # active learning: nothing is trusted
TRUSTING = ("st", "ust", "cosine", "asst", "ceal", "bass", "revival")
OURS_ASKING = ("actune-query", "actune-cal-query")
OURS = ("actune", "actune-cal")
PLUGGED = ("actune", "actune-cal", "actune-badge", "actune-alps")  # Fig. 5a, beside the four that they plug in
WITHOUT_ACTUNE = ("entropy", "cal", "badge", "alps")
ABLATIONS = ("actune", "actune-no-regions", "actune-no-memory", "actune-no-weights")  # Fig. 5b
MAPPED = ("entropy", "actune", "cal", "actune-cal")  # Fig. 6


def fully_supervised(evidence: Evidence, scene: Scene) -> Curves | None:
    """What training on every label of the pool gives, where somebody ran it."""
    known = cards().get(scene.task)
    pool = known.files["train"]["rows"] if known else None
    for key, curves in evidence.accuracy.items():
        if key.scene._replace(start=scene.start) != scene:
            continue
        if (FULL, "") in key.changes or (pool and curves.labels[-1] >= pool):
            return curves
    return None


def config(evidence: Evidence, scene: Scene) -> Config | None:
    """Of a run of the scene with plain settings, where its configuration is at hand."""
    cells = (cell for (key, _), cell in evidence.cells.items() if key.scene == scene and not key.changes)
    record = evidence.results.record(next(cells, "none"))
    return record.config if record else None


def setting(evidence: Evidence, scene: Scene, name: str) -> Any:
    """A setting that nobody changed: from a run of the scene, else the task's own."""
    found = config(evidence, scene) or cards().get(scene.task)
    return getattr(found.settings, name) if found else None


def swept(evidence: Evidence, scene: Scene, method: str, names: tuple[str, ...]) -> dict[tuple[float, ...], Curves]:
    """Curves by the values of these settings where nothing else is changed, in rising order."""
    found: dict[tuple[float, ...], Curves] = {}
    for key, curves in evidence.accuracy.items():
        changes = dict(key.changes)
        if (key.scene, key.method) != (scene, method) or not changes.keys() <= set(names):
            continue
        values = [changes[name] if name in changes else setting(evidence, scene, name) for name in names]
        if None not in values:
            found.setdefault(tuple(map(float, values)), curves)
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Rival:
    """Against whom AcTune's labels are counted in one scene, and what it saves."""

    scene: Scene
    method: str
    saving: Saving
    seeds: tuple[int, ...]  # that it shares with AcTune: what is saved is counted under these


def rivals(evidence: Evidence, candidates: tuple[str, ...], fewest: int = 1) -> list[Rival]:
    """The best of these methods on every task of Fig. 3 that has AcTune, of those that share so many seeds with it."""
    found = []
    for scene in scenes_of(evidence, TASKS).values():
        lines = evidence.plain_curves(scene, ("actune", *candidates))
        if (ours := lines.pop("actune", None)) is None:
            continue
        theirs = {method: curves for method, curves in lines.items() if len(shared(ours, curves)) >= fewest}
        method = best(ours, theirs)
        if method and (saved := saving(ours, theirs[method])):
            found.append(Rival(scene, method, saved, tuple(shared(ours, theirs[method]))))
    return found


def scenes_of(evidence: Evidence, tasks: tuple[str, ...], start: str = "") -> dict[str, Scene]:
    """The scene that stands for each of these tasks, where the table has any."""
    found = {task: evidence.main(task, start) for task in tasks}
    return {task: scene for task, scene in found.items() if scene is not None}


def main_scenes(evidence: Evidence) -> list[Scene]:
    """The scene that stands for each task and start: the paper's tasks first."""
    places = {(scene.task, scene.start) for scene in evidence.scenes}
    order = [*((task, "") for task in TASKS), *((task, WEAK) for task in WEAK_TASKS)]
    chosen = [place for place in order if place in places] + sorted(places - set(order))
    return [scene for task, start in chosen if (scene := evidence.main(task, start))]


def absent(evidence: Evidence, scene: Scene, methods: tuple[str, ...]) -> list[str]:
    """Which of these methods a scene has no runs of, as a phrase if any."""
    none = [method for method in methods if Key(scene, method) not in evidence.accuracy]
    return [f"{scene.shown}: no runs of {', '.join(none)}"] if none else []
