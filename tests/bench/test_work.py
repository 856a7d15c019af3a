"""One cell: it may stop after any round and go on, keeps little, and is the run that `actune run` would be."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import actune
from actune.annotators.oracle import Oracle
from actune.bench.cells import Cell, load, plan
from actune.bench.grid import parse_grid
from actune.bench.pruning import commit
from actune.bench.store import Results
from actune.bench.work import CellStep, Job, OutOfTime, run_cell
from actune.errors import DataError, ModelError, RunFolderError
from actune.report.page import write_report
from actune.session.runner import result, run
from tests.bench.conftest import Small, device, make, stub_hub
from tests.models.tiny import QUESTIONS, save_tiny

GridOf = Callable[..., str]


def cell_of(text: str) -> Cell:
    return plan(parse_grid(text), device())[0]


def arrays(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((folder / "arrays").iterdir())}


@pytest.mark.parametrize("method", ["actune", "cosine", "badge"])
def test_a_cell_that_stops_after_every_round_ends_like_an_unbroken_one(method: str, grid_of: GridOf, tmp_path: Path):
    cell = cell_of(grid_of([method], [3], rounds=3))
    run_cell(cell, Job(tmp_path / "whole"))
    stopping = Job(tmp_path / "stopped", until=time.time() - 1)
    steps: list[CellStep] = []
    for rounds in (1, 2):
        with pytest.raises(OutOfTime):
            run_cell(cell, stopping, steps.append)
        kept = sorted(arrays(stopping.folder / "cells" / cell.key))
        # what the next round needs, the first choice's map, and predictions
        memory = [f"memory-{rounds:03d}.safetensors"] if method == "actune" else []
        choices = sorted({"select-001.safetensors", f"select-{rounds:03d}.safetensors"})
        assert kept == [*(f"fit-{n:03d}.safetensors" for n in range(rounds)), *memory, *choices]
    run_cell(cell, stopping, steps.append)
    assert [step.round for step in steps if not step.stage] == [0, 1, 1, 2, 2, 3]
    folders = [job / "cells" / cell.key for job in (tmp_path / "whole", tmp_path / "stopped")]
    assert arrays(folders[0]) == arrays(folders[1])
    assert [facts(folder) for folder in folders[:1]] == [facts(folder) for folder in folders[1:]]


def test_a_cell_goes_on_where_another_grid_began_it_with_the_same_settings_in_other_words(
    grid_of: GridOf, tmp_path: Path
):
    left_out, named = (cell_of(grid_of(["actune"], [3], rounds=2, **words)) for words in ({}, {"beta": 0.5}))
    assert left_out.key == named.key and left_out.options["changes"] != named.options["changes"]
    with pytest.raises(OutOfTime):
        run_cell(left_out, Job(tmp_path, until=time.time() - 1))
    run_cell(named, Job(tmp_path))
    assert len(facts(tmp_path / "cells" / named.key)) == 2


def facts(folder: Path) -> list[dict[str, object]]:
    store = actune.store.store.Store.reading(folder)
    try:
        return [replace(round, seconds={}) for round in store.rounds()]
    finally:
        store.close()


def test_a_cell_is_the_session_that_anybody_would_make(small: Small, tmp_path: Path):
    for cell in plan(parse_grid(small.text), device())[:2]:
        point = cell.point
        task = load(point.data, point.reading, point.seed, point.preset)
        session = actune.create(tmp_path / cell.key, task, **cell.options)
        run(session, Oracle(task.pool))
        rows = Results(small.folder).rows(cell.key)
        assert [row["accuracy"] for row in rows] == result(session)["accuracy"]
        assert [row["pseudo_label_accuracy"] for row in rows] == result(session)["pseudo_label_accuracy"]


def test_a_finished_cell_of_a_named_data_set_can_be_opened_and_reported(tmp_path: Path):
    text = '[grid]\ntasks = "trec"\nmethods = "random"\nlearners = "probe"\n[settings]\nweak = true\nrounds = 1\n'
    work = make(text + "epochs = 1\nlabelled_batch = 500\n", tmp_path / "results")
    session = actune.open_session(work.results.place(work.cells[0].key))
    assert session.done and session.weak is None and len(session.pool) == 4965
    assert write_report([session], tmp_path / "report.html").is_file()


def test_cells_of_every_seed_run_on_data_from_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stub_hub(monkeypatch)
    text = (
        f'[grid]\ntasks = "ag_news"\nmethods = "random"\nmodels = "{save_tiny(tmp_path / "tiny")}"\n'
        'learners = "probe"\nseeds = [0, 1, 2]\n[settings]\ninitial = 20\nbatch = 10\nrounds = 1\nepochs = 1\n'
    )
    work = make(text, tmp_path / "results")
    assert len(work.results.finished()) == 3


def test_the_commit_of_a_copy_is_what_its_variable_says(monkeypatch: pytest.MonkeyPatch):
    known = commit.__wrapped__  # what was found before is kept
    monkeypatch.setenv("ACTUNE_COMMIT", "0123abc")
    assert known() == "0123abc"
    monkeypatch.setenv("ACTUNE_COMMIT", "")
    assert known() != "0123abc"


def test_a_cell_keeps_no_model_unless_it_is_asked_to(grid_of: GridOf, tmp_path: Path):
    cell = cell_of(grid_of(["asst"], rounds=2))
    for kept, models in (("none", []), ("last", ["001"]), ("all", ["000", "001"])):
        run_cell(cell, Job(tmp_path / kept, models=kept))  # type: ignore[arg-type]
        folder = tmp_path / kept / "cells" / cell.key
        assert sorted(path.name for path in folder.glob("models/*")) == models
        assert all((folder / "models" / name / "head.safetensors").is_file() for name in models)
        assert (folder / "model" / "head.safetensors").is_file() == bool(models)


def test_a_finished_cell_of_a_large_pool_is_below_two_megabytes(tmp_path: Path):
    """60,000 texts of 14 classes, all of which rules vote on and a teacher passes on, and 8,000 in test."""
    words, rng, data = QUESTIONS.split(), np.random.default_rng(0), tmp_path / "data"
    data.mkdir()
    for split, rows in (("train", 60_000), ("test", 8000)):
        texts, labels = rng.choice(words, (rows, 4)).tolist(), rng.integers(14, size=rows).tolist()
        lines = [f"{' '.join(text)},class {label}" for text, label in zip(texts, labels, strict=True)]
        (data / f"{split}.csv").write_text("\n".join(["text,label", *lines]))
    (data / "rules.toml").write_text('[[rule]]\nlabel = "class 1"\npattern = "."\n')
    text = (
        f'[task.large]\ndata = "{data}"\nhold_out_dev = 0\n[grid]\ntasks = "large"\nmethods = ["st", "actune"]\n'
        f'models = "{save_tiny(tmp_path / "tiny")}"\nlearners = "probe"\n[settings]\ninitial = 100\nbatch = 100\n'
        "rounds = 2\nsteps = 5\nepochs = 1\nlabelled_batch = 5000\nregions = 3\nregions_used = 1\n"
        f'weak = "{data / "rules.toml"}"\n'
    )
    work = make(text, tmp_path / "results")
    for cell in work.cells:
        files = list(work.results.place(cell.key).rglob("*"))
        size = sum(path.stat().st_size for path in files if path.is_file())
        rounds = size + 8 * (8000 + 16_000)  # the other eight rounds of a whole run: predictions, answers, questions
        assert 100_000 < size < rounds < 2_000_000, [(path.name, path.stat().st_size) for path in files]
        assert (predictions := work.results.predictions(cell.key)) is not None
        assert predictions.shape == (3, 8000)


def test_what_is_not_as_planned_is_one_sentence(grid_of: GridOf, tmp_path: Path):
    cell, job = cell_of(grid_of(["random"])), Job(tmp_path)
    with pytest.raises(
        DataError, match="the data of 'questions' on this machine differs from the data that the grid was planned with"
    ):
        run_cell(replace(cell, data="other"), job)
    other = replace(cell.device, precision="float8")
    with pytest.raises(ModelError, match="the grid was planned for float8 on cpu"):
        run_cell(replace(cell, device=other), job)
    (tmp_path / "cells" / cell.key).mkdir(parents=True)
    (tmp_path / "cells" / cell.key / "strange").touch()
    with pytest.raises(RunFolderError, match="is not empty and not a run folder"):
        run_cell(cell, job)
