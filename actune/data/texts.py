"""Texts that a model is asked about: a list of them, or a file or a frame with a column of texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from actune.core.checks import told
from actune.core.strings import Strings, is_text
from actune.data.formats import read_texts
from actune.data.frames import Data
from actune.errors import InputError


def texts_of(texts: Sequence[str] | Data, remembered: Mapping[str, Any] | None = None) -> Sequence[str]:
    """The texts to predict, one for each row that was given, or one sentence that says what is wrong.

    `remembered` has the columns and the encoding that a project was made with.
    """
    if isinstance(texts, Strings):
        return texts
    if isinstance(texts, str) and not _names_a_file(texts):
        raise InputError(f"predict takes a list of texts, not one string: write predict([{told(texts)}])")
    if isinstance(texts, (str, Path)):
        return read_texts(texts, remembered=remembered).texts
    if _has_columns(texts):
        column = read_texts(texts, remembered=remembered).texts
        if not isinstance(texts, Mapping) and len(column) != len(texts):
            raise InputError(f"the data has {len(texts):,} rows and {len(column):,} texts: give every row a text")
        return column
    if isinstance(texts, (bytes, set, frozenset)) or not isinstance(texts, Iterable):
        raise InputError(f"predict takes a list of texts, not a {type(texts).__name__}: write predict([text])")
    found = [str(text) if isinstance(text, str) else text for text in texts]  # NumPy has strings of its own
    for row, text in enumerate(found):
        if not is_text(text):
            raise InputError(f"text number {row:,} is {told(text)}: pass a string, or leave it out")
    return found


def _names_a_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # longer than a name may be, or with a character that no name has
        return False


def _has_columns(data: Any) -> bool:
    return isinstance(data, Mapping) or hasattr(data, "columns") or hasattr(data, "column_names")
