"""The encoding that a text file is read in: UTF-8, what its first bytes say, or what the user names."""

from __future__ import annotations

import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from actune.errors import DataError, SettingError, nearest

Opened = Callable[[Path], BinaryIO]

PIECE = 2**20  # bytes that are read at a time
UTF8 = "utf-8-sig"  # with or without a byte order mark
OFTEN = ("cp1252", "latin-1", "cp1250", "cp1251", "utf-8", "utf-16", "shift_jis", "gb18030", "big5", "euc-kr", "koi8-r")
SHOWN = 40  # characters of a line that a message quotes


@dataclass(frozen=True)
class Scan:
    """What one pass over a file in one encoding found; lines count from 1."""

    broken: int = 0  # the line of the first bytes that are not in this encoding
    nul: int = 0  # the line of the first NUL; nothing is read behind it
    long: int = 0  # the line that is longer than lines may be
    blank: bool = True
    ascii: bool = True


def find_encoding(path: Path, opened: Opened, given: str | None = None, longest: int | None = None) -> str:
    """The encoding of a file, or one sentence that says why it cannot be read as text.

    A line with more than `longest` characters is refused, because lines are read one at a time.

    The user's word counts for files that are not UTF-8, because a project has files of several programs, and our own
    are UTF-8. Text beyond ASCII that is valid UTF-8 is UTF-8.
    """
    check_encoding(given)
    encoding = _marked(path, opened) or UTF8
    found = _scan(path, opened, encoding, longest)
    if encoding == UTF8 and given and (found.broken or found.ascii):
        encoding = given
        found = _scan(path, opened, encoding, longest)
    if found.broken and encoding == UTF8:
        raise DataError(_not_utf8(path, opened, found.broken))
    if found.broken:
        raise DataError(f"{path} cannot be read as {encoding} (line {found.broken}): try another --encoding")
    if found.nul and encoding == UTF8 and (guess := _wide(path, opened)):
        raise DataError(
            f"{path} is not UTF-8; it seems to be {guess}: add --encoding {guess}, or save the file as UTF-8"
        )
    if found.nul:
        raise DataError(f"{path} has a NUL character in line {found.nul}: remove it, or save the file as UTF-8")
    if found.long:
        raise DataError(f"{path} line {found.long} has more than {longest:,} characters: check how its lines end")
    if found.blank:
        raise DataError(f"{path} is empty: it needs at least one text")
    return encoding


def check_encoding(name: str | None) -> None:
    """Refuses a name that Python does not know as an encoding of texts."""
    try:
        "a".encode(name or UTF8)  # a LookupError for `hex`, which turns bytes into bytes
        getincrementaldecoder(name or UTF8)
    except (LookupError, ValueError):
        raise SettingError(f"there is no encoding {name!r}: {nearest(str(name), OFTEN)} and others") from None


def _marked(path: Path, opened: Opened) -> str | None:
    """What a byte order mark at the beginning says."""
    with opened(path) as stream:
        start = bytes(stream.read(3))
    if start[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
        return "utf-16"
    return UTF8 if start == BOM_UTF8 else None


def _scan(path: Path, opened: Opened, encoding: str, longest: int | None = None) -> Scan:
    decoder = getincrementaldecoder(encoding)()
    lines, length, blank, ascii = 1, 0, True, True
    with opened(path) as stream:
        while True:
            block = bytes(stream.read(PIECE))
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                before = error.object[: error.start].decode(encoding, "replace")
                return Scan(lines + before.count("\n"), blank=False, ascii=False)
            except UnicodeError:  # of an encoding that does not say where
                return Scan(lines, blank=False, ascii=False)
            blank = blank and (not text or text.isspace())
            ascii = ascii and text.isascii()
            if (place := text.find("\0")) >= 0:
                return Scan(0, lines + text.count("\n", 0, place), 0, blank=False, ascii=ascii)
            lines += text.count("\n")
            end = max(text.rfind("\n"), text.rfind("\r"))
            length = length + len(text) if end < 0 else len(text) - end - 1
            if longest is not None and length > longest:
                return Scan(long=lines, blank=False, ascii=ascii)
            if not block:
                return Scan(blank=blank, ascii=ascii)


def _not_utf8(path: Path, opened: Opened, line: int) -> str:
    """What to do with a file that is not UTF-8: most such files are from Windows, and some have one bad line."""
    good = bad = 0
    first = b""
    with opened(path) as stream:
        number = 1
        while content := stream.readline(PIECE):
            if number == line and not first:
                first = bytes(content)
            if not content.isascii():
                is_utf8 = _decodes(content, "utf-8")
                good, bad = good + is_utf8, bad + (not is_utf8)
            number += content.endswith(b"\n")
    if good > bad:
        return f"{path} is UTF-8 except for line {line} ({_quoted(first, 'utf-8')}): correct this line"
    guess = _wide(path, opened) or ("cp1252" if not _scan(path, opened, "cp1252").broken else "latin-1")
    shown = f"the first such line is {line}: {_quoted(first, guess)}"
    return f"{path} is not UTF-8; it seems to be {guess} ({shown}): add --encoding {guess}, or save the file as UTF-8"


def _wide(path: Path, opened: Opened) -> str:
    """UTF-16 without a byte order mark is known by a NUL beside each of the common letters."""
    with opened(path) as stream:
        start = bytes(stream.read(PIECE))
    even, odd = start[::2].count(0), start[1::2].count(0)
    if 4 * max(even, odd) < len(start):
        return ""
    return "utf-16-le" if odd > even else "utf-16-be"


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        return bool(content.decode(encoding))
    except UnicodeDecodeError:
        return False


def _quoted(line: bytes, encoding: str) -> str:
    """The part of a line around its first letter beyond ASCII, where a person sees whether it reads well."""
    text = line.decode(encoding, "replace").replace("\0", "").strip()
    place = next((place for place, letter in enumerate(text) if not letter.isascii()), 0)
    start = max(0, place - SHOWN // 2)
    part = text[start : start + SHOWN]
    return f"{'…' if start else ''}{part}{'…' if start + SHOWN < len(text) else ''}"


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns what a file, its compression or its encoding refuses into a sentence."""
    import pyarrow

    try:
        yield
    except (OSError, EOFError, UnicodeError, zlib.error, pyarrow.ArrowException) as error:
        reason = getattr(error, "strerror", None) or (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"cannot read {path} ({reason}): check the file and its permissions") from None
