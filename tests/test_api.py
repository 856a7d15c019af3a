"""What a programmer meets first: the names of the package, short reprs, errors, a log, and the page about them."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

import actune
from actune.core.facts import Metrics
from actune.core.task import Task
from actune.methods.recipes import build
from actune.testing.views import drawn_view
from tests.cli.conftest import call

LONG = "a very long text " * 10_000


def test_dir_lists_every_public_name_and_each_can_be_used() -> None:
    assert dir(actune) == sorted(actune.__all__)
    for name in dir(actune):
        assert getattr(actune, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'creat'"):
        _ = actune.creat  # type: ignore[attr-defined]


def test_every_error_is_at_the_top() -> None:
    errors = {
        name
        for name, value in vars(actune.errors).items()
        if isinstance(value, type) and issubclass(value, actune.ActuneError)
    }
    assert errors <= set(dir(actune))
    assert all(name in (actune.errors.__doc__ or "") for name in errors)


def test_listing_the_names_imports_nothing_heavy() -> None:
    program = "import sys, actune; dir(actune); actune.DataError; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_reprs_are_short(questions: Task, tmp_path: Path) -> None:
    pool = actune.pool_of([LONG, LONG + "b"], classes=["x", "y"])
    session = actune.create(tmp_path / "run", questions, learner="probe", simulated=True, rounds=1)
    facts = actune.RoundFacts(2, 30, 30, (10, 20), Metrics(0.5, 0.25), notes=(LONG,))
    found = {
        "Pool(2 texts, 2 classes, 0 labels)": pool,
        "Task('questions', 300 texts, 6 classes, dev 60, test 100)": questions,
        f"Session('{tmp_path}/run', 300 texts, 6 classes, method='thrifty', learner='probe')": session,
        "Answer(id='1', label='x')": actune.Answer("1", "x"),
        "Prediction('x', 0.7500)": actune.Prediction("x", {"x": 0.75, "y": 0.25}),
        "RoundFacts(round=2, labels=30, accuracy=0.5000, macro_f1=0.2500)": facts,
        "FinalFacts(round=2, labels=30, accuracy=0.5000)": actune.FinalFacts(2, 30, 0.5, notes=(LONG,)),
        "View(107 unlabelled, 12 labelled, 107 candidates)": drawn_view(),
    }
    for shown, value in found.items():
        assert repr(value) == shown
    for value in (pool.texts, actune.Question("1", LONG, 0), actune.Oracle(pool), build("thrifty", questions.settings)):
        assert len(repr(value)) < 300
    assert repr(actune.Question("1", LONG, 0)).startswith("Question(id='1', text='a very long text ")


def test_the_log_tells_rounds_and_fits_but_no_texts(
    questions: Task, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("actune").handlers)
    with caplog.at_level(logging.INFO, logger="actune"):
        words = {"learner": "probe", "method": "entropy", "changes": {"steps": 20, "epochs": 2}}
        session = actune.create(tmp_path / "run", questions, simulated=True, initial=20, batch=10, rounds=2, **words)
        actune.run(session, actune.Oracle(questions.pool))
    said = [record.getMessage() for record in caplog.records if record.name.startswith("actune.")]
    assert [line for line in said if line.startswith("created ")]
    assert "fitting on 20 labels and 0 pseudo-labels" in said
    assert [re.sub(r"\d+\.\d+", "#", line) for line in said if line.startswith("round ")] == [
        "round 0 is finished: 20 labels, accuracy #, # s",
        "round 1 is finished: 30 labels, accuracy #, # s",
    ]
    assert not [text for text in questions.pool.texts if any(text in line for line in said)]


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        (["ask", "nowhere"], "RunFolderError", "there is no folder 'nowhere'"),
        (["run", "nothing.csv"], "DataError", "nothing.csv"),
        (["run", "trec", "--method", "actun"], "SettingError", "did you mean 'actune'?"),
        (["run", "trec", "--bogus"], "NoSuchOption", "--bogus"),
        (["ask"], "MissingParameter", ""),
    ],
)
def test_with_json_an_error_is_an_object_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], kind: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with_json, without = call(*words, "--json"), call(*words)
    assert with_json.code == without.code == 2
    assert with_json.err == without.err and without.out == ""
    (line,) = with_json.out.splitlines()
    error = json.loads(line)["error"]
    assert error["kind"] == kind and message in error["message"]


PAGE = (Path(__file__).parents[1] / "docs/reference/api.md").read_text(encoding="utf-8")


def test_the_page_names_everything() -> None:
    missing = [name for name in dir(actune) if not re.search(rf"`(actune\.)?{name}\b", PAGE)]
    assert not missing


def test_the_code_of_the_page_runs(
    questions: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pool = questions.pool
    names: dict[str, object] = {"texts": list(pool.texts[:200])}
    names["labels"] = [pool.classes[number] for number in pool.labels[:200]]
    level = logging.getLogger("actune").level
    try:
        for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
            exec(block, names)
    finally:
        logging.getLogger("actune").setLevel(level)
    said = capsys.readouterr().out
    assert "Pool(100 texts, 6 classes, 0 labels) Pool(100 texts, 6 classes, 100 labels)" in said
    assert "RoundFacts(round=0, labels=20, accuracy=" in said and "predict takes a list of texts" in said
