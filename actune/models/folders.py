"""Model folders of somebody else: which files a library may open in them, checked before it does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from actune.core.places import is_plain_name, is_regular, open_regular
from actune.core.printing import printable, shortened
from actune.errors import ActuneError, ModelError

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
ENCODER = "encoder"  # the folder in a saved classifier with the frozen encoder that it stands on
POOLED_HEAD = "pooled_head.json"  # by which a saved classifier with a pooled head is known
MOST_SETTINGS = 20_000_000  # bytes of a JSON file that is no tokenizer
MOST_WORDS = 100_000_000  # bytes of a tokenizer or a vocabulary
MOST_LETTERS = 300  # of a library's message
READ_BELOW = ("1_Pooling", "additional_chat_templates")  # folders in a model folder that are looked into
# transformers reads these instead of the weights, or beside them
REFUSED = {
    "adapter_config.json": "a PEFT adapter: merge it into the model",
    "shard-*-model-*.safetensors": "a distributed checkpoint: save it as one",
}


def check_files(folder: Path) -> None:
    """Refuses what is no regular file, which could hang a reader, and files that are too large to be settings.

    Links are allowed, because the cache of the hub is made of them, but they must lead to regular files.
    """
    try:
        for place in (folder, *(folder / name for name in READ_BELOW)):
            for path in sorted(place.iterdir()) if place.is_dir() else []:
                _check_file(path)
    except OSError as error:
        raise ModelError(f"{shown(folder)} cannot be read: {error.strerror}") from error


def _check_file(path: Path) -> None:
    for pattern, what in REFUSED.items():
        if fnmatchcase(path.name, pattern):
            raise ModelError(f"{shown(path)} belongs to {what}, or remove it")
    if path.name.startswith(".") or path.is_dir():
        return
    if not is_regular(path):
        raise ModelError(f"{shown(path)} is not a regular file: replace it or remove it")
    if path.suffix in (".json", ".txt", ".model", ".jinja") and path.stat().st_size > _most_bytes(path):
        raise _too_large(path, _most_bytes(path))


def weight_files(folder: Path) -> list[Path]:
    """The files that hold the weights of a model folder: nothing but safetensors, which cannot run code."""
    if is_regular(folder / WEIGHTS):
        return [folder / WEIGHTS]
    if not is_regular(folder / INDEX):
        raise ModelError(
            f"{shown(folder)} has no .safetensors weights, and actune reads no other format: convert the model to "
            f"{WEIGHTS}"
        )
    names = read_json(folder / INDEX).get("weight_map")
    if not isinstance(names, dict) or not names:
        raise ModelError(f"{shown(folder / INDEX)} names no files of weights: download the model again")
    for name in names.values():
        if not is_plain_name(name) or not name.endswith(".safetensors"):
            raise ModelError(
                f"{shown(folder / INDEX)} names the file {shortened(repr(name))}, but weights must be .safetensors "
                "files in the same folder: convert the model"
            )
    files = [folder / name for name in sorted(set(names.values()))]
    for file in files:
        if not is_regular(file):
            raise ModelError(f"{shown(file)} is missing or not a regular file: download the model again")
    return files


def stored_shapes(folder: Path) -> dict[str, tuple[int, ...]]:
    """The shape of each stored weight, by its name, from the headers of the files alone."""
    from safetensors import safe_open

    found: dict[str, tuple[int, ...]] = {}
    for file in weight_files(folder):
        with refused(f"{shown(folder)} cannot be loaded as an encoder"), safe_open(file, "numpy") as weights:
            found |= {name: tuple(weights.get_slice(name).get_shape()) for name in weights.keys()}  # noqa: SIM118
    return found


def state_of(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """What changes when the network of a model folder does."""
    files = [(file, file.stat()) for file in (folder / "config.json", *weight_files(folder))]
    return tuple((str(file), state.st_mtime_ns, state.st_size) for file, state in files)


def read_json(file: Path) -> dict[str, Any]:
    """The object that a JSON file holds, or a sentence."""
    try:
        found = json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{shown(file)} cannot be read: {first_line(error)}") from error
    if not isinstance(found, dict):
        raise ModelError(f"{shown(file)} cannot be read: it must hold a JSON object, not {type(found).__name__}")
    return found


def read_text(file: Path) -> str:
    """The text of a small regular file, or a sentence."""
    with open_regular(file, ModelError) as stream:
        content = stream.read(MOST_SETTINGS + 1)
    if len(content) > MOST_SETTINGS:
        raise _too_large(file, MOST_SETTINGS)
    try:
        return content.decode("utf-8")
    except ValueError as error:
        raise ModelError(f"{shown(file)} cannot be read: {first_line(error)}") from error


@contextmanager
def refused(sentence: str, advice: str = "") -> Iterator[None]:
    """Turns whatever a library raises over a broken file into a sentence; a panic of Rust code is no `Exception`."""
    try:
        yield
    except ActuneError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise ModelError(f"{sentence}: {first_line(error)}{advice}") from error


def first_line(error: BaseException) -> str:
    """The first line of an error's message as far as it can be shown, with the next one where that begins a list."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    several = lines[0].endswith(":") and len(lines) > 1
    return shortened(f"{lines[0]} {lines[1]}" if several else lines[0], MOST_LETTERS)


def shown(path: Path) -> str:
    """A path as messages name it."""
    return printable(str(path))


def _most_bytes(path: Path) -> int:
    words = path.suffix != ".json" or path.name.startswith(("tokenizer.", "vocab"))
    return MOST_WORDS if words else MOST_SETTINGS


def _too_large(path: Path, most: int) -> ModelError:
    return ModelError(f"{shown(path)} is larger than {most:,} bytes, so it is not read: use another model")
