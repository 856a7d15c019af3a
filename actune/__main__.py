"""The command `actune`, also as `python -m actune`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Runs one command."""
    # threads that spin while they wait are ten times slower as soon as another process is busy, and threads that never
    # do are a third slower on a quiet machine: they spin for some microseconds; torch reads it once
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    try:
        from actune.cli.app import app

        app(prog_name="actune")
    except KeyboardInterrupt:  # before the command itself began
        sys.exit(130)


if __name__ == "__main__":
    main()
