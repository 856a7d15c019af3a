"""A fork server: everything is imported once, and then a process is forked for every few inputs of a fuzzer."""

from __future__ import annotations

import json
import os
import resource
import selectors
import shutil
import signal
import sys
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from tests.fuzz.ground import Place
from tests.fuzz.inputs import CHANGED, Fuzzer, Outcome, Streams, run_input
from tests.fuzz.rights import die_with_parent, drop_rights, give_to_nobody

CANARIES = {"notes.txt": "nobody may change this\n", "folder/inner.txt": "nor this\n", "run.toml": "nor = 'this'\n"}


@dataclass(frozen=True)
class Limits:
    """What one input may take."""

    seconds: float = 60.0
    gigabytes: float = 2.0  # of address space, beside what is there when it begins


@dataclass(frozen=True)
class Ended:
    """What one process did: the inputs it finished, and how it died where it did not reach the end."""

    outcomes: dict[int, Outcome]
    at: int | None = None  # the input that it did not finish
    problem: str = ""


def run_fuzzer(
    fuzzer: Fuzzer, seed: int, numbers: Sequence[int], ground: Path, work: Path, limits: Limits, jobs: int = 2
) -> Iterator[Outcome]:
    """The outcomes of these inputs, in the order in which they end."""
    reader, writer = os.pipe()
    workers = []
    for job in range(jobs):
        own = work / f"worker-{job}"
        own.mkdir()
        give_to_nobody(own)
        if not (worker := os.fork()):
            _end(lambda own=own, job=job: _work(fuzzer, seed, numbers[job::jobs], ground, own, limits, writer), reader)
        workers.append(worker)
    os.close(writer)
    try:
        with os.fdopen(reader, encoding="utf-8") as lines:
            for line in lines:
                yield Outcome(**json.loads(line))
        for worker in workers:
            code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
            assert code == 0, f"a worker of the fuzzer {fuzzer.name} ended with {code}"
    finally:
        for job in range(jobs):
            shutil.rmtree(work / f"worker-{job}", ignore_errors=True)


def _end(work, *unused: int) -> None:  # type: ignore[no-untyped-def]
    """Does the work of a forked process, and ends it whatever happens."""
    code = 1
    try:
        for handle in unused:
            os.close(handle)
        die_with_parent()
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _work(
    fuzzer: Fuzzer, seed: int, numbers: Sequence[int], ground: Path, own: Path, limits: Limits, writer: int
) -> None:
    """One worker: processes one after another; an input with a problem runs again, alone."""
    drop_rights()
    for name in ("scratch", "said", "cache", "home"):
        (own / name).mkdir(mode=0o700)
    os.environ |= {"ACTUNE_CACHE": str(own / "cache"), "HOME": str(own / "home"), "TMPDIR": str(own / "scratch")}
    batches = deque(list(numbers[start : start + fuzzer.together]) for start in range(0, len(numbers), fuzzer.together))
    again: dict[int, Outcome] = {}
    while batches:
        batch = batches.popleft()
        canaries = _canaries(own)
        ended = _run_process(fuzzer, seed, batch, ground, own, limits)
        outcomes = dict(ended.outcomes)
        if ended.at is not None:
            outcomes[ended.at] = replace(outcomes.get(ended.at, Outcome(ended.at)), problem=ended.problem)
        changed = _canaries(own, make=False) != canaries
        if changed and len(batch) == 1:
            outcomes[batch[0]] = replace(outcomes[batch[0]], problem=CHANGED)
        for number in batch:
            outcome = outcomes.get(number)
            if len(batch) > 1 and (changed or outcome is None or outcome.problem):
                batches.append([number])
                if outcome is not None and outcome.problem:
                    again[number] = outcome
                continue
            assert outcome is not None
            if not outcome.problem and number in again:
                outcome = replace(again[number], repeated=False)
            os.write(writer, (json.dumps(outcome.as_json()) + "\n").encode())


def _run_process(fuzzer: Fuzzer, seed: int, batch: Sequence[int], ground: Path, own: Path, limits: Limits) -> Ended:
    reader, writer = os.pipe()
    if not (child := os.fork()):
        _end(lambda: _inputs(fuzzer, seed, batch, ground, own, limits, writer), reader)
    os.close(writer)
    outcomes: dict[int, Outcome] = {}
    at, hung = None, False
    with os.fdopen(reader, "rb") as pipe, selectors.DefaultSelector() as waiting:
        waiting.register(pipe, selectors.EVENT_READ)
        while True:
            if not waiting.select(limits.seconds):
                hung = True
                break
            line = pipe.readline()
            if not line:
                break
            told = json.loads(line)
            if "begin" in told:
                at = told["begin"]
            else:
                outcomes[told["number"]] = Outcome(**told)
                at = None
    if hung:
        _kill_group(child)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    _kill_group(child)  # what an input started must not outlive it
    for path in (own / "scratch").iterdir():
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() and not path.is_symlink() else path.unlink()
    if hung:
        return Ended(outcomes, at, f"hang: more than {limits.seconds:g} s")
    if at is not None:
        name = signal.Signals(-code).name if code < 0 else f"exit {code}"
        return Ended(outcomes, at, f"killed: {name}")
    return Ended(outcomes)


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _inputs(
    fuzzer: Fuzzer, seed: int, batch: Sequence[int], ground: Path, own: Path, limits: Limits, writer: int
) -> None:
    """The forked process: one input after another, each announced before it begins."""
    os.setsid()
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = now + int(limits.gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    environment = dict(os.environ)
    for number in batch:
        folder = own / "scratch" / str(number)
        folder.mkdir(mode=0o700)
        os.write(writer, f'{{"begin": {number}}}\n'.encode())
        with Streams(own / "said") as streams:
            place = Place(folder, ground, own / "canary")
            outcome = run_input(fuzzer, seed, number, place, limits.seconds, streams)
        os.write(writer, (json.dumps(outcome.as_json()) + "\n").encode())
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(own)
        shutil.rmtree(folder, ignore_errors=True)


def _canaries(own: Path, make: bool = True) -> list[tuple[str, str]]:
    """What lies beside the scratch folders, with a digest; what an input spoiled is made anew."""
    folder = own / "canary"
    if make:
        shutil.rmtree(folder, ignore_errors=True)
        for name, content in CANARIES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
    known = {"scratch", "said", "cache", "home", "canary"}
    found = [(path.name, "beside") for path in own.iterdir() if path.name not in known]
    for path in sorted(folder.rglob("*")):
        regular = path.is_file() and not path.is_symlink()
        content = sha256(path.read_bytes()).hexdigest() if regular else str(path.is_symlink())
        found.append((str(path.relative_to(folder)), f"{content} {path.lstat().st_mode:o}"))
    return found
