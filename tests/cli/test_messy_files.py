"""Files as people have them: old code pages, workbooks, columns of their own, empty rows, and very long cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from actune import open_session
from actune.data.export import write_table
from actune.data.tables import read_table
from tests.cli.conftest import CLASSES, FAST, Fails, call, done, read, write

LONG = "spider " * 15_000


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    """Semicolons, cp1252, quoted line ends, odd columns, empty rows, a long cell, and labels in another case."""
    rows = [
        "Nr;Frage;Thema;",
        '007;"Wer schrieb ""Die Räuber"", und wann\r\nwar das ?";HUMAN;',
        "008;Où est la Tour Eiffel ?;location;",
        "009;;;",
        "010;   ;human;",
        f"011;{LONG};Entity;",
        *(f"{number:03};Wie viele Beine hat Käfer {number} ?;;" for number in range(12, 30)),
        ";;;",
        "",
        "",
    ]
    path = tmp_path / "messy.csv"
    path.write_bytes("\r\n".join(rows).encode("cp1252"))
    return path


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "classes.txt"
    path.write_text("\ufeff" + CLASSES.replace(",", "\n\n") + "\n", encoding="utf-8")
    return path


def test_a_project_on_a_messy_file(messy: Path, names: Path, tmp_path: Path, fails: Fails) -> None:
    folder = tmp_path / "p"
    columns = ["--text", "Frage", "--label", "Thema", "--id", "Nr"]
    words = ["start", messy, *columns, "--labels", f"@{names}", *FAST, "--initial", 5, "--out", folder]
    sentence = fails(*words)
    assert "is not UTF-8; it seems to be cp1252 (the first such line is 2: " in sentence and "Räuber" in sentence
    said = done(*words, "--encoding", "cp1252", "--json")
    assert (said.facts["texts"], said.facts["labels"]) == (21, 3)
    assert said.facts["classes"] == CLASSES.split(",")
    assert "3 rows without a text were skipped: lines 5, 6, 26" in said.err
    assert "2 labels were matched to a class after ignoring case and spaces" in said.err
    session = open_session(folder)
    assert session.pool.ids[:3] == ("007", "008", "011")
    assert session.pool.texts[0] == 'Wer schrieb "Die Räuber", und wann\r\nwar das ?'
    assert session.pool.texts[2] == LONG

    batch = tmp_path / "batch.xlsx"
    done("ask", folder, "--to", batch)
    _fill(batch, "NUMERIC ")
    facts = done("tell", folder, batch, "--json").facts
    assert (facts["new"], facts["matched"]) == (5, 5)
    told = write(tmp_path / "told.csv", ["Nr", "Thema"], [["007", "entity"]])
    assert done("tell", folder, told, "--json").facts["changed"] == ["007"]

    more = tmp_path / "more.csv"
    more.write_bytes("Nr;Frage;Thema\n100;Wer ist Käthe ?;human\n101;;\n102;Ein Bär ?;\n".encode("cp1252"))
    said = done("add", folder, more, "--json")
    assert (said.facts["added"], said.facts["labels"]) == (2, 1)
    assert "1 row without a text was skipped: line 3" in said.err
    done("advance", folder)
    facts = done("predict", folder, more, "--json").facts
    assert (facts["texts"], facts["empty"], facts["columns"]) == (2, 1, ["label", "confidence"])
    rows = read(tmp_path / "more-labelled.csv")
    assert [(row["Nr"], row["Frage"]) for row in rows] == [
        ("100", "Wer ist Käthe ?"),
        ("101", ""),
        ("102", "Ein Bär ?"),
    ]


def _fill(batch: Path, label: str) -> None:
    """Fills in every answer, as a person does in Excel."""
    book = openpyxl.load_workbook(batch)
    sheet: Any = book.active
    assert [cell.value for cell in sheet[1]] == ["id", "text", "label", "suggestion", "confidence"]
    for row in range(2, sheet.max_row + 1):
        sheet.cell(row, 3).value = label
    book.save(batch)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "xlsx"])
def test_long_texts_are_whole_for_the_model_and_in_exports(tmp_path: Path, suffix: str) -> None:
    texts = [LONG[:30_000], *(f"How many legs has spider {number} ?" for number in range(10))]
    data = tmp_path / f"texts.{suffix}"
    write_table(data, ["text", "label"], [[text, "ab"[row % 2]] for row, text in enumerate(texts)])
    done("start", data, "--labels", "a,b", *FAST, "--out", tmp_path / "p")
    assert open_session(tmp_path / "p").pool.texts == tuple(texts)
    out = tmp_path / f"out.{suffix}"
    done("export", tmp_path / "p", "--to", out)
    done("start", out, "--labels", "a,b", *FAST, "--out", tmp_path / "q")
    assert open_session(tmp_path / "q").pool.texts == tuple(texts)


def test_long_texts_are_shown_in_part_and_too_long_cells_are_told(tmp_path: Path) -> None:
    texts = [LONG, *(f"How many legs has spider {number} ?" for number in range(5))]
    data = write(tmp_path / "texts.csv", ["text", "label"], [[text, ""] for text in texts])
    done("start", data, "--labels", "a,b", *FAST, "--initial", 6, "--out", tmp_path / "p")
    for suffix in ("csv", "xlsx"):
        said = done("ask", tmp_path / "p", "--to", tmp_path / f"batch.{suffix}")
        assert "1 text is shortened in the file; the model gets the whole texts" in said.err
        shown = max(map(str, read_table(tmp_path / f"batch.{suffix}").cells["text"]), key=len)
        assert shown == f"{LONG[:2000]} … (103,000 more characters)"
    assert len(done("ask", tmp_path / "p").out) < 10_000
    assert max(len(one["text"]) for one in done("ask", tmp_path / "p", "--json").facts["questions"]) == len(LONG)
    ids = [[question["id"], "ab"[row % 2]] for row, question in enumerate(_questions(tmp_path / "p"))]
    done("tell", tmp_path / "p", write(tmp_path / "told.csv", ["id", "label"], ids))
    said = done("export", tmp_path / "p", "--to", tmp_path / "out.xlsx", "--json")
    assert "1 cell was shortened to the 32,767 characters that Excel allows" in said.facts["notes"][0]
    assert said.facts["notes"][0] in said.err


def _questions(folder: Path) -> list[dict[str, Any]]:
    return list(done("ask", folder, "--json").facts["questions"])


def test_a_test_file_may_name_its_columns_differently(files: Path, tmp_path: Path, fails: Fails) -> None:
    rows = [[row["label"].upper(), row["text"], number] for number, row in enumerate(read(files / "test.csv")[:40])]
    test = tmp_path / "test.xlsx"
    write_table(test, ["Kategorie", "Satz", "n"], rows)
    words = ["start", files / "bare.csv", "--labels", CLASSES, *FAST, "--initial", 6, "--test"]
    said = done(*words, test, "--out", tmp_path / "p", "--json")
    assert f"test: the texts are in the column 'Satz' of {test}" in said.err
    assert f"test: the labels are in the column 'Kategorie' of {test}" in said.err
    assert "test: 40 labels were matched to a class after ignoring case and spaces" in said.err
    session = open_session(tmp_path / "p")
    assert session.task.test is not None and session.task.test.texts == tuple(str(row[1]) for row in rows)
    unclear = write(tmp_path / "unclear.csv", ["a", "b", "c"], [["one two", "three four", "human"]])
    sentence = fails(*words, unclear, "--out", tmp_path / "q")
    assert f"{unclear} has no column 'text'" in sentence and "from 'a', 'b', 'c'" in sentence and "--text" in sentence


def test_seventy_seven_classes_in_a_file(files: Path, tmp_path: Path, fails: Fails) -> None:
    names = [f"class {number}: with a colon, and a comma" for number in range(77)]
    listed, lines = tmp_path / "names.json", tmp_path / "names.txt"
    listed.write_text(json.dumps(names), encoding="utf-8")
    lines.write_text("\n".join(name.replace(": ", ", ") for name in names), encoding="utf-8")
    words = ["start", files / "bare.csv", *FAST, "--initial", 5, "--labels"]
    assert done(*words, f"@{listed}", "--out", tmp_path / "p", "--json").facts["classes"] == names
    told = done(*words, f"@{lines}", "--out", tmp_path / "l", "--json").facts["classes"]
    assert told == [name.replace(": ", ", ") for name in names]
    joined = ",".join(f"c{number}" for number in range(77))
    assert len(done(*words, joined, "--out", tmp_path / "q", "--json").facts["classes"]) == 77
    assert "cannot read the class names in no.txt" in fails(*words, "@no.txt", "--out", tmp_path / "r")
    lines.write_text("\n\n")
    assert "has no class names" in fails(*words, f"@{lines}", "--out", tmp_path / "r")
    (tmp_path / "names.json").write_text('["yes", "no"]')
    facts = done(*words, f"@{tmp_path}/names.json", "--out", tmp_path / "r", "--json").facts
    assert facts["classes"] == ["yes", "no"]


def test_a_project_has_its_own_word_for_a_skip(files: Path, tmp_path: Path) -> None:
    words = ["--labels", "skip,keep", "--set", "skip_word=pass", *FAST, "--initial", 5, "--out", tmp_path / "p"]
    done("start", files / "bare.csv", *words)
    ids = [question["id"] for question in _questions(tmp_path / "p")]
    answers = write(tmp_path / "a.csv", ["id", "label"], [[ids[0], "Pass"], [ids[1], "skip"], [ids[2], "keep"]])
    facts = done("tell", tmp_path / "p", answers, "--json").facts
    assert (facts["new"], facts["skipped"], facts["open"]) == (2, 1, 2)
    done("ask", tmp_path / "p", "--to", answers)  # all of it was told


def test_a_file_of_questions_needs_a_known_suffix(project: Path, tmp_path: Path, fails: Fails) -> None:
    assert "its name must end in one of .csv, .tsv, .jsonl, .parquet, .xlsx" in fails(
        "ask", project, "--to", tmp_path / "b.xls"
    )


def test_a_run_on_a_workbook(files: Path, tmp_path: Path) -> None:
    rows = [[row["id"], row["text"], row["label"]] for row in read(files / "labelled.csv")[:90]]
    data = tmp_path / "data.xlsx"
    write_table(data, ["id", "text", "label"], [*rows, ["x", " ", "human"]])
    said = call("run", data, *FAST, "--initial", 20, "--batch", 10, "--rounds", 2, "--out", tmp_path / "run", "--json")
    assert said.code == 0, said.err
    assert "1 row without a text was skipped: row 92" in said.err
