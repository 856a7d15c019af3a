"""Texts, labels and names as the laws of files want them: all that has ever broken a table."""

from __future__ import annotations

from hypothesis import strategies as st

ODD = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "＝1",
    "'=x",
    "'quoted'",
    'say "hi"',
    "one\ntwo",
    "one\r\ntwo",
    "\tbefore",
    "\rbefore",
    "a,b;c|d\te",
    "日本語のテキスト",
    "한국어",
    "naïve café",
    "👩‍👩‍👧 😀",
    "עברית שלום",
    "\u202eright to left\u202c",
    "مرحبا, بالعالم",
    "bell\x07 escape\x1b unit\x1f",
    "line\u2028separator\u0085",
    "_x000D_",
    "\ufeffmark",
    "null",
    "None",
    "TRUE",
    "007",
    "1e5",
    "2026-05-01",
    "\\N",
    "a\\",
]
CHARACTERS = st.one_of(
    st.sampled_from("=+-@'\"\t\r\n,;\\ _x"), st.characters(exclude_categories=["Cs"], exclude_characters="\0")
)
TEXTS = st.one_of(st.sampled_from(ODD), st.text(CHARACTERS, max_size=12)).filter(str.strip)
NAMES = st.one_of(
    st.sampled_from(["7", "007", "post-1", "anna", "ben@example.org", "=id", "é", "日本"]),
    st.text(CHARACTERS, min_size=1, max_size=6).map(str.strip).filter(bool),
).filter(lambda name: name not in ("nan", "NaN"))
LABELS = st.one_of(
    st.sampled_from(["a", "a, b", "=sum", "it's", "'=x", 'c"d"', "-1", "yes", "日本", "two\nlines"]),
    st.text(CHARACTERS, min_size=1, max_size=6).map(str.strip).filter(bool),
).filter(lambda name: name not in ("nan", "NaN"))
