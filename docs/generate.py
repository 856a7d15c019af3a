"""Writes what is derived from the options of a run: python docs/generate.py, or `make options`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from actune.core.options import Option, Place, options_at, options_of
from actune.core.spec import READING_OPTIONS, RunSpec

ROOT = Path(__file__).parents[1]
PAGE, TYPES = ROOT / "docs/reference/options.md", ROOT / "actune/core/run_options.py"
COMMANDS = Place.RUN | Place.START | Place.COMPARE
GENERAL = "The run"

HEAD = """# Options

The commands `actune run`, `start` and `compare`, the [grids](grids.md) of `actune bench` and the function
`actune.create` share these options. The tables list where each option may be given and its name there. A grid has
lists of methods, models, learners and seeds in place of these four options. `make options` generates this page
from `actune/core/spec.py`.
"""
READING_NOTE = """
A grid sets these in `[task.NAME]`. In Python, read the data before you call `create`, with `actune.read_pool` or
`actune.load_task`.
"""
TYPES_HEAD = '''"""The keyword arguments of `create`, for type checkers; written by `make options` from core/spec.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict


class RunOptions(TypedDict, total=False):
    """What may be said about a run; what is left out has the default of `RunSpec`, or comes from the data."""

'''


def options_page() -> str:
    """docs/reference/options.md."""
    rows = list(_rows())
    groups = dict.fromkeys(group for group, _ in rows)
    tables = [
        f"\n## {group}\n{READING_NOTE if group == 'Data' else ''}\n"
        "| command line | Python, grids | default | where | what it does |\n|---|---|---|---|---|\n"
        + "".join(row for other, row in rows if other == group)
        for group in groups
    ]
    return HEAD + "".join(tables)


def _rows() -> Iterator[tuple[str, str]]:
    """The heading and the line of every option; one that others make up on the command line follows these."""
    for field, whole in options_of(RunSpec).items():
        for part in (part for part in whole.spellings if not part.echoes):
            stored = part.name if part in READING_OPTIONS and Place.GRID in part.places else ""
            yield part.group or GENERAL, _row(part, f"`{part.spelled}`", f"`{stored}`" if stored else "")
        name = f"`{whole.keyword or field}`"
        if whole.spellings:
            yield whole.group or GENERAL, _row(whole, "", name)
        else:
            spelled = f"`{whole.spelled}`" if whole.places & COMMANDS else ""
            yield whole.group or GENERAL, _row(whole, spelled, name)


def _row(option: Option, spelled: str, name: str) -> str:
    if option.metavar and spelled:
        spelled = f"{spelled[:-1]} {option.metavar}`"
    default = "" if option.default in (None, "") or option.default is False else f"`{option.default}`"
    default = "from the data" if option.from_data else default
    where = ", ".join(str(place.name).lower() for place in Place if place in option.places)
    value = " In Python it may also be given by value (see [extend.md](../extend.md))." if option.by_value else ""
    return f"| {spelled} | {name} | {default} | {where} | {option.help}{value} |\n"


def types_source() -> str:
    """actune/core/run_options.py."""
    lines = [
        f"    {option.keyword or name}: {_kind(option.kind)}{' | None' if option.from_data else ''}"
        f"{' | Any' if option.by_value else ''}\n"
        for name, option in options_at(RunSpec, Place.CREATE).items()
    ]
    return TYPES_HEAD + "".join(lines)


def _kind(kind: Any) -> str:
    return inspect.formatannotation(kind).replace("collections.abc.", "").replace("typing.", "")


if __name__ == "__main__":
    PAGE.write_text(options_page(), encoding="utf-8")
    TYPES.write_text(types_source(), encoding="utf-8")
