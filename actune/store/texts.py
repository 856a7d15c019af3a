"""The texts of a run in Arrow files that are mapped into memory; the database knows which of them count."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from actune.core.columns import open_columns, write_columns
from actune.core.files import check_own_folder, locked, remove, storage_sentences, sync_folder
from actune.core.pool import Pool
from actune.errors import ActuneError, Busy
from actune.store.protocol import Events
from actune.store.records import Said

TEXTS = "texts"
ADDING = "adding.lock"


class RunTexts(Events):
    """Every append is a new file, so that a session that has mapped the earlier ones is never disturbed."""

    folder: Path

    def add_texts(self, split: str, more: Pool, answers: Sequence[Said] = ()) -> int:
        """Appends texts and the answers that come with them; gives the row of the first text.

        The answers count rows from there: only the database knows where the new texts will lie.
        """
        texts = self.folder / TEXTS
        with storage_sentences(self.folder):
            check_own_folder(texts)
            texts.mkdir(exist_ok=True)
            # whoever removes files that do not count must not meet one that is about to
            with locked(texts, "adding texts to", wait=True, name=ADDING):
                self._remove_uncounted()
                name = f"{TEXTS}/{split}-{len(self.chunks(split)):03d}.arrow"
                try:
                    write_columns(self.folder / name, more.ids, more.texts, more.labels)
                    sync_folder(self.folder)
                    return self.add_chunk(split, name, more.ids, answers)
                except BaseException:
                    with suppress(OSError, ActuneError):  # the first problem is the one to tell
                        self._remove_uncounted()
                    raise

    def texts(self, split: str, classes: Sequence[str] = (), first: int = 0) -> Pool:
        """The texts of a split from row `first` on, each read from the disk when something asks for it."""
        chunks = [chunk for chunk in self.chunks(split) if chunk.first + chunk.rows > first]
        if not chunks:
            return self.texts_in_database(split, classes, first)
        found = open_columns([self.folder / chunk.file for chunk in chunks], classes)
        if first < chunks[0].first:  # an earlier version kept the first texts in the database
            return self.texts_in_database(split, classes, first).extended(found)
        return found.after(first - chunks[0].first)

    def forget_texts(self) -> None:
        """Drops all texts and gives their room back; a session that has mapped them can still read them."""
        self.forget_chunks()
        with suppress(OSError):  # Windows removes no file that is mapped into memory
            remove(self.folder / TEXTS)

    def clear_texts(self) -> None:
        """Removes files of texts that do not count, unless somebody is adding some right now."""
        texts = self.folder / TEXTS
        if texts.is_dir():
            with suppress(Busy), locked(texts, "adding texts to", name=ADDING):
                self._remove_uncounted()

    def _remove_uncounted(self) -> None:
        counted = {self.folder / chunk.file for chunk in self.chunks()}
        for file in (self.folder / TEXTS).glob("*.arrow"):
            if file not in counted:
                remove(file)
