"""Agreement of people: published and hand-computed examples, and what must hold for any answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from actune.core.agreement import alpha_with_interval, cohens_kappa, krippendorffs_alpha

# K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), part C: nominal data with missing values of four
# observers on twelve units. He gives 0.743 for these.
PUBLISHED = {
    "A": "1 2 3 3 2 1 4 1 2 . . .",
    "B": "1 2 3 3 2 2 4 1 2 5 . 3",
    "C": ". 3 3 3 2 3 4 2 2 5 1 .",
    "D": "1 2 3 3 2 4 4 1 2 5 1 .",
}


def units(table: dict[str, str]) -> list[dict[str, int]]:
    columns = zip(*(row.split() for row in table.values()), strict=True)
    return [{by: int(cell) for by, cell in zip(table, column, strict=True) if cell != "."} for column in columns]


def test_alpha_of_the_published_example_with_missing_answers() -> None:
    # The last unit has one value and is left out, so n = 40 values: 9 x 1, 13 x 2, 10 x 3, 5 x 4, 3 x 5.
    # Three units differ within: 2 2 3 2 has (16 - 10) / 3 = 2, 1 2 3 4 has (16 - 4) / 3 = 4, 1 1 2 1 has 2: together 8.
    # Expected: 40^2 - (81 + 169 + 100 + 25 + 9) = 1216, so alpha = 1 - 39 * 8 / 1216.
    assert krippendorffs_alpha(units(PUBLISHED)) == pytest.approx(1 - 39 * 8 / 1216)
    assert round(krippendorffs_alpha(units(PUBLISHED)) or 0, 3) == 0.743


def test_alpha_of_two_people_and_ten_texts() -> None:
    # The same paper, part A: two observers, binary data, ten units, four of which differ. 20 values: 14 x 0, 6 x 1.
    # Each unit that differs has (4 - 2) / 1 = 2, together 8. Expected: 400 - (196 + 36) = 168. 1 - 19 * 8 / 168.
    table = {"A": "0 1 0 0 0 0 0 0 1 0", "B": "1 1 1 0 0 1 0 0 0 0"}
    assert krippendorffs_alpha(units(table)) == pytest.approx(1 - 19 * 8 / 168)
    assert round(krippendorffs_alpha(units(table)) or 0, 3) == 0.095


def test_kappa_worked_out_by_hand() -> None:
    # 50 texts: both say yes on 20 and no on 15, so 35 / 50 = 0.7 agree. The first says yes 25 times, the second 30
    # times: by chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5 would agree. (0.7 - 0.5) / (1 - 0.5) = 0.4.
    answers = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert cohens_kappa(answers) == pytest.approx(0.4)


def test_what_cannot_be_told_is_none() -> None:
    assert cohens_kappa([]) is None and cohens_kappa([(1, 1), (1, 1)]) is None
    for texts in ([], [{}], [{"a": 1}], [{"a": 1}, {"b": 2}], [{"a": 1, "b": 1}] * 3):
        assert krippendorffs_alpha(texts) is None
        assert alpha_with_interval(texts, np.random.default_rng(0)) is None


people = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3), max_size=4)
texts = st.lists(people, min_size=1, max_size=12)


@given(texts, st.randoms(use_true_random=False))
def test_neither_the_order_nor_the_names_of_people_or_classes_matter(found: list[dict[str, int]], luck: object) -> None:
    alpha = krippendorffs_alpha(found)
    other = [{by.upper(): 7 - label for by, label in reversed(each.items())} for each in found]
    luck.shuffle(other)  # type: ignore[attr-defined]
    assert krippendorffs_alpha(other) == (None if alpha is None else pytest.approx(alpha))
    assert alpha is None or alpha <= 1


@given(texts)
def test_who_agrees_on_everything_has_one(found: list[dict[str, int]]) -> None:
    agreed = [dict.fromkeys(each, place % 3) for place, each in enumerate(found)]
    assume(len({label for each in agreed if len(each) > 1 for label in each.values()}) > 1)
    assert krippendorffs_alpha(agreed) == 1
    interval = alpha_with_interval(agreed, np.random.default_rng(0))
    assert interval is not None and interval.value == interval.low == interval.high == 1


pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20)


@given(pairs)
def test_kappa_is_the_same_both_ways_and_in_any_order(found: list[tuple[int, int]]) -> None:
    kappa = cohens_kappa(found)
    assert cohens_kappa([(two, one) for one, two in reversed(found)]) == (
        None if kappa is None else pytest.approx(kappa)
    )
    agreed = [(one, one) for one, _ in found]
    assert cohens_kappa(agreed) == (1 if len(set(agreed)) > 1 else None)


def test_a_text_with_one_answer_changes_nothing() -> None:
    found = units(PUBLISHED)
    assert krippendorffs_alpha([*found, {"A": 9}, {}]) == krippendorffs_alpha(found)


def test_the_interval_holds_alpha_and_shrinks_with_more_texts() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=400)
    found = [
        {by: int(label) if rng.random() < 0.8 else int(rng.integers(3)) for by in "ab"} for label in truth.tolist()
    ]
    few, many = (alpha_with_interval(some, np.random.default_rng(0)) for some in (found[:40], found))
    assert few is not None and many is not None
    for each in (few, many):
        assert each.low < each.value < each.high
    assert many.high - many.low < few.high - few.low
    assert alpha_with_interval(found, np.random.default_rng(0)) == many
