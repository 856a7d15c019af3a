"""Rules that a user wrote, in a TOML file of patterns or a Python file of functions, applied to texts."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from actune.core import toml
from actune.errors import DataError, nearest
from actune.weak.votes import Votes, row_number, votes_of

Rule = Callable[[str], object]
KINDS = (".toml", ".py")
PREFIX = "rule_"  # functions of a Python file that are rules
KEYS = {"name", "pattern", "label", "case"}


def apply_rules(path: str | Path, texts: Sequence[str], classes: Sequence[str]) -> Votes:
    """The votes of the rules in a file about these texts."""
    cells = run_rules(path, texts, classes)
    return votes_of(cells, classes, list(cells), lambda row: f"{path}, {row_number(row)}")


def run_rules(
    path: str | Path, texts: Sequence[str], classes: Sequence[str] | None = None
) -> dict[str, list[str | None]]:
    """What every rule of a file says about every text: the name of a class, or None."""
    rules = read_rules(path, classes)
    return {name: _column(path, name, rule, texts) for name, rule in rules.items()}


def read_rules(path: str | Path, classes: Sequence[str] | None = None) -> dict[str, Rule]:
    """The rules of a file by name. A Python file is run, so it must be one's own."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"there is no rules file {path}: check the path")
    if path.suffix not in KINDS:
        raise DataError(f"{path} is not a rules file: its name must end in one of {', '.join(KINDS)}")
    rules = _functions(path) if path.suffix == ".py" else _patterns(path, classes)
    if not rules:
        example = f"def {PREFIX}NAME(text): ..." if path.suffix == ".py" else "[[rule]]"
        raise DataError(f"{path} has no rules: a rule starts with {example}")
    return rules


def _column(path: str | Path, name: str, rule: Rule, texts: Sequence[str]) -> list[str | None]:
    said: list[str | None] = []
    for row, text in enumerate(texts):
        try:
            vote = rule(text)
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
            raise DataError(f"{path}: rule {name!r} failed on {row_number(row)} ({failure}): fix the rule") from None
        if vote is not None and not isinstance(vote, str):
            answer = f"rule {name!r} returned {vote!r} on {row_number(row)}"
            raise DataError(f"{path}: {answer}: it must return a class name or None")
        said.append(vote)
    return said


def _functions(path: Path) -> dict[str, Rule]:
    try:
        names = runpy.run_path(str(path), run_name="actune_rules")
    except (Exception, SystemExit) as error:
        raise DataError(f"cannot run {path} ({type(error).__name__}: {error}): fix the file") from None
    found = {name: value for name, value in names.items() if name.startswith(PREFIX) and callable(value)}
    return {name.removeprefix(PREFIX): rule for name, rule in found.items()}


def _patterns(path: Path, classes: Sequence[str] | None) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for place, table in enumerate(_tables(path), start=1):
        name = str(table.get("name", f"rule {place}"))
        _check(path, name, table)
        if name in rules:
            raise DataError(f"{path} has more than one rule {name!r}: rename one of them")
        if classes is not None and table["label"] not in classes:
            known = nearest(table["label"], classes)
            raise DataError(f"{path}: rule {name!r} has the label {table['label']!r}, which is not a class: {known}")
        rules[name] = _matcher(path, name, table)
    return rules


def _tables(path: Path) -> list[dict[str, Any]]:
    tables = toml.read(path, DataError).get("rule", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise DataError(f"{path}: each rule must start with [[rule]] on a line of its own")
    return tables


def _check(path: Path, name: str, table: dict[str, Any]) -> None:
    if strange := sorted(table.keys() - KEYS):
        raise DataError(f"{path}: rule {name!r} has an unknown setting {strange[0]!r}: {nearest(strange[0], KEYS)}")
    for key in ("pattern", "label"):
        if not isinstance(table.get(key), str) or not table[key]:
            raise DataError(f"{path}: rule {name!r} needs {key} = '...'")
    if not isinstance(table.get("case", False), bool):
        raise DataError(f"{path}: rule {name!r} has case = {table['case']!r}, which must be true or false")


def _matcher(path: Path, name: str, table: dict[str, Any]) -> Rule:
    try:
        pattern = re.compile(table["pattern"], 0 if table.get("case") else re.IGNORECASE)
    except re.error as error:
        wrong = f"{table['pattern']!r}, which is not a valid regular expression ({error})"
        raise DataError(f"{path}: rule {name!r} has the pattern {wrong}: fix the pattern") from None
    label: str = table["label"]
    return lambda text: label if pattern.search(text) else None
