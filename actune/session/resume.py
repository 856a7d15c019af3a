"""One folder, one simulated run: made where there is none, continued where it is the same, else refused."""

from __future__ import annotations

from pathlib import Path

from actune.core.progress import Progress, silent
from actune.core.task import Task
from actune.errors import RunFolderError
from actune.session.config import load_config
from actune.session.request import Words, check, make_request
from actune.session.resolve import fingerprint
from actune.session.runner import same_run
from actune.session.session import Session
from actune.session.setup import create, open_session
from actune.store.store import FILE


def open_or_create(
    folder: Path, task: Task, words: Words, round_seconds: float = 60.0, progress: Progress = silent
) -> Session:
    """The session of `folder`, new or as it was left; a larger number of rounds extends it."""
    if (folder / FILE).exists() and not load_config(folder).request.simulated:
        raise RunFolderError(f"{str(folder)!r} is a project that people answer: choose another folder")
    request = make_request(task, **words)
    if not same_run(folder, request):
        return create(folder, task, **words, round_seconds=round_seconds, progress=progress)
    session = open_session(folder, progress)
    if fingerprint(task) != session.config.resolved.fingerprint:
        raise RunFolderError(f"the data of {request.data!r} is not what {str(folder)!r} was made with")
    if request.rounds > session.config.request.rounds:
        check(request, task)
        session.reconfigure(session.config.extended_to(request.rounds))
    return session
