"""Imports point down only, siblings never meet, and what must be instant imports no heavy library."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "actune"
LAYERS = [
    {"core"},
    {"methods", "models", "weak", "data"},
    {"rounds", "store", "testing"},
    {"session", "annotators"},
    {"report", "estimators"},
    {"web", "bench"},
    {"cli"},
]


def layer(part: str) -> int:
    return next(number for number, parts in enumerate(LAYERS) if part in parts)


def imported_modules(file: Path) -> set[str]:
    """The modules of actune that a file imports anywhere in it: local and type-checking imports count too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "actune":
            found |= {f"{node.module}.{name.name}" for name in node.names} | {node.module}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.split(".")[0] == "actune"}
    return found


def module_name(file: Path) -> str:
    parts = file.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(file: Path) -> set[str]:
    """The parts of actune that a file imports."""
    return {name.split(".")[1] for name in imported_modules(file) if "." in name} - {"errors", "__version__"}


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


def circle_in(graph: dict[str, set[str]]) -> str:
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return " <- ".join(error.args[1])
    return ""


def test_no_modules_import_each_other_in_a_circle():
    assert circle_in({"a": {"b"}, "b": {"a"}})
    files = {module_name(file): file for file in ROOT.rglob("*.py")}
    graph = {name: imported_modules(file) & files.keys() for name, file in files.items()}
    for name, others in graph.items():  # the package of a module is imported with it
        others -= {other for other in others if name == other or name.startswith(f"{other}.")}
    assert not circle_in(graph)


def test_rounds_know_no_session():
    for file in (ROOT / "rounds").glob("*.py"):
        assert not {"session", "store", "annotators"} & imports(file), file
