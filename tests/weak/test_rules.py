"""Rules files: patterns in TOML, functions in Python, and a sentence for every mistake in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from actune.errors import DataError
from actune.weak.rules import apply_rules

CLASSES = ("praise", "complaint")
TEXTS = ["Great work", "a great failure", "nothing"]
PATTERNS = r"""
[[rule]]
name = "great"
pattern = '\bgreat\b'
label = "praise"

[[rule]]
name = "Great"
pattern = "Great"
label = "praise"
case = true

[[rule]]
pattern = "fail(ure|ed)"
label = "complaint"
"""
FUNCTIONS = """
from __future__ import annotations
from dataclasses import dataclass

@dataclass
class Word:
    word: str

WORD = Word("great")

def helper(text):
    return 1 / 0

def rule_great(text):
    return "praise" if WORD.word in text.lower() else None

def rule_failure(text: str) -> str | None:
    if "failure" in text:
        return "complaint"
"""


def file(folder: Path, content: str, name: str = "rules.toml") -> Path:
    path = folder / name
    path.write_text(content, "utf-8")
    return path


def test_patterns(tmp_path: Path) -> None:
    votes = apply_rules(file(tmp_path, PATTERNS), TEXTS, CLASSES)
    assert votes.sources == ("great", "Great", "rule 3")
    assert votes.matrix.tolist() == [[0, 0, -1], [0, -1, 1], [-1, -1, -1]]


def test_functions(tmp_path: Path) -> None:
    votes = apply_rules(file(tmp_path, FUNCTIONS, "rules.py"), TEXTS, CLASSES)
    assert votes.sources == ("great", "failure")
    assert votes.matrix.tolist() == [[0, -1], [0, 1], [-1, -1]]
    assert [path.name for path in tmp_path.iterdir()] == ["rules.py"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", r"rules\.toml has no rules: a rule starts with \[\[rule\]\]"),
        ("[[rule]", r"rules\.toml' is not TOML: .*line 1"),
        ("[rule]\npattern = 'a'", r"each rule must start with \[\[rule\]\]"),
        ("[[rule]]\nname = 'r'\nlabel = 'praise'", r"rule 'r' needs pattern = "),
        ("[[rule]]\nname = 'r'\npattern = 'a'", r"rule 'r' needs label = "),
        (
            "[[rule]]\nname = 'r'\npattern = 'a('\nlabel = 'praise'",
            r"rule 'r' has the pattern 'a\(', which is not a valid regular",
        ),
        ("[[rule]]\nname = 'r'\npattern = 'zz'\nlabel = 'prais'", r"rule 'r' has the label 'prais', .*mean 'praise'"),
        (
            "[[rule]]\npattern = 'a'\nlabel = 'praise'\ncases = true",
            r"rule 'rule 1' has an unknown setting 'cases'.*'case'",
        ),
        ("[[rule]]\npattern = 'a'\nlabel = 'praise'\ncase = 1", r"has case = 1, which must be true or false"),
        ("[[rule]]\nname='r'\npattern='a'\nlabel='praise'\n" * 2, r"more than one rule 'r'"),
    ],
)
def test_wrong_patterns(tmp_path: Path, content: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        apply_rules(file(tmp_path, content), TEXTS, CLASSES)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("x = 1", r"rules\.py has no rules: a rule starts with def rule_NAME"),
        ("def rule_a(text:", r"cannot run .*rules\.py \(SyntaxError"),
        ("import sys; sys.exit(3)", r"cannot run .*rules\.py \(SystemExit: 3\)"),
        (
            "def rule_a(text):\n  return {'Great work': None}[text]",
            r"rule 'a' failed on row 2 \(KeyError: 'a great fail",
        ),
        ("def rule_a(text):\n  return 1", r"rule 'a' returned 1 on row 1: it must return a class name or None"),
        ("def rule_a(text):\n  return 'prais'", r"rules\.py, row 1: a votes 'prais', which is not a class"),
    ],
)
def test_wrong_functions(tmp_path: Path, content: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        apply_rules(file(tmp_path, content, "rules.py"), TEXTS, CLASSES)


def test_wrong_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no rules file"):
        apply_rules(tmp_path / "no.toml", TEXTS, CLASSES)
    with pytest.raises(DataError, match=r"is not a rules file: its name must end in one of \.toml, \.py"):
        apply_rules(file(tmp_path, "", "rules.txt"), TEXTS, CLASSES)
