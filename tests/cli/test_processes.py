"""What only a real process can show: Ctrl-C, bars on a terminal, a read-only folder, a full disk."""

from __future__ import annotations

import json
import os
import pty
import resource
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, FAST, PLAN, done, obey_permissions, snapshot, write

LONG = [*PLAN, "--rounds", "6", "--set", "steps=400", "--set", "epochs=40"]


class Terminal:
    """A pseudo-terminal that a process writes to, read in the background."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self.text = ""
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, *words: str, timeout: float = 90) -> None:
        """Until all words have been written, in this order."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._holds(words), timeout), self.text

    def close(self) -> str:
        os.close(self.slave)
        self._reader.join(10)
        os.close(self.master)
        return self.text

    def _holds(self, words: tuple[str, ...]) -> bool:
        place = 0
        for word in words:
            place = self.text.find(word, place) + 1
            if not place:
                return False
        return True

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self.master, 4096)
            except OSError:
                return
            with self._changed:
                self.text += data.decode("utf-8", "replace")
                self._changed.notify_all()


def run(*words: object, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own that obeys permissions; `limit` is the most bytes that a file may have."""

    def prepare() -> None:
        obey_permissions()
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # the system refuses to write more

    return subprocess.run(
        [*COMMAND, *map(str, words)], capture_output=True, text=True, check=False, preexec_fn=prepare, timeout=120
    )


def refused(ended: subprocess.CompletedProcess[str], expected: str) -> None:
    assert ended.returncode == 2, ended.stderr
    assert ended.stdout == "" or "error" in json.loads(ended.stdout)  # with --json
    assert "Traceback" not in ended.stderr
    assert expected in ended.stderr.splitlines()[-1]


def test_ctrl_c_in_the_middle_of_training(tmp_path: Path, files: Path) -> None:
    words = ["run", files / "labelled.csv", *LONG, "--json"]
    terminal = Terminal()
    process = subprocess.Popen(
        [*COMMAND, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=terminal.slave,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TERM": "xterm", "COLUMNS": "100"},
        preexec_fn=obey_permissions,
    )
    try:
        terminal.wait_for("folder: runs/001", "round 0: 20 labels", "training steps", "/s")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    shown = terminal.close()
    assert process.returncode == 130, shown
    assert json.loads(out)["error"]["message"].startswith("stopped; finished work is saved in runs/001")
    assert "rounds" in shown and "/6" in shown
    assert "Traceback" not in shown
    assert "actune: stopped; finished work is saved in runs/001" in shown
    assert "the same command with --out runs/001 continues" in shown
    resumed = done(*words, "--out", tmp_path / "runs" / "001")
    assert "round 5: 70 labels" in resumed.err
    assert "round 0: " not in resumed.err
    whole = done(*words, "--out", tmp_path / "whole").facts
    for name in ("asked", "labels", "accuracy", "macro_f1", "pseudo_labels", "pseudo_label_accuracy"):
        assert resumed.facts[name] == whole[name]


def test_a_read_only_folder(tmp_path: Path, project: Path, files: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    refused(run("ask", project, "--to", locked / "batch.csv"), "check the folder's permissions")
    refused(run("export", project, "--to", locked / "labels.csv"), "check the folder's permissions")
    refused(run("run", files / "labelled.csv", *PLAN, "--out", locked / "run"), "check the folder's permissions")
    assert list(locked.iterdir()) == []
    id = done("ask", project, "--json").facts["questions"][0]["id"]
    answers = write(tmp_path / "answers.csv", ["id", "label"], [[id, "human"]])
    before = snapshot(project)
    for path in (*project.iterdir(), project):
        path.chmod(path.stat().st_mode & 0o555)
    refused(run("tell", project, answers), "check the folder's permissions")
    for path in (project, *project.iterdir()):
        path.chmod(path.stat().st_mode | 0o200)
    assert snapshot(project) == before


@pytest.mark.parametrize("place", ["/proc/actune", "/dev/full", "/dev/full/run"])
def test_places_that_can_hold_no_run(files: Path, place: str) -> None:
    refused(run("start", files / "bare.csv", "--labels", "a,b", *FAST, "--initial", "3", "--out", place), place)


def test_a_full_disk_while_telling(tmp_path: Path, project: Path) -> None:
    id = done("ask", project, "--json").facts["questions"][0]["id"]
    answers = write(tmp_path / "answers.csv", ["id", "label"], [[id, "human"]])
    before = snapshot(project)
    refused(run("tell", project, answers, limit=0), "nothing of this step counts; check that the disk has room")
    refused(run("export", project, "--to", tmp_path / "labels.csv", limit=10), "free some space")
    assert not (tmp_path / "labels.csv").exists()
    assert snapshot(project) == before
    assert done("tell", project, answers, "--json").facts["new"] == 1


def test_a_full_disk_while_running(tmp_path: Path, files: Path) -> None:
    words = ["run", files / "labelled.csv", *PLAN, "--rounds", "2", "--json"]
    refused(
        run(*words, "--out", tmp_path / "none", limit=10_000),
        "nothing of this step counts; check that the disk has room",
    )
    assert not (tmp_path / "none").exists()
    refused(run(*words, "--out", tmp_path / "run", limit=200_000), "free some space")  # too little for a model
    whole = done(*words, "--out", tmp_path / "whole").facts
    resumed = done(*words, "--out", tmp_path / "run")
    assert "round 0: " not in resumed.err
    assert json.dumps(resumed.facts["asked"]) == json.dumps(whole["asked"])
    assert resumed.facts["accuracy"] == whole["accuracy"]
