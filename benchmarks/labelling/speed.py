"""How long a person waits on the labelling page: for "saved", and for the next texts, while a model is trained.

    PYTHONPATH=. python benchmarks/labelling/speed.py --people 1 50 --seconds 60

A real server has a project of made-up texts, and a round is asked for whenever none is at work. Each simulated person
answers one text, thinks for some seconds, asks for ten more texts when five are left, and polls the state every two
seconds as the page does; all of them are threads of one process on the same machine. Times are milliseconds, from the
request to the last byte of the answer. The page has its next texts at hand: nobody waits for `next` but at the start.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actune.web.accounts import Accounts

CLASSES = ("praise", "complaint", "question", "other")
WORDS = tuple(f"word{number}" for number in range(2_000))
AHEAD, LOW, POLL = 10, 5, 2.0


@dataclass
class Times:
    """Milliseconds of every request of a kind."""

    save: list[float] = field(default_factory=list)
    next: list[float] = field(default_factory=list)
    state: list[float] = field(default_factory=list)


class Person(threading.Thread):
    """One browser with one connection."""

    def __init__(self, name: str, port: int, token: str, think: float, end: float) -> None:
        super().__init__(daemon=True)
        self.times, self.trained, self.polls = Times(), 0, 0
        self._busy = False
        self._rng = random.Random(name)
        self._name, self._think, self._end = name, think, end
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, kind: list[float], path: str, body: Any = None, **headers: str) -> Any:
        began = time.perf_counter()
        method, content = ("GET", None) if body is None else ("POST", json.dumps(body))
        self._connection.request(method, f"/api/v1{path}", content, self._headers | headers)
        response = self._connection.getresponse()
        found = response.read()
        kind.append(1_000 * (time.perf_counter() - began))
        if response.status == 304:
            return None
        if response.status != 200:
            raise RuntimeError(f"{response.status} {found[:200]!r}")
        self._tag = response.headers.get("ETag", "")
        return json.loads(found)

    def run(self) -> None:
        time.sleep(self._rng.uniform(0, self._think))
        texts: list[str] = []
        polled, number, tag = 0.0, 0, ""
        while time.monotonic() < self._end:
            if len(texts) < LOW:
                found = self.ask(self.times.next, f"/questions?n={AHEAD}")["questions"]
                texts += [each["id"] for each in found if each["id"] not in texts]
            if texts:
                number += 1
                said = {"client": f"{self._name}-{number}", "id": texts.pop(0), "kind": "label"}
                said |= {"label": self._rng.choice(CLASSES), "seconds": self._think}
                self.ask(self.times.save, "/answers", {"answers": [said]})
            if time.monotonic() - polled >= POLL:
                polled = time.monotonic()
                state = self.ask(self.times.state, "/state", **{"If-None-Match": tag})
                self.polls += 1
                if state is not None:
                    tag = self._tag
                    self._busy = state["training"]["state"] not in ("idle", "failed")
                self.trained += self._busy
            time.sleep(self._rng.uniform(0.75, 1.25) * self._think)


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=5_000)
    parser.add_argument("--people", type=int, nargs="+", default=[1, 50])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument(
        "--at-once", action="store_true", help="wait for no first model: the pool is embedded meanwhile"
    )
    parser.add_argument("--think", type=float, default=2.0, help="seconds between two answers of a person")
    parser.add_argument("--out", help="a file to add results to")
    given = parser.parse_args(words)
    command = " ".join(["python benchmarks/labelling/speed.py", *words])
    for people in given.people:
        with tempfile.TemporaryDirectory() as folder:
            found = measured(Path(folder), given, people)
        line = json.dumps(
            {
                **found,
                "load": os.getloadavg()[0],
                "command": command,
                "machine": f"{platform.machine()} {os.cpu_count()} cores",
            }
        )
        print(line)
        if given.out:
            with Path(given.out).open("a", encoding="utf-8") as file:
                file.write(line + "\n")


def measured(folder: Path, given: argparse.Namespace, people: int) -> dict[str, Any]:
    """One server, and so many people for so long."""
    texts, seconds, think = given.texts, given.seconds, given.think
    data, rng = folder / "texts.csv", random.Random(0)
    with data.open("w", encoding="utf-8") as file:
        file.write("text\n")
        for _ in range(texts):
            file.write(" ".join(rng.choices(WORDS, k=12)) + "\n")
    server, facts, opened = start(data)
    try:
        accounts = Accounts(Path(facts["folder"]))
        port, token = int(facts["url"].partition("/?")[0].rpartition(":")[2]), facts["token"]
        for number in range(people):
            accounts.add(f"p{number}", "annotator", None)
        tokens = [accounts.new_token(f"p{number}") for number in range(people)]
        if not given.at_once:
            prepare(port, token)
        end = time.monotonic() + seconds
        crowd = [Person(f"p{number}", port, each, think, end) for number, each in enumerate(tokens)]
        for person in crowd:
            person.start()
        keep_training(port, token, end, texts)
        for person in crowd:
            person.join(120)
        largest = memory_of(server.pid)
    finally:
        server.terminate()
        server.wait()
    both = {
        name: [each for person in crowd for each in getattr(person.times, name)] for name in ("save", "next", "state")
    }
    found: dict[str, Any] = {"people": people, "texts": texts, "opened_s": round(opened, 2), "server_mb": largest}
    found |= {"answers": len(both["save"]), "seconds": seconds, "think_s": think}
    for kind, values in both.items():
        shares = {"p50": 0.5, "p95": 0.95, "worst": 1.0}
        found |= {f"{kind}_{name}_ms": at(values, share) for name, share in shares.items()}
    polls = sum(person.polls for person in crowd)
    return found | {"training_share": round(sum(person.trained for person in crowd) / max(1, polls), 2)}


def start(data: Path) -> tuple[subprocess.Popen[str], dict[str, Any], float]:
    """A server as a person starts it, and the seconds until its link was there."""
    began = time.monotonic()
    words = ["--labels", ",".join(CLASSES), "--no-browser", "--json", "--api-token", "--port", "0", "--batch", "50"]
    command = [sys.executable, "-m", "actune", "label", str(data), *words]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None
    facts: dict[str, Any] = json.loads(server.stdout.readline())
    return server, facts, time.monotonic() - began


def prepare(port: int, token: str) -> None:
    """Answers for a first model, and waits until it is there."""
    owner = Person("owner", port, token, 0, 0)
    said = [
        {"client": f"first-{row}", "id": str(row), "kind": "label", "label": CLASSES[row % len(CLASSES)]}
        for row in range(60)
    ]
    owner.ask([], "/answers", {"answers": said})
    while owner.ask([], "/state")["model"] is None:
        time.sleep(1)


def keep_training(port: int, token: str, end: float, texts: int) -> None:
    """Asks for a round whenever none is at work, with an answer that it can learn."""
    owner, number = Person("owner", port, token, 0, 0), 0
    while time.monotonic() < end:
        if owner.ask([], "/state")["training"]["state"] == "idle":
            number += 1
            said = {
                "client": f"more-{number}",
                "id": str(texts - number),
                "kind": "label",
                "label": CLASSES[number % 4],
            }
            owner.ask([], "/answers", {"answers": [said]})
        owner._connection.request("POST", "/api/v1/train", "{}", owner._headers)
        owner._connection.getresponse().read()
        time.sleep(0.5)


def at(values: list[float], share: float) -> float:
    """A percentile."""
    return round(sorted(values)[min(len(values) - 1, int(share * len(values)))], 1) if values else 0.0


def memory_of(process: int) -> int:
    """The most memory that a process has used, in MB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) // 1024
    return 0


if __name__ == "__main__":
    main(sys.argv[1:])
