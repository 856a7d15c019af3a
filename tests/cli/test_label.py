"""The command behind the labelling page: where the project lies, and mistakes as one sentence."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest

from tests.cli.conftest import call
from tests.web.serving import command, serve


@pytest.fixture
def texts(tmp_path):
    file = tmp_path / "posts.csv"
    file.write_text("text,label\n" + "".join(f"text {row},{'ab'[row % 2] if row < 4 else ''}\n" for row in range(30)))
    return file


def test_the_project_lies_beside_the_data_and_its_labels_are_answers(texts):
    server = serve(texts, "--port", "0", "--no-training")
    try:
        assert server.folder == texts.parent / "posts-actune"
        with server.program() as client:
            state = client.get("/state").json()
        assert state["labels"] == 4
        assert [(each["name"], each["answers"]) for each in state["project"]["classes"]] == [("a", 2), ("b", 2)]
        second = subprocess.run(command(texts), capture_output=True, text=True, timeout=60)
        assert second.returncode == 2
        told = json.loads(second.stdout)["error"]["message"]
        assert "open already" in told and server.url in told
    finally:
        server.kill()
    again = serve(server.folder, "--no-training")  # the folder itself is data enough
    again.kill()
    assert again.url == server.url


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["nothing.csv"], "nothing.csv"),
        (["posts.csv", "--labels", "a"], "'b'"),
        (["posts.csv", "--host", "not a host"], "accounts"),
        (["posts.csv", "--origin", "labels.example.org"], "--origin"),
        (["posts.csv", "--origin", "http://[::1"], "--origin"),
    ],
)
def test_a_mistake_is_one_sentence(texts, monkeypatch, words, sentence):
    monkeypatch.chdir(texts.parent)
    done = subprocess.run(command(words[0], *words[1:], "--no-training"), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert sentence in json.loads(done.stdout)["error"]["message"] and "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_one_sentence(texts):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(command(texts, "--port", port), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and f"port {port}" in json.loads(done.stdout)["error"]["message"]


def test_a_missing_extra_is_one_sentence_that_names_the_remedy(texts):
    program = "import sys; sys.modules.update(fastapi=None, argon2=None); from actune.__main__ import main; main()"
    for words in (["label", str(texts)], ["user", "list", str(texts.parent)]):
        done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1 and "pip install 'actune[web]'" in done.stderr


def test_help_has_an_example():
    for words in (["label"], ["user", "add"], ["user", "token"], ["user", "remove"], ["user", "list"]):
        assert "Example: actune" in " ".join(call(*words, "--help").out.split())
