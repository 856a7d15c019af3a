"""Checks for what others add to actune: each raises an AssertionError with a sentence where a contract is broken.

`check_score`, `check_query`, `check_self_training` and `check_method` try their argument on small views that can give
every signal; `check_learner` and `check_annotator` need a few texts or questions. actune's own tests use them too.
"""

from __future__ import annotations

from actune.testing.annotators import check_annotator
from actune.testing.learners import check_learner
from actune.testing.methods import check_method, check_query, check_score, check_self_training
from actune.testing.views import drawn_view, view_of

__all__ = [
    "check_annotator",
    "check_learner",
    "check_method",
    "check_query",
    "check_score",
    "check_self_training",
    "drawn_view",
    "view_of",
]
