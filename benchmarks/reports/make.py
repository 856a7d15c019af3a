"""Writes the tables of the reports and of the pages that quote them: python benchmarks/reports/make.py [--check]

A table stands between two comments. The first one names the command that prints it, and which of the printed tables it
is where there are several:

    <!-- table 2: benchmarks/few/loop.py show -->
    <!-- /table -->

`--check` writes nothing and fails where a file is not up to date.
"""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import shlex
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ("docs/benchmark.md", "docs/speed.md", "docs/thrifty.md")
FILES = (*sorted((ROOT / "benchmarks/reports").glob("*.md")), *map(ROOT.joinpath, PAGES))
MARKED = re.compile(r"(<!-- table ?(\d*): (.+?) -->\n).*?(<!-- /table -->)", re.DOTALL)
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def filled(text: str) -> str:
    """The text with every marked table as its command prints it now."""
    return MARKED.sub(lambda found: found[1] + table(found[3], int(found[2] or 1)) + found[4], text)


def table(command: str, number: int) -> str:
    """One of the tables that a command prints."""
    tables = TABLE.findall(printed(command))
    if len(tables) < number:
        raise SystemExit(f"`python {command}` prints {len(tables)} tables, and a report asks for number {number}")
    found: str = tables[number - 1]
    return found


@cache
def printed(command: str) -> str:
    """What a script of this repository prints; it runs in this process, which has imported most of it already."""
    script, *words = shlex.split(command)
    before, output = sys.argv, io.StringIO()
    sys.argv = [script, *words]
    try:
        with contextlib.chdir(ROOT), contextlib.redirect_stdout(output):
            runpy.run_path(script, run_name="__main__")
    finally:
        sys.argv = before
    return output.getvalue()


def main() -> None:
    sys.path.insert(0, str(ROOT))
    stale = []
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        if (new := filled(text)) != text:
            stale.append(str(file.relative_to(ROOT)))
            if "--check" not in sys.argv:
                file.write_text(new, encoding="utf-8")
    print("\n".join(f"{name}: new tables" for name in stale) or "all tables are up to date")
    if stale and "--check" in sys.argv:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
