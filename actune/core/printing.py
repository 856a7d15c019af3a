"""Text of others made safe for one line of a terminal, a table or a picture."""

from __future__ import annotations

JOINERS = "\u200c\u200d"  # invisible, but Persian, Hindi and emoji need them


def printable(text: str) -> str:
    """The text in one line: a text must not be able to steer a terminal, and XML has no control characters."""
    return "".join(letter if letter.isprintable() or letter in JOINERS else _instead(letter) for letter in text)


def _instead(letter: str) -> str:
    return " " if letter.isspace() else "\ufffd"
