"""Texts in files that are mapped: what was written comes back, and a broken file is one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from actune.core import columns as module
from actune.core.columns import open_columns, write_columns
from actune.core.pool import Pool, pool_of
from actune.errors import RunFolderError


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    monkeypatch.setattr(module, "BLOCK", 4)
    return pool_of(
        [f"naïve 日本 🙂 {row}" for row in range(10)], ["a", None, "b", "", "a"] * 2, [f"x{row}" for row in range(10)]
    )


def written(file: Path, pool: Pool) -> Path:
    write_columns(file, pool.ids, pool.texts, pool.labels)
    return file


def test_what_was_written_is_read(tmp_path: Path, pool: Pool) -> None:
    found = open_columns([written(tmp_path / "a.arrow", pool)], pool.classes)
    assert found == pool and found.row_of["x7"] == 7
    assert found.texts.column.num_chunks == 3  # some rows at a time, so that no block is large


def test_more_rows_are_one_more_file(tmp_path: Path, pool: Pool) -> None:
    more = pool_of(["one more"], ids=["y"])
    files = [written(tmp_path / "a.arrow", pool.only(range(3, 7))), written(tmp_path / "b.arrow", more)]
    assert open_columns(files, pool.classes) == pool.only(range(3, 7)).followed_by(more)


def test_no_rows(tmp_path: Path, pool: Pool) -> None:
    assert len(open_columns([written(tmp_path / "a.arrow", pool.only([]))], pool.classes)) == 0


def test_opening_reads_no_text(tmp_path: Path, pool: Pool) -> None:
    file = written(tmp_path / "a.arrow", pool)
    before = pa.total_allocated_bytes()
    found = open_columns([file], pool.classes)
    assert pa.total_allocated_bytes() - before < 1000 and found.texts[9] == pool.texts[9]


def test_broken_files(tmp_path: Path, pool: Pool) -> None:
    file = written(tmp_path / "a.arrow", pool)
    whole = file.read_bytes()
    with pytest.raises(RunFolderError, match=r"nowhere' is missing or incomplete .*: restore it"):
        open_columns([tmp_path / "nowhere"], pool.classes)
    for broken in (b"", b"anything", whole[:-20], whole[: len(whole) // 2]):
        file.write_bytes(broken)
        with pytest.raises(RunFolderError, match=r"a.arrow' is missing or incomplete .*: restore it"):
            open_columns([file], pool.classes)
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, pa.schema({"x": pa.int8()})):
        pass
    with pytest.raises(RunFolderError, match="has the columns x, not those that actune writes"):
        open_columns([file], pool.classes)


def test_nothing_of_it_imports_pandas(tmp_path: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from actune.core.columns import open_columns, write_columns
from actune.core.pool import pool_of
pool = pool_of(["one", "two", "two"], ["a", None, "b"], ["x", "y", "z"])
pool = pool.only([2, 0]).followed_by(pool_of(["three"], ["a"], classes=["a", "b"]))
file = Path({str(tmp_path / "a.arrow")!r})
write_columns(file, pool.ids, pool.texts, pool.labels)
found = open_columns([file], ["a", "b"])
assert found == pool and found.row_of["x"] == 1 and found.texts.repeated() == (0, 0)
print([name for name in ("pandas", "torch") if name in sys.modules])
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
