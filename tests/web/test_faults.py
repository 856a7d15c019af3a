"""Nothing that was acknowledged is lost, twice or changed, whatever kills the server; the long form is faults.py."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from tests.postgres import server as postgres_server
from tests.web.faults import run


@pytest.mark.parametrize(
    ("clients", "database", "killed"),
    [
        (1, "sqlite", "server"),
        (8, "sqlite", "server"),
        (1, "postgres", "server"),
        (8, "postgres", "server"),
        (8, "postgres", "postgres"),
    ],
)
def test_a_killed_server_keeps_every_acknowledged_answer_exactly_once(tmp_path, clients, database, killed):
    plan = {"kills": 3, "rate": 20 if clients == 1 else 5, "clients": clients, "training": False, "killed": killed}
    with postgres_server() if database == "postgres" else nullcontext() as postgres:
        found = run(tmp_path, postgres=postgres, **plan)
    assert found["acknowledged"] > 20 and found["repeated_requests"] > 0
    assert {name: found[name] for name in ("lost", "twice", "changed", "out_of_order")} == {
        "lost": 0,
        "twice": 0,
        "changed": 0,
        "out_of_order": 0,
    }
    assert found["problems"] == [] and found["verify"] == []
