"""AcTune: fine-tune text classifiers with few labels by asking about the unsure texts and trusting the sure ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from actune.annotators.oracle import Oracle as Oracle
    from actune.core.dialogue import Answer as Answer
    from actune.core.dialogue import Question as Question
    from actune.core.pool import Pool as Pool
    from actune.core.pool import pool_of as pool_of
    from actune.data.formats import read_pool as read_pool
    from actune.data.tasks import load_task as load_task
    from actune.estimators.text_classifier import TextClassifier as TextClassifier
    from actune.session.runner import run as run
    from actune.session.session import Session as Session
    from actune.session.setup import create as create
    from actune.session.setup import open_session as open_session

# the names above, each imported when first used, so that `import actune` is instant
_HOMES = {
    "Answer": "actune.core.dialogue",
    "Oracle": "actune.annotators.oracle",
    "Pool": "actune.core.pool",
    "Question": "actune.core.dialogue",
    "Session": "actune.session.session",
    "TextClassifier": "actune.estimators.text_classifier",
    "create": "actune.session.setup",
    "load_task": "actune.data.tasks",
    "open_session": "actune.session.setup",
    "pool_of": "actune.core.pool",
    "read_pool": "actune.data.formats",
    "run": "actune.session.runner",
}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'actune' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
