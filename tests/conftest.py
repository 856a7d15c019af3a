"""What all tests share: one cache of embeddings, kept between test runs, and a small pool of real questions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# before torch, and for every command that a test starts: spinning threads starve each other on a busy machine
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")
os.environ["ACTUNE_CACHE"] = str(Path(__file__).parents[1] / ".pytest_cache" / "actune")
os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="module")
def in_float32():
    """For exact comparisons, whatever the machine multiplies fastest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actune.models.precision.native", lambda device: False)
        yield


@pytest.fixture(scope="session")
def trec():
    from actune.data.tasks import load_task

    return load_task("trec")


@pytest.fixture(scope="session")
def questions(trec):
    """A small task of real questions: 300 in the pool, 60 in dev, 100 in test."""
    from dataclasses import replace

    from actune.core.settings import own_settings

    return replace(
        trec,
        name="questions",
        pool=trec.pool.only(range(300)),
        dev=trec.dev.only(range(60)),
        test=trec.test.only(range(100)),
        settings=own_settings(300, 6),
        bundled=False,
    )


DATABASES = ("sqlite", "postgres")


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server for all tests of a process."""
    from tests.postgres import server

    with server() as found:
        yield found


@pytest.fixture(params=DATABASES)
def database(request, monkeypatch):
    """Where the runs that a test makes have their events: the test is run with each."""
    if request.param == "postgres":
        from actune.store.store import Store

        url, init = request.getfixturevalue("postgres").url, Store.__init__

        def within(store, folder, create=False, readonly=False, address=""):
            init(store, folder, create, readonly, address or (url if create else ""))

        monkeypatch.setattr(Store, "__init__", within)
    return request.param
