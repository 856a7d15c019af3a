"""Named arrays as one safetensors file that carries its own digest, so that damage is found on reading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from actune.core.places import open_regular
from actune.errors import RunFolderError
from actune.store.shapes import check_shapes

if TYPE_CHECKING:
    import numpy as np

DIGEST = "sha256"  # in the metadata of the file; files of earlier versions have none
LONGEST_HEADER = 10_000_000  # bytes


def packed(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The content of a file; contiguous, and nothing else in the metadata, so that equal arrays are equal files."""
    import numpy as np
    from safetensors.numpy import save

    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return save(plain, {DIGEST: _digest(save(plain))})


def unpacked(file: Path, below: Mapping[str, int | None] = MappingProxyType({})) -> dict[str, np.ndarray]:
    """The arrays in a file, or one sentence where it is damaged; `below` has the sizes of the pool and its classes."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    with open_regular(file, follow=False) as stream:
        content = stream.read()
    try:
        arrays = load(content)
        wanted = json.loads(content[8 : 8 + _header_length(content)]).get("__metadata__", {}).get(DIGEST)
        if wanted is not None and _digest(content) != wanted:
            raise ValueError("its content does not match its digest")
        check_shapes(arrays, below)
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        todo = f"run `actune verify {file.parent.parent}`, or restore it from a backup"
        raise RunFolderError(f"{str(file)!r} is damaged ({why}): {todo}") from error
    return arrays


def _digest(content: bytes) -> str:
    """Of the arrays with their names, types and shapes, but not of the metadata that holds the digest itself."""
    end = 8 + _header_length(content)
    header = json.loads(content[8:end])
    header.pop("__metadata__", None)
    found = sha256(json.dumps(header, sort_keys=True).encode())
    found.update(memoryview(content)[end:])
    return found.hexdigest()


def _header_length(content: bytes) -> int:
    length = int.from_bytes(content[:8], "little")
    if length > LONGEST_HEADER:
        raise ValueError("its header is too long")
    return length
