"""Mutated model folders: configs, indexes, headers, heads and tokenizers, each used as a run would use it."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import actune
from actune.core.settings import Training
from actune.models.encoders import load_classifier, load_tokenizer
from actune.models.finetuning import FineTuned
from actune.models.heads import Head
from actune.models.portable import make_portable
from actune.models.probing import Probed, Probing
from tests.models.tiny import save_tiny

CPU = torch.device("cpu")
# sizes that a mutation may take: harmless ones, edges, and those that would fill the memory
VALUES: list[Any] = [
    *(None, True, False, "", "x", "../x", "/etc/passwd", "evil/kernel", [], {}, [1], {"a": 1}, "\x1b[31m", "\ud800"),
    *(0, 1, 2, 3, 32, 64, -1, 10**4, 10**6, 10**9, 2**31, 2**63, 10**30, 0.5, -1.0, 1e308, float("nan"), float("inf")),
]
NEW_KEYS = [
    *("auto_map", "quantization_config", "attn_implementation", "_attn_implementation", "num_labels", "id2label"),
    *("layer_types", "torch_dtype", "return_dict", "pruned_heads", "is_decoder", "tie_word_embeddings", "gguf_file"),
    *("per_layer_config", "rope_parameters", "tokenizer_class", "chat_template", "added_tokens_decoder", "model_type"),
]

# the files that actune reads in a saved classifier
ENCODER = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
READ = ("actune.json", "probe.json", "head.safetensors", "encoder/1_Pooling/config.json")
READ += (*ENCODER, *(f"encoder/{name}" for name in ENCODER))


@dataclass(frozen=True)
class Input:
    """A mutation: the learner whose saved classifier it changes, the file, and what it becomes."""

    learner: str
    file: str
    content: bytes


def make_saved(folder: Path) -> dict[str, Path]:
    """A probe and a fine-tuned classifier as `session.save` writes them, on a tiny encoder."""
    encoder = save_tiny(folder / "tiny")
    for name in ("probe", "finetune"):
        (folder / name).mkdir()
    probe = Probed(Head(32, 3), Probing(encoder, 3, 16, Training(), CPU))
    tuned = FineTuned(load_classifier(encoder, 3, CPU), load_tokenizer(encoder), CPU, Training())
    for name, classifier in (("probe", probe), ("finetune", tuned)):
        classifier.save(folder / name, ["a", "b", "c"], "# card\n")
        make_portable(folder / name, encoder, 16)
    return {name: folder / name for name in ("probe", "finetune")}


def inputs(rng: random.Random, saved: dict[str, Path]) -> Iterator[Input]:
    """Mutations without end, the same for the same generator."""
    files = {name: sorted(file for file in READ if (folder / file).is_file()) for name, folder in saved.items()}
    while True:
        learner = rng.choice(sorted(saved))
        file = rng.choice(files[learner])
        content = (saved[learner] / file).read_bytes()
        if file.endswith(".json") and rng.random() < 0.8:
            yield Input(learner, file, _mutated_json(rng, content))
        else:
            yield Input(learner, file, _mutated_bytes(rng, content))


def use(given: Input, saved: dict[str, Path], scratch: Path) -> None:
    """Loads the mutated classifier and reads a text with it; whatever is wrong must be an `ActuneError`."""
    if scratch.exists():
        shutil.rmtree(scratch)
    folder = shutil.copytree(saved[given.learner], scratch)
    (folder / given.file).write_bytes(given.content)
    actune.load(folder, device="cpu").predict(["who is the man", "when did the man invent it"])


def _mutated_json(rng: random.Random, content: bytes) -> bytes:
    found = json.loads(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        holder, key = rng.choice(list(_places(found)) or [(found, "x")])
        if rng.random() < 0.15 and isinstance(holder, dict):
            holder[rng.choice(NEW_KEYS)] = deepcopy(rng.choice(VALUES))
        elif rng.random() < 0.15 and isinstance(holder, dict) and len(holder) > 1 and key in holder:
            del holder[key]
        elif isinstance(holder, dict) and key not in holder:
            continue
        else:
            holder[key] = deepcopy(rng.choice(VALUES))
    return json.dumps(found).encode()


def _places(found: Any) -> Iterator[tuple[Any, Any]]:
    """All that can be changed in a JSON value, wherever it is."""
    parts = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for key, value in list(parts):
        yield found, key
        yield from _places(value)


def _mutated_bytes(rng: random.Random, content: bytes) -> bytes:
    changes: list[Callable[[bytes], bytes]] = [
        lambda given: given[: rng.randrange(len(given) + 1)],
        lambda given: given + rng.randbytes(rng.randrange(1, 100)),
        lambda given: _flipped(rng, given),
        lambda given: _flipped(rng, given[:400]) + given[400:],  # the header of weights
        lambda given: rng.randbytes(8) + given[8:],
    ]
    return rng.choice(changes)(content)


def _flipped(rng: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 3, 20)) if changed else 0):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)
