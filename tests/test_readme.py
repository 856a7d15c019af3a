"""What the README promises: its ten lines of Python run, and its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

from actune.cli.app import app

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_ten_lines_run(tmp_path, monkeypatch, trec, capsys):
    monkeypatch.chdir(tmp_path)
    known = dict(zip(trec.pool.texts, trec.pool.labels, strict=True))
    kept = [text for text in trec.pool.texts[:300] if trec.pool.classes[known[text]] != "abbreviation"]
    lines = ["text", *(f'"{text.replace(chr(34), chr(34) * 2)}"' for text in kept)]
    Path("questions.csv").write_text("\n".join(lines), encoding="utf-8")
    (program,) = re.findall(r"```python\n(import actune\n.*?)```", README, re.DOTALL)
    assert len(program.strip().splitlines()) <= 12
    exec(program, {"label": lambda text: trec.pool.classes[known[text]]})
    assert (tmp_path / "runs/classifier/head.safetensors").is_file()
    assert capsys.readouterr().out.strip() in set(trec.pool.classes)


def test_the_estimator_of_the_readme_runs(questions, capsys):
    (program,) = re.findall(r"```python\n(from actune import TextClassifier\n.*?)```", README, re.DOTALL)
    texts = list(questions.pool.texts[:80])
    y = [questions.pool.classes[number] if row < 40 else None for row, number in enumerate(questions.pool.labels[:80])]
    exec(program, {"texts": texts, "y": y, "more_texts": ["how far is it from denver to aspen ?"]})
    assert len(re.findall(r"\d+", capsys.readouterr().out)) == 10


def test_every_command_is_real():
    known = {command.callback.__name__ for command in app.registered_commands}
    blocks = "".join(re.findall(r"```\n(.*?)```", README, re.DOTALL))
    used = set(re.findall(r"^actune (\w+)", blocks, re.MULTILINE))
    assert {"run", "compare", "start", "ask", "tell", "advance", "status", "predict"} <= used <= known
