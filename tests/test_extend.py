"""The pages about adding one's own parts: their code runs, and no part takes more than some lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import actune
from actune.core.task import Task

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [(DOCS / name).read_text(encoding="utf-8") for name in ("extend.md", "reference/learner.md")]
BLOCKS = [block for page in PAGES for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL)]


def test_the_code_runs_from_top_to_bottom(questions: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = list(questions.pool.texts[:120])
    names = {"pool": actune.pool_of(texts, classes=["person", "other"]), "texts": texts}
    for block in BLOCKS:
        exec(block, names)
    assert names["session"].fitted == 1 and len(names["session"].ask())


def test_each_part_takes_about_ten_lines() -> None:
    assert len(BLOCKS) == 4
    for block in BLOCKS:
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith(("from ", "import "))]
        assert len(lines) <= 13, block
