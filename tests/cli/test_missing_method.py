"""A project whose method this version does not have: its answers and its model are still there."""

from __future__ import annotations

from pathlib import Path

import actune
from actune.core.task import Task
from tests.cli.conftest import call, done, read
from tests.session.test_teachers import answered


def test_a_method_that_is_gone_is_one_sentence_and_answers_stay(tmp_path: Path, questions: Task) -> None:
    folder, labels = tmp_path / "thrifty", tmp_path / "labels.csv"
    plan = {"learner": "probe", "initial": 30, "batch": 10, "changes": {"steps": 40, "epochs": 4}}
    session = answered(actune.create(folder, questions, **plan), questions)
    session.advance()
    known = answered(session, questions).labels().of_row
    session.close()
    words = (folder / "run.toml").read_text()
    assert words.count('method = "thrifty"') == 1
    (folder / "run.toml").write_text(words.replace('method = "thrifty"', 'method = "auto"'))

    refused = call("advance", folder)
    assert refused.code == 2 and "the method 'auto', which this version of actune does not have" in refused.err
    done("status", folder)
    with actune.open_session(folder) as opened:
        assert opened.predict(["who was the first man on the moon ?"])[0].label in questions.pool.classes
    done("export", folder, "--all", "--to", labels)
    assert sum(bool(line["label"]) for line in read(labels)) == len(known) == 40
    done("start", labels, "--learner", "probe", "--out", tmp_path / "new")
    with actune.open_session(tmp_path / "new") as begun:
        assert begun.labels().of_row == known and begun.config.request.method == "thrifty"
