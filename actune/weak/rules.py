"""Rules that a user wrote, in a TOML file of patterns or a Python file of functions, applied to texts."""

from __future__ import annotations

import re
import runpy
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from actune.errors import DataError, nearest
from actune.weak.votes import Votes, row_number, votes_of

Rule = Callable[[str], object]
KINDS = (".toml", ".py")
PREFIX = "rule_"  # functions of a Python file that are rules
KEYS = {"name", "pattern", "label", "case"}


def apply_rules(path: str | Path, texts: Sequence[str], classes: Sequence[str]) -> Votes:
    """The votes of the rules in a file about these texts."""
    for name, label in _labels(Path(path)).items():
        if label not in classes:
            raise DataError(f"{path}: rule {name!r} has the label {label!r}, no class: {nearest(label, classes)}")
    cells = run_rules(path, texts)
    return votes_of(cells, classes, list(cells), lambda row: f"{path}, {row_number(row)}")


def run_rules(path: str | Path, texts: Sequence[str]) -> dict[str, list[object]]:
    """What every rule of a file says about every text: the name of a class, or None."""
    return {name: _column(path, name, rule, texts) for name, rule in read_rules(path).items()}


def read_rules(path: str | Path) -> dict[str, Rule]:
    """The rules of a file by name. A Python file is run, so it must be one's own."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"there is no rules file {path}: check the path")
    if path.suffix not in KINDS:
        raise DataError(f"{path} is no rules file: its suffix must be one of {', '.join(KINDS)}")
    rules = _functions(path) if path.suffix == ".py" else {name: _matcher(path, rule) for name, rule in _tables(path)}
    if not rules:
        example = f"def {PREFIX}NAME(text): ..." if path.suffix == ".py" else "[[rule]]"
        raise DataError(f"{path} has no rules: a rule begins with {example}")
    return rules


def _column(path: str | Path, name: str, rule: Rule, texts: Sequence[str]) -> list[object]:
    said: list[object] = []
    for row, text in enumerate(texts):
        try:
            vote = rule(text)
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
            raise DataError(f"{path}: rule {name!r} failed on {row_number(row)} ({failure}): mend the rule") from None
        if vote is not None and not isinstance(vote, str):
            answer = f"rule {name!r} answered {vote!r} on {row_number(row)}"
            raise DataError(f"{path}: {answer}: it must return the name of a class, or None")
        said.append(vote)
    return said


def _functions(path: Path) -> dict[str, Rule]:
    try:
        names = runpy.run_path(str(path), run_name="actune_rules")
    except (Exception, SystemExit) as error:
        raise DataError(f"cannot run {path} ({type(error).__name__}: {error}): mend the file") from None
    found = {name: value for name, value in names.items() if name.startswith(PREFIX) and callable(value)}
    return {name.removeprefix(PREFIX): rule for name, rule in found.items()}


def _tables(path: Path) -> list[tuple[str, dict[str, Any]]]:
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {path} ({error}): mend the file") from None
    tables = content.get("rule", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise DataError(f"{path}: each rule must begin with [[rule]] on a line of its own")
    named = [(str(table.get("name", f"rule {place}")), table) for place, table in enumerate(tables, start=1)]
    for name, table in named:
        _check(path, name, table)
    if twice := [name for place, (name, _) in enumerate(named) if name in dict(named[:place])]:
        raise DataError(f"{path} has more than one rule {twice[0]!r}: rename one of them")
    return named


def _check(path: Path, name: str, table: dict[str, Any]) -> None:
    if strange := sorted(table.keys() - KEYS):
        raise DataError(f"{path}: rule {name!r} has an unknown setting {strange[0]!r}: {nearest(strange[0], KEYS)}")
    for key in ("pattern", "label"):
        if not isinstance(table.get(key), str) or not table[key]:
            raise DataError(f"{path}: rule {name!r} needs {key} = '...'")
    if not isinstance(table.get("case", False), bool):
        raise DataError(f"{path}: rule {name!r} has case = {table['case']!r}, which must be true or false")


def _matcher(path: Path, table: dict[str, Any]) -> Rule:
    try:
        pattern = re.compile(table["pattern"], 0 if table.get("case") else re.IGNORECASE)
    except re.error as error:
        raise DataError(f"{path}: the pattern {table['pattern']!r} is no regular expression ({error})") from None
    label: str = table["label"]
    return lambda text: label if pattern.search(text) else None


def _labels(path: Path) -> dict[str, str]:
    """The label of each pattern, known before any text is read."""
    known = path.suffix == ".toml" and path.is_file()
    return {name: table["label"] for name, table in _tables(path)} if known else {}
