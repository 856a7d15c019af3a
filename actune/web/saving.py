"""A model of a project as one zip file, made in a process of its own because that may import torch."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from actune.core.places import files_below
from actune.errors import ActuneError
from actune.session.session import Session


def main() -> None:
    """`python -m actune.web.saving PROJECT MODEL TARGET`; a refusal is one sentence on stderr."""
    from actune.session.setup import open_session

    project, name, target = sys.argv[1:]
    try:
        with open_session(project) as session:
            zip_model(session, name, Path(target))
    except ActuneError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def zip_model(session: Session, name: str, target: Path) -> None:
    """Writes a portable copy of a model, which `actune.load` opens when it is unpacked."""
    from actune.models.portable import copy_model, make_portable
    from actune.models.starting import saved_learner

    source = session.store.folder / "models" / name
    session.store.check_model(source)
    encoder = session.prepared.folder if saved_learner(source).is_frozen_encoder else source
    with TemporaryDirectory(dir=target.parent) as scratch:
        folder = Path(scratch) / name
        folder.mkdir()
        copy_model(source, folder)
        make_portable(folder, encoder, session.config.settings.max_tokens)
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:  # weights do not get smaller
            for file in sorted(files_below(folder)):
                archive.write(file, f"{name}/{file.relative_to(folder).as_posix()}")


if __name__ == "__main__":
    main()
