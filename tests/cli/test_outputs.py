"""Where commands write: `-` is standard output, devices stay devices, links in folders of others are refused."""

from __future__ import annotations

import csv
import errno
import io
import os
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, Fails, call, done, write
from tests.core.test_outputs import special


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_tables_on_standard_output(project: Path, tmp_path: Path, fails: Fails) -> None:
    done("export", project, "--to", tmp_path / "labels.csv")
    said = done("export", project, "--to", "-")
    assert said.out == (tmp_path / "labels.csv").read_text("utf-8-sig")  # the runner of commands makes \r\n to \n
    assert "20 human labels written to standard output" in said.err
    asked = done("ask", project, "--to", "-")
    assert [*rows(asked.out)[0]][:3] == ["id", "text", "label"] and "10 questions written to" in asked.err
    new = write(tmp_path / "new.csv", ["text"], [["who was he ?"], ["where is it ?"]])
    found = done("predict", project, new, "--out", "-")
    assert [row["text"] for row in rows(found.out)] == ["who was he ?", "where is it ?"]
    votes = write(tmp_path / "votes.csv", ["id", "vote_a", "vote_b"], [["1", "x", "x"], ["2", "y", "x"]])
    voted = done("label-model", votes, "--label-model", "majority", "--to", "-")
    assert len(rows(voted.out)) == 2 and "votes for" in voted.err
    for words in (["export", project, "--to"], ["ask", project, "--to"], ["predict", project, new, "--out"]):
        assert "--json and - both write to standard output" in fails(*words, "-", "--json")
    assert not Path("-").exists()


def test_pages_on_standard_output(project: Path, tmp_path: Path, fails: Fails) -> None:
    done("report", project, "--to", tmp_path / "page.html")
    said = done("report", project, "--to", "-")
    assert said.out == (tmp_path / "page.html").read_text("utf-8")
    assert "accuracy" in said.err and "report: standard output" in said.err
    assert "both write to standard output" in fails("report", project, "--to", "-", "--json")
    assert done("report", project, "--to", "-", "--quiet").err == ""


@pytest.mark.parametrize("kind", ["device", "pipe", "folder"])
def test_a_report_replaces_no_device(project: Path, tmp_path: Path, fails: Fails, kind: str) -> None:
    place = special(tmp_path, kind)
    before = stat.S_IFMT(place.stat().st_mode)
    said = call("report", project, "--to", place)  # `fails` would read the pipe
    assert said.code == 2 and len(said.err.splitlines()) == 1 and "give a file" in said.err
    table = place.rename(tmp_path / "node.csv")
    said = call("export", project, "--to", table)
    assert said.code == 2 and "give a file" in said.err
    assert stat.S_IFMT(table.stat().st_mode) == before
    if kind == "pipe":
        table.unlink()


def test_a_link_in_a_folder_of_somebody_else(project: Path, tmp_path: Path, fails: Fails) -> None:
    victim = tmp_path / "victim"
    victim.write_text("years of work")
    (project / "report.html").symlink_to(victim)
    assert "is a link and is not replaced" in fails("report", project)
    (project / "report.html").unlink()
    for name in ("advance.lock", "arrays", "models", "texts", "checkpoints", "run.db-wal"):
        place, documents = project / name, tmp_path / "documents"
        if name.endswith(("lock", "wal")):
            place.unlink(missing_ok=True)
            place.symlink_to(victim)
        else:
            place.rename(documents) if place.exists() else documents.mkdir()
            (documents / "thesis.arrow").write_text("years of work")
            place.symlink_to(documents)
        said = call("advance", project, "--force")
        assert said.code == 2 and "is a link" in said.err and len(said.err.splitlines()) == 1
        assert victim.read_text() == "years of work"
        place.unlink()
        if documents.exists():
            assert (documents / "thesis.arrow").read_text() == "years of work"
            (documents / "thesis.arrow").unlink()
            documents.rename(place)
    assert done("report", project).code == 0


def test_two_reports_into_one_file(project: Path, tmp_path: Path) -> None:
    """Real processes at the same time: both end well, and the file is one of the two, whole."""
    page = tmp_path / "page.html"
    expected = done("report", project, "--to", "-").out
    command = [*COMMAND, "report", str(project), "--to", str(page)]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(2)]
    for process in started:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    assert page.read_text("utf-8") == expected
    assert not list(tmp_path.glob(".*.tmp"))


def test_a_reader_that_has_enough(project: Path) -> None:
    reader, writer = os.pipe()
    process = subprocess.Popen([*COMMAND, "report", str(project), "--to", "-"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    threading.Thread(target=lambda: (os.read(reader, 10), os.close(reader))).start()
    _, said = process.communicate(timeout=120)
    assert b"Traceback" not in said and b"Error" not in said, said


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(), "there is not enough memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to"), "there is not enough memory"),
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB."), "there is not enough memory"),
        (OSError(errno.EIO, "Input/output error", "run.db"), "the disk failed at 'run.db' (Input/output error)"),
        (OSError(errno.ENXIO, "No such device or address", "pipe"), "the disk failed at 'pipe'"),
        (OSError("the hub says no"), "cannot go on: the hub says no"),
    ],
)
def test_an_error_from_anywhere_is_one_sentence(
    project: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, sentence: str
) -> None:
    def fails(*words: object) -> None:
        raise error

    monkeypatch.setattr("actune.session.setup.open_session", fails)
    said = call("export", project, "--to", "-")
    assert said.code == 2 and sentence in said.err and len(said.err.splitlines()) == 1
