"""Errors as one sentence on stderr and an exit code: 2 for a user's mistake, 130 for Ctrl-C, 1 for anything else.

With `--json` the same error is also one object on stdout: {"error": {"kind": "DataError", "message": "..."}}.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from actune.core.printing import one_line
from actune.core.refusals import told
from actune.errors import ActuneError

STOPPED = "stopped; finished work is saved, and the same command continues"
NO_MEMORY = "there is not enough memory for this; finished work is saved: close other programs, or use less data"
FULL = ("can't allocate memory", "CUDA out of memory")  # in what torch says

UsageError: Any = typer.BadParameter.__base__  # of click, which newer versions of Typer bring along themselves


class Stopped(KeyboardInterrupt):
    """Ctrl-C with a sentence that says how to go on."""


class Commands(TyperGroup):
    """The commands, none of which shows a traceback for a user's mistake."""

    def invoke(self, ctx: Any) -> Any:
        as_json = _wants_json(ctx)
        try:
            return super().invoke(ctx)
        except ActuneError as error:
            raise _exit(2, str(error), as_json, error) from None
        except BrokenPipeError:  # whoever reads has enough: the command line ends without a word
            raise
        except OSError as error:
            raise _exit(2, told(error), as_json, error) from None
        except (MemoryError, RuntimeError) as error:
            if not _is_full(error):
                raise
            raise _exit(2, NO_MEMORY, as_json, error) from None
        except KeyboardInterrupt as stop:
            raise _exit(130, str(stop) or STOPPED, as_json, stop) from None
        except UsageError as error:  # the command line prints it, in a frame of its own
            if as_json:
                _give_json(error, error.format_message())
            raise _clean(error) from None

    def make_context(self, *words: Any, **more: Any) -> Any:
        try:
            return super().make_context(*words, **more)
        except UsageError as error:  # an option before the name of the command
            raise _clean(error) from None


def _is_full(error: Exception) -> bool:
    """Whether there is no memory left; torch says so by an error of its own on a GPU, and by its words on a CPU."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in FULL)


def _clean(error: Any) -> Any:
    """The same error, whose message repeats the user's words and must not steer the terminal."""
    message = "\n".join(map(one_line, error.format_message().split("\n")))
    error.format_message = lambda: message
    return error


def _wants_json(ctx: Any) -> bool:
    """Whether the words behind the command's name ask for JSON; it is not parsed yet, and may never be."""
    words: Sequence[str] = [*getattr(ctx, "_protected_args", ()), *ctx.args]
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _exit(code: int, sentence: str, as_json: bool, error: BaseException) -> typer.Exit:
    typer.echo(f"actune: {one_line(sentence)}", err=True)
    if as_json:
        _give_json(error, sentence)
    return typer.Exit(code)


def _give_json(error: BaseException, sentence: str) -> None:
    typer.echo(json.dumps({"error": {"kind": type(error).__name__, "message": sentence}}))
