"""Results on disk, named by the hash of all that decides them, so that nothing is computed twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from hashlib import file_digest, sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from actune.core.files import replacing
from actune.core.places import open_regular
from actune.core.strings import blocks_of
from actune.errors import ModelError, StorageError

Vectors = npt.NDArray[np.float32]
DECIDING = ("safetensors", "json", "txt", "model")  # weights, settings and the tokenizer's files
_keeps_embeddings: ContextVar[bool] = ContextVar("keeps_embeddings", default=True)


def cache_folder() -> Path:
    """`ACTUNE_CACHE`, or the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("ACTUNE_CACHE") or f"{base}/actune").expanduser()


@contextmanager
def without_cache() -> Iterator[None]:
    """Inside, no embeddings are kept, and those of few texts are not looked up either: for texts to predict."""
    token = _keeps_embeddings.set(False)
    try:
        yield
    finally:
        _keeps_embeddings.reset(token)


def keeps_embeddings() -> bool:
    """Whether embeddings that are computed here are kept."""
    return _keeps_embeddings.get()


@cache
def _digest(file: Path, changed: int, size: int) -> bytes:
    """The hash of a file, computed once a process as long as the file stays what it is."""
    with open_regular(file, ModelError) as stream:
        return file_digest(stream, "sha256").digest()


def name_of(model: Path, texts: Sequence[str], how: str, threads: int | None = None) -> str:
    """A name for what a model says when it is read in this way; without `texts` it is the same for all texts.

    The thread count is part of it because it decides the last bits, and a resumed run must equal an unbroken one.
    """
    digest = sha256(f"{how} {torch.__version__} {threads or torch.get_num_threads()}".encode())
    for file in sorted(file for suffix in DECIDING for file in model.glob(f"*.{suffix}")):
        state = file.stat()
        digest.update(_digest(file, state.st_mtime_ns, state.st_size))
    for block in blocks_of(texts):
        said = (len(text).to_bytes(8, "big") + text.encode("utf-8", "surrogatepass") for text in block)
        digest.update(b"".join(said))
    return digest.hexdigest()[:32]


def cached_array(kind: str, model: Path, texts: Sequence[str], how: str, compute: Callable[[], Vectors]) -> Vectors:
    """`compute()`, or what an earlier call with the same model, texts and way of reading has kept.

    For results that are about all the texts together; embeddings are kept text by text (`models/embeddings.py`).
    """
    file = cache_folder() / kind / f"{name_of(model, texts, how)}.npy"
    # a cache that cannot be read or written costs time, never the run
    with suppress(OSError, ValueError, EOFError):
        return _mapped(file)
    found = compute()
    with suppress(OSError, StorageError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # it tells much about the texts
        with replacing(file) as scratch, scratch.open("wb") as stream:
            np.save(stream, found)
        return _mapped(file)
    return found


def _mapped(file: Path) -> Vectors:
    return np.load(file, mmap_mode="c", allow_pickle=False)  # type: ignore[no-any-return]
