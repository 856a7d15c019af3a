"""The arrays and models of a run as files; they are on the disk before the commit that makes them count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from actune.core.facts import stays_in_use
from actune.core.files import (
    check_own_folder,
    locked,
    remove,
    remove_scratch,
    storage_sentences,
    sync_folder,
    sync_tree,
    write_atomically,
)
from actune.core.places import inside
from actune.errors import RunFolderError
from actune.store.arrays import packed, unpacked
from actune.store.digests import digest_of_file, digest_of_folder
from actune.store.links import point, stands_for
from actune.store.protocol import EARLIER_FINALS as EARLIER_FINALS
from actune.store.protocol import FINAL as FINAL
from actune.store.records import ModelRow
from actune.store.texts import TEXTS, RunTexts

if TYPE_CHECKING:
    import numpy as np

ARRAYS, MODELS, CHECKPOINTS = "arrays", "models", "checkpoints"
NEWEST = "model"  # a link to the model in use, for people and for other programs
FIRST_MODELS = ("model", "probe", "model.new", "probe.new")  # names of the first version of run folders


class RunFiles(RunTexts):
    """The files in a run's folder, beside its database, which knows the texts and models that count."""

    _texts_are_sound = False
    rows_expected: int | None
    classes_expected: int | None

    # arrays

    def save_arrays(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        with storage_sentences(self.folder):
            inside(self.folder, ARRAYS).mkdir(exist_ok=True)
            write_atomically(self._arrays(name), packed(arrays))

    def load_arrays(self, name: str) -> dict[str, np.ndarray]:
        file = self._arrays(name)
        if not file.exists():
            raise RunFolderError(
                f"{str(self.folder)!r} is incomplete: {file.name} is missing; run `actune repair {self.folder}`, or "
                "restore it from a backup"
            )
        below = {"pool": self.rows_expected or self.text_count("pool") or None, "classes": self.classes_expected}
        found = unpacked(file, below)
        if name.startswith("memory-") and "memory" not in found:
            raise RunFolderError(f"{str(file)!r} is no memory bank: run `actune verify {self.folder}`")
        return found

    def has_arrays(self, name: str) -> bool:
        return self._arrays(name).exists()

    def array_names(self) -> list[str]:
        """The names of all arrays that there are, sorted."""
        return sorted(file.stem for file in inside(self.folder, ARRAYS).glob("*.safetensors"))

    def array_file(self, name: str) -> Path:
        """The file of arrays."""
        return self._arrays(name)

    def drop_arrays(self, name: str) -> None:
        with storage_sentences(self.folder):
            self._arrays(name).unlink(missing_ok=True)

    def _arrays(self, name: str) -> Path:
        return inside(self.folder, f"{ARRAYS}/{name}.safetensors")

    # the state of a fit that is not finished

    @property
    def checkpoints(self) -> Path:
        """A folder for it; it is dropped once the model that came of it is committed."""
        return inside(self.folder, CHECKPOINTS)

    def drop_checkpoints(self) -> None:
        with storage_sentences(self.folder):
            remove(self.folder / CHECKPOINTS)  # where it is a link, only the link

    # models

    @contextmanager
    def new_model(self, round: int, kind: Literal["round", "final"]) -> Iterator[tuple[ModelRow, Path]]:
        """A new model and the folder to write it into; it counts once it is committed, and is on the disk before."""
        taken = {model.folder for model in self.models()}
        first = f"{MODELS}/{round:03d}" + ("-final" if kind == "final" else "")
        names = [first, *(f"{first}-{number}" for number in range(2, len(taken) + 3))]
        model = ModelRow(next(name for name in names if name not in taken), round, kind)
        folder = inside(self.folder, model.folder)
        with storage_sentences(self.folder):
            remove(folder)  # of a process that was killed before its commit
            folder.mkdir(parents=True)
            yield model, folder
            sync_tree(folder)
            for parent in (folder.parent, self.folder):
                sync_folder(parent)

    def newest_model(self, kinds: Sequence[str] = ("round", "final")) -> Path | None:
        """The folder of the model in use: a fine-tuned final one where it `stays_in_use`, else the newest round's."""
        found = self.newest_row(kinds)
        return inside(self.folder, found.folder) if found else None

    def newest_row(self, kinds: Sequence[str] = ("round", "final")) -> ModelRow | None:
        """The same model as the database knows it."""
        models = [model for model in self.models() if model.kind in kinds]
        finals = [model for model in models if model.kind == "final"]
        if finals and (said := self.finals()) and not stays_in_use(said[-1], next(reversed(self.rounds()), None)):
            finals = []
        found = finals or [model for model in models if model.kind == "round"]
        return found[-1] if found else None

    def place_of(self, model: ModelRow) -> Path:
        """The folder of a model, which is inside the run's folder whatever the database says."""
        return inside(self.folder, model.folder)

    def with_digest(self, model: ModelRow) -> ModelRow:
        """A model that is written, with the digest of its files."""
        return replace(model, digest=digest_of_folder(inside(self.folder, model.folder)))

    def check_model(self, folder: Path) -> None:
        """One sentence for a model whose files are not as they were written."""
        wanted = self.digests().get(folder.relative_to(self.folder).as_posix())
        if wanted is not None and digest_of_folder(folder) != wanted:
            raise RunFolderError(
                f"the model in {str(folder)!r} is damaged: run `actune repair {self.folder}`, or restore a backup"
            )

    def check_texts(self) -> None:
        """One sentence for a file of texts that is not as it was written."""
        digests = self.digests()
        for chunk in self.chunks():
            file = self._text_file(chunk)
            if digests.get(chunk.file, found := digest_of_file(file)) != found:
                raise RunFolderError(f"{str(file)!r} is damaged: restore it from a backup")

    def point_to_newest(self, repair: bool = False) -> None:
        """Lets `model` in the run's folder be the model in use.

        To `repair` is to leave a folder alone that stands there, unless it is one of the first version: a copied run
        has a folder where there was a link, and nobody has advanced it yet.
        """
        newest, name = self.newest_model(), self.folder / NEWEST
        if newest is None or newest == name or not newest.is_dir():
            return
        if repair and name.is_dir() and stands_for(name) is None and not (name / "round").is_file():
            return
        with storage_sentences(self.folder):
            point(name, newest)

    @contextmanager
    def advancing(self) -> Iterator[None]:
        """At most one process advances a run; what a killed one left unfinished is cleared away first."""
        with storage_sentences(self.folder), locked(self.folder, "advancing"):
            for name in (ARRAYS, MODELS, CHECKPOINTS, TEXTS):
                check_own_folder(self.folder / name)
            self.check_log()
            if not self._texts_are_sound:
                self.check_texts()
                self._texts_are_sound = True  # they are never changed
            self._clear_away()
            yield

    def _clear_away(self) -> None:
        """Removes models and texts that do not count, and half-written files.

        Models of earlier rounds go only now and not with the commit, for somebody might have been reading them.
        """
        kept = {model.folder for model in self.models()}
        for path in inside(self.folder, MODELS).glob("*"):
            if f"{MODELS}/{path.name}" not in kept:
                remove(path)
        for name in FIRST_MODELS:
            if name not in kept and (self.folder / name).is_dir() and not (self.folder / name).is_symlink():
                remove(self.folder / name)
        remove_scratch(inside(self.folder, ARRAYS))
        remove_scratch(self.folder, NEWEST)  # and not of a report that somebody may be writing
        self.clear_texts()
        self.point_to_newest()
