"""Argilla's JSON: fields, responses of people, suggestions of models and metadata; and a data set's settings."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from actune.data.records import LABEL, Given, Guess, Record, as_texts, number, word

TEXT = "text"
PEOPLE = uuid.UUID("a9bd6f2c-52d4-5c0e-9f9c-6c6f52a1e0b7")  # the name space of people's names
SKIPPED = "discarded"

# A response knows its person as a UUID, and a discarded one has no value, so metadata has the names of all who
# answered, with parallel lists of what else is known; Argilla takes lists of strings there.


def is_record(record: Mapping[str, Any]) -> bool:
    """Whether this looks like a record of Argilla, and not like a row with an object in a column `fields`."""
    known = record.keys() >= {"responses"} or record.keys() >= {"suggestions"}
    return isinstance(record.get("fields"), dict) and (known or record.keys() <= {"fields", "id", "metadata"})


def dict_of(record: Record) -> dict[str, Any]:
    """A record that `dataset.records.from_json` takes."""
    decided = {given.by for given in record.given if given.decided}  # a person has one response there
    record = replace(record, given=tuple(each for each in record.given if each.decided or each.by not in decided))
    labelled = [given for given in record.given if given.label is not None]
    responses: dict[str, list[dict[str, Any]]] = {}
    for given in labelled:
        response = {"value": _value(given.label), "user_id": user_id(given.by or ""), "status": "submitted"}
        responses.setdefault(given.question, []).append(response)
    suggestions = {}
    if record.guess is not None:
        suggestions[LABEL] = {"value": record.guess.label, "score": record.guess.score, "agent": record.guess.model}
    return {
        "id": record.id,
        "fields": dict(record.fields),
        "metadata": _metadata(record),
        "suggestions": suggestions,
        "responses": responses,
        "vectors": {},
        "status": "completed" if record.given else "pending",
    }


def record_of(found: Mapping[str, Any]) -> Record:
    """The record in what Argilla exported, or we wrote."""
    metadata = found["metadata"] if isinstance(found.get("metadata"), dict) else {}
    given = tuple(_given(found, metadata))
    guess, suggestions = None, found.get("suggestions")
    for suggestion in suggestions.values() if isinstance(suggestions, dict) else ():
        value = as_texts(suggestion.get("value")) if isinstance(suggestion, dict) else None
        if isinstance(value, str):
            guess = Guess(value, number(suggestion.get("score")), word(suggestion.get("agent")))
            break
    source, note = word(metadata.get("source")), word(metadata.get("note"))
    return Record(word(found.get("id")), dict(found["fields"]), given, guess, source, note)


def settings(classes: Sequence[str]) -> str:
    """The settings of a data set for these classes, which `rg.Settings.from_json` reads."""
    options = [{"value": name, "text": name, "description": None} for name in classes]
    question = {"type": "label_selection", "options": options, "visible_options": max(3, min(20, len(classes)))}
    about = {"title": "Label", "description": None, "required": True}
    field = {"type": "text", "use_markdown": False}
    content = {
        "guidelines": None,
        "fields": [{"name": TEXT, "title": "Text", "required": True, "settings": field}],
        "questions": [{"name": LABEL, **about, "settings": question}],
        "vectors": [],
        "metadata": [],
        "allow_extra_metadata": True,
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def user_id(name: str) -> str:
    """The same UUID for the same name, always; one that is a UUID stays as it is."""
    try:
        return str(uuid.UUID(name))
    except ValueError:
        return str(uuid.uuid5(PEOPLE, name))


NOBODY = user_id("")  # who answered is not known


def _metadata(record: Record) -> dict[str, Any]:
    given = record.given
    found = {
        "source": record.source,
        "note": record.note,
        "annotators": [each.by or "" for each in given],
        "skipped": ["yes" if each.label is None else "" for each in given],
        "answered_at": [each.at or "" for each in given],
        "rounds": ["" if each.round is None else str(each.round) for each in given],
        "seconds": ["" if each.seconds is None else repr(each.seconds) for each in given],
        "decided": ["yes" if each.decided else "" for each in given],
    }
    return {name: value for name, value in found.items() if value is not None and value != [] and any(value)}


def _given(found: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[Given]:
    """Those who are named in the metadata in its order, and then the responses of others."""
    responses = list(_responses(found))
    names = _strings(metadata, "annotators", 0)
    count = max(len(names), *(len(_strings(metadata, name, 0)) for name in ("skipped", "answered_at", "rounds")))
    names = _strings(metadata, "annotators", count)
    skipped, at = _strings(metadata, "skipped", count), _strings(metadata, "answered_at", count)
    rounds, seconds = _strings(metadata, "rounds", count), _strings(metadata, "seconds", count)
    decided = _strings(metadata, "decided", count)
    for place, name in enumerate(names):
        round = int(rounds[place]) if rounds[place].isdecimal() else None
        skip = Given(None, name or None, at[place] or None, round, _seconds(seconds[place]))
        skip = replace(skip, decided=decided[place] == "yes")
        if skipped[place]:
            yield skip
            continue
        for question, response in [each for each in responses if each[1].get("user_id") == user_id(name)]:
            responses.remove((question, response))
            yield replace(skip, label=as_texts(response.get("value")), question=question)
    for question, response in responses:
        status = str(response.get("status") or "").removeprefix("ResponseStatus.")
        if status == "draft":
            continue
        value = None if status == SKIPPED else as_texts(response.get("value"))
        if value is not None or status == SKIPPED:
            who = word(response.get("user_id"))
            yield Given(value, None if who == NOBODY else who, question=question)


def _responses(found: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    by_question = found.get("responses")
    for question, responses in by_question.items() if isinstance(by_question, dict) else ():
        for response in responses if isinstance(responses, list) else ():
            if isinstance(response, dict):
                yield str(question), response


def _strings(metadata: Mapping[str, Any], name: str, count: int) -> list[str]:
    """A list of strings in the metadata, filled up to a length."""
    found = metadata.get(name)
    words = [str(each) for each in found] if isinstance(found, list) else []
    return words + [""] * (count - len(words))


def _value(label: str | tuple[str, ...] | None) -> object:
    return list(label) if isinstance(label, tuple) else label


def _seconds(digits: str) -> float | None:
    try:
        return float(digits)
    except ValueError:
        return None
