"""`advance` and `status` as a person meets them: no dead end, no silent change of the model, always a next step."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from actune import open_session
from tests.cli.conftest import CLASSES, FAST, answer, done, read, write


def start(folder: Path, files: Path) -> Path:
    plan = [*FAST, "--initial", 12, "--batch", 8]
    done("start", files / "bare.csv", "--labels", CLASSES, *plan, "--out", folder)
    return folder


def say_all(folder: Path, label: str) -> None:
    batch = folder.with_name("said.csv")
    done("ask", folder, "--to", batch)
    write(batch, ["id", "label"], [[row["id"], label] for row in read(batch)])
    done("tell", folder, batch)
    batch.unlink()


def test_a_whole_batch_may_be_skipped(tmp_path: Path, files: Path, truth: dict[str, str]) -> None:
    folder = start(tmp_path / "p", files)
    say_all(folder, "skip")
    assert done("status", folder, "--json").facts["next"] == "advance"
    said = done("advance", folder, "--json")
    assert (said.facts["round"], said.facts["trained"], said.facts["questions"]) == (None, False, 12)
    assert "fewer than two classes have answers, so no model can be trained yet; there are new questions" in said.err
    assert f"next: actune ask {folder} --to batch.csv" in said.err
    answer(folder, truth)
    said = done("advance", folder, "--json")
    assert (said.facts["round"], said.facts["trained"], said.facts["labels"]) == (0, True, 12)
    say_all(folder, "skip")
    said = done("advance", folder, "--json")
    assert (said.facts["round"], said.facts["trained"], said.facts["questions"]) == (0, False, 8)
    assert "there were no open questions, so new ones were selected" in said.err


def test_tell_names_the_step_that_makes_sense(tmp_path: Path, files: Path) -> None:
    """Answers of one class train nothing, and neither does a file without news."""
    folder = start(tmp_path / "p", files)
    ids = [question["id"] for question in done("ask", folder, "--json").facts["questions"]]
    one = done("tell", folder, write(tmp_path / "a.csv", ["id", "label"], [[ids[0], "human"], [ids[1], ""]]))
    assert one.err.splitlines()[-1] == f"next: actune ask {folder} --to batch.csv"
    two = done("tell", folder, write(tmp_path / "b.csv", ["id", "label"], [[ids[1], "entity"]]), "--json")
    assert two.err.splitlines()[-1] == f"next: actune advance {folder}" and two.facts["next"] == "advance"


def test_classes_without_an_answer_are_named(tmp_path: Path, files: Path) -> None:
    folder = start(tmp_path / "p", files)
    ids = [question["id"] for question in done("ask", folder, "--json").facts["questions"]]
    rows = [[id, ("human", "entity")[number % 2]] for number, id in enumerate(ids)]
    done("tell", folder, write(tmp_path / "a.csv", ["id", "label"], rows))
    said = done("advance", folder, "--json")
    sentence = "4 of 6 classes have no answer yet: description, abbreviation, location, numeric"
    assert sentence in said.err and sentence in done("status", folder).err
    assert said.facts["classes_without_answers"] == ["description", "abbreviation", "location", "numeric"]
    lines = said.err.splitlines()
    starts = ["round 0: 12 labels", "cross-validated", "4 of 6 classes", "predict uses the model of round 0", "8 new"]
    places = [next(place for place, line in enumerate(lines) if line.startswith(start)) for start in starts]
    assert places == sorted(places) and lines[-1] == f"next: actune ask {folder} --to batch.csv"
    assert "it does not replace a test set." in said.err
    validated = said.facts["quality"]["cross_validation"]
    assert validated["accuracy"]["count"] == 12 and validated["accuracy"]["low"] <= validated["accuracy"]["high"]


def test_without_new_answers_nothing_is_trained(project: Path, truth: dict[str, str]) -> None:
    before = open_session(project).store.models()
    said = done("advance", project, "--json")
    assert "there are no new answers since the last round, so no model was trained" in said.err
    assert (said.facts["trained"], said.facts["round"], said.facts["questions"]) == (False, 0, 10)
    assert open_session(project).store.models() == before
    assert done("advance", project, "--force", "--json").facts["round"] == 1
    answer(project, truth)
    facts = done("advance", project, "--json").facts
    assert facts["trained"] and facts["round"] == 2
    assert facts["quality"]["agreement"]["count"] == 10  # the forced round asked others, and nobody answered the first


def test_the_fine_tuned_model_stays_in_use(tmp_path: Path, files: Path, truth: dict[str, str]) -> None:
    """A round after --finish does not make predict worse, and says which model is in use."""
    folder = tmp_path / "p"
    words = ["--labels", CLASSES, "--round-seconds", 0, "--initial", 12, "--batch", 8, "--set", "epochs=1"]
    done("start", files / "bare.csv", *words, "--method", "random", "--out", folder)
    answer(folder, truth)
    done("advance", folder)
    said = done("advance", folder, "--finish", "--json")
    assert "predict uses the fine-tuned model after round 0, trained on all 12 answers" in said.err
    texts = write(tmp_path / "t.csv", ["text"], [["who painted guernica ?"], ["how many miles is it ?"]])
    done("predict", folder, texts, "--out", tmp_path / "before.csv")
    assert "is already trained on all answers" in done("advance", folder, "--finish").err
    answer(folder, truth)
    said = done("advance", folder, "--json")
    assert (
        "predict uses the fine-tuned model after round 0, trained on 12 of 20 answers; "
        f"run `actune advance {folder} --finish` to train a new one"
    ) in said.err
    assert said.facts["model"] == {"round": 0, "fine_tuned": True, "knows": 12}
    done("predict", folder, texts, "--out", tmp_path / "after.csv")
    assert read(tmp_path / "after.csv") == read(tmp_path / "before.csv")
    facts = done("status", folder, "--json").facts
    assert [final["labels"] for final in facts["finals"]] == [12] and len(facts["rounds"]) == 2
    assert open_session(folder).final == open_session(folder).finals()[0]


def test_the_status_of_a_project(project: Path, truth: dict[str, str]) -> None:
    said = done("status", project, "--json")
    facts = said.facts
    assert (facts["texts"], facts["labels"], facts["questions"], facts["skipped"]) == (300, 20, 10, 0)
    assert sum(facts["class_counts"].values()) == 20 and set(facts["class_counts"]) == set(CLASSES.split(","))
    assert facts["model"] == {"round": 0, "fine_tuned": False, "knows": 20} and facts["next"] == "ask"
    assert 0 <= facts["rounds"][0]["accuracy"] <= 1
    assert said.out.count("\n") == 1
    shown = done("status", project)
    assert "round 0" in shown.out and f"next: actune ask {project} --to batch.csv" in shown.err
    assert done("status", project, "--quiet").err == ""
    answer(project, truth)
    assert f"next: actune advance {project}" in done("status", project).err


def test_the_status_of_a_run(finished: tuple[list[object], object]) -> None:
    folder = finished[0][-1]
    said = done("status", folder, "--json")
    assert said.facts["next"] == "report" and len(said.facts["rounds"]) == 3
    assert f"next: actune report {folder}" in said.err


@pytest.mark.parametrize("words", [["status"], ["advance"]])
def test_a_status_imports_no_torch(project: Path, words: list[str]) -> None:
    """Neither does an advance that has nothing to do."""
    code = (
        "import sys\nfrom actune.cli.app import app\n"
        f"try:\n    app({[*words, str(project)]!r})\nexcept SystemExit as end:\n    assert not end.code\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
