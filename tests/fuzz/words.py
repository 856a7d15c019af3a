"""Values that break things, and small damage to texts and bytes."""

from __future__ import annotations

import random
import re

NUMBERS = (
    *(
        "0",
        "-1",
        "1",
        "2",
        "3",
        "0.5",
        "-0.0",
        "1e308",
        "-1e308",
        "1e999",
        "nan",
        "-nan",
        "inf",
        "-inf",
        "1_000",
        "0x10",
    ),
    *(
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775809",
        "4294967296",
        "1" * 400,
        "9" * 5000,
        "٣",
        "1e-400",
    ),
    *("2147483648", "18446744073709551616", "1e5", "10000000", "999999999999"),
)
TEXTS = (
    *("", " ", "\t", "\n", "a\nb", "a" * 300, "a" * 5000, "é" * 200, "ü", "\u202e", "\u200b", "日本語", "🙂", "\ud800"),
    *(
        "\x1b[31mred\x1b[0m",
        "\x07",
        "\r",
        "a[/b]",
        "[bold]",
        "[link=x]y[/link]",
        "{x}",
        "%s",
        "%n",
        "{0.__class__}",
        "\\",
        "'",
    ),
    *(
        "-",
        "--",
        "---",
        "-x",
        "--json",
        "--help",
        "=",
        "a=b",
        "=1+1",
        "@",
        "@missing",
        "~",
        "~nobody",
        "*",
        "?",
        "$HOME",
        "`x`",
    ),
    *(
        ".",
        "..",
        "/",
        "//",
        "./",
        "../x",
        "a/../../x",
        "a/b/c/d",
        "CON",
        "nul",
        "x.",
        ".x",
        "x\\y",
        "C:\\x",
        "file:///x",
    ),
    *(
        "None",
        "null",
        "true",
        "false",
        "auto",
        "own",
        "paper",
        "released",
        "cpu",
        "cuda",
        "cuda:99",
        "meta",
        "mps",
        "x",
        "y",
        "x,y",
    ),
    *(
        "x,x",
        ",",
        ",,",
        "x,,y",
        "skip",
        "unskip",
        "-1",
        "text",
        "label",
        "id",
        "utf-8",
        "utf-16",
        "cp1252",
        "hex",
        "rot13",
        "idna",
        "zip",
    ),
)
FILES = (
    *(
        "labelled.csv",
        "bare.csv",
        "votes.csv",
        "rules.toml",
        "rules.py",
        "grid.toml",
        "batch.csv",
        "tiny",
        "project",
        "run",
        "results",
    ),
    *(
        "tidy",
        "missing.csv",
        "missing",
        "missing/x.csv",
        "folder",
        "folder.csv",
        "pipe",
        "pipe.csv",
        "pipe.toml",
        "empty",
        "empty.csv",
    ),
    *(
        "null.csv",
        "/dev/null",
        "/dev/full",
        "/dev/zero",
        "/proc/self/mem",
        "/etc/passwd",
        "/",
        "/nowhere/x.csv",
        "locked.csv",
        "a[/b].csv",
    ),
    *(
        "esc\x1b[31m.csv",
        "new",
        "new.csv",
        "new.html",
        "new.parquet",
        "new.xlsx",
        "new.jsonl",
        "new.toml",
        "labelled.csv/x",
        "loop",
        "socket",
    ),
    *(
        "bytes-\udcff.csv",
        "x" * 300,
        "x/" * 2100 + "x",
        "labelled.csv.gz",
        "labelled.xyz",
        ".",
        "project/run.toml",
        "project/run.db",
    ),
)
# pieces that parsers of several formats stumble over
PIECES = (
    *(
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        '"',
        "'",
        '"""',
        "'''",
        "=",
        ".",
        ",",
        ":",
        "#",
        "\n",
        "\r\n",
        "\0",
        "\x1b",
        "\ufeff",
        "\\u0000",
    ),
    *(
        "a.b.c.d = 1\n",
        "x = 1979-05-27T07:32:00Z\n",
        "x = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFF\n",
        "x = inf\n",
        "x = nan\n",
        "true",
        "[a]\n",
        "[[a]]\n",
    ),
    *(
        "__class__",
        "=cmd|' /C calc'!A0",
        "+1",
        "@x",
        "\ud800",
        "é",
        "\x80",
        "1" * 60,
        "[" * 200,
        "x" * 2000,
        "-",
        "null",
        "NaN",
        "Infinity",
    ),
)


def value(rng: random.Random) -> str:
    """Any of the values."""
    return rng.choice(rng.choice((NUMBERS, TEXTS, FILES)))


def mutated_text(rng: random.Random, text: str, times: int | None = None) -> str:
    """A text with some of its lines, words and characters dropped, doubled, exchanged or replaced."""
    for _ in range(times or rng.choice((1, 1, 1, 1, 2, 4))):
        text = rng.choice((_line, _word, _word, _piece, _cut, _number, _number))(rng, text)
    return text


def mutated_bytes(rng: random.Random, content: bytes) -> bytes:
    """Bytes that are flipped, cut, doubled or replaced."""
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        place = rng.randrange(len(found) + 1)
        kind = rng.randrange(5)
        if kind == 0 and found:
            found[place % len(found)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            found[place:place] = rng.randbytes(rng.randrange(1, 9))
        elif kind == 2:
            del found[place : place + rng.randrange(1, 1 + max(1, len(found) // 4))]
        elif kind == 3:
            found[place : place + 4] = rng.choice(
                (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\xff\xfe", b"\x80")
            )
        else:
            del found[place:]
    return bytes(found)


def encoded(rng: random.Random, text: str) -> bytes:
    """A text as a file has it, now and then in a strange encoding or with broken bytes."""
    how = rng.choice(("utf-8",) * 8 + ("utf-16", "cp1252", "utf-8-sig", "utf-32"))
    content = text.encode(how, errors="surrogatepass" if how.startswith("utf-8") else "replace")
    return mutated_bytes(rng, content) if rng.random() < 0.1 else content


def _line(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    place = rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(rng.randrange(len(lines) + 1), lines[place])
    elif kind == 2:
        rng.shuffle(lines)
    else:
        lines.insert(place, rng.choice(PIECES + TEXTS))
    return "\n".join(lines)


def _word(rng: random.Random, text: str) -> str:
    """One word becomes another word of the text, or a strange value."""
    words = list(re.finditer(r"[\w.\-]+", text))
    if not words:
        return text + rng.choice(PIECES)
    old = rng.choice(words)
    new = rng.choice(words).group() if rng.random() < 0.4 else value(rng)
    return text[: old.start()] + new + text[old.end() :]


def _number(rng: random.Random, text: str) -> str:
    """One number becomes another one, or something that is none."""
    numbers = list(re.finditer(r"(?<![\w.])-?\d+(\.\d+)?", text))
    if not numbers:
        return _word(rng, text)
    old = rng.choice(numbers)
    new = rng.choice((*NUMBERS, "true", '"x"', "[]", "{}", "[1, 2]", "[[1]]", "1979-05-27", "''"))
    return text[: old.start()] + new + text[old.end() :]


def _piece(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(PIECES) + text[place:]


def _cut(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + text[place + rng.randrange(1, 30) :]
