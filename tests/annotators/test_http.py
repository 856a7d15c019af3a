"""People on a labelling page answer a session in another process."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import count
from threading import Thread

import pytest

import actune
from actune.annotators import HTTP
from actune.core.dialogue import Answer, Question
from actune.errors import DataError, SettingError
from actune.testing.annotators import check_annotator
from tests.web.serving import Served, serve

NUMBERS = count()
TEXTS = [f"a text about {what}" for what in ("bread", "milk", "a dog", "a cat", "wine", "a cow")]


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Served:
    file = tmp_path_factory.mktemp("page") / "texts.csv"
    file.write_text("text\n" + "\n".join(TEXTS) + "\n")
    server = serve(file, "--labels", "food,animal", "--port", "0", "--no-training")
    yield server
    server.kill()


def say(page: Served, *answers: dict) -> None:
    with page.program() as client:
        said = [{"client": f"http-{next(NUMBERS)}", **each} for each in answers]
        assert client.post("/answers", json={"answers": said}).status_code == 200


def asked(*ids: str) -> list[Question]:
    return [Question(id, TEXTS[int(id)], 0) for id in ids]


def test_a_question_is_asked_first_and_its_answer_comes_back_once(page):
    people = HTTP(page.url, page.token)
    people.send(asked("4", "2"))
    assert people.collect() == []
    with page.program() as client:
        first = client.get("/questions?n=2").json()["questions"]
    assert [each["id"] for each in first] == ["4", "2"] and all(each["picked"] for each in first)
    say(page, {"id": "4", "kind": "label", "label": "food", "seconds": 2.5}, {"id": "2", "kind": "unsure"})
    assert people.collect() == [Answer("2", by="person"), Answer("4", "food", by="person", seconds=2.5)]
    assert people.collect() == []


def test_what_people_said_before_counts_and_what_they_took_back_does_not(page):
    say(page, {"id": "0", "kind": "label", "label": "animal"}, {"id": "1", "kind": "label", "label": "food"})
    say(page, {"id": "0", "kind": "clear"})
    people = HTTP(page.url, page.token)
    people.send(asked("0", "1"))
    assert people.collect() == [Answer("1", "food", by="person")]
    say(page, {"id": "0", "kind": "label", "label": "food"})
    assert people.collect() == [Answer("0", "food", by="person")]


def test_it_keeps_the_contract_of_annotators(page):
    say(page, {"id": "3", "kind": "label", "label": "animal"}, {"id": "5", "kind": "skip"})
    check_annotator(HTTP(page.url, page.token), asked("3", "5"), ("food", "animal"))


def test_a_session_is_answered_by_the_page(page, tmp_path):
    say(page, *({"id": str(row), "kind": "label", "label": ("food", "animal")[row % 2]} for row in range(6)))
    pool = actune.pool_of(TEXTS, classes=["food", "animal"])
    session = actune.create(tmp_path / "run", pool, learner="probe", first="random", initial=6)
    people = HTTP(page.url, page.token)
    people.send(session.ask())
    told = session.tell(people.collect())
    assert told.new == 6 and {word.by for word in session.store.latest()} == {"person"}


def test_a_mistake_is_one_sentence(page):
    with pytest.raises(SettingError, match="address"):
        HTTP("ftp://127.0.0.1", "token")
    with pytest.raises(DataError, match="token"):
        HTTP(page.url, "wrong").send(asked("1"))
    with pytest.raises(DataError, match="no text with the id 'x'"):
        HTTP(page.url, page.token).send([Question("x", "", 0)])


def test_an_answer_that_is_nested_too_deeply_is_no_answer():
    class Deep(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"[" * 200_000)

        def log_message(self, *words):
            pass

    with HTTPServer(("127.0.0.1", 0), Deep) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        people = HTTP(f"http://127.0.0.1:{server.server_port}", "token")
        with pytest.raises(ConnectionError, match="broke off"):
            people.send(asked("1"))
        server.shutdown()


def test_a_server_that_is_away_has_no_answers_yet(page):
    people = HTTP("http://127.0.0.1:9", page.token)
    with pytest.raises(ConnectionError, match="actune label"):
        people.send(asked("1"))
    people = HTTP(page.url, page.token)
    people.send(asked("1"))
    people.url = "http://127.0.0.1:9"
    assert people.collect() == []
