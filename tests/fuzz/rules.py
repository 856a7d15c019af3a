"""Fuzzes rules: TOML patterns and Python functions, through `label-model` and through a run that starts with them."""

from __future__ import annotations

import random

from tests.fuzz.ground import PLAN, PYTHON_RULES, RULES, Place
from tests.fuzz.words import encoded, mutated_text, value

PATTERNS = (
    *(
        "(",
        "[",
        "a{2",
        "(?P<x>a",
        "\\",
        "(?i",
        "a**",
        "(?<=a*)b",
        "\\1",
        "(a)(?(1)b|c|d)",
        "(?#",
        "\\x",
        "\\N{X}",
        "(?L)a",
        "(?au)a",
    ),
    *(
        "(a+)+$",
        "(a|a)*$",
        "(.*)*x",
        "(x+x+)+y",
        "(\\w+\\s*)+$",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "a" * 5000,
        "(" * 150 + ")" * 150,
    ),
    *(
        ".*" * 60 + "x",
        "a{1000000}",
        "(a{1000}){1000}",
        "(a{99999999999})",
        "[\\d-z]",
        "",
        "$",
        "^",
        "\\b",
        "é",
        "[[:alpha:]]",
        "\\Z\\A",
    ),
)
FUNCTIONS = (
    "def rule_exit(text):\n    raise SystemExit(3)\n",
    "import sys\nsys.exit(0)\n",
    "raise SystemExit\n",
    "def rule_deep(text):\n    return rule_deep(text)\n",
    "def rule_number(text):\n    return 3\n",
    "def rule_list(text):\n    return ['x']\n",
    "def rule_surrogate(text):\n    return '\\ud800'\n",
    "def rule_strange(text):\n    return 'z\\x1b[31m'\n",
    "def rule_two(text, more):\n    return 'x'\n",
    "def rule_none():\n    pass\n",
    "rule_number = 3\n",
    "class rule_class:\n    def __init__(self, text):\n        pass\n",
    "class E(BaseException):\n    pass\ndef rule_base(text):\n    raise E('own')\n",
    "class E(Exception):\n    def __str__(self):\n        raise ValueError\ndef rule_mute(text):\n    raise E\n",
    "async def rule_later(text):\n    return 'x'\n",
    "def rule_generator(text):\n    yield 'x'\n",
    "import nothing_of_this_name\n",
    "from __future__ import braces\n",
    "x = (\n",
    "def rule_print(text):\n    print('hello', text)\n    return 'y'\n",
    "class S(str):\n    pass\ndef rule_own(text):\n    return S('x')\n",
    "def rule_(text):\n    return 'x'\n",
    "def rule_assert(text):\n    assert False, 'no'\n",
    "exec('def rule_a\\u0301(text): return None')\n",
)


def make(rng: random.Random, place: Place) -> list[list[str]]:
    """Rules about real texts, of which some are long."""
    file, content = ("rules.py", _python(rng)) if rng.random() < 0.3 else ("rules.toml", _toml(rng))
    place.take("tiny", "labelled.csv", "bare.csv")
    if rng.random() < 0.3:
        with (place.folder / "bare.csv").open("a", encoding="utf-8") as handle:
            handle.write(f"long,{'a' * rng.choice((30, 45, 3000))}!,\n")
    (place.folder / file).write_bytes(encoded(rng, content))
    kind = rng.random()
    if kind < 0.7:
        words = ["label-model", "bare.csv", "--rules", file, "--label-model", rng.choice(("em", "majority"))]
        return [[*words, "--labels", rng.choice(("x,y",) * 8 + ("y", "x,y,z", value(rng).replace("\0", "")))]]
    short = [*PLAN, "--model", "tiny", "--votes", file, "--out", "new"]
    if kind < 0.9:
        return [["start", "bare.csv", "--labels", "x,y", *short]]
    return [["run", "labelled.csv", "--rounds", "1", *short]]


def _toml(rng: random.Random) -> str:
    text = RULES
    for number in range(rng.choice((0, 1, 1, 3))):
        pattern = rng.choice(PATTERNS)
        quoted = f"'''{pattern}'''"
        text += (
            f"\n[[rule]]\nname = {rng.choice((f'own {number}', f'own {number}', value(rng)))!r}\npattern = {quoted}\n"
        )
        text += f"label = {rng.choice(('x', 'y', 'x', 'y', 'z', value(rng)))!r}\n"
    return mutated_text(rng, text) if rng.random() < 0.5 else text


def _python(rng: random.Random) -> str:
    text = PYTHON_RULES if rng.random() < 0.7 else ""
    for piece in rng.sample(FUNCTIONS, rng.choice((1, 1, 2))):
        text += piece
    # words of the file itself only: a mutation must not make up code that does harm
    lines = text.split("\n")
    if rng.random() < 0.4:
        del lines[rng.randrange(len(lines))]
    return "\n".join(lines)
