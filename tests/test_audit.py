"""The audit of dependencies fails for a known vulnerability, and passes with a sentence where nothing can be asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / ".ci" / "audit.py"
GOOD = {"name": "sound", "version": "1.0", "vulns": []}
BAD = {"name": "broken", "version": "2.0", "vulns": [{"id": "CVE-1", "fix_versions": ["2.1"]}]}
UNKNOWN = {"name": "unknown", "skip_reason": "not found"}


def audit(folder: Path, said: str) -> tuple[int, str]:
    """The script beside a pip_audit that says this, in the place of the public list."""
    (folder / "pip_audit.py").write_text(f"print({said!r})")
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(folder)}
    )
    return done.returncode, done.stdout


def listed(*packages: object) -> str:
    return json.dumps({"dependencies": packages})


def test_a_known_vulnerability_fails_and_names_the_fix(tmp_path):
    code, said = audit(tmp_path, listed(GOOD, BAD, UNKNOWN))
    assert code == 1 and "broken 2.0 has CVE-1; fixed in 2.1" in said


def test_sound_packages_pass(tmp_path):
    code, said = audit(tmp_path, listed(GOOD, UNKNOWN))
    assert code == 0 and "1 of 2 packages checked, 0 with a known vulnerability" in said


def test_without_an_answer_it_says_that_nothing_was_checked(tmp_path):
    for said in ("", listed(UNKNOWN)):
        code, sentence = audit(tmp_path, said)
        assert code == 0 and "no package was checked" in sentence
