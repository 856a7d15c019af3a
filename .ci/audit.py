"""Looks up the installed packages in the public list of known vulnerabilities; fails if there is one.

Where the list cannot be reached, it says so and passes: a machine without a network must be able to run the tests.
"""

from __future__ import annotations

import json
import subprocess
import sys

SECONDS = 15  # to wait for one answer of the package index
LIMIT = 300  # seconds for all of them


def audited() -> list[dict[str, object]] | None:
    """What pip-audit says about each package of this environment; None where it could not ask."""
    words = ["--local", "--skip-editable", "--format", "json", "--progress-spinner", "off", "--timeout", str(SECONDS)]
    command = [sys.executable, "-m", "pip_audit", *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        found: list[dict[str, object]] = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError):
        return None
    return found


def main() -> int:
    found = audited()
    known = [package for package in found or () if "vulns" in package]
    if not known:
        print("audit: the list of known vulnerabilities cannot be reached from here, so no package was checked")
        return 0
    bad = [package for package in known if package["vulns"]]
    for package in bad:
        for problem in package["vulns"]:  # type: ignore[attr-defined]
            fixed = ", ".join(problem["fix_versions"]) or "no version yet"
            print(f"audit: {package['name']} {package['version']} has {problem['id']}; fixed in {fixed}")
    print(f"audit: {len(known)} of {len(found or ())} packages checked, {len(bad)} with a known vulnerability")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
