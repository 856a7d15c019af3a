"""What the tests of experiments share: a small grid on real questions, a way to run it here, and a planted table."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from actune.bench.cells import Cell, CellDevice
from actune.bench.evidence import Evidence
from actune.bench.executors import Event
from actune.bench.grid import parse_grid
from actune.bench.run import GridRun, device_of, prepare
from actune.bench.store import Results
from actune.bench.work import Job, run_cell
from actune.core.task import Task
from tests.bench.planted import Planted, paper_rows

TIMES = ("seconds_fit", "seconds_evaluate", "seconds_select")


class Here:
    """An executor without processes: one cell after another, in this one."""

    def run(self, cells: Sequence[Cell], job: Job) -> Iterator[Event]:
        for cell in cells:
            yield Event("started", cell)
            run_cell(cell, job)
            yield Event("finished", cell)


@dataclass(frozen=True)
class Small:
    """The small grid, as a text and as a file, with the table that an undisturbed run of it gives."""

    text: str
    file: Path
    folder: Path
    table: pd.DataFrame


def lasting(table: pd.DataFrame) -> pd.DataFrame:
    """A table without what differs from run to run."""
    return table.drop(columns=list(TIMES))


def make(text: str, folder: Path, **options: object) -> GridRun:
    """Runs a grid in this process, to its end."""
    work = prepare(parse_grid(text), folder, device(), **options)  # type: ignore[arg-type]
    for _ in work.events(Here()):
        pass
    return work


def device() -> CellDevice:
    return device_of("cpu")


def stub_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub that has a small ag_news without dev rows, and no files that would be taken before it."""
    import datasets

    names, rows = ["World", "Sports", "Business", "Sci/Tech"], {"train": 1_300, "test": 40}
    columns = {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=names)}

    def load(id: str, config: str | None, split: str) -> datasets.Dataset:
        cells = {
            "text": [f"story {row}" for row in range(rows[split])],
            "label": [row % 4 for row in range(rows[split])],
        }
        return datasets.Dataset.from_dict(cells, features=datasets.Features(columns))

    monkeypatch.delenv("ACTUNE_DATA", raising=False)
    monkeypatch.setattr(datasets, "load_dataset", load)


def write_questions(folder: Path, questions: Task) -> Path:
    """300 questions with dev and test in a folder."""
    for name, pool in (("train", questions.pool), ("dev", questions.dev), ("test", questions.test)):
        assert pool is not None
        names = [pool.classes[label] for label in pool.labels]
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as handle:
            csv.writer(handle).writerows([["id", "text", "label"], *zip(pool.ids, pool.texts, names, strict=True)])
    return folder


def grid_text(
    data: Path, methods: Sequence[str] = ("asst", "actune"), seeds: Sequence[int] = (0, 1), **settings: object
) -> str:
    """The small grid, with other methods, seeds or settings."""
    words = {"initial": 20, "batch": 10, "rounds": 4, "steps": 60, "epochs": 3, "teacher_samples": 3} | settings
    return (
        f'title = "small"\n[task.questions]\ndata = "{data}"\n[grid]\ntasks = "questions"\n'
        f'methods = {list(methods)}\nlearners = "probe"\nseeds = {list(seeds)}\n[settings]\n'
        + "\n".join(f"{name} = {value}" for name, value in words.items())
        + "\n"
    )


def make_small(folder: Path, text: str) -> Small:
    """The small grid in a folder, run undisturbed."""
    (folder / "grid.toml").write_text(text, encoding="utf-8")
    make(text, folder / "results")
    return Small(text, folder / "grid.toml", folder / "results", Results(folder / "results").table())


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory, questions: Task) -> Path:
    return write_questions(tmp_path_factory.mktemp("questions"), questions)


@pytest.fixture(scope="session")
def grid_of(data: Path) -> Callable[..., str]:
    return partial(grid_text, data)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory, grid_of: Callable[..., str]) -> Small:
    """Two methods and two seeds."""
    return make_small(tmp_path_factory.mktemp("small"), grid_of())


@pytest.fixture(scope="session")
def paper_results() -> Planted:
    """The whole paper as a planted table."""
    return Planted(paper_rows(), texts=300)


@pytest.fixture(scope="session")
def paper_evidence(paper_results: Planted) -> Evidence:
    return Evidence(paper_results)
