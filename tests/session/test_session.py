"""The loop: ask, tell and advance in any order that people and processes may come up with."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pytest

import actune
from actune.annotators.oracle import Oracle
from actune.core.dialogue import Answer
from actune.core.pool import pool_of
from actune.core.streams import Streams
from actune.errors import Busy, DataError, SettingError
from actune.rounds.outputs import view_of
from actune.session.runner import result, run

pytestmark = pytest.mark.usefixtures("database")
SMALL = {"method": "actune", "learner": "probe", "initial": 20, "batch": 10, "rounds": 3, "simulated": True}
FAST = {"steps": 40, "epochs": 4}


def truth(task, ids):
    pool = task.pool
    return {id: pool.classes[pool.labels[pool.row_of[id]]] for id in ids}


@pytest.fixture
def project(tmp_path, questions):
    """A person's project on questions without labels, its first batch answered."""
    bare = pool_of(questions.pool.texts, ids=questions.pool.ids, classes=questions.pool.classes)
    plan = {"learner": "probe", "batch": 10, "initial": 20, "changes": FAST}
    session = actune.create(tmp_path / "project", bare, method="actune", **plan)
    session.tell(truth(questions, [question.id for question in session.ask()]))
    return session


def test_a_run_asks_what_it_planned(tmp_path, questions):
    session = actune.create(tmp_path / "run", questions, changes=FAST, **SMALL)
    run(session, Oracle(questions.pool))
    facts = result(session)
    assert facts["labels"] == [20, 30, 40]
    assert [len(ids) for ids in facts["asked"]] == [20, 10, 10]
    assert len({id for ids in facts["asked"] for id in ids}) == 40
    assert facts["pseudo_label_accuracy"][0] is None and facts["pseudo_labels"][0] == 0
    assert all(0 <= value <= 1 for value in facts["accuracy"])
    assert session.done and session.selected == session.fitted == 3
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert f"| 40 | {facts['accuracy'][-1]:.4f} |" in card  # the model's own round is in its card


def test_asked_and_trusted_never_meet(tmp_path, questions):
    session = actune.create(tmp_path / "run", questions, changes=FAST, **SMALL)
    run(session, Oracle(questions.pool))
    for round in (1, 2):
        trusted = set(session.store.load_arrays(f"select-{round:03d}")["pseudo_rows"].tolist())
        asked = {question.row for question in session.store.questions() if question.round <= round}
        assert trusted and not trusted & asked


def test_a_longer_run_continues_as_if_it_had_been_planned(tmp_path, questions):
    """With the horizon kept, 2 rounds and then 2 more are the 4 rounds of one run."""
    plan = SMALL | {"rounds": 2}
    first = actune.create(tmp_path / "a", questions, changes=FAST, **plan)
    run(first, Oracle(questions.pool))
    again = actune.open_session(tmp_path / "a")
    again.reconfigure(again.config.extended_to(4))
    run(again, Oracle(questions.pool))
    whole = actune.create(tmp_path / "b", questions, changes=FAST, **(SMALL | {"rounds": 4}))
    shorter = whole.config.resolved.__class__(**(asdict(whole.config.resolved) | {"horizon": 2}))
    whole.reconfigure(whole.config.__class__(**(vars(whole.config) | {"resolved": shorter})))
    run(whole, Oracle(questions.pool))
    assert again.config.resolved.horizon == 2 and again.fitted == 4
    same = ("labels", "accuracy", "macro_f1", "asked", "pseudo_labels")
    assert {name: result(again)[name] for name in same} == {name: result(whole)[name] for name in same}


def test_unanswered_questions_are_withdrawn_and_a_late_answer_counts(project, questions):
    project.advance()
    asked = [question.id for question in project.ask()]
    assert len(asked) == 10
    project.tell(truth(questions, asked[:6]))
    project.advance()
    assert not set(asked[:6]) & {question.id for question in project.ask()}
    before = len(project.labels().of_row)
    assert project.tell(truth(questions, asked[6:7])).new == 1
    assert len(project.labels().of_row) == before + 1
    assert asked[6] not in {question.id for question in project.ask()}


def test_withdrawn_rows_are_candidates_again(project):
    """Nobody answers: the next choice may hold the same rows, and the labels do not grow."""
    labels = project.labels()
    project.advance()
    withdrawn = {project.pool.row_of[question.id] for question in project.ask()}
    project.advance()
    assert project.labels() == labels
    view = view_of(project.prepared, None, labels, Streams(0))
    assert withdrawn and withdrawn <= set(view.unlabelled.tolist())


def test_a_skipped_row_is_neither_asked_nor_trusted(project):
    project.advance()
    skipped = [question.id for question in project.ask()]
    trusted = project.store.load_arrays("select-001")["pseudo_rows"].tolist()
    also = [project.pool.ids[row] for row in trusted[:20]]
    project.tell([Answer(id) for id in skipped + also])
    assert project.ask() == []
    project.advance()
    rows = {project.pool.row_of[id] for id in skipped + also}
    assert project.rounds()[-1].pseudo_labels.trained_on == len(set(trusted) - rows)
    assert not rows & {project.pool.row_of[question.id] for question in project.ask()}
    assert not rows & set(project.store.load_arrays("select-002")["pseudo_rows"].tolist())
    project.tell([Answer(id, unskip=True) for id in skipped])
    assert project.labels().skipped == {project.pool.row_of[id] for id in also}


def test_what_is_neither_labelled_nor_skipped_may_be_chosen(project):
    project.tell([Answer(id) for id in project.pool.ids[::50]])
    labels = project.labels()
    taken = {*labels.of_row, *labels.skipped}
    assert labels.of_row and labels.skipped
    view = view_of(project.prepared, None, labels, Streams(0))
    assert view.unlabelled.tolist() == [row for row in range(len(project.pool)) if row not in taken]


def test_repeats_are_harmless_and_changes_are_told(project):
    id, label = next(iter(truth_of_first(project).items()))
    other = next(name for name in project.pool.classes if name != label)
    count = len(project.store.answers())
    told = project.tell({id: label})
    assert (told.new, told.repeated) == (0, 1) and len(project.store.answers()) == count
    told = project.tell({id: other})
    assert told.changed == (id,) and told.new == 0
    assert project.labels().of_row[project.pool.row_of[id]] == project.pool.classes.index(other)
    assert len(project.store.answers()) == count + 1  # the log only grows


def truth_of_first(project):
    row, label = next(iter(project.labels().of_row.items()))
    return {project.pool.ids[row]: project.pool.classes[label]}


def test_unknown_ids_and_labels_change_nothing(project):
    count = len(project.store.answers())
    with pytest.raises(DataError, match="no text with the id 'nowhere'"):
        project.tell({project.pool.ids[0]: "human", "nowhere": "human"})
    with pytest.raises(DataError, match="did you mean 'numeric'"):
        project.tell({project.pool.ids[0]: "human", project.pool.ids[1]: "numerc"})
    assert len(project.store.answers()) == count


def test_answers_in_any_order_and_chunk_give_one_state(tmp_path, questions):
    """The order and the packets of the same answers decide nothing: the next questions and numbers are equal."""
    outcomes = []
    for name, order, size in (("a", 1, 20), ("b", -1, 3)):
        session = actune.create(tmp_path / name, questions, changes=FAST, **SMALL)
        answers = list(truth(questions, [question.id for question in session.ask()]).items())[::order]
        for start in range(0, len(answers), size):
            session.tell(dict(answers[start : start + size]))
        facts = session.advance()
        outcomes.append((facts.accuracy, [q.id for q in session.ask()], session.memory(1).tobytes()))
    assert outcomes[0] == outcomes[1]


def test_added_texts_keep_old_rows_and_enter_the_next_round(project, questions):
    project.advance()
    more = pool_of(
        ["what is the highest mountain of asia ?", "who painted guernica ?"],
        labels=["location", None],
        ids=["new-1", "new-2"],
        classes=project.pool.classes,
    )
    before = project.pool.ids
    project.add(more)
    opened = actune.open_session(project.store.folder)
    assert opened.pool.ids == (*before, "new-1", "new-2")
    assert opened.labels().of_row[len(before)] == opened.pool.classes.index("location")
    opened.advance()
    memory = opened.memory(2)
    assert memory.shape == (302, 6) and np.isfinite(memory).all()
    with pytest.raises(DataError, match="already in the pool"):
        opened.add(more)


def test_two_sessions_that_add_at_once_label_their_own_texts(project):
    first, second = (actune.open_session(project.store.folder) for _ in range(2))
    classes, count = project.pool.classes, len(project.pool)
    first.add(pool_of(["who wrote faust ?", "where is fuji ?"], ["human", "location"], ["a", "b"], classes))
    second.add(pool_of(["what is an atom ?", "how many moons has mars ?"], [None, "numeric"], ["c", "d"], classes))
    opened = actune.open_session(project.store.folder)
    assert second.pool.ids == opened.pool.ids and second.pool.texts == opened.pool.texts
    assert opened.pool.ids[count:] == ("a", "b", "c", "d")
    given = {id: opened.labels().of_row.get(opened.pool.row_of[id]) for id in "abcd"}
    assert given == {"a": 2, "b": 4, "c": None, "d": 5}
    assert [classes[number] for number in (2, 4, 5)] == ["human", "location", "numeric"]


def test_an_id_that_another_session_has_added_is_one_sentence(project):
    first, second = (actune.open_session(project.store.folder) for _ in range(2))
    more = pool_of(["who wrote faust ?"], ["human"], ["a"], project.pool.classes)
    first.add(more)
    answers = second.store.answers()
    with pytest.raises(DataError, match=r"1 of the new ids are already in the pool \(the first is 'a'"):
        second.add(more)
    assert second.store.answers() == answers and len(second.pool) == len(project.pool)


def test_a_second_advance_is_refused_and_tell_is_safe_meanwhile(project, questions):
    folder = project.store.folder
    program = (
        "import sys, actune; s = actune.open_session(sys.argv[1])\n"
        "with s.store.advancing():\n    print('locked', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline().strip() == "locked"
        with pytest.raises(Busy, match="another process is advancing"):
            project.advance()
        free = next(id for row, id in enumerate(project.pool.ids) if row not in project.labels().of_row)
        assert project.tell(truth(questions, [free])).new == 1
    finally:
        holder.kill()
        holder.wait()
    project.advance()  # a killed holder leaves no lock behind


def test_advance_needs_answers_of_two_classes(tmp_path, questions):
    bare = pool_of(questions.pool.texts, ids=questions.pool.ids, classes=questions.pool.classes)
    session = actune.create(tmp_path / "p", bare, learner="probe", batch=5, initial=8, changes=FAST)
    with pytest.raises(DataError, match=r"there are no answers yet: .* some of the 8 open questions"):
        session.advance()
    session.tell({question.id: "human" for question in session.ask()[:5]})
    with pytest.raises(DataError, match=r"all 5 answers are 'human': .* some of the 3 open questions"):
        session.advance()
    assert session.fitted == 0


def test_the_pool_may_run_dry(tmp_path, questions):
    """A person who labels everything ends with no question, not with an error."""
    small = questions.pool.only(range(30))
    bare = pool_of(small.texts, ids=small.ids, classes=small.classes)
    session = actune.create(tmp_path / "p", bare, learner="probe", batch=20, initial=20, changes=FAST)
    for expected in (20, 10, 0):
        asked = [question.id for question in session.ask()]
        assert len(asked) == expected
        session.tell(truth(questions, asked))
        session.advance()
    assert session.ask() == []


def test_labels_in_the_file_are_the_first_answers(tmp_path, questions):
    names = [questions.pool.classes[label] if row < 30 else None for row, label in enumerate(questions.pool.labels)]
    partly = pool_of(questions.pool.texts, names, questions.pool.ids, questions.pool.classes)
    session = actune.create(tmp_path / "p", partly, learner="probe", batch=10, changes=FAST)
    assert session.ask() == [] and len(session.labels().of_row) == 30
    session.advance()
    first = session.ask()
    assert len(first) == 10 and all(question.suggestion in session.pool.classes for question in first)
    assert all(0 < question.confidence <= 1 for question in first)


def test_predict_and_save(project, tmp_path):
    with pytest.raises(DataError, match="no model yet"):
        project.predict(["who ?"])
    project.advance()
    assert project.predict([]) == []
    (prediction,) = project.predict(["how many miles is it to the moon ?"])
    assert set(prediction.probabilities) == set(project.pool.classes)
    assert sum(prediction.probabilities.values()) == pytest.approx(1, abs=1e-5)
    assert prediction.label == max(prediction.probabilities, key=prediction.probabilities.get)
    assert (project.save(tmp_path / "kept") / "head.safetensors").is_file()
    card = (tmp_path / "kept" / "README.md").read_text()
    assert "library_name: transformers" in card and "on 20 labelled texts of a pool of 300" in card
    with pytest.raises(DataError, match="already exists"):
        project.save(tmp_path / "kept")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"method": "entropi"}, "did you mean 'entropy'"),
        ({"learner": "prob"}, "did you mean 'probe'"),
        ({"model": "minilmm"}, "did you mean 'minilm'"),
        ({"preset": "papers"}, "did you mean 'paper'"),
        ({"changes": {"gama": 1}}, "did you mean 'gamma'"),
        ({"changes": {"beta": "high"}}, "'beta' takes a number"),
        ({"changes": {"threshold": 2}}, "between 0 and 1"),
        ({"initial": 3}, "3 initial labels are too few for 6 classes"),
        ({"rounds": 100}, "the plan asks for 1,010 labels, but the pool has 300 texts"),
        ({"noise": 1.5}, "at least 0 and below 1"),
    ],
)
def test_impossible_requests_write_nothing(tmp_path, questions, words, sentence):
    with pytest.raises((SettingError, DataError, actune.errors.UserError), match=sentence):
        actune.create(tmp_path / "run", questions, **(SMALL | words))
    assert not (tmp_path / "run").exists()


def test_paper_symbols_name_settings(tmp_path, questions):
    changes = {"K": 7, "M": 2, "gamma": 0.5, "lambda": 0.3, "m_L": 0.6, "m_H": 0.7, "k": 33}
    settings = actune.create(tmp_path / "run", questions, changes=changes, **SMALL).config.settings
    assert (settings.regions, settings.regions_used, settings.threshold, settings.weight) == (7, 2, 0.5, 0.3)
    assert (settings.momentum_low, settings.momentum_high, settings.growth) == (0.6, 0.7, 33)


def test_the_initial_set_is_shared_by_all_methods_and_holds_every_class(tmp_path, questions):
    firsts = []
    for method in ("random", "entropy", "actune-cal"):
        session = actune.create(tmp_path / method, questions, **(SMALL | {"method": method}))
        firsts.append([question.id for question in session.ask()])
    assert firsts[0] == firsts[1] == firsts[2]
    assert set(truth(questions, firsts[0]).values()) == set(questions.pool.classes)


def test_a_noisy_oracle_is_wrong_as_often_as_told(trec):
    oracle = Oracle(trec.pool, noise=0.3, seed=1)
    oracle.send([actune.Question(id, "", 0) for id in trec.pool.ids[:1000]])
    answers = oracle.collect()
    wrong = sum(
        answer.label != label for answer, label in zip(answers, truth(trec, trec.pool.ids[:1000]).values(), strict=True)
    )
    assert 250 < wrong < 350
    oracle.send([actune.Question(trec.pool.ids[5], "", 0)])
    assert oracle.collect()[0].label == answers[5].label


def test_texts_may_be_added_and_predicted_from_frames(project):
    import pandas as pd

    before = len(project.pool)
    frame = pd.DataFrame({"text": ["who painted guernica ?", "how many legs has a fly ?"], "label": [None, "numeric"]})
    assert project.add(frame) == 2 and len(project.pool) == before + 2
    assert project.labels().of_row[before + 1] == project.pool.classes.index("numeric")
    project.advance()
    expected = project.predict(frame.text.tolist())
    assert project.predict(frame) == project.predict(frame.text) == project.predict(tuple(frame.text)) == expected
    assert project.predict([]) == []
