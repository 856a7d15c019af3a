"""Nothing that was acknowledged is lost, twice or changed, whatever kills the server; the long form is faults.py."""

from __future__ import annotations

import pytest

from tests.web.faults import run


@pytest.mark.parametrize("clients", [1, 8])
def test_a_killed_server_keeps_every_acknowledged_answer_exactly_once(tmp_path, clients):
    found = run(tmp_path, kills=3, rate=20 if clients == 1 else 5, clients=clients, training=False)
    assert found["acknowledged"] > 20 and found["repeated_requests"] > 0
    assert {name: found[name] for name in ("lost", "twice", "changed", "out_of_order")} == {
        "lost": 0,
        "twice": 0,
        "changed": 0,
        "out_of_order": 0,
    }
    assert found["problems"] == [] and found["verify"] == []
