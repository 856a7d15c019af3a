"""Rules that a user wrote, in a TOML file of patterns or a Python file of functions, applied to texts."""

from __future__ import annotations

import logging
import runpy
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from actune.core import toml
from actune.core.checks import told
from actune.core.places import is_regular
from actune.core.printing import shortened
from actune.errors import DataError, nearest
from actune.weak.patterns import BadPattern, Spent, TooSlow, matcher
from actune.weak.votes import Votes, row_number, votes_of

LOG = logging.getLogger(__name__)
Rule = Callable[[Sequence[str]], list[str | None]]  # of all texts: the name of a class for each, or None
KINDS = (".toml", ".py")
PREFIX = "rule_"  # functions of a Python file that are rules
KEYS = {"name", "pattern", "label", "case"}
MOST_TOLD = 200  # letters of a pattern or an error in a sentence


def apply_rules(path: str | Path, texts: Sequence[str], classes: Sequence[str]) -> Votes:
    """The votes of the rules in a file about these texts."""
    cells = run_rules(path, texts, classes)
    return votes_of(cells, classes, list(cells), lambda row: f"{path}, {row_number(row)}")


def run_rules(
    path: str | Path, texts: Sequence[str], classes: Sequence[str] | None = None
) -> dict[str, list[str | None]]:
    """What every rule of a file says about every text: the name of a class, or None."""
    return {name: rule(texts) for name, rule in read_rules(path, classes).items()}


def read_rules(path: str | Path, classes: Sequence[str] | None = None) -> dict[str, Rule]:
    """The rules of a file by name. A Python file is run, so it must be one's own."""
    path = Path(path)
    if not is_regular(path):
        raise DataError(f"there is no rules file {shortened(str(path), MOST_TOLD)}: check the path")
    if path.suffix not in KINDS:
        raise DataError(f"{path} is not a rules file: its name must end in one of {', '.join(KINDS)}")
    rules = _functions(path) if path.suffix == ".py" else _patterns(path, classes)
    if not rules:
        example = f"def {PREFIX}NAME(text): ..." if path.suffix == ".py" else "[[rule]]"
        raise DataError(f"{path} has no rules: a rule starts with {example}")
    return rules


def _column(path: Path, name: str, rule: Callable[[str], object], texts: Sequence[str]) -> list[str | None]:
    said: list[str | None] = []
    for row, text in enumerate(texts):
        try:
            vote = rule(text)
        except KeyboardInterrupt:  # a person's, as far as anybody can tell
            raise
        except BaseException as error:
            failure = _told(error)
            raise DataError(f"{path}: rule {name!r} failed on {row_number(row)} ({failure}): fix the rule") from None
        if vote is not None and not isinstance(vote, str):
            answer = f"rule {name!r} returned {told(vote)} on {row_number(row)}"
            raise DataError(f"{path}: {answer}: it must return a class name or None")
        said.append(vote)
    return said


def _functions(path: Path) -> dict[str, Rule]:
    LOG.info("running the Python code in %s", path)
    try:
        names = runpy.run_path(str(path), run_name="actune_rules")
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise DataError(f"cannot run {path} ({_told(error)}): fix the file") from None
    found = {name: value for name, value in names.items() if name.startswith(PREFIX) and callable(value)}
    return {
        (short := name.removeprefix(PREFIX)): partial(_column, path, short, function)
        for name, function in found.items()
    }


def _told(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {shortened(str(error), MOST_TOLD)}"
    except KeyboardInterrupt:
        raise
    except BaseException:  # it is somebody's own class
        return type(error).__name__


def _patterns(path: Path, classes: Sequence[str] | None) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    spent = Spent()
    for place, table in enumerate(_tables(path), start=1):
        name = str(table.get("name", f"rule {place}"))[:MOST_TOLD]
        _check(path, name, table)
        if name in rules:
            raise DataError(f"{path} has more than one rule {name!r}: rename one of them")
        if classes is not None and table["label"] not in classes:
            known = nearest(table["label"], classes)
            raise DataError(f"{path}: rule {name!r} has the label {table['label']!r}, which is not a class: {known}")
        rules[name] = _matcher(path, name, table, spent)
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


def _matcher(path: Path, name: str, table: dict[str, Any], spent: Spent) -> Rule:
    told_pattern = f"{path}: rule {name!r} has the pattern {shortened(repr(table['pattern']), MOST_TOLD)}"
    try:
        matches = matcher(table["pattern"], bool(table.get("case")), spent)
    except BadPattern as error:
        raise DataError(f"{told_pattern}, which is not a valid regular expression ({error}): fix the pattern") from None
    label: str = table["label"]

    def votes(texts: Sequence[str]) -> list[str | None]:
        try:
            return [label if found else None for found in matches(texts)]
        except TooSlow as slow:
            raise DataError(
                f"{told_pattern}, which took more than {slow.seconds:,.0f} s and stopped at {row_number(slow.row)} of "
                f"{len(texts):,}: write it without repetitions in repetitions, such as a+ for (a+)+"
            ) from None

    return votes
