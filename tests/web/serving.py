"""A real server in a process of its own, as a person starts it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import httpx

from actune.web.server import another_link

WAIT = 120  # seconds for a server on a busy machine


@dataclass
class Served:
    process: subprocess.Popen
    folder: Path
    link: str
    token: str

    @property
    def url(self) -> str:
        return self.link.partition("/?")[0]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def fresh_link(self) -> str:
        """A link that nobody has used, as a second `actune label` prints it."""
        return another_link(self.folder)

    def program(self) -> httpx.Client:
        """A client that shows the token."""
        return httpx.Client(base_url=f"{self.url}/api/v1", headers={"Authorization": f"Bearer {self.token}"})

    def browser(self) -> httpx.Client:
        """A client that came by the link, and sends what the page sends."""
        found = httpx.get(self.fresh_link())
        assert found.status_code == 303
        return httpx.Client(base_url=self.url, headers={"X-Actune": "1"}, cookies=found.cookies)

    def check_nothing_is_left(self) -> None:
        """A file that was made for a download is removed, after it was sent."""
        end = time.monotonic() + WAIT
        while left := list((self.folder / "web").glob(".*")):
            assert time.monotonic() < end, left
            time.sleep(0.05)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def end(self, by: int = signal.SIGTERM) -> str:
        """Ends it as a person would; gives what it printed to stderr."""
        self.process.send_signal(by)
        return self.process.communicate(timeout=WAIT)[1]


def command(data: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "actune", "label", str(data), "--no-browser", "--json", "--api-token", *words]


def serve(data: Path, *words: str) -> Served:
    """Starts `actune label`; it is ready when its link is there."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(command(data, *words), stdout=pipe, stderr=pipe, text=True)
    line = process.stdout.readline()
    if not line:
        raise AssertionError(process.communicate()[1])
    facts = json.loads(line)
    return Served(process, Path(facts["folder"]), facts["url"], facts["token"])
