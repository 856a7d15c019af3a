"""The whole paper as a planted table."""

from __future__ import annotations

import pytest

from actune.bench.evidence import Evidence
from tests.bench.planted import Planted, paper_rows


@pytest.fixture(scope="session")
def paper_results() -> Planted:
    return Planted(paper_rows(), texts=300)


@pytest.fixture(scope="session")
def paper_evidence(paper_results: Planted) -> Evidence:
    return Evidence(paper_results)
