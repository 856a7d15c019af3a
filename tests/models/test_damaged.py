"""Saved classifiers that are damaged or of somebody else: one sentence for each, and soon."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import actune
from actune.core.settings import Training
from actune.errors import ActuneError
from actune.models.encoders import load_classifier, load_tokenizer
from actune.models.finetuning import FineTuned
from actune.models.heads import Head
from actune.models.learners import make_learner
from actune.models.portable import make_portable
from actune.models.probing import Probed, Probing
from actune.models.starting import check_encoder, check_start, load_start, model_in, saved_learner
from tests.models.tiny import TEXTS, save_tiny

CPU = torch.device("cpu")
CLASSES = ["a", "b", "c"]
Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A classifier of each learner as it is saved, and the encoder that the probe stands on."""
    folder = tmp_path_factory.mktemp("saved")
    encoder = save_tiny(folder / "encoder")
    (folder / "probe").mkdir()
    (folder / "finetune").mkdir()
    learner = Probing(encoder, 3, 16, Training(), CPU)
    Probed(Head(32, 3), learner).save(folder / "probe", CLASSES, "# card\n")
    network = load_classifier(encoder, 3, CPU)
    FineTuned(network, load_tokenizer(encoder), CPU, Training()).save(folder / "finetune", CLASSES, "# card\n")
    for name in ("probe", "finetune"):
        make_portable(folder / name, encoder, 16)
    return {name: folder / name for name in ("probe", "finetune", "encoder")}


def use(folder: Path) -> None:
    actune.load(folder, device="cpu").predict(TEXTS[:3])


def start(folder: Path, encoder: Path) -> None:
    """What `--start-from` does, before the first round and in it."""
    check_start(folder, CLASSES)
    check_encoder(folder, encoder)
    place = model_in(folder)
    kind = saved_learner(place)
    learner = make_learner(kind.name, encoder if kind.is_frozen_encoder else place, 3, 16, Training(), CPU)
    load_start(learner, place, CLASSES).read(learner.prepare(TEXTS[:3]))


def missing(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


def truncated(name: str, left: int = 50) -> Damage:
    return lambda folder: os.truncate(folder / name, left)


def written(name: str, content: bytes) -> Damage:
    return lambda folder: (folder / name).write_bytes(content)


def a_folder(name: str) -> Damage:
    return lambda folder: ((folder / name).unlink(), (folder / name).mkdir())


def a_fifo(name: str) -> Damage:
    return lambda folder: ((folder / name).unlink(), os.mkfifo(folder / name))


def endless(name: str) -> Damage:
    return lambda folder: ((folder / name).unlink(), (folder / name).symlink_to("/dev/zero"))


def facts(name: str, **changes: Any) -> Damage:
    return lambda folder: (folder / name).write_text(json.dumps(json.loads((folder / name).read_text()) | changes))


def weights(name: str, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Damage:
    return lambda folder: save_file(change(load_file(folder / name)), folder / name, metadata={"format": "pt"})


def every(value: float) -> Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
    return lambda found: {name: torch.full_like(tensor, value) for name, tensor in found.items()}


def only(ending: str, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    return lambda found: {name: change(value) if name.endswith(ending) else value for name, value in found.items()}


def common(weights_file: str, facts_file: str, out: str) -> dict[str, Damage]:
    """Damage to the two files that every classifier has; `out` is the name of its last layer."""
    return {
        **{f"{name} missing": missing(name) for name in (weights_file, facts_file)},
        **{f"{name} truncated": truncated(name) for name in (weights_file, facts_file)},
        **{f"{name} empty": truncated(name, 0) for name in (weights_file, facts_file)},
        **{f"{name} a folder": a_folder(name) for name in (weights_file, facts_file)},
        **{f"{name} a FIFO": a_fifo(name) for name in (weights_file, facts_file)},
        **{f"{name} endless": endless(name) for name in (weights_file, facts_file)},
        **{f"{name} random": written(name, bytes(range(256)) * 9) for name in (weights_file, facts_file)},
        "facts a list": written(facts_file, b"[1, 2]"),
        "facts null": written(facts_file, b"null"),
        "facts nested": written(facts_file, b"[" * 100_000),
        "facts of a terabyte": lambda folder: os.truncate(folder / facts_file, 10**12),
        "weights NaN": weights(weights_file, every(float("nan"))),
        "weights infinite": weights(weights_file, every(float("inf"))),
        "no weights": weights(weights_file, lambda found: {}),
        "no last layer": weights(weights_file, lambda f: {n: v for n, v in f.items() if not n.startswith(out)}),
        "fewer outputs": weights(weights_file, only(f"{out}.weight", lambda value: value[:2].clone())),
        "last bias longer": weights(weights_file, only(f"{out}.bias", lambda value: value.repeat(2))),
        "last bias a table": weights(weights_file, only(f"{out}.bias", lambda value: value[:, None].repeat(1, 2))),
        "last bias one number": weights(weights_file, only(f"{out}.bias", lambda value: value.sum())),
        "weights narrower": weights(weights_file, only("weight", lambda v: v[..., :5].clone())),
    }


PROBE: dict[str, Damage] = {
    **common("head.safetensors", "probe.json", "out"),
    "other names": weights("head.safetensors", lambda found: {f"x.{name}": value for name, value in found.items()}),
    "one more weight": weights("head.safetensors", lambda found: {**found, "extra": torch.zeros(3)}),
    "whole numbers": weights("head.safetensors", lambda found: {name: value.int() for name, value in found.items()}),
    "head for another width": weights(
        "head.safetensors", only("hidden.weight", lambda value: value[:, :5].contiguous())
    ),
    "classes a number": facts("probe.json", classes=3),
    "classes a mapping": facts("probe.json", classes={"a": 1}),
    "classes of lists": facts("probe.json", classes=[["a"], ["b"], ["c"]]),
    "no classes": facts("probe.json", classes=[]),
    "two classes": facts("probe.json", classes=["a", "b"]),
    "four classes": facts("probe.json", classes=["a", "b", "c", "d"]),
    "another encoder": facts("probe.json", encoder="0" * 64),
    "encoder a list": facts("probe.json", encoder=["x"]),
}
FINETUNE: dict[str, Damage] = {
    **common("model.safetensors", "config.json", "classifier"),
    "tokenizer missing": missing("tokenizer.json"),
    "tokenizer truncated": truncated("tokenizer.json"),
    "tokenizer a FIFO": a_fifo("tokenizer.json"),
    "labels a list": facts("config.json", id2label=["a", "b", "c"]),
    "labels with a gap": facts("config.json", id2label={"0": "a", "1": "b", "5": "c"}),
    "labels by words": facts("config.json", id2label={"x": "a", "y": "b", "z": "c"}),
    "labels of lists": facts("config.json", id2label={"0": ["a"], "1": ["b"], "2": ["c"]}),
    "no labels": facts("config.json", id2label={}),
    "two labels": facts("config.json", id2label={"0": "a", "1": "b"}),
    "other classes beside the labels": facts("config.json", classes=["a", "b", "c", "d"]),
    "another family": facts("config.json", model_type="nothing"),
    "a family without classifiers": facts("config.json", model_type="encoder-decoder"),
    "many layers": facts("config.json", num_hidden_layers=10**6),
}
PORTABLE: dict[str, Damage] = {
    "actune.json a list": written("actune.json", b"[]"),
    "actune.json truncated": truncated("actune.json", 20),
    "actune.json nested": written("actune.json", b'{"a":' * 50_000),
    "format infinite": facts("actune.json", format=float("inf")),
    "format newer": facts("actune.json", format=99),
    "learner a list": facts("actune.json", learner=["probe"]),
    "learner unknown": facts("actune.json", learner="nothing"),
    "max_tokens a word": facts("actune.json", max_tokens="many"),
    "max_tokens negative": facts("actune.json", max_tokens=-5),
    "max_tokens huge": facts("actune.json", max_tokens=10**12),
    "classes in another order": facts("actune.json", classes=["c", "b", "a"]),
    "classes missing": facts("actune.json", classes=None),
}
ENCODER: dict[str, Damage] = {
    "encoder without weights": missing("encoder/model.safetensors"),
    "encoder without a config": missing("encoder/config.json"),
    "encoder a FIFO": a_fifo("encoder/model.safetensors"),
    "encoder truncated": truncated("encoder/model.safetensors", 2000),
    "encoder's tokenizer missing": missing("encoder/tokenizer.json"),
}
HARMLESS = {"encoder a list", "another encoder"}  # for `load`, which has the encoder beside the head
CASES = [("probe", name) for name in PROBE] + [("finetune", name) for name in FINETUNE]


def refused(call: Callable[[], None]) -> None:
    began = time.monotonic()
    with pytest.raises(ActuneError) as error:
        call()
    assert "\n" not in str(error.value) and len(str(error.value)) > 20, str(error.value)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(("learner", "name"), CASES)
def test_a_damaged_classifier_is_refused_in_a_sentence(
    learner: str, name: str, saved: dict[str, Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(saved[learner], tmp_path / "damaged")
    {"probe": PROBE, "finetune": FINETUNE}[learner][name](folder)
    refused(lambda: start(folder, saved["encoder"]))
    if name not in HARMLESS:
        refused(lambda: use(folder))
    (folder / "actune.json").unlink(missing_ok=True)  # as a classifier in a run, or of transformers
    refused(lambda: use(folder))


@pytest.mark.parametrize(
    ("learner", "name"),
    [(learner, name) for learner in ("probe", "finetune") for name in PORTABLE] + [("probe", name) for name in ENCODER],
)
def test_a_damaged_portable_folder_is_refused_in_a_sentence(
    learner: str, name: str, saved: dict[str, Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(saved[learner], tmp_path / "damaged")
    {**PORTABLE, **ENCODER}[name](folder)
    refused(lambda: use(folder))


@pytest.mark.parametrize("learner", ["probe", "finetune"])
def test_an_undamaged_one_is_used(learner: str, saved: dict[str, Path]) -> None:
    use(saved[learner])
    start(saved[learner], saved["encoder"])
    assert len(PROBE) >= 25 and len(FINETUNE) >= 25
