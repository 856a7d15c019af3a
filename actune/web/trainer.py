"""The trainer as the server sees it: a process that is given jobs, and what it reports about them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import RLock, Thread
from types import MappingProxyType
from typing import Any, Literal

from actune.core.files import check_regular
from actune.core.progress import parts_of
from actune.core.refusals import told
from actune.errors import ActuneError

Job = Literal["prepare", "advance", "finish"]
ORDER: tuple[Job, ...] = ("prepare", "advance", "finish")
STATES = {
    "load": "loading",
    "waiting": "waiting",
    "compare": "comparing",
    "tokenize": "embedding",
    "embed": "embedding",
    "train": "training",
    "validate": "training",
    "adapt": "training",
}
LOG = "trainer.log"
PATIENCE = 2.0  # seconds that a process has to end by itself


class Trainer:
    """Gives jobs to a process of its own, starts it again when it has died, and ends it with the server."""

    after: Callable[[], None] = staticmethod(lambda: None)  # called when a job has ended well

    def __init__(
        self, folder: Path, log: Path, idle: bool = False, environment: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        check_regular(log)
        self._command = [sys.executable, "-m", "actune.web.training", str(folder)]
        self._log = log
        self._environment = {**os.environ, "PYTHONUNBUFFERED": "1", **environment}
        self._lock = RLock()
        self._process: subprocess.Popen[str] | None = None
        self._wanted: set[Job] = set()
        self._news: object = None  # what led to the newest job that nobody asked for
        self._job: Job | None = None
        self._stage, self._done, self._total = "", 0, 0
        self._began: tuple[float, float] = (0.0, 0.0)  # of the stage: when, and what share was done by then
        self._error: str | None = None
        self._closed = idle  # one that is idle takes no jobs

    def ask_for(self, job: Job, news: object = None) -> None:
        """Wants a job done; one that is wanted already is not done twice.

        With `news` nobody has asked for it: then it is not done again for the same news, which it may not be able to
        change, and not at once after the same job, which ends with a look at what came meanwhile.
        """
        with self._lock:
            if self._closed or (news is not None and (news == self._news or job == self._job)):
                return
            self._news = self._news if news is None else news
            self._wanted.add(job)
            self._next()

    def state(self) -> dict[str, Any]:
        """What the trainer does now, as the page shows it."""
        with self._lock:
            if self._job is None:
                state = "failed" if self._error else "idle"
                return {"state": state, "done": 0, "total": 0, "seconds_left": None, "error": self._error}
            stage, _, _ = parts_of(self._stage)
            return {
                "state": STATES.get(stage, "reading"),
                "done": self._done,
                "total": self._total,
                "seconds_left": self._seconds_left(),
                "error": None,
            }

    def close(self) -> None:
        """Ends the process; a round that it was in is lost, and no answer is."""
        with self._lock:
            self._closed, process = True, self._process
        if process is None:
            return
        with suppress(OSError):
            process.stdin.close()  # type: ignore[union-attr]
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _next(self) -> None:
        """Hands over the next job if none is at hand."""
        if self._job is not None or not self._wanted or self._closed:
            return
        job = next(job for job in ORDER if job in self._wanted)
        self._wanted.remove(job)
        self._job, self._error, self._stage, self._done, self._total = job, None, "load", 0, 0
        self._begin(0.0)
        try:
            if self._process is None:
                self._start()
            assert self._process is not None and self._process.stdin is not None
            self._process.stdin.write(json.dumps({"job": job}) + "\n")
            self._process.stdin.flush()
        except (OSError, ActuneError) as error:
            if self._process is None:  # of one that has died, the thread that listens to it tells
                self._job, self._error = None, told(error) if isinstance(error, OSError) else str(error)

    def _start(self) -> None:
        """A process group of its own: Ctrl-C in the terminal is for the server, which ends it."""
        check_regular(self._log)
        with self._log.open("w", encoding="utf-8") as log:
            self._process = process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                start_new_session=True,
                env=self._environment,
            )
        Thread(target=self._listen, args=(process,), daemon=True, name="trainer").start()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            try:
                report = json.loads(line)
            except ValueError:  # half a line, of a process that was killed
                break
            self._take(report)
        process.kill()
        code = process.wait()
        with self._lock:
            self._process = None
            if self._closed or self._job is None:
                return
            self._job = None
            self._error = (
                f"the training process ended (exit code {code}), perhaps for lack of memory; every answer is "
                "saved, and the next batch starts it again"
            )

    def _take(self, report: dict[str, Any]) -> None:
        if "ended" in report:
            with self._lock:
                self._job, self._error = None, report["error"]
            if report["error"] is None and not self._closed:
                with suppress(ActuneError, OSError):  # of the database: the next answer leads to another look
                    self.after()
            with self._lock:
                self._next()
            return
        with self._lock:
            stage, done, total = report["stage"], report["done"], report["total"]
            share = _share(stage, done, total)
            if parts_of(stage)[0] != parts_of(self._stage)[0] or share < _share(self._stage, self._done, self._total):
                self._begin(share)
            self._stage, self._done, self._total = stage, done, total

    def _begin(self, share: float) -> None:
        self._began = (time.monotonic(), share)

    def _seconds_left(self) -> float | None:
        began, before = self._began
        share = _share(self._stage, self._done, self._total)
        if share <= before:
            return None
        return round((time.monotonic() - began) * (1 - share) / (share - before), 1)


def _share(stage: str, done: int, total: int) -> float:
    """How much of a stage and its like is done."""
    _, number, of = parts_of(stage)
    return (number - 1 + done / max(1, total)) / of
