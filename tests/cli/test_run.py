"""`actune run`: new, again, further, and with whatever data a user has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import PLAN, Fails, Said, call, done, read, snapshot, write


def test_the_facts_of_a_run(finished: tuple[list[object], Said]) -> None:
    _, said = finished
    facts = said.facts
    assert said.out.count("\n") == 1
    assert facts["labels"] == [20, 30, 40]
    assert [len(ids) for ids in facts["asked"]] == [20, 10, 10]
    assert all(0 <= value <= 1 for value in facts["accuracy"] + facts["macro_f1"])
    assert facts["method"] == "thrifty"
    assert all(0 <= value <= 1 for value in facts["pseudo_label_accuracy"])  # a teacher trusts in the first round too
    assert all(seconds > 0 for seconds in facts["seconds"])
    assert "final_accuracy" not in facts
    assert re.findall(r"round \d: \d+ labels, accuracy", said.err) == [
        f"round {round}: {labels} labels, accuracy" for round, labels in enumerate(facts["labels"])
    ]


def test_the_folder_holds_a_report_and_a_model(finished: tuple[list[object], Said]) -> None:
    words, _ = finished
    folder = Path(str(words[-1]))
    assert "<html" in (folder / "report.html").read_text("utf-8")
    assert (folder / "model" / "README.md").exists()


def test_a_finished_run_prints_what_is_stored(finished: tuple[list[object], Said]) -> None:
    words, said = finished
    folder = Path(str(words[-1]))
    before = snapshot(folder)
    again = done(*words)
    assert again.facts == said.facts
    assert "finished" in again.err
    assert snapshot(folder) == before
    assert done(*words, "--quiet").err == ""


def test_a_table_for_people(finished: tuple[list[object], Said]) -> None:
    words, said = finished
    table = done(*(word for word in words if word != "--json"), "--quiet")
    assert table.err == ""
    for word in ("labels", "accuracy", "macro-F1", "pseudo-labels", "seconds", f"{said.facts['accuracy'][-1]:.4f}"):
        assert word in table.out


def test_the_same_command_elsewhere_asks_the_same(
    finished: tuple[list[object], Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, said = finished
    monkeypatch.chdir(tmp_path)
    again = done(*words[:-2], "--quiet")
    assert again.facts["folder"] == "runs/001"
    assert (tmp_path / "runs" / "001" / "run.toml").exists()
    for name in ("asked", "accuracy", "pseudo_label_accuracy"):
        assert again.facts[name] == said.facts[name]


def test_other_settings_are_named(finished: tuple[list[object], Said], fails: Fails) -> None:
    words, _ = finished
    sentence = fails(*words, "--method", "entropy", "--set", "K=7", "--rounds", "2")
    assert "--method was thrifty when this run was created, and is entropy now" in sentence
    assert "--rounds was 3 when this run was created, and is 2 now" in sentence
    assert "--set regions was not set when this run was created, and is 7 now" in sentence


def test_more_rounds_extend_and_texts_without_a_label_stay_out(tmp_path: Path, files: Path) -> None:
    rows = [
        [row["id"], row["text"], row["label"] if number % 3 else ""]
        for number, row in enumerate(read(files / "labelled.csv"))
    ]
    data = write(tmp_path / "partly.csv", ["id", "text", "label"], rows)
    words = ["run", data, *PLAN, "--method", "random", "--json", "--out", tmp_path / "run"]
    short = done(*words, "--rounds", 1)
    assert "texts have no label and are left out: a simulation needs known answers" in short.err
    longer = done(*words, "--rounds", 2)
    assert longer.facts["labels"] == [20, 30]
    assert longer.facts["asked"][0] == short.facts["asked"][0]
    assert longer.facts["accuracy"][0] == short.facts["accuracy"][0]
    known = {row[0] for row in rows if row[2]}
    assert {id for ids in longer.facts["asked"] for id in ids} <= known
    with data.open("a", encoding="utf-8") as handle:
        handle.write("new,one more text,human\n")
    said = call(*words, "--rounds", 2)
    assert said.code == 2 and "has changed since" in said.err


def test_a_project_is_no_run(files: Path, project: Path, fails: Fails) -> None:
    assert "is a labelling project" in fails("run", files / "labelled.csv", *PLAN, "--out", project)


def test_cut_texts_are_reported_once(tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACTUNE_CACHE", str(tmp_path / "cache"))
    words = ["--rounds", 2, "--set", "max_tokens=5", "--hold-out-dev", 0, "--hold-out-test", 0]
    said = done("run", files / "labelled.csv", *PLAN, *words, "--out", tmp_path / "run")
    assert said.err.count("texts were truncated to 5 tokens") == 1
    assert said.err.count("there is no dev set") == 1


def test_a_killed_creation_is_made_again(tmp_path: Path, files: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "unfinished").touch()  # the first file of a new run; its run.toml is the last
    (folder / "run.db").write_bytes(b"half a database")
    (folder / "run.db-journal").write_bytes(b"a journal that SQLite held")
    facts = done(
        "run", files / "labelled.csv", *PLAN, "--rounds", 1, "--method", "random", "--json", "--out", folder
    ).facts
    assert facts["labels"] == [20]


def test_noise_is_told_apart(tmp_path: Path, files: Path, truth: dict[str, str]) -> None:
    words = ["run", files / "labelled.csv", *PLAN, "--rounds", 1, "--method", "random", "--noise", 0.5]
    done(*words, "--out", tmp_path / "run", "--quiet")
    done("export", tmp_path / "run", "--to", tmp_path / "labels.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 20
    assert {row["by"] for row in rows} == {"oracle"}
    assert 3 <= sum(row["label"] != truth[row["id"]] for row in rows) <= 17
