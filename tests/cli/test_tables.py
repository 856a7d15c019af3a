"""Tables out of a run: predictions and labels, and back in again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actune import open_session
from actune.data.export import write_table
from actune.data.tables import read_table
from tests.cli.conftest import CLASSES, FAST, Fails, Said, done, read, write


def test_predictions(project: Path, tmp_path: Path, files: Path) -> None:
    texts = [[row["text"], "a label of another project", "=7"] for row in read(files / "test.csv")[:30]]
    new = write(tmp_path / "new.csv", ["text", "label", "mine"], texts)
    words = ["predict", project, new, "--out", tmp_path / "out.csv", "--probabilities", "--json"]
    facts = done(*words).facts
    rows = read(tmp_path / "out.csv")
    assert facts["texts"] == len(rows) == sum(facts["counts"].values()) == 30
    names = CLASSES.split(",")
    added = ["label", "confidence", *(f"p_{name}" for name in names)]
    assert list(rows[0])[:11] == ["text", "label", "mine", *(f"predicted_{name}" for name in added)]
    for row, (text, label, _) in zip(rows, texts, strict=True):
        chances = {name: float(row[f"predicted_p_{name}"]) for name in names}
        assert (row["text"], row["label"], row["mine"]) == (text, label, "'=7")
        assert abs(sum(chances.values()) - 1) < 1e-4
        assert row["predicted_label"] == max(chances, key=lambda name: chances[name])
        assert float(row["predicted_confidence"]) == max(chances.values())
    done(*words, "--raw")
    assert read(tmp_path / "out.csv")[0]["mine"] == "=7"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
def test_predictions_keep_every_row_and_column(project: Path, tmp_path: Path, suffix: str) -> None:
    new = tmp_path / f"new.{suffix}"
    rows = [["007", "Who wrote Hamlet ?", "x"], ["008", "", "y"], ["009", "How many legs has a spider ?", ""]]
    write_table(new, ["key", "text", "Notiz"], rows)
    said = done("predict", project, new, "--json")
    assert said.facts["file"] == str(tmp_path / f"new-labelled.{suffix}")
    assert (said.facts["texts"], said.facts["empty"]) == (2, 1)
    assert "1 row without a text got no label: " in said.err
    cells = read_table(said.facts["file"]).cells
    assert list(cells) == ["key", "text", "Notiz", "label", "confidence"]
    assert cells["key"] == ["007", "008", "009"]
    assert cells["label"][0] in CLASSES and not cells["label"][1]
    assert 0 < float(str(cells["confidence"][2])) <= 1


def test_predictions_of_a_finished_run(finished: tuple[list[object], Said], tmp_path: Path, files: Path) -> None:
    out = tmp_path / "out.jsonl"
    done("predict", finished[0][-1], files / "test.csv", "--out", out, "--quiet")
    assert json.loads(out.read_text("utf-8").splitlines()[0])["id"] == read(files / "test.csv")[0]["id"]


def test_where_predictions_cannot_go(project: Path, tmp_path: Path, fails: Fails) -> None:
    texts = write(tmp_path / "new.csv", ["text"], [["who ?"]])
    assert "is the file that is read" in fails("predict", project, texts, "--out", texts)
    assert "name must end in one of" in fails("predict", project, texts, "--out", tmp_path / "out.xls")
    risky = write(tmp_path / "risky.csv", ["text", "=cmd"], [["who ?", "x"]])
    assert "could run the column name '=cmd'" in fails("predict", project, risky, "--out", tmp_path / "out.csv")
    assert "there is no folder" in fails("predict", project, texts, "--out", tmp_path / "no" / "out.csv")


def test_a_project_without_a_model(tmp_path: Path, files: Path, fails: Fails) -> None:
    done("start", files / "bare.csv", "--labels", CLASSES, *FAST, "--initial", 5, "--out", tmp_path / "p")
    assert "has no model yet" in fails("predict", tmp_path / "p", files / "test.csv", "--out", tmp_path / "out.csv")


def test_human_labels_alone(project: Path, tmp_path: Path, truth: dict[str, str]) -> None:
    late = done("ask", project, "--json").facts["questions"][0]["id"]
    done("tell", project, write(tmp_path / "late.csv", ["id", "label"], [[late, truth[late]]]), "--by", "ann")
    facts = done("export", project, "--to", tmp_path / "labels.csv", "--json").facts
    rows = read(tmp_path / "labels.csv")
    assert (facts["human"], facts["pseudo"]) == (len(rows), 0) == (21, 0)
    assert list(rows[0])[:7] == ["id", "text", "label", "source", "round", "confidence", "by"]
    assert {row["source"] for row in rows} == {"human"}
    assert all(row["label"] == truth[row["id"]] for row in rows)
    assert {(row["round"], row["by"]) for row in rows if row["id"] != late} == {("0", "person")}
    assert [(row["round"], row["by"]) for row in rows if row["id"] == late] == [("", "ann")]


def test_pseudo_labels_only_when_asked_and_not_once_answered(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "labels.jsonl"

    def exported() -> list[dict[str, object]]:
        done("export", project, "--to", out, "--pseudo")
        return [json.loads(line) for line in out.read_text("utf-8").splitlines()]

    trusted = open_session(project).store.load_arrays("select-001")
    pseudo = [row for row in exported() if row["source"] == "pseudo"]
    assert len(pseudo) == len(trusted["pseudo_rows"]) > 2
    assert {row["round"] for row in pseudo} == {1}
    assert all(isinstance(row["confidence"], float) and 1 / 6 <= row["confidence"] <= 1 for row in pseudo)
    answers = [[pseudo[0]["id"], "human"], [pseudo[1]["id"], "skip"]]
    done("tell", project, write(tmp_path / "a.csv", ["id", "label"], answers))
    rows = exported()
    assert len([row for row in rows if row["source"] == "pseudo"]) == len(pseudo) - 2
    assert [row["source"] for row in rows if row["id"] == pseudo[0]["id"]] == ["human"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
def test_an_export_starts_a_project(project: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"labels.{suffix}"
    human, pseudo = (
        done("export", project, "--to", out, "--pseudo", "--json").facts[name] for name in ("human", "pseudo")
    )
    said = done("start", out, "--labels", CLASSES, *FAST, "--out", tmp_path / "again", "--json")
    assert (said.facts["texts"], said.facts["labels"]) == (human + pseudo, human)
    assert f"{pseudo} rows are pseudo-labels from an export and not used as labels" in said.err
    old, new = open_session(project), open_session(tmp_path / "again")
    known = {old.pool.ids[row]: old.pool.classes[number] for row, number in old.labels().of_row.items()}
    assert known == {new.pool.ids[row]: new.pool.classes[number] for row, number in new.labels().of_row.items()}


def test_formulas_are_only_text(tmp_path: Path) -> None:
    texts = ["=HYPERLINK(1)", "+1 for this", "-1 for that", "@everyone", "a plain text", "'quoted", "ünder"]
    data = tmp_path / "texts.jsonl"
    data.write_text("\n".join(json.dumps({"text": text, "label": "=a"}) for text in texts), "utf-8")
    done("start", data, "--labels", "=a,b", *FAST, "--out", tmp_path / "p")
    out = tmp_path / "labels.csv"
    done("export", tmp_path / "p", "--to", out)
    cells = [cell for row in read(out) for cell in row.values()]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    said = done("start", out, "--labels", "=a,b", *FAST, "--out", tmp_path / "again", "--json")
    assert said.facts["labels"] == 7
    assert open_session(tmp_path / "again").pool.texts == tuple(texts)
    done("export", tmp_path / "p", "--to", out, "--raw")
    assert read(out)[0]["text"] == "=HYPERLINK(1)"
