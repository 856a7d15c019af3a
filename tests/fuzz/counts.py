"""What a fuzzer found, as one record: numbers, and each distinct problem with the command that shows it again."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.fuzz.inputs import CHANGED, Fuzzer, Outcome

MOST = 20  # distinct problems that a record keeps


class Counts:
    """Grows outcome by outcome."""

    def __init__(self, fuzzer: Fuzzer, seed: int) -> None:
        self.fuzzer, self.seed = fuzzer, seed
        self.inputs = 0
        self.codes: Counter[int] = Counter()
        self.problems: Counter[str] = Counter()
        self.slowest = Outcome(0)
        self.most_memory = 0
        self.found: dict[tuple[str, str, str], dict[str, Any]] = {}

    def add(self, outcome: Outcome) -> None:
        self.inputs += 1
        self.codes.update(outcome.codes)
        self.most_memory = max(self.most_memory, outcome.megabytes)
        if outcome.seconds > self.slowest.seconds:
            self.slowest = outcome
        if outcome.problem:
            self.problems[outcome.problem.partition(":")[0]] += 1
            where = outcome.where or (" ".join(outcome.words.split()[:2]) if not outcome.message else "")
            key = (outcome.problem, where, outcome.message[:60] if not where else outcome.message.partition(":")[0])
            self.found.setdefault(key, {**self._described(outcome), "times": 0})["times"] += 1

    def again(self, number: int) -> str:
        """The command that runs one input in the foreground."""
        return f"python -m tests.fuzz {self.fuzzer.name} --seed {self.seed} --only {number}"

    def _described(self, outcome: Outcome) -> dict[str, Any]:
        facts = {name: value for name, value in outcome.as_json().items() if name not in ("megabytes", "codes")}
        return {**facts, "again": self.again(outcome.number)}

    def record(self) -> dict[str, Any]:
        """All of it as JSON."""
        kinds = ("traceback", "hang", "killed", "memory", CHANGED, "generator")
        wrong = sum(number for kind, number in self.problems.items() if kind.startswith("exit code"))
        return {
            "fuzzer": self.fuzzer.name,
            "seed": self.seed,
            "inputs": self.inputs,
            "exit_codes": {str(code): count for code, count in sorted(self.codes.items())},
            **{kind.split()[0]: self.problems[kind] for kind in kinds},
            "other_exit_codes": wrong,
            "slowest_seconds": self.slowest.seconds,
            "slowest": self.slowest.number,
            "most_megabytes": self.most_memory,
            "problems": sorted(self.found.values(), key=lambda each: -each["times"])[:MOST],
        }

    @property
    def clean(self) -> bool:
        return not self.problems
