from __future__ import annotations

import csv

import pytest

from tests.web.serving import Served, serve

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "=cmd|' /C calc'!A0", "‮evil‬", "a\nb\tc", "🙂"]


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """A file of real questions, and some texts that try to be more than text."""
    from actune.data.tasks import load_task

    file = tmp_path_factory.mktemp("data") / "texts.csv"
    with file.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["id", "text"])
        pool = load_task("trec").pool
        writer.writerows([f"q{row}", pool.texts[row]] for row in range(60))
        writer.writerows([f"x{number}", text] for number, text in enumerate(HOSTILE))
    return file


@pytest.fixture(scope="module")
def served(texts) -> Served:
    """A server that trains nothing, for tests of the door."""
    server = serve(texts, "--labels", "a,b,<b>c</b>", "--port", "0", "--no-training")
    yield server
    server.kill()
