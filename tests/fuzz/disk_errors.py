"""Every command on a disk that fails: the k-th call that changes a file ends with an error of the system, for every k.

    python -m tests.fuzz.disk_errors FOLDER PART PARTS [MOST]

Of PARTS equal shares this does the one with the number PART, or MOST injections spread over it. With a C compiler the
calls of libc fail, also those of SQLite and of safetensors; without one those that Python makes, and SQL statements.
Each broken command must end with one sentence, lose no acknowledged answer, and when it is run again without the fault
end like the unbroken one.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fuzz.journey import REFUSED, STEPS, Place, Step, answers, before, goes_on, in_a_child, prepare, walk

ERRORS = (errno.EIO, errno.ENOSPC, errno.EACCES, errno.EROFS)
SHIM = "failing_disk.so"
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
EVENTS = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.truncate"}
CHANGING = ("BEGIN IMMEDIATE", "INSERT", "UPDATE", "DELETE", "COMMIT", "PRAGMA journal_mode", "VACUUM")
_CONNECT = sqlite3.connect
Arm = Callable[[Path, int, int, bool], Callable[[], int]]  # folder, number, error, stays -> how many calls there were


def by_libc() -> Arm | None:
    """The calls of libc, where this process was started with the library that lets them fail."""
    if not os.environ.get("LD_PRELOAD", "").endswith(SHIM):
        return None
    library = ctypes.CDLL(os.environ["LD_PRELOAD"])

    def arm(folder: Path, number: int, error: int, stays: bool) -> Callable[[], int]:
        library.failing_disk_arm(str(folder).encode(), ctypes.c_long(number), error, int(stays))
        return lambda: int(library.failing_disk_count())

    return arm


def by_python(folder: Path, number: int, error: int, stays: bool) -> Callable[[], int]:
    """What Python itself opens, renames and removes, and statements of SQL before they are executed."""
    count = 0

    def fails() -> bool:
        nonlocal count
        count += 1
        return number > 0 and (count == number or (stays and count > number))

    def refuse(path: object) -> None:
        if fails():
            raise OSError(error, os.strerror(error), path)

    def hook(event: str, words: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(words[2], int) and words[2] & WRITING:
            path = words[0]
        elif event in EVENTS:
            path = words[1 if event in ("os.symlink", "os.rename") else 0]
        else:
            return
        if isinstance(path, (str, Path)) and str(path).startswith(f"{folder}/"):
            refuse(path)

    class Failing(sqlite3.Connection):
        def execute(self, statement: str, *words: Any) -> sqlite3.Cursor:  # type: ignore[override]
            if statement.startswith(CHANGING) and fails():
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(statement, *words)

    connect, sync = _CONNECT, os.fsync
    sqlite3.connect = lambda *words, **more: connect(*words, **more, factory=Failing)  # type: ignore[assignment]
    os.fsync = lambda handle: refuse(None) or sync(handle)  # type: ignore[func-returns-value]
    sys.addaudithook(hook)
    return lambda: count


def broken(place: Place, step: Step, arm: Arm, number: int, error: int, stays: bool) -> None:
    arm(place.now, number, error, stays)
    step.do(place)


def counted(place: Place, number: int, arm: Arm) -> int:
    """How many calls there are in a step, in a process like those whose calls fail."""
    file = place.work / "count"

    def count() -> None:
        so_far = arm(place.now, 0, 0, False)
        STEPS[number].do(place)
        file.write_text(str(so_far()), encoding="utf-8")

    place.restore(before(number))
    code, word = in_a_child(count)
    assert code == 0, word
    return int(file.read_text(encoding="utf-8"))


def main(folder: str, part: str, parts: str, most: str = "") -> None:
    began, work = time.monotonic(), Path(folder).absolute()
    work.mkdir(parents=True, exist_ok=True)
    if by_libc() is None and (compiler := shutil.which("cc")):
        shim, source = work / SHIM, Path(__file__).with_name("failing_disk.c")
        built = subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(shim), str(source), "-ldl"], check=False)
        if not built.returncode:
            words = [sys.executable, "-m", "tests.fuzz.disk_errors", folder, part, parts, *([most] if most else [])]
            os.execve(sys.executable, words, {**os.environ, "LD_PRELOAD": str(shim)})
    arm = by_libc() or by_python
    place = prepare(work)

    states = walk(place)
    gc.freeze()  # or the first collection of every forked process would copy all that torch is made of
    calls = [counted(place, number, arm) for number in range(len(STEPS))]
    todo = [
        (step, number, error)
        for step in range(len(STEPS))
        for number in range(1, calls[step] + 1)
        for error in range(len(ERRORS))
    ][int(part) :: int(parts)]
    if most and len(todo) > int(most):
        todo = [todo[place * len(todo) // int(most)] for place in range(int(most))]
    ends, steps = Counter[str](), Counter[str]()
    for at, number, error in todo:
        step, stays = STEPS[at], (number + error) % 2 == 1
        place.restore(before(at))
        kept = answers(place)
        code, word = in_a_child(lambda: broken(place, step, arm, number, ERRORS[error], stays))  # noqa: B023
        name = errno.errorcode[ERRORS[error]]
        if code not in (0, REFUSED) or "Traceback" in word or (code and not word.strip()):
            ends["traceback"] += 1
            print(f"{step.name}, change {number}, {name}{', for ever' if stays else ''}: ended with {code}\n{word}")
        wrong = goes_on(place, step, kept, states[at])
        if wrong:
            print(f"... it was change {number} with {name}{', for ever' if stays else ''}, and it said {code}: {word}")
        ends[wrong or ("refused" if code else "not noticed")] += 1
        steps[step.name] += 1
    bad = {name: ends[name] for name in ("traceback", "lost", "hand", "unequal")}
    facts = {
        "by": "libc" if arm is not by_python else "python",
        "calls": sum(calls),
        "injections": len(todo),
        "steps": dict(steps),
    }
    ended = {"refused": ends["refused"], "not noticed": ends["not noticed"]}
    print(json.dumps({**facts, **ended, **bad, "seconds": round(time.monotonic() - began)}))
    sys.exit(any(bad.values()))


if __name__ == "__main__":
    main(*sys.argv[1:])
