"""What the tests of models share: a cache of their own, the real encoder, real questions, a tiny encoder."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from actune.core.pool import Pool
from actune.core.task import Task
from actune.models.sources import fetch, find_model
from tests.models.tiny import save_tiny


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where embeddings are kept, empty at the start of every test."""
    monkeypatch.setenv("ACTUNE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "embeddings"


@pytest.fixture(scope="session")
def cpu() -> torch.device:
    return torch.device("cpu")


@pytest.fixture(scope="session")
def minilm() -> Path:
    return fetch(find_model("minilm"))


@pytest.fixture(scope="session")
def trec_pool(trec: Task) -> Pool:
    return trec.pool


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A tiny BERT that a test may spoil."""
    return save_tiny(tmp_path / "tiny")


@pytest.fixture
def fast_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast code runs, whatever the environment says."""
    monkeypatch.setenv("ACTUNE_FAST", "1")


@pytest.fixture(autouse=True, scope="module")
def exact(in_float32: None) -> None:
    """What bfloat16 changes is `test_precision`'s matter."""
