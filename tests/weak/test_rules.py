"""Rules files: patterns in TOML, functions in Python, and a sentence for every mistake in them."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from actune.data.tasks import load_task
from actune.errors import DataError
from actune.weak import patterns
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


@pytest.mark.parametrize("pattern", ["(a|aa)+$", "(a|a)*$"])
def test_a_pattern_that_never_ends_is_one_sentence(
    tmp_path: Path, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "SECONDS", 0.2)
    rules = file(tmp_path, f"[[rule]]\nname = 'slow'\npattern = '{pattern}'\nlabel = 'praise'")
    sentence = r"rule 'slow' has the pattern '.*', which took more than 0 s and stopped at row 2 of 3: write it without"
    said: list[BaseException] = []

    def vote() -> None:
        try:
            apply_rules(rules, ["a", "a" * 60 + "b", "b"], CLASSES)
        except DataError as error:
            said.append(error)

    thread = threading.Thread(target=vote)  # signals would work in the main thread alone
    thread.start()
    thread.join(30)
    assert len(said) == 1 and re.search(sentence, str(said[0]))


def test_many_patterns_that_nearly_never_end_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SECONDS", 5.0), ("SECONDS_PER_TEXT", 0.0), ("TOGETHER", 0.5)):
        monkeypatch.setattr(patterns, name, value)
    slow = "[[rule]]\nname = 'slow-{}'\npattern = '(a|a)*$'\nlabel = 'praise'\n"
    rules = file(tmp_path, "".join(slow.format(number) for number in range(100)))
    with pytest.raises(DataError, match=r"rule 'slow-\d+' has the pattern .*, which took more than 0 s and stopped"):
        apply_rules(rules, ["a" * 18 + "b"], CLASSES)  # each of them takes a part of a second


def test_nested_repetitions_that_hang_re_are_answered(tmp_path: Path) -> None:
    rules = file(tmp_path, "[[rule]]\npattern = '(a+)+$'\nlabel = 'praise'")
    assert apply_rules(rules, ["a" * 40 + "b", "a" * 40], CLASSES).matrix.tolist() == [[-1], [0]]


TYPICAL = (
    *(r"\bgreat\b", r"fail(ure|ed)", r"^(who|what) ", r"how (many|much)", r"\d{4}", r".*city.*", r"\w+ed\b"),
    *(r"(?<!not )good", r"[A-Z]{2,}", r"what (is|was) .* name", r"(abbrev|stand for)", r"a{e}", r"(?:who){e<=1}"),
    *(
        r"[^\W\d_]{10,}",
        r"(?P<w>\b\w+\b) (?P=w)",
        r"(?i:WHO)",
        r"x{",
        r"{",
        r"\{",
        r"[{]e}",
        r"o{2}",
        r"o{2,}",
        r"o{,2}k",
    ),
    *(
        r"\N{LATIN SMALL LETTER Q}u",
        r"(?x) w h o # c{e}",
        r"\$|%|\?$",
        r"(?=.*first)(?=.*man)",
        r"é|ü|ß",
        r"\S+\s\S+\Z",
    ),
)


@pytest.mark.parametrize("case", [False, True])
def test_patterns_match_what_re_matches(case: bool) -> None:
    trec_pool = load_task("trec").pool
    for pattern in TYPICAL:
        plain = re.compile(pattern, 0 if case else re.IGNORECASE)
        expected = [bool(plain.search(text)) for text in trec_pool.texts]
        assert patterns.matcher(pattern, case)(trec_pool.texts) == expected, pattern


@pytest.mark.parametrize(
    "pattern",
    [
        "((a{1000}){1000}){1000}",
        "n" * 5_000,
        "(?:n)" * 2_000,
        "[n]" * 2_000,
        "(n|n)" * 2_000,
        "(b|" + "n" * 5_000 + ")",
        "a{99999999999}",
        "(" * 5_000 + ")" * 5_000,
        "a" * 200_000,
        r"\p{L}",
        "(?R)",
    ],
)
def test_patterns_that_are_too_large_or_not_of_re_are_refused(pattern: str) -> None:
    with pytest.raises(patterns.BadPattern):
        patterns.matcher(pattern)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("def rule_a(text):\n  raise SystemExit(0)", r"rule 'a' failed on row 1 \(SystemExit: 0\): fix the rule"),
        ("def rule_a(text):\n  exit()", r"rule 'a' failed on row 1 \((SystemExit|NameError)"),
        (
            "class Odd:\n  def __repr__(self): raise ValueError\ndef rule_a(text): return Odd()",
            r"rule 'a' returned a Odd on row 1: it must",
        ),
        (
            "class Odd(Exception):\n  def __str__(self): raise ValueError\ndef rule_a(text): raise Odd",
            r"rule 'a' failed on row 1 \(Odd\): fix",
        ),
        ("def rule_a(text): return b'x'", "rule 'a' returned b'x' on row 1"),
        ("def rule_a(text): return ['x'] * 10**6", r"rule 'a' returned \['x', .*\.\.\. on row 1"),
        ("def rule_a(): return None", r"rule 'a' failed on row 1 \(TypeError"),
        ("raise BaseException", r"cannot run .*rules\.py \(BaseException"),
        ("\0", r"cannot run .*rules\.py \("),
    ],
)
def test_odd_functions(tmp_path: Path, content: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        apply_rules(file(tmp_path, content, "rules.py"), TEXTS, CLASSES)


def test_an_error_that_ends_python_when_it_is_told(tmp_path: Path) -> None:
    told = "class Odd(Exception):\n    def __str__(self):\n        raise SystemExit(0)\n"
    rules = file(tmp_path, f"{told}def rule_a(text):\n    raise Odd\n", "rules.py")
    with pytest.raises(DataError, match=r"rule 'a' failed on row 1 \(Odd\): fix the rule"):
        apply_rules(rules, TEXTS, CLASSES)


def test_long_lists_of_words_are_patterns() -> None:
    words = "|".join(f"word{number}" for number in range(5_000))
    assert patterns.matcher(rf"\b(?:{words})\b")(["a word4999 here", "word5000"]) == [True, False]
