"""The programs in the documentation of the interface do what they say."""

from __future__ import annotations

import re
from pathlib import Path

import actune
from actune.store.store import Store
from tests.web.serving import serve

PAGE = Path(__file__).parents[2] / "docs/reference/api.md"


def test_the_programs_of_the_page_run(texts, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    program, session = re.findall(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    server = serve(texts, "--labels", "long,short", "--port", "0", "--no-training", "--out", str(tmp_path / "project"))
    pool = actune.read_pool(str(texts))
    try:
        names = {"TOKEN": server.token, "URL": server.url, "decide": lambda text: "short" if len(text) < 40 else "long"}
        exec(program, names)
        exec(
            session,
            {**names, "actune": actune, "pool": actune.pool_of(pool.texts, ids=pool.ids, classes=["long", "short"])},
        )
    finally:
        server.kill()
    answered, training = capsys.readouterr().out.splitlines()[-1].split()
    assert 66 - 13 <= int(answered) <= 66 and training == "idle"  # what is left of the audit sample comes with a batch
    with Store.reading(tmp_path / "runs/elsewhere") as store:
        assert store.counts().labelled >= 20 - 13
