"""Rows in the order of their scores; ties go to the smaller row, and a score that is no number is an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actune.errors import Diverged

if TYPE_CHECKING:
    import torch


def least_sure_first(scores: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Sorted rows by falling score: what to ask about."""
    return surest_first(-scores, rows)


def surest_first(scores: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Sorted rows by rising score: what to trust."""
    picked = finite(scores, rows, "score")
    return rows[picked.sort(stable=True).indices.to(rows.device)]


def finite(values: torch.Tensor, rows: torch.Tensor, what: str) -> torch.Tensor:
    """The values of these rows. Ranking NaN somewhere would hide a model that diverged."""
    picked = values[rows.to(values.device)]  # (rows, ...)
    if picked.sum().isfinite():  # then all of them are, and nothing as large as they had to be made
        return picked
    broken = ~picked.isfinite()[:, None].flatten(1).all(1)
    if broken.any():
        names = rows[broken.to(rows.device)].tolist()
        first = ", ".join(map(str, names[:5])) + (", ..." if len(names) > 5 else "")
        raise Diverged(
            f"the {what} of {len(names):,} of {len(rows):,} texts is not a number (rows {first}): "
            "lower learning_rate, or check these texts"
        )
    return picked
