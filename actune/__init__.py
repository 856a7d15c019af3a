"""AcTune: fine-tune text classifiers with few labels by asking about the unsure texts and trusting the sure ones."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from actune import errors as errors
    from actune import testing as testing
    from actune.annotators.oracle import Oracle as Oracle
    from actune.core.dialogue import Annotator as Annotator
    from actune.core.dialogue import Answer as Answer
    from actune.core.dialogue import Question as Question
    from actune.core.facts import FinalFacts as FinalFacts
    from actune.core.facts import RoundFacts as RoundFacts
    from actune.core.pool import Pool as Pool
    from actune.core.pool import pool_of as pool_of
    from actune.core.task import Task as Task
    from actune.core.view import View as View
    from actune.data.formats import read_pool as read_pool
    from actune.data.own import task_of as task_of
    from actune.data.tasks import load_task as load_task
    from actune.errors import ActuneError as ActuneError
    from actune.errors import Busy as Busy
    from actune.errors import DataError as DataError
    from actune.errors import Diverged as Diverged
    from actune.errors import InputError as InputError
    from actune.errors import MissingSignal as MissingSignal
    from actune.errors import ModelError as ModelError
    from actune.errors import NoAnswer as NoAnswer
    from actune.errors import RunFolderError as RunFolderError
    from actune.errors import SettingError as SettingError
    from actune.errors import StorageError as StorageError
    from actune.errors import UserError as UserError
    from actune.estimators.text_classifier import TextClassifier as TextClassifier
    from actune.methods.method import Method as Method
    from actune.rounds.predicting import Prediction as Prediction
    from actune.rounds.predicting import TextModel as TextModel
    from actune.session.loading import load as load
    from actune.session.runner import run as run
    from actune.session.session import Session as Session
    from actune.session.setup import create as create
    from actune.session.setup import open_session as open_session

# the names above, each imported when first used, so that `import actune` is instant
_HOMES = {
    "ActuneError": "actune.errors",
    "Annotator": "actune.core.dialogue",
    "Answer": "actune.core.dialogue",
    "Busy": "actune.errors",
    "DataError": "actune.errors",
    "Diverged": "actune.errors",
    "FinalFacts": "actune.core.facts",
    "InputError": "actune.errors",
    "Method": "actune.methods.method",
    "MissingSignal": "actune.errors",
    "ModelError": "actune.errors",
    "NoAnswer": "actune.errors",
    "Oracle": "actune.annotators.oracle",
    "Pool": "actune.core.pool",
    "Prediction": "actune.rounds.predicting",
    "Question": "actune.core.dialogue",
    "RoundFacts": "actune.core.facts",
    "RunFolderError": "actune.errors",
    "Session": "actune.session.session",
    "SettingError": "actune.errors",
    "StorageError": "actune.errors",
    "Task": "actune.core.task",
    "TextClassifier": "actune.estimators.text_classifier",
    "TextModel": "actune.rounds.predicting",
    "UserError": "actune.errors",
    "View": "actune.core.view",
    "create": "actune.session.setup",
    "load": "actune.session.loading",
    "load_task": "actune.data.tasks",
    "open_session": "actune.session.setup",
    "pool_of": "actune.core.pool",
    "read_pool": "actune.data.formats",
    "run": "actune.session.runner",
    "task_of": "actune.data.own",
}
_MODULES = ("errors", "testing")
__all__ = ["__version__", *_HOMES, *_MODULES]

logging.getLogger(__name__).addHandler(logging.NullHandler())  # a program that wants to see the log adds its own


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'actune' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
