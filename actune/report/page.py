"""One html file that tells a run, beside others if there are any: numbers, figures, a map, and how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actune.core import toml
from actune.core.outputs import write_output
from actune.errors import UserError
from actune.report.classes import on_test
from actune.report.examples import examples_of
from actune.report.facts import ReportedRun, effective_classes, gain, percent, points, runs_of
from actune.report.headline import next_step, verdict
from actune.report.names import method_name
from actune.session.session import Session

if TYPE_CHECKING:
    from actune.report.maps import AskedDistance, RegionFacts


@dataclass(frozen=True)
class Picture:
    """A drawing of one run, or none where a table tells more."""

    run: ReportedRun
    svg: str | None


@dataclass(frozen=True)
class MapPart:
    """What the page says of one run's map, or that there is none."""

    run: ReportedRun
    svg: str | None
    points: int = 0
    asked: int = 0
    trusted: int = 0
    regions: int = 0
    hottest: Sequence[RegionFacts] = ()
    distances: Sequence[AskedDistance] = ()


def write_report(sessions: Sequence[Session], path: Path, round: int | None = None) -> Path:
    """Writes the page of the first run beside the others. `round` chooses the map, by default the newest."""
    check_place(path)
    # a file name may hold bytes that are no letters
    write_output(Path(path), render(sessions, round).encode("utf-8", "replace"))
    return Path(path)


def check_place(path: Path) -> None:
    """One sentence for a page that cannot lie there, before anything is drawn."""
    path = Path(path)
    if path.is_dir():
        raise UserError(f"{str(path)!r} is a folder: give a file, such as {str(path / 'report.html')!r}")
    if not path.parent.is_dir():
        raise UserError(f"cannot write {path.name!r}, because there is no folder {str(path.parent)!r}: create it first")


def render(sessions: Sequence[Session], round: int | None = None) -> str:
    """The page as text."""
    from actune.report import figures

    runs = runs_of(sessions)
    fitted, measured = [run for run in runs if run.rounds], [run for run in runs if run.measured]
    trusting = [run for run in runs if run.trusts]
    result = on_test(sessions[0])
    return fill(
        "actune.report",
        "page.html.jinja",
        runs=runs,
        verdict=verdict(runs),
        next_step=next_step(runs[0]),
        result=result,
        examples=examples_of(sessions[0], result),
        one_split=len({run.config.resolved.fingerprint for run in runs}) == 1,
        measured=measured,
        fitted=fitted,
        trusting=trusting,
        same_labels=bool(measured) and len({_labels(run) for run in fitted}) == 1,
        by_round=lambda these: zip_longest(*(run.rounds for run in these)),
        fine_tunings=list(zip_longest(*(run.finals for run in fitted))),
        curve=figures.learning_curve(runs) if figures.drawable(measured) else None,
        pseudo_labels=figures.pseudo_labels(runs) if figures.drawable(trusting) else None,
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
    environment.filters |= {
        "code": _code,
        "effective_classes": effective_classes,
        "gain": gain,
        "method_name": method_name,
        "percent": percent,
        "points": points,
        "two_digits": _two_digits,
    }
    template = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    style = resources.files("actune.report").joinpath("page.css").read_text(encoding="utf-8")
    return environment.from_string(template).render(style=style, **facts)


def map_parts(
    sessions: Sequence[Session], runs: Sequence[ReportedRun], round: int | None
) -> tuple[int | None, list[MapPart]]:
    """The round that is mapped, and a map of each run that has one."""
    from actune.report import map_figure, maps

    found = maps.maps_of(sessions, round)
    parts = []
    for number, (each, run) in enumerate(zip(found, runs, strict=True)):
        if each is None:
            parts.append(MapPart(run, None))
            continue
        config, classes = run.config, run.config.resolved.classes
        hottest = config.settings.regions_used
        parts.append(
            MapPart(
                run,
                svg=map_figure.draw_map(each, classes, hottest, f"map{number}"),
                points=len(each.points),
                asked=int(each.asked.sum()),
                trusted=0 if each.trusted is None else int(each.trusted.sum()),
                regions=0 if each.heat is None else len(each.heat),
                hottest=maps.region_table(each, hottest, classes),
                distances=maps.asked_distances(each, config.request.seed),
            )
        )
    return next((each.round for each in found if each), None), parts


def settings_table(runs: Sequence[ReportedRun]) -> dict[str, dict[str, list[str]]]:
    """Every line of run.toml: table, name, and a value for each run."""
    files = [toml.parse(run.config.dumps(), "run.toml") for run in runs]
    files = [{"run.toml": {"format": file.pop("format")}, **file} for file in files]
    tables: dict[str, dict[str, list[str]]] = {}
    for table in files[0]:
        names = dict.fromkeys(name for file in files for name in file[table])
        if names:
            tables[table] = {name: [_printed(file[table].get(name)) for file in files] for name in names}
    return tables


def _labels(run: ReportedRun) -> tuple[int, ...]:
    """The labels of every round, and of the end where there was one."""
    return tuple(facts.labels for facts in [*run.rounds, *(run.finals or run.rounds[-1:])])


def _code(sentence: str) -> str:
    """A sentence with its `commands` set as code; everything is escaped."""
    from markupsafe import Markup, escape

    parts = sentence.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else escape(part) for place, part in enumerate(parts)
    )


def _two_digits(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}"


def _printed(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)
