"""A project for the labelling page: first texts at once, the audit sample, class changes, and what is told of texts."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import actune
from actune.core.dialogue import Answer, Question
from actune.core.pool import Pool, pool_of
from actune.core.task import Task
from actune.core.training_set import PseudoLabels, renamed_columns
from actune.errors import DataError, SettingError
from actune.session.labelling import create_labelling
from actune.session.repairing import repair
from actune.session.verifying import problems_in
from actune.store.store import Store

FAST = {"steps": 8, "epochs": 2, "samples": 3, "teacher_samples": 3, "teacher_rows": 20}
FAST |= {"regions": 5, "regions_used": 2}
Session = actune.Session


def bare(questions: Task, rows: int = 150, classes: tuple[str, ...] | None = None) -> Pool:
    pool = questions.pool
    return pool_of(pool.texts[:rows], ids=pool.ids[:rows], classes=classes if classes is not None else pool.classes)


def made(folder: Path, questions: Task, **options: Any) -> Session:
    words = {"initial": 12, "batch": 8, "changes": FAST, "method": "actune", "audit": 20, **options}
    classes = words.pop("classes", None)
    return create_labelling(folder, bare(questions, classes=classes), **words)


def truth(questions: Task, id: str) -> str:
    pool = questions.pool
    return pool.classes[pool.labels[pool.row_of[id]]]


def answer_all(session: Session, questions: Task, name: Callable[[str], str] = str) -> list[Question]:
    asked = session.ask()
    session.tell([Answer(question.id, name(truth(questions, question.id)), by="ann") for question in asked])
    return asked


@pytest.fixture(scope="module")
def advanced(tmp_path_factory: pytest.TempPathFactory, questions: Task) -> Session:
    """Two rounds of a project with regions and self-training; no test changes it."""
    session = made(tmp_path_factory.mktemp("p") / "p", questions)
    session.diversify()
    for _ in range(2):
        answer_all(session, questions)
        assert session.advance() is not None
    return session


WITHOUT_TORCH = """
import sys
from pathlib import Path
from types import SimpleNamespace
import actune
from actune.core.dialogue import Answer
from actune.session.labelling import create_labelling

folder = Path(sys.argv[1])
(folder / "texts.csv").write_text("text\\n" + "\\n".join(f"text number {row}" for row in range(500)))
with create_labelling(folder / "p", str(folder / "texts.csv")) as session:
    assert session.classes() == []
with actune.open_session(folder / "p") as session:
    first = session.ask("ann", n=5)
    session.declare_classes({"a": "the first", "b": ""}, "ann")
    session.tell([Answer(question.id, "a", by="ann", client=question.id) for question in first])
    session.draw(5)
    session.remark(first[0].id, note="odd", flag=True)
    session.queue([first[0].id])
    session.change_classes({"kind": "rename", "old": "b", "new": "c"})
    session.history(), session.remarks(), session.why(first[0].id), session.disagreements(), session.pseudo_labels()
    session.map_points(), session.progress_facts(), session.audit, session.audit_quality(), session.news()
assert not {"torch", "transformers", "pandas", "sklearn"} & set(sys.modules)
"""


def test_nothing_before_the_first_model_needs_torch(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH, str(tmp_path)], check=True)


def test_a_project_may_begin_without_classes(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions, classes=())
    first = session.ask()[0]
    with pytest.raises(DataError, match="no classes yet"):
        session.tell([Answer(first.id, "x")])
    session.tell([Answer(first.id, unsure=True)])
    with pytest.raises(DataError, match="at least two"):
        session.declare_classes(["x"])
    with pytest.raises(DataError, match="alike"):
        session.declare_classes(["x", "X "])
    session.declare_classes({"x": "marks the spot", "y": ""}, client="1")
    session.declare_classes({"x": "marks the spot", "y": ""}, client="1")  # sent again
    with pytest.raises(DataError, match="classes already"):
        session.declare_classes(["z", "w"])
    assert [(found.name, found.description) for found in session.classes()] == [("x", "marks the spot"), ("y", "")]
    again = actune.open_session(tmp_path / "p")
    again.tell([Answer(first.id, "y")])
    assert session.standing(first.id).label == "y" and not problems_in(tmp_path / "p")  # type: ignore[union-attr]


def test_only_projects_for_a_page_may_lack_classes(tmp_path: Path, questions: Task) -> None:
    with pytest.raises(DataError):
        actune.create(tmp_path / "p", bare(questions, classes=()))
    with pytest.raises(SettingError, match="test set"):
        actune.create(tmp_path / "p", questions, simulated=True, audit=10)


def test_random_texts_do_not_run_out_before_the_pool(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions)
    seen: list[str] = []
    while asked := session.ask():
        seen += [question.id for question in asked]
        session.tell([Answer(question.id) for question in asked])
        session.draw(25)
    assert len(seen) == len(set(seen)) and len(seen) >= 130 + 20 - 5  # what is left of the sample waits for a batch
    assert session.draw(5) == 0


# the audit sample


def test_the_audit_sample_is_asked_among_the_others_without_suggestions(advanced: Session) -> None:
    asked = advanced.ask()
    audit = {*advanced.audit.ids}
    assert [question.audit for question in asked] == [question.id in audit for question in asked]
    assert [question.audit for question in asked] == [False] * 4 + [True] + [False] * 4 + [True]
    assert all((question.suggestion is None) == question.audit for question in asked)
    assert all(advanced.suggestion(id) is None and advanced.why(id)["audit"] for id in audit)


@pytest.mark.parametrize("method", ["actune", "thrifty", "ust"])
def test_audit_rows_train_nothing_until_they_are_released(
    tmp_path: Path, questions: Task, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from actune.rounds import fitting

    learnt: list[set[int]] = []
    fit = fitting._train

    def spied(prepared: Any, training: Any, *words: Any) -> Any:
        learnt.append({*training.rows.tolist(), *training.pseudo_labels.rows.tolist()})
        return fit(prepared, training, *words)

    monkeypatch.setattr(fitting, "_train", spied)
    session = made(tmp_path / "p", questions, method=method)
    rows = {*session.audit_rows}
    assert len(rows) == 20
    for _ in range(3):
        session.draw(12)
        answer_all(session, questions)
        facts = session.advance()
        assert facts is not None and facts.quality.audit is not None
    answered = session.audit.answered
    assert answered == facts.quality.audit.count > 5 and len(learnt) >= 3
    assert not any(rows & each for each in learnt)
    assert not rows & {*session.newest_choice()[1].rows.tolist()}
    assert facts.labels == session.store.counts().labelled - answered
    assert not session.has_news()
    session.release_audit("ann")
    assert session.audit.released and session.has_news()
    facts = session.advance()
    assert facts is not None and facts.quality.audit is None and facts.labels == session.store.counts().labelled
    assert len(rows & learnt[-1]) >= answered and not session.has_news()


def test_answers_of_the_audit_sample_alone_train_no_model(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions)
    names = questions.pool.classes
    session.tell({id: names[place % 2] for place, id in enumerate(session.audit.ids)})
    assert not session.can_train(session.labels())
    session.release_audit()
    assert session.can_train(session.labels())


def test_a_project_without_a_sample_has_nothing_to_release(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions, audit=0)
    assert session.audit.ids == () and not any(question.audit for question in session.ask())
    with pytest.raises(DataError, match="no audit sample"):
        session.release_audit()


def test_the_quality_on_the_sample_is_what_the_model_says_about_it(advanced: Session, questions: Task) -> None:
    found = advanced.audit_quality()
    labels = advanced.labels_of(advanced.rounds()[-1])
    answered = advanced._audit_labels(advanced.training_labels())
    texts = {row: advanced.pool.texts[row] for row in answered}
    right = [
        prediction.label == advanced.pool.classes[answered[row]]
        for row, prediction in zip(texts, advanced.predict([*texts.values()]), strict=True)
    ]
    assert found is not None and found.count == len(answered) and found.accuracy.value == np.mean(right)
    assert found.macro_f1.low <= found.macro_f1.value <= found.macro_f1.high
    assert not labels.of_row.keys() & answered.keys()


def test_a_damaged_choice_is_made_again_the_same(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions)
    for _ in range(2):
        session.draw(12)
        answer_all(session, questions)
        session.advance()
    session.reject_pseudo([session.pool.ids[int(row)] for row in session.newest_choice()[1].rows[:1]])
    session.unreject_pseudo(session.rejected_pseudo())
    session.close()
    file = tmp_path / "p/arrays/select-002.safetensors"
    before = file.read_bytes()
    file.write_bytes(before[:-1] + b"x")
    assert problems_in(tmp_path / "p")
    assert not repair(tmp_path / "p").problems and file.read_bytes() == before


# rejected pseudo-labels


@pytest.mark.parametrize("method", ["actune", "ust"])
def test_a_rejected_pseudo_label_never_comes_back(tmp_path: Path, questions: Task, method: str) -> None:
    session = made(tmp_path / "p", questions, method=method)
    for _ in range(2):
        session.draw(12)
        answer_all(session, questions)
        session.advance()
    total = session.pseudo_labels().total
    ids = [row.id for row in session.pseudo_labels(limit=1000).rows[::2]]
    assert total and session.reject_pseudo(ids, "ann") == len(ids)
    assert session.pseudo_labels().total == total - len(ids) and {*session.rejected_pseudo()} == {*ids}
    answer_all(session, questions)
    facts = session.advance()
    assert facts is not None
    rows = {session.pool.row_of[id] for id in ids}
    assert not rows & {*session.newest_choice()[1].rows.tolist()} and session.newest_choice()[1].rows.size
    session.unreject_pseudo(ids, "ben")
    assert session.rejected_pseudo() == []


# changes of classes


def test_a_changed_class_counts_at_once_and_trains_the_next_round(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions)
    session.draw(20)
    answer_all(session, questions)
    session.advance()
    first, second = questions.pool.classes[:2]
    preview = session.preview({"kind": "merge", "old": first, "into": second})
    moved = sum(word.label == 0 for word in session.store.latest())
    assert preview.answers_moved == moved > 0 and session.classes()[0].name == first  # nothing happened yet
    assert session.change_classes({"kind": "merge", "old": first, "into": second}) == preview
    assert first not in {question.suggestion for question in session.ask()}
    assert first not in {row.label for row in session.pseudo_labels(limit=1000).rows}
    session.change_classes({"kind": "rename", "old": second, "new": "both"})
    session.change_classes({"kind": "add", "name": "new"})
    assert session.choose_more() > 0  # by the model of before, which knows no such class
    session.tell([Answer(question.id, "new", by="ben") for question in session.ask()[:3]])
    names = {first: "both", second: "both"}
    answer_all(session, questions, lambda name: names.get(name, name))
    facts = session.advance()
    assert facts is not None and len(facts.class_counts) == 7
    assert facts.class_counts[0] == 0 and facts.class_counts[1] > moved
    seen = session._arrays(session.selected - 1)["seen_classes"]
    assert 0 not in seen and 0 not in session.newest_choice()[1].targets
    assert session.undo_classes() is not None and session.undo_classes() is not None
    assert session.classes()[0].name == second
    assert not problems_in(tmp_path / "p")
    assert session.advance() is not None


def test_a_change_of_the_classes_right_after_a_round_is_news(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions, method="random", audit=0)
    session.draw(30)
    answer_all(session, questions)
    session.advance()
    assert not session.has_news()
    session.change_classes({"kind": "rename", "old": "human", "new": "person"})
    session.change_classes({"kind": "add", "name": "nothing yet"})
    assert not session.has_news()
    session.change_classes({"kind": "merge", "old": "person", "into": "entity"})
    assert session.has_news()
    session.advance()
    assert not session.has_news()
    session.undo_classes()
    assert session.has_news()


def test_a_retired_class_gives_its_texts_back(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions, classes=("a", "b", "c"))
    ids = [question.id for question in session.ask()]
    session.tell({id: "abc"[place % 3] for place, id in enumerate(ids)})
    before = session.labels()
    preview = session.change_classes({"kind": "retire", "name": "c"}, "ann", "x")
    assert preview.texts_reopened == len(ids) // 3 and "lose their answer" in preview.sentence
    assert {question.id for question in session.ask()} == {*ids[2::3]}
    with pytest.raises(DataError, match="'c' is retired"):
        session.tell({ids[0]: "c"})
    assert session.change_classes({"kind": "retire", "name": "c"}, "ann", "x").answers_moved == 0  # sent again
    assert session.change_classes({"kind": "restore", "name": "c"}).sentence == f"{len(ids) // 3} answers count again."
    assert session.labels() == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "ad"}, "unknown change.*'ad'"),
        ({"kind": "rename", "old": "a"}, "needs 'new'"),
        ({"kind": "merge", "old": "a", "into": "a"}, "into itself"),
        ({"kind": "add", "name": "a"}, "already a class 'a'"),
        ({"kind": "split", "old": "a", "into": ["a"]}, "only into other classes"),
        ({"kind": "retire", "name": "d"}, "unknown label 'd'"),
        (["add"], "is a mapping"),
    ],
)
def test_a_wrong_change_is_a_sentence(tmp_path: Path, questions: Task, change: Any, words: str) -> None:
    session = made(tmp_path / "p", questions, classes=("a", "b", "c"))
    for verb in (session.preview, session.change_classes):
        with pytest.raises(DataError, match=words):
            verb(change)
    assert session.undo_classes() is None and [found.name for found in session.classes()] == ["a", "b", "c"]


# what stands on texts


def test_history_tells_what_stood_before_so_that_undo_is_an_answer(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions, classes=("a", "b"))
    one, other = (question.id for question in session.ask()[:2])
    session.tell([Answer(one, "a", by="ann"), Answer(other, by="ben"), Answer(one, "b", by="ben", seconds=2.5)])
    newest = session.history()[0]
    assert (newest.id, newest.label, newest.by, newest.seconds) == (one, "b", "ben", 2.5)
    assert newest.before is not None and (newest.before.kind, newest.before.label) == ("label", "a")
    session.tell([Answer(one, newest.before.label, by="ben")])
    assert session.standing(one).label == "a"  # type: ignore[union-attr]
    assert [row.number for row in session.history(limit=2)] == [4, 3]
    assert [row.number for row in session.history(before=3)] == [2, 1]
    assert [row.number for row in session.history(by="ben", label="b")] == [3]
    word = session.pool.texts[session.pool.row_of[other]].split()[-2].upper()
    assert 2 in [row.number for row in session.history(search=word)] and not session.history(search="no such words")
    assert [(found.by, found.label) for found in session.words(one)] == [("ann", "a"), ("ben", "a")]


def test_remarks_are_kept_and_taken_back(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions)
    one, other = (question.id for question in session.ask()[:2])
    session.remark(one, note="<b>odd</b>", by="ann", client="1")
    session.remark(one, note="sent again", by="ann", client="1")
    session.remark(other, flag=True, by="ben")
    assert [(r.id, r.note, r.flag, r.by) for r in session.remarks()] == [
        (one, "<b>odd</b>", False, "ann"),
        (other, None, True, "ben"),
    ]
    session.remark(one, note="", by="ann")
    session.remark(other, flag=False, by="ben")
    assert session.remarks([one, other]) == []
    with pytest.raises(DataError, match="at most"):
        session.remark(one, note="x" * 10_001)


def test_an_answer_has_one_meaning(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions, classes=("a", "b"))
    id = session.ask()[0].id
    for wrong in (Answer(id, "a", clear=True), Answer(id, clear=True, unsure=True), Answer(id, "a", unskip=True)):
        with pytest.raises(DataError, match=" and "):
            session.tell([wrong])
    assert session.labels().last_answer == 0


def test_why_and_the_map_tell_what_the_choice_saw(advanced: Session, questions: Task) -> None:
    question = next(question for question in advanced.ask() if not question.audit)
    found = advanced.why(question.id)
    asked = found["asked"]
    assert asked["top"][0]["label"] == question.suggestion
    assert asked["top"][0]["confidence"] == pytest.approx(question.confidence, abs=1e-5)
    assert found["predictions"][0]["label"] == question.suggestion and len(found["predictions"]) == 2
    assert 1 <= asked["region"]["rank"] <= asked["region"]["of"] == 5
    near = asked["neighbours"]
    assert len(near) == 5 and [each["label"] for each in near] == [truth(questions, each["id"]) for each in near]
    assert sorted((each["similarity"] for each in near), reverse=True) == [each["similarity"] for each in near]
    points = advanced.map_points()
    assert (
        points is not None
        and {point.id for point in points.points if point.asked}
        == {question.id for question in advanced.ask()} - {*advanced.audit.ids}
        and len(points.heat) == 5
    )


def test_the_map_says_how_sure_the_model_is_and_pseudo_labels_are_found_by_id(advanced: Session) -> None:
    found = advanced.map_points()
    assert found is not None and any(point.confidence for point in found.points)
    for point in found.points:
        seen = advanced.suggestion(point.id)
        assert (point.predicted, point.confidence) == ((seen.label, seen.confidence) if seen else (None, None))
    page = advanced.pseudo_labels(limit=1000)
    assert page.rows
    every = advanced.pseudo_labels_on(advanced.pool.ids)
    assert every == {row.id: row.label for row in page.rows}
    assert advanced.pseudo_labels_on([page.rows[0].id]) == {page.rows[0].id: page.rows[0].label}


def test_disagreements_are_the_surest_slips(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions, method="entropy", changes={**FAST, "steps": 60})
    session.draw(60)
    answer_all(session, questions)
    session.advance()
    found = session.disagreements()
    assert all(each.label != each.predicted for each in found)
    assert [each.confidence for each in found] == sorted((each.confidence for each in found), reverse=True)
    sure = next(row for row in session.labels().of_row if row not in session.audit_rows)
    id, before = session.pool.ids[sure], session.suggestion(session.pool.ids[sure])
    assert before is not None
    other = next(name for name in session.pool.classes if name != before.label)
    session.tell([Answer(id, other, by="slip")])
    assert (id, other, before.label) in [(each.id, each.label, each.predicted) for each in session.disagreements()]
    first, *others = session.disagreements()
    assert session.disagreements(len(others), hidden={session.pool.row_of[first.id]}) == others


# answers survive anything

TELLING = """
import sys
import actune
from actune.core.dialogue import Answer
with actune.open_session(sys.argv[1]) as session:
    for number in range(int(sys.argv[2]), 10**6):
        id = session.pool.ids[number % len(session.pool)]
        session.tell([Answer(id, "ab"[number % 2], by="ann", client=str(number))])
        print(number, flush=True)
"""


def test_every_acknowledged_answer_is_there_once_and_in_order_after_kills(tmp_path: Path, questions: Task) -> None:
    made(tmp_path / "p", questions, classes=("a", "b")).close()
    acknowledged = -1
    for kill in range(4):
        words = [sys.executable, "-c", TELLING, str(tmp_path / "p"), str(max(0, acknowledged - 2))]  # some come again
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05 + 0.07 * kill)
        process.send_signal(signal.SIGKILL)
        acknowledged = max([acknowledged, *map(int, process.stdout.read().split())])
        process.wait()
    with Store.reading(tmp_path / "p") as store, store.connection() as connection:
        clients = [int(client) for (client,) in connection.execute("SELECT client FROM answers ORDER BY number")]
    assert acknowledged > 5 and clients == list(range(len(clients))) and len(clients) >= acknowledged + 1
    assert not problems_in(tmp_path / "p")


def test_answers_in_any_order_and_chunks_give_one_state(tmp_path: Path, questions: Task) -> None:
    found = []
    for number in range(3):
        session = made(tmp_path / str(number), questions, seed=5)
        asked = session.ask()
        answers = [Answer(q.id, truth(questions, q.id), by="ann", client=q.id) for q in asked]
        answers[3] = Answer(asked[3].id, unsure=True, by="ann", client="unsure")
        order = np.random.default_rng(number).permutation(len(answers)).tolist()
        for place in order:
            session.tell([answers[place], answers[order[0]]])
        facts = session.advance()
        assert facts is not None
        labels = session.labels()
        found.append((labels.of_row, labels.skipped, facts.quality, facts.class_counts, session.ask()))
    assert found[0] == found[1] == found[2]


def test_people_who_are_faster_than_a_round_get_the_texts_that_the_model_is_unsure_of(
    tmp_path: Path, questions: Task
) -> None:
    session = made(tmp_path / "p", questions)
    assert session.draw_unsure(5) == 0  # there is no model yet
    answered = {question.id for question in answer_all(session, questions)}
    session.advance()
    answered |= {question.id for question in answer_all(session, questions)}
    assert session.ask() == [] and session.draw_unsure(8) >= 8
    more = session.ask()
    assert not {question.id for question in more} & answered
    sure = [question.confidence for question in more if not question.audit]
    assert sure == sorted(sure) and all(question.suggestion for question in more if not question.audit)
    assert session.advance() is not None and problems_in(tmp_path / "p") == []


def test_two_who_draw_at_once_add_no_text_twice(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions)
    with ThreadPoolExecutor(4) as threads:
        added = sum(threads.map(lambda _: session.draw(6), range(8)))
    asked = [question.id for question in session.ask()]
    assert len(asked) == len(set(asked)) == 12 + added


def test_what_models_said_of_a_class_that_is_gone_is_said_of_another_or_of_none(
    tmp_path: Path, questions: Task
) -> None:
    session = made(tmp_path / "p", questions, method="entropy", batch=30, changes=FAST | {"epochs": 10})
    session.draw(30)
    answer_all(session, questions)
    session.advance()
    before = {question.id: question.suggestion for question in session.ask() if not question.audit}
    gone, other, *_ = sorted({*before.values()}, key=lambda name: -list(before.values()).count(name or ""))
    assert gone and other
    session.change_classes({"kind": "merge", "old": gone, "into": other})
    after = {question.id: question.suggestion for question in session.ask() if not question.audit}
    assert after == {id: other if name == gone else name for id, name in before.items()}
    session.undo_classes()
    session.change_classes({"kind": "retire", "name": gone})
    after = {q.id: q.suggestion for q in session.ask() if not q.audit and q.id in before}
    assert after == {id: None if name == gone else name for id, name in before.items()}
    assert all(session.suggestion(id) is None for id, name in before.items() if name == gone)


def test_a_model_is_read_with_the_classes_of_now() -> None:
    """Its own probabilities are 0.6, 0.3 and 0.1; the first class is gone, and a fourth one is newer than the model."""
    import torch

    from actune.core.classifier import Readout
    from actune.rounds.outputs import readable

    prepared: Any = SimpleNamespace(
        task=SimpleNamespace(pool=SimpleNamespace(classes=("gone", "b", "c", "new"))), gone=frozenset({0})
    )
    readout = Readout(torch.tensor([[0.6, 0.3, 0.1]]).log(), torch.zeros(1, 2))
    found = readable(prepared, readout).log_proba.exp()
    torch.testing.assert_close(found, torch.tensor([[0.0, 0.75, 0.25, 0.0]]))
    same: Any = SimpleNamespace(task=SimpleNamespace(pool=SimpleNamespace(classes="abc")), gone=frozenset())
    assert readable(same, readout) is readout


def test_remembered_predictions_move_with_a_merge_and_rows_never_seen_stay_unseen() -> None:
    memory = np.array([[0.5, 0.3, 0.2], [np.nan] * 3])
    found = renamed_columns(memory, {0: 1, 1: 1, 2: None}.__getitem__, 4)
    np.testing.assert_allclose(found, [[0, 0.8, 0, 0], [np.nan] * 4])


def test_pseudo_labels_of_a_class_that_is_gone_count_for_another_or_not_at_all(tmp_path: Path, questions: Task) -> None:
    session = made(tmp_path / "p", questions, classes=("a", "b", "c"))
    proba = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], np.float32)
    found = PseudoLabels(np.array([3, 5, 7]), np.array([0, 1, 2]), np.ones(3, np.float32), proba)
    assert session.usable(found) is found
    session.change_classes({"kind": "merge", "old": "a", "into": "b"})
    session.change_classes({"kind": "retire", "name": "c"})
    session.change_classes({"kind": "add", "name": "d"})
    now = session.usable(found)
    assert (now.rows.tolist(), now.targets.tolist()) == ([3, 5], [1, 1])
    np.testing.assert_allclose(now.proba, [[0, 0.9, 0, 0], [0, 0.9, 0, 0]], rtol=1e-6)
    assert session.prepared.gone == {0, 2} and session.prepared.task.pool.classes == ("a", "b", "c", "d")
    session.reject_pseudo([session.pool.ids[5]])
    assert session.usable(found).rows.tolist() == [3]
