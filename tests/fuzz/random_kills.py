"""Commands in real processes, killed at random moments, also inside of C code, several times in a row, and continued.

    python -m tests.fuzz.random_kills FOLDER KILLS [SEED]

Forked processes: importing torch takes longer than any command on a tiny encoder. After every kill all acknowledged
answers are there and the folder opens; in the end each command has done what the unbroken one does.
"""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import actune
from actune.core.dialogue import Answer
from tests.end_to_end.killing import label_of
from tests.fuzz.journey import LOST, STEPS, Place, Step, answers, before, goes_on, in_a_child, prepare, walk

MOST_IN_A_ROW = 4


def tell_each(place: Place, writer: int) -> None:
    """Answers one by one, each acknowledged as soon as it is told."""
    with actune.open_session(place.project) as session:
        for question in session.ask():
            session.tell([Answer(question.id, label_of(question.text), by="person")])
            os.write(writer, f"{session.pool.row_of[question.id]}\n".encode())


def killed(place: Place, step: Step, seconds: float) -> tuple[float | None, set[int]]:
    """Kills a process that does a step; gives the seconds that it took where it was faster, and acknowledged rows."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        try:
            tell_each(place, writer) if step.name == "tell" else step.do(place)
        finally:
            os._exit(0)
    os.close(writer)
    began, done = time.monotonic(), 0
    while not done and time.monotonic() - began < seconds:
        time.sleep(min(0.002, seconds))
        done, _ = os.waitpid(child, os.WNOHANG)
    took = time.monotonic() - began if done else None
    if not done:
        os.kill(child, signal.SIGKILL)
        took = None if os.WIFSIGNALED(os.waitpid(child, 0)[1]) else seconds
    with os.fdopen(reader) as lines:
        return took, {int(line) for line in lines.read().split()}


def check(place: Place, kept: set[tuple[Any, ...]], rows: set[int]) -> None:
    found = answers(place)
    assert kept <= found and rows <= {row for row, *_ in found}, LOST


def main(folder: str, kills: str, seed: str = "0") -> None:
    began, draw = time.monotonic(), random.Random(int(seed))
    work = Path(folder).absolute()
    work.mkdir(parents=True, exist_ok=True)
    place = prepare(work)

    seconds: list[float] = []
    states = walk(place, seconds.append)
    gc.freeze()  # or the first collection of every forked process would copy all that torch is made of
    ends, by_step, acknowledged, longest = Counter[str](), Counter[str](), 0, 0
    while sum(by_step.values()) < int(kills):
        at = draw.randrange(len(STEPS))
        step, row = STEPS[at], 0
        place.restore(before(at))
        kept, rows = answers(place), set[int]()
        for _ in range(draw.randint(1, MOST_IN_A_ROW)):
            took, told_rows = killed(place, step, draw.uniform(0, seconds[at]))
            rows |= told_rows
            if took is not None:
                if not row:  # what an earlier process has done already is done faster
                    seconds[at] = took
                break
            by_step[step.name] += 1
            row += 1
            code, word = in_a_child(partial(check, place, kept, rows))
            if code:
                ends["lost" if LOST in word else "hand"] += 1
                print(f"after a kill of {step.name}: {word}")
        acknowledged += len(kept) + len(rows)
        longest = max(longest, row)
        ends[goes_on(place, step, kept, states[at]) or "equal"] += 1
    bad = {"lost": ends["lost"], "needed a hand": ends["hand"], "unequal": ends["unequal"]}
    facts = {"kills": sum(by_step.values()), "by command": dict(by_step), "most in a row": longest}
    facts |= {"acknowledged": acknowledged, **bad, "equal": ends["equal"]}
    print(json.dumps({**facts, "seed": int(seed), "seconds": round(time.monotonic() - began)}))
    sys.exit(any(bad.values()))


if __name__ == "__main__":
    main(*sys.argv[1:])
