"""Texts as ragged token arrays: tokenized once per run, padded only inside a batch."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from mmap import ACCESS_READ, mmap
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import torch

from actune.core.progress import Progress, silent
from actune.errors import ModelError, StorageError
from actune.models.cache import cache_folder
from actune.models.folders import refused
from actune.models.vocabulary import ROWS

NamedTensors = dict[str, torch.Tensor]  # what a network is given, by the names of its arguments

CHUNK = 2048  # texts handed to the tokenizer at a time, so that progress moves
MOST_IN_MEMORY = 50_000_000  # tokens: more of them lie in a file of the cache that is mapped into memory


@dataclass(frozen=True)
class Tokens:
    """The token ids of some texts, end to end, with the place where each text begins."""

    flat: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]  # (texts + 1,)
    pad: int
    cut: int  # texts longer than the limit

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        return np.diff(self.offsets)

    def only(self, rows: npt.NDArray[np.int64]) -> Tokens:
        """The tokens of these rows alone."""
        return Tokens(self.flat[self.places(rows)], _bounds(self.lengths[rows]), self.pad, 0)

    def places(self, rows: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Where the tokens of these rows lie, row after row."""
        lengths = self.lengths[rows]
        return np.repeat(self.offsets[:-1][rows], lengths) + _positions(lengths)

    def batch(
        self, rows: Sequence[int] | npt.NDArray[np.int64], device: torch.device | None = None, round_to: int = 1
    ) -> NamedTensors:
        """These rows, padded to the longest of them, or to the next multiple that some text of all reaches."""
        lengths = self.lengths[rows]
        width = int(min(-(-lengths.max() // round_to) * round_to, self.lengths.max()))
        ids = np.full((len(rows), width), self.pad, dtype=np.int64)
        mask = np.arange(width) < lengths[:, None]
        ids[mask] = self.flat[self.places(rows)]
        return moved({"input_ids": ids, "attention_mask": mask.astype(np.int64)}, device)

    def packed(
        self,
        rows: Sequence[int] | npt.NDArray[np.int64],
        device: torch.device | None = None,
        fill_to: int = 1,
        round_to: int = 1,
    ) -> NamedTensors:
        """These rows end to end, and where each lies (`fast.blocks.Layout`): in place and in a grid.

        Filler, where it is asked for, makes their number a multiple, so that few shapes recur; so does rounded width.
        """
        lengths = self.lengths[rows]
        filler = fill_to - int(lengths.sum()) % fill_to if fill_to > 1 else 0
        width = -(-int(lengths.max()) // round_to) * round_to
        positions = _positions(lengths)
        place = np.repeat(np.arange(len(rows)) * width, lengths) + positions
        source = np.full(len(rows) * width, -1)
        source[place] = np.arange(len(place))
        bounds = _bounds(lengths)
        if filler:
            bounds = np.append(bounds, bounds[-1] + filler)
            place = np.append(place, np.full(filler, -1))
            positions = np.append(positions, np.zeros(filler, np.int64))
        found = {
            **self._packed_inputs(rows, filler),
            "position_ids": positions[None],
            "bounds": bounds.astype(np.int32),
            "place": place,
            "source": source.reshape(len(rows), width),
        }
        return moved(found, device)

    def _packed_inputs(self, rows: Sequence[int] | npt.NDArray[np.int64], filler: int) -> dict[str, npt.NDArray[Any]]:
        ids = self.flat[self.places(rows)].astype(np.int64)
        return {"input_ids": np.append(ids, np.full(filler, self.pad))[None]}

    def batches(self, budget: int, one_length: bool = False) -> Iterator[npt.NDArray[np.int64]]:
        """Rows from long to short in batches of at most `budget` padded tokens; equal lengths stay in row order.

        With `one_length` all texts of a batch have the same number of tokens.
        """
        order = np.argsort(-self.lengths, kind="stable")
        ends = np.flatnonzero(np.diff(self.lengths[order])) + 1
        for part in np.split(order, ends if one_length else []):
            start = 0
            while start < len(part):
                width = max(1, int(self.lengths[part[start]]))
                stop = start + max(1, budget // width)
                yield part[start:stop]
                start = stop


def moved(arrays: dict[str, npt.NDArray[Any]], device: torch.device | None) -> NamedTensors:
    """Arrays as tensors; from pinned memory a copy to the GPU waits for nothing."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
    if device is not None and device.type == "cuda":
        return {name: tensor.pin_memory().to(device, non_blocking=True) for name, tensor in tensors.items()}
    return {name: tensor.to(device) for name, tensor in tensors.items()}


def _bounds(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _positions(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """0, 1, 2, ... for each length."""
    return np.arange(lengths.sum()) - np.repeat(_bounds(lengths)[:-1], lengths)


def tokenize(tokenizer: Any, texts: Sequence[str], limit: int, progress: Progress = silent) -> Tokens:
    """All texts with the tokenizer's own special tokens, cut at `limit` tokens."""
    return tokenize_and_mark(tokenizer, texts, limit, progress)[0]


def tokenize_and_mark(
    tokenizer: Any, texts: Sequence[str], limit: int, progress: Progress = silent
) -> tuple[Tokens, npt.NDArray[np.bool_]]:
    """The same, and which of the texts were cut."""
    flat = _Growing()
    lengths = np.empty(len(texts), np.int64)
    cut = np.zeros(len(texts), bool)
    for start in range(0, len(texts), CHUNK):
        with refused("the tokenizer of the encoder fails on these texts", ": use another encoder"):
            encoded = tokenizer(
                list(texts[start : start + CHUNK]),
                truncation=True,
                max_length=limit,
                return_attention_mask=False,
                return_token_type_ids=False,
            )
            ids = np.fromiter(chain.from_iterable(encoded["input_ids"]), np.int32)
        flat.append(ids)
        lengths[start : start + CHUNK] = [len(ids) for ids in encoded["input_ids"]]
        _check_fit(tokenizer, ids, lengths[start : start + CHUNK], limit)
        cut[start : start + CHUNK] = [bool(encoding.overflowing) for encoding in encoded.encodings]
        progress("tokenize", min(start + CHUNK, len(texts)), len(texts))
    return Tokens(flat.finished(), _bounds(lengths), int(tokenizer.pad_token_id), int(cut.sum())), cut


def _check_fit(tokenizer: Any, ids: npt.NDArray[np.int32], lengths: npt.NDArray[np.int64], limit: int) -> None:
    """Tokens or positions that the encoder has no vectors for would end in an error of torch, or hang a GPU."""
    rows = getattr(tokenizer, ROWS, None)
    if rows is not None and len(ids) and ids.max() >= rows:
        raise ModelError(
            f"the tokenizer has a token {ids.max():,}, but the encoder knows only {rows:,} tokens: use another encoder"
        )
    if len(lengths) and lengths.max() > limit:
        raise ModelError(
            f"the tokenizer makes {lengths.max():,} tokens of a text where only {limit:,} are allowed: use another "
            "encoder"
        )


class _Growing:
    """Numbers that are appended: in memory as long as they are few, from then on in a file that has no name."""

    def __init__(self) -> None:
        self._numbers = array("i")
        self._file: IO[bytes] | None = None
        self._most = MOST_IN_MEMORY

    def append(self, numbers: npt.NDArray[np.int32]) -> None:
        self._numbers.frombytes(numbers.tobytes())
        if len(self._numbers) > self._most:
            self._spill()

    def finished(self) -> npt.NDArray[np.int32]:
        if self._file is not None:
            self._spill()
        if self._file is None:
            return np.frombuffer(self._numbers, np.int32)
        return np.frombuffer(mmap(self._file.fileno(), 0, access=ACCESS_READ), np.int32)

    def _spill(self) -> None:
        """Moves what is in memory to the end of the file."""
        if self._file is None:
            try:
                cache_folder().mkdir(parents=True, exist_ok=True, mode=0o700)
                self._file = TemporaryFile(dir=cache_folder())  # noqa: SIM115 - the mapped array outlives it
            except OSError:  # no cache can be written here: everything stays in memory
                self._most = sys.maxsize
                return
        try:
            self._file.write(self._numbers)
            self._file.flush()
        except OSError as error:
            raise StorageError(
                f"the tokens of the texts could not be written to {cache_folder()} ({error.strerror}): "
                "free some space, or set ACTUNE_CACHE to another folder"
            ) from error
        self._numbers = array("i")
