"""Columns of dev and test files: by option, by usual name, and by what they hold; else one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from actune.data.finding import find_columns
from actune.data.splits import Reading, make_task
from actune.data.tables import read_table
from actune.errors import DataError

CLASSES = ("spam", "ham")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("id,text,label\n1,a b,spam\n", ("text", "label", "id")),
        ("key,body,topic\n1,a b,spam\n2,c d,ham\n", ("body", "topic", "key")),  # as the options name them
        ("Review,Class\na b,spam\n", ("Review", "Class", None)),
        ("Satz,Art\nein Satz,Spam\n", ("Satz", "Art", None)),
        ("n,Satz,Art,guess\n1,ein Satz,spam,none\n2,noch einer,ham,none\n", ("Satz", "Art", None)),
        ("topic,prediction,title,text\nspam,ham,a b,c d\n", ("text", "topic", None)),
        ("id,text,label\n,a b,spam\n,c d,ham\n", ("text", "label", None)),  # ids are not needed
        ("id,text,label\n1,a b,spam\n1,c d,ham\n", ("text", "label", None)),
    ],
)
def test_columns_that_are_meant(tmp_path: Path, content: str, expected: tuple[str, str, str | None]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content)
    found = find_columns(read_table(path), "body", "topic", "key", CLASSES)
    assert (found.text, found.label, found.id) == expected
    assert ("id" in found.table.cells) is (expected[2] == "id")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b,label\none two,three four,spam\n", "has no column 'text', and its text column cannot be guessed"),
        ("text,x,y\none two,spam,ham\n", "has no column 'label', and its label column cannot be guessed"),
        ("text\none two\n", "its label column cannot be guessed from 'text': rename the right column to 'label'"),
    ],
)
def test_columns_that_are_unclear(tmp_path: Path, content: str, expected: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(DataError) as error:
        find_columns(read_table(path), None, None, None, CLASSES)
    assert expected in str(error.value)


def test_a_task_tells_which_columns_were_taken(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text,label\n7,one,Spam\n8,two,Ham\n9,three,ham\n")
    test = tmp_path / "b.csv"
    test.write_text("Satz;Art\nein Satz;SPAM\nnoch einer;Spam\n;Spam\n")
    task = make_task("mine", tmp_path / "a.csv", test=test, reading=Reading(hold_out_dev=0))
    assert task.test is not None
    assert task.test.texts == ("ein Satz", "noch einer")
    assert task.pool.classes == ("Ham", "Spam", "ham") and task.test.labels.tolist() == [1, 1]
    assert task.notes == (
        f"test: the texts are in the column 'Satz' of {test}",
        f"test: the labels are in the column 'Art' of {test}",
        "test: 1 row without a text was skipped: line 4",
        "test: its labels were matched to the classes after ignoring case and spaces",
        "'Ham' and 'ham' differ only in case or spaces, but count as 2 classes unless you correct the data",
    )
