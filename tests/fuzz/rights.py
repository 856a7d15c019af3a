"""Fuzzers that root starts run as nobody: a hole must not cost the machine its /dev/null."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

NOBODY = 65534
DIE_WITH_PARENT, KEEP_CAPABILITIES = 1, 8  # of prctl
READ_EVERYTHING = 1 << 2  # CAP_DAC_READ_SEARCH: the interpreter may lie in root's home


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("process", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def give_to_nobody(folder: Path) -> None:
    """Lets the process that will have dropped its rights write here."""
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)


def drop_rights() -> None:
    """From here on this process can read everything, and change only what is nobody's."""
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        return
    library = ctypes.CDLL(None, use_errno=True)
    assert library.prctl(KEEP_CAPABILITIES, 1, 0, 0, 0) == 0
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    sets = (_Sets * 2)(_Sets(READ_EVERYTHING, READ_EVERYTHING, 0), _Sets(0, 0, 0))
    assert library.capset(ctypes.byref(_Header(0x20080522, 0)), ctypes.byref(sets)) == 0, os.strerror(
        ctypes.get_errno()
    )
    die_with_parent()  # forgotten when the user changes


def die_with_parent() -> None:
    """No orphans."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
