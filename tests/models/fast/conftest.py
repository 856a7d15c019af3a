"""The tests of the fast code run it, whatever the environment says."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def always_fast(fast_code: None) -> None: ...
