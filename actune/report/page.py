"""One html file that tells a run, beside others if there are any: numbers, figures, a map, and how it was made."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actune.core.files import write_atomically
from actune.errors import UserError
from actune.report.facts import ReportedRun, effective_classes, gain, percent, points, runs_of, verdict
from actune.session.session import Session

if TYPE_CHECKING:
    from actune.report.maps import AskedDistance


@dataclass(frozen=True)
class Picture:
    """A drawing of one run."""

    run: ReportedRun
    svg: str


@dataclass(frozen=True)
class MapPart:
    """What the page says of one run's map, or that there is none."""

    run: ReportedRun
    svg: str | None
    points: int
    asked: int
    regions: int
    distances: list[AskedDistance]


def write_report(sessions: Sequence[Session], path: Path, round: int | None = None) -> Path:
    """Writes the page of the first run beside the others. `round` chooses the map, by default the first there is."""
    check_place(path)
    # a file name may hold bytes that are no letters
    write_atomically(Path(path), render(sessions, round).encode("utf-8", "replace"))
    return Path(path)


def check_place(path: Path) -> None:
    """One sentence for a page that cannot lie there, before anything is drawn."""
    path = Path(path)
    if path.is_dir():
        raise UserError(f"{str(path)!r} is a folder: name a file, such as {str(path / 'report.html')!r}")
    if not path.parent.is_dir():
        raise UserError(f"there is no folder {str(path.parent)!r} to write {path.name!r} into")


def render(sessions: Sequence[Session], round: int | None = None) -> str:
    """The page as text."""
    from actune.report import figures

    runs = runs_of(sessions)
    fitted, measured = [run for run in runs if run.rounds], [run for run in runs if run.measured]
    return fill(
        "actune.report",
        "page.html.jinja",
        runs=runs,
        verdict=verdict(runs),
        one_split=len({run.config.resolved.fingerprint for run in runs}) == 1,
        measured=measured,
        fitted=fitted,
        trusting=[run for run in runs if run.trusts],
        same_labels=bool(measured) and len({_labels(run) for run in fitted}) == 1,
        by_round=lambda these: zip_longest(*(run.rounds for run in these)),
        curve=figures.learning_curve(runs) if measured else None,
        pseudo_labels=figures.pseudo_labels(runs) if any(run.trusts for run in runs) else None,
        class_counts=[
            Picture(run, figures.class_counts(run, f"classes{n}")) for n, run in enumerate(runs) if run.rounds
        ],
        maps=map_parts(sessions, runs, round),
        settings=settings_table(runs),
    )


def fill(package: str, file: str, **facts: Any) -> str:
    """A page of the package, filled in: all text escaped, in the style that all pages share."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"gain": gain, "percent": percent, "points": points, "effective_classes": effective_classes}
    template = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    style = resources.files("actune.report").joinpath("page.css").read_text(encoding="utf-8")
    return environment.from_string(template).render(style=style, **facts)


def map_parts(
    sessions: Sequence[Session], runs: Sequence[ReportedRun], round: int | None
) -> tuple[int | None, list[MapPart]]:
    """The round that is mapped, and a map of each run that has one."""
    from actune.report import maps

    found = maps.maps_of(sessions, round)
    parts = []
    for number, (each, run) in enumerate(zip(found, runs, strict=True)):
        if each is None:
            parts.append(MapPart(run, None, 0, 0, 0, []))
            continue
        config = run.config
        svg = maps.draw_map(each, config.resolved.classes, config.settings.regions_used, f"map{number}")
        regions = 0 if each.heat is None else len(each.heat)
        distances = maps.asked_distances(each, config.request.seed)
        parts.append(MapPart(run, svg, len(each.points), int(each.asked.sum()), regions, distances))
    return next((each.round for each in found if each), None), parts


def settings_table(runs: Sequence[ReportedRun]) -> dict[str, dict[str, list[str]]]:
    """Every line of run.toml: table, name, and a value for each run."""
    files = [tomllib.loads(run.config.dumps()) for run in runs]
    files = [{"run.toml": {"format": file.pop("format")}, **file} for file in files]
    tables: dict[str, dict[str, list[str]]] = {}
    for table in files[0]:
        names = dict.fromkeys(name for file in files for name in file[table])
        if names:
            tables[table] = {name: [_printed(file[table].get(name)) for file in files] for name in names}
    return tables


def _labels(run: ReportedRun) -> tuple[int, ...]:
    """The labels of every round, and of the end where there was one."""
    return tuple(facts.labels for facts in [*run.rounds, run.final or run.rounds[-1]])


def _printed(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)
