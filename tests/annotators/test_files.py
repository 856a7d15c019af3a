"""Questions in a table, answers out of it: whatever a spreadsheet makes of the file, and whatever a person types."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from actune.annotators.files import COLUMNS, FileWords, check_replaceable, read_answers, write_questions
from actune.core.dialogue import Answer, Question
from actune.core.pool import Pool, pool_of
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


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
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
    words = FileWords(id="key", label="answer", skip="pass", unskip="back")
    assert read_answers(path, pool, words).answers == (Answer("q1"), Answer("q2", unskip=True))


def test_a_contradiction_is_left_out_alone(tmp_path: Path, pool: Pool) -> None:
    path = write(tmp_path / "batch.csv", "id,label\nq1,human\nq2,human\nq1,number\nq2,human\nq3,skip\nq3,SKIP\nq1,\n")
    filled = read_answers(path, pool)
    assert filled.answers == (Answer("q2", "human"), Answer("q3"))
    assert filled.conflicts == {"q1": ("human", "number")}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("id,label\nq1,human\nq2,humann\n", "line 3: unknown label 'humann': did you mean 'human'?"),
        ("id,label\nq1,human\nq9,human\n", "line 3: there is no text with the id 'q9'"),
        ("id,label\nq1,human\n,number\n", "an answer without an id in line 3"),
        ("id,answer\nq1,human\n", "no column 'label', name one with --label-column: known: answer, id"),
        ("key,label\nq1,human\n", "no column 'id', name one with --id-column"),
    ],
)
def test_what_cannot_be_taken(tmp_path: Path, pool: Pool, content: str, expected: str) -> None:
    with pytest.raises(ActuneError) as error:
        read_answers(write(tmp_path / "batch.csv", content), pool)
    assert expected in str(error.value)


def test_a_file_in_an_old_code_page(tmp_path: Path, pool: Pool) -> None:
    with pytest.raises(ActuneError, match="is not UTF-8 text"):
        read_answers(write(tmp_path / "batch.csv", "id,label\nq1,Übel\n", "cp1252"), pool)


def test_a_class_called_skip(tmp_path: Path) -> None:
    pool = pool_of(["one"], ids=["q1"], classes=["skip", "keep"])
    path = write(tmp_path / "batch.csv", "id,label\nq1,skip\n")
    with pytest.raises(ActuneError, match="'skip' is a class of this project: choose another word with --skip-word"):
        read_answers(path, pool)
    assert read_answers(path, pool, FileWords(skip="pass")).answers == (Answer("q1", "skip"),)


def test_only_what_was_told_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "batch.csv"
    check_replaceable(path, {})
    write_questions(path, QUESTIONS)
    check_replaceable(path, {})
    write(path, "id,text,label\nq1,one,human\nq2,two,skip\nq3,three,\n")
    check_replaceable(path, {"q1": "human", "q2": "skip"})
    with pytest.raises(ActuneError, match=r"holds answers that were not told \(line 3\)"):
        check_replaceable(path, {"q1": "human"})
    with pytest.raises(ActuneError, match="holds answers that were not told"):
        check_replaceable(path, {"q1": "number", "q2": "skip"})
    write(path, "id,label,mine\nq1,,a\n")
    with pytest.raises(ActuneError, match="holds a column 'mine' that is not ours"):
        check_replaceable(path, {})
    write(path, "title,body\na,b\n")
    with pytest.raises(ActuneError, match="exists and is not a batch of questions"):
        check_replaceable(path, {})
