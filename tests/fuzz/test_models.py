"""Mutated model folders, for a few seconds: each is used, or refused in a sentence."""

from __future__ import annotations

import random
import time
from itertools import islice
from pathlib import Path

from actune.errors import ActuneError
from tests.fuzz.models import inputs, make_saved, use

BUDGET = 6.0  # seconds
MOST = 100_000


def test_mutated_model_folders(tmp_path: Path) -> None:
    saved = make_saved(tmp_path)
    began, refused = time.monotonic(), 0
    for number, given in enumerate(islice(inputs(random.Random(0), saved), MOST)):
        start = time.monotonic()
        if start - began > BUDGET:
            break
        try:
            use(given, saved, tmp_path / "scratch")
        except ActuneError as error:
            refused += 1
            assert "\n" not in str(error), (number, given.file, given.learner)
        assert time.monotonic() - start < 10, (number, given.file, given.learner)
    assert refused > 10
