"""Label Studio's JSON: tasks with annotations and predictions, and the configuration of its labelling page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from actune.data.records import LABEL, Given, Guess, Record, as_texts, number, word
from actune.errors import DataError

TEXT = "text"

# Label Studio gives tasks ids of its own, and knows people by accounts that may not exist there. What it keeps of a
# file that is imported is `data`, `meta` of a task, and each `result` as it is: so these hold ids and names.


def is_task(record: Mapping[str, Any]) -> bool:
    """Whether this looks like a task of Label Studio, and not like a row with an object in a column `data`."""
    known = record.keys() >= {"annotations"} or record.keys() >= {"predictions"}
    return isinstance(record.get("data"), dict) and (known or record.keys() <= {"data", "id", "meta"})


def task_of(record: Record) -> dict[str, Any]:
    """A task to import."""
    facts = {"source": record.source, "note": record.note}
    task: dict[str, Any] = {
        "data": {**({} if record.id is None else {"id": record.id}), **record.fields},
        "meta": {name: value for name, value in facts.items() if value is not None},
        "annotations": [_annotation(given) for given in record.given],
        "predictions": [],
    }
    if record.guess is not None:
        about = {"model_version": record.guess.model, "score": record.guess.score}
        known = {name: value for name, value in about.items() if value is not None}
        task["predictions"] = [{**known, "result": [_choice(LABEL, [record.guess.label])]}]
    return task


def record_of(task: Mapping[str, Any]) -> Record:
    """The record in a task that was exported, or that we wrote."""
    fields, meta = dict(task["data"]), _mapping(task.get("meta"))
    id = word(fields.pop("id", None)) or word(task.get("id"))
    given = [given for annotation in _in_time(_dicts(task.get("annotations"))) for given in _given(annotation)]
    guesses = [guess for prediction in _dicts(task.get("predictions")) for guess in _guesses(prediction)]
    source, note = word(meta.get("source")), word(meta.get("note"))
    return Record(id, fields, tuple(given), guesses[-1] if guesses else None, source, note)


def configuration(classes: Sequence[str]) -> str:
    """The labelling page for these classes, to be pasted into the settings of a project."""
    for name in classes:
        if broken := [letter for letter in name if letter < " " and letter not in "\t\n\r"]:
            raise DataError(f"the class {name!r} has the character {broken[0]!r}, which XML cannot hold: rename it")
    lines = [
        "<View>",
        f'  <Text name="{TEXT}" value="${TEXT}"/>',
        f'  <Choices name="{LABEL}" toName="{TEXT}" choice="single" showInLine="true">',
        *(f"    <Choice value={quoteattr(name)}/>" for name in classes),
        "  </Choices>",
        "</View>",
    ]
    return "\n".join(lines) + "\n"


def _annotation(given: Given) -> dict[str, Any]:
    """`completed_by` is left out: Label Studio refuses a file that names an account which it does not have."""
    about = {"annotator": given.by, "at": given.at, "round": given.round, "decided": given.decided or None}
    known = {name: value for name, value in about.items() if value is not None}
    annotation: dict[str, Any] = {"was_cancelled": given.label is None, "ground_truth": given.decided}
    if given.seconds is not None:
        annotation["lead_time"] = given.seconds
    if given.label is None:
        return {**annotation, "meta": known, "result": []}
    labels = [given.label] if isinstance(given.label, str) else list(given.label)
    return {**annotation, "result": [{**_choice(given.question, labels), "meta": known}]}


def _choice(question: str, labels: list[str]) -> dict[str, Any]:
    return {"from_name": question, "to_name": TEXT, "type": "choices", "value": {"choices": labels}}


def _given(annotation: Mapping[str, Any]) -> Iterator[Given]:
    results = _choices(annotation)
    by, at = _annotator(annotation), word(annotation.get("updated_at")) or word(annotation.get("created_at"))
    seconds = number(annotation.get("lead_time"))
    if annotation.get("was_cancelled"):
        results = [{"meta": annotation.get("meta"), "from_name": LABEL}]
    for result in results:
        meta = _mapping(result.get("meta"))
        yield Given(
            None if annotation.get("was_cancelled") else as_texts(_mapping(result.get("value")).get("choices")),
            word(meta.get("annotator")) or by,
            word(meta.get("at")) or at,
            meta["round"] if isinstance(meta.get("round"), int) else None,
            seconds,
            word(result.get("from_name")) or LABEL,
            meta.get("decided") is True,
        )


def _guesses(prediction: Mapping[str, Any]) -> Iterator[Guess]:
    for result in _choices(prediction):
        label = as_texts(_mapping(result.get("value")).get("choices"))
        if isinstance(label, str):
            yield Guess(label, number(prediction.get("score")), word(prediction.get("model_version")))


def _choices(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The results that choose classes; others mark parts of a text, or write one."""
    found = [result for result in _dicts(part.get("result")) if result.get("type") == "choices"]
    return [result for result in found if as_texts(_mapping(result.get("value")).get("choices")) is not None]


def _annotator(annotation: Mapping[str, Any]) -> str | None:
    """The person by address where the file has it, else by number."""
    who = annotation.get("completed_by")
    return word(who.get("email")) or word(who.get("id")) if isinstance(who, dict) else word(who)


def _in_time(annotations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Annotations in the order in which they were made, where the file says when."""
    times = [word(each.get("updated_at")) or word(each.get("created_at")) for each in annotations]
    if None in times:
        return annotations
    order = sorted(range(len(annotations)), key=lambda place: str(times[place]))
    return [annotations[place] for place in order]


def _dicts(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
