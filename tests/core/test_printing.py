"""A text of others is one line that steers nothing."""

from __future__ import annotations

import pytest

from actune.core.printing import printable


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("two\nlines\tand a tab\u2028", "two lines and a tab "),
        ("\x1b[2J\x00\x9b", "\ufffd[2J\ufffd\ufffd"),
        ("right\u202eto left\u2066", "right\ufffdto left\ufffd"),
        ("\ud800", "\ufffd"),
        ("می\u200cخواهم 👩\u200d👧", "می\u200cخواهم 👩\u200d👧"),
        ("$x$ <b>&", "$x$ <b>&"),
    ],
)
def test_only_what_cannot_be_printed_is_replaced(text, line):
    assert printable(text) == line
