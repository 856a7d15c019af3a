"""Questions in a table, answers out of it: whatever a spreadsheet makes of the file, and whatever a person types."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from actune.annotators.files import COLUMNS, FileColumns, check_replaceable, read_answers, write_questions
from actune.core.dialogue import Answer, Question
from actune.core.pool import Pool, pool_of
from actune.core.settings import Words, words_of
from actune.data.formats import read_table
from actune.errors import ActuneError

QUESTIONS = [
    Question("q1", "who, or what ?", 1, "human", 0.61234),
    Question("q2", "=1+1 is what ?", 1),
    Question("q3", 'naïve "quotes"\nand lines', 1, "number", 0.5),
]


@pytest.fixture
def pool() -> Pool:
    return pool_of(["one", "two", "three"], ids=["q1", "q2", "q3"], classes=["human", "number", "Übel"])


def write(path: Path, content: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(content.encode(encoding))
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".xlsx"])
def test_questions_survive_every_format(tmp_path: Path, pool: Pool, suffix: str) -> None:
    path = tmp_path / f"batch{suffix}"
    write_questions(path, QUESTIONS)
    cells = read_table(path).cells
    assert tuple(cells) == COLUMNS
    assert cells["id"] == ["q1", "q2", "q3"]
    assert cells["text"] == [question.text for question in QUESTIONS]
    assert str(cells["confidence"][0]) == "0.6123"
    assert read_answers(path, pool).empty == 3


def test_no_question_runs_in_a_spreadsheet(tmp_path: Path) -> None:
    write_questions(tmp_path / "batch.csv", QUESTIONS)
    with (tmp_path / "batch.csv").open(encoding="utf-8-sig", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert rows[1]["text"] == "'=1+1 is what ?"
    write_questions(tmp_path / "batch.csv", QUESTIONS, raw=True)
    assert "\n" + "q2,=1+1 is what ?" in (tmp_path / "batch.csv").read_text("utf-8")


@pytest.mark.parametrize(
    "content",
    [
        "id,label\nq1,human\nq2,\nq3,Übel\n",
        "\ufeffid;text;label;my notes\r\nq1;who;human;\r\nq2;what;;\r\nq3;why;Übel;sure\r\n;;;\r\n",
        "label\tid\n human \tq1\n\tq2\nÜbel\tq3\n",
        'text,id,label\n"a ""b"", c\nd",q1,human\nx,q2,"  "\ny,q3,Übel\n,,\n',
    ],
)
def test_what_spreadsheets_write(tmp_path: Path, pool: Pool, content: str) -> None:
    filled = read_answers(write(tmp_path / "batch.csv", content), pool, by="ann")
    assert filled.answers == (Answer("q1", "human", by="ann"), Answer("q3", "Übel", by="ann"))
    assert filled.conflicts == {}
    assert filled.empty == 1


def test_numbers_as_ids(tmp_path: Path) -> None:
    pool = pool_of(["one", "two"], classes=["1", "2"])
    lines = [{"id": 0, "label": 1}, {"id": 1.0, "label": None}]
    path = write(tmp_path / "batch.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    assert read_answers(path, pool).answers == (Answer("0", "1"),)


def test_skips_and_words_of_ones_own(tmp_path: Path, pool: Pool) -> None:
    path = write(tmp_path / "batch.csv", "id,label\nq1,Skip\nq2,unskip\nq3,human\n")
    assert read_answers(path, pool).answers == (Answer("q1"), Answer("q2", unskip=True), Answer("q3", "human"))
    path = write(tmp_path / "batch.csv", "key,answer,label\nq1,pass,x\nq2,back,y\n")
    columns, words = FileColumns(id="key", label="answer"), Words(skip_word="pass", unskip_word="back")
    assert read_answers(path, pool, columns, words).answers == (Answer("q1"), Answer("q2", unskip=True))
    assert read_answers(path, pool, words=words, remembered={"id": "key", "label": "answer"}).answers == (
        Answer("q1"),
        Answer("q2", unskip=True),
    )


def test_our_own_batch_has_our_own_columns(tmp_path: Path, pool: Pool) -> None:
    path = write(tmp_path / "batch.csv", "id,text,label,suggestion,confidence\nq1,one,number,human,0.9\n")
    assert read_answers(path, pool, remembered={"label": "suggestion"}).answers == (Answer("q1", "number"),)


def test_a_contradiction_is_left_out_alone(tmp_path: Path, pool: Pool) -> None:
    path = write(tmp_path / "batch.csv", "id,label\nq1,human\nq2,human\nq1,number\nq2,human\nq3,skip\nq3,SKIP\nq1,\n")
    filled = read_answers(path, pool)
    assert filled.answers == (Answer("q2", "human"), Answer("q3"))
    assert filled.conflicts == {"q1": ("human", "number")}


def test_all_bad_cells_are_listed_and_the_others_are_answers(tmp_path: Path, pool: Pool) -> None:
    lines = ["id,label", "q1,human", "q2,humann", "q9,human", ",number", "q3,xyz", ","]
    filled = read_answers(write(tmp_path / "batch.csv", "\n".join(lines)), pool)
    assert filled.answers == (Answer("q1", "human"),)
    assert list(map(str, filled.bad)) == [
        "line 3: id 'q2' has the unknown label 'humann' (did you mean 'human'?)",
        "line 4: this project has no text with the id 'q9'",
        "line 5: the answer 'number' has no id",
        "line 6: id 'q3' has the unknown label 'xyz'",
    ]
    assert [(bad.id, bad.value) for bad in filled.bad] == [
        *(("q2", "humann"), ("q9", "human")),
        *((None, "number"), ("q3", "xyz")),
    ]


def test_case_and_spaces_do_not_matter(tmp_path: Path, pool: Pool) -> None:
    path = write(tmp_path / "batch.csv", "id,label\nq1, HUMAN \nq2,number\nq3,u\u0308bel\n")
    filled = read_answers(path, pool)
    assert filled.answers == (Answer("q1", "human"), Answer("q2", "number"), Answer("q3", "Übel"))
    assert (filled.matched, filled.bad) == (2, ())
    both = pool_of(["one", "two", "three"], ids=["q1", "q2", "q3"], classes=["ab", "Ab"])
    filled = read_answers(write(path, "id,label\nq1,ab\nq2,Ab\nq3,AB\n"), both)
    assert filled.answers == (Answer("q1", "ab"), Answer("q2", "Ab"))
    assert [bad.value for bad in filled.bad] == ["AB"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("id,answer\nq1,human\n", "no column 'label': set it with --label-column (known: answer, id)"),
        ("key,label\nq1,human\n", "no column 'id': set it with --id-column"),
    ],
)
def test_what_cannot_be_taken(tmp_path: Path, pool: Pool, content: str, expected: str) -> None:
    with pytest.raises(ActuneError) as error:
        read_answers(write(tmp_path / "batch.csv", content), pool)
    assert expected in str(error.value)


def test_a_file_in_an_old_code_page(tmp_path: Path, pool: Pool) -> None:
    path = write(tmp_path / "batch.csv", "id,label\nq1,Übel\n", "cp1252")
    with pytest.raises(ActuneError, match="is not UTF-8; it seems to be cp1252"):
        read_answers(path, pool)
    assert read_answers(path, pool, remembered={"encoding": "cp1252"}).answers == (Answer("q1", "Übel"),)
    path = write(tmp_path / "batch.csv", "id,label\nq1,Übel\n")  # as we write it ourselves, in the same project
    assert read_answers(path, pool, remembered={"encoding": "cp1252"}).answers == (Answer("q1", "Übel"),)


def test_a_class_called_skip(tmp_path: Path) -> None:
    """A class wins, and the project has another word for a skip."""
    pool = pool_of(["one", "two"], ids=["q1", "q2"], classes=["skip", "keep"])
    path = write(tmp_path / "batch.csv", "id,label\nq1,skip\nq2,pass\n")
    assert read_answers(path, pool, words=Words(skip_word="pass")).answers == (Answer("q1", "skip"), Answer("q2"))
    with pytest.raises(ActuneError, match="the class 'skip' is also the skip_word: choose another word with --set"):
        words_of({}, pool.classes)
    with pytest.raises(ActuneError, match="both 'back': choose two different words"):
        words_of({"skip_word": "back", "unskip_word": " Back"})


def test_long_texts_are_shown_in_part(tmp_path: Path, pool: Pool) -> None:
    path = tmp_path / "batch.csv"
    notes = write_questions(path, [Question("q1", "x" * 100_000, 1), QUESTIONS[1]])
    assert notes == ["1 text is shortened in the file; the model gets the whole texts"]
    shown = str(read_table(path).cells["text"][0])
    assert shown == "x" * 2000 + " … (98,000 more characters)"
    assert read_answers(path, pool).empty == 2


def test_only_what_was_told_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "batch.csv"
    check_replaceable(path, {})
    write_questions(path, QUESTIONS)
    check_replaceable(path, {})
    write(path, "id,text,label\nq1,one,human\nq2,two,skip\nq3,three,\n")
    check_replaceable(path, {"q1": "human", "q2": "skip"})
    with pytest.raises(ActuneError, match=r"has answers that are not saved yet \(line 3\)"):
        check_replaceable(path, {"q1": "human"})
    with pytest.raises(ActuneError, match="has answers that are not saved yet"):
        check_replaceable(path, {"q1": "number", "q2": "skip"})
    write(path, "id,label\nq1,HUMAN\nq2,Skip\nq3,unskip\n")
    check_replaceable(path, {"q1": "human", "q2": "skip"}, ["human", "number"])
    with pytest.raises(ActuneError, match=r"not saved yet \(line 4\)"):
        check_replaceable(path, {"q1": "human", "q2": "skip", "q3": "skip"}, ["human", "number"])
    write(path, "id,label,mine\nq1,,a\n")
    with pytest.raises(ActuneError, match="has a column 'mine' that `actune ask` does not write"):
        check_replaceable(path, {})
    write(path, "title,body\na,b\n")
    with pytest.raises(ActuneError, match="exists and was not written by `actune ask`"):
        check_replaceable(path, {})
