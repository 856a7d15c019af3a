"""A dozen real texts: chosen by what they tell, shortened, and told as words."""

from __future__ import annotations

import shutil

import numpy as np

import actune
from actune.report.classes import on_test
from actune.report.examples import A_DOZEN, LONGEST, asked_next, disputed, examples_of, surely_wrong
from actune.report.page import render


def test_the_surest_mistakes_come_first(opened):
    session = opened["actune"]
    result = on_test(session)
    found = surely_wrong(session, result)
    wrong = result.predicted != result.truth
    assert [text.confidence for text in found.texts] == sorted(result.confidence[wrong].tolist(), reverse=True)[:12]
    assert all(text.says != text.is_ for text in found.texts)
    assert f"{wrong.sum()} of 500 test texts are wrong" in found.note


def test_disputed_answers_and_open_questions_of_a_person(opened):
    session = opened["project"]
    questions = session.store.questions()
    labels = session.labels().of_row
    suggested = [each for each in questions if each.suggestion is not None]
    differing = [each for each in suggested if each.row in labels and labels[each.row] != each.suggestion]
    found = disputed(session)
    assert (found is None) == (not differing)
    if found:
        assert len(found.texts) == min(len(differing), A_DOZEN)
    following = asked_next(session)
    assert [text.id for text in following.texts] == [question.id for question in session.ask()]
    assert all(text.says in session.pool.classes and text.is_ is None for text in following.texts)


def test_there_are_a_dozen_in_all(opened):
    for name in ("actune", "project", "begun"):
        session = opened[name]
        found = examples_of(session, on_test(session))
        assert 0 < sum(len(kind.texts) for kind in found) <= A_DOZEN


def test_a_folder_without_confidences_has_a_page_all_the_same(copied):
    session = copied("actune")
    name = f"fit-{session.rounds()[-1].round:03d}"
    arrays = session.store.load_arrays(name)
    del arrays["test_confidence"]
    session.store.save_arrays(name, arrays)
    page = render([session])
    assert "Classes on the test set" in page and "Sure and wrong" not in page
    shutil.rmtree(session.store.folder / "arrays")
    (session.store.folder / "arrays").mkdir()
    assert "Classes on the test set" not in render([session])


def test_long_texts_are_shortened_and_markup_stays_text(tmp_path):
    texts = ["<b>bold</b> " + "word " * 5000, *(f"text {number}" for number in range(9))]
    with actune.create(
        tmp_path / "long", actune.pool_of(texts, classes=["a", "b"]), learner="probe", initial=10
    ) as one:
        (longest,) = [text for text in asked_next(one).texts if "bold" in text.text]
        assert len(longest.text) == LONGEST and longest.text.endswith("…")
        page = render([one])
        assert "&lt;b&gt;bold" in page and "<b>bold" not in page


def test_confidences_are_kept_beside_the_predictions(opened):
    arrays = opened["random"].store.load_arrays("fit-000")
    assert arrays["test_predictions"].dtype == np.int16 and arrays["test_confidence"].dtype == np.float32
