"""Frozen embeddings on disk, text by text: what was embedded once is never embedded again, in whatever pool it comes.

Each encoder and way of reading has a folder of its own with two files that only grow: `vectors`, a row of float32 for
each text, and `keys`, the digest of each row's text. A row exists once its key is written whole, so what a killed
process has left is overwritten. Any number of processes may read and append.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

from actune.core.files import locked, remove, write_atomically
from actune.core.progress import Progress, silent
from actune.core.strings import Strings, blocks_of
from actune.errors import StorageError
from actune.models.cache import Vectors, cache_folder, keeps_embeddings, name_of

Keys = npt.NDArray[np.uint64]  # (texts, 2): the digest of each text; the last bit is set where the text was cut
Rows = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Embed = Callable[[Sequence[str], Progress], tuple[Vectors, Flags]]  # the vectors of texts, and which texts were cut

CHUNK = 16_384  # texts that are embedded at a time; a killed process loses at most these
MOST_IN_MEMORY = 2**26  # bytes of gathered vectors: more of them lie in a file without a name that is mapped
BLOCK = 4096  # rows that are gathered at a time: the system maps their neighbours too
KEY_BYTES = 16
FEW = 512  # texts: where nothing is kept, so few are embedded sooner than looked up


def stored_vectors(
    model: Path, texts: Sequence[str], how: str, embed: Embed, progress: Progress = silent
) -> tuple[Vectors, int]:
    """The vectors of texts, computed only where the store lacks them, and how many texts were cut.

    Vectors that lie one after the other in the store are mapped from there and not copied.
    """
    keeps = keeps_embeddings()
    if not keeps and len(texts) <= FEW:
        vectors, cut = embed(texts, progress)
        return vectors, int(cut.sum())
    store = EmbeddingStore(cache_folder() / "embeddings" / name_of(model, (), how))
    wanted = keys_of(texts)
    missing = np.flatnonzero(store.rows_of(wanted) < 0)
    unsaved: list[tuple[Rows, Vectors, Flags]] = []  # what the disk refuses, or what is not to be kept
    done = len(texts) - len(missing)
    for start in range(0, len(missing), CHUNK):
        part = missing[start : start + CHUNK]
        if store.is_shared():  # with another process, which may be embedding the same texts
            part = part[store.rows_of(wanted[part]) < 0]
        if len(part):
            vectors, cut = embed(_chosen(texts, part), _shifted(progress, done + start, len(texts)))
            if not (keeps and store.append(wanted[part], cut, vectors)):
                unsaved.append((part, vectors, cut))
    progress("embed", len(texts), len(texts))
    return store.vectors_of(wanted) if not unsaved else store.filled_up(wanted, unsaved)


def uncached(model: Path, texts: Sequence[str], how: str, threads: int) -> int:
    """How many of these texts a process with so many threads would have to embed: what a plan has to count."""
    store = EmbeddingStore(cache_folder() / "embeddings" / name_of(model, (), how, threads))
    return int((store.rows_of(keys_of(texts)) < 0).sum())


def keys_of(texts: Sequence[str]) -> Keys:
    """The digest of each text."""
    keys: Keys = np.empty((len(texts), 2), np.uint64)
    start = 0
    for block in blocks_of(texts):
        said = (blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest() for text in block)
        keys[start : start + len(block)] = np.frombuffer(b"".join(said), "<u8").reshape(-1, 2)
        start += len(block)
    keys[:, 1] &= ~np.uint64(1)
    return keys


class EmbeddingStore:
    """The vectors of one encoder, read in one way. A folder that cannot be used costs time, and never raises."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._keys: Keys = self._read_keys()
        self._shared = False

    def rows_of(self, wanted: Keys) -> Rows:
        """Where the vector of each text lies, -1 for one that is not here."""
        rows: Rows = np.full(len(wanted), -1, np.int64)
        order = np.argsort(self._keys[:, 0], kind="stable")
        first = self._keys[order, 0]
        place = np.searchsorted(first, wanted[:, 0])
        left = np.arange(len(wanted))
        while len(left):  # more than once only where two digests begin alike
            left = left[place[left] < len(first)]
            left = left[first[place[left]] == wanted[left, 0]]
            at = order[place[left]]
            alike = _same(self._keys[at], wanted[left])
            rows[left[alike]] = at[alike]
            left = left[~alike]
            place[left] += 1
        return rows

    def is_shared(self) -> bool:
        """Whether other processes have added rows since the store was opened; those are known from now on."""
        if self._count() != len(self._keys):
            self._keys, self._shared = self._read_keys(), True
        return self._shared

    def append(self, keys: Keys, cut: Flags, vectors: Vectors) -> bool:
        """Adds rows; False where the disk refuses. Equal texts are added each, so that their pool lies in one piece."""
        with suppress(OSError, StorageError), self._alone():
            if self.is_shared():
                new = self.rows_of(keys) < 0
                keys, cut, vectors = keys[new], cut[new], vectors[new]
            self._open_for(vectors.shape[1])
            rows, marked = len(self._keys), keys.copy()
            marked[:, 1] |= cut.astype(np.uint64)
            _write_at(self.folder / "vectors", rows * vectors.shape[1] * 4, np.ascontiguousarray(vectors, "<f4"))
            _write_at(self.folder / "keys", rows * KEY_BYTES, np.ascontiguousarray(marked, "<u8"))
            self._keys = np.concatenate([self._keys, marked])
            return True
        return False

    def vectors_of(self, wanted: Keys) -> tuple[Vectors, int]:
        """The vectors of texts that are all here, and how many of the texts were cut."""
        rows, width = self.rows_of(wanted), self._width()
        cut = int((self._keys[rows, 1] & np.uint64(1)).sum())
        start = self._whole_from(wanted, rows)
        if start is not None:
            return self._mapped(width, start, len(wanted)), cut
        return self._gathered(rows, width), cut

    def filled_up(self, wanted: Keys, unsaved: Sequence[tuple[Rows, Vectors, Flags]]) -> tuple[Vectors, int]:
        """The same where some vectors could not be stored, all in memory."""
        vectors: Vectors = np.empty((len(wanted), unsaved[0][1].shape[1]), np.float32)
        rows = self.rows_of(wanted)
        here = np.flatnonzero(rows >= 0)
        count = 0
        if len(here):
            vectors[here], count = self.vectors_of(wanted[here])
        for places, found, cut in unsaved:
            vectors[places] = found
            count += int(cut.sum())
        return vectors, count

    def _whole_from(self, wanted: Keys, rows: Rows) -> int | None:
        """The row from which on all these texts lie in their order, if they do."""
        count = len(rows)
        for start in {int(rows[0]), int(rows[-1]) - count + 1, int(np.median(rows - np.arange(count)))}:
            if 0 <= start <= len(self._keys) - count and _same(self._keys[start : start + count], wanted).all():
                return start
        return None

    def _gathered(self, rows: Rows, width: int) -> Vectors:
        """Rows from here and there, one after the other."""
        source = self._mapped(width, 0, len(self._keys))
        shape = len(rows), width
        target = np.empty(shape, np.float32) if 4 * len(rows) * width <= MOST_IN_MEMORY else _unnamed(shape)
        for start in range(0, len(rows), BLOCK):
            target[start : start + BLOCK] = source[rows[start : start + BLOCK]]
            if isinstance(source.base, mmap.mmap) and hasattr(source.base, "madvise"):
                source.base.madvise(mmap.MADV_DONTNEED)
        return target

    def _mapped(self, width: int, start: int, count: int) -> Vectors:
        """Rows of the file, mapped and not copied: those of a million texts are gigabytes."""
        file = self.folder / "vectors"
        return np.memmap(file, np.float32, "c", offset=start * width * 4, shape=(count, width))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        for folder in (self.folder.parent, self.folder):  # embeddings tell much about the texts
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(self.folder, "writing to", wait=True, name="lock"):
            yield

    def _open_for(self, width: int) -> None:
        """Begins the store anew where it is empty or broken."""
        if len(self._keys) and self._width() == width:
            return
        self._keys = self._keys[:0]
        for name in ("keys", "vectors"):
            (self.folder / name).unlink(missing_ok=True)
        for old in self.folder.parent.glob("*.npy"):  # of earlier versions, which kept all texts of a pool together
            remove(old, try_only=True)
        write_atomically(self.folder / "about.json", json.dumps({"width": width}).encode())

    def _width(self) -> int:
        with suppress(OSError, ValueError, KeyError, TypeError):
            return int(json.loads((self.folder / "about.json").read_bytes())["width"])
        return 0

    def _count(self) -> int:
        """Rows that are written whole."""
        with suppress(OSError):
            rows, width = (self.folder / "keys").stat().st_size // KEY_BYTES, self._width()
            return min(rows, (self.folder / "vectors").stat().st_size // (4 * width)) if width else 0
        return 0

    def _read_keys(self) -> Keys:
        count = self._count()
        with suppress(OSError, ValueError):
            return np.fromfile(self.folder / "keys", "<u8", 2 * count).reshape(count, 2)
        return np.empty((0, 2), np.uint64)


def _same(some: Keys, others: Keys) -> Flags:
    """Which digests are equal, whether the texts were cut or not."""
    return np.asarray((some[:, 0] == others[:, 0]) & ((some[:, 1] ^ others[:, 1]) <= 1))


def _write_at(file: Path, place: int, array: npt.NDArray[Any]) -> None:
    """Writes to the disk from a place on; what a killed process left behind it goes."""
    flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(file, flags, 0o600), "r+b") as stream:
        if stream.seek(0, os.SEEK_END) > place:
            stream.truncate(place)
        stream.seek(place)
        stream.write(array.data)
        stream.flush()
        os.fsync(stream.fileno())


def _unnamed(shape: tuple[int, int]) -> Vectors:
    """Room in a file that has no name and goes with the array; in memory where no file can be made."""
    with suppress(OSError), TemporaryFile(dir=cache_folder()) as file:
        size = 4 * shape[0] * shape[1]
        if hasattr(os, "posix_fallocate"):  # writing to a mapped file on a full disk is fatal
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.write(bytes(size))
        return np.ndarray(shape, np.float32, mmap.mmap(file.fileno(), size))
    return np.empty(shape, np.float32)


def _chosen(texts: Sequence[str], rows: Rows) -> Sequence[str]:
    if len(rows) == len(texts):
        return texts
    return texts.take(rows) if isinstance(texts, Strings) else [texts[row] for row in rows]


def _shifted(progress: Progress, done: int, total: int) -> Progress:
    """Progress in a part of some texts, told as progress in all of them."""
    return lambda stage, number, _: progress(stage, done + number, total)
