"""Tables 1 to 3 of the paper: data, settings, and seconds of one choice."""

from __future__ import annotations

from collections.abc import Sequence

from actune.bench.evidence import Evidence, Scene
from actune.bench.paper import subjects
from actune.bench.tables import TextTable
from actune.data.tasks import cards
from actune.report.names import method_name

# seconds of one acquisition in the paper's Table 3, on an RTX 2080 Ti
_TIMED = ("random", "entropy", "bald", "alps", "badge", "cal", "revival", "actune", "actune-cal")
_PUBMED = ("< .1", "461", "4595", "488", "554", "493", "3240", "477", "510")
_DBPEDIA = ("< .1", "646", "6451", "677", "1140", "688", "out of memory", "733", "735")
PAPERS_SECONDS = {
    "pubmed_sections": dict(zip(_TIMED, _PUBMED, strict=True)),
    "dbpedia14": dict(zip(_TIMED, _DBPEDIA, strict=True)),
}
SETTINGS = {
    "regions": "K",
    "regions_used": "M",
    "beta": "β",
    "threshold": "γ",
    "weight": "λ",
    "momentum_low": "m_L",
    "momentum_high": "m_H",
    "growth": "k",
    "max_tokens": "tokens",
}


def paper_tables(evidence: Evidence) -> list[TextTable]:
    """Tables 1 to 3 for the scenes that stand for their tasks."""
    scenes = subjects.main_scenes(evidence)
    return [data_table(evidence, scenes), task_settings_table(evidence, scenes), seconds_table(evidence, scenes)]


def data_table(evidence: Evidence, scenes: Sequence[Scene]) -> TextTable:
    """Table 1: how large the tasks are."""
    rows = []
    for task in dict.fromkeys(scene.task for scene in scenes):
        config = subjects.config(evidence, next(scene for scene in scenes if scene.task == task))
        known = cards().get(task)
        sizes: list[object] = ["–"] * 4
        if config:
            found = config.resolved
            sizes = [len(found.classes), found.pool, found.dev, found.test]
        elif known:
            sizes = [len(known.classes), *(known.files[part]["rows"] for part in ("train", "dev", "test"))]
        rows.append([task, *map(_count, sizes), _count(known.paper_pool) if known else "–"])
    columns = ["task", "classes", "pool", "dev", "test", "pool in the paper"]
    note = "pubmed_sections is a substitute for PubMed-RCT." if "pubmed_sections" in [row[0] for row in rows] else ""
    return TextTable("table1-data", "Table 1: data", columns, rows, note)


def task_settings_table(evidence: Evidence, scenes: Sequence[Scene]) -> TextTable:
    """Table 2: the settings of AcTune on each task."""
    rows = []
    for name, symbol in SETTINGS.items():
        values = [subjects.setting(evidence, scene, name) for scene in scenes]
        rows.append([f"{name} ({symbol})", *("–" if value is None else f"{value:g}" for value in values)])
    return TextTable("table2-settings", "Table 2: settings", ["setting", *(scene.shown for scene in scenes)], rows)


def seconds_table(evidence: Evidence, scenes: Sequence[Scene]) -> TextTable:
    """Table 3: what one choice of questions takes, the reading of the pool included."""
    columns, found = ["method"], []
    for scene in scenes:
        columns.append(scene.shown)
        found.append(_seconds(evidence, scene))
        if not scene.start and scene.task in PAPERS_SECONDS:
            columns.append(f"{scene.task} in the paper")
            found.append(PAPERS_SECONDS[scene.task])
    methods = dict.fromkeys(method for scene in scenes for method in evidence.methods(scene))
    rows = [[method_name(method), *(column.get(method, "–") for column in found)] for method in methods]
    machines = {scene: _machines(evidence, scene) for scene in scenes}
    named = sorted({machine for by_method in machines.values() for names in by_method.values() for machine in names})
    note = f"Means over seeds and over all rounds but the first and the last, on {', '.join(named)}"
    if mixed := [scene.shown for scene, by_method in machines.items() if len(set(by_method.values())) > 1]:
        note += f"; on {', '.join(mixed)} not every method on the same, so these seconds do not compare"
    note += "; in the paper on an RTX 2080 Ti." if len(found) > len(scenes) else "."
    return TextTable("table3-seconds", "Table 3: seconds of one choice", columns, rows, note)


def _seconds(evidence: Evidence, scene: Scene) -> dict[str, str]:
    """Mean seconds by method, without the last round of a run, which chooses nothing, and without the first.

    Of the first round cells share the work, wait for each other, and compile: its seconds are no method's own.
    """
    table = evidence.table
    last = table.groupby("cell")["round"].transform("max")
    choosing = table["seconds_select"].notna() & (table["round"] > 0) & (table["round"] < last)
    found: dict[str, list[float]] = {}
    for key, seconds, chose in zip(evidence.keys, table["seconds_select"], choosing, strict=True):
        if chose and key.scene == scene and not key.changes:
            found.setdefault(key.method, []).append(float(seconds))
    return {method: f"{sum(values) / len(values):.3g}" for method, values in found.items()}


def _machines(evidence: Evidence, scene: Scene) -> dict[str, frozenset[str]]:
    """Where each method of a scene ran."""
    found: dict[str, set[str]] = {}
    known = evidence.table["machine"].notna()
    for key, machine, told in zip(evidence.keys, evidence.table["machine"], known, strict=True):
        if told and key.scene == scene and not key.changes:
            found.setdefault(key.method, set()).add(str(machine))
    return {method: frozenset(names) for method, names in found.items()}


def _count(number: object) -> str:
    return f"{number:,}" if isinstance(number, int) else str(number)
