"""An export comes in again unchanged: by `start`, `add` and `tell`, as a table or as records of another tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actune.annotators.files import read_answers
from actune.core.dialogue import Answer
from actune.core.pool import Pool, pool_of
from actune.data.formats import read_pool, read_table
from actune.session.labelled import labelled_records
from actune.session.session import Session
from actune.session.setup import create, open_session
from tests.cli.conftest import Fails, done, read, write
from tests.data.texts import ODD

CLASSES = ("a", "a, b", "=sum", "-1", "日本")
TABLES = ("labels.csv", "labels.tsv", "labels.jsonl", "labels.parquet", "labels.xlsx")
RECORDS = ("label-studio", "argilla")


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A project of texts that break tables, labelled by two people who disagree once, with skips."""
    pool = pool_of(ODD, ids=[f"post {row}" for row in range(len(ODD))], classes=CLASSES)
    plan: dict[str, Any] = {"learner": "probe", "first": "random", "initial": 4, "batch": 4}
    with create(tmp_path / "odd", pool, **plan) as session:
        answers = [Answer(pool.ids[row], CLASSES[row % 5], by="anna", seconds=1.5) for row in range(0, len(ODD), 2)]
        answers += [Answer(pool.ids[row], by="ben, the second") for row in range(1, 8, 2)]
        answers += [Answer(pool.ids[0], "=sum", by="ben, the second"), Answer(pool.ids[3], "a", by="anna")]
        answers += [Answer(pool.ids[5], unskip=True, by="anna")]
        session.tell(answers)
    return tmp_path / "odd"


def said(session: Session) -> dict[str, list[tuple[object, str | None]]]:
    """What each person said on each text, the one that counts last."""
    records = labelled_records(session, everything=True)
    return {str(record.id): [(given.label, given.by) for given in record.given] for record in records}


def labels(pool: Pool) -> list[str | None]:
    return [pool.classes[label] if label >= 0 else None for label in pool.labels]


def export(folder: Path, to: Path, *words: object) -> Path:
    done("export", folder, "--to", to, *words)
    return to


def started(path: Path, folder: Path) -> Session:
    names = folder.with_suffix(".txt")
    names.write_text("\n".join(CLASSES))
    done("start", path, "--labels", f"@{names}", "--learner", "probe", "--first", "random", "--out", folder)
    return open_session(folder)


@pytest.mark.parametrize("name", [*TABLES, *RECORDS])
def test_start_takes_an_export(odd: Path, tmp_path: Path, name: str) -> None:
    words = ["--format", name] if name in RECORDS else []
    path = export(odd, tmp_path / (f"{name}.json" if words else name), "--all", *words)
    with open_session(odd) as before, started(path, tmp_path / "new") as after:
        assert after.pool.texts == before.pool.texts and after.pool.ids == before.pool.ids
        assert after.labels().of_row == before.labels().of_row
        # and then `tell` brings the skips, and who said what where the file has it
        done("tell", tmp_path / "new", path)
        assert after.labels().skipped == before.labels().skipped and after.labels().of_row == before.labels().of_row
        if name in RECORDS:
            people = {id: [each for each in given if each[1] != "file"] for id, given in said(after).items()}
            assert people == said(before)
        done("tell", tmp_path / "new", path)
        assert after.labels().of_row == before.labels().of_row


@pytest.mark.parametrize("name", [*TABLES, *RECORDS])
def test_tell_and_add_take_an_export(odd: Path, tmp_path: Path, name: str) -> None:
    words = ["--format", name] if name in RECORDS else []
    path = export(odd, tmp_path / (f"{name}.json" if words else name), "--all", *words)
    bare = write(tmp_path / "bare.csv", ["text"], [["one"], ["two"], ["three"]])
    with started(bare, tmp_path / "new") as after, open_session(odd) as before:
        done("add", tmp_path / "new", path)
        assert list(after.labels().of_row) == [row + 3 for row in before.labels().of_row]
        assert after.pool.texts[3:] == before.pool.texts and after.pool.ids[3:] == before.pool.ids
    same = tmp_path / "same"
    with open_session(odd) as before, create(same, before.pool, first="random", learner="probe") as session:
        done("tell", same, path)
        assert session.labels().of_row == before.labels().of_row
        assert session.labels().skipped == before.labels().skipped
        told = said(session)
        if name in RECORDS:
            assert told == said(before)
            assert next(each.seconds for each in session.store.answers() if each.by == "anna") == 1.5
        else:  # a table has only who said what counts
            assert told == {id: given[-1:] for id, given in said(before).items()}


def test_a_second_export_is_the_first(odd: Path, tmp_path: Path) -> None:
    first = export(odd, tmp_path / "one.json", "--all", "--format", "label-studio")
    with open_session(odd) as before:
        create(tmp_path / "same", before.pool, first="random", learner="probe").close()
    done("tell", tmp_path / "same", first)
    second = export(tmp_path / "same", tmp_path / "two.json", "--all", "--format", "label-studio")

    def without_times(path: Path) -> str:
        tasks = json.loads(path.read_text("utf-8"))
        for result in (result for task in tasks for each in task["annotations"] for result in each["result"] or [each]):
            result["meta"].pop("at")
        return json.dumps(tasks)

    assert without_times(second) == without_times(first)


def test_pseudo_labels_never_come_back_as_answers(project: Path, tmp_path: Path) -> None:
    path = export(project, tmp_path / "labels.csv", "--pseudo")
    rows = read(path)
    pseudo = [row["id"] for row in rows if row["source"] == "pseudo"]
    assert pseudo
    before = done("status", project, "--json").facts["labels"]
    assert done("tell", project, path, "--json").facts["new"] == 0
    assert done("status", project, "--json").facts["labels"] == before
    for tool in RECORDS:
        facts = done("export", project, "--pseudo", "--format", tool, "--to", tmp_path / "t.json", "--json").facts
        assert facts["pseudo"] == len(pseudo) and facts["human"] == before
        records = read_table(tmp_path / "t.json").records
        guessed = [record for record in records if record.source == "pseudo"]
        assert [record.id for record in guessed] == sorted(
            pseudo, key=lambda id: [each["id"] for each in rows].index(id)
        )
        assert all(each.guess and each.guess.model == "actune round 0" and not each.given for each in guessed)
        assert done("tell", project, tmp_path / "t.json", "--json").facts["new"] == 0


@pytest.mark.parametrize("tool", RECORDS)
def test_a_decision_stays_one_beside_the_answers_of_all(odd: Path, tmp_path: Path, tool: str) -> None:
    with open_session(odd) as before:
        first, second, third = before.pool.ids[:3]
        before.tell([Answer(third, "-1", by="anna"), Answer(third, "=sum", by="olga")])
        for id, label in ((first, "a, b"), (second, None), (third, "a")):
            before.decide(id, label, "olga")
        wanted, labels = said(before), before.labels()
        if tool == "argilla":  # where one person has one response, so the decision stands for her
            wanted[third] = [each for each in wanted[third] if each != ("=sum", "olga")]
        pool = before.pool
    path = export(odd, tmp_path / "t.json", "--all", "--format", tool)
    with create(tmp_path / "same", pool, first="random", learner="probe") as after:
        for _ in range(2):
            done("tell", tmp_path / "same", path)
            assert (after.labels().of_row, after.labels().skipped) == (labels.of_row, labels.skipped)
            assert said(after) == wanted
        after.tell([Answer(first, "a", by="anna"), Answer(second, "a", by="anna")])
        assert (after.labels().of_row, after.labels().skipped) == (labels.of_row, labels.skipped)


@pytest.mark.parametrize("tool", RECORDS)
def test_questions_go_to_another_tool_and_come_back(
    project: Path, tmp_path: Path, truth: dict[str, str], tool: str
) -> None:
    batch, config = tmp_path / "batch.json", tmp_path / ("page.xml" if tool == "label-studio" else "settings.json")
    done("ask", project, "--to", batch, "--format", tool, "--config", config)
    assert "numeric" in config.read_text()
    found = json.loads(batch.read_text("utf-8"))
    asked = {record.id: record for record in read_table(batch).records}
    with open_session(project) as session:
        questions = session.ask()
    assert [(one.id, one.text, one.suggestion) for one in questions] == [
        (id, record.fields["text"], record.guess and record.guess.label) for id, record in asked.items()
    ]
    done("ask", project, "--to", batch, "--format", tool, "--config", config)  # nothing in it would be lost
    for number, each in enumerate(found[:4]):
        id = each["data"]["id"] if tool == "label-studio" else each["id"]
        if tool == "label-studio":  # which numbers the tasks anew
            each["id"] = 100 + number
            result = {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": [truth[id]]}}
            each["annotations"] = [{"id": 1, "completed_by": 7, "result": [result], "was_cancelled": False}]
        else:
            each["responses"] = {"label": [{"value": truth[id], "user_id": "22222222-2222-4222-8222-222222222222"}]}
    answered = tmp_path / "answered.json"
    answered.write_text(json.dumps(found), encoding="utf-8")
    facts = done("tell", project, answered, "--json").facts
    assert (facts["new"], facts["empty"], facts["open"]) == (4, 6, 6)
    with open_session(project) as session:
        last = session.store.answers()[-1]
    assert last.by == ("7" if tool == "label-studio" else "22222222-2222-4222-8222-222222222222")


def test_an_answer_that_is_not_saved_is_not_written_over(project: Path, tmp_path: Path, fails: Fails) -> None:
    batch = tmp_path / "batch.json"
    done("ask", project, "--to", batch, "--format", "argilla")
    found = json.loads(batch.read_text("utf-8"))
    found[0]["responses"] = {"label": [{"value": "human", "user_id": "u"}]}
    batch.write_text(json.dumps(found), encoding="utf-8")
    assert "has answers that are not saved yet (record 1)" in fails(
        "ask", project, "--to", batch, "--format", "argilla"
    )


def test_a_label_that_is_no_class_is_listed(odd: Path, tmp_path: Path) -> None:
    given = [
        {"value": ["a", "b"], "user_id": "u"},
        {"value": "A", "user_id": "v"},
        {"value": "nothing", "user_id": "w"},
    ]
    record = {"id": "post 1", "fields": {"text": "x"}, "responses": {"kind": given}}
    (tmp_path / "t.json").write_text(json.dumps([record]))
    with open_session(odd) as session:
        filled = read_answers(tmp_path / "t.json", session.pool)
    assert filled.answers == (Answer("post 1", "a", by="v"),) and filled.matched == 1
    several, unknown = (each.reason for each in filled.bad)
    assert several.startswith("id 'post 1' has the unknown label \"['a', 'b']\"")
    assert unknown == "id 'post 1' has the unknown label 'nothing'"


def test_wrong_words(odd: Path, tmp_path: Path, fails: Fails) -> None:
    to = tmp_path / "t.json"
    assert "its name must end in one of .csv, .tsv" in fails("export", odd, "--to", to)
    assert "add --format label-studio or argilla" in fails("ask", odd, "--to", to)
    assert "there is no format 'doccano'" in fails("export", odd, "--to", to, "--format", "doccano")
    assert "needs a file: add --to FILE.json" in fails("ask", odd, "--format", "argilla")
    assert "--config needs a tool" in fails("export", odd, "--to", to, "--config", tmp_path / "c.xml")
    with_table = fails("export", odd, "--to", tmp_path / "t.csv", "--format", "argilla")
    assert "with --format argilla its name must end in .json" in with_table


def test_all_texts_in_a_table(odd: Path, tmp_path: Path) -> None:
    rows = read(export(odd, tmp_path / "all.csv", "--all", "--raw"))
    assert len(rows) == len(ODD) and [row["id"] for row in rows] == [f"post {row}" for row in range(len(ODD))]
    assert [row["skipped"] for row in rows[:8]] == ["", "yes", "", "", "", "", "", "yes"]
    assert (rows[1]["by"], rows[1]["label"], rows[3]["label"], rows[5]["by"]) == ("ben, the second", "", "a", "")
    assert labels(read_pool(tmp_path / "all.csv"))[:4] == ["=sum", None, "=sum", "a"]
    assert "skipped" not in read(export(odd, tmp_path / "labels.csv"))[0]


def test_records_on_standard_output(odd: Path) -> None:
    out = done("export", odd, "--format", "argilla", "--to", "-").out
    with open_session(odd) as session:
        assert len(json.loads(out)) == len(session.labels().of_row)
