"""A person's project, as a person with a spreadsheet goes through it."""

from __future__ import annotations

import json
from pathlib import Path

from actune import open_session
from tests.cli.conftest import CLASSES, FAST, Fails, answer, call, done, read, snapshot, write


def test_a_cold_start_asks_for_a_diverse_batch(tmp_path: Path, files: Path) -> None:
    words = ["start", files / "bare.csv", "--labels", CLASSES, *FAST, "--initial", 12, "--out", tmp_path / "p"]
    facts = done(*words, "--json").facts
    assert (facts["texts"], facts["labels"], facts["questions"]) == (300, 0, 12)
    assert facts["classes"] == CLASSES.split(",")
    asked = done("ask", tmp_path / "p", "--json").facts["questions"]
    assert len({question["id"] for question in asked}) == 12
    assert {question["suggestion"] for question in asked} == {None}
    assert "already contains a run" in call(*words).err


def test_a_whole_round(project: Path, tmp_path: Path, truth: dict[str, str]) -> None:
    batch = tmp_path / "batch.csv"
    assert "next: actune tell" in done("ask", project, "--to", batch).err
    rows = read(batch)
    assert list(rows[0])[:5] == ["id", "text", "label", "suggestion", "confidence"]
    assert len(rows) == 10
    assert all(row["suggestion"] in CLASSES.split(",") and 0 < float(row["confidence"]) <= 1 for row in rows)
    ids = [row["id"] for row in rows]
    lines = [
        "\ufeffid;text;label;notes",
        *(f"{id};;{truth[id]};" for id in ids[:6]),
        f"{ids[6]};;SKIP;odd",
        f"{ids[7]};;;",
    ]
    batch.write_bytes("\r\n".join(lines).encode() + b"\r\n;;;\r\n")
    facts = done("tell", project, batch, "--by", "ann", "--json").facts
    assert (facts["new"], facts["skipped"], facts["empty"], facts["labels"], facts["open"]) == (6, 1, 1, 26, 3)
    again = done("tell", project, batch, "--json").facts
    assert (again["new"], again["repeated"], again["labels"]) == (0, 7, 26)
    facts = done("advance", project, "--json").facts
    assert (facts["round"], facts["labels"], facts["questions"]) == (1, 26, 10)
    assert 0 <= facts["accuracy"] <= 1
    asked = {question["id"] for question in done("ask", project, "--json").facts["questions"]}
    assert not asked & {*ids[:7]}
    late = write(tmp_path / "late.csv", ["id", "label"], [[ids[8], truth[ids[8]]]])
    assert done("tell", project, late, "--json").facts["new"] == 1


def test_changes_and_contradictions_are_reported(project: Path, tmp_path: Path) -> None:
    first, second, third = [question["id"] for question in done("ask", project, "--json").facts["questions"]][:3]
    rows = [[first, "human"], [second, "human"], [second, "entity"], [third, "entity"]]
    said = call("tell", project, write(tmp_path / "a.csv", ["id", "label"], rows), "--json")
    assert said.code == 2
    assert (said.facts["new"], said.facts["conflicts"]) == (2, {second: ["human", "entity"]})
    assert f"not saved: the file has 2 answers for the id {second!r}: 'human' and 'entity'" in said.err
    said = done("tell", project, write(tmp_path / "b.csv", ["id", "label"], [[first, "location"]]), "--json")
    assert said.facts["changed"] == [first]
    assert f"1 earlier answer changed: {first!r}" in said.err
    session = open_session(project)
    assert session.labels().of_row[session.pool.row_of[first]] == session.pool.class_number("location")
    assert session.pool.row_of[second] not in session.labels().of_row


def test_a_skip_can_be_taken_back(project: Path, tmp_path: Path) -> None:
    id = done("ask", project, "--json").facts["questions"][0]["id"]
    file = write(tmp_path / "a.csv", ["id", "answer"], [[id, "Skip"]])
    done("tell", project, file, "--label-column", "answer")
    assert id not in [question["id"] for question in done("ask", project, "--json").facts["questions"]]
    done("tell", project, write(tmp_path / "a.csv", ["id", "label"], [[id, "unskip"]]))
    assert id in [question["id"] for question in done("ask", project, "--json").facts["questions"]]


def test_answers_in_a_file_are_not_written_over(project: Path, tmp_path: Path, fails: Fails) -> None:
    batch = tmp_path / "batch.csv"
    done("ask", project, "--to", batch)
    done("ask", project, "--to", batch)
    rows = read(batch)
    rows[2]["label"] = "human"
    write(batch, list(rows[0]), [row.values() for row in rows])
    assert "has answers that are not saved yet (line 4)" in fails("ask", project, "--to", batch)
    done("tell", project, batch)
    done("ask", project, "--to", batch)
    assert rows[2]["id"] not in [row["id"] for row in read(batch)]


def test_bad_cells_are_listed_at_once_and_the_others_are_saved(project: Path, tmp_path: Path) -> None:
    first, second, third = [question["id"] for question in done("ask", project, "--json").facts["questions"]][:3]
    rows = [[first, "HUMAN "], [second, "humann"], ["elsewhere", "human"], [third, "xyz"]]
    said = call("tell", project, write(tmp_path / "a.csv", ["id", "label"], rows), "--json")
    assert said.code == 2
    assert (said.facts["new"], said.facts["matched"], said.facts["labels"]) == (1, 1, 21)
    assert [(bad["place"], bad["id"], bad["value"]) for bad in said.facts["bad"]] == [
        *(("line 3", second, "humann"), ("line 4", "elsewhere", "human"), ("line 5", third, "xyz")),
    ]
    assert f"not saved: line 3: id {second!r} has the unknown label 'humann' (did you mean 'human'?)" in said.err
    assert "not saved: line 4: this project has no text with the id 'elsewhere'" in said.err
    assert said.err.splitlines()[-1] == (
        "actune: 3 answers not saved, all others are: correct the cells listed above and run the command again"
    )
    rows = [[first, "human"], [second, "human"], [third, "entity"]]
    facts = done("tell", project, write(tmp_path / "a.csv", ["id", "label"], rows), "--json").facts
    assert (facts["new"], facts["repeated"], facts["bad"]) == (2, 1, [])


def test_where_no_answer_can_be_taken_nothing_changes(project: Path, tmp_path: Path) -> None:
    wrong = write(tmp_path / "a.csv", ["id", "label"], [["elsewhere", "human"], ["train-1", "humann"]])
    before = snapshot(project)
    said = call("tell", project, wrong)
    assert (said.code, said.out) == (2, "")
    assert "line 2: this project has no text with the id 'elsewhere'" in said.err and "line 3: id 'train-1'" in said.err
    assert said.err.splitlines()[-1].startswith(f"actune: no answer in {wrong} was saved")
    assert snapshot(project) == before


def test_more_texts(project: Path, tmp_path: Path, files: Path, fails: Fails) -> None:
    rows = [
        [row["text"], row["label"] if number < 3 else ""] for number, row in enumerate(read(files / "test.csv")[:20])
    ]
    more = write(tmp_path / "more.csv", ["text", "label"], rows)
    before = open_session(project).pool
    facts = done("add", project, more, "--json").facts
    assert (facts["added"], facts["labels"], facts["texts"]) == (20, 3, 320)
    after = open_session(project).pool
    assert after.texts[:300] == before.texts and after.ids[:300] == before.ids
    assert after.ids[300:] == tuple(str(number) for number in range(300, 320))
    facts = done("advance", project, "--json").facts
    assert facts["labels"] == 23
    named = write(tmp_path / "named.csv", ["id", "text"], [["train-0", "again"]])
    assert "ids are already in the pool (the first is 'train-0'" in fails("add", project, named)


def test_when_nothing_is_left(tmp_path: Path, files: Path, truth: dict[str, str]) -> None:
    rows = read(files / "bare.csv")[:30]
    small = write(tmp_path / "small.csv", ["id", "text"], [[row["id"], row["text"]] for row in rows])
    folder = tmp_path / "p"
    done("start", small, "--labels", CLASSES, *FAST, "--initial", 20, "--batch", 20, "--out", folder)
    answer(folder, truth)
    assert done("advance", folder, "--json").facts["questions"] == 10
    answer(folder, truth)
    said = done("advance", folder, "--json")
    assert (said.facts["labels"], said.facts["questions"], said.facts["unlabelled"]) == (30, 0, 0)
    assert "all texts are labelled or skipped" in said.err
    said = done("advance", folder, "--json")
    assert "all texts are labelled or skipped" in said.err
    assert said.facts["round"] == 1
    assert "there are no open questions" in done("ask", folder).err


def test_questions_on_the_screen_cannot_steer_a_terminal(tmp_path: Path) -> None:
    texts = ["[red]not markup[/red]", "\x1b[2Jgone", "[link=x]y", "plain text"] * 3
    lines = [json.dumps({"text": f"{text} {row}"}) for row, text in enumerate(texts)]
    data = tmp_path / "texts.jsonl"
    data.write_text("\n".join(lines), "utf-8")
    done("start", data, "--labels", "a,b", *FAST, "--initial", 12, "--out", tmp_path / "p")
    shown = done("ask", tmp_path / "p").out
    assert "[red]not markup[/red] 0" in shown
    assert "[link=x]y 2" in shown
    assert "\x1b" not in shown


def test_labels_with_commas(tmp_path: Path, files: Path, fails: Fails) -> None:
    words = ["start", files / "bare.csv", *FAST, "--initial", 5, "--out", tmp_path / "p"]
    assert done(*words, "--labels", 'yes,"no, or maybe"', "--json").facts["classes"] == ["yes", "no, or maybe"]
    words[-1] = tmp_path / "q"
    assert "--labels takes class names separated by commas" in fails(*words, "--labels", "yes,,no")
    assert "'yes' is named twice" in fails(*words, "--labels", "yes,no,yes")
    assert "the class 'skip' is also the skip_word" in fails(*words, "--labels", "yes,skip")


def test_a_simulation_takes_no_answers(finished: tuple[list[object], object], files: Path, fails: Fails) -> None:
    folder = finished[0][-1]
    for words in (["tell", folder, files / "labelled.csv"], ["advance", folder], ["add", folder, files / "test.csv"]):
        assert "is a simulated run, not a project: continue it with `actune run" in fails(*words)


def test_finish_needs_auto(project: Path, fails: Fails) -> None:
    assert "this run uses --learner probe" in fails("advance", project, "--finish")
