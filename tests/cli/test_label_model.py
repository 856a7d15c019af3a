"""`actune label-model`: votes and rules into labels, through the command itself."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, Fails, done, read, write

RULES = """
[[rule]]
name = "who"
pattern = '^who\\b'
label = "human"

[[rule]]
name = "where"
pattern = '\\bwhere\\b'
label = "location"

[[rule]]
name = "how many"
pattern = 'how (many|much)'
label = "numeric"
"""


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    rows = [["a", "=1+1", "x", "x", "x", "x"], ["b", "two", "y", "", "y", "y"], ["c", "three", "", "", "", "x"]]
    rows += [["d", "four", "x", "y", "x", ""], ["e", "five", "y", "y", "y", "y"]]
    return write(tmp_path / "votes.csv", ["id", "text", "vote_1", "vote_2", "vote_3", "label"], rows)


def test_trec_out_of_the_box() -> None:
    ended = subprocess.run([*COMMAND, "label-model", "trec"], capture_output=True, text=True, check=True)
    lines = ended.stdout.splitlines()
    assert "measured accuracy" in ended.stdout
    assert len([line for line in lines if "│ rule " in line]) == 68
    summary = "4,965 rows, 4,723 with votes (95.1%), 1,077 with conflicting votes, accuracy 0.58"
    assert ended.stderr.startswith(summary), ended.stderr


@pytest.mark.parametrize(("name", "lowest"), [("majority", 0.48), ("em", 0.57), ("snorkel", 0.50)])
def test_accuracy_of_every_model_on_trec(name: str, lowest: float) -> None:
    facts = done("label-model", "trec", "--label-model", name, "--json").facts
    assert lowest < facts["accuracy"] < 0.6
    assert (facts["rows"], facts["covered"], facts["measured_on"]) == (4965, 4723, 4723)
    assert sum(facts["counts"].values()) == facts["covered"]
    first = facts["sources"][0]
    assert set(first) >= {"name", "classes", "coverage", "overlap", "conflict", "measured_accuracy", "measured_on"}


def test_a_table_with_votes(votes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    said = done("label-model", votes, "--label-model", "majority", "--to", out, "--json")
    assert said.facts["classes"] == ["x", "y"]
    assert (said.facts["covered"], said.facts["conflicts"], said.facts["accuracy"]) == (4, 1, 1.0)
    assert said.facts["measured_on"] == 3
    assert [one["measured_on"] for one in said.facts["sources"]] == [3, 2, 3]
    rows = read(out)
    assert [(row["id"], row["text"], row["label"], row["confidence"]) for row in rows] == [
        ("a", "'=1+1", "x", "1.0"),
        ("b", "two", "y", "1.0"),
        ("d", "four", "x", "0.666667"),
        ("e", "five", "y", "1.0"),
    ]
    done("label-model", votes, "--to", out, "--raw", "--quiet")
    assert read(out)[0]["text"] == "=1+1"


def test_chosen_columns_and_classes(votes: Path) -> None:
    facts = done("label-model", votes, "--columns", "vote_1, vote_3", "--labels", "z,y,x", "--json").facts
    assert [one["name"] for one in facts["sources"]] == ["vote_1", "vote_3"]
    assert facts["counts"] == {"z": 0, "y": 2, "x": 2}


def test_votes_without_texts_and_labels(tmp_path: Path) -> None:
    table, out = tmp_path / "votes.jsonl", tmp_path / "out.jsonl"
    table.write_text("\n".join(json.dumps({"weak_labels": row}) for row in ([0, 1, 0], [-1, 2, -1], [-1, -1, -1])))
    said = done("label-model", table, "--to", out)
    assert "measured" not in said.out
    assert said.err.splitlines()[0] == "3 rows, 2 with votes (66.7%), 1 with conflicting votes"
    labels = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["id"], row["label"]) for row in labels] == [("0", "0"), ("1", "2")]
    assert "text" not in labels[0]


def test_rules_on_texts(files: Path, tmp_path: Path, truth: dict[str, str]) -> None:
    rules, out = tmp_path / "rules.toml", tmp_path / "labels.csv"
    rules.write_text(RULES)
    facts = done("label-model", files / "labelled.csv", "--rules", rules, "--to", out, "--json").facts
    assert [one["name"] for one in facts["sources"]] == ["who", "where", "how many"]
    assert facts["sources"][0]["classes"] == ["human"]
    rows = read(out)
    assert len(rows) == facts["covered"] > 30
    right = sum(truth[row["id"]] == row["label"] for row in rows) / len(rows)
    assert right > 0.8
    assert facts["accuracy"] == pytest.approx(right)
    bare = done("label-model", files / "bare.csv", "--rules", rules, "--json").facts
    assert (bare["classes"], bare["accuracy"]) == (["human", "location", "numeric"], None)
    assert done("label-model", "trec", "--rules", rules, "--json").facts["accuracy"] > 0.8


def test_a_source_that_never_votes_is_null_in_json(tmp_path: Path) -> None:
    table = write(tmp_path / "votes.csv", ["vote_1", "vote_2", "vote_3"], [["x", "y", ""], ["y", "y", ""]])
    last = done("label-model", table, "--json").facts["sources"][2]
    assert (last["coverage"], last["estimated_accuracy"], last["classes"]) == (0.0, None, [])
    done("label-model", table)


def test_mistakes(votes: Path, tmp_path: Path, fails: Fails) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES)
    assert "'treck' is neither a file nor a named data set: did you mean 'trec'" in fails("label-model", "treck")
    assert "there is no label model 'vote'" in fails("label-model", votes, "--label-model", "vote")
    assert "votes.csv line 2: vote_1 votes 'x', which is not a class" in fails("label-model", votes, "--labels", "y,z")
    assert "there is no column 'vote_9'" in fails("label-model", votes, "--columns", "vote_9")
    assert "has no column 'truth'" in fails("label-model", votes, "--label", "truth")
    assert "is the file that is read" in fails("label-model", votes, "--to", votes)
    assert "name must end in one of" in fails("label-model", votes, "--to", tmp_path / "out.xls")
    assert "named data set with its own columns" in fails("label-model", "trec", "--labels", "a,b")
    assert "rule 'who' has the label 'human'" in fails("label-model", votes, "--rules", rules, "--labels", "x,y")
    bare = write(tmp_path / "bare.csv", ["text"], [["who ?"]])
    assert "the table has no votes" in fails("label-model", bare)
    assert "list at least two classes with --labels" in fails("label-model", bare, "--rules", rules)
    empty = write(tmp_path / "empty.csv", ["vote_1", "vote_2"], [["", ""]])
    assert "no source votes on any row" in fails("label-model", empty, "--labels", "a,b")
