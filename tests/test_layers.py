"""Imports point down only, siblings never meet, and what must be instant imports no heavy library."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "actune"
LAYERS = [
    {"core"},
    {"methods", "models", "weak", "data"},
    {"store"},
    {"session", "annotators"},
    {"report"},
    {"web", "bench"},
    {"cli"},
]


def layer(part: str) -> int:
    return next(number for number, parts in enumerate(LAYERS) if part in parts)


def imports(file: Path) -> set[str]:
    """The parts of actune that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("actune."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {name.name.split(".")[1] for name in node.names if name.name.startswith("actune.")}
    return found - {"errors"}


@pytest.mark.parametrize("part", sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()))
def test_imports_point_down(part):
    for file in (ROOT / part).rglob("*.py"):
        for other in imports(file) - {part}:
            assert layer(other) < layer(part), f"{file.relative_to(ROOT)} imports {other}"


@pytest.mark.parametrize(
    "module",
    [
        "actune",
        "actune.cli.app",
        "actune.core.pool",
        "actune.core.dialogue",
        "actune.core.streams",
        "actune.methods.recipes",
        "actune.session.setup",
        "actune.store.store",
        "actune.models.learners",
        "actune.annotators.files",
        "actune.bench.grid",
        "actune.bench.local",
        "actune.bench.store",
    ],
)
def test_instant_modules_import_nothing_heavy(module):
    heavy = {"torch", "transformers", "sklearn", "matplotlib", "pandas", "datasets"}
    program = f"import sys, {module}; print(*sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
