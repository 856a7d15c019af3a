"""Text of others made safe for one line of a terminal, a table or a picture."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

JOINERS = "\u200c\u200d"  # invisible, but Persian, Hindi and emoji need them
SHOWN = 60  # letters of a text where it only has to be recognised
LONGEST, ENDING = 2000, 300  # letters of a sentence, and of its end


def printable(text: str) -> str:
    """The text in one line: a text must not be able to steer a terminal, and XML has no control characters."""
    return "".join(letter if letter.isprintable() or letter in JOINERS else _instead(letter) for letter in text)


def shortened(text: str, most: int = SHOWN) -> str:
    """The beginning of a text in one line, with dots where something is left out."""
    shown = printable(text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 3] + "..."


def one_line(sentence: str) -> str:
    """A sentence in one line of a terminal. Of a very long one the middle is left out: what to do stands at its end."""
    shown = printable(sentence)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - ENDING]} … {shown[-ENDING:]}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 text`, `1,200 texts`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def given_only(value: Any, **shown: object) -> str:
    """A dataclass as it could be written, without the fields that have their default."""
    words = {entry.name: getattr(value, entry.name) for entry in fields(value)}
    usual = {entry.name: entry.default for entry in fields(value)}
    inner = [f"{name}={shown.get(name, word)!r}" for name, word in words.items() if word != usual[name]]
    return f"{type(value).__name__}({', '.join(inner)})"


def _instead(letter: str) -> str:
    return " " if letter.isspace() else "\ufffd"


def abridged(text: str, most: int) -> str:
    """The beginning of a long text, and how much more there is."""
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most:,} more characters)"
