"""A column of strings behaves as the tuple of them does, whatever its blocks are."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actune.core import strings as module
from actune.core.strings import Rows, Strings, blocks_of
from actune.errors import DataError

WORDS = st.lists(st.text(max_size=4), max_size=40)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 7)


@settings(deadline=None)
@given(WORDS, WORDS, st.slices(30))
def test_as_a_tuple(words: list[str], more: list[str], part: slice) -> None:
    column = Strings.of(words)
    assert column == tuple(words) and tuple(words) == column and list(column) == words
    assert column != (*words, "one more") and column == Strings.of(iter(words))
    assert column[part] == words[part] and len(column[part]) == len(words[part])
    assert [column[place] for place in range(-len(words), len(words))] == words * 2
    assert column + more == words + more and column + Strings.of(more) == words + more
    assert [word for block in blocks_of(column) for word in block] == words
    assert [word for block in blocks_of(words) for word in block] == words
    assert pickle.loads(pickle.dumps(column)) == column


@settings(deadline=None)
@given(st.lists(st.text(max_size=4), min_size=1, max_size=40), st.data())
def test_taking_rows(words: list[str], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(words) - 1), max_size=50))
    assert Strings.of(words).take(rows) == [words[row] for row in rows]
    for outside in (-1, len(words)):
        with pytest.raises(IndexError):
            Strings.of(words).take([*rows, outside])


@settings(deadline=None)
@given(WORDS, WORDS)
def test_looking_up(words: list[str], wanted: list[str]) -> None:
    column, other = Strings.of(words), Strings.of(wanted)
    assert column.rows_of(wanted).tolist() == [words.index(word) if word in words else -1 for word in wanted]
    assert column.in_common(other) == other.in_common(column) == len({*words} & {*wanted})
    more = {word for word in words if words.count(word) > 1}
    assert column.repeated() == (len(more), sum(word in more for word in words))


@settings(deadline=None)
@given(st.lists(st.text(max_size=3), unique=True, max_size=40), st.text(max_size=3))
def test_rows_by_id(ids: list[str], other: str) -> None:
    rows = Rows(Strings.of(ids))
    assert dict(rows) == {id: row for row, id in enumerate(ids)}
    assert rows.get(other, -1) == (ids.index(other) if other in ids else -1)
    assert all(type(row) is int for row in rows.values())


def test_numbers_as_ids_need_no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(Strings.numbered(20))
    assert rows.ids == [str(row) for row in range(20)] and rows["7"] == 7 and "_order" not in vars(rows)
    for absent in ("20", "07", "-1", "²", "9" * 30, 7, None):
        assert absent not in rows
    assert Rows(Strings.of(["1", "0"]))["1"] == 0  # numbers, and not those of their rows


def test_numbers_may_begin_later() -> None:
    assert Strings.numbered(3, first=9) == ("9", "10", "11")


@pytest.mark.parametrize("wrong", [None, 3, 2.5, b"bytes", "\ud800"])
def test_only_whole_strings(wrong: object) -> None:
    with pytest.raises(DataError, match=r"^text number 9 is .*: it must be a string without broken characters$"):
        Strings.of([*"abcdefghi", wrong])  # type: ignore[list-item]


def test_what_is_a_column_stays_the_same_object() -> None:
    column = Strings.of("abc")
    assert Strings.of(column) is column and isinstance(column, Sequence)
    assert repr(column[:1]) == "Strings(['a'], 1 in all)"
