"""Frozen embeddings on disk, named by the hash of all that decides them, so that no text is read twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from actune.core.strings import blocks_of

Vectors = npt.NDArray[np.float32]
Room = Callable[[tuple[int, ...]], Vectors]
Embedded = tuple[Vectors, int]  # with the number of texts that were cut at the token limit
ZEROS = 2**20  # bytes written at a time
DECIDING = ("safetensors", "json", "txt", "model")  # weights, settings and the tokenizer's files


def cache_folder() -> Path:
    """`ACTUNE_CACHE`, or the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("ACTUNE_CACHE") or f"{base}/actune").expanduser()


@cache
def _digest(file: Path, changed: int, size: int) -> bytes:
    """The hash of a file, computed once a process as long as the file stays what it is."""
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").digest()


def name_of(model: Path, texts: Sequence[str], how: str) -> str:
    """A name for what a model says about texts when it is read in this way.

    The thread count is part of it because it decides the last bits, and a resumed run must equal an unbroken one.
    """
    digest = sha256(f"{how} {torch.__version__} {torch.get_num_threads()}".encode())
    for file in sorted(file for suffix in DECIDING for file in model.glob(f"*.{suffix}")):
        state = file.stat()
        digest.update(_digest(file, state.st_mtime_ns, state.st_size))
    for block in blocks_of(texts):
        said = (len(text).to_bytes(8, "big") + text.encode("utf-8", "surrogatepass") for text in block)
        digest.update(b"".join(said))
    return digest.hexdigest()[:32]


def cached_vectors(model: Path, texts: Sequence[str], how: str, compute: Callable[[Room], Embedded]) -> Embedded:
    """`compute(room)`, or what an earlier call with the same model, texts and way of reading has kept.

    `room(shape)` is an array to compute into that lies in the cache already, so that the embeddings of a million
    texts never lie in memory twice.
    """
    folder, name = cache_folder() / "embeddings", name_of(model, texts, how)
    # a cache that cannot be read or written costs time, never the run
    with suppress(OSError, ValueError, EOFError, StopIteration):
        file = next(folder.glob(f"{name}-*.npy"))
        return _mapped(file), int(file.stem.split("-")[1])
    scratch = folder / f"tmp-{os.getpid()}-{name}.npy"
    given: list[np.memmap[Any, np.dtype[np.float32]]] = []

    def room(shape: tuple[int, ...]) -> Vectors:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # embeddings tell much about the texts
            for left in folder.glob(f"tmp-*-{name}.npy"):
                left.unlink()  # by a killed process; one that still computes keeps its array, and we keep the file
            given.append(_new_file(scratch, shape))
            return given[0]
        return in_memory(shape)

    vectors: Vectors | None
    try:
        vectors, cut = compute(room)
        file = folder / f"{name}-{cut}.npy"
        with suppress(OSError):
            if given:
                given.pop().flush()
                vectors = None if os.name == "nt" else vectors  # a mapped file cannot be renamed there
            else:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                np.save(scratch, vectors)
            scratch.replace(file)
            return _mapped(file), cut
        return _mapped(scratch) if vectors is None else vectors, cut
    finally:
        with suppress(OSError):
            scratch.unlink()  # of a full disk, or of a computation that failed


def in_memory(shape: tuple[int, ...]) -> Vectors:
    """Room for vectors that are not kept."""
    return np.empty(shape, np.float32)


def _mapped(file: Path) -> Vectors:
    """The vectors in a file, mapped and not copied: those of a million texts are gigabytes."""
    return np.load(file, mmap_mode="c", allow_pickle=False)  # type: ignore[no-any-return]


def _new_file(file: Path, shape: tuple[int, ...]) -> np.memmap[Any, np.dtype[np.float32]]:
    """An array in a new file whose room on the disk is certain: writing to a mapped file on a full disk is fatal."""
    vectors = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=shape)
    with file.open("r+b") as stream:
        size = stream.seek(0, os.SEEK_END)
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(stream.fileno(), 0, size)
        else:
            stream.seek(size - vectors.nbytes)
            for start in range(0, vectors.nbytes, ZEROS):
                stream.write(bytes(min(ZEROS, vectors.nbytes - start)))
    return vectors
