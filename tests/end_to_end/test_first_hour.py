"""The first hour of a person with actune, as real commands on real files: no dead end, and nothing is lost."""

from __future__ import annotations

import json
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

import actune
from actune.core.task import Task
from actune.store.store import FILE
from tests.end_to_end.person import Person

TOPICS = ("refund", "delivery", "praise")
LONG = "the parcel is late and " * 4348  # 100,004 characters
QUICK = ["--learner", "probe", "--set", "epochs=5", "--set", "steps=60"]


def topic(text: str) -> str:
    """What this person would say about a text."""
    if "parcel" in text or "Paket" in text:
        return "delivery"
    return "refund" if "money" in text or "Geld" in text else "praise"


def complaint(number: int) -> str:
    subject = ("Wo bleibt mein Paket", "Ich möchte mein Geld zurück", "Sehr schön, vielen Dank")[number % 3]
    return f"{subject}, Größe {number} ?"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def write_messy(person: Person) -> None:
    """Semicolons, cp1252, a quoted line end, odd columns, empty rows, a very long cell, labels in another case."""
    rows = [
        "Nr;Was schreibt der Kunde ?;Thema (intern);",
        '0007;"Wer zahlt die ""Gebühr"",\r\nund wann kommt mein Geld ?"; REFUND ;',
        "0008;;;",
        "0009;   ;praise;",
        f"0010;{LONG};Delivery;",
        *(f"{number:04};{complaint(number)};;" for number in range(11, 60)),
        ";;;",
        "",
        "",
    ]
    (person.folder / "kunden.csv").write_bytes("\r\n".join(rows).encode("cp1252"))


def test_labelling_a_messy_file(person: Person) -> None:
    write_messy(person)
    start = ["start", "kunden.csv", "--labels", ",".join(TOPICS), *QUICK, "--initial", 8, "--batch", 6, "--out", "shop"]
    said = person.does(*start, code=2).error
    assert "kunden.csv is not UTF-8" in said and "--encoding cp1252" in said and "Gebühr" in said
    start += ["--encoding", "cp1252"]
    said = person.does(*start, code=2).error
    assert "no column 'text'" in said and "--text" in said and "Was schreibt der Kunde ?" in said
    columns = ["--text", "Was schreibt der Kunde ?", "--label", "Thema (intern)", "--id", "Nr"]
    assert not (person.folder / "shop").exists()
    started = person.does(*start, *columns)
    assert "3 rows without a text were skipped: lines 4, 5, 56" in started.err
    assert "2 labels were matched" in started.err
    assert "shop: 51 texts, 2 labels, 8 questions" in started.err
    assert started.next == "ask shop --to batch.csv"

    # a workbook goes out and comes back: one label is forgotten, one is a skip, one is wrong, one id is unknown
    asked = person.does("ask", "shop", "--to", "batch.xlsx")
    assert asked.next == "tell shop batch.xlsx"
    special = {0: None, 1: "skip", 2: "refnd"}
    ids = person.fills("batch.xlsx", lambda row, text: special.get(row, f" {topic(text).upper()} "))
    assert all(len(id) == 4 for id in ids)  # a spreadsheet does not turn 0011 into a number
    book = openpyxl.load_workbook(person.folder / "batch.xlsx")
    assert book.active is not None
    book.active.append(["4711", "a text of somebody else", "praise"])
    book.save(person.folder / "batch.xlsx")
    told = person.does("tell", "shop", "batch.xlsx", code=2)
    lines = told.err.splitlines()
    assert f"not saved: row 4: id '{ids[2]}' has the unknown label 'refnd' (did you mean 'refund'?)" in lines
    assert "not saved: row 10: this project has no text with the id '4711'" in lines
    assert "5 new labels, 1 skipped, 0 unchanged, 1 empty" in lines
    assert lines[-1].startswith("actune: 2 answers not saved, all others are")
    assert person.knows("status", "shop")["labels"] == 2 + 5
    assert "has answers that are not saved yet" in person.does("ask", "shop", "--to", "batch.xlsx", code=2).error

    # the same file again, with the bad cells corrected; then a skip is taken back
    book.active.delete_rows(10)
    book.active.cell(4, 3).value = "Refund"
    book.save(person.folder / "batch.xlsx")
    assert "1 new label, 0 skipped, 6 unchanged, 1 empty" in person.does("tell", "shop", "batch.xlsx").err
    assert "0 new labels, 0 skipped, 7 unchanged" in person.does("tell", "shop", "batch.xlsx").err
    assert {one["id"] for one in person.knows("ask", "shop")["questions"]} == {ids[0]}
    person.writes("back.csv", [["Nr", "Thema (intern)"], [ids[1], "unskip"]])
    person.does("tell", "shop", "back.csv")
    status = person.knows("status", "shop")
    assert (status["skipped"], status["questions"], status["next"]) == (0, 2, "advance")

    # the first model, and nothing to do without news
    advanced = person.does("advance", "shop")
    assert "round 0: 8 labels" in advanced.err and "6 new questions" in advanced.err
    assert advanced.next == "ask shop --to batch.csv"
    again = person.does("advance", "shop")
    assert "there are no new answers since the last round" in again.err and again.next == "ask shop --to batch.csv"
    assert len(person.knows("status", "shop")["rounds"]) == 1

    # a whole batch is skipped: there are others
    person.does("ask", "shop", "--to", "batch.csv")
    skipped = person.fills("batch.csv", lambda row, text: "skip")
    said = person.does("tell", "shop", "batch.csv")
    assert "0 questions still open" in said.err and said.next == "advance shop"
    more = person.does("advance", "shop")
    assert "so new ones were selected" in more.err and more.next == "ask shop --to batch.csv"
    asked_now = person.knows("ask", "shop")["questions"]
    assert len(asked_now) == 6 and not {one["id"] for one in asked_now} & set(skipped)

    # more texts, with a byte order mark, emoji and line ends in cells; the project knows its columns
    rows = [["Was schreibt der Kunde ?", "Nr", "Filiale"], ["Danke 😀👍🏽\nbis bald", "9000", "Köln"]]
    rows += [["", "", ""], ["Where is my money ?", "9001", "東京"]]
    person.writes("neue.csv", rows, delimiter=";", encoding="utf-8-sig")
    added = person.does("add", "shop", "neue.csv", "--encoding", "utf-8")
    assert "1 row without a text was skipped: line 4" in added.err
    assert "2 texts added, 0 with a label: 53 in all" in added.err
    predicted = person.does("predict", "shop", "neue.csv", "--encoding", "utf-8")
    assert "1 row without a text got no label: line 4" in predicted.err
    found = person.reads("neue-labelled.csv")
    assert [list(row) for row in found] == [["Was schreibt der Kunde ?", "Nr", "Filiale", "label", "confidence"]] * 3
    assert [row["Filiale"] for row in found] == ["Köln", "", "東京"]
    assert found[0]["Was schreibt der Kunde ?"] == "Danke 😀👍🏽\nbis bald"
    assert [row["label"] in TOPICS for row in found] == [True, False, True]
    assert 0 < float(found[0]["confidence"]) <= 1 and found[1]["confidence"] == ""

    # all that was said, in a file from which a new project starts
    person.does("export", "shop", "--to", "labels.csv")
    exported = person.reads("labels.csv")
    assert len(exported) == 8 and {row["source"] for row in exported} == {"human"}
    assert LONG in {row["text"] for row in exported}
    person.does("export", "shop", "--to", "labels.xlsx")
    facts = person.knows("start", "labels.xlsx", *QUICK, "--labels", "praise,refund,delivery", "--out", "shop-2")
    assert (facts["texts"], facts["labels"]) == (8, 8)
    assert person.does("status", "shop-2").next == "advance shop-2"


def test_seventy_seven_classes(person: Person) -> None:
    things = ["card", "app", "transfer", "top-up", "refund", "cash", "pin", "passport", "address", "phone", "rate"]
    faults = ["is late", "is lost", "was declined", "is too high", "is blocked", "has a wrong name", "does not work"]
    names = [f"{thing} {fault}" for thing in things for fault in faults]
    (person.folder / "names.txt").write_text("\n".join(names))
    texts = [f"{opening} {name}" for opening in ("hello, my", "since monday the") for name in names]
    person.writes("bank.csv", [["text"], *([text] for text in texts)])
    started = person.does("start", "bank.csv", "--labels", "@names.txt", "--out", "bank")
    assert started.next == "ask bank --to batch.csv"
    person.does("ask", "bank", "--to", "batch.csv")
    # 50 answers are fewer than there are classes: that is enough
    person.fills("batch.csv", lambda row, text: next(n for n in names if n in text) if row < 50 else None)
    told = person.does("tell", "bank", "batch.csv")
    assert "50 new labels" in told.err and told.next == "advance bank"
    advanced = person.does("advance", "bank")
    assert "round 0: 50 labels" in advanced.err
    assert advanced.next == "ask bank --to batch.csv"
    status = person.knows("status", "bank")
    missing = status["classes_without_answers"]
    assert len(missing) + len([count for count in status["class_counts"].values() if count]) == 77
    assert f"{len(missing)} of 77 classes have no answer yet: {', '.join(missing[:5])}" in advanced.err
    said = person.does("predict", "bank", "bank.csv").err
    assert "154 texts labelled in bank-labelled.csv, column 'label': " in said and " more classes" in said
    assert status["questions"] > 0 and status["model"] == {"round": 0, "fine_tuned": False, "knows": 50}


def start_on_a_workbook(person: Person, questions: Task) -> dict[str, str]:
    """A project on a workbook of TREC questions that is fine-tuned at the end; gives the class of each question."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["text", "asked by"])
    pool = questions.pool.only(range(80))
    for text in pool.texts:
        sheet.append([text, "somebody"])
    book.save(person.folder / "questions.xlsx")
    words = ["--labels", ",".join(pool.classes), "--initial", 10, "--batch", 6, "--round-seconds", 0]
    started = person.does("start", "questions.xlsx", *words, "--out", "quiz")
    assert "the learner is probe" in started.err and "quiz: 80 texts, 0 labels, 10 questions" in started.err
    with actune.open_session(person.folder / "quiz") as session:  # so that the fine-tunings take seconds
        short = replace(session.config.final_training, epochs=2, steps=8, most_steps=8)
        session.reconfigure(replace(session.config, final_training=short))
    return {text: pool.classes[label] for text, label in zip(pool.texts, pool.labels, strict=True)}


def test_stopping_finishing_and_going_on(person: Person, questions: Task) -> None:
    truth = start_on_a_workbook(person, questions)

    def answers(name: str) -> None:
        person.does("ask", "quiz", "--to", name)
        person.fills(name, lambda row, text: truth[text])
        assert person.does("tell", "quiz", name).next == "advance quiz"

    assert "has no model yet" in person.does("predict", "quiz", "questions.xlsx", code=2).error
    answers("batch.xlsx")

    # Ctrl-C in the middle of a round: one line, nothing lost, and the same command goes on
    stopped = person.stops("advance", "quiz", by=signal.SIGINT)
    assert stopped.code == 130, stopped.err
    assert "Traceback" not in stopped.err
    assert stopped.err.count("actune: ") == 1
    assert "actune: stopped; finished work is saved, and the same command continues" in stopped.err
    status = person.knows("status", "quiz")
    assert (status["labels"], status["rounds"], status["next"]) == (10, [], "advance")
    assert "round 0: 10 labels" in person.does("advance", "quiz").err

    # kill -9 in the middle of the fine-tuning at the end: the model before is in use, and the same command goes on
    assert person.stops("advance", "quiz", "--finish", by=signal.SIGKILL).code == -signal.SIGKILL
    assert person.knows("status", "quiz")["model"] == {"round": 0, "fine_tuned": False, "knows": 10}
    finished = person.does("advance", "quiz", "--finish")
    assert "fine-tuned: 10 labels" in finished.err and "6 open questions" in finished.err
    assert finished.next == "ask quiz --to batch.csv"

    # another round: the better model stays in use, and the commands say so
    def predicted(name: str) -> list[list[object]]:
        person.does("predict", "quiz", "questions.xlsx", "--out", name)
        sheet = openpyxl.load_workbook(person.folder / name).active
        assert sheet is not None
        return [list(row) for row in sheet.iter_rows(values_only=True)]

    before = predicted("before.xlsx")
    assert before[0] == ["text", "asked by", "label", "confidence"] and len(before) == 81
    answers("batch.csv")
    advanced = person.does("advance", "quiz")
    kept = "predict uses the fine-tuned model after round 0, trained on 10 of 16 answers"
    assert "round 1: 16 labels" in advanced.err and kept in advanced.err
    assert kept in person.does("status", "quiz").err
    assert predicted("after.xlsx") == before
    person.does("report", "quiz")
    page = (person.folder / "quiz" / "report.html").read_text()
    assert "fine-tuned" in page and "Traceback" not in page

    # the model leaves the project, and works where that is gone
    person.python("import actune; actune.open_session('quiz').save('model')")
    shutil.move(person.folder / "quiz", person.folder / "elsewhere")
    listed = set(person.folder.rglob("*"))
    text = str(before[1][0])
    program = (
        f"import actune, json; found = actune.load('model').predict([{text!r}])[0]; "
        "print(json.dumps([found.label, found.confidence]))"
    )
    label, confidence = json.loads(person.python(program))
    assert label == before[1][2] and confidence == pytest.approx(before[1][3], abs=0.01)
    assert set(person.folder.rglob("*")) == listed
    assert (person.folder / "elsewhere" / FILE).exists()
    assert "16 answers" in person.does("status", "elsewhere").err  # a project may be moved
