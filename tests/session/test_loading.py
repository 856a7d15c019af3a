"""Models that leave their run: saved, loaded in another process, and used by other libraries."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import actune
from actune.core.task import Task
from actune.errors import InputError, ModelError, RunFolderError, SettingError
from actune.models import learners
from actune.models.learners import LEARNERS
from actune.rounds import predicting
from tests.models.centroids import CENTROIDS

ROOT = Path(__file__).parents[2]
TEXTS = ["who was the first man on the moon ?", "how many miles is it to the moon ?", "what is a caldera ?"]
QUICK = {
    "probe": {"epochs": 5, "steps": 50},
    "finetune": {"epochs": 2, "steps": 6},
    "centroids": {},
}


@pytest.fixture(scope="module", autouse=True)
def registry():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(LEARNERS, CENTROIDS.name, CENTROIDS)
        yield


@pytest.fixture(scope="module", params=["probe", "finetune", "centroids"])
def made(request, questions: Task, tmp_path_factory) -> tuple[actune.Session, Path]:
    """A run of each learner and the folder that its model was saved to."""
    folder = tmp_path_factory.mktemp(request.param)
    session = actune.create(
        folder / "run",
        questions,
        method="entropy",
        learner=request.param,
        initial=40,
        batch=10,
        rounds=1,
        simulated=True,
        device="cpu",
        source="questions",
        changes={"max_tokens": 12, **QUICK[request.param]},
    )
    actune.run(session, actune.Oracle(questions.pool))
    return session, session.save(folder / "saved")


@pytest.fixture(scope="module")
def probe(questions: Task, tmp_path_factory) -> tuple[actune.Session, Path]:
    folder = tmp_path_factory.mktemp("served")
    pool = questions.pool
    session = actune.create(folder / "run", pool, learner="probe", batch=10, changes=QUICK["probe"])
    session.advance()
    return session, session.save(folder / "saved")


def in_a_new_process(program: str, *words: object) -> str:
    command = [sys.executable, "-c", program, *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


# loading


def test_a_saved_model_needs_neither_its_run_nor_its_pool(made, tmp_path) -> None:
    session, saved = made
    alone = shutil.copytree(saved, tmp_path / "elsewhere")
    assert not any(path.is_symlink() for path in alone.rglob("*"))
    assert {path.suffix for path in alone.rglob("*") if path.is_file()} <= {".json", ".safetensors", ".txt", ".md"}
    said = in_a_new_process(
        "import sys, json, actune; from tests.models.centroids import CENTROIDS\n"
        "from actune.models.learners import register; register(CENTROIDS)\n"
        "model = actune.load(sys.argv[1]); texts = json.loads(sys.argv[2])\n"
        "print(json.dumps([model.classes, model.max_tokens, [p.probabilities for p in model.predict(texts)]]))",
        alone,
        json.dumps(TEXTS),
    )
    classes, max_tokens, probabilities = json.loads(said)
    assert tuple(classes) == session.pool.classes and max_tokens == 12
    for mine, theirs in zip(session.predict(TEXTS), probabilities, strict=True):
        assert mine.probabilities == pytest.approx(theirs, abs=1e-6)
        assert mine.confidence == mine.probabilities[mine.label] == max(theirs.values())


def test_a_run_is_loaded_as_what_it_uses_now(made) -> None:
    session, saved = made
    run = session.store.folder
    expected = actune.load(saved).predict(TEXTS)
    for folder in (run, str(run), run / "model", run / "models" / "000"):
        assert actune.load(folder).predict(TEXTS) == expected == session.predict(TEXTS)


def test_what_the_model_says_is_what_the_round_measured(made, questions: Task) -> None:
    session, saved = made
    assert questions.test is not None
    said = actune.load(saved).predict(questions.test.texts)
    names = [questions.test.classes[label] for label in questions.test.labels]
    right = np.mean([one.label == name for one, name in zip(said, names, strict=True)])
    assert right == pytest.approx(session.rounds()[-1].accuracy, abs=0.011)  # at most one text of 100


def test_models_in_a_run_stay_small(probe) -> None:
    session, saved = probe
    inside = sum(path.stat().st_size for path in (session.store.folder / "models").rglob("*") if path.is_file())
    assert inside < 1e6 < (saved / "encoder" / "model.safetensors").stat().st_size


def test_a_loaded_model_shows_what_it_is(probe) -> None:
    model = actune.load(probe[1])
    assert repr(model) == "<TextModel with 6 classes: description, entity, human, abbreviation, ...>"
    assert model.note.startswith("Made with actune") and "on 300 labelled texts" in model.note
    with pytest.raises(AttributeError):
        model.note = "another"  # type: ignore[misc]


def test_an_adapted_encoder_goes_along(questions: Task, tmp_path) -> None:
    pool = questions.pool.only(range(60))
    session = actune.create(tmp_path / "run", pool, learner="probe", adapt=2, batch=10, changes=QUICK["probe"])
    session.advance()
    saved = session.save(tmp_path / "saved")
    assert actune.load(saved).predict(TEXTS) == session.predict(TEXTS) == actune.load(tmp_path / "run").predict(TEXTS)


def test_folders_that_hold_no_model_are_told_in_a_sentence(probe, questions: Task, tmp_path, monkeypatch) -> None:
    session, saved = probe
    with pytest.raises(ModelError, match="there is no folder"):
        actune.load(tmp_path / "nowhere")
    with pytest.raises(ModelError, match="is not a saved classifier"):
        actune.load(tmp_path)
    actune.create(tmp_path / "new", questions.pool, learner="probe", batch=10)
    with pytest.raises(RunFolderError, match="has no model yet: run `actune advance` first"):
        actune.load(tmp_path / "new")
    head = shutil.copytree(session.store.folder / "models" / "000", tmp_path / "head" / "alone")
    with pytest.raises(ModelError, match="has a probe without its encoder"):
        actune.load(head)
    half = shutil.copytree(saved, tmp_path / "half")
    (half / "encoder" / "config.json").unlink()
    with pytest.raises(ModelError, match="is incomplete: some files of the model are missing"):
        actune.load(half)
    (half / "actune.json").write_text('{"format": 1}')
    with pytest.raises(ModelError, match="incomplete or was changed by hand"):
        actune.load(half)
    (half / "actune.json").write_text('{"format": 2}')
    with pytest.raises(ModelError, match="newer version"):
        actune.load(half)


def test_a_learner_that_is_not_installed_is_named(made, monkeypatch) -> None:
    session, saved = made
    name = session.config.resolved.learner
    others = {other: kind for other, kind in LEARNERS.items() if other != name}
    monkeypatch.setattr(learners, "LEARNERS", others)  # the order of the others stays
    with pytest.raises(SettingError, match=f"unknown learner '{name}'"):
        actune.load(saved)


def test_a_head_is_not_put_on_another_encoder(probe, tmp_path) -> None:
    session, _ = probe
    run = shutil.copytree(session.store.folder, tmp_path / "run", symlinks=True)
    facts = json.loads((run / "models" / "000" / "probe.json").read_text())
    (run / "models" / "000" / "probe.json").write_text(json.dumps({**facts, "encoder": "another"}))
    with pytest.raises(ModelError, match="was trained on another encoder"):
        actune.load(run)
    with pytest.raises(ModelError, match="was trained on another encoder"):
        actune.open_session(run).save(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


# other libraries


def test_the_lines_of_the_card_run_as_they_stand(made) -> None:
    session, saved = made
    card = (saved / "README.md").read_text()
    assert "on 40 labelled texts of a pool of 300" in card and "| 40 |" in card
    assert "measured on 100 test texts" in card
    blocks = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    assert len(blocks) == (1 if session.config.resolved.learner == "centroids" else 2)
    expected = [(found.label, found.confidence) for found in session.predict(["a first text", "a second text"])]
    own = "from actune.models.learners import register\nfrom tests.models.centroids import *\nregister(CENTROIDS)\n"
    for block in blocks:
        if "sentence_transformers" in block and find_spec("sentence_transformers") is None:
            continue  # no dependency of actune: the package of the embedded encoder brings it
        start = own if "actune.load" in block else ""
        lines = in_a_new_process(start + block.replace("FOLDER", str(saved))).strip().splitlines()
        for line, (label, confidence) in zip(lines, expected, strict=True):
            name, number = line.rsplit(" ", 1)
            assert name == label and float(number) == pytest.approx(confidence, abs=0.01)  # bfloat16


def test_sentence_transformers_gives_the_same_probabilities(questions: Task, tmp_path, in_float32: None) -> None:
    library = pytest.importorskip("sentence_transformers")
    words: dict[str, Any] = {"learner": "finetune", "recipe": "contrastive", "batch": 10}
    changes = {"max_tokens": 12, **QUICK["finetune"]}
    session = actune.create(tmp_path / "run", questions.pool, changes=changes, **words)
    session.advance()
    saved = session.save(tmp_path / "saved")
    texts = [*questions.pool.texts[:40], " ".join(questions.pool.texts[:5])]  # the last one is cut
    assert "library_name: sentence-transformers" in (saved / "README.md").read_text()
    logits = library.SentenceTransformer(str(saved), device="cpu").encode(texts, convert_to_tensor=True)
    np.testing.assert_allclose(logits.softmax(1), actune.load(saved).predict_proba(texts), atol=1e-5)


# what may be given


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ("who was the first man ?", r"list of texts, not one string: write predict\(\['who was the first man \?'\]\)"),
        ("x" * 5000, "not one string"),
        (b"who", "not a bytes"),
        (None, "not a NoneType"),
        (7, "not a int"),
        ([None], "text number 0 is None"),
        (["who", 7], "text number 1 is 7"),
        (["who", float("nan")], "text number 1 is nan"),
        (pd.Series(["who", None]), "text number 1 is"),
        (["\ud800"], "text number 0"),
    ],
)
def test_what_is_no_list_of_texts_gets_a_sentence(probe, texts: Any, sentence: str) -> None:
    session, saved = probe
    for model in (session, actune.load(saved)):
        with pytest.raises(InputError, match=sentence):
            model.predict(texts)


def test_texts_come_in_many_forms(probe, tmp_path) -> None:
    session, saved = probe
    model, expected = actune.load(saved), session.predict(TEXTS)
    frame = pd.DataFrame({"text": TEXTS})
    frame.to_csv(tmp_path / "texts.csv", index=False)
    forms = [tuple(TEXTS), iter(TEXTS), np.array(TEXTS), frame.text, frame, {"text": TEXTS}]
    for form in (*forms, tmp_path / "texts.csv", str(tmp_path / "texts.csv")):
        assert model.predict(form) == expected
    assert model.predict([]) == session.predict([]) == [] and model.predict_proba([]).shape == (0, 6)
    np.testing.assert_allclose(model.predict_proba(TEXTS).sum(1), 1)
    assert len(model.predict(["", " "])) == 2


# serving


def test_predictions_leave_no_file_behind(probe, tmp_path, monkeypatch) -> None:
    session, saved = probe
    monkeypatch.setenv("ACTUNE_CACHE", str(tmp_path / "cache"))
    model = actune.load(saved)
    before = {path: path.stat().st_mtime_ns for path in saved.rglob("*")}
    for number in range(3):
        model.predict([f"who is number {number} ?"])
        session.predict([f"who is number {number} ?"])
    model.predict([f"how many are {number} ?" for number in range(600)])
    assert not (tmp_path / "cache").exists()
    assert {path: path.stat().st_mtime_ns for path in saved.rglob("*")} == before


def test_many_texts_are_read_in_blocks_with_progress(probe, questions: Task, monkeypatch) -> None:
    _, saved = probe
    model, texts = actune.load(saved), list(questions.pool.texts[:70])
    whole, seen = model.predict_proba(texts), []
    monkeypatch.setattr(predicting, "BLOCK", 30)
    np.testing.assert_allclose(model.predict_proba(texts, lambda *step: seen.append(step)), whole, atol=1e-6)
    assert seen == [("predict", 30, 70), ("predict", 60, 70), ("predict", 70, 70)]


def test_threads_may_predict_at_the_same_time(probe, questions: Task) -> None:
    from concurrent.futures import ThreadPoolExecutor

    model, texts = actune.load(probe[1]), list(questions.pool.texts[:40])
    expected = [model.predict([text]) for text in texts]
    with ThreadPoolExecutor(4) as workers:
        assert list(workers.map(lambda text: model.predict([text]), texts)) == expected


def test_notes_do_not_pile_up(probe) -> None:
    model = actune.load(probe[1])
    for _ in range(3):
        model.predict(["word " * 1000])
    assert model.learner.notes == []
