"""The texts of a run in Arrow files that are mapped into memory; the database knows which of them count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from actune.core.columns import open_columns, write_columns
from actune.core.files import check_own_folder, locked, remove, storage_sentences, sync_folder
from actune.core.places import inside
from actune.core.pool import Pool
from actune.errors import ActuneError, Busy, RunFolderError
from actune.store.digests import digest_of_file
from actune.store.protocol import Events
from actune.store.records import Chunk, Mark, Said, no_marks

TEXTS = "texts"
ADDING = "adding.lock"


class RunTexts(Events):
    """Every append is a new file, so that a session that has mapped the earlier ones is never disturbed."""

    folder: Path

    def add_texts(
        self,
        split: str,
        more: Pool,
        answers: Sequence[Said] = (),
        marks: Callable[[int], Sequence[Mark]] = no_marks,
    ) -> int:
        """Appends texts and the answers that come with them; gives the row of the first text.

        The answers count rows from there: only the database knows where the new texts will lie, so that `marks` is
        asked what to mark when that is known.
        """
        texts = inside(self.folder, TEXTS)
        with storage_sentences(self.folder):
            check_own_folder(texts)
            texts.mkdir(exist_ok=True)
            # whoever removes files that do not count must not meet one that is about to
            with locked(texts, "adding texts to", wait=True, name=ADDING):
                self._remove_uncounted()
                name = f"{TEXTS}/{split}-{len(self.chunks(split)):03d}.arrow"
                try:
                    write_columns(file := inside(self.folder, name), more.ids, more.texts, more.labels)
                    sync_folder(self.folder)
                    return self.add_chunk(split, name, more.ids, answers, digest_of_file(file), marks)
                except BaseException:
                    with suppress(OSError, ActuneError):  # the first problem is the one to tell
                        self._remove_uncounted()
                    raise

    def texts(self, split: str, classes: Sequence[str] = (), first: int = 0) -> Pool:
        """The texts of a split from row `first` on, each read from the disk when something asks for it."""
        chunks = [chunk for chunk in self.chunks(split) if chunk.first + chunk.rows > first]
        if not chunks:
            return self.texts_in_database(split, classes, first)
        files = [self._text_file(chunk) for chunk in chunks]
        found = open_columns(files, classes, [chunk.rows for chunk in chunks])
        if first < chunks[0].first:  # an earlier version kept the first texts in the database
            return self.texts_in_database(split, classes, first).extended(found)
        return found.after(first - chunks[0].first)

    def ids_in_files(self, split: str) -> dict[int, str]:
        """The ids that the database must know, by row, as the files of texts have them."""
        found: dict[int, str] = {}
        for chunk in (chunk for chunk in self.chunks(split) if not chunk.numbered):
            ids = open_columns([self._text_file(chunk)], (), [chunk.rows]).ids
            found.update(enumerate(ids, chunk.first))
        return found

    def forget_texts(self) -> None:
        """Drops all texts and gives their room back; a session that has mapped them can still read them."""
        self.forget_chunks()
        with suppress(OSError):  # Windows removes no file that is mapped into memory
            remove(self.folder / TEXTS)  # where it is a link, only the link

    def clear_texts(self) -> None:
        """Removes files of texts that do not count, unless somebody is adding some right now."""
        texts = inside(self.folder, TEXTS)
        if texts.is_dir():
            with suppress(Busy), locked(texts, "adding texts to", name=ADDING):
                self._remove_uncounted()

    def _remove_uncounted(self) -> None:
        counted = {self._text_file(chunk) for chunk in self.chunks()}
        for file in inside(self.folder, TEXTS).glob("*.arrow"):
            if file not in counted:
                remove(file)

    def _text_file(self, chunk: Chunk) -> Path:
        """The database may be somebody else's, and name any file: only one of texts is meant."""
        file = inside(self.folder, chunk.file)
        if file.parent != self.folder / TEXTS or file.suffix != ".arrow":
            raise RunFolderError(f"{str(self.folder)!r} names {chunk.file!r} as a file of texts, which it cannot be")
        return file
