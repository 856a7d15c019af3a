"""TOML files: those of others are read under limits, and small ones are written without tomli-w."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actune.core.places import open_regular
from actune.errors import ActuneError, RunFolderError

MOST_BYTES = 8_000_000  # of one file: the plan of 100,000 cells has less
DEEPEST = 32  # brackets in brackets, or parts of a dotted key: tomllib needs a minute for 200,000 of them
LARGEST = 2**128  # of a whole number: Python refuses to print one of thousands of digits
PARTS = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[][{}=,.\n]', re.DOTALL
)


def read(file: Path, refusal: type[ActuneError] = RunFolderError, follow: bool = True) -> dict[str, Any]:
    """What a TOML file says; one sentence where it is no file, too large, no UTF-8, too deep or no TOML."""
    return parse(read_text(file, refusal, follow), repr(str(file)), refusal)


def read_text(file: Path, refusal: type[ActuneError] = RunFolderError, follow: bool = True) -> str:
    """The text of a TOML file, without the byte order mark that some editors write."""
    with open_regular(file, refusal, follow) as handle:
        try:
            content = handle.read(MOST_BYTES + 1)
        except OSError as error:
            raise refusal(f"cannot read {str(file)!r}: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise refusal(f"cannot read {str(file)!r}: it has more than {MOST_BYTES // 1_000_000} MB: use a smaller file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refusal(f"cannot read {str(file)!r}: it is not UTF-8 text ({error.reason}): save it as UTF-8") from error


def parse(text: str, source: str, refusal: type[ActuneError] = RunFolderError) -> dict[str, Any]:
    """What a TOML text says; `source` is what sentences call it."""
    if (line := _too_deep(text)) is not None:
        raise refusal(f"{source} nests more than {DEEPEST} levels (line {line:,}): use fewer levels")
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a ValueError
        raise refusal(f"{source} is not TOML: {error}") from error
    if _has_huge_number(tables):
        raise refusal(f"{source} has a whole number of more than 38 digits: use a smaller one")
    return tables


def _too_deep(text: str) -> int | None:
    """The line where the text nests too deep, before anything is built of it."""
    brackets = dots = 0
    for part in PARTS.finditer(text):
        sign = part[0]
        if sign == ".":
            dots += 1
        elif len(sign) == 1:
            dots = 0
            brackets = max(0, brackets + (sign in "[{") - (sign in "]}"))
        if max(brackets, dots) > DEEPEST:
            return text.count("\n", 0, part.start()) + 1
    return None


def _has_huge_number(value: Any) -> bool:
    if isinstance(value, (dict, list)):
        return any(map(_has_huge_number, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int) and abs(value) >= LARGEST


def dumps(tables: Mapping[str, Any]) -> str:
    """Plain values first, then one `[table]` for each mapping; None is left out."""
    plain = [_line(name, value) for name, value in tables.items() if not isinstance(value, Mapping)]
    blocks = ["\n".join(line for line in plain if line)]
    for name, table in tables.items():
        if isinstance(table, Mapping):
            lines = [line for key, value in table.items() if (line := _line(key, value))]
            blocks.append("\n".join([f"[{_key(name)}]", *lines]))
    return "\n\n".join(blocks) + "\n"


def _line(name: str, value: Any) -> str:
    return "" if value is None else f"{_key(name)} = {_value(value)}"


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    # JSON strings are TOML strings, but for DEL, which JSON leaves bare
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
