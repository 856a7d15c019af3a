"""Who answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from actune.annotators.http import HTTP as HTTP

__all__ = ["HTTP"]


def __getattr__(name: str) -> Any:
    if name == "HTTP":  # imported when it is used: most programs talk to no server
        from actune.annotators.http import HTTP

        return HTTP
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
