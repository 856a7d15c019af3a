"""Groups of near-duplicates are those that comparing all pairs finds, whatever the texts; equal texts are one group."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actune.core.strings import Strings
from actune.data import duplicates
from actune.data.duplicates import groups_in, near_duplicates
from actune.errors import SettingError
from tests.data.texts import TEXTS

WORD_PAIRS = 2


def pairs_of(text: str) -> set[tuple[str, ...]]:
    """What the texts of these tests consist of, said once more: words of letters, case aside."""
    words = re.findall(r"\w+", text.lower())
    found = {tuple(words[place : place + WORD_PAIRS]) for place in range(len(words) - 1)}
    return found or {tuple(words)}


def naive(texts: Sequence[str], threshold: float) -> list[int]:
    """All pairs, one by one."""
    sets = [pairs_of(text) for text in texts]
    group = list(range(len(texts)))
    for one in range(len(texts)):
        for other in range(one):
            similar = len(sets[one] & sets[other]) >= threshold * len(sets[one] | sets[other]) - 1e-9
            if similar and group[one] != group[other]:
                low, high = sorted((group[one], group[other]))
                group = [low if each == high else each for each in group]
    return group


EDITED = st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=25)


@settings(max_examples=300, deadline=None)
@given(EDITED, st.sampled_from([0.2, 0.5, 0.6, 2 / 3, 0.75, 0.8, 1.0]))
def test_the_groups_are_those_of_all_pairs(texts: list[str], threshold: float) -> None:
    assert near_duplicates(texts, threshold).tolist() == naive(texts, threshold)


def test_groups_of_real_questions_are_those_of_all_pairs(questions: object) -> None:
    texts = list(questions.pool.texts)  # type: ignore[attr-defined]
    texts += [text.replace("the", "a").upper() for text in texts[:100]]
    for threshold in (0.5, 0.8):
        assert near_duplicates(texts, threshold).tolist() == naive(texts, threshold)


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXTS, max_size=12), st.sampled_from([0.3, 0.8, 1.0]), st.randoms())
def test_equal_texts_are_one_group_and_order_does_not_matter(
    texts: list[str], threshold: float, draw: random.Random
) -> None:
    texts = texts + texts[:3]
    first = near_duplicates(texts, threshold)
    for row, text in enumerate(texts):
        assert first[row] == first[texts.index(text)] <= row
    assert first[first].tolist() == first.tolist()  # each group has the name of its first row
    order = list(range(len(texts)))
    draw.shuffle(order)
    moved = near_duplicates([texts[row] for row in order], threshold)
    together = [[first[one] == first[other] for other in order] for one in order]
    assert together == [[moved[one] == moved[other] for other in range(len(order))] for one in range(len(order))]


def test_case_punctuation_and_spaces_do_not_count() -> None:
    texts = ["What is love?", "what  is love", "WHAT IS ... LOVE !!", "what is life?", "\uff37hat is love"]
    assert near_duplicates(texts, 1.0).tolist() == [0, 0, 0, 3, 0]


def test_languages_without_spaces() -> None:
    texts = ["今日はとても良い天気ですね", "今日はとても良い天気です", "明日は雨が降るでしょう", "👍", "👍", "👎"]
    assert near_duplicates(texts, 0.8).tolist() == [0, 0, 2, 3, 3, 5]


def test_one_word_and_no_word() -> None:
    assert near_duplicates(["yes", "Yes!", "no", "?", "!", "?", " ", ""]).tolist() == [0, 0, 2, 3, 4, 3, 6, 6]
    assert near_duplicates([]).tolist() == []


def test_a_stricter_threshold_splits_groups_and_never_joins_them(questions: object) -> None:
    texts = questions.pool.texts  # type: ignore[attr-defined]
    found = [near_duplicates(texts, threshold) for threshold in (0.2, 0.4, 0.6, 0.8, 1.0)]
    for loose, strict in pairwise(found):
        assert (loose[strict] == loose).all()
    assert len(np.unique(found[0])) < len(np.unique(found[-1]))


def test_many_texts_that_share_a_rare_shingle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the limit not all pairs are compared; nothing that is unlike is joined, and little is missed."""
    draw = random.Random(0)
    templates = [draw.choices("abcdefgh", k=8) for _ in range(40)]
    texts = [" ".join([*draw.choice(templates), f"only{row}"]) for row in range(800)]
    exact = naive(texts, 0.7)
    assert len(set(exact)) == 40
    monkeypatch.setattr(duplicates, "MOST_PAIRS", 20_000)
    found = near_duplicates(texts, 0.7)
    assert all(exact[row] == exact[first] for row, first in enumerate(found.tolist()))
    missed = sum(first != group for first, group in zip(found.tolist(), exact, strict=True))
    assert missed <= 20


def test_blocks_and_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"text number {number % 7} of some more words" for number in range(100)]
    expected = near_duplicates(texts)
    monkeypatch.setattr("actune.core.strings.BLOCK", 16)
    monkeypatch.setattr("actune.data.shingles.MOST_WORDS", 3)
    monkeypatch.setattr(duplicates, "PAIRS", 5)
    assert near_duplicates(Strings.of(texts)).tolist() == near_duplicates(texts).tolist() == expected.tolist()


def test_groups_as_rows() -> None:
    first = near_duplicates(["a b", "c d", "A B", "e f", "c d.", "a b"], 1.0)
    assert groups_in(first) == [[0, 2, 5], [1, 4]]


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan"), True])
def test_what_is_no_similarity(threshold: float) -> None:
    with pytest.raises(SettingError, match="must be above 0 and at most 1, not"):
        near_duplicates(["a"], threshold)


def test_every_process_finds_the_same_without_torch() -> None:
    program = (
        "import sys; from actune.data.duplicates import near_duplicates\n"
        "print(near_duplicates([f'{n % 9} is one of the numbers {n % 5}' for n in range(60)], 0.5).tolist())\n"
        "assert not {'torch', 'transformers', 'sklearn'} & set(sys.modules)\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(told) == 1
