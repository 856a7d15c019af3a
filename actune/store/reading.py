"""The door of the database: rows become records of the right types, and texts become JSON, or it is damaged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeVar, cast

from actune.core.checks import told
from actune.core.shapes import WrongShape, row_checker
from actune.store.database import Connection

Record = TypeVar("Record")


def records(kind: type[Record], rows: Iterable[tuple[Any, ...]]) -> Iterator[Record]:
    """Rows as records of a dataclass, whose first fields have the order of the columns."""
    right = _checker(cast(Any, kind))
    for row in rows:
        if not right(row):
            raise WrongShape(f"a row of {kind.__name__} is {told(row)}")
        yield kind(*row)


@cache
def _checker(kind: Any) -> Callable[[tuple[Any, ...]], bool]:
    return row_checker(kind)


def whole(value: Any, what: str) -> int:
    """A whole number that is not negative."""
    if type(value) is not int or value < 0:
        raise WrongShape(f"{what} is {told(value)}")
    return value


def decoded(text: Any) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(found := decoded_value(text), dict):
        raise WrongShape(f"it has {told(found)} in the place of a JSON object")
    return found


def decoded_list(text: Any) -> list[Any]:
    """A JSON list."""
    if not isinstance(found := decoded_value(text), list):
        raise WrongShape(f"it has {told(found)} in the place of a list")
    return found


def decoded_value(text: Any) -> Any:
    """What a JSON text says."""
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise WrongShape(f"it has {told(text)} in the place of JSON") from error


def check_range(what: str, values: Iterable[int], below: int | None) -> None:
    """Rows and class numbers count from 0 and end somewhere."""
    found = list(values)
    if not found:
        return
    if min(found) < 0 or (below is not None and max(found) >= below):
        wrong = min(found) if min(found) < 0 else max(found)
        raise WrongShape(f"it names the {what} {wrong:,}" + ("" if below is None else f" of {below:,}"))


def count_of(connection: Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
