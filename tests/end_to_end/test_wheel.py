"""The wheel holds all that the package needs, and runs from another folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_run_from_the_wheel_alone(tmp_path: Path) -> None:
    """As a user has it: no tree around it, and the working folder somewhere else."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    # only what a user has installed: the tree itself is on no path
    there = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    words = ["--learner", "probe", "--initial", "20", "--batch", "10", "--rounds", "2", "--out", "run", "--json"]
    code = "import actune, sys; print(actune.__file__, file=sys.stderr); from actune.__main__ import main; main()"
    command = [sys.executable, "-c", code, "run", "trec", *words]
    done = subprocess.run(command, cwd=tmp_path, env=there, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "installed") in done.stderr.splitlines()[0]
    assert json.loads(done.stdout.splitlines()[-1])["labels"] == [20, 30]
    report = subprocess.run([*command[:3], "report", "run"], cwd=tmp_path, env=there, capture_output=True, text=True)
    assert report.returncode == 0, report.stderr
    assert (tmp_path / "run" / "report.html").is_file()
