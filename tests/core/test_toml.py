"""TOML of others: limits, and one sentence for whatever cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from actune.core import toml
from actune.errors import DataError

NESTED = {
    "dotted keys": "a" + ".a" * 200_000 + " = 1",
    "dotted quoted keys": '"a"' + ".'a'" * 100 + " = 1",
    "a dotted header": "[a" + ".a" * 200_000 + "]",
    "brackets": "a = " + "[" * 5_000 + "]" * 5_000,
    "braces": "a = " + "{a = " * 5_000,
    "behind a text": 'b = "\\" [[[" # ]]]]\na = ' + "[" * 100,
}


@pytest.mark.parametrize("name", NESTED)
def test_what_nests_too_deep_is_refused_at_once(name: str):
    with pytest.raises(DataError, match=r"my\.toml nests more than 32 levels \(line [12]\)"):
        toml.parse(NESTED[name], "my.toml", DataError)


def test_texts_and_comments_may_have_any_signs():
    signs = "[" * 100 + "a" + ".a" * 100
    text = f'# {signs}\na = \'{signs}\'\nb = "\\"{signs}"\nc = """\n"{signs}"""\nd = \'\'\'\n{signs}\'\'\'\n'
    found = toml.parse(text + f"e = {[1.5] * 100}\n[a1.b.c]\n", "my.toml")
    assert found["a"] == signs and found["b"] == f'"{signs}' and len(found["e"]) == 100


def test_numbers_that_python_does_not_print_are_refused():
    for number in ("1" * 5_000, "0x" + "f" * 5_000, str(2**128)):
        with pytest.raises(DataError, match=r"^my\.toml .*digits"):
            toml.parse(f"a = {{b = [{number}]}}", "my.toml", DataError)
    assert toml.parse(f"a = {2**127}", "my.toml") == {"a": 2**127}


def test_files_that_cannot_be_read_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "my.toml"
    with pytest.raises(DataError, match=r"cannot read '.*my\.toml': No such file"):
        toml.read(file, DataError)
    os.mkfifo(file)
    with pytest.raises(DataError, match=r"my\.toml': it is not a regular file"):
        toml.read(file, DataError)
    file.unlink()
    file.write_bytes("a = 'é'".encode("utf-16"))
    with pytest.raises(DataError, match=r"it is not UTF-8 text \(.*\): save it as UTF-8"):
        toml.read(file, DataError)
    file.write_bytes("a = 'é'".encode("utf-8-sig"))
    assert toml.read(file, DataError) == {"a": "é"}
    monkeypatch.setattr(toml, "MOST_BYTES", 5)
    with pytest.raises(DataError, match="it has more than"):
        toml.read(file, DataError)
