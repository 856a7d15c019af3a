"""Every error that a user can cause, as one clear sentence each; the command line turns them into exit codes.

ActuneError
├── UserError            the input is wrong; nothing was changed            exit 2
│   ├── DataError        a file, a column, a cell, a label
│   │   └── InputError       what an estimator was given; a ValueError too, as scikit-learn wants it
│   ├── SettingError     an unknown or impossible name, setting or plan
│   ├── ModelError       an encoder that cannot be found, read or used
│   │   └── MissingSignal    it lacks what a method needs: names what to use instead
│   ├── RunFolderError   a folder that is not a run, or not this run
│   └── StorageError     a full disk, a read-only folder                   exit 2
├── Busy                 another process is advancing this run              exit 2
├── NoAnswer             nobody answered in time; the answers so far are saved   exit 2
└── Diverged             a model gave NaN: names the rows                   exit 2
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 100  # characters of a name that a hint shows
LISTED = 100  # names that a hint lists


class ActuneError(Exception):
    """Base class of all errors of actune; the message is one sentence for the user."""


class UserError(ActuneError):
    """The user's input is wrong, and nothing was changed."""


class DataError(UserError):
    """A file, a column, a cell or a label is not what it should be."""


class InputError(DataError, ValueError):
    """The `X` or `y` passed to an estimator cannot be used."""


class SettingError(UserError):
    """A name, a setting or a plan does not exist or cannot work."""


class ModelError(UserError):
    """An encoder or a saved model cannot be found or used."""


class MissingSignal(ModelError):
    """The encoder or learner lacks what a method needs, such as dropout; the message names an alternative."""


class RunFolderError(UserError):
    """The folder is not a run folder, belongs to another run, or was written by a newer version."""


class StorageError(UserError):
    """The disk is full or the folder cannot be written."""


class Busy(ActuneError):
    """Another process is advancing this run right now."""


class NoAnswer(ActuneError, TimeoutError):
    """An annotator gave no answer within the time limit; earlier answers are saved."""


class Diverged(ActuneError):
    """A model returned NaN for some texts."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint for a mistyped name: the nearest known one, then all of them."""
    known = sorted(known)
    # a comparison takes the product of both lengths, and names of others may be as long as they like
    close = get_close_matches(str(word)[:LONGEST], [name for name in known if len(name) <= LONGEST], n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    more = f" and {len(known) - LISTED:,} more" if len(known) > LISTED else ""
    return f"{hint}known: {', '.join(_cut(name) for name in known[:LISTED])}{more}"


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}..."
