"""Cells share their first model and its reads, and nobody can tell from the results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import actune
from actune.annotators.oracle import Oracle
from actune.bench.cells import load
from actune.bench.grid import parse_grid
from actune.bench.run import prepare
from actune.models.finetuning import FineTuning
from actune.models.probing import Probing, one_thread
from actune.session.runner import run
from tests.bench.conftest import Here, device, make
from tests.models.tiny import save_tiny

GridOf = Callable[..., str]
METHODS = {
    "probe": ["random", "entropy", "badge", "actune-cal", "st", "cosine"],
    "finetune": ["random", "badge", "bald", "cosine", "revival"],
}
FITS: dict[str, Any] = {"probe": Probing, "finetune": FineTuning}


@pytest.mark.parametrize(("learner", "weak"), [("probe", False), ("probe", True), ("finetune", False)])
def test_shared_cells_equal_cells_of_their_own(
    learner: str, weak: bool, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Down to the last bit, although only one of them fits the first model."""
    votes = tmp_path / "rules.toml"
    votes.write_text('[[rule]]\nlabel = "human"\npattern = "who"\n[[rule]]\nlabel = "numeric"\npattern = "how"\n')
    text = (
        f'[task.questions]\ndata = "{data}"\n[grid]\ntasks = "questions"\n'
        f'methods = {METHODS[learner]}\nlearners = "{learner}"\n'
        f'models = "{save_tiny(tmp_path / "tiny")}"\n[settings]\ninitial = 20\nbatch = 10\nrounds = 2\nsteps = 3\n'
        "epochs = 2\nmost_steps = 6\nmax_tokens = 16\nsamples = 2\ngraph_neighbors = 5\n"
        + (f'weak = "{votes}"\n' if weak else "")
    )
    fits: list[int] = []
    fit = FITS[learner].fit

    def counted(self: Any, *words: Any, **more: Any) -> Any:
        fits.append(words[3].round)
        return fit(self, *words, **more)

    monkeypatch.setattr(FITS[learner], "fit", counted)
    work = make(text, tmp_path / "shared")
    students = set() if weak else {"cosine", "st"}  # are fitted in the first round too
    padded = {"revival"}
    assert fits.count(0) == 1 + len((students | padded) & set(METHODS[learner]))
    assert not (tmp_path / "shared" / "shared").exists()
    for cell in work.cells:
        point = cell.point
        with one_thread(torch.device("cpu")):
            session = actune.create(tmp_path / cell.key, load(point.data, point.reading, 0, "paper"), **cell.options)
            run(session, Oracle(session.pool))
        predictions = work.results.predictions(cell.key)
        assert predictions is not None
        for round, found in enumerate(predictions):
            mine = session.store.load_arrays(f"fit-{round:03d}")["test_predictions"]
            np.testing.assert_array_equal(mine, found, str((point.method, round)))
        maps = session.store.load_arrays("select-001")
        for name, array in arrays_in(work.results.place(cell.key), "select-001").items():
            np.testing.assert_array_equal(maps[name], array, str((point.method, name)))
        asked = [question.row for question in session.store.questions()]
        assert asked == questions(work.results.place(cell.key))


def arrays_in(folder: Path, name: str) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(folder / "arrays" / f"{name}.safetensors")


def questions(folder: Path) -> list[int]:
    store = actune.store.store.Store.reading(folder)
    try:
        return [question.row for question in store.questions()]
    finally:
        store.close()


def test_methods_of_one_seed_share_their_first_labels_dev_rows_and_luck(grid_of: GridOf, tmp_path: Path):
    work = make(grid_of(["random", "badge", "actune"], [0, 1], rounds=2), tmp_path / "results")
    table = work.results.table()
    first = {cell.point.coordinates: questions(work.results.place(cell.key))[:20] for cell in work.cells}
    for seed in (0, 1):
        rows = [asked for place, asked in first.items() if place[4] == seed]
        assert rows == [rows[0]] * 3
        assert table[(table.seed == seed) & (table["round"] == 0)].accuracy.nunique() == 1
    assert len({str(asked) for asked in first.values()}) == 2


def test_cells_whose_first_labels_differ_share_nothing(grid_of: GridOf, tmp_path: Path):
    """As many labels, but other rows, or other answers about the same rows."""
    sweeps = '[[sweep]]\nover = { first = "typiclust" }\n[[sweep]]\nover = { noise = 0.5 }\n'
    text = grid_of(["random"], [0], rounds=1) + sweeps
    work = make(text, tmp_path / "results")
    for cell in work.cells:
        alone = make(text, tmp_path / cell.key, only=[f"variant={cell.point.variant}"])
        found, own = work.results.predictions(cell.key), alone.results.predictions(cell.key)
        assert found is not None and own is not None
        np.testing.assert_array_equal(found, own)


def test_what_a_killed_process_left_is_not_taken_for_a_model(grid_of: GridOf, tmp_path: Path):
    text = grid_of(["random", "actune"], [0], rounds=2)
    whole = make(text, tmp_path / "whole").results.table()
    work = prepare(parse_grid(text), tmp_path / "results", device())
    events = work.events(Here())
    for event in events:
        if event.kind == "finished":
            break
    (shared,) = (tmp_path / "results" / "shared").glob("*/*")
    assert (shared / "model" / "head.safetensors").is_file()
    (shared / "model").rename(shared / "model.new")  # killed while it wrote
    (shared / "model.new" / "head.safetensors").write_bytes(b"half")
    for _ in events:
        pass
    assert work.results.table().accuracy.tolist() == whole.accuracy.tolist()
    assert not (tmp_path / "results" / "shared").exists()


def test_prepared_texts_and_data_are_made_once_for_all_cells(
    grid_of: GridOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    prepared: list[int] = []
    prepare_texts = Probing.prepare

    def spy(self: Probing, texts: tuple[str, ...], *words: object) -> object:
        prepared.append(len(texts))
        return prepare_texts(self, texts, *words)  # type: ignore[arg-type]

    monkeypatch.setattr(Probing, "prepare", spy)
    make(grid_of(["random", "entropy", "actune"], [7], rounds=2), tmp_path / "results")
    assert sorted(prepared) == [60, 100, 300]
