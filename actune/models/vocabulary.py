"""The tokenizer of somebody else: which files it may name, and how much it may make of a text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

from actune.core.checks import told
from actune.core.places import is_plain_name
from actune.errors import ModelError
from actune.models.folders import read_json, shown

MOST_GROWTH = 1000  # times that replacements may lengthen a text
MOST_LETTERS = 10_000  # of a word that is cut into pieces, which takes their square
MOST_CHARACTER_MAP = 2_000_000  # letters: the usual ones have a sixth of that
ROWS = "rows_of_the_encoder"  # attribute of a tokenizer: how many tokens its encoder has vectors for


def check_words(folder: Path) -> None:
    """Refuses settings of a tokenizer that lead to files outside its folder, or to formats that are not read here."""
    file = folder / "tokenizer_config.json"
    said = read_json(file) if file.exists() else {}
    others = said.get("fast_tokenizer_files")
    if "gguf_file" in said or not all(map(is_plain_name, others if isinstance(others, list) else [])):
        raise ModelError(f"{shown(file)} names files of another place or format: use another encoder")


def check_backend(tokenizer: Any, folder: Path, rows: object) -> None:
    """Refuses a tokenizer that would fill the memory or take for ever, and notes how many tokens its encoder knows."""
    backend = tokenizer.backend_tokenizer
    normalizer = json.loads(backend.normalizer.__getstate__()) if backend.normalizer is not None else {}
    steps = list(_steps(normalizer))
    growth = prod(max(1, len(step.get("content") or "")) for step in steps if step.get("type") == "Replace")
    maps = max((len(step.get("precompiled_charsmap") or "") for step in steps), default=0)
    letters = getattr(backend.model, "max_input_chars_per_word", 0)
    if growth > MOST_GROWTH or letters > MOST_LETTERS or maps > MOST_CHARACTER_MAP:
        raise ModelError(
            f"the tokenizer in {shown(folder)} could fill the memory: it lengthens texts up to {growth:,} times and "
            f"reads words of {letters:,} letters; use another encoder"
        )
    if isinstance(rows, int):
        if tokenizer.pad_token_id >= rows:
            raise ModelError(
                f"the padding token of the tokenizer in {shown(folder)} is {told(tokenizer.pad_token_id)}, but the "
                f"encoder has only {rows:,} tokens: use another encoder"
            )
        setattr(tokenizer, ROWS, rows)


def _steps(found: Any) -> Iterator[dict[str, Any]]:
    """A normalizer and all that it is made of."""
    if isinstance(found, dict):
        yield found
        for part in found.get("normalizers") or []:
            yield from _steps(part)
