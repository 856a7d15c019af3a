"""Options as data: what a command line, keyword arguments and run.toml make of one declaration."""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actune.core import toml
from actune.core.options import (
    Place,
    command_options,
    from_command_line,
    from_keywords,
    from_tables,
    options_of,
    tables_of,
)
from actune.core.spec import READING_OPTIONS, RunSpec
from actune.data.splits import Reading
from actune.errors import SettingError

RESULTS = Path(__file__).parents[2] / "benchmarks/results"


def told(place: Place, **given: Any) -> dict[str, Any]:
    """What a command line amounts to where the user gave only these."""
    left_out = dict.fromkeys(option.name for option in command_options(RunSpec, place))
    assert given.keys() <= left_out.keys()
    return from_command_line(RunSpec, place, {**left_out, **given})


def test_a_command_line_becomes_keyword_arguments():
    assert told(Place.RUN, data="trec", rounds=3) == {"source": "trec", "rounds": 3, "changes": {}, "reading": {}}
    assert told(Place.RUN, changes=["K=20", " beta = 0.5 "], train_layers=3)["changes"] == {
        "train_layers": "3",
        "K": "20",
        "beta": "0.5",
    }
    assert told(Place.START, classes='a, "b, or c"', dev="./dev.csv")["reading"] == {
        "classes": ["a", "b, or c"],
        "dev": "dev.csv",
    }
    assert told(Place.RUN, data_dir="here")["reading"] == {"data_dir": str(Path("here").absolute())}


@pytest.mark.parametrize(
    ("given", "weak"),
    [
        ({"weak": False}, None),
        ({"weak": True}, "own"),
        ({"votes": "./v.csv"}, "v.csv"),
        ({"weak": True, "votes": "v"}, "v"),
    ],
)
def test_weak_and_votes_are_one_option(given: dict[str, Any], weak: str | None):
    assert told(Place.RUN, **given).get("weak") == weak


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"changes": ["regions"]}, "--set takes name=value, not 'regions'"),
        ({"changes": ["=3"]}, "--set takes name=value, not '=3'"),
        ({"classes": "a,,b"}, "--labels takes class names separated by commas, not 'a,,b'"),
        ({"classes": "a\rb"}, "--labels takes class names separated by commas, not 'a\\rb'"),
    ],
)
def test_what_cannot_be_parsed_is_one_sentence(given: dict[str, Any], sentence: str):
    with pytest.raises(SettingError) as error:
        told(Place.START, **given)
    assert str(error.value) == sentence


def test_keyword_arguments_get_the_types_of_their_fields():
    said = {"source": "x", "batch": np.int64(5), "noise": 0, "model": Path("a/b"), "rounds": None, "keep_weak": True}
    found = from_keywords(RunSpec, said)
    assert found == {"data": "x", "batch": 5, "noise": 0.0, "model": "a/b", "keep_weak": True}
    assert type(found["batch"]) is int and type(found["noise"]) is float
    assert [from_keywords(RunSpec, {"weak": value})["weak"] for value in (True, False, "v.csv")] == ["own", "", "v.csv"]


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"metod": "auto"}, "a run has no option 'metod': did you mean 'method'? known: adapt, answers_each, "),
        ({"data": "trec"}, "a run has no option 'data': "),
        ({"batch": "ten"}, "option 'batch' takes a whole number, not 'ten'"),
        ({"batch": 5.0}, "option 'batch' takes a whole number, not 5.0"),
        ({"rounds": True}, "option 'rounds' takes a whole number, not True"),
        ({"noise": "0.5"}, "option 'noise' takes a number, not '0.5'"),
        ({"method": 3}, "option 'method' takes a text, not 3"),
        ({"method": True}, "option 'method' takes a text, not True"),
        ({"keep_weak": 1}, "option 'keep_weak' takes true or false, not 1"),
        ({"changes": ["K=3"]}, "option 'changes' takes a mapping, not ['K=3']"),
    ],
)
def test_wrong_keyword_arguments_are_one_sentence(said: dict[str, Any], sentence: str):
    with pytest.raises(SettingError) as error:
        from_keywords(RunSpec, said)
    assert str(error.value).startswith(sentence)


def test_a_spec_is_read_from_the_tables_that_it_is_written_in():
    spec = RunSpec("trec", batch=7, changes={"epochs": 2}, reading={"text": "body"}, weak="own", round_seconds=5.0)
    tables = tomllib.loads(toml.dumps(tables_of(spec)))
    assert from_tables(RunSpec, tables) == spec  # the seconds decide what is resolved, and not what the run is
    assert "round_seconds" not in tables["request"]
    assert list(tables) == ["request", "set", "reading"] and list(tables["request"]) == [
        name for name, option in options_of(RunSpec).items() if option.recorded and option.table == "request"
    ]


def test_an_older_table_has_the_defaults_and_an_unknown_or_wrong_word_is_one_sentence():
    tables = tables_of(RunSpec("trec", start_from=""))
    for name in ("start_from", "keep_weak", "adapt"):
        del tables["request"][name]
    assert from_tables(RunSpec, tables) == RunSpec("trec")
    with pytest.raises(SettingError, match=r"\[request\] has an unknown option 'bach': did you mean 'batch'"):
        from_tables(RunSpec, {**tables, "request": {**tables["request"], "bach": 1}})
    with pytest.raises(SettingError, match="option 'batch' takes a whole number, not '1'"):
        from_tables(RunSpec, {**tables, "request": {**tables["request"], "batch": "1"}})


def test_the_requests_of_published_runs_are_read_and_written_as_they_are():
    files = list(RESULTS.glob("*/cells.jsonl"))
    runs = [json.loads(line)["run"] for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(runs) > 50
    for tables in runs:
        written = tables_of(from_tables(RunSpec, tables))
        newer = {
            "recipe": "paper",
            "no_dev": False,
            "names": "",
            "distinct": 0.0,
            "page": False,
            "audit": 0,
            "audit_every": 5,
            "overlap": 0.0,
            "answers_each": 2,
        }  # options that published runs are older than, at their defaults
        assert written == {
            "request": {**newer, **tables["request"]},
            "set": tables["set"],
            "reading": tables["reading"],
        }


def test_how_data_is_read_is_declared_for_all_that_a_reader_takes():
    names = [option.name for option in READING_OPTIONS]
    assert sorted(names) == sorted([*asdict(Reading()), "dev", "test", "data_dir"])


def test_every_field_is_an_option_with_a_sentence_of_help():
    options = options_of(RunSpec)
    assert list(options) == [field.name for field in fields(RunSpec)]
    parts = [part for option in options.values() for part in (option, *option.spellings)]
    for part in parts:
        assert part.help[0].isupper() and part.help.endswith("."), part.name
        assert part.places, part.name
