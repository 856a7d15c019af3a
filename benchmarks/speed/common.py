"""What the speed benchmarks share: machine facts, timing, results as JSON lines, and an encoder of a given shape."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from actune.models.encoders import load_tokenizer
from actune.models.sources import fetch, find_model


def arguments(about: str | None) -> argparse.ArgumentParser:
    """What every benchmark of an encoder is told."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="trec")
    parser.add_argument("--data-dir")
    parser.add_argument("--model", default="minilm", help="or roberta-shaped")
    parser.add_argument("--limit", type=int, help="tokens; the task's own unless given")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", help="a file to add results to")
    return parser


def encoder(name: str) -> Path:
    """A model by name; `roberta-shaped` is 12 x 768 with random weights and the words of mpnet, which has its ids."""
    if name != "roberta-shaped":
        return fetch(find_model(name))
    library: Any = import_module("transformers")
    folder = Path(tempfile.gettempdir()) / "actune-roberta-shaped"
    if not (folder / "model.safetensors").exists():
        library.logging.disable_progress_bar()
        config = library.RobertaConfig(vocab_size=50265, max_position_embeddings=514, type_vocab_size=1)
        torch.manual_seed(0)
        library.AutoModel.from_config(config).save_pretrained(folder)
        load_tokenizer(fetch(find_model("mpnet"))).save_pretrained(folder)
    return folder


def seconds_of(work: Callable[[], Any], repeats: int, device: torch.device) -> tuple[float, Any]:
    """The shortest of some repeats, and what the last one gave."""
    seconds, result = [], None
    for _ in range(repeats):
        wait(device)
        start = time.perf_counter()
        result = work()
        wait(device)
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def ceiling(device: torch.device, size: int = 8192) -> float:
    """TFLOP/s of a large bfloat16 product."""
    one, other = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
    for _ in range(3):
        one @ other
    seconds, _ = seconds_of(lambda: [one @ other for _ in range(10)], 3, device)
    return 10 * 2 * size**3 / seconds / 1e12


class Results:
    """Prints facts as JSON lines and adds them to a file, each with the machine and the command."""

    def __init__(self, file: str | None, device: torch.device) -> None:
        self.file = file
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"{os.cpu_count()} cores"
        self.about = {
            "command": " ".join(["python", *sys.argv]),
            "machine": f"{platform.machine()} {name}",
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "waiting": {name: os.environ.get(name) for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")},
        }

    def add(self, **facts: Any) -> None:
        print(json.dumps(facts), flush=True)
        if self.file:
            with Path(self.file).open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({**facts, **self.about}) + "\n")
