"""A run whose events are in PostgreSQL: what its folder says, who may open it, and what a lost server means."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

import actune
from actune.core.pool import pool_of
from actune.errors import ActuneError, Busy, DataError, RunFolderError, SettingError, StorageError
from actune.session.labelling import create_labelling
from actune.session.repairing import repair
from actune.session.verifying import problems_in
from actune.store.addresses import FILE, public
from actune.store.records import Mark, Said
from actune.store.repairing import rebuild
from actune.store.sql import SQLEvents
from actune.store.store import Store
from actune.store.verifying import problems_of
from tests.postgres import Server, server

CLASSES = ("a", "b", "c")
PASSWORD = "s3cret @/:?&%ä"


@pytest.fixture
def store(tmp_path: Path, postgres: Server) -> Iterator[Store]:
    with Store.creating(tmp_path / "run", postgres.url) as store:
        store.add_texts("pool", pool_of([f"text {row}" for row in range(10)], classes=CLASSES))
        store.declare_classes(CLASSES, by="start")
    yield store
    store.close()


@pytest.fixture(scope="module")
def asking(postgres: Server) -> str:
    """The address with a password of a user whom the server asks for it."""
    rules = postgres.data / "pg_hba.conf"
    rules.write_text("local all ann scram-sha-256\n" + rules.read_text())
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(psycopg.sql.SQL("CREATE ROLE ann LOGIN PASSWORD {}").format(psycopg.sql.Literal(PASSWORD)))
        connection.execute("GRANT CREATE ON DATABASE postgres TO ann")
        connection.execute("SELECT pg_reload_conf()")
    time.sleep(0.5)
    return f"postgresql://ann:{quote(PASSWORD, safe='')}@/postgres?host={postgres.folder}"


def test_a_password_is_not_written_to_the_folder(
    tmp_path: Path, asking: str, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    texts = pool_of([f"text {row}" for row in range(30)], classes=CLASSES)
    with create_labelling(folder, texts, store=asking) as session:
        session.tell({"3": "a"})
        assert not any(PASSWORD in word for word in (repr(session.config), session.store.database, repr(session)))
        assert session.store.environment() == {"PGPASSWORD": PASSWORD}
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert {FILE, "run.toml"} <= {file.name for file in files} and not (folder / "run.db").exists()
    for file in files:
        content = file.read_bytes()
        assert PASSWORD.encode() not in content and quote(PASSWORD, safe="").encode() not in content, file
    with pytest.raises(StorageError, match=r"cannot be reached.*password") as refused:
        actune.open_session(folder)
    with pytest.raises(StorageError, match="password authentication failed") as wrong:
        actune.open_session(folder, store=asking.replace("s3cret", "guessed"))
    assert PASSWORD not in str(refused.value) + str(wrong.value) and "guessed" not in str(wrong.value)
    with actune.open_session(folder, store=asking) as session:
        assert session.store.labels().of_row == {3: 0}
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with actune.open_session(folder) as session:
        assert session.store.labels().of_row == {3: 0} and session.store.environment() == {}
    with actune.open_session(folder, store=postgres.url) as session:  # another user, who may do everything
        assert session.store.labels().of_row == {3: 0}


def test_an_address_is_the_same_without_its_password() -> None:
    for address, wanted in {
        "postgres://ann:x@db.example.org:5433/labels?sslmode=require": (
            "postgresql://ann@db.example.org:5433/labels?sslmode=require"
        ),
        "postgresql://db.example.org/labels?password=x&user=ann": "postgresql://ann@db.example.org/labels",
        "postgresql://a%40b:x%2F@h1:1,h2:2/d": "postgresql://a%40b@/d?host=h1%2Ch2&port=1%2C2",
        "postgresql://[::1]/d": "postgresql:///d?host=%3A%3A1",
        "postgresql:///": "postgresql:///",
    }.items():
        assert public(address) == wanted == public(wanted)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("mysql://ann:secret@db/x", "takes the address of a PostgreSQL database"),
        ("postgres:secret", "takes the address of a PostgreSQL database"),
        ("postgresql://ann:sec ret@db/x", "cannot read"),
        ("postgresql://ann:secret@db/x?passwort=secret", "cannot read"),
        ("postgresql://ann:secret@db/x?passfile=secret", "unknown parameter 'passfile'"),
        ("postgresql://ann:secret@localhost:1/x", "cannot be reached"),
    ],
)
def test_an_address_that_leads_nowhere_is_one_sentence_and_makes_nothing(
    tmp_path: Path, address: str, sentence: str
) -> None:
    with pytest.raises(ActuneError, match=sentence) as refused:
        create_labelling(tmp_path / "run", pool_of(["x", "y"], classes=CLASSES), store=address)
    assert "secret" not in str(refused.value).replace("passfile=secret", "") and "sec ret" not in str(refused.value)
    assert not (tmp_path / "run").exists()


def test_a_simulated_run_has_no_server(tmp_path: Path, questions: actune.Task, postgres: Server) -> None:
    plan = {"initial": 10, "batch": 5, "rounds": 1, "simulated": True}
    with pytest.raises(SettingError, match="leave --store out"):
        actune.create(tmp_path / "run", questions, store=postgres.url, **plan)


def test_without_its_package_it_is_one_sentence(tmp_path: Path) -> None:
    program = "import sys; sys.modules['psycopg'] = None; from actune.__main__ import main; main()"
    (tmp_path / "texts.csv").write_text("text\none\ntwo\n")
    words = ["start", tmp_path / "texts.csv", "--labels", "a,b", "--out", tmp_path / "run", "--store", "postgresql://x"]
    done = subprocess.run([sys.executable, "-c", program, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 2 and "pip install 'actune[postgres]'" in done.stderr + done.stdout
    assert not (tmp_path / "run").exists()


def test_a_creation_that_fails_or_is_killed_leaves_no_schema(tmp_path: Path, postgres: Server) -> None:
    before = postgres.schemas()
    with pytest.raises(ZeroDivisionError), Store.creating(tmp_path / "run", postgres.url):
        assert len(postgres.schemas()) == len(before) + 1
        _ = 1 / 0
    assert postgres.schemas() == before and not (tmp_path / "run").exists()
    program = (
        "import os, sys; from pathlib import Path; from actune.store.store import Store\n"
        "with Store.creating(Path(sys.argv[1]), sys.argv[2]): os.kill(os.getpid(), 9)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "run"), postgres.url]
    assert subprocess.run(command).returncode == -9
    (left,) = set(postgres.schemas()) - set(before)
    with Store.creating(tmp_path / "run", postgres.url) as store:
        store.seal("format = 1\n")
    assert left not in postgres.schemas() and len(postgres.schemas()) == len(before) + 1
    store.drop()  # of a run that is sealed: it stays
    assert len(postgres.schemas()) == len(before) + 1


def test_verbs_go_on_when_the_server_is_back(tmp_path: Path) -> None:
    with server() as own, Store.creating(tmp_path / "run", own.url) as store:
        store.add_texts("pool", pool_of(["x", "y"], classes=CLASSES))
        store.wait_at_most(3.0)
        for row in (0, 1):
            store.tell([Said(row, "label", 0, "ann")])
            own.kill()
            with pytest.raises(StorageError, match="cannot be reached"):
                store.answers()
            with pytest.raises(StorageError, match="nothing of this step counts"):
                store.tell([Said(row, "label", 1, "ann")])
            own.start()
            assert len(store.answers()) == row + 1
        own.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'actune'")
        store.tell([Said(0, "label", 1, "ann")])
        assert [answer.label for answer in store.answers()] == [0, 0, 1]


def test_answers_outlive_a_server_that_is_killed_while_they_come(tmp_path: Path) -> None:
    """What was acknowledged is there, in order; of the rest each is there as a whole or not at all."""
    with server(synchronous=True) as own, Store.creating(tmp_path / "run", own.url) as store:
        store.add_texts("pool", pool_of([f"text {row}" for row in range(2000)], classes=CLASSES))
        store.wait_at_most(3.0)
        acknowledged: list[str] = []
        stop = threading.Event()

        def work() -> None:
            for number in range(2000):
                while not stop.is_set():
                    try:
                        rows = [number, (number + 1) % 2000]
                        store.tell([Said(row, "label", number % 3, "ann", client=f"{number}-{row}") for row in rows])
                        acknowledged.append(str(number))
                        break
                    except (StorageError, Busy):
                        time.sleep(0.01)

        thread = threading.Thread(target=work)
        thread.start()
        for _ in range(3):
            time.sleep(0.3)
            own.kill()
            own.start()
        stop.set()
        thread.join()
        clients = [str(answer.client) for answer in store.answers()]
        numbers = [client.partition("-")[0] for client in clients]
        assert len(acknowledged) > 20 and len(set(clients)) == len(clients)
        assert list(dict.fromkeys(numbers))[: len(acknowledged)] == acknowledged
        assert all(numbers.count(number) == 2 for number in set(numbers))
        assert [answer.number for answer in store.answers()] == list(range(1, len(clients) + 1))
        store.check_log()


def test_a_writer_that_holds_the_lock_is_waited_for_so_long(store: Store) -> None:
    other = Store(store.folder)
    other.wait_at_most(0.2)
    with store._connections.writing(), pytest.raises(Busy, match="locked by another process for too long"):
        other.tell([Said(0, "label", 0, "ann")])
    assert other.tell([Said(0, "label", 0, "ann")]).new == 1
    other.close()


def test_a_process_that_is_killed_in_a_transaction_holds_nobody_up(store: Store) -> None:
    program = (
        "import os, sys; from pathlib import Path; from actune.store.store import Store\n"
        "with Store(Path(sys.argv[1]))._connections.writing() as connection:\n"
        "    connection.execute('DELETE FROM classes'); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", program, str(store.folder)]).returncode == -9
    began = time.monotonic()
    assert store.tell([Said(0, "label", 0, "ann")]).new == 1
    assert time.monotonic() - began < 5 and len(store.classes()) == 3


def test_verify_and_repair_know_its_tables(store: Store) -> None:
    store.seal("")
    store.tell([Said(row, "label", row % 3, "ann") for row in range(6)])
    store.mark([Mark(1, "note", "see below", "ann")])
    with store._connections.writing() as connection:
        connection.execute("DELETE FROM latest WHERE row = 2")
        connection.execute("UPDATE answers SET label = 2 WHERE number = 1")
    found = problems_of_database(store)
    assert "row 1 of the table answers" in found[0] and "the table latest" in found[1] and len(found) == 4
    with pytest.raises(RunFolderError, match="row 1 of the table answers is not as it was written"):
        store.check_log()
    done = rebuild(store)
    assert "a copy of the database was made first: run.db.before-repair-1" in done[0]
    assert problems_of_database(store) == [] and store.labels().of_row[2] == 2
    copy = SQLEvents(store.folder / "run.db.before-repair-1")
    assert copy.answers() == store.answers() and 2 not in {word.row for word in copy.latest()}
    assert copy.mark_log() == store.mark_log() and copy.chunks() == store.chunks()
    copy.close()


def problems_of_database(store: Store) -> list[str]:
    return [problem for problem in problems_of(store) if "schema" in problem or "table" in problem]


def test_what_cannot_be_read_is_left_to_pg_restore(tmp_path: Path, postgres: Server) -> None:
    folder = tmp_path / "run"
    with create_labelling(folder, pool_of(["x", "y", "z"], classes=CLASSES), store=postgres.url) as session:
        name = session.store._connections.schema.name  # type: ignore[attr-defined]
    assert problems_in(folder) == []
    postgres.execute(f"DROP TABLE {name}.questions")
    with pytest.raises(RunFolderError, match=r"no table 'questions'.*pg_restore"):
        actune.open_session(folder)
    assert any("no table 'questions'" in problem for problem in problems_in(folder))
    with pytest.raises(RunFolderError, match="pg_restore"):
        repair(folder)
    postgres.execute(f"DROP SCHEMA {name} CASCADE")
    with pytest.raises(RunFolderError, match=f"has no schema {name} that you may use"):
        actune.open_session(folder)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "address = 3\n",
        'address = "postgresql://x"\nschema = "public"\n',
        'address = "postgresql://x"\nschema = "actune_0123456789abcdef; DROP TABLE x"\n',
        'address = "postgresql://x?service=other"\nschema = "actune_0123456789abcdef"\n',
    ],
)
def test_a_damaged_address_is_one_sentence(store: Store, content: str) -> None:
    (store.folder / FILE).write_text(content)
    with pytest.raises(RunFolderError, match=r"database\.toml' cannot be used"):
        Store(store.folder)


def test_a_newer_version_is_left_alone(store: Store) -> None:
    with store._connections.writing() as connection:
        connection.execute("UPDATE version SET number = 99")
    with pytest.raises(RunFolderError, match="newer version of actune"):
        Store(store.folder)


def test_a_database_without_all_characters_is_refused(tmp_path: Path, postgres: Server) -> None:
    postgres.execute("CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0")
    with (
        pytest.raises(StorageError, match="encoding UTF8"),
        Store.creating(tmp_path / "run", postgres.url.replace("/postgres?", "/ascii?")),
    ):
        pass
    postgres.execute("DROP DATABASE ascii")


def test_texts_of_every_script_come_back_and_nul_is_one_sentence(store: Store) -> None:
    for number, note in enumerate(["ä 漢字 🙂 \u202e", "100 % ? :x %s ' \" \\", "a\nb\tc", " "]):
        store.mark([Mark(number, "note", note, "ann")])
        assert [mark.value for mark in store.marked("note", [number])] == [note]
    with pytest.raises(DataError, match="NUL"):
        store.mark([Mark(5, "note", "a\0b", "ann")])
    assert len(store.mark_log()) == 4


def test_a_password_of_the_environment_is_not_told_to_the_server(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of somebody else may name any server: it is shown that one knows the password, and not the password."""
    rules = Path(str(store._connections.schema.address).partition("host=")[2]) / "data/pg_hba.conf"  # type: ignore[attr-defined]
    before = rules.read_text()
    with psycopg.connect(store._connections.schema.address, autocommit=True) as connection:  # type: ignore[attr-defined]
        connection.execute("CREATE ROLE ben LOGIN PASSWORD 'x'")
        try:
            rules.write_text("local all ben password\n" + before)
            connection.execute("SELECT pg_reload_conf()")
            time.sleep(0.5)
            monkeypatch.setenv("PGPASSWORD", "x")
            monkeypatch.setenv("PGUSER", "ben")
            content = (store.folder / FILE).read_text().replace("postgres@", "ben@")
            (store.folder / FILE).write_text(content)
            with pytest.raises(StorageError, match="authentication method"):
                Store(store.folder)
            assert "PGREQUIREAUTH" not in os.environ
        finally:
            rules.write_text(before)
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("DROP ROLE ben")
