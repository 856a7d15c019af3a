"""Answers at a steady rate while the server is killed at random moments: every acknowledged one is there exactly once.

The long form: python tests/web/faults.py --kills 30 --rate 20 --clients 1 --to faults.json
With --postgres the answers are in PostgreSQL, and with --kill postgres it is that server which is killed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parents[2]))

from actune.session.verifying import problems_in
from actune.store.store import Store
from tests.postgres import Server
from tests.postgres import server as postgres_server
from tests.web.serving import Served, serve

LABELS = ("a", "b", "c")
TEXTS = 3_000
RETRY = 0.1  # seconds until a client tries again


@dataclass
class Client:
    """A person's browser: one answer after the other, each repeated until it is acknowledged."""

    name: str
    rate: float
    server: Served
    stop: threading.Event
    acknowledged: list[tuple[str, str, str]] = field(default_factory=list)  # client id, text, label
    repeated: int = 0
    problems: list[str] = field(default_factory=list)

    def run(self) -> None:
        rng = random.Random(self.name)
        with httpx.Client(headers={"Authorization": f"Bearer {self.server.token}"}, timeout=30) as http:
            for number in count():
                if self.stop.is_set():
                    return
                began = time.monotonic()
                self._answer(http, f"{self.name}-{number}", str(rng.randrange(TEXTS)), rng.choice(LABELS))
                time.sleep(max(0.0, 1 / self.rate - (time.monotonic() - began)))

    def _answer(self, http: httpx.Client, client: str, text: str, label: str) -> None:
        body = {"answers": [{"client": client, "id": text, "kind": "label", "label": label}]}
        while True:
            try:
                found = http.post(f"{self.server.url}/api/v1/answers", json=body)
            except httpx.TransportError:
                pass
            else:
                if found.status_code == 200:
                    self.acknowledged.append((client, text, label))
                    return
                if found.status_code not in (500, 503):
                    self.problems.append(f"{found.status_code} {found.text[:200]}")
                    return
            self.repeated += 1
            time.sleep(RETRY)


def run(
    folder: Path,
    kills: int,
    rate: float,
    clients: int,
    seed: int = 0,
    training: bool = True,
    postgres: Server | None = None,
    killed: str = "server",
) -> dict:
    """Kills and restarts a server so many times while clients answer; gives what became of their answers.

    The server that is killed is that of the page, or the database behind it.
    """
    data = folder / "texts.csv"
    data.write_text("id,text\n" + "".join(f"{row},text number {row}\n" for row in range(TEXTS)))
    words = ["--labels", ",".join(LABELS), *([] if training else ["--no-training"])]
    words += ["--store", postgres.url] if postgres else []
    server, rng, stop = serve(data, *words, "--port", "0"), random.Random(seed), threading.Event()
    people = [Client(f"c{number}", rate, server, stop) for number in range(clients)]
    threads = [threading.Thread(target=person.run, daemon=True) for person in people]
    for thread in threads:
        thread.start()
    for _ in range(kills):
        time.sleep(rng.uniform(0.1, 2.0))
        if postgres and killed == "postgres":
            postgres.kill()
            postgres.start()
            continue
        server.kill()
        again = serve(data, *words)  # at the port of last time
        server.process, server.link = again.process, again.link
    time.sleep(1.0)
    stop.set()
    for thread in threads:
        thread.join(60)
    server.kill()
    plan = {"kills": kills, "clients": clients, "rate": rate, "training": training}
    return facts(server.folder, people) | plan | {"database": "postgresql" if postgres else "sqlite", "killed": killed}


def facts(folder: Path, people: list[Client]) -> dict:
    """What the log has of what was acknowledged."""
    with Store.reading(folder) as store:
        log = store.answers()
        ids = store.ids_in_database("pool")
    kept: dict[str, list[tuple[str, int]]] = {}
    for answer in log:
        kept.setdefault(answer.client or "", []).append((ids.get(answer.row, str(answer.row)), answer.label))
    said = [each for person in people for each in person.acknowledged]
    wanted = {client: (text, LABELS.index(label)) for client, text, label in said}
    return {
        "acknowledged": len(said),
        "lost": sum(client not in kept for client in wanted),
        "twice": sum(len(found) > 1 for client, found in kept.items() if client),
        "changed": sum(kept[client][0] != word for client, word in wanted.items() if client in kept),
        "out_of_order": sum(not in_order(person, [answer.client or "" for answer in log]) for person in people),
        "never_acknowledged": sum(client not in wanted for client in kept if client),
        "repeated_requests": sum(person.repeated for person in people),
        "problems": [problem for person in people for problem in person.problems][:5],
        "verify": problems_in(folder),
    }


def in_order(person: Client, log: list[str]) -> bool:
    """Whether a person's answers stand in the log in the order in which they were given."""
    mine = {client: place for place, (client, _, _) in enumerate(person.acknowledged)}
    places = [mine[client] for client in log if client in mine]
    return places == sorted(places)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--rate", type=float, default=20.0, help="answers a second of each client")
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-training", action="store_true")
    parser.add_argument("--to", type=Path, help="a JSON file for the result, which is printed too")
    parser.add_argument("--postgres", action="store_true", help="keep the answers in a PostgreSQL server of its own")
    parser.add_argument("--kill", choices=("server", "postgres"), default="server", help="which server is killed")
    words = parser.parse_args()
    plan = (words.kills, words.rate, words.clients, words.seed, not words.no_training)
    with (
        tempfile.TemporaryDirectory() as folder,
        postgres_server(synchronous=True) if words.postgres else nullcontext() as postgres,
    ):
        found = run(Path(folder), *plan, postgres, words.kill)
    shown = json.dumps(found)
    if words.to:
        words.to.write_text(shown + "\n")
    print(shown)
    sys.exit(any(found[name] for name in ("lost", "twice", "changed", "out_of_order", "problems", "verify")))


if __name__ == "__main__":
    main()
