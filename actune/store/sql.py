"""The events of a run in a database: the verbs of the protocol as SQL that SQLite and PostgreSQL understand."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from statistics import median
from typing import Any

from actune.core.checks import told
from actune.core.facts import FinalFacts, QuestionRow, RoundFacts, Selection
from actune.core.labels import Labels
from actune.core.pool import Pool
from actune.core.shapes import WrongShape, value_of
from actune.core.strings import Strings
from actune.errors import DataError
from actune.store.addresses import Schema
from actune.store.chain import COLUMNS, broken_links, last_link, link, now
from actune.store.chunks import add_chunk, chunks_of, count_texts, find_rows, texts_in_database
from actune.store.classes import SQLClasses
from actune.store.clients import place_of, remember
from actune.store.database import Connection
from actune.store.marks import SQLMarks, write_marks
from actune.store.opening import opened
from actune.store.protocol import EARLIER_FINALS, FINAL, Events
from actune.store.reading import Record, check_range, count_of, decoded, decoded_list, decoded_value, records, whole
from actune.store.records import (
    AnswerRow,
    Chunk,
    Counts,
    Lease,
    Mark,
    ModelRow,
    Recorded,
    Said,
    Saved,
    Word,
    no_marks,
)
from actune.store.schema import LOG, SKIPPED, VERSION, changes_in, last_answer
from actune.store.words import SKIPS, Words, labels_of, replay

ANSWER = COLUMNS["answers"]
BEFORE = ANSWER.split(", ").index("before")
WORD = "row, number, kind, label, by"
SET_WORD = "DO UPDATE SET number = excluded.number, kind = excluded.kind, label = excluded.label"
# the texts that somebody picked, then the questions of the next round that nobody has answered
OPEN = """
SELECT asked.round, asked.row, suggestion, confidence FROM (
    SELECT (SELECT count(*) FROM rounds) AS round, row, NULL AS suggestion, NULL AS confidence, 0 AS part, place,
           1 AS people
    FROM queue
    UNION ALL
    SELECT questions.round, questions.row, suggestion, confidence, 1 AS part, position AS place,
           CAST(coalesce(marked.value, '1') AS INTEGER) AS people
    FROM questions
    LEFT JOIN latest ON latest.row = questions.row LEFT JOIN queue ON queue.row = questions.row
    LEFT JOIN marked ON marked.kind = 'overlap' AND marked.row = questions.row
    WHERE questions.round = (SELECT count(*) FROM rounds) AND latest.row IS NULL AND queue.row IS NULL
) AS asked {free} ORDER BY part, place {limit}
"""
FREE = """WHERE (SELECT count(*) FROM leases WHERE leases.row = asked.row AND leases.by <> ? AND leases.until > ?)
      < asked.people"""
SAYS = """words.kind IN ('label', 'skip', 'unsure')
AND coalesce(words.label, -1) NOT IN (SELECT number FROM classes WHERE retired <> 0)"""
# the texts that are answered, also by more people than this one, and nobody has decided on; a lease counts as a person
OWED = f"""
SELECT (SELECT count(*) FROM rounds), marked.row, NULL, NULL FROM marked
JOIN latest ON latest.row = marked.row AND latest.kind <> 'decide' LEFT JOIN queue ON queue.row = marked.row
WHERE marked.kind = 'overlap' AND queue.row IS NULL
AND NOT EXISTS (SELECT 1 FROM words WHERE words.row = marked.row AND words.by = ? AND {SAYS})
AND (SELECT count(*) FROM words WHERE words.row = marked.row AND {SAYS})
    + (SELECT count(*) FROM leases WHERE leases.row = marked.row AND leases.by <> ? AND leases.until > ? AND NOT EXISTS
       (SELECT 1 FROM words WHERE words.row = leases.row AND words.by = leases.by AND {SAYS}))
    < CAST(marked.value AS INTEGER)
ORDER BY marked.number LIMIT ?
"""
EVERYTHING = 10**9  # rows: more than any project has
MOST_VALUES = 500  # in one statement: SQLite allows 999 in old versions


class SQLEvents(SQLClasses, SQLMarks, Events):
    """SQLite in WAL mode with full synchronisation, or PostgreSQL, behind the verbs of the protocol.

    What the database says is checked on reading: it may be damaged, or somebody else's.
    """

    rows_expected: int | None = None  # of a pool whose texts are not in the store
    classes_expected: int | None = None

    def __init__(self, place: Path | Schema, create: bool = False, readonly: bool = False) -> None:
        self._connections = opened(place, create, readonly)

    def close(self) -> None:
        self._connections.close()

    def wait_at_most(self, seconds: float) -> None:
        """How long a database that another process has locked is waited for; for a server, whose clients try again."""
        self._connections.wait_at_most(seconds)

    def check_log(self) -> None:
        """One sentence for a damaged database, or for answers that are not as they were written."""
        self._connections.check()
        with self._connections.reading() as connection:
            if self._connections.version(connection) < VERSION:
                return
            for table in LOG:
                if (found := next(broken_links(connection, table), None)) is not None:
                    raise WrongShape(f"row {told(found)} of the table {table} is not as it was written")

    @property
    def database(self) -> str:
        """What sentences call the database."""
        return self._connections.name

    def version(self) -> int:
        """Which version of actune's tables these are."""
        with self._connections.reading() as connection:
            return self._connections.version(connection)

    def database_problems(self, most: int) -> list[str]:
        """What the database finds wrong with its own files."""
        return self._connections.problems(most)

    def environment(self) -> Mapping[str, str]:
        """What another process of this user needs to open the same run."""
        return self._connections.environment()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """The database itself, to look at."""
        with self._connections.reading() as connection:
            yield connection

    def copy_to(self, target: Path) -> None:
        """Writes a copy of the database as it is now."""
        self._connections.back_up(target)

    @contextmanager
    def changing(self, copy: Path) -> Iterator[Connection]:
        """The database itself, to repair; `copy` is where it is kept as it was."""
        self._connections.back_up(copy)
        with self._connections.writing() as connection:
            yield connection

    # texts

    def add_chunk(
        self,
        split: str,
        file: str,
        ids: Strings,
        answers: Sequence[Said] = (),
        digest: str | None = None,
        marks: Callable[[int], Sequence[Mark]] = no_marks,
    ) -> int:
        with self._connections.writing() as connection:
            first = add_chunk(connection, split, file, ids, digest)
            _tell(connection, [replace(said, row=first + said.row) for said in answers])
            write_marks(connection, marks(first))
        return first

    def chunks(self, split: str | None = None) -> list[Chunk]:
        with self._connections.reading() as connection:
            return chunks_of(connection, split)

    def texts_in_database(self, split: str, classes: Sequence[str], first: int = 0) -> Pool:
        with self._connections.reading() as connection:
            return texts_in_database(connection, split, classes, first)

    def text_count(self, split: str) -> int:
        with self._connections.reading() as connection:
            return count_texts(connection, split)

    def rows_of(self, split: str, ids: Sequence[str]) -> list[int | None]:
        with self._connections.reading() as connection:
            return find_rows(connection, split, ids)

    def ids_in_database(self, split: str) -> dict[int, str]:
        """The ids that are looked up here, by row; where ids are row numbers they are not."""
        with self._connections.reading() as connection:
            return {row: id for id, row in connection.execute("SELECT id, row FROM ids WHERE split = ?", (split,))}

    def forget_chunks(self) -> None:
        if not (self.chunks() or self._all("SELECT 1 FROM texts LIMIT 1")):
            return
        with self._connections.writing() as connection:
            for table in ("chunks", "ids", "texts"):
                connection.execute(f"DELETE FROM {table}")
        self._connections.compact()

    # answers

    def tell(self, answers: Sequence[Said]) -> Recorded:
        if not answers:
            return Words().recorded()
        with self._connections.writing() as connection:
            return _tell(connection, answers)

    def answers(self) -> list[AnswerRow]:
        return self._records(AnswerRow, f"SELECT {ANSWER} FROM answers ORDER BY number")

    def latest(self) -> list[Word]:
        return self._records(Word, f"SELECT {WORD} FROM latest ORDER BY row")

    def words(self, row: int) -> list[Word]:
        return self._records(Word, f"SELECT {WORD} FROM words WHERE row = ? ORDER BY number", row)

    def word_on(self, row: int) -> Word | None:
        return next(iter(self._records(Word, f"SELECT {WORD} FROM latest WHERE row = ?", row)), None)

    def words_on(self, rows: Sequence[int]) -> list[Word]:
        with self._connections.reading() as connection:
            return list(_words(connection, "latest", rows))

    def words_of_all(self, rows: Sequence[int]) -> list[Word]:
        with self._connections.reading() as connection:
            return list(_words(connection, "words", rows))

    def labels(self, until: int | None = None) -> Labels:
        with self._connections.reading() as connection:
            if until is None:
                labels = _standing_labels(connection)
            else:
                query = f"SELECT {ANSWER} FROM answers WHERE number <= ? ORDER BY number"
                log = list(records(AnswerRow, connection.execute(query, (until,))))
                changes = [change for change in changes_in(connection) if change.after <= until]
                words = sorted(replay(log, changes).latest.values(), key=lambda word: word.row)
                labels = labels_of(words, log[-1].number if log else 0)
            self._check_rows(connection, [*labels.of_row, *labels.skipped])
            check_range("class", labels.of_row.values(), self.classes_expected)
        return labels

    def history(
        self,
        limit: int,
        before: int | None = None,
        by: str | None = None,
        rows: Collection[int] | None = None,
        label: int | None = None,
        reader: str | None = None,
    ) -> list[AnswerRow]:
        seen = "(by = ? OR row NOT IN (SELECT row FROM marked WHERE kind = 'overlap'))"
        conditions: dict[str, Any] = {"number < ?": before, "by = ?": by, "label = ?": label, seen: reader}
        chosen = {condition: value for condition, value in conditions.items() if value is not None}
        if rows is not None:
            chosen["row IN (SELECT value FROM json_each(?))"] = json.dumps(sorted(rows))
        where = f"WHERE {' AND '.join(chosen)}" if chosen else ""
        query = f"SELECT {ANSWER} FROM answers {where} ORDER BY number DESC LIMIT ?"
        return self._records(AnswerRow, query, *chosen.values(), limit)

    def said(self, numbers: Collection[int]) -> dict[int, AnswerRow]:
        query = f"SELECT {ANSWER} FROM answers WHERE number IN (SELECT value FROM json_each(?))"
        found = self._records(AnswerRow, query, json.dumps(sorted(numbers)))
        return {answer.number: answer for answer in found}

    def applied_numbers(self) -> list[int]:
        return [int(number) for (number,) in self._all("SELECT number FROM answers WHERE applied IS NOT NULL")]

    def answers_by_hour(self) -> list[tuple[str, int]]:
        query = "SELECT substr(at, 1, 13), count(*) FROM answers GROUP BY 1 ORDER BY 1"
        return [(str(hour), int(count)) for hour, count in self._all(query)]

    def median_seconds(self) -> float | None:
        known = [seconds for (seconds,) in self._all("SELECT seconds FROM answers WHERE seconds IS NOT NULL")]
        return float(median(known)) if known else None

    def last_answer(self) -> int:
        with self._connections.reading() as connection:
            return last_answer(connection)

    def answers_that_count(self, after: int) -> int:
        query = """SELECT count(*) FROM answers LEFT JOIN answers AS stood ON stood.number = answers.before
        WHERE answers.number > ? AND (stood.number IS NULL OR ((stood.kind <> 'decide' OR answers.kind = 'decide')
        AND (stood.kind <> answers.kind OR coalesce(stood.label, -1) <> coalesce(answers.label, -1))))"""
        return int(self._all(query, after)[0][0])

    def counts(self) -> Counts:
        with self._connections.reading() as connection:
            found = dict(connection.execute("SELECT label, rows FROM counts WHERE rows > 0 ORDER BY label").fetchall())
            for rows in found.values():
                whole(rows, "a count of labels")
        skipped = found.pop(SKIPPED, 0)
        return Counts(found, skipped)

    # questions

    def questions(self, round: int | None = None) -> list[QuestionRow]:
        where, values = ("", ()) if round is None else ("WHERE round = ?", (round,))
        query = f"SELECT round, row, suggestion, confidence FROM questions {where} ORDER BY round, position"
        return self._questions(query, *values)

    def add_questions(self, questions: Sequence[QuestionRow], facts: Mapping[str, Any] | None = None) -> int:
        with self._connections.writing() as connection:
            query = "SELECT round, row FROM questions WHERE round = ?"
            known = {each for round in {q.round for q in questions} for each in connection.execute(query, (round,))}
            new = [question for question in questions if (question.round, question.row) not in known]
            _insert_questions(connection, new)
            for name, value in (facts or {}).items():
                _set_fact(connection, name, value)
        return len(new)

    def open_questions(self) -> list[QuestionRow]:
        return self._questions(OPEN.format(free="", limit=""))

    def lease_questions(self, by: str, count: int | None, seconds: float) -> list[QuestionRow]:
        now, most = time.time(), EVERYTHING if count is None else count
        with self._connections.writing() as connection:
            new = connection.execute(OPEN.format(free=FREE, limit="LIMIT ?"), (by, now, most)).fetchall()
            owed = connection.execute(OWED, (by, by, now, most)).fetchall()
            query = "SELECT max(CAST(value AS INTEGER)) FROM marked WHERE kind = 'overlap'"
            people = connection.execute(query).fetchone()[0] if owed else 1
            found = self._checked(connection, records(QuestionRow, mixed(new, owed, people - 1)))[:count]
            _lease(connection, [question.row for question in found], by, now, seconds)
        return found

    def lease(self, rows: Sequence[int], by: str, seconds: float) -> list[int]:
        now = time.time()
        with self._connections.writing() as connection:
            query = "SELECT row FROM leases WHERE by <> ? AND until > ?"
            taken = {row for (row,) in connection.execute(query, (by, now))}
            free = [row for row in rows if row not in taken]
            _lease(connection, free, by, now, seconds)
        return free

    def release(self, rows: Sequence[int], by: str) -> None:
        with self._connections.writing() as connection:
            _release(connection, [(row, by) for row in rows])

    def leases(self) -> list[Lease]:
        return self._records(Lease, "SELECT row, by, until FROM leases WHERE until > ? ORDER BY row", time.time())

    # rounds

    def commit(
        self,
        fitted: RoundFacts | None = None,
        selection: Selection | None = None,
        model: ModelRow | None = None,
        facts: Mapping[str, Any] | None = None,
        keep_models: bool = False,
    ) -> None:
        with self._connections.writing() as connection:
            if fitted:
                facts_of_round = json.dumps(fitted.as_json())
                connection.execute("INSERT INTO rounds VALUES (?, ?)", (fitted.round, facts_of_round))
            if selection:
                _insert_selection(connection, selection)
            if model:
                if not keep_models:
                    connection.execute("DELETE FROM models WHERE kind = ?", (model.kind,))
                connection.execute(
                    "INSERT INTO models (folder, round, kind, digest) VALUES (?, ?, ?, ?)",
                    (model.folder, model.round, model.kind, model.digest),
                )
            for name, value in (facts or {}).items():
                _set_fact(connection, name, value)

    def rounds(self) -> list[RoundFacts]:
        with self._connections.reading() as connection:
            found = connection.execute("SELECT round, facts FROM rounds ORDER BY round")
            rounds = [(round, RoundFacts.from_json(decoded(facts))) for round, facts in found]
            if any(place != round or place != facts.round for place, (round, facts) in enumerate(rounds)):
                raise WrongShape("its rounds are not numbered one after the other")
            for _, facts in rounds:
                if min(facts.labels, facts.answers_seen, facts.pseudo_labels.count, *facts.class_counts) < 0:
                    raise WrongShape(f"round {facts.round} has negative counts")
        return [facts for _, facts in rounds]

    def round_count(self) -> int:
        with self._connections.reading() as connection:
            return count_of(connection, "rounds")

    def selection_count(self) -> int:
        with self._connections.reading() as connection:
            return count_of(connection, "selections")

    def selected_arrays(self, round: int) -> list[str]:
        with self._connections.reading() as connection:
            found = connection.execute("SELECT facts FROM selections WHERE round = ?", (round,)).fetchone()
            names = decoded(found[0]).get("arrays", []) if found else []
            return list(value_of(tuple[str, ...], names, "arrays"))

    def replace_model(self, folder: str, model: ModelRow) -> None:
        with self._connections.writing() as connection:
            values = (model.folder, model.digest, folder)
            connection.execute("UPDATE models SET folder = ?, digest = ? WHERE folder = ?", values)

    def models(self) -> list[ModelRow]:
        return self._records(ModelRow, "SELECT folder, round, kind FROM models ORDER BY round, kind")

    def digests(self) -> dict[str, str]:
        with self._connections.reading() as connection:
            if self._connections.version(connection) < VERSION:
                return {}
            query = "SELECT file, digest FROM chunks UNION ALL SELECT folder, digest FROM models"
            return {str(name): str(digest) for name, digest in connection.execute(query) if digest is not None}

    # single facts

    def fact(self, name: str) -> Any:
        with self._connections.reading() as connection:
            found = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
            return decoded_value(found[0]) if found else None

    def finals(self) -> list[FinalFacts]:
        with self._connections.reading() as connection:
            query = "SELECT value FROM facts WHERE name = ?"
            earlier, newest = (connection.execute(query, (name,)).fetchone() for name in (EARLIER_FINALS, FINAL))
            found = [*decoded_list(earlier[0] if earlier else "[]"), *([decoded(newest[0])] if newest else [])]
            return [FinalFacts.from_json(each) for each in found]

    def set_fact(self, name: str, value: Any) -> None:
        with self._connections.writing() as connection:
            _set_fact(connection, name, value)

    def _all(self, query: str, *values: Any) -> list[Any]:
        with self._connections.reading() as connection:
            return connection.execute(query, values).fetchall()

    def _records(self, kind: type[Record], query: str, *values: Any) -> list[Record]:
        with self._connections.reading() as connection:
            return list(records(kind, connection.execute(query, values)))

    def _questions(self, query: str, *values: Any) -> list[QuestionRow]:
        with self._connections.reading() as connection:
            return self._checked(connection, records(QuestionRow, connection.execute(query, values)))

    def _checked(self, connection: Connection, questions: Iterable[QuestionRow]) -> list[QuestionRow]:
        found = list(questions)
        self._check_rows(connection, [question.row for question in found])
        suggested = (question.suggestion for question in found if question.suggestion is not None)
        check_range("class", suggested, self.classes_expected)
        return found

    def _check_rows(self, connection: Connection, rows: Sequence[int]) -> None:
        below = self.rows_expected or count_texts(connection, "pool") or None
        check_range("row", rows, below)


def _standing_labels(connection: Connection) -> Labels:
    """The labels and skips that stand, without an object for each: a million of them are read in a second."""
    found = connection.execute("SELECT row, label FROM latest ORDER BY row").fetchall()
    of_row = {row: label for row, label in found if label is not None}
    skipped = frozenset(row for row, label in found if label is None)
    if not {*map(type, of_row), *map(type, of_row.values()), *map(type, skipped)} <= {int}:
        raise WrongShape("a row or a label of an answer is no whole number")
    return Labels(of_row, skipped, last_answer(connection))


def _tell(connection: Connection, answers: Sequence[Said]) -> Recorded:
    """Appends answers and brings up to date what follows from them; only the rows that they are about are read."""
    rows = sorted({answer.row for answer in answers})
    before = {word.row: word for word in _words(connection, "latest", rows)}
    of_person = {(word.row, word.by): word for word in _words(connection, "words", rows)}
    changed = "SELECT number, name, merged_into, retired FROM classes WHERE merged_into IS NOT NULL OR retired <> 0"
    gone = connection.execute(changed).fetchall()
    merged = {number: whole(target, "a class") for number, _, target, _ in gone if target is not None}
    asleep = {number: name for number, name, target, _ in gone if target is None}
    words = Words(before, of_person, merged, asleep, _applied(connection, before.values()))
    last = last_answer(connection)
    log: list[tuple[Any, ...]] = []
    digest, at = last_link(connection, "answers"), now()
    (round,) = connection.execute("SELECT count(*) FROM rounds").fetchone()
    for said in answers:
        if (known := place_of(connection, said.by, said.client)) is not None:
            words.repeated += 1
            words.saved.append(_saved_before(connection, said, _same_answer(connection, said, known, log), log))
            continue
        if (name := asleep.get(merged.get(label_of(said), label_of(said)))) is not None:
            raise DataError(f"the class {told(name)} is retired: restore it, or choose another label")
        number, stood = last + len(log) + 1, words.latest.get(said.row)
        is_new = words.take(said, number)
        if is_new or said.client is not None:  # so that what a client sent is known when it comes again
            label = None if said.label is None else int(said.label)
            seconds = None if said.seconds is None else float(said.seconds)
            place = stood.number if stood else None
            when = (at, seconds, round, said.client, place, said.applied)
            values = (number, int(said.row), said.kind, label, said.by, *when)
            digest = link(digest, values)
            log.append((*values, digest))
            remember(connection, said.by, said.client, "answers", number)
        written = number if log and log[-1][0] == number else None
        words.saved.append(Saved(said.row, said.client, written, (stood.kind, stood.label) if stood else None))
    connection.executemany(f"INSERT INTO answers ({ANSWER}, digest) VALUES ({'?, ' * 11}?)", log)
    _answer_picked(connection, [said.row for said in answers if said.kind in ("label", "decide", *SKIPS)])
    _write_changes(connection, words, before, of_person)
    _release(connection, {(said.row, said.by) for said in answers})
    return words.recorded()


def mixed(new: Iterable[Any], owed: Iterable[Any], each: int) -> Iterator[Any]:
    """New questions, and so many after each that others have answered: as many as a new one needs itself."""
    first, second = iter(new), iter(owed)
    while some := [*islice(first, 1), *islice(second, each)]:
        yield from some


def label_of(said: Said) -> int:
    """The class of an answer, -1 where it has none."""
    return -1 if said.label is None else said.label


def _same_answer(connection: Connection, said: Said, known: tuple[str, int], log: Sequence[tuple[Any, ...]]) -> int:
    """The number of the answer that came under a known id; one on another text would be lost without a word."""
    name, number = known
    rows = {values[0]: values[1] for values in log}
    if name == "answers" and number not in rows:
        rows[number] = connection.execute("SELECT row FROM answers WHERE number = ?", (number,)).fetchone()[0]
    if name != "answers" or rows[number] != said.row:
        raise DataError(
            f"the id {told(said.client)} was sent before with something else, so this answer was not saved: give every "
            "answer an id of its own"
        )
    return number


def _saved_before(connection: Connection, said: Said, number: int, log: Sequence[tuple[Any, ...]]) -> Saved:
    """What became of an answer when it came for the first time; `log` is what is not written yet."""
    query = "SELECT b.kind, b.label FROM answers AS a JOIN answers AS b ON b.number = a.before WHERE a.number = ?"
    found = connection.execute(query, (number,)).fetchone()
    for values in log:
        if values[0] == number and values[BEFORE] is not None:
            places = {each[0]: (each[2], each[3]) for each in log}
            query = "SELECT kind, label FROM answers WHERE number = ?"
            found = places.get(values[BEFORE]) or connection.execute(query, (values[BEFORE],)).fetchone()
    return Saved(said.row, said.client, number, tuple(found) if found else None)


def _answer_picked(connection: Connection, rows: Sequence[int]) -> None:
    """A text that somebody picked is asked no more once it has an answer."""
    if connection.execute("SELECT 1 FROM queue LIMIT 1").fetchone():
        connection.executemany("DELETE FROM queue WHERE row = ?", [(row,) for row in rows])


def _write_changes(
    connection: Connection, words: Words, before: Mapping[int, Word], of_person: Mapping[tuple[int, str], Word]
) -> None:
    connection.executemany("DELETE FROM latest WHERE row = ?", [(row,) for row in before if row not in words.latest])
    connection.executemany(
        f"INSERT INTO latest ({WORD}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (row) {SET_WORD}, by = excluded.by",
        _changed(words.latest, before),
    )
    forgotten = [key for key in of_person if key not in words.of_person]
    connection.executemany("DELETE FROM words WHERE row = ? AND by = ?", forgotten)
    connection.executemany(
        f"INSERT INTO words ({WORD}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (row, by) {SET_WORD}",
        _changed(words.of_person, of_person),
    )
    counts = Counter(_counted(word) for word in words.latest.values())
    counts.subtract(_counted(word) for word in before.values())
    connection.executemany(
        "INSERT INTO counts VALUES (?, ?) ON CONFLICT (label) DO UPDATE SET rows = counts.rows + excluded.rows",
        [(label, more) for label, more in counts.items() if more],
    )


def _changed(now: Mapping[Any, Word], before: Mapping[Any, Word]) -> Iterator[tuple[Any, ...]]:
    for key, word in now.items():
        if before.get(key) != word:
            yield word.row, word.number, word.kind, word.label, word.by


def _counted(word: Word) -> int:
    return SKIPPED if word.label is None else word.label


def _words(connection: Connection, table: str, rows: Sequence[int]) -> Iterator[Word]:
    for start in range(0, len(rows), MOST_VALUES):
        some = rows[start : start + MOST_VALUES]
        marks = ", ".join("?" * len(some))
        query = f"SELECT {WORD} FROM {table} WHERE row IN ({marks})"
        yield from records(Word, connection.execute(query, some))


def _applied(connection: Connection, words: Iterable[Word]) -> set[int]:
    """The numbers of those words that were applied to a near-duplicate of a text that was read."""
    query = "SELECT number FROM answers WHERE number = ? AND applied IS NOT NULL"
    return {word.number for word in words if connection.execute(query, (word.number,)).fetchone()}


def _lease(connection: Connection, rows: Sequence[int], by: str, now: float, seconds: float) -> None:
    connection.execute("DELETE FROM leases WHERE until <= ?", (now,))
    connection.executemany(
        "INSERT INTO leases (row, by, until) VALUES (?, ?, ?) "
        "ON CONFLICT (row, by) DO UPDATE SET until = excluded.until",
        [(row, by, now + seconds) for row in rows],
    )


def _release(connection: Connection, held: Iterable[tuple[int, str]]) -> None:
    connection.executemany("DELETE FROM leases WHERE row = ? AND by = ?", held)


def _insert_selection(connection: Connection, selection: Selection) -> None:
    known = {"asked": len(selection.questions), "how": selection.how, "arrays": list(selection.arrays)}
    facts = json.dumps(known)
    connection.execute("INSERT INTO selections VALUES (?, ?)", (selection.round, facts))
    _insert_questions(connection, selection.questions)


def _insert_questions(connection: Connection, questions: Sequence[QuestionRow]) -> None:
    """Appends questions to those that their round may have already."""
    rounds = {question.round for question in questions}
    last = dict(connection.execute("SELECT round, max(position) FROM questions GROUP BY round"))
    free = {round: count(last.get(round, -1) + 1) for round in rounds}
    connection.executemany(
        "INSERT INTO questions VALUES (?, ?, ?, ?, ?)",
        [(q.round, next(free[q.round]), q.row, q.suggestion, q.confidence) for q in questions],
    )


def _set_fact(connection: Connection, name: str, value: Any) -> None:
    query = "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    connection.execute(query, (name, json.dumps(value)))
