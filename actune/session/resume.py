"""One folder, one simulated run: made where there is none, continued where it is the same, else refused."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from actune.core.progress import Progress, silent
from actune.core.run_options import RunOptions
from actune.core.spec import RunSpec
from actune.core.task import Task
from actune.data.splits import labelled_only
from actune.errors import RunFolderError
from actune.session.config import differences, load_config
from actune.session.preparing import method_of
from actune.session.request import check, make_request
from actune.session.resolve import fingerprint
from actune.session.session import Session
from actune.session.setup import as_asked, create, find_task, open_session
from actune.store.store import FILE


def open_simulation(folder: Path, progress: Progress = silent, **options: Unpack[RunOptions]) -> Session:
    """A simulated run on the labelled data that the options name, new or as it was left."""
    source = options["source"]
    found = find_task(source, options.get("reading", {}), options.get("seed", 0), options.get("preset", "paper"))
    task = labelled_only(found)
    if task.bundled and Path(source).is_dir():
        source = str(Path(source).absolute())  # the run may be opened from another folder
    return open_or_create(folder, task, {**options, "source": source, "simulated": True}, progress)


def open_or_create(folder: Path, task: Task, options: RunOptions, progress: Progress = silent) -> Session:
    """The session of `folder`, new or as it was left; a larger number of rounds extends it."""
    if (folder / FILE).exists() and not load_config(folder).request.simulated:
        raise RunFolderError(f"{str(folder)!r} is a labelling project, not a simulated run: choose another folder")
    task = as_asked(task, options.get("no_dev"))
    request = make_request(task, **options)
    if not _holds(folder, request):
        return create(folder, task, progress=progress, **options)
    session = open_session(folder, progress)
    if fingerprint(task) != session.config.resolved.fingerprint:
        raise RunFolderError(
            f"{request.data!r} has changed since {str(folder)!r} was created: restore the data, or choose another "
            "folder"
        )
    if max(request.rounds, session.config.request.fits) > session.fitted:
        # it may be missing here, which the user should know before anything is done
        session.method = method_of(session.config, named=request.method)
    if request.rounds > session.config.request.rounds:
        check(request, task)
        session.reconfigure(session.config.extended_to(request.rounds))
    return session


def _holds(folder: Path, request: RunSpec) -> bool:
    """Whether `folder` holds this very run already; another run there is an error that names the differences."""
    if not (folder / FILE).exists():
        return False
    if found := differences(load_config(folder).request, request):
        raise RunFolderError(
            f"{str(folder)!r} is a different run: {'; '.join(found)}; use the same options, or choose another folder"
        )
    return True
