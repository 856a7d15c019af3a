"""Errors as one sentence on stderr and an exit code: 2 for a user's mistake, 130 for Ctrl-C, 1 for anything else."""

from __future__ import annotations

import errno
from typing import Any

import typer
from typer.core import TyperGroup

from actune.core.printing import printable
from actune.errors import ActuneError

STOPPED = "stopped: what was finished is kept, and the same command continues"
REFUSALS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS}  # of the disk


class Stopped(KeyboardInterrupt):
    """Ctrl-C with a sentence that says how to go on."""


class Commands(TyperGroup):
    """The commands, none of which shows a traceback for a user's mistake."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ActuneError as error:
            raise _exit(2, str(error)) from None
        except OSError as error:
            if error.errno not in REFUSALS:
                raise
            place = f" {error.filename!r}" if error.filename else ""
            raise _exit(2, f"cannot write{place} ({error.strerror}): what was saved before is safe") from None
        except KeyboardInterrupt as stop:
            raise _exit(130, str(stop) or STOPPED) from None


def _exit(code: int, sentence: str) -> typer.Exit:
    typer.echo(f"actune: {printable(sentence)}", err=True)
    return typer.Exit(code)
