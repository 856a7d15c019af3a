"""Folders that hold a classifier and all that it needs, so that it can be used without the run that made it.

A classifier of a run stands on the run's encoder. Its portable folder has a copy of that encoder in `encoder`, and
`actune.json` says how to load it. Other libraries read a fine-tuned classifier as it is, and one with a pooled head as
the modules of sentence-transformers that `models/modules.py` adds. The card of a probe has the lines that read it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from actune.core.checks import told
from actune.core.files import replacing_folder, storage_sentences
from actune.core.places import PRIVATE_FOLDER, files_below, open_regular
from actune.errors import DataError, ModelError, RunFolderError
from actune.models.folders import ENCODER, POOLED_HEAD, check_files, read_json, read_text
from actune.models.learners import find_learner
from actune.models.sources import encoder_digest
from actune.models.starting import facts_of, saved_classes, saved_learner

FILE = "actune.json"
FORMAT = 1
MOST_TOKENS = 100_000  # that a saved model may cut texts at
COPIED = ("*.safetensors", "*.json", "*.txt", "*.model", "1_Pooling/config.json")  # nothing that can run code
NOT_COPIED = {"data_config.json", "modules.json", "config_sentence_transformers.json"}  # of the encoder's own training


@dataclass(frozen=True)
class SavedModel:
    """What a portable folder says about its classifier."""

    learner: str
    classes: tuple[str, ...]
    max_tokens: int
    note: str = ""  # one sentence on how it was made
    format: int = FORMAT


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A folder to fill that only this user can read; at the end it takes the name `target`, which must be free."""
    with storage_sentences(target):
        if os.path.lexists(target):
            raise DataError(f"{str(target)!r} already exists: choose another folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing_folder(target) as scratch:
            scratch.chmod(PRIVATE_FOLDER)
            yield scratch


def copy_model(source: Path, target: Path) -> None:
    """Copies the files of a classifier from a run, which may be that of somebody else: no links, no special files."""
    if source.is_symlink():
        raise RunFolderError(f"{str(source)!r} is a link, which may lead out of the run: replace it by a copy")
    for file in files_below(source):
        place = target / file.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
        with open_regular(file, follow=False) as stream, place.open("xb") as copy:
            shutil.copyfileobj(stream, copy)


def make_portable(folder: Path, encoder: Path, max_tokens: int, card: str = "") -> SavedModel:
    """Adds to a classifier in `folder` the encoder that it stands on, and how to use it; `card` is its model card."""
    kind, classes = saved_learner(folder), tuple(saved_classes(folder))
    file = folder / "README.md"
    card = card or (read_text(file) if file.is_file() else "# Text classifier\n")
    saved = SavedModel(kind.name, classes, max_tokens, _how_it_was_made(card))
    if kind.is_frozen_encoder:
        check_digest(folder, encoder)
        _copy_encoder(encoder, folder / ENCODER)
    form = kind.form(pooled=(folder / POOLED_HEAD).is_file())
    if form.write_modules is not None:
        form.write_modules(folder, max_tokens)
    (folder / FILE).write_text(json.dumps(asdict(saved), indent=1, ensure_ascii=False), encoding="utf-8")
    file.write_text(card.rstrip() + "\n" + _usage(form.usage, max_tokens), encoding="utf-8")
    return saved


def check_digest(folder: Path, encoder: Path) -> None:
    """A head on embeddings means nothing on those of another encoder."""
    kind = saved_learner(folder)
    if facts_of(folder, kind).get("encoder") not in (None, encoder_digest(encoder)):
        raise ModelError(
            f"the {kind.name} in {str(folder)!r} was trained on another encoder than the one in {str(encoder)!r}: "
            "install the encoder that it was trained with"
        )


def read_saved(folder: Path) -> SavedModel:
    """What `make_portable` has written, or one sentence that says what is wrong with it."""
    facts = read_json(folder / FILE)
    version = facts.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise ModelError(f"{str(folder)!r} was written by a newer version of actune: upgrade actune")
    kinds = {"format": int, "learner": str, "classes": list, "max_tokens": int, "note": str}
    if wrong := [name for name, kind in kinds.items() if not isinstance(facts.get(name), kind)]:
        raise ModelError(f"{str(folder / FILE)!r} is incomplete or was changed by hand: {wrong[0]!r} is wrong")
    if not 0 < facts["max_tokens"] <= MOST_TOKENS:
        raise ModelError(f"{str(folder / FILE)!r} was changed by hand: max_tokens is {told(facts['max_tokens'])}")
    saved = SavedModel(**{name: facts[name] for name in kinds} | {"classes": tuple(map(str, facts["classes"]))})
    kind = find_learner(saved.learner)  # it may belong to a package that is not installed here
    if not kind.saved_here(folder) or (kind.is_frozen_encoder and not (folder / ENCODER / "config.json").is_file()):
        raise ModelError(f"{str(folder)!r} is incomplete: some files of the model are missing; save it again")
    if saved.classes != tuple(saved_classes(folder)):
        raise ModelError(f"{str(folder / FILE)!r} lists other classes than {kind.saved_file}: save the model again")
    return saved


def _copy_encoder(source: Path, target: Path) -> None:
    """The files themselves, also where the source has links, as the cache of the hub does."""
    check_files(source)
    for file in (file for pattern in COPIED for file in sorted(source.glob(pattern)) if file.name not in NOT_COPIED):
        place = target / file.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)


def _how_it_was_made(card: str) -> str:
    return next((line.replace("`", "") for line in card.splitlines() if line.startswith("Made with actune")), "")


def _usage(lines: str, max_tokens: int) -> str:
    parts = [
        "## Usage",
        "Replace `FOLDER` with the path of this folder. With actune:",
        "```python\nimport actune\n\n"
        'model = actune.load("FOLDER")\n'
        'for found in model.predict(["a first text", "a second text"]):\n'
        "    print(found.label, found.confidence)\n```",
    ]
    return "\n" + "\n\n".join([*parts, *([lines.format(max_tokens=max_tokens)] if lines else [])]) + "\n"
