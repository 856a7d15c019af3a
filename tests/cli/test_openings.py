"""A first model without answers: from rules that vote, and from a classifier that a user has already."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import actune
from actune.core.task import Task
from actune.core.training_set import PseudoLabels
from actune.data.tasks import load_votes
from actune.models.learners import PROBE
from actune.rounds.fitting import training_set
from tests.cli.conftest import CLASSES, Fails, answer, call, done, read, write

FAST = ["--learner", "probe", "--set", "steps=60", "--set", "epochs=5", "--set", "most_steps=600"]
PLAN = [*FAST, "--batch", 20, "--rounds", 2, "--json", "--quiet"]


@pytest.fixture(scope="module")
def weak_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[float]]]:
    folder = tmp_path_factory.mktemp("weak") / "run"
    return folder, done("run", "trec", "--weak", "--method", "actune", *PLAN, "--out", folder).facts


@pytest.mark.parametrize("label_model", ["majority", "em", "snorkel"])
def test_a_weak_start_is_measured_from_no_labels_on(label_model: str, tmp_path: Path) -> None:
    words = ["run", "trec", "--weak", "--method", "actune", "--label-model", label_model, *PLAN]
    facts = done(*words, "--out", tmp_path / "run").facts
    assert facts["labels"] == [0, 20, 40]
    assert [len(asked) for asked in facts["asked"]] == [0, 20, 20]
    assert facts["accuracy"][0] > 0.4  # the most frequent class alone gives 0.276
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "Rules for the first model of AcTune" in page and f"<code>{label_model}</code>" in page
    rows = re.findall(r'<tr><th scope="row" class="number">(\d)</th><td class="number">(\d+)</td>', page)
    assert rows == [("0", "0"), ("1", "20"), ("2", "40")]


def test_a_weak_start_on_a_sample(tmp_path: Path) -> None:
    words = ["run", "trec", "--weak", "--sample", 600, "--label-model", "majority", "--method", "random", *PLAN]
    assert done(*words, "--out", tmp_path / "run").facts["labels"] == [0, 20, 40]
    session, whole = actune.open_session(tmp_path / "run"), load_votes("trec")
    assert session.weak is not None
    rows = [int(id.removeprefix("train-")) for id in session.pool.ids]
    votes = session.weak.votes.matrix
    assert votes.tolist() == [whole[row] for row in rows] and len(votes) == 600


def test_the_first_model_starts_the_memory(weak_run: tuple[Path, dict[str, list[float]]]) -> None:
    folder, facts = weak_run
    session = actune.open_session(folder)
    assert len(session.store.load_arrays("select-001")["pseudo_rows"]) == 500
    assert np.allclose(session.memory(2).sum(1), 1, atol=1e-5) and session.memory(0) is None  # the newest two are kept
    covered = (session.store.load_arrays("weak")["votes"] >= 0).any(1)
    assert sorted(session.weak_of_row(0)) == np.flatnonzero(covered).tolist() and not covered.all()
    assert session.weak_of_row(1) == {}
    assert facts["pseudo_labels"] == [0, 500, 1000]


def test_rules_are_measured_by_the_answers(weak_run: tuple[Path, dict[str, list[float]]]) -> None:
    session = actune.open_session(weak_run[0])
    assert session.weak is not None
    answered, sources = session.labels().of_row, session.weak.sources(session.labels().of_row)
    votes = session.weak.votes.matrix
    assert len(sources) == 68 == votes.shape[1]
    for number, source in enumerate(sources):
        judged = [(row, label) for row, label in answered.items() if votes[row, number] >= 0]
        assert source["measured_on"] == len(judged)
        right = [votes[row, number] == label for row, label in judged]
        assert source["measured_accuracy"] == (pytest.approx(np.mean(right)) if judged else None)
    assert sum(source["measured_on"] for source in sources) > 0


def test_weak_labels_stay_until_a_person_overrules_them(questions: Task, tmp_path: Path) -> None:
    votes = tmp_path / "votes.jsonl"
    weak = [
        [label if row % 2 else -1, 0 if row % 3 == 0 else -1]
        for row, label in enumerate(questions.pool.labels.tolist())
    ]
    lines = [json.dumps({"id": id, "weak_labels": w}) for id, w in zip(questions.pool.ids, weak, strict=True)]
    votes.write_text("\n".join(lines))
    pool = actune.pool_of(questions.pool.texts, ids=questions.pool.ids, classes=questions.pool.classes)
    session = actune.create(
        tmp_path / "run",
        pool,
        learner="probe",
        weak=str(votes),
        label_model="majority",
        keep_weak=True,
        batch=10,
        changes={"steps": 30, "epochs": 3},
    )
    assert session.ask() == []
    session.advance()
    asked = [question.id for question in session.ask()]
    assert len(asked) == 10
    known = session.weak_of_row(1)
    taught = {session.pool.row_of[id]: 5 for id in asked[:6]}
    session.tell(dict.fromkeys(asked[:6], session.pool.classes[5]))
    session.tell([actune.Answer(asked[6], None)])
    skipped = session.pool.row_of[asked[6]]
    training = training_set(session.labels(), known, PseudoLabels.none())
    learnt = dict(zip(training.rows.tolist(), training.labels.tolist(), strict=True))
    assert learnt == {row: label for row, label in known.items() if row != skipped} | taught
    assert session.advance().labels == 6


def test_people_answer_after_rules_began(files: Path, truth: dict[str, str], tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(
        "".join(
            f"[[rule]]\nname = '{name}'\npattern = '{pattern}'\nlabel = '{label}'\n"
            for name, pattern, label in (
                ("who", r"\bwho\b", "human"),
                ("where", r"\bwhere\b", "location"),
                ("count", r"how (many|much|long)|\bwhen\b", "numeric"),
                ("define", r"what (is|are) ", "description"),
            )
        )
    )
    folder = tmp_path / "project"
    words = ["--labels", CLASSES, "--votes", rules, *FAST, "--batch", 10]
    begun = done("start", files / "bare.csv", *words, "--out", folder, "--json")
    assert begun.facts["questions"] == 0 and f"actune advance {folder}" in begun.err
    done("advance", folder)
    assert len(answer(folder, truth)) == 10
    done("advance", folder)
    assert actune.open_session(folder).rounds()[-1].labels == 10
    page = folder / "report.html"
    done("report", folder, "--to", page)
    assert "who" in page.read_text("utf-8")


def test_a_classifier_of_ones_own_is_entry_0(files: Path, questions: Task, tmp_path: Path) -> None:
    words = ["run", files / "labelled.csv", *PLAN, "--initial", 60]
    first = done(*words, "--method", "random", "--out", tmp_path / "first").facts
    again = done(*words, "--method", "entropy", "--start-from", tmp_path / "first", "--out", tmp_path / "second").facts
    assert again["labels"] == [0, 20, 40]
    assert again["accuracy"][0] == first["accuracy"][-1]
    # the order of its outputs does not matter: names decide
    turned = shutil.copytree(tmp_path / "first" / "model", tmp_path / "turned")
    facts = json.loads((turned / "probe.json").read_text())
    from safetensors.torch import load_file, save_file

    weights = load_file(turned / "head.safetensors")
    save_file({name: value.flip(0).contiguous() if "out" in name else value for name, value in weights.items()},
              turned / "head.safetensors")  # fmt: skip
    (turned / "probe.json").write_text(json.dumps({**facts, "classes": facts["classes"][::-1]}))
    other = done(*words, "--method", "entropy", "--start-from", turned, "--out", tmp_path / "third").facts
    assert other["asked"] == again["asked"] and other["accuracy"] == again["accuracy"]
    # and the embeddings that it stands on do
    (turned / "probe.json").write_text(json.dumps({**facts, "encoder": "another"}))
    said = call(*words, "--start-from", turned, "--out", tmp_path / "fourth")
    assert said.code == 2 and "uses another encoder" in said.err and not (tmp_path / "fourth").exists()


def test_a_fine_tuned_classifier_of_ones_own(questions: Task, tmp_path: Path) -> None:
    """Saved by this project and loaded through the same door, with labels in another order than the pool's."""
    small = {"initial": 12, "batch": 8, "rounds": 1, "simulated": True}
    short = {"epochs": 1, "steps": 2, "max_tokens": 16}
    session = actune.create(
        tmp_path / "first", questions, method="random", learner="finetune", changes=short, source="q", **small
    )
    actune.run(session, actune.Oracle(questions.pool))
    accuracy = session.rounds()[-1].accuracy
    second = actune.create(
        tmp_path / "second",
        questions,
        method="entropy",
        learner="probe",
        start_from=str(tmp_path / "first"),
        changes={"max_tokens": 16, "epochs": PROBE.epochs},
        source="q",
        **small,
    )
    actune.run(second, actune.Oracle(questions.pool))
    assert [facts.labels for facts in second.rounds()] == [0, 8]
    assert second.rounds()[0].accuracy == accuracy
    # a person's project on a probe: until its first own round, the user's classifier predicts
    pool = actune.pool_of(questions.pool.texts, classes=questions.pool.classes)
    project = actune.create(
        tmp_path / "project", pool, learner="probe", start_from=str(tmp_path / "first"), changes={"max_tokens": 16}
    )
    project.advance()
    texts = list(questions.pool.texts[:5])
    assert [p.label for p in project.predict(texts)] == [p.label for p in session.predict(texts)]


def test_openings_that_cannot_work(files: Path, fails: Fails, tmp_path: Path) -> None:
    out = ["--out", tmp_path / "run", *PLAN]
    data = files / "labelled.csv"
    assert "--keep-weak needs weak labels" in fails("run", "trec", "--keep-weak", *out)
    assert "unknown label model 'emm': did you mean 'em'" in fails(
        "run", "trec", "--weak", "--label-model", "emm", *out
    )
    assert "choose one" in fails("run", "trec", "--weak", "--start-from", tmp_path, *out)
    assert "--first cannot be used with --weak" in fails("run", "trec", "--weak", "--first", "alps", *out)
    assert "unknown --first choice 'best'" in fails("run", "trec", "--first", "best", *out)
    assert "is not a saved classifier" in fails("run", "trec", "--start-from", tmp_path, *out)
    assert "--adapt must be 0 or more steps" in fails("run", "trec", "--adapt", "-1", *out)
    assert "vote" in fails("run", data, "--weak", *out)
    strange = write(tmp_path / "strange.csv", ["id", "vote_a"], [[row["id"], "weather"] for row in read(data)])
    assert "weather" in fails("run", data, "--votes", strange, *out)


def test_another_opening_is_another_run(weak_run: tuple[Path, dict[str, list[float]]], fails: Fails) -> None:
    words = ["run", "trec", "--weak", "--method", "actune", "--label-model", "majority", *PLAN, "--out", weak_run[0]]
    assert "--label-model was em when this run was created, and is majority now" in fails(*words)
    words = ["run", "trec", "--method", "actune", *PLAN, "--out", weak_run[0]]
    assert "--weak or --votes was own when this run was created, and is not set now" in fails(*words)
