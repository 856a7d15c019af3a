"""Runs fuzzers: all of them or some, with a number of inputs, or one input again in the foreground.

    python -m tests.fuzz                         a few inputs of every fuzzer
    python -m tests.fuzz all --inputs 100000 --to fuzz.jsonl
    python -m tests.fuzz grids votes --inputs 2000 --seed 3
    python -m tests.fuzz grids --seed 3 --only 17

Every input is made from the fuzzer's name, the seed and its number alone. The exit code is 1 if there was a problem.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

# before torch is imported: a process that has threads cannot fork safely
os.environ |= {
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "ARROW_IO_THREADS": "1",
}
os.environ |= {
    "PYTHONDONTWRITEBYTECODE": "1",
    "COLUMNS": "120",
    "TERM": "dumb",
    "ACTUNE_DATA": "",
    "RAY_USAGE_STATS_ENABLED": "0",
}


def main() -> int:
    from tests.fuzz.fuzzers import all_fuzzers, missing

    given, known = _arguments(), all_fuzzers()
    names = list(known) if given.names in ([], ["all"]) else given.names
    for name in [name for name in names if name not in known]:
        print(f"there is no fuzzer {name}: known are {', '.join(known)}", file=sys.stderr)
        return 2
    if given.names in ([], ["all"]):
        for name in missing():
            print(f"skipped: {name} lacks a module of tests/fuzz", file=sys.stderr)
    with TemporaryDirectory(prefix="actune-fuzz-") as folder:
        work = Path(folder)
        ground = _prepared(work, [known[name] for name in names], given.verbose or given.only is not None)
        if given.only is not None:
            return _one(known[names[0]], given, ground)
        clean = True
        with Path(given.to or os.devnull).open("a", encoding="utf-8") as file:
            for name in names:
                record = _run(known[name], given, names, ground, work)
                file.write(json.dumps(record) + "\n")
                file.flush()
                print(json.dumps(record), flush=True)
                clean &= not record["problems"]
    return 0 if clean else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="fuzzers; all by default")
    parser.add_argument("--inputs", type=int, help="in all, divided among the fuzzers; few by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, help="run the input with this number alone, and keep its files")
    parser.add_argument("--to", help="a file that gets a line for every fuzzer")
    parser.add_argument("--seconds", type=float, default=60.0, help="after which an input counts as a hang")
    parser.add_argument("--gigabytes", type=float, default=2.0, help="of memory for an input")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def _prepared(work: Path, fuzzers: list[Any], verbose: bool) -> Path:
    """What all inputs share, and all modules imported."""
    import torch

    from tests.fuzz.ground import Place, prepare
    from tests.fuzz.short_work import keep_work_short

    torch.set_num_threads(1)
    for name in ("datasets", "openpyxl", "snorkel.labeling.model", "pyarrow.parquet", "matplotlib.pyplot"):
        with suppress(ImportError):  # an extra that is not installed
            import_module(name)
    began = time.perf_counter()
    ground = work / "ground"
    ground.mkdir()
    os.environ["ACTUNE_CACHE"] = str(work / "cache")
    streams = sys.stdout, sys.stderr
    with Path(os.devnull).open("w") as nowhere:
        sys.stdout = sys.stderr = nowhere
        try:
            prepare(ground)
            for fuzzer in fuzzers:
                if fuzzer.prepare is not None:
                    fuzzer.prepare(Place(work, ground, work))
        finally:
            sys.stdout, sys.stderr = streams
    keep_work_short()
    gc.collect()
    gc.freeze()  # a collection in a child would copy all pages
    if verbose:
        print(f"prepared in {time.perf_counter() - began:.1f} s", file=sys.stderr)
    return ground


def _run(fuzzer: Any, given: argparse.Namespace, names: list[str], ground: Path, work: Path) -> dict[str, Any]:
    from tests.fuzz.counts import Counts
    from tests.fuzz.driver import Limits, run_fuzzer
    from tests.fuzz.fuzzers import all_fuzzers

    shares = {name: all_fuzzers()[name].share for name in names}
    count = fuzzer.few if given.inputs is None else max(1, round(given.inputs * fuzzer.share / sum(shares.values())))
    counts, began, told = Counts(fuzzer, given.seed), time.monotonic(), time.monotonic()
    numbers = range(given.first, given.first + count)
    limits = Limits(given.seconds, given.gigabytes)
    for outcome in run_fuzzer(fuzzer, given.seed, numbers, ground, work, limits, min(given.jobs, count)):
        counts.add(outcome)
        if outcome.problem and given.verbose:
            print(
                f"{counts.again(outcome.number)}: {outcome.problem} {outcome.where} {outcome.message}", file=sys.stderr
            )
        if time.monotonic() - told > 10:
            told = time.monotonic()
            problems = sum(counts.problems.values())
            print(f"{fuzzer.name}: {counts.inputs:,} of {count:,}, {problems} with problems", file=sys.stderr)
    seconds = round(time.monotonic() - began, 1)
    return {**counts.record(), "seconds": seconds, "jobs": given.jobs, **_facts()}


def _facts() -> dict[str, Any]:
    from actune.session.resolve import versions

    words = ["tests.fuzz", *sys.argv[1:]]
    if "--to" in words:
        del words[words.index("--to") : words.index("--to") + 2]
    return {
        "command": f"python -m {' '.join(words)}",
        "machine": {"system": platform.system(), "architecture": platform.machine(), "cores": os.cpu_count()},
        "versions": versions(),
    }


def _one(fuzzer: Any, given: argparse.Namespace, ground: Path) -> int:
    """One input in this process, with everything on the screen."""
    from tests.fuzz.driver import CANARIES
    from tests.fuzz.ground import Place
    from tests.fuzz.inputs import run_input

    kept = Path(mkdtemp(prefix=f"actune-fuzz-{fuzzer.name}-{given.only}-"))
    place = Place(kept / "scratch" / "input", ground, kept / "canary")
    place.folder.mkdir(parents=True)
    for name, content in CANARIES.items():
        (place.canary / name).parent.mkdir(parents=True, exist_ok=True)
        (place.canary / name).write_text(content, encoding="utf-8")
    outcome = run_input(fuzzer, given.seed, given.only, place, given.seconds, None)
    sys.stdout.flush()
    print(json.dumps(outcome.as_json()), file=sys.stderr)
    print(f"the files of this input are in {kept}", file=sys.stderr)
    return 1 if outcome.problem else 0


if __name__ == "__main__":
    sys.exit(main())
