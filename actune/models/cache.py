"""Frozen embeddings on disk, named by the hash of all that decides them, so that no text is read twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import file_digest, sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

Vectors = npt.NDArray[np.float32]
Embedded = tuple[Vectors, int]  # with the number of texts that were cut at the token limit
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
    for text in texts:
        digest.update(len(text).to_bytes(8, "big") + text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


def cached_vectors(model: Path, texts: Sequence[str], how: str, compute: Callable[[], Embedded]) -> Embedded:
    """`compute()`, or what an earlier call with the same model, texts and way of reading has kept."""
    folder, name = cache_folder() / "embeddings", name_of(model, texts, how)
    # a cache that cannot be read or written costs time, never the run
    with suppress(OSError, ValueError, EOFError, StopIteration):
        file = next(folder.glob(f"{name}-*.npy"))
        # mapped and not copied: the embeddings of a million texts are gigabytes
        return np.load(file, mmap_mode="c", allow_pickle=False), int(file.stem.split("-")[1])
    vectors, cut = compute()
    file = folder / f"{name}-{cut}.npy"
    scratch = file.with_name(f"tmp-{os.getpid()}-{file.name}")
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # embeddings tell much about the texts
        np.save(scratch, vectors)
        scratch.replace(file)
    with suppress(OSError):
        scratch.unlink()  # of a full disk
    return vectors, cut
