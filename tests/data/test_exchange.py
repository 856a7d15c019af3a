"""Label Studio and Argilla: what goes out comes in again equal, and files as these tools export them are read."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import actune
from actune.data.argilla import user_id
from actune.data.exchange import TOOLS, check_records_target, write_configuration, write_records
from actune.data.formats import read_pool, read_table
from actune.data.records import Given, Guess, Record
from actune.errors import DataError, SettingError, StorageError
from tests.data.texts import LABELS, NAMES, TEXTS

# as the documentation of Label Studio shows an export, with a choice in place of a rectangle
LABEL_STUDIO = [
    {
        "id": 11,
        "created_at": "2021-03-09T21:52:49.513742Z",
        "updated_at": "2021-03-09T22:16:08.746926Z",
        "project": 83,
        "data": {"text": "what a film", "stars": 5},
        "drafts": [],
        "annotations": [
            {
                "id": 1002,
                "completed_by": 10,
                "result": [
                    {
                        "id": "Dx_aB91ISN",
                        "from_name": "sentiment",
                        "to_name": "text",
                        "type": "choices",
                        "origin": "manual",
                        "value": {"choices": ["positive"]},
                    }
                ],
                "was_cancelled": False,
                "ground_truth": False,
                "created_at": "2021-03-09T22:20:08.728353Z",
                "updated_at": "2021-03-09T22:20:08.728378Z",
                "lead_time": 4.288,
                "result_count": 1,
                "task": 11,
            },
            {
                "id": 1001,
                "completed_by": {"id": 3, "email": "ben@example.org", "first_name": "", "last_name": ""},
                "result": [
                    {
                        "from_name": "sentiment",
                        "to_name": "text",
                        "type": "choices",
                        "value": {"choices": ["negative"]},
                    }
                ],
                "was_cancelled": False,
                "created_at": "2021-03-09T22:16:08.728353Z",
                "updated_at": "2021-03-09T22:16:08.728378Z",
                "lead_time": 2.5,
            },
        ],
        "predictions": [
            {
                "created_ago": "3 hours",
                "model_version": "model 1",
                "score": 0.75,
                "result": [
                    {
                        "from_name": "sentiment",
                        "to_name": "text",
                        "type": "choices",
                        "value": {"choices": ["neutral"]},
                    }
                ],
            }
        ],
    },
    {
        "id": 12,
        "data": {"text": "no idea", "stars": None},
        "annotations": [{"id": 1003, "completed_by": 10, "result": [], "was_cancelled": True, "lead_time": 1}],
        "predictions": [],
    },
    {"id": 13, "data": {"text": "not yet", "stars": 1}, "annotations": []},
]

# as `dataset.records.to_json` of Argilla 2 writes it
ARGILLA = [
    {
        "id": "r1",
        "fields": {"text": "what a film"},
        "metadata": {"stars": 5},
        "suggestions": {"sentiment": {"value": "neutral", "score": 0.75, "agent": "model 1"}},
        "responses": {
            "sentiment": [
                {"value": "negative", "user_id": "11111111-1111-4111-8111-111111111111"},
                {"value": "positive", "user_id": "22222222-2222-4222-8222-222222222222"},
            ]
        },
        "vectors": {},
        "status": "completed",
        "_server_id": "33333333-3333-4333-8333-333333333333",
    },
    {
        "id": "r2",
        "fields": {"text": "no idea"},
        "metadata": {},
        "suggestions": {},
        "responses": {"sentiment": [{"value": "positive", "user_id": "u", "status": "draft"}]},
        "vectors": {},
        "status": "pending",
    },
]


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_an_export_of_label_studio(tmp_path: Path) -> None:
    path = written(tmp_path / "export.json", LABEL_STUDIO)
    pool = read_pool(path)
    assert list(pool.texts) == ["what a film", "no idea", "not yet"] and list(pool.ids) == ["11", "12", "13"]
    assert pool.classes == ("positive",) and pool.labels.tolist() == [0, -1, -1]  # the later of two annotations
    assert pool.notes == ("1 text has different answers of several people: the last one in the file is used",)
    assert actune.read_pool(LABEL_STUDIO) == pool
    table = read_table(path)
    assert table.cells["stars"] == [5, None, 1] and table.cells["sentiment"] == table.cells["label"]
    first, second, _ = table.records
    assert [(each.label, each.by, each.seconds) for each in first.given] == [
        ("negative", "ben@example.org", 2.5),
        ("positive", "10", 4.288),
    ]
    assert first.guess == Guess("neutral", 0.75, "model 1") and second.given == (Given(None, "10", seconds=1),)


def test_an_export_of_argilla(tmp_path: Path) -> None:
    pool = read_pool(written(tmp_path / "export.json", ARGILLA))
    assert list(pool.texts) == ["what a film", "no idea"] and list(pool.ids) == ["r1", "r2"]
    assert pool.classes == ("positive",) and pool.labels.tolist() == [0, -1]
    first, second = read_table(tmp_path / "export.json").records
    assert [each.by for each in first.given] == [
        "11111111-1111-4111-8111-111111111111",
        "22222222-2222-4222-8222-222222222222",
    ]
    assert first.guess == Guess("neutral", 0.75, "model 1") and second.given == ()


def test_several_questions_are_several_columns(tmp_path: Path) -> None:
    record = {
        "id": "r1",
        "fields": {"text": "a"},
        "responses": {
            "topic": [{"value": "sports", "user_id": "u"}],
            "tags": [{"value": ["new", "old"], "user_id": "u"}],
            "rating": [{"value": 4, "user_id": "u"}],
        },
    }
    path = written(tmp_path / "export.json", [record])
    table = read_table(path)
    assert {name: list(cells) for name, cells in table.cells.items()} == {
        "id": ["r1"],
        "text": ["a"],
        "topic": ["sports"],
        "tags": [["new", "old"]],
        "rating": ["4"],
    }
    assert read_pool(path, label="topic").classes == ("sports",)
    with pytest.raises(DataError, match=r"must have one label per row \(record 1, the first is \['new', 'old'\]\)"):
        read_pool(path, label="tags")


PEOPLE = st.lists(NAMES, max_size=3, unique_by=user_id)


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    ids = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    numbers = st.none() | st.integers(0, 9)
    seconds = st.none() | st.floats(0, 1e6)
    made = []
    for id in ids:
        answers = [
            Given(draw(st.none() | LABELS), by, draw(st.none() | st.just("2026-01-02T03:04:05.678Z")), draw(numbers))
            for by in draw(PEOPLE)
        ]
        answers = [Given(each.label, each.by, each.at, each.round, draw(seconds)) for each in answers]
        model = st.none() | st.just("actune round 3")
        guess = draw(st.none() | st.builds(Guess, LABELS, st.none() | st.floats(0, 1), model))
        source = "human" if answers else "pseudo" if guess else None
        made.append(Record(id, {"text": draw(TEXTS)}, tuple(answers), guess, source, draw(st.none() | TEXTS)))
    return made


@pytest.mark.parametrize("tool", TOOLS)
def test_records_survive(tmp_path: Path, tool: str) -> None:
    @settings(max_examples=150, deadline=None)
    @given(records())
    def law(found: list[Record]) -> None:
        write_records(tmp_path / "t.json", found, tool)
        table = read_table(tmp_path / "t.json")
        assert list(table.records) == found
        pool = read_pool(tmp_path / "t.json")
        assert list(pool.texts) == [record.fields["text"] for record in found]
        assert list(pool.ids) == [record.id for record in found]
        labels = [record.given[-1].label if record.given else None for record in found]
        assert [pool.classes[label] if label >= 0 else None for label in pool.labels] == labels

    law()


@pytest.mark.parametrize("tool", TOOLS)
def test_what_a_tool_needs_is_there(tmp_path: Path, tool: str) -> None:
    """The keys that the two import, and no account of Label Studio, which may not be there."""
    said = Given("a", "anna", "2026-01-02T03:04:05.678Z", 2, 1.5)
    record = Record("7", {"text": "x"}, (said, Given(None, "ben")), Guess("b", 0.25, "actune round 1"), "human")
    write_records(tmp_path / "t.json", [record], tool)
    (found,) = json.loads((tmp_path / "t.json").read_text("utf-8"))
    if tool == "argilla":
        assert found["responses"] == {"label": [{"value": "a", "user_id": user_id("anna"), "status": "submitted"}]}
        assert found["suggestions"] == {"label": {"value": "b", "score": 0.25, "agent": "actune round 1"}}
        assert found["metadata"]["annotators"] == ["anna", "ben"] and found["metadata"]["source"] == "human"
        return
    assert found["data"] == {"id": "7", "text": "x"} and found["meta"] == {"source": "human"}
    choice = {"from_name": "label", "to_name": "text", "type": "choices"}
    about = {"annotator": "anna", "at": "2026-01-02T03:04:05.678Z", "round": 2}
    labelled, skipped = found["annotations"]
    assert labelled["result"] == [{**choice, "value": {"choices": ["a"]}, "meta": about}]
    assert (labelled["was_cancelled"], labelled["lead_time"], skipped["was_cancelled"]) == (False, 1.5, True)
    assert "completed_by" not in labelled and skipped["result"] == []
    prediction = {"model_version": "actune round 1", "score": 0.25, "result": [{**choice, "value": {"choices": ["b"]}}]}
    assert found["predictions"] == [prediction]


def test_the_configurations_have_the_classes(tmp_path: Path) -> None:
    classes = ['a "b" <c>', "d & e", "new\nline"]
    write_configuration(tmp_path / "page.xml", classes, "label-studio")
    page = ElementTree.parse(tmp_path / "page.xml").getroot()
    assert [choice.get("value") for choice in page.iter("Choice")] == classes
    assert page.find("Text").get("value") == "$text"  # type: ignore[union-attr]
    write_configuration(tmp_path / "settings.json", classes, "argilla")
    (question,) = json.loads((tmp_path / "settings.json").read_text("utf-8"))["questions"]
    assert question["name"] == "label"
    assert [option["value"] for option in question["settings"]["options"]] == classes
    with pytest.raises(DataError, match="which XML cannot hold: rename it"):
        write_configuration(tmp_path / "page.xml", ["a\x01"], "label-studio")


def test_no_records_are_an_empty_list(tmp_path: Path) -> None:
    write_records(tmp_path / "t.json", [], "argilla")
    assert json.loads((tmp_path / "t.json").read_text()) == []


def test_what_cannot_be_written(tmp_path: Path) -> None:
    def refused(error: type[Exception], words: str, path: str, tool: str, config: str | None = None) -> None:
        with pytest.raises(error, match=words):
            check_records_target(tmp_path / path, tool, None if config is None else tmp_path / config)

    refused(SettingError, "there is no format 'doccano': known", "t.json", "doccano")
    refused(DataError, "its name must end in .json", "t.csv", "argilla")
    refused(DataError, "this configuration must end in .xml", "t.json", "label-studio", "c.json")
    refused(DataError, "choose another file for the configuration", "t.json", "argilla", "t.json")
    refused(StorageError, "there is no folder", "no/t.json", "argilla")
    check_records_target("-", "argilla", tmp_path / "c.json")


@pytest.mark.parametrize(
    "content",
    [
        [{"text": "a", "data": {"b": 1}}, {"text": "c", "data": {}}],
        [{"text": "a", "fields": {"b": 1}, "metadata": {}}],
    ],
)
def test_rows_with_objects_in_a_column_stay_rows(tmp_path: Path, content: Any) -> None:
    path = written(tmp_path / "t.json", content)
    assert list(read_pool(path).texts) == [row["text"] for row in content]
    assert not read_table(path).records and actune.read_pool(content) == read_pool(path)


def test_a_file_with_a_column_for_each_record(tmp_path: Path) -> None:
    path = written(tmp_path / "t.json", [{"data": {f"c{row}": "x"}, "annotations": []} for row in range(10_001)])
    with pytest.raises(DataError, match="has 10,001 columns"):
        read_table(path)


@pytest.mark.parametrize(
    "content",
    [
        [{"data": {"text": "a"}, "annotations": None, "predictions": "x", "meta": []}],
        [{"data": {"text": "a"}, "annotations": [3, {"result": [3, {"type": "choices", "value": 3}]}]}],
        [{"fields": {"text": "a"}, "responses": [], "suggestions": [], "metadata": 3}],
        [{"fields": {"text": "a"}, "responses": {"label": [3, {}]}, "metadata": {"annotators": "x", "rounds": [3]}}],
    ],
)
def test_files_with_broken_parts_still_have_their_texts(tmp_path: Path, content: Any) -> None:
    pool = read_pool(written(tmp_path / "t.json", content))
    assert list(pool.texts) == ["a"] and pool.labels.tolist() == [-1]
