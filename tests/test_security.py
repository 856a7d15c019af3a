"""SECURITY.md names tests that exist, and nothing in the package unpickles."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNPICKLES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "joblib"}


def test_every_promise_names_a_test_that_exists():
    page = (ROOT / "SECURITY.md").read_text("utf-8")
    lines = page.partition("| promise | test |\n|---|---|\n")[2].partition("\n\n")[0].splitlines()
    named = [re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", line) for line in lines]
    assert len(named) > 10 and all(named), lines
    for file, test in (each for found in named for each in found):
        source = (ROOT / file).read_text("utf-8")
        assert f"def {test}(" in source if test else "def test_" in source, f"{file}::{test}"


def test_nothing_is_unpickled():
    for file in (ROOT / "actune").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not UNPICKLES & {name.split(".")[0] for name in names}, file
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("torch.load", "np.load", "numpy.load"):
                words = {word.arg: ast.unparse(word.value) for word in node.keywords}
                assert words.get("allow_pickle") == "False" or words.get("weights_only") == "True", file
