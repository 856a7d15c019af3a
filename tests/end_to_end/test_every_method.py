"""Every registered method through the command's entry point on 600 real questions, stopped once and resumed."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from actune.data.tasks import load_task
from actune.methods.recipes import RECIPES
from tests.cli.conftest import call, done, read, snapshot, write
from tests.end_to_end.processes import fitted, started

PLAN = ["--initial", 30, "--batch", 20, "--rounds", 3, "--seed", 2]
PROBE = ["--learner", "probe", *("--set", "steps=80"), *("--set", "epochs=5"), *("--set", "teacher_samples=5")]
TRAINED = ["--learner", "finetune", *("--set", "steps=2"), *("--set", "epochs=1"), *("--set", "max_tokens=16")]
ADAPTED = ["--adapt", 6]


def options(method: str) -> list[object]:
    """The learner that a method needs, and a masked language model where it wants one."""
    needs = RECIPES[method].needs
    learner = TRAINED if "word embeddings" in needs else PROBE
    return [*learner, *(ADAPTED if "masked language model" in needs else [])]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 questions with dev and test in a folder."""
    folder, task = tmp_path_factory.mktemp("questions"), load_task("trec")
    assert task.dev is not None and task.test is not None
    for name, split, rows in (("train", task.pool, 600), ("dev", task.dev, 60), ("test", task.test, 100)):
        pool = split.only(range(rows))
        names = [pool.classes[label] for label in pool.labels]
        write(folder / f"{name}.csv", ["id", "text", "label"], zip(pool.ids, pool.texts, names, strict=True))
    return folder


def lasting(folder: Path) -> dict[str, object]:
    """What a run leaves, without its times."""
    return {name: content for name, content in snapshot(folder).items() if name.startswith(("arrays", "model"))}


def stopped(words: list[object], folder: Path) -> Path:
    """The folder of a run that was stopped by Ctrl-C in its middle; one that was too fast is tried again."""
    for attempt in range(10):
        place = folder / f"stopped-{attempt}"
        process = started(words, place, rounds=1)
        process.send_signal(signal.SIGINT)
        if process.wait() == 130:
            return place
    raise AssertionError("no run could be stopped")


@pytest.mark.parametrize("method", RECIPES)
def test_a_method_runs_and_a_stopped_run_ends_like_an_unbroken_one(method: str, data: Path, tmp_path: Path) -> None:
    words = ["run", data, "--method", method, *options(method), *PLAN, "--json", "--quiet"]
    whole = done(*words, "--out", tmp_path / "whole").facts
    assert whole["labels"] == [30, 50, 70]
    assert [len(set(asked)) for asked in whole["asked"]] == [30, 20, 20]
    assert all(0 < accuracy < 1 for accuracy in whole["accuracy"])
    folder = stopped(words, tmp_path)
    assert 1 <= fitted(folder) < 3
    again = done(*words, "--out", folder).facts
    for facts in (whole, again):
        del facts["seconds"], facts["folder"]
    assert again == whole
    assert lasting(folder) == lasting(tmp_path / "whole")


@pytest.mark.parametrize("method", ["alps", "actune-alps"])
def test_without_a_masked_language_model_a_sentence_names_what_to_do(method: str, data: Path, tmp_path: Path) -> None:
    said = call("run", data, "--method", method, *PROBE, *PLAN, "--out", tmp_path / "run", "--quiet")
    assert said.code == 2 and not (tmp_path / "run").exists()
    assert "needs a masked language model" in said.err and "--adapt 200" in said.err and "badge" in said.err
    assert len(said.err.splitlines()) == 1


def test_revival_under_a_probe_names_the_learner_to_use(data: Path, tmp_path: Path) -> None:
    said = call("run", data, "--method", "revival", *PROBE, *PLAN, "--out", tmp_path / "run", "--quiet")
    assert said.code == 2 and not (tmp_path / "run").exists()
    assert "revival needs word embeddings" in said.err and "--learner finetune" in said.err


def test_what_was_reconstructed_says_so(data: Path, tmp_path: Path) -> None:
    words = [*TRAINED, "--initial", 30, "--batch", 20, "--rounds", 1, "--out", tmp_path / "run"]
    shown = done("run", data, "--method", "revival", *words)
    assert "revival (reconstructed)" in " ".join(shown.out.split())
    assert "REVIVAL (reconstructed)" in (tmp_path / "run" / "report.html").read_text("utf-8")


@pytest.mark.parametrize("first", ["typiclust", "alps", "representatives"])
def test_a_cold_start_chooses_without_any_label(first: str, data: Path, tmp_path: Path) -> None:
    words = ["run", data, "--method", "margin", *PROBE, "--initial", 40, "--batch", 20, "--rounds", 1, "--json"]
    adapted = ADAPTED if first == "alps" else []
    asked = done(*words, *adapted, "--first", first, "--out", tmp_path / first, "--quiet").facts["asked"][0]
    assert len(set(asked)) == 40
    assert asked != done(*words, "--out", tmp_path / "random", "--quiet").facts["asked"][0]


def test_the_preset_of_the_authors_scripts_is_another_method(data: Path, tmp_path: Path) -> None:
    words = ["run", data, *PROBE, "--initial", 30, "--batch", 20, "--rounds", 2, "--json", "--quiet"]
    for method in ("actune", "cal"):
        found = [
            done(*words, "--method", method, "--preset", preset, "--out", tmp_path / f"{method}-{preset}").facts
            for preset in ("paper", "released")
        ]
        assert found[0]["asked"] != found[1]["asked"]


def test_upper_layers_alone_are_trained_saved_and_used(data: Path, tmp_path: Path) -> None:
    words = ["run", data, "--method", "actune", "--learner", "finetune", "--train-layers", 2, "--initial", 30]
    plan = ["--batch", 20, "--rounds", 2, "--set", "steps=4", "--set", "epochs=1", "--json", "--quiet"]
    facts = done(*words, *plan, "--out", tmp_path / "run").facts
    assert facts["labels"] == [30, 50] and facts["learner"] == "finetune"
    rows = read(data / "test.csv")[:5]
    texts = write(tmp_path / "texts.csv", ["id", "text"], [[row["id"], row["text"]] for row in rows])
    done("predict", tmp_path / "run", texts, "--out", tmp_path / "said.csv", "--quiet")
    assert len(read(tmp_path / "said.csv")) == 5
    said = call(*words, *plan, "--train-layers", 6, "--out", tmp_path / "other")
    assert said.code == 2 and "has 6 layers: --train-layers must be below 6" in said.err
    said = call("run", data, "--method", "revival", *words[4:], *plan, "--out", tmp_path / "third")
    assert said.code == 2 and "which --train-layers leaves out" in said.err
