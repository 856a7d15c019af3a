"""Sixteen people tell 20,000 answers while a process advances and some are killed: none lost, none twice, in order."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from actune.core.facts import Metrics, QuestionRow, RoundFacts, Selection
from actune.core.files import LOCK
from actune.core.pool import pool_of
from actune.errors import Busy
from actune.store.records import Recorded, Said
from actune.store.store import Store
from actune.store.words import replay

pytestmark = pytest.mark.usefixtures("database")
ROOT = Path(__file__).parents[2]
ROWS, CLASSES, EACH, CHUNK = 4000, 5, 1250, 5
THREADS, PROCESSES, KILLED = 8, 8, 2


def tell_all(store: Store, by: str, seed: int, acknowledge: Callable[[int, Recorded], None]) -> None:
    """One person's answers on rows of the whole pool; each carries its number in the place of its seconds."""
    rng = np.random.default_rng(seed)
    rows, labels = rng.permutation(ROWS)[:EACH].tolist(), rng.integers(CLASSES, size=EACH).tolist()
    for first in range(0, EACH, CHUNK):
        numbers = range(first, first + CHUNK)
        told = store.tell([Said(rows[n], "label", labels[n], by, float(n)) for n in numbers])
        acknowledge(first + CHUNK, told)


TELLER = """
import sys
from pathlib import Path
from actune.store.store import Store
from tests.store.test_many_hands import tell_all
folder, by, seed = sys.argv[1:]
tell_all(Store.open(Path(folder)), by, int(seed), lambda done, told: print(done, told.new, flush=True))
"""
ADVANCER = """
import sys, threading
from pathlib import Path
from actune.store.store import Store
from tests.store.test_many_hands import advance
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
store, finished = Store.open(Path(sys.argv[1])), False
while not finished:
    finished = stop.is_set()
    advance(store)
    stop.wait(0.1)
"""


def advance(store: Store) -> None:
    """A round as a session makes it, with files in the place of models."""
    with store.advancing():
        labels, round = store.labels(), store.round_count()
        counts = labels.counts(CLASSES)
        store.save_arrays(f"select-{round + 1:03d}", {"rows": np.asarray(sorted(labels.of_row), np.int64)})
        with store.new_model(round, "round") as (model, folder):
            (folder / "counts").write_text(repr(counts))
        facts = RoundFacts(round, len(labels.of_row), labels.last_answer, tuple(counts), Metrics())
        free = [row for row in range(ROWS) if row not in labels.of_row][:50]
        questions = [QuestionRow(round + 1, row, 0, 0.5) for row in free]
        store.commit(facts, Selection(round + 1, questions), model)
        store.point_to_newest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Store.creating(tmp_path / "run") as store:
        store.add_texts("pool", pool_of([f"text {row}" for row in range(ROWS)]))
        store.commit(selection=Selection(0, []))
        store.seal("format = 1\n")
    store.close()
    return tmp_path / "run"


def started(program: str, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def test_many_hands_at_once(folder: Path) -> None:
    store, done, new = Store.open(folder), defaultdict[str, int](int), defaultdict[str, int](int)

    def note(by: str, acknowledged: int, fresh: int) -> None:
        done[by], new[by] = acknowledged, new[by] + fresh

    def in_a_thread(number: int) -> None:
        by = f"thread {number}"
        tell_all(store, by, number, lambda acknowledged, told: note(by, acknowledged, told.new))

    def watch(process: subprocess.Popen[str], by: str, until: int) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            note(by, *map(int, line.split()))
            if done[by] >= until:
                process.kill()

    advancer = started(ADVANCER, folder)
    tellers = {f"process {n}": started(TELLER, folder, f"process {n}", 100 + n) for n in range(PROCESSES)}
    limits = [100 * (n + 1) if n < KILLED else EACH + 1 for n in range(PROCESSES)]
    threads = [threading.Thread(target=in_a_thread, args=(number,)) for number in range(THREADS)]
    threads += [
        threading.Thread(target=watch, args=(process, by, limit))
        for (by, process), limit in zip(tellers.items(), limits, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ends = [process.wait() for process in tellers.values()]
    advancer.communicate("")
    assert ends == [-9] * KILLED + [0] * (PROCESSES - KILLED) and advancer.returncode == 0

    log = store.answers()
    said = defaultdict(list)
    for answer in log:
        said[answer.by].append(answer.seconds)
    assert set(said) == set(done)
    for by, numbers in said.items():
        assert numbers == [float(number) for number in range(len(numbers))], f"{by}: lost, twice, or out of order"
        acknowledged = done[by]
        assert acknowledged <= len(numbers) <= (EACH if by.startswith("thread") else acknowledged + 50 * CHUNK)
        assert len(numbers) % CHUNK == 0, "half a call was written"
    assert sum(len(numbers) for by, numbers in said.items() if done[by] == EACH) == (16 - KILLED) * EACH
    assert [answer.number for answer in log] == list(range(1, len(log) + 1))

    words = replay(log)
    assert {word.row: word for word in store.latest()} == words.latest
    assert store.counts().labelled == len(words.latest) >= sum(new.values())
    rounds = store.rounds()
    assert len(rounds) > 1 and rounds[-1].answers_seen == len(log)
    for facts in rounds[:: max(1, len(rounds) // 4)]:
        assert store.labels(until=facts.answers_seen).counts(CLASSES) == list(facts.class_counts)
    assert (folder / "model" / "counts").read_text() == repr(list(rounds[-1].class_counts))
    assert {path.name for path in folder.iterdir()} & {"models", LOCK} == {"models", LOCK}


def test_nobody_waits_for_those_before_her_where_the_database_is_locked(tmp_path: Path) -> None:
    with Store.creating(tmp_path / "run") as store:
        store.add_texts("pool", pool_of(["one", "two"]))
        store.seal("")
        store.wait_at_most(0.4)
        other = Store.open(tmp_path / "run")
        waited: list[float] = []

        def tell(row: int) -> None:
            began = time.monotonic()
            with pytest.raises(Busy):
                store.tell([Said(row, "label", 0, "ann")])
            waited.append(time.monotonic() - began)

        threads = [threading.Thread(target=tell, args=(number % 2,)) for number in range(20)]
        with other.changing(tmp_path / "copy.db"):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert len(waited) == 20 and max(waited) < 4  # and not 20 times 0.4
        store.tell([Said(0, "label", 0, "ann")])
        other.close()
