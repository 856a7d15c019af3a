"""The audit sample stays a random sample of the pool when texts are added."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import binomtest

import actune
from actune.core.dialogue import Answer
from actune.core.pool import Pool, pool_of
from actune.session.labelling import create_labelling
from actune.session.verifying import problems_in

OLD, NEW = 500, 4_000


def texts(count: int, first: int = 0, labels: bool = False) -> Pool:
    names = [f"number {row}" for row in range(first, first + count)]
    said = [("a", "b")[row % 2] if labels and row % 4 == 0 else None for row in range(count)]
    return pool_of(names, said, [f"t{row}" for row in range(first, first + count)], classes=("a", "b"))


def sample(folder: Path, seed: int, parts: list[Pool], audit: int = 50) -> tuple[int, ...]:
    with create_labelling(folder, texts(OLD), audit=audit, seed=seed, distinct=0) as session:
        for part in parts:
            session.add(part)
        found = session.audit_rows
    with actune.open_session(folder) as again:
        assert again.audit_rows == found
    return found


def test_every_text_is_in_the_sample_with_the_same_probability(tmp_path: Path) -> None:
    seeds, new = 20, 500
    old = 0
    for seed in range(seeds):
        found = sample(tmp_path / f"{seed}", seed, [texts(new, OLD)])
        assert len(found) == len({*found}) == 50  # as many as before
        assert [row for row in found if row >= OLD] == sorted(row for row in found if row >= OLD)
        old += sum(row < OLD for row in found)
    assert binomtest(old, seeds * 50, OLD / (OLD + new)).pvalue > 1e-3


def test_a_small_sample_grows_up_to_what_was_asked_for(tmp_path: Path) -> None:
    with create_labelling(tmp_path / "p", texts(100), audit=50, distinct=0) as session:
        first = session.audit_rows
        assert len(first) == 20
        session.add(texts(50, 100))
        assert first == session.audit_rows[:20] and 20 < len(session.audit_rows) < 50
        session.add(texts(NEW, 150))
        assert len(session.audit_rows) == 50


def test_what_leaves_the_sample_trains_and_is_sound(tmp_path: Path) -> None:
    with create_labelling(tmp_path / "p", texts(OLD), audit=50, distinct=0) as session:
        before = session.audit_rows
        session.tell([Answer(f"t{row}", "a") for row in before])
        assert not session.training_labels().of_row
        session.add(texts(NEW, OLD))
        left = {*before} - {*session.audit_rows}
        assert left and session.training_labels().of_row.keys() == left
        assert session.audit.answered == 50 - len(left)
    assert not problems_in(tmp_path / "p")


def test_it_does_not_matter_how_many_come_at_a_time(tmp_path: Path) -> None:
    whole = sample(tmp_path / "whole", 1, [texts(40, OLD)])
    assert sample(tmp_path / "parts", 1, [texts(1, OLD), texts(30, OLD + 1), texts(9, OLD + 31)]) == whole
    assert sample(tmp_path / "other", 2, [texts(40, OLD)]) != whole


def test_a_text_that_comes_with_a_label_is_no_audit_text(tmp_path: Path) -> None:
    found = sample(tmp_path / "p", 0, [texts(400, OLD, labels=True)])
    assert not [row for row in found if row >= OLD and (row - OLD) % 4 == 0]
    assert [row for row in found if row >= OLD]


def test_new_audit_texts_are_asked_and_train_nothing(tmp_path: Path) -> None:
    with create_labelling(tmp_path / "p", texts(OLD), audit=50, distinct=0) as session:
        assert session.add(texts(100, OLD)) == 100
        new = [row for row in session.audit_rows if row >= OLD]
        assert new and session.audit.planned == 50
        session.tell([Answer(f"t{row}", "a") for row in new])
        assert not session.training_labels().of_row and session.audit.answered == len(new)


@pytest.mark.parametrize("audit", [0, 50])
def test_without_a_sample_or_after_its_release_it_does_not_grow(tmp_path: Path, audit: int) -> None:
    with create_labelling(tmp_path / "p", texts(OLD), audit=audit, distinct=0) as session:
        if audit:
            session.release_audit()
        session.add(texts(200, OLD))
        assert len(session.audit_rows) == audit


def test_texts_of_a_killed_addition_have_no_audit_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with create_labelling(tmp_path / "p", texts(OLD), audit=50, distinct=0) as session:
        before = session.audit_rows

        def broken(count: int, known: object) -> object:
            def marks(first: int) -> object:
                raise RuntimeError("killed between the texts and their marks")

            return marks

        monkeypatch.setattr(session, "marks_of_more", broken)
        with pytest.raises(RuntimeError):
            session.add(texts(200, OLD))
        monkeypatch.undo()
        session.refresh()
        assert len(session.pool) == OLD and session.audit_rows == before
        session.add(texts(200, OLD))
        assert [row for row in session.audit_rows if row >= OLD]
    assert sample(tmp_path / "q", 0, [texts(200, OLD)]) == session.audit_rows
