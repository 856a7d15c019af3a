"""The names of classes as a user gives them: in a row with commas, or in a file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from actune.core.places import open_regular
from actune.core.printing import shortened
from actune.errors import DataError, SettingError

MOST = 10**7  # bytes of a file with class names


def class_names(labels: str) -> list[str]:
    """`a,b` or `a,"b, or c"` as names, or `@FILE` with one name on each line; empty lines do not count."""
    if labels.startswith("@"):
        return _in_file(Path(labels[1:]).expanduser())
    try:
        names = [name.strip() for name in next(csv.reader([labels], skipinitialspace=True), [])]
    except csv.Error:  # a line break of old Macs, or a name of a hundred thousand letters
        names = [""]
    if not all(names):
        raise SettingError(f"--labels takes class names separated by commas, not {shortened(repr(labels))}")
    return names


def _in_file(path: Path) -> list[str]:
    try:
        with open_regular(path, DataError) as handle:
            content = handle.read(MOST + 1).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8: save the class names as UTF-8") from None
    except (OSError, DataError) as error:
        reason = getattr(error.__cause__ or error, "strerror", None) or "it is not a regular file"
        raise DataError(f"cannot read the class names in {path} ({reason}): check the path") from None
    if len(content) > MOST:
        raise DataError(f"{path} has more than {MOST:,} bytes, which are not class names: check the path")
    names = _listed(path, content) if path.suffix.lower() == ".json" else content.splitlines()
    found = [name.strip() for name in names if name.strip()]
    if not found:
        raise DataError(f"{path} has no class names: write one per line")
    return found


def _listed(path: Path, content: str) -> list[str]:
    try:
        names = json.loads(content)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(f'{path} is not a list of class names: it must look like ["first", "second"]')
    return names
