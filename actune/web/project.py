"""The project behind a page: the folder of last time, or a new one beside the data."""

from __future__ import annotations

from pathlib import Path

from actune.core.places import exists
from actune.core.pool import Pool
from actune.core.run_options import RunOptions
from actune.data.tasks import cards, load_task
from actune.errors import RunFolderError
from actune.session.labelling import create_labelling
from actune.session.session import Session
from actune.session.setup import find_task, open_session
from actune.store.store import FILE

ENDING = "-actune"


def open_or_create(out: Path | None, options: RunOptions) -> tuple[Session, bool]:
    """The session of a project, and whether it is new. DATA may be the folder of a project itself."""
    source = str(options["source"])
    folder = out or folder_for(source)
    if (folder / FILE).is_file():
        session = open_session(folder, store=options.get("store") or "")
        if session.config.request.simulated:
            session.close()
            raise RunFolderError(f"{str(folder)!r} is a simulated run, which nobody labels: choose another --out")
        return session, False
    reading = options.get("reading", {})
    if source in cards():
        data: Pool | str = load_task(source, reading.get("data_dir")).pool.unlabelled()  # as if nobody had labelled it
    elif Path(source).is_file():
        data = source
    else:
        data = find_task(source, {**reading, "hold_out_dev": 0, "hold_out_test": 0}, 0).pool
    return create_labelling(folder, data, **options), True


def folder_for(source: str) -> Path:
    """`posts.csv` has the folder `posts-actune` beside it; a named data set has its own in the current folder."""
    path = Path(source)
    if (path / FILE).is_file():
        return path
    if exists(path):
        name = path.name.split(".")[0] if path.is_file() else path.name
        return path.parent / f"{name}{ENDING}"
    return Path(f"{path.name}{ENDING}")
