"""The trainer's own process: does one job after another, tells how far it is, and ends when the server is gone.

Jobs come as lines of JSON on stdin, and reports leave as lines of JSON on stdout.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from actune.session.session import Session

NICENESS = 10  # the server, which people wait for, comes first
EVERY = 0.2  # seconds between two reports of progress
PAUSE = 2.0  # seconds until a folder is tried again in which another process advances


class Reports:
    """Tells the server what becomes of the job at hand."""

    def __init__(self, channel: TextIO) -> None:
        self._channel = channel
        self._last = ("", 0.0)

    def send(self, **facts: Any) -> None:
        try:
            self._channel.write(json.dumps(facts) + "\n")
            self._channel.flush()
        except OSError:  # nobody listens any more
            os._exit(0)

    def __call__(self, stage: str, done: int, total: int) -> None:
        now, (before, said) = time.monotonic(), self._last
        if stage != before or done >= total or now - said >= EVERY:
            self._last = (stage, now)
            self.send(stage=stage, done=done, total=total)


def main() -> None:
    """Serves the jobs about one project folder until stdin ends."""
    folder = Path(sys.argv[1])
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no report
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    jobs: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(jobs,), daemon=True).start()
    reports = Reports(channel)
    while True:
        job = jobs.get()
        reports.send(**_outcome(folder, job, reports))


def _listen(jobs: SimpleQueue[str]) -> None:
    """Passes jobs on. A server that is gone, also a killed one, closes the pipe: then there is nothing to do it for."""
    for line in sys.stdin:
        jobs.put(json.loads(line)["job"])
    os._exit(0)


def _outcome(folder: Path, job: str, reports: Reports) -> dict[str, Any]:
    """Does one job; an error is one sentence."""
    from actune.errors import ActuneError, Busy

    while True:
        try:
            do(folder, job, reports)
            return {"ended": job, "error": None}
        except Busy:
            reports.send(stage="waiting", done=0, total=0)
            time.sleep(PAUSE)
        except ActuneError as error:
            return {"ended": job, "error": str(error)}
        except MemoryError:
            return {"ended": job, "error": "there is not enough memory for training: close other programs"}
        except Exception as error:
            places = "".join(traceback.format_tb(error.__traceback__))  # without the message, which may quote a text
            print(f"{type(error).__name__}\n{places}", file=sys.stderr, flush=True)
            return {"ended": job, "error": f"training stopped by a mistake of the program ({type(error).__name__})"}


def do(folder: Path, job: str, reports: Reports) -> None:
    """One job on the project as it is now."""
    reports.send(stage="load", done=0, total=1)
    from actune.session.setup import open_session

    with open_session(folder, reports) as session:
        reports.send(stage="load", done=1, total=1)
        if job == "prepare":
            prepare(session)
        elif job == "finish":
            session.finish()
        else:
            advance(session)


def prepare(session: Session) -> None:
    """Groups near-duplicates, embeds the pool, and brings a first batch of texts that differ.

    Until then texts are drawn at random.
    """
    session.find_groups()
    _ = session.prepared.pool
    if session.pool.classes:
        session.diversify()


def advance(session: Session) -> None:
    """A round where the answers allow one, and else more questions where there are none."""
    session.models = "all"  # so that any earlier model can be downloaded
    if session.can_train(session.labels()) and session.has_news():
        session.advance()
    elif not session.store.open_questions() and session.unlabelled():
        session.choose_more()


if __name__ == "__main__":
    main()
