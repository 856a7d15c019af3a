"""What a learner has to tell is kept with the round that it belongs to."""

from __future__ import annotations

from pathlib import Path

import actune
from actune.core.task import Task
from actune.session.session import Session

CHANGES = {"max_tokens": 8, "steps": 4, "epochs": 1, "most_steps": 4}


def answered(folder: Path, questions: Task) -> Session:
    pool = actune.pool_of(questions.pool.texts[:60], classes=questions.pool.classes)
    session = actune.create(
        folder, pool, method="random", learner="auto", round_seconds=0.0, initial=12, batch=5, changes=CHANGES
    )
    session.tell({q.id: pool.classes[questions.pool.labels[int(q.id)]] for q in session.ask()})
    return session


def test_how_many_texts_were_cut_is_kept_with_the_run(tmp_path: Path, questions: Task) -> None:
    facts = answered(tmp_path / "run", questions).advance()
    assert any(note.endswith("texts were truncated to 8 tokens") for note in facts.notes)
    assert actune.open_session(tmp_path / "run").rounds()[0].notes == facts.notes


def test_the_fine_tuning_at_the_end_tells_its_own_notes(tmp_path: Path, questions: Task) -> None:
    answered(tmp_path / "run", questions).close()
    session = actune.open_session(tmp_path / "run")
    facts = session.finish()
    assert any(note.endswith("of 60 texts were truncated to 8 tokens") for note in facts.notes)
    assert "prepared" not in vars(session)  # the probe of the rounds was not needed, and says nothing
    assert session.final == facts
