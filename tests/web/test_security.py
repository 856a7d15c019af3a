"""Nobody comes in who should not, and nothing goes out that a browser could run."""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.web.conftest import HOSTILE
from tests.web.serving import command, serve

READS = ["/state", "/questions", "/texts/q1", "/openapi.json"]


def raw(served, path: str, host: str | None = None, method: str = "GET", **headers: str) -> tuple[int, str]:
    """A request as no library would send it."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{served.port}'}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as link:
        link.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        found = b""
        while block := link.recv(65536):
            found += block
    return int(found.split(b" ")[1]), found.decode("utf-8", "replace")


@pytest.mark.parametrize("path", READS)
def test_nobody_reads_without_a_key(served, path):
    assert httpx.get(f"{served.url}/api/v1{path}").status_code == 401
    wrong = {"Authorization": "Bearer wrong"}
    assert httpx.get(f"{served.url}/api/v1{path}", headers=wrong).status_code == 401
    (name,) = served.browser().cookies
    forged = {"Cookie": f"{name}=cGVyc29u.9999999999.{'0' * 64}"}
    assert httpx.get(f"{served.url}/api/v1{path}", headers=forged).status_code == 401
    assert served.program().get(path).status_code == 200


def test_the_page_is_closed_without_a_cookie_and_names_no_text(served):
    found = httpx.get(served.url)
    assert found.status_code == 401 and "actune label" in found.text
    assert httpx.get(f"{served.url}/?token=wrong").status_code == 401


def test_a_link_works_once_and_its_cookie_is_closed_to_scripts_and_other_sites(served):
    used = served.fresh_link()
    first = httpx.get(used)
    cookie = first.headers["set-cookie"].lower()
    assert first.status_code == 303 and first.headers["location"] == "/"
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert httpx.get(used).status_code == 401


def test_a_name_that_leads_here_by_rebinding_is_refused(served):
    token = f"Bearer {served.token}"
    for host in ("evil.example", f"evil.example:{served.port}", "127.0.0.1", "127.0.0.1:1", ""):
        assert raw(served, "/api/v1/state", host or " ", Authorization=token)[0] in (400, 403), host
    assert raw(served, "/api/v1/state", f"localhost:{served.port}", Authorization=token)[0] == 200


def test_a_page_of_another_origin_can_change_nothing(served):
    with served.program() as client:
        for origin in ("https://evil.example", "null", "http://127.0.0.1:1", f"https://127.0.0.1:{served.port}"):
            found = client.post("/train", json={}, headers={"Origin": origin})
            assert (found.status_code, found.json()["code"]) == (403, "origin")
        assert client.get("/questions", headers={"Sec-Fetch-Site": "same-site"}).status_code == 403
        assert client.post("/train", json={}, headers={"Origin": served.url}).status_code == 202


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2f..%2fapp.py", "/static//etc/passwd",
     "/../../etc/passwd", "/static/....//app.py", "/api/v1/texts/../../web/secret", "/web/secret", "/static/%00"],
)  # fmt: skip
def test_no_path_leads_out_of_the_static_files(served, path):
    status, found = raw(served, path, Authorization=f"Bearer {served.token}")
    assert status in (400, 401, 404)
    assert "import" not in found and "root:" not in found and served.token not in found


def test_a_large_body_is_refused_also_when_it_hides_its_length(served):
    large = b'{"answers": [' + b" " * (2 * 2**20)
    with served.program() as client:
        assert client.post("/answers", content=large).status_code == 413
        assert client.post("/answers", content=iter([large])).status_code == 413


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"answers": []}', b'{"answers": [{}]}',
     b'{"answers": 1}',
     b'{"answers": [{"client": "c", "id": "q1", "kind": "label", "label": "a", "by": "somebody else"}]}',
     b'{"answers": [{"client": "c", "id": "q1", "kind": "label"}]}',
     b'{"answers": [{"client": "c", "id": "q1", "kind": "label", "label": "\\ud800"}]}',
     b'{"answers": [{"client": "c", "id": "\\u0000", "kind": "skip"}]}',
     b'{"answers": [{"client": "c", "id": "q1", "kind": "label", "label": "no class"}]}',
     b'{"answers": [{"client": "c", "id": "q1", "kind": "skip", "seconds": NaN}]}'],
)  # fmt: skip
def test_a_malformed_answer_gets_a_sentence_and_changes_nothing(served, body):
    with served.program() as client:
        before = client.get("/state").json()
        found = client.post("/answers", content=body, headers={"Content-Type": "application/json"})
        assert found.status_code in (400, 422)
        assert set(found.json()) == {"error", "code"}
        after = client.get("/state").json()
    assert (before["labels"], before["skipped"]) == (after["labels"], after["skipped"])


def test_a_number_that_no_database_holds_is_refused(served):
    with served.program() as client:
        for path in ("/history?before=", "/review/pseudo-labels?region=", "/review/near-duplicates?offset="):
            assert client.get(f"{path}{2**64}").status_code == 422


def test_hostile_texts_and_class_names_come_back_as_json_and_nothing_else(served):
    with served.program() as client:
        found = client.get("/texts/x0")
        assert found.headers["content-type"] == "application/json"
        assert found.headers["x-content-type-options"] == "nosniff"
        texts = [client.get(f"/texts/x{number}").json()["text"] for number in range(len(HOSTILE))]
        assert texts == HOSTILE
        wrong = client.get("/texts/<script>alert(1)</script>")
        assert wrong.status_code == 404 and wrong.headers["content-type"] == "application/json"


def test_every_answer_has_the_headers_that_keep_a_browser_safe(served):
    for found in (httpx.get(served.url), httpx.get(f"{served.url}/static/index.html"), served.program().get("/state")):
        assert found.headers["content-security-policy"].startswith("default-src 'self'")
        assert "frame-ancestors 'none'" in found.headers["content-security-policy"]
        assert found.headers["referrer-policy"] == "same-origin"
        assert found.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in found.headers and "server" not in found.headers


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.com"])
def test_other_machines_are_not_served_without_accounts(texts, tmp_path, host):
    words = ["--labels", "a,b", "--host", host, "--port", "0", "--out", str(tmp_path / "project")]
    done = subprocess.run(command(texts, *words), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "accounts" in json.loads(done.stdout)["error"]["message"]


@pytest.mark.parametrize("name", ["", "secret", "token", "running.json", "server.lock", "trainer.log", "accounts.json"])
def test_a_link_in_the_folder_of_somebody_else_is_refused_and_nothing_behind_it_changes(texts, tmp_path, name):
    project, other = tmp_path / "project", tmp_path / "mine"
    made = serve(texts, "--labels", "a,b", "--port", "0", "--no-training", "--out", str(project))
    made.kill()
    place = project / "web" / name if name else project / "web"
    if name:
        other.write_text("my own")
        place.unlink(missing_ok=True)
    else:
        place.rename(other)
    place.symlink_to(other)
    before = sorted(other.rglob("*")) if other.is_dir() else other.read_text()
    done = subprocess.run(command(project, "--port", "0"), capture_output=True, text=True, timeout=20)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert (sorted(other.rglob("*")) if other.is_dir() else other.read_text()) == before


def test_the_projects_secrets_are_private(served):
    assert (served.folder.stat().st_mode & 0o077) == 0
    for name in ("secret", "token", "running.json"):
        assert ((served.folder / "web" / name).stat().st_mode & 0o077) == 0


def test_a_mistake_of_the_program_is_a_sentence_and_no_text_is_printed(tmp_path, capsys, monkeypatch):
    from actune.core.pool import pool_of
    from actune.session.labelling import create_labelling
    from actune.web.app import build
    from actune.web.desk import Desk
    from actune.web.keys import Keys
    from actune.web.server import Address, door_of
    from actune.web.trainer import Trainer

    def fail(*values):
        raise KeyError("a secret text")

    async def ask(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:80") as client:
            return await client.get("http://127.0.0.1:80/api/v1/state", headers={"Host": "127.0.0.1:80", **token})

    def answer(app):
        with ThreadPoolExecutor(1) as thread:  # after a test in a browser, this one has a running loop
            return thread.submit(asyncio.run, ask(app)).result()

    with create_labelling(tmp_path / "project", pool_of(["one", "two"], classes=("a", "b"))) as session:
        keys = Keys(tmp_path / "project")
        token = {"Authorization": f"Bearer {keys.token}"}
        desk = Desk(keys.id, session, Trainer(tmp_path, tmp_path / "log", idle=True))
        app = build(desk, door_of(keys, "start", Address(), 80))
        assert answer(app).status_code == 200
        monkeypatch.setattr(session, "news", fail)
        found = answer(app)
        printed = capsys.readouterr()
    assert found.status_code == 500 and found.json()["code"] == "mistake" and "secret" not in found.text
    assert found.headers["x-content-type-options"] == "nosniff"
    assert "KeyError at" in printed.err and "secret" not in printed.err + printed.out


def test_a_secret_that_a_full_disk_does_not_take_is_made_again_later(tmp_path, monkeypatch):
    from actune.errors import StorageError
    from actune.web.keys import private_word

    def full(size):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr("actune.web.keys.secrets.token_urlsafe", full)
        with pytest.raises(StorageError, match="full"):
            private_word(tmp_path / "secret")
    assert private_word(tmp_path / "secret") == private_word(tmp_path / "secret") != ""
