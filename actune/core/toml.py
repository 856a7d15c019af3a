"""Writing a small TOML file: Python only reads the format, and a bare tree must run where tomli-w is not installed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


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
