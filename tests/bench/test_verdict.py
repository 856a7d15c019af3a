"""Does active learning help: the answer, its numbers by hand, and what it says when it cannot tell."""

from __future__ import annotations

import pytest

from actune.bench.statistics import estimate
from actune.bench.verdict import compare_with_random
from actune.errors import DataError
from tests.bench.planted import Planted, cell

RANDOM = [[0.50, 0.60, 0.70], [0.52, 0.60, 0.72], [0.51, 0.63, 0.71]]
BETTER = [[0.50, 0.72, 0.80], [0.52, 0.71, 0.82], [0.51, 0.73, 0.80]]


def planted(**lines):
    """By method, a curve for each seed."""
    return Planted(
        [
            row
            for method, seeds in lines.items()
            for seed, line in enumerate(seeds)
            for row in cell("mine", method, line, seed)
        ]
    )


def shifted(lines, by):
    return [[value + by for value in line] for line in lines]


def test_it_helps_and_by_how_much():
    found = compare_with_random(planted(random=RANDOM, actune=BETTER))
    assert (found.answer, found.best) == ("helps", "actune")
    # areas: (.25 + .6 + .35)/2 and so on; differences (.12 + .05)/2, (.11 + .05)/2, (.1 + .045)/2
    gap = estimate([(0.12 + 0.05) / 2, (0.11 + 0.05) / 2, (0.10 + 0.045) / 2])
    low, high = gap.bounds
    assert found.sentences[0] == (
        f"Active learning helps here: actune is ahead of random by +{100 * gap.mean:.1f} "
        f"[+{100 * low:.1f}, +{100 * high:.1f}] points on average over 100 to 300 labels (3 seeds, p = .002)."
    )
    # random ends at .71; actune has .51 at 100 and .72 at 200: 195 labels, and 105 of 300 saved
    assert found.sentences[1].startswith(
        "actune needs 195 labels for the 71.0 % that random reaches with 300: it saves 105 labels or 35 % (95 %"
    )
    assert found.sentences[2].startswith(
        "With 300 labels actune has 80.7 ± 1.2 % and random 71.0 ± 1.0 %: a difference of +9.7 ["
    )
    assert len(found.sentences) == 3


def test_it_hurts_where_even_the_best_is_behind():
    worse = [[value - 0.02 - 0.001 * seed for value in line] for seed, line in enumerate(RANDOM)]
    found = compare_with_random(planted(random=RANDOM, cal=worse, entropy=shifted(worse, -0.1)))
    assert (found.answer, found.best) == ("hurts", "cal")
    assert "even the best of 2 methods, cal, differs from random by −2.1" in found.sentences[0]
    assert found.sentences[1] == "cal never reaches the 71.0 % that random reaches with 300 labels: it saves no labels."


def test_it_cannot_tell_and_says_how_many_seeds_would():
    unsure = [[0.50, 0.62, 0.70], [0.52, 0.58, 0.72], [0.51, 0.66, 0.71]]
    found = compare_with_random(planted(random=RANDOM, cal=unsure))
    assert found.answer == "cannot tell" and found.sentences[0].startswith("These runs cannot tell")
    assert found.sentences[-1].endswith(
        "more seeds would probably detect a difference of this size, by a rough estimate from 3 seeds."
    )
    assert len(found.sentences) <= 5


def test_many_methods_make_the_same_difference_less_certain():
    one = compare_with_random(planted(random=RANDOM, actune=BETTER))
    noise = {f"m{number}": [RANDOM[(seed + number) % 3] for seed in range(3)] for number in range(40)}
    many = compare_with_random(planted(random=RANDOM, actune=BETTER, **noise))
    assert one.answer == "helps" and many.answer == "cannot tell" and many.best == "actune"
    assert "after Holm's correction over 41 methods" in many.sentences[0]


@pytest.mark.parametrize(("seeds", "words"), [(1, "there is 1."), (2, "there are 2.")])
def test_fewer_than_three_seeds_never_tell(seeds, words):
    found = compare_with_random(planted(random=RANDOM[:seeds], actune=BETTER[:seeds]))
    assert found.answer == "cannot tell" and found.sentences[-1].endswith(words)
    assert "nan" not in " ".join(found.sentences).lower()


def test_seeds_that_are_all_alike_say_nothing_about_luck():
    found = compare_with_random(planted(random=[RANDOM[0]] * 3, actune=[BETTER[0]] * 3))
    assert found.answer == "cannot tell" and "All seeds gave the same difference" in found.sentences[-1]
    assert found.p is None and found.p_of.startswith("There is no p-value")


def test_methods_are_compared_under_the_seeds_that_all_have_and_the_note_names_the_rest():
    whole = compare_with_random(planted(random=RANDOM, actune=BETTER))
    assert "compared under" not in whole.table.note
    found = compare_with_random(planted(random=RANDOM, actune=BETTER, cal=RANDOM[:2]))
    assert "compared under seeds 0, 1, which all have: cal without seed 2." in found.table.note


def test_the_table_has_every_method_and_random_last():
    found = compare_with_random(planted(random=RANDOM, actune=BETTER, cal=shifted(RANDOM, -0.1)))
    assert [row[0] for row in found.table.rows] == ["actune", "cal", "random"]
    assert found.table.rows[0][-1] == "195" and found.table.rows[1][-1] == "not within 300"
    assert found.facts()["answer"] == "helps" and found.facts()["methods"][2]["method"] == "random"


def test_what_cannot_be_compared_is_one_sentence():
    with pytest.raises(DataError, match="needs random and at least one other method, but 'mine' has only actune"):
        compare_with_random(planted(actune=BETTER))
    with pytest.raises(DataError, match="no seed or no number of labels in common"):
        compare_with_random(Planted(cell("mine", "random", [0.5], 0) + cell("mine", "cal", [0.5], 1)))
    rows = cell("mine", "random", [None])
    with pytest.raises(DataError, match="no accuracies to compare"):
        compare_with_random(Planted(rows))
