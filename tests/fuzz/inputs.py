"""One input of a fuzzer in this process: command lines or a function, what it said, and how it ended."""

from __future__ import annotations

import os
import random
import resource
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tests.fuzz.ground import Place

Input = Sequence[Sequence[str]] | Callable[[], object]  # command lines one after another, or a call of the library
MARK = "Traceback (most recent call last)"
NO_MEMORY = "not enough memory"  # a sentence of actune's own is no comfort here
CHANGED = "changed what is not its own"
SHOWN = 300  # characters of words and messages that a record keeps


@dataclass(frozen=True)
class Fuzzer:
    """A source of inputs: `make` writes what an input needs into its folder, and gives what is to be run."""

    name: str
    make: Callable[[random.Random, Place], Input]
    share: float  # of all inputs of a long run
    together: int = 20  # inputs that one process runs before another one is forked
    few: int = 20  # inputs of a test run
    prepare: Callable[[Place], None] | None = None  # what its inputs share, made once


@dataclass(frozen=True)
class Outcome:
    """How one input ended; `problem` is empty where all is well."""

    number: int
    codes: tuple[int, ...] = ()  # of each command
    problem: str = ""
    where: str = ""  # the last line of actune or of a library in the traceback
    message: str = ""
    words: str = ""
    seconds: float = 0.0
    megabytes: int = 0
    repeated: bool = True  # a problem came again when the input ran alone

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value or name in ("number", "codes")}


class Streams:
    """The standard streams of this process in files, from one input to the next."""

    def __init__(self, folder: Path) -> None:
        self.out, self.err = folder / "stdout", folder / "stderr"

    def __enter__(self) -> Streams:
        sys.stdout.flush(), sys.stderr.flush()
        for number, file in ((0, Path(os.devnull)), (1, self.out), (2, self.err)):
            flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
            handle = os.open(file, flags, 0o600)
            os.dup2(handle, number)
            os.close(handle)
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()

    def said(self) -> str:
        self.__exit__()
        return self.err.read_text(encoding="utf-8", errors="replace")


def rng_of(fuzzer: str, seed: int, number: int) -> random.Random:
    return random.Random(f"{fuzzer} {seed} {number}")


def run_input(fuzzer: Fuzzer, seed: int, number: int, place: Place, seconds: float, streams: Streams | None) -> Outcome:
    """Makes an input and runs it, in its own folder."""
    os.chdir(place.folder)
    _limit_processor(seconds)
    try:
        made = fuzzer.make(rng_of(fuzzer.name, seed, number), place)
    except Exception:
        return Outcome(number, problem="generator", message=_short(traceback.format_exc()))
    began, watched = time.perf_counter(), place.watched()
    if callable(made):
        outcome = _called(number, made)
    else:
        outcome = Outcome(number)
        for words in made:
            outcome = _after_command(outcome, list(words), streams)
            if outcome.problem:
                break
    os.chdir(place.folder)
    if place.watched() != watched:
        outcome = replace(outcome, problem=CHANGED)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return replace(outcome, seconds=round(time.perf_counter() - began, 3), megabytes=used)


def _called(number: int, call: Callable[[], object]) -> Outcome:
    from actune.errors import ActuneError

    try:
        call()
        return Outcome(number, (0,))
    except ActuneError:
        return Outcome(number, (2,))
    except BaseException as error:
        return _of_traceback(Outcome(number, (1,)), traceback.format_exc(), error)


def _after_command(before: Outcome, words: list[str], streams: Streams | None) -> Outcome:
    """The outcome of an input so far, with one more command."""
    from actune.__main__ import main

    already = len(streams.said()) if streams else 0
    sys.argv = ["actune", *words]
    code, told, failure = 0, "", None
    try:
        main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    except BaseException as error:
        code, failure, told = 1, error, traceback.format_exc()
        print(told, file=sys.stderr)
    said = streams.said()[already:] if streams else told
    outcome = replace(before, codes=(*before.codes, code), words=_short(" ".join(map(_quoted, words))))
    if MARK in said:
        return _of_traceback(outcome, said[said.index(MARK) :], failure)
    if NO_MEMORY in said:
        return replace(outcome, problem="memory", message=_short(said))
    if code not in (0, 2):
        return replace(outcome, problem=f"exit code {code}", message=_short(said))
    return outcome


def _of_traceback(outcome: Outcome, told: str, failure: BaseException | None) -> Outcome:
    lines = [line.strip() for line in told.splitlines()]
    frames = [line for line in lines if line.startswith('File "')]
    last = next((line for line in reversed(lines) if line), "")
    memory = isinstance(failure, MemoryError) or "MemoryError" in last or NO_MEMORY in last.lower()
    return replace(
        outcome,
        problem="memory" if memory else "traceback",
        where=_frame(next((line for line in reversed(frames) if "/actune/" in line), frames[-1] if frames else "")),
        message=_short(last),
    )


def _frame(line: str) -> str:
    """`actune/core/files.py, line 40, in replacing`, without the path of this machine."""
    file, _, rest = line.removeprefix('File "').partition('"')
    parts = Path(file).parts
    roots = [place for place, part in enumerate(parts) if part in ("actune", "site-packages", "tests")]
    return "/".join(parts[roots[-1] if roots else -1 :]) + rest


def _limit_processor(seconds: float) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _quoted(word: str) -> str:
    return (
        word if word.isalnum() or (word.isascii() and word.isprintable() and " " not in word and word) else repr(word)
    )


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]} ... {text[-SHOWN // 2 :]}"
