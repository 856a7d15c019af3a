"""What a person waits for many times a day imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import done, write

HEAVY = {"torch", "transformers", "pandas", "sklearn", "matplotlib", "datasets", "scipy"}
PROGRAM = f"""
import sys
from actune.__main__ import main
sys.argv[0] = "actune"
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
sys.stderr.write("heavy: " + " ".join(sorted({HEAVY!r} & set(sys.modules))))
"""


@pytest.mark.parametrize(
    "command",
    [
        "--help",
        "run --help",
        "methods",
        "ask PROJECT --to OUT.csv",
        "ask PROJECT",
        "tell PROJECT ANSWERS",
        "export PROJECT --to OUT.csv --pseudo",
    ],
)
def test_nothing_heavy_is_imported(command: str, project: Path, tmp_path: Path) -> None:
    id = done("ask", project, "--json").facts["questions"][0]["id"]
    answers = write(tmp_path / "answers.csv", ["id", "label"], [[id, "human"]])
    words = (
        command.replace("PROJECT", str(project)).replace("OUT", str(tmp_path / "out")).replace("ANSWERS", str(answers))
    )
    ended = subprocess.run([sys.executable, "-c", PROGRAM, *words.split()], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.endswith("heavy: ")


def test_threads_hardly_spin_while_they_wait() -> None:
    program = "import os, sys; sys.argv = ['actune', '--version']\nfrom actune.__main__ import main\n"
    program += "try:\n    main()\nexcept SystemExit:\n"
    program += "    print(os.environ['OMP_WAIT_POLICY'], os.environ['GOMP_SPINCOUNT'])"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env={})
    assert ended.stdout.split()[-2:] == ["PASSIVE", "1000"]
