"""Python and NumPy values as Arrow arrays and back, without the pandas that Arrow's own conversions import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow


def string_array(strings: Sequence[str | None]) -> pyarrow.Array:  # of large_string
    """Strings, and nulls where there is None. Half of a surrogate pair is a UnicodeEncodeError."""
    import numpy as np
    import pyarrow

    encoded = [b"" if each is None else each.encode() for each in strings]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    valid = np.fromiter((each is not None for each in strings), bool, len(encoded))
    bitmap = None if valid.all() else pyarrow.py_buffer(np.packbits(valid, bitorder="little"))
    values = pyarrow.py_buffer(offsets), pyarrow.py_buffer(b"".join(encoded))
    return pyarrow.LargeStringArray.from_buffers(len(encoded), *values, bitmap)


def integer_array(numbers: npt.NDArray[np.int64]) -> pyarrow.Array:
    """The same numbers in the same memory."""
    import numpy as np
    import pyarrow

    buffer = pyarrow.py_buffer(np.ascontiguousarray(numbers, np.int64))
    return pyarrow.Array.from_buffers(pyarrow.int64(), len(numbers), [None, buffer])


def as_numpy(numbers: Any) -> npt.NDArray[Any]:
    """Numbers without nulls, an array or one in chunks; one array shares its memory."""
    import numpy as np

    chunks = getattr(numbers, "chunks", [numbers])
    found = [np.from_dlpack(chunk) for chunk in chunks if len(chunk)]
    return found[0] if len(found) == 1 else np.concatenate([np.empty(0, np.int64), *found])
