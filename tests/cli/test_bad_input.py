"""Bad input: one sentence, exit code 2, and nothing changed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import CLASSES, FAST, PLAN, Fails, Said, call, done, snapshot, write
from tests.models.tiny import save_tiny


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        (None, [], "there is no file"),
        ("body,label\na,x\nb,y\n", [], "has no column 'text': set it with --text (known: body, label)"),
        (
            "text,topic\na,x\nb,y\n",
            ["--label", "topik"],
            "no column 'topik': set it with --label (did you mean 'topic'?",
        ),
        ("text,label\n,x\n ,y\n", [], "is empty: set the text column with --text"),
        ("text,label\na,x\nb,x\n", [], "the only class is 'x': a classifier needs at least two classes"),
        ("text,label\na,\nb,\n", [], "the data has no labels"),
        ("text,label\na,x\nb,y,z\n", [], "line 3 has 3 cells instead of 2"),
        ("text,label\n", [], "has no rows"),
        ("", [], "is empty"),
        (
            "text,label\na,x\nb,y\nc,z\nd,\n",
            ["--hold-out-dev", "0", "--hold-out-test", "0", "--initial", "2"],
            "2 initial labels are too few for 3 classes",
        ),
    ],
)
def test_files_that_cannot_be_used(
    tmp_path: Path, fails: Fails, content: str | None, options: list[str], expected: str
) -> None:
    data = tmp_path / "data.csv"
    if content is not None:
        data.write_text(content)
    sentence = fails("run", data, "--learner", "probe", *options, "--out", tmp_path / "run")
    assert expected in sentence
    if "labels" not in expected:
        assert str(data) in sentence or "class" in expected


def test_cells_that_are_no_text(tmp_path: Path, fails: Fails) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps({"text": cell, "label": "x"}) + "\n" for cell in ("one", 2, ["three"])))
    assert "has values that are not text (lines 2, 3, the first is 2)" in fails("run", data, "--out", tmp_path / "run")


def test_wrong_encodings(tmp_path: Path, fails: Fails) -> None:
    data = tmp_path / "data.csv"
    data.write_bytes("text,label\nnaïve,x\n".encode("cp1252"))
    words = ["run", data, "--out", tmp_path / "run"]
    assert "is not UTF-8; it seems to be cp1252 (the first such line is 2: naïve,x): add --encoding cp1252" in fails(
        *words
    )
    assert "there is no encoding 'cp1253x': did you mean" in fails(*words, "--encoding", "cp1253x")
    assert "there is no encoding 'hex'" in fails(*words, "--encoding", "hex")
    assert "cannot be read as ascii (line 2): try another --encoding" in fails(*words, "--encoding", "ascii")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--method", "actun"], "unknown method 'actun': did you mean 'actune'?"),
        (["--model", "minilmm"], "unknown model 'minilmm': did you mean 'minilm'?"),
        (["--model", "./no/model"], "there is no model folder './no/model'"),
        (["--learner", "prob"], "unknown learner 'prob': did you mean 'probe'?"),
        (["--preset", "papr"], "unknown preset 'papr': did you mean 'paper'?"),
        (["--set", "regins=4"], "unknown setting 'regins': did you mean 'regions'?"),
        (["--set", "regions=many"], "'regions' takes a whole number, not 'many'"),
        (["--set", "gamma=1.5"], "'threshold' must be between 0 and 1, not 1.5"),
        (["--set", "regions"], "--set takes name=value, not 'regions'"),
        (["--device", "cuda:99"], "--device cpu"),
        (["--device", "toaster"], "--device cpu"),
        (
            ["--rounds", "1000"],
            "the plan asks for 10,010 labels, but the pool has 210 texts: lower --rounds",
        ),
        (["--rounds", "0"], "--initial, --batch and --rounds must be at least 1"),
        (["--batch", "0"], "--initial, --batch and --rounds must be at least 1"),
        (["--initial", "5"], "5 initial labels are too few for 6 classes"),
        (["--seed", "-1"], "--seed must be 0 or more"),
        (["--seed", "9" * 400], "--seed must have at most 18 digits, not 999"),
        (["--batch", "9" * 30], "option 'batch' takes a number of at most 18 digits, not 999"),
        (["--set", "regions=inf"], "'regions' takes a whole number, not 'inf'"),
        (["--set", "weight=inf"], "'weight' must be between 0 and 1,000,000,000, not inf"),
        (["--set", "weight=nan"], "'weight' must be between 0 and 1,000,000,000, not nan"),
        (["--set", f"growth={'9' * 400}"], "'growth' must be between 0 and 1,000,000,000, not 999"),
        (["--hold-out-dev", "inf"], "inf rows cannot be held out for dev"),
        (["--hold-out-test", "nan"], "option 'hold_out_test' takes a number, not nan"),
        (["--noise", "1"], "--noise must be at least 0"),
        (["--hold-out-test", "500"], "cannot hold out"),
        (["--split", "fold"], "no column 'fold': set it with --split"),
        (["--test", "no.csv"], "there is no file no.csv"),
    ],
)
def test_options_that_cannot_work(tmp_path: Path, files: Path, fails: Fails, options: list[str], expected: str) -> None:
    assert expected in fails("run", files / "labelled.csv", *PLAN, *options, "--out", tmp_path / "run")


def test_a_failed_run_leaves_no_numbered_folder(tmp_path: Path, fails: Fails, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fails("run", "trec", "--method", "actun")
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_no_data(fails: Fails, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACTUNE_DATA", raising=False)
    assert "'trek' is neither a file nor a named data set: did you mean 'trec'?" in fails(
        "run", "trek", "--out", tmp_path / "run"
    )
    assert "--data-dir or ACTUNE_DATA" in fails("run", "chemprot", "--out", tmp_path / "run")
    assert "from the hub" in fails("run", "nobody/nothing", "--out", tmp_path / "run")


def test_folders_that_are_no_runs(tmp_path: Path, files: Path, fails: Fails) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "todo.txt").write_text("keep me")
    for words in (
        ["ask"],
        ["advance"],
        ["report"],
        ["export", "--to", tmp_path / "out.csv"],
        ["tell", files / "bare.csv"],
    ):
        sentence = fails(words[0], tmp_path / "notes", *words[1:])
        assert f"'{tmp_path}/notes' is not a run folder: it has no run.toml" in sentence
    assert f"there is no folder '{tmp_path}/nothing'" in fails("ask", tmp_path / "nothing")
    sentence = fails("run", files / "labelled.csv", *PLAN, "--out", tmp_path / "notes")
    assert "is not empty and not a run folder (it contains 'todo.txt')" in sentence
    assert "contains 'todo.txt'" in fails("start", files / "bare.csv", "--labels", CLASSES, "--out", tmp_path / "notes")


def test_a_run_of_a_newer_version(project: Path, fails: Fails) -> None:
    toml = project / "run.toml"
    toml.write_text(re.sub(r"^format = \d+", "format = 99", toml.read_text(), flags=re.MULTILINE))
    for words in (["ask", project], ["advance", project], ["tell", project, project / "x.csv"]):
        assert "was written by a newer version of actune (format 99" in fails(*words)


@pytest.mark.parametrize("name", ["run.toml", "run.db"])
def test_a_damaged_run(project: Path, tmp_path: Path, name: str) -> None:
    (project / name).write_bytes(b"\xff\x00 not what it was" * 400)
    for path in project.glob("run.db-*"):  # what was written last may still lie here, whole
        path.unlink()
    said = call("ask", project)
    assert said.code == 2
    assert len(said.err.splitlines()) == 1
    (project / name).unlink()
    assert call("ask", project).code == 2


def test_too_few_answers(tmp_path: Path, files: Path, fails: Fails) -> None:
    done("start", files / "bare.csv", "--labels", CLASSES, *FAST, "--initial", 8, "--out", tmp_path / "p")
    ids = [question["id"] for question in done("ask", tmp_path / "p", "--json").facts["questions"]]
    done("tell", tmp_path / "p", write(tmp_path / "a.csv", ["id", "label"], [[id, "human"] for id in ids[:5]]))
    said = fails("advance", tmp_path / "p")
    assert "all 5 answers are 'human': a classifier needs answers of at least two classes" in said
    assert "some of the 3 open questions" in said


def test_nan_names_the_rows(tmp_path: Path) -> None:
    """A model whose vector for one word is broken: exactly the texts with that word are named."""
    from safetensors.torch import load_file, save_file

    model = save_tiny(tmp_path / "model")
    weights = load_file(model / "model.safetensors")
    words = json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]
    weights["embeddings.word_embeddings.weight"][words["capital"]] = float("nan")
    save_file(weights, model / "model.safetensors", metadata={"format": "pt"})
    rows = [
        [f"t{row}", f"who is the man {'of the capital' if row in (17, 23) else 'it'}", "ab"[row % 2] if row < 8 else ""]
        for row in range(30)
    ]
    data = write(tmp_path / "data.csv", ["id", "text", "label"], rows)
    done("start", data, *FAST, "--model", model, "--out", tmp_path / "p")
    before = snapshot(tmp_path / "p")
    said = call("advance", tmp_path / "p")
    assert said.code == 2
    assert "the model returned NaN for 2 of 30 texts (ids t17, t23)" in said.err
    assert snapshot(tmp_path / "p") == before


def test_weights_that_are_nan_are_refused_before_the_first_round(tmp_path: Path, files: Path) -> None:
    from safetensors.torch import load_file, save_file

    model = save_tiny(tmp_path / "model")
    weights = load_file(model / "model.safetensors")
    for value in weights.values():
        value.fill_(float("nan"))
    save_file(weights, model / "model.safetensors", metadata={"format": "pt"})
    words = ["--model", model, "--method", "random", "--rounds", 1, "--out", tmp_path / "run"]
    said = call("run", files / "labelled.csv", *PLAN, *words)
    assert said.code == 2
    assert "are no usable numbers: download the model again" in said.err


def test_two_at_once(project: Path, fails: Fails) -> None:
    from actune import open_session

    with open_session(project).store.advancing():
        assert "another process is advancing" in fails("advance", project, "--force")


def test_usage_errors(finished: tuple[list[object], Said]) -> None:
    for words in (["run"], ["run", "trec", "--rounds", "many"], ["ask", finished[0][-1], "--jsn"], ["nonsense"]):
        said = call(*words)
        assert said.code == 2 and "Traceback" not in said.err
