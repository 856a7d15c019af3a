"""Every command that reads or writes a file, with files that are not there, no files, or the same file twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import CLASSES, FAST, Fails, call, snapshot, write

LONG = "x" * 300 + ".csv"
READERS = {
    "start": lambda project, file: ["start", file, "--labels", CLASSES, "--out", project.parent / "new"],
    "run": lambda project, file: ["run", file, *FAST, "--out", project.parent / "new"],
    "run with a test file": lambda project, file: ["run", project.parent / "train.csv", *FAST, "--test", file],
    "compare": lambda project, file: ["compare", file, "--out", project.parent / "new"],
    "add": lambda project, file: ["add", project, file],
    "tell": lambda project, file: ["tell", project, file],
    "predict": lambda project, file: ["predict", project, file, "--out", project.parent / "there.csv"],
    "predict beside": lambda project, file: ["predict", project, file],
    "label-model": lambda project, file: ["label-model", file],
    "label-model into": lambda project, file: ["label-model", file, "--to", project.parent / "there.csv"],
}
WRITERS = {
    "ask": lambda project, file: ["ask", project, "--to", file],
    "export": lambda project, file: ["export", project, "--to", file],
    "predict": lambda project, file: ["predict", project, project.parent / "there.csv", "--out", file],
    "label-model": lambda project, file: ["label-model", project.parent / "there.csv", "--to", file],
}


@pytest.fixture
def place(project: Path) -> Path:
    write(project.parent / "there.csv", ["id", "text", "label", "vote_a"], [["1", "who ?", "human", "human"]])
    write(project.parent / "train.csv", ["text", "label"], [[f"text {n}", "ab"[n % 2]] for n in range(20)])
    (project.parent / "folder.csv").mkdir()
    os.mkfifo(project.parent / "pipe.csv")
    (project.parent / "empty.csv").touch()
    (project.parent / "header.csv").write_text("id,text,label\n")
    return project


@pytest.mark.parametrize("command", READERS)
def test_inputs(place: Path, command: str, fails: Fails) -> None:
    said = {
        "missing.csv": ("there is no file",),
        "no/missing.csv": ("there is no file",),
        LONG: ("there is no file", "File name too long"),
        "folder.csv": ("is a folder, not a file", "has no train file", "a folder"),
        "pipe.csv": ("is a pipe or a device, not a file",),
        "empty.csv": ("is empty: it needs at least one text",),
        "header.csv": ("has no rows: it needs at least one text",),
        "there.txt": ("there is no file", "unknown file type"),
    }
    for name, sentences in said.items():
        found = fails(*READERS[command](place, place.parent / name))
        assert any(sentence in found for sentence in sentences), (name, found)


@pytest.mark.parametrize("command", WRITERS)
def test_outputs(place: Path, command: str, fails: Fails) -> None:
    said = {
        "folder.csv": "because it is a folder, a pipe or a device",
        "pipe.csv": "because it is a folder, a pipe or a device",
        "no/out.csv": "because there is no folder",
        "there.csv/out.csv": "because there is no folder",
        "out.txt": "its name must end in one of",
        LONG: "too long",
    }
    for name, sentence in said.items():
        found = fails(*WRITERS[command](place, place.parent / name))
        assert sentence in found, (name, found)


@pytest.mark.parametrize("command", ["predict", "label-model"])
def test_an_output_that_is_the_input(place: Path, command: str, fails: Fails) -> None:
    there = place.parent / "there.csv"
    for name in ("link.csv", "hard.csv"):
        (place.parent / name).unlink(missing_ok=True)
    (place.parent / "link.csv").symlink_to(there)
    (place.parent / "hard.csv").hardlink_to(there)
    for name in ("there.csv", "link.csv", "hard.csv", "folder.csv/../there.csv"):
        assert "is the file that is read: choose another output file" in fails(
            *WRITERS[command](place, place.parent / name)
        )


def test_an_output_that_exists_is_replaced_as_a_whole(place: Path) -> None:
    out = place.parent / "out.csv"
    out.write_text("old\n")
    before = snapshot(place)
    assert call("export", place, "--to", out).code == 0 and "old" not in out.read_text()
    assert snapshot(place) == before
