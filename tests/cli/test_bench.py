"""`actune bench` as a user meets it: plans, failures with a sentence, status, merges, and bad input."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from actune.bench.store import Results
from tests.cli.conftest import Fails, call, done

GRID = """title = "two cells"
[task.questions]
data = "{data}"
[grid]
tasks = "questions"
methods = ["random", "entropy"]
learners = "probe"
[settings]
initial = 20
batch = 10
rounds = 2
epochs = 2
"""


@pytest.fixture
def grid(tmp_path: Path, files: Path) -> Path:
    file = tmp_path / "grid.toml"
    file.write_text(GRID.format(data=files / "labelled.csv"), encoding="utf-8")
    return file


def test_a_plan_counts_cells_fits_labels_and_time_and_runs_nothing(grid: Path, tmp_path: Path) -> None:
    said = done("bench", "plan", grid, "--out", tmp_path / "results", "--workers", 2, "--json")
    facts = said.facts
    assert (facts["title"], facts["cells"], facts["finished"]) == ("two cells", 2, 0)
    assert (facts["fits"], facts["labels"]) == (4, 60)
    assert facts["seconds"] > 0 and "2 workers" in said.err and not (tmp_path / "results").exists()
    assert done("bench", "plan", grid, "--device", "cuda", "--quiet").code == 0  # for another machine
    shown = done("bench", "plan", grid, "--only", "method=random")
    assert (
        "random" in shown.out and "entropy" not in shown.out and "1 cell, 0 finished; 2 fits and 30 labels" in shown.err
    )


def test_a_machine_may_have_the_data_of_its_share_alone(grid: Path, tmp_path: Path, fails: Fails) -> None:
    file = changed(grid, 'tasks = "questions"', 'tasks = ["questions", "sst2"]')
    words = ["--data-dir", tmp_path]
    out = ["--out", tmp_path / "results", "--seconds", 0]
    for command in (["plan", file], ["run", file, *out]):
        assert "has no sst2" in fails("bench", *command, *words)
        assert "has no sst2" in fails("bench", *command, *words, "--only", "task=sst2")
        said = done("bench", *command, *words, "--only", "task=questions")
        assert "2 cells" in said.err and "the other cells of the grid are not counted" in said.err
    assert len(Results(tmp_path / "results").cells) == 2


def test_a_cell_that_fails_does_not_stop_the_others_and_is_tried_again(grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    words = ["bench", "run", grid, "--out", out, "--workers", 1, "--json"]
    done(*words, "--seconds", 0)  # plans, and has no time for more
    random, entropy = (Results(out).place(key) for key in Results(out).cells)
    random.mkdir(parents=True)
    (random / "strange").touch()
    said = call(*words)
    assert said.code == 1 and said.facts["finished"] == 1 and said.facts["left"] == 0
    name = "questions random minilm probe seed 0"
    reason = said.facts["failed"][name]
    assert "not empty and not a run folder" in reason and "1/2 questions entropy" in said.err
    assert said.err.splitlines()[-1] == f"actune: 1 cell failed: {name} ({reason})"
    state = done("bench", "status", out, "--json").facts
    assert (state["finished"], state["failed"], state["complete"]) == (1, 1, False)
    assert state["reasons"] == {name: reason}
    (random / "strange").unlink()
    before = (entropy / "run.toml").stat().st_mtime_ns
    again = done(*words)
    assert again.facts["finished"] == 2 and "2 cells in" in again.err and "1 already finished" in again.err
    assert (entropy / "run.toml").stat().st_mtime_ns == before and "questions entropy" not in again.err
    state = done("bench", "status", out)
    assert "2 of 2 cells finished: the grid is complete" in state.err
    assert done("bench", "plan", grid, "--out", out, "--json").facts["basis"] == "estimated from the finished cells"
    merged = done("bench", "merge", out, "--out", tmp_path / "merged", "--json").facts
    assert (merged["taken"], merged["finished"], merged["cells"], merged["notes"]) == (2, 2, 2, [])
    table = Results(tmp_path / "merged").table()
    assert table.method.tolist() == ["entropy"] * 2 + ["random"] * 2
    tidy = tmp_path / "tidy"
    written = done("bench", "tidy", out, "--to", tidy, "--json")
    assert (written.facts["cells"], written.facts["unfinished"]) == (2, 0) and "2 finished cells in" in written.err
    assert not {path.suffix for path in tidy.iterdir()} - {".csv", ".jsonl", ".parquet", ".toml"}
    assert done("bench", "status", tidy, "--json").facts["complete"]
    assert done("bench", "plan", grid, "--out", tidy, "--json").facts["finished"] == 2
    assert done("bench", "report", tidy, "--out", tmp_path / "tidy.html", "--json").facts["complete"]
    went_on = done("bench", "run", grid, "--out", tidy, "--json")
    assert "2 already finished" in went_on.err and went_on.facts["finished"] == 2


def test_the_whole_grid_counts_whichever_cells_were_chosen(grid: Path, tmp_path: Path) -> None:
    file, out = changed(grid, 'tasks = "questions"', 'tasks = ["questions", "sst2"]'), tmp_path / "results"
    words = ["--data-dir", tmp_path, "--only", "task=questions", "--only", "method=random", "--quiet"]
    done("bench", "run", file, "--out", out, *words)
    state = done("bench", "status", out)
    assert "1 of 4 cells finished: the grid is not complete" in state.err and "sst2" in state.out
    facts = done("bench", "status", out, "--json").facts
    assert (facts["cells"], facts["finished"], facts["missing"], facts["complete"]) == (4, 1, 3, False)
    report = done("bench", "report", out, "--json")
    assert "1 of 4 cells finished: the grid is not complete" in report.err
    assert (report.facts["finished"], report.facts["cells"], report.facts["complete"]) == (1, 4, False)
    assert "Not finished, by task: questions 1, sst2 2." in (out / "report.html").read_text(encoding="utf-8")
    merged = done("bench", "merge", out, "--out", tmp_path / "merged", "--json").facts
    assert (merged["finished"], merged["cells"]) == (1, 4)


def test_results_go_to_a_folder_of_the_grids_name_and_go_on_there(
    grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    grid.rename(tmp_path / "two.cells.toml")
    words = ["bench", "run", "two.cells.toml", "--workers", 1, "--json"]
    first = done(*words, "--only", "method=random")
    assert "1 cell in runs/two.cells, 0 already finished" in first.err and first.facts["folder"] == "runs/two.cells"
    assert "2 cells in runs/two.cells, 1 already finished" in done(*words).err
    assert len(Results(tmp_path / "runs" / "two.cells").finished()) == 2


def changed(grid: Path, old: str, new: str) -> Path:
    grid.write_text(grid.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    return grid


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('learners = "probe"', 'learner = "probe"', "[grid] has no 'learner': did you mean 'learners'?"),
        ('"entropy"', '"entropie"', "unknown method 'entropie': did you mean 'entropy'?"),
        (
            'tasks = "questions"',
            'tasks = "trecs"',
            "'trecs' is neither a file nor a named data set: did you mean 'trec'?",
        ),
        ('methods = ["random", "entropy"]', "methods = []", "the list methods in [grid] is empty"),
        ("[grid]", "[girds]", "a grid has no 'girds': did you mean 'grid'?"),
        ("epochs = 2", "epochs = 2\n[[sweep]]\nover = { beta = [0.5] }", "two cells of the grid are the same run"),
        ("rounds = 2", "rounds = 200", "the plan asks for"),
    ],
)
def test_a_bad_grid_is_one_sentence(
    grid: Path, tmp_path: Path, fails: Fails, old: str, new: str, sentence: str
) -> None:
    file = changed(grid, old, new)
    for command in (["plan", file], ["run", file, "--out", tmp_path / "results"]):
        assert sentence in fails("bench", *command)


def test_words_of_the_command_that_cannot_work_are_one_sentence(
    grid: Path, tmp_path: Path, fails: Fails, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("bench", "run", grid, "--out", tmp_path / "results")
    assert "--executor must be local or ray, not 'slurm'" in fails(*words, "--executor", "slurm")
    assert "--address and --gpus-per-cell work only with --executor ray: add it, or leave them out" in fails(
        *words, "--address", "auto"
    )
    assert "--keep-models must be none, last or all, not 'some'" in fails(*words, "--keep-models", "some")
    assert "the grid has no method 'badge'" in fails(*words, "--only", "method=badge")
    assert "this machine has no CUDA device" in fails(*words, "--device", "cuda")
    assert "there is no file '" in fails("bench", "plan", tmp_path / "none.toml")
    assert "there is no folder" in fails("bench", "status", tmp_path / "none")
    assert "there is no folder" in fails("bench", "merge", tmp_path / "none", "--out", tmp_path / "all")
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "pip install 'actune[ray]'" in fails(*words, "--executor", "ray")


def test_results_of_another_version_are_one_sentence(grid: Path, tmp_path: Path, fails: Fails) -> None:
    out = tmp_path / "results"
    done("bench", "run", grid, "--out", out, "--seconds", 0)
    file = out / "bench.toml"
    file.write_text(file.read_text().replace("format = 1", "format = 2"))
    for command in (["run", grid, "--out", out], ["status", out], ["merge", out, "--out", tmp_path / "all"]):
        assert "was written by another version of actune (format 2, this one reads 1)" in fails("bench", *command)


def test_two_drivers_do_not_meet_in_one_folder(grid: Path, tmp_path: Path, fails: Fails) -> None:
    from actune.core.files import locked

    out = tmp_path / "results"
    done("bench", "run", grid, "--out", out, "--seconds", 0, "--quiet")
    longer = changed(grid, "rounds = 2", "rounds = 3")
    with locked(out, "testing"):
        assert "another process is running cells in" in fails("bench", "run", longer, "--out", out)
    assert json.loads(done("bench", "status", out, "--json", "--quiet").out)["missing"] == 2
