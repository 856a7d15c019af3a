"""A short run of the fuzzer of data files; each input is known by its seed."""

from __future__ import annotations

from pathlib import Path
from random import Random
from time import monotonic

from tests.fuzz.data_files import make, run

SECONDS, INPUTS = 6.0, 300


def test_no_data_file_ends_in_a_traceback(tmp_path: Path) -> None:
    end = monotonic() + SECONDS
    for seed in range(INPUTS):
        name, content = make(Random(seed))
        assert make(Random(seed))[0] == name
        path = tmp_path / name
        path.write_bytes(content)
        try:
            run(path)
        except Exception as error:
            error.add_note(f"seed {seed}, {name}")
            raise
        if monotonic() > end:
            break
