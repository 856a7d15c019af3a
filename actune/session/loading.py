"""`actune.load`: the model of a folder, ready for new texts, without the session and the texts that it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from actune.core.checks import checked_folder
from actune.errors import ModelError, RunFolderError
from actune.models.sources import fetch, find_model
from actune.models.starting import model_in, saved_learner
from actune.session.config import Config, load_config
from actune.store.store import FILE as RUN
from actune.store.store import newest_model_in

if TYPE_CHECKING:
    from actune.rounds.predicting import TextModel

MOST_TOKENS = 512  # of a fine-tuned classifier that does not say how long texts may be


def load(folder: str | Path, device: str = "auto") -> TextModel:
    """The model in a folder that `session.save` or `TextClassifier.save` wrote, or the model that a run uses now.

    `device` is `cpu`, `cuda`, or `auto`, which takes a GPU where there is one.
    """
    from actune.models.encoders import choose_device
    from actune.models.folders import ENCODER
    from actune.models.portable import FILE, read_saved
    from actune.rounds.predicting import load_model

    place = checked_folder(folder)
    if not place.is_dir():
        raise ModelError(f"there is no folder {str(folder)!r} to load a model from: check the path")
    if (place / FILE).is_file():
        saved = read_saved(place)
        chosen = choose_device(device)
        return load_model(place, place / ENCODER, saved.max_tokens, chosen, note=saved.note)
    if run := _run_of(place):
        return _load_of_run(run, place, device)
    model = model_in(place)
    if (kind := saved_learner(model)).is_frozen_encoder:
        raise ModelError(
            f"{str(folder)!r} has a {kind.name} without its encoder: load the run folder, or save the model again "
            "with session.save"
        )
    return load_model(model, model, MOST_TOKENS, choose_device(device))


def _run_of(folder: Path) -> Path | None:
    """The run that a folder is, or that it is a model of."""
    here = folder.absolute()
    return next((place for place in (here, here.parent, here.parent.parent) if (place / RUN).is_file()), None)


def _load_of_run(run: Path, folder: Path, device: str) -> TextModel:
    from actune.models.encoders import choose_device
    from actune.models.portable import check_digest
    from actune.rounds.predicting import load_model

    config = load_config(run)
    model = newest_model_in(run) if folder.absolute() == run else folder
    if model == run or not model.is_dir():
        raise RunFolderError(f"{str(folder)!r} has no model yet: run `actune advance` first")
    kind, encoder = saved_learner(model), model
    if kind.is_frozen_encoder:
        encoder = _encoder_of(run, config)
        check_digest(model, encoder)
    note = f"The learner {kind.name} on the encoder {config.request.model}, of the run {str(run)!r}."
    return load_model(model, encoder, config.settings.max_tokens, choose_device(device), config.training, note)


def _encoder_of(run: Path, config: Config) -> Path:
    """The encoder that the rounds of a run stand on. One that was adapted to the pool is found by the pool."""
    if not config.request.adapt:
        return fetch(find_model(config.request.model))
    from actune.session.setup import open_session

    with open_session(run) as session:
        return session.prepared.folder
