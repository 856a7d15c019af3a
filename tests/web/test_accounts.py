"""Several people: accounts, the login page, and what an annotator may not do."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import httpx
import pytest

from actune.errors import SettingError
from actune.web.accounts import TRIES, WINDOW, Accounts, Logins
from tests.web.serving import Served, serve

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def shared(texts, tmp_path_factory) -> Served:
    server = serve(texts, "--labels", "a,b", "--port", "0", "--no-training", "--out", str(tmp_path_factory.mktemp("p")))
    accounts = Accounts(server.folder)
    accounts.add("anna", "annotator", PASSWORD)
    accounts.add("boss", "owner", PASSWORD)
    yield server
    server.kill()


def logged_in(server: Served, name: str, password: str = PASSWORD) -> httpx.Client:
    found = httpx.post(f"{server.url}/login", data={"name": name, "password": password})
    return httpx.Client(base_url=server.url, headers={"X-Actune": "1"}, cookies=found.cookies)


def test_a_person_logs_in_and_is_who_she_is(shared):
    with logged_in(shared, "anna") as anna:
        assert anna.get("/api/v1/state").json()["user"] == {"name": "anna", "role": "annotator"}
        assert "max-age=0" in anna.post("/logout").headers["set-cookie"].lower()


def test_the_page_of_a_shared_project_leads_to_the_login(shared):
    found = httpx.get(shared.url)
    assert found.status_code == 303 and found.headers["location"] == "/login"
    assert 'type="password"' in httpx.get(f"{shared.url}/login").text


@pytest.mark.parametrize("name, password", [("anna", "wrong"), ("nobody", PASSWORD), ("", ""), ("person", PASSWORD)])
def test_nobody_else_comes_in(shared, name, password):
    with logged_in(shared, name, password) as client:
        assert not client.cookies
        assert client.get("/api/v1/state").status_code == 401


def test_an_annotator_neither_trains_nor_takes_another_role(shared):
    with logged_in(shared, "anna") as anna, logged_in(shared, "boss") as boss:
        assert anna.post("/api/v1/train", json={}).status_code == 403
        assert boss.post("/api/v1/train", json={}).status_code == 202


def test_two_people_never_get_the_same_question(shared):
    with logged_in(shared, "anna") as anna, logged_in(shared, "boss") as boss:
        hers = {one["id"] for one in anna.get("/api/v1/questions?n=2").json()["questions"]}
        his = {one["id"] for one in boss.get("/api/v1/questions?n=100").json()["questions"]}
    assert hers and his and not hers & his


def test_another_password_or_no_account_ends_every_cookie(shared):
    accounts = Accounts(shared.folder)
    accounts.add("carl", "annotator", PASSWORD)
    with logged_in(shared, "carl") as carl:
        assert carl.get("/api/v1/state").status_code == 200
        accounts.add("carl", "annotator", PASSWORD + "!")
        assert carl.get("/api/v1/state").status_code == 401
    with logged_in(shared, "carl", PASSWORD + "!") as carl:
        accounts.remove("carl")
        assert carl.get("/api/v1/state").status_code == 401


def test_a_persons_token_opens_until_there_is_a_newer_one(shared):
    accounts = Accounts(shared.folder)
    old, new = accounts.new_token("anna"), accounts.new_token("anna")
    for token, status in ((old, 401), (new, 200)):
        found = httpx.get(f"{shared.url}/api/v1/state", headers={"Authorization": f"Bearer {token}"})
        assert found.status_code == status
    assert found.json()["user"]["name"] == "anna"
    assert old not in (shared.folder / "web" / "accounts.json").read_text()


def test_guessing_ends_soon_and_starts_again_later(tmp_path):
    accounts, now = Accounts(tmp_path), [0.0]
    accounts.add("anna", "annotator", PASSWORD)
    logins = Logins(accounts, lambda: now[0])
    for _ in range(TRIES):
        assert logins.check("anna", "wrong") is None
    assert logins.check("anna", PASSWORD) is None and 0 < logins.wait("anna") <= WINDOW
    now[0] += WINDOW
    assert logins.check("anna", PASSWORD) is not None


def test_the_login_page_says_when_it_is_too_often(shared):
    form = {"name": "nobody at all", "password": "wrong"}
    found = [httpx.post(f"{shared.url}/login", data=form) for _ in range(TRIES + 1)]
    assert [each.status_code for each in found] == [401] * TRIES + [429]
    assert int(found[-1].headers["retry-after"]) > 0


def test_a_login_from_another_origin_is_refused(shared):
    form = {"name": "anna", "password": PASSWORD}
    assert httpx.post(f"{shared.url}/login", data=form, headers={"Origin": "http://evil"}).status_code == 403


def test_many_who_guess_do_not_keep_others_from_their_work(shared):
    token = {"Authorization": f"Bearer {Accounts(shared.folder).new_token('boss')}"}

    def guess(number: int) -> None:
        form = {"name": f"nobody {number}", "password": "wrong"}
        assert httpx.post(f"{shared.url}/login", data=form, timeout=300).status_code == 401

    with ThreadPoolExecutor(60) as guessers:
        done = [guessers.submit(guess, number) for number in range(60)]
        wait(done, return_when=FIRST_COMPLETED)
        began = time.monotonic()
        assert httpx.get(f"{shared.url}/api/v1/state", headers=token, timeout=300).status_code == 200
        waited = time.monotonic() - began
        left = sum(not each.done() for each in done)
    assert left > 20 or waited < 0.5


def test_a_damaged_file_of_accounts_lets_nobody_in_and_answers_wait(shared):
    accounts, file = Accounts(shared.folder), shared.folder / "web" / "accounts.json"
    token, sound = {"Authorization": f"Bearer {accounts.new_token('boss')}"}, file.read_bytes()
    file.write_bytes(sound[:20])
    try:
        found = httpx.get(f"{shared.url}/api/v1/state", headers=token)
        assert (found.status_code, found.json()["code"]) == (503, "accounts")
        assert found.headers["x-content-type-options"] == "nosniff"
        assert httpx.get(shared.url).status_code == 503
    finally:
        file.write_bytes(sound)
    assert httpx.get(f"{shared.url}/api/v1/state", headers=token).status_code == 200


def test_passwords_are_kept_as_argon2_hashes_in_a_private_file(tmp_path):
    accounts = Accounts(tmp_path)
    accounts.add("anna", "annotator", PASSWORD)
    file = tmp_path / "web" / "accounts.json"
    assert "$argon2id$" in file.read_text() and PASSWORD not in file.read_text()
    assert (file.stat().st_mode & 0o077) == 0
    for name, password in (("person", PASSWORD), ("a\nb", PASSWORD), (" ", PASSWORD), ("x", "short")):
        with pytest.raises(SettingError):
            accounts.add(name, "annotator", password)


def test_the_command_adds_lists_and_removes_people(shared):
    def user(*words: str, said: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "actune", "user", *words]
        return subprocess.run(command, input=said, capture_output=True, text=True, timeout=120)

    assert user("add", "dora", str(shared.folder), "--password-stdin", said=f"{PASSWORD}\n").returncode == 0
    with logged_in(shared, "dora") as dora:
        assert dora.get("/api/v1/state").json()["user"]["role"] == "annotator"
    assert "dora" in user("list", str(shared.folder)).stdout
    assert user("remove", "dora", str(shared.folder)).returncode == 0
    wrong = user("remove", "dora", str(shared.folder))
    assert wrong.returncode == 2 and "no account" in wrong.stderr
    assert user("add", "eva", str(shared.folder), "--role", "king", "--token").returncode == 2
