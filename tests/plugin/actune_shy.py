"""A plug-in for actune: a score of its own, and two methods that ask by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actune.methods.method import Method, Recipe, asking
from actune.methods.queries import Top

if TYPE_CHECKING:
    import torch

    from actune.core.settings import Settings
    from actune.core.view import View


def shyness(view: View) -> torch.Tensor:  # (pool,)
    """How far the likeliest class is from being certain."""
    return view.cached(shyness, lambda: -view.log_proba.amax(1))


def shyer(settings: Settings) -> Method:
    """Asks about the texts whose likeliest class is least likely, and trusts nothing."""
    return asking(Top(shyness))


SHY = Recipe("shy", "plug-in", "ask about the texts whose likeliest class is least likely", "an example", shyer)
