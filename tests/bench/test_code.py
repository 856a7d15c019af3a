"""A grid may name code, and it runs only where the user allows it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from actune.bench.cells import CellDevice, plan
from actune.bench.grid import load_grid, parse_grid
from actune.bench.store import Results
from actune.cli.app import app
from actune.errors import SettingError

GridOf = Callable[..., str]


@pytest.fixture
def grid(grid_of: GridOf, tmp_path: Path) -> Path:
    (tmp_path / "rules.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'a').write('x')\n"
        "def rule_a(text): return 'description' if 'a' in text else None\n"
        "def rule_b(text): return 'human' if 'Who' in text else None\n"
    )
    weak = repr(str(tmp_path / "rules.py"))
    (tmp_path / "grid.toml").write_text(grid_of(["random"], [0], rounds=1, weak=weak))
    return tmp_path / "grid.toml"


@pytest.mark.parametrize("command", ["plan", "run"])
def test_python_rules_of_a_grid_run_only_where_the_user_allows_it(grid: Path, tmp_path: Path, command: str):
    words = ["bench", command, str(grid), "--device", "cpu", "--out", str(tmp_path / "out"), "--only", "seed=0"]
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 2 and "--allow-python-rules" in found.output and "rules.py" in found.output
    assert not (tmp_path / "ran").exists() and not (tmp_path / "out").exists()
    if command == "plan":
        found = CliRunner().invoke(app, [*words, "--allow-python-rules"])
        assert f"running the Python code in {tmp_path / 'rules.py'}" in found.output.replace("\n", "")
        assert (tmp_path / "ran").exists()


def test_the_library_asks_too(grid: Path, tmp_path: Path):
    with pytest.raises(SettingError, match=r"the Python rules '.*rules\.py', which would run as code"):
        plan(load_grid(grid), CellDevice("cpu"))
    with pytest.raises(SettingError, match="which would run as code"):
        plan(load_grid(grid).only(["seed=0"]), CellDevice("cpu"))
    assert not (tmp_path / "ran").exists()
    assert plan(load_grid(grid, python=True).only(["seed=0"]), CellDevice("cpu"))


def test_a_method_by_place_is_not_imported_for_a_grid_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "planted_module.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a')\nmethod = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = '[grid]\ntasks = "trec"\nmethods = ["planted_module:method"]\n'
    with pytest.raises(SettingError, match="'planted_module:method', whose module would run as code"):
        parse_grid(text)
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "grid.toml").write_text(text)
    (tmp_path / "foreign" / "bench.toml").write_text(
        f'format = 1\nactune = "1"\nid = "{"0" * 32}"\n[cells]\n0123456789abcdef = ["a", "b", "c", "d", 0, ""]\n'
    )
    assert not Results(tmp_path / "foreign").progress().complete
    assert not (tmp_path / "ran").exists() and "planted_module" not in sys.modules
    with pytest.raises(SettingError, match="must be a Recipe, a Method"):
        parse_grid(text, python=True)
    assert (tmp_path / "ran").exists()


def test_rules_on_the_command_line_run_and_a_line_says_so(grid: Path, tmp_path: Path, data: Path):
    words = ["label-model", str(data / "train.csv"), "--rules", str(tmp_path / "rules.py"), "--label-model", "majority"]
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 0, found.output
    assert f"running the Python code in {tmp_path / 'rules.py'}" in found.output.replace("\n", "")
