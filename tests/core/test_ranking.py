"""Orders of rows: ties by row, and no number no order."""

from __future__ import annotations

import pytest
import torch

from actune.core.ranking import finite, least_sure_first, surest_first
from actune.errors import Diverged

ROWS = torch.tensor([1, 2, 4, 5])


def test_ties_go_to_the_smaller_row_in_both_directions() -> None:
    scores = torch.tensor([9.0, 1.0, 2.0, 9.0, 2.0, 1.0])
    assert least_sure_first(scores, ROWS).tolist() == [2, 4, 1, 5]
    assert surest_first(scores, ROWS).tolist() == [1, 5, 2, 4]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_score_that_is_no_number_raises_with_its_row(value: float) -> None:
    scores = torch.tensor([0.0, 1.0, value, 0.0, 0.0, 0.0])
    with pytest.raises(Diverged, match=r"the score of 1 of 4 texts is not a number \(rows 2\)"):
        least_sure_first(scores, ROWS)


def test_only_the_rows_in_question_must_be_numbers() -> None:
    scores = torch.tensor([float("nan"), 1.0, 1.0, 0.0, 2.0, 0.0])
    assert least_sure_first(scores, ROWS).tolist() == [4, 1, 2, 5]


def test_vectors_are_checked_whole() -> None:
    vectors = torch.zeros(6, 3)
    vectors[5, 1] = float("inf")
    with pytest.raises(Diverged, match="rows 5"):
        finite(vectors, ROWS, "embedding")


def test_values_whose_sum_is_too_large_are_numbers() -> None:
    vectors = torch.full((6, 3), 3e38)
    assert torch.equal(finite(vectors, ROWS, "embedding"), vectors[:4])
