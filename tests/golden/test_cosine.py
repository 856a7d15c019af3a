"""COSINE's three terms against the numbers of METHODS G16, worked out by hand."""

from __future__ import annotations

import pytest
import torch

from actune.models.objectives import certainty, contrast, from_uniform, sharpened, soft_loss
from tests.golden.inputs import golden, tensor

TEACHER = tensor([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
STUDENT = tensor([[0.8, 0.2], [0.5, 0.5], [0.3, 0.7]]).log()
PAIR = tensor([[1.0, 0.0], [0.6, 0.8]])
KEPT = torch.tensor([True, True])


def close(found: torch.Tensor, name: str) -> None:
    torch.testing.assert_close(found, golden(name), rtol=0, atol=1e-8)


def test_targets_and_certainty() -> None:
    close(sharpened(TEACHER), "G16.soft_pseudo_label")
    close(certainty(TEACHER), "G16.weight_logC")
    assert (certainty(TEACHER) > 0.2).tolist() == golden("G16.mask_xi0.2_logC").bool().tolist()


def test_trap_13_certainty_is_a_share_of_ln_c_and_not_of_the_batch() -> None:
    assert not torch.allclose(certainty(TEACHER), golden("G16.weight_logBatch"), rtol=0, atol=0.1)
    torch.testing.assert_close(certainty(TEACHER.repeat(5, 1))[:3], certainty(TEACHER))


@pytest.mark.parametrize("row", range(3))
def test_the_divergence_of_each_row(row: int) -> None:
    only = torch.arange(3) == row
    found = soft_loss(STUDENT, TEACHER, only) / certainty(TEACHER)[row]
    torch.testing.assert_close(found, golden("G16.kl(target||student)")[row], rtol=0, atol=1e-8)


def test_the_self_training_term_is_a_mean_over_kept_rows() -> None:
    kept = certainty(TEACHER) > 0.2
    close(soft_loss(STUDENT, TEACHER, kept), "G16.self_training_term")


def test_the_confidence_term() -> None:
    close(from_uniform(STUDENT), "G16.kl(uniform||student)")


def test_the_contrast_of_one_pair() -> None:
    """Half of the squared distance for one class, and of what it lacks to 1 for two; the pair occurs twice."""
    same, different = golden("G16.contrastive").tolist()
    assert contrast(PAIR, torch.tensor([1, 1]), KEPT).item() == pytest.approx(same / 2, abs=1e-8)
    assert contrast(PAIR, torch.tensor([0, 1]), KEPT).item() == pytest.approx(different / 2, abs=1e-8)
    assert same == pytest.approx(golden("G16.cos_dist").item() ** 2)
