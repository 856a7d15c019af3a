"""Votes from the cells of a table: lists or columns, names or numbers, and a sentence for every wrong cell."""

from __future__ import annotations

import math

import pytest

from actune.errors import DataError
from actune.weak.votes import Cells, Votes, classes_in, vote_columns, votes_of

CLASSES = ("praise", "complaint", "question")


def rows(votes: Votes) -> list[list[int]]:
    return [[int(vote) for vote in row] for row in votes.matrix]


@pytest.mark.parametrize("column", ["weak_labels", "votes"])
def test_lists_of_numbers_and_names(column: str) -> None:
    cells: Cells = {"text": ["a", "b"], column: [[0, -1, "question"], [None, "", "1"]], "vote_x": ["", ""]}
    votes = votes_of(cells, CLASSES)
    assert rows(votes) == [[0, -1, 2], [-1, -1, 1]]
    assert votes.sources == ("rule 1", "rule 2", "rule 3")
    assert rows(votes_of({"weak_labels": ['[0, null, "question"]', "[-1, -1, 1]"]}, CLASSES)) == [
        [0, -1, 2],
        [-1, -1, 1],
    ]


def test_columns_by_prefix_or_by_name() -> None:
    cells: Cells = {"vote_a": ["praise", " "], "lf_b": [2, math.nan], "other": ["1.0", -1.0], "mine": [[0], [1]]}
    assert votes_of(cells, CLASSES).sources == ("vote_a", "lf_b")
    assert rows(votes_of(cells, CLASSES)) == [[0, 2], [-1, -1]]
    chosen = votes_of(cells, CLASSES, ["other", "vote_a"])
    assert (chosen.sources, rows(chosen)) == (("other", "vote_a"), [[1, 0], [-1, -1]])
    assert rows(votes_of(cells, CLASSES, ["mine"])) == [[0], [1]]


def test_covered_rows() -> None:
    votes = votes_of({"votes": [[-1, -1], [-1, 0]]}, CLASSES)
    assert votes.covered.tolist() == [False, True]
    assert len(votes) == 2


def test_a_name_goes_before_a_number() -> None:
    assert rows(votes_of({"votes": [[1, "2"]]}, ("2", "1", "0"))) == [[1, 0]]


@pytest.mark.parametrize(
    ("cells", "columns", "sentence"),
    [
        ({"votes": [[0], [3]]}, None, r"row 2: rule 1 votes '3', but the 3 classes are numbered 0 to 2"),
        ({"votes": [[0], [-2]]}, None, r"row 2: rule 1 votes '-2', but the 3 classes"),
        ({"vote_a": ["prais"]}, None, r"row 1: vote_a votes 'prais', which is not a class: did you mean 'praise'"),
        ({"votes": [[0, 1], [0]]}, None, r"row 2 has 1 votes and row 1 has 2: each row needs one vote per source"),
        ({"votes": [[0], "praise"]}, None, r"row 2: column 'votes' must have a list of votes.*not 'praise'"),
        ({"votes": ["[0", "[0]"]}, None, r"row 1: column 'votes' must have a list"),
        ({"votes": [[]]}, None, r"lists in column 'votes' are empty"),
        ({"votes": [[[0]]]}, None, r"row 1: rule 1 votes '\[0\]', which is not a class"),
        ({"text": ["a"]}, None, r"the table has no votes: set their columns with --columns"),
        ({"vote_a": ["praise"]}, ["vote_b"], r"there is no column 'vote_b': did you mean 'vote_a'"),
    ],
)
def test_wrong_cells(cells: Cells, columns: list[str] | None, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        votes_of(cells, CLASSES, columns)


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        (["-1", "1"], "the class name '-1' means"),
        (["a", "b", "a"], "the class 'a' is named twice"),
        (["a"], "the votes name only a: list at least two classes"),
        ([], "the votes name only no class"),
    ],
)
def test_wrong_classes(classes: list[str], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        votes_of({"votes": [[-1]]}, classes)


def test_the_place_of_a_wrong_cell_is_the_callers() -> None:
    with pytest.raises(DataError, match=r"posts\.csv line 3: vote_a votes 'x'"):
        votes_of({"vote_a": ["praise", "x"]}, CLASSES, where=lambda row: f"posts.csv line {row + 2}")


def test_classes_that_are_named() -> None:
    assert classes_in({"a": ["x", "", None], "b": ["y", "x", -1]}) == ("x", "y")
    assert classes_in({"a": ["x"]}, ["z"]) == ("x", "z")
    assert classes_in({"a": [10, 0.0]}, ["2"]) == tuple(map(str, range(11)))
    with pytest.raises(DataError, match="some votes are numbers, such as 1: list the class names in this order"):
        classes_in({"a": [1, 2]}, ["praise"])


@pytest.mark.parametrize("vote", ["1000000000", 10**9, 1e300, "9" * 5_000, 1000])
def test_a_huge_vote_is_one_sentence_and_takes_no_memory(vote: object) -> None:
    with pytest.raises(DataError, match=r"the largest vote is .*at most 1,000 classes.*--labels"):
        classes_in({"a": ["0", vote], "b": ["1", "0"]})
    with pytest.raises(DataError, match=r"row 2: a votes .*the 2 classes are numbered 0 to 1"):
        votes_of({"a": ["0", vote]}, ("x", "y"), ["a"])


def test_a_list_of_votes_that_nests_too_deep_is_one_sentence() -> None:
    with pytest.raises(DataError, match="must have a list of votes"):
        vote_columns({"votes": ["[" * 100_000]})


def test_more_rows_and_classes_than_fit_into_memory_are_one_sentence() -> None:
    names = [f"c{number}" for number in range(9_000)]
    with pytest.raises(DataError, match="60,000 rows and 9,000 classes, which no label model can hold"):
        votes_of({"vote_a": ["c1"] * 60_000}, names)
    with pytest.raises(DataError, match="there are 10,001 classes"):
        votes_of({"vote_a": ["c1"]}, [f"c{number}" for number in range(10_001)])
