"""A project whose method this version does not have: its answers and its model are still there."""

from __future__ import annotations

from pathlib import Path

import actune
from actune.core.task import Task
from actune.session.session import Session
from tests.cli.conftest import call, done, read


def test_a_method_that_is_gone_is_one_sentence_and_answers_stay(tmp_path: Path, questions: Task) -> None:
    folder, labels, known = tmp_path / "project", tmp_path / "labels.csv", questions.pool.labels
    texts = actune.task_of(list(questions.pool.texts[:100]), classes=questions.pool.classes)
    changes = {"steps": 40, "epochs": 4}

    def answered(session: Session) -> Session:
        session.tell({question.id: texts.pool.classes[known[int(question.id)]] for question in session.ask()})
        return session

    session = answered(actune.create(folder, texts, learner="probe", initial=30, batch=10, changes=changes))
    session.advance()
    given = answered(session).labels().of_row
    session.close()
    words = (folder / "run.toml").read_text()
    assert words.count('method = "thrifty"') == 1
    (folder / "run.toml").write_text(words.replace('method = "thrifty"', 'method = "auto"'))

    refused = call("advance", folder)
    assert refused.code == 2 and "the method 'auto', which this version of actune does not have" in refused.err
    done("status", folder)
    with actune.open_session(folder) as opened:
        assert opened.predict(["who was the first man on the moon ?"])[0].label in texts.pool.classes
    done("export", folder, "--all", "--to", labels)
    assert sum(bool(line["label"]) for line in read(labels)) == len(given) == 40
    done("start", labels, "--learner", "probe", "--out", tmp_path / "new")
    with actune.open_session(tmp_path / "new") as begun:
        now = {row: begun.pool.classes[label] for row, label in begun.labels().of_row.items()}
        assert now == {row: texts.pool.classes[label] for row, label in given.items()}
        assert begun.config.request.method == "thrifty"
