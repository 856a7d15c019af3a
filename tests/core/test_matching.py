"""Names of classes as people write them."""

from __future__ import annotations

import pytest

from actune.core.matching import alike, matcher, matches


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Refund", "Refund"),
        ("refund", "Refund"),
        (" REFUND\t", "Refund"),
        ("STRASSE", "Straße"),
        ("u\u0308bel", "Übel"),
        ("ab", "ab"),
        ("Ab", "Ab"),
        ("AB", None),  # both classes are meant
        ("refunds", None),
        ("", None),
    ],
)
def test_an_exact_match_wins_and_another_must_be_unambiguous(name: str, meant: str | None) -> None:
    assert matcher(["Refund", "Straße", "Übel", "ab", "Ab"])(name) == meant


def test_many_names_at_once() -> None:
    assert matches(["A", "b", "x"], ["a", "b"]) == {"A": "a", "b": "b"}
    assert alike(["a", "B", "A ", "b", "c"]) == [("a", "A "), ("B", "b")]
