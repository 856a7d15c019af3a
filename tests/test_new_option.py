"""A new option of a run is one line: with it the command line, grids, `create`, run.toml and the errors know it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

import actune
from actune.bench.cells import CellDevice, plan
from actune.bench.grid import parse_grid
from actune.bench.vocabulary import RUN_SETTINGS
from actune.cli.options import run_options
from actune.core.options import Place, option, options_at
from actune.core.spec import CREATE, GRID, RUN, START, RunSpec
from actune.core.task import Task
from actune.errors import RunFolderError, SettingError
from actune.session import config, request
from actune.session.config import FILE, load_config
from actune.session.resume import open_or_create

PLAN: dict[str, Any] = {
    "method": "random",
    "learner": "probe",
    "initial": 12,
    "batch": 5,
    "rounds": 2,
    "simulated": True,
}
CELL = '[grid]\ntasks = "trec"\nmethods = "random"\nlearners = "probe"\n[settings]\nrounds = 3\n'


@dataclass(frozen=True)
class LongerSpec(RunSpec):
    """The options of a run and one more."""

    patience: int = option(3, "Stop after this many rounds without progress.", RUN | START | GRID | CREATE)


@pytest.fixture
def longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a session makes and reads is the longer spec."""
    monkeypatch.setattr(request, "RunSpec", LongerSpec)
    monkeypatch.setattr(config, "RunSpec", LongerSpec)


def test_the_command_line_has_it() -> None:
    seen: dict[str, Any] = {}
    app = typer.Typer()

    @app.command()
    @run_options(Place.RUN, LongerSpec)
    def command(*, options: dict[str, Any], out: Annotated[str, typer.Option()] = "here") -> None:
        seen.update(options, out=out)

    told = CliRunner().invoke(app, ["trec", "--patience", "5", "--out", "there"], catch_exceptions=False)
    assert told.exit_code == 0
    assert (seen["source"], seen["patience"], seen["out"]) == ("trec", 5, "there")
    assert CliRunner().invoke(app, ["trec", "--patience", "long"]).exit_code == 2
    page = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).stdout
    (line,) = (line for line in page.splitlines() if "--patience" in line)
    assert "Stop after this many rounds without progress." in line and "[default: 3]" in line
    assert CliRunner().invoke(app, ["trec"]).exit_code == 0 and seen["patience"] == 3


def test_create_takes_it_and_the_folder_keeps_it(longer: None, tmp_path: Path, questions: Task) -> None:
    actune.create(tmp_path / "run", questions, patience=5, **PLAN).store.close()  # type: ignore[call-arg]
    assert "patience = 5\n" in (tmp_path / "run" / FILE).read_text()
    assert isinstance(kept := load_config(tmp_path / "run").request, LongerSpec) and kept.patience == 5
    with pytest.raises(RunFolderError, match="--patience was 5 when this run was created, and is 4 now"):
        open_or_create(tmp_path / "run", questions, {**PLAN, "patience": 4})  # type: ignore[typeddict-item]
    with pytest.raises(SettingError, match="option 'patience' takes a whole number, not 'long'"):
        actune.create(tmp_path / "other", questions, patience="long", **PLAN)  # type: ignore[call-arg]
    with pytest.raises(SettingError, match="a run has no option 'patiense': did you mean 'patience'"):
        actune.create(tmp_path / "other", questions, patiense=4, **PLAN)  # type: ignore[call-arg]
    assert not (tmp_path / "other").exists()


def test_a_folder_from_before_has_the_default(tmp_path: Path, questions: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    actune.create(tmp_path / "run", questions, **PLAN).store.close()
    before = load_config(tmp_path / "run").request
    monkeypatch.setattr(config, "RunSpec", LongerSpec)
    assert load_config(tmp_path / "run").request == LongerSpec(**vars(before))


def test_a_grid_sets_it_and_finished_cells_keep_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    def key(text: str) -> str:
        (cell,) = plan(parse_grid(text), CellDevice("cpu"))
        return cell.key

    before = key(CELL)
    monkeypatch.setattr(request, "RunSpec", LongerSpec)
    monkeypatch.setitem(RUN_SETTINGS, "patience", options_at(LongerSpec, Place.GRID)["patience"])
    assert key(CELL) == key(CELL + "patience = 3\n") == before
    assert key(CELL + "patience = 5\n") != before
    (point,) = parse_grid(CELL + "[[block]]\nmethods = 'badge'\nsettings = { patience = 5 }\n").points[1:]
    assert point.variant == "patience=5"
    with pytest.raises(SettingError, match="setting 'patience' takes a whole number, not 'long'"):
        parse_grid(CELL + "patience = 'long'\n")
