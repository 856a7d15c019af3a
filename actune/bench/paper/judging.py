"""Whether runs say what somebody claims: holds, does not hold, not enough runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from actune.bench.evidence import Evidence
from actune.bench.paper.measured import Measured
from actune.bench.statistics import FEWEST_SEEDS, Estimate, holm
from actune.bench.tables import TextTable
from actune.bench.wording import in_percent, p_told, signed

Verdict = Literal["holds", "does not hold", "not enough runs"]
HOLDS: Verdict = "holds"
FAILS: Verdict = "does not hold"
OPEN: Verdict = "not enough runs"


@dataclass(frozen=True)
class AtLeast:
    """A number is claimed to reach an amount: it must do so, and its interval must lie above what is no effect."""

    amount: float
    above: float = 0.0

    def decide(self, found: Estimate, least: bool) -> Verdict:
        if found.bounds is None:
            return OPEN
        low, high = found.bounds
        if high < self.amount and not least:
            return FAILS
        return HOLDS if found.mean >= self.amount and low > self.above else OPEN


@dataclass(frozen=True)
class StaysBelow:
    """A number is claimed to stay below an amount: its whole interval must."""

    amount: float

    def decide(self, found: Estimate, least: bool) -> Verdict:
        if found.bounds is None:
            return OPEN
        low, high = found.bounds
        return HOLDS if high < self.amount else FAILS if low > self.amount else OPEN


@dataclass(frozen=True)
class Claim:
    """One claim: the paper's sentence in our words, how it is measured, and when it holds."""

    name: str
    sentence: str
    measured_as: str
    rule: AtLeast | StaysBelow
    measure: Callable[[Evidence], Measured]
    unit: Literal["points", "%"] = "points"
    tested: bool = True  # whether the test of "no difference" means anything here


@dataclass(frozen=True)
class Finding:
    """A claim with its verdict and its numbers. p is corrected by Holm over all claims that have one."""

    claim: Claim
    verdict: Verdict
    measured: Measured
    p: float | None

    @property
    def numbers(self) -> str:
        """Mean and interval as the table of claims prints them."""
        found = self.measured.found
        if found is None:
            return "–"
        show = signed if self.claim.unit == "points" else in_percent
        mean = f"{'at least ' if self.measured.least else ''}{show(found.mean)}{' %' if self.claim.unit == '%' else ''}"
        return mean if found.bounds is None else f"{mean} [{show(found.bounds[0])}, {show(found.bounds[1])}]"

    @property
    def shown(self) -> str:
        """The verdict, with a reservation where tasks or methods are missing that might still overturn it."""
        return f"{self.verdict} so far" if self.verdict != OPEN and self.measured.missing else self.verdict

    @property
    def p_shown(self) -> str:
        return "–" if self.p is None else p_told(self.p)

    @property
    def seeds(self) -> int:
        return self.measured.found.runs if self.measured.found else 0

    @property
    def tasks(self) -> str:
        """`1 of 4` where the claim is about so many."""
        count, wanted = len(self.measured.tasks), self.measured.wanted
        return f"{count} of {wanted}" if wanted else f"{count}"

    @property
    def words(self) -> str:
        """The verdict in sentences: what was found, on what, and what is wanting."""
        found, sentences = self.measured.found, []
        if found is None:
            sentences.append(f"No {FEWEST_SEEDS} seeds speak for or against it.")
        else:
            unit = " points" if self.claim.unit == "points" else ""
            on = ", ".join(self.measured.tasks)
            sentences.append(f"Found: {self.numbers}{unit} on {on}, with {found.runs} seeds at least.")
            sentences += self._reasons(found)
        if self.measured.missing:
            sentences.append(f"Missing: {'; '.join(self.measured.missing)}.")
        return " ".join(sentences)

    def _reasons(self, found: Estimate) -> list[str]:
        reasons = []
        if found.runs < FEWEST_SEEDS:
            reasons.append(f"A verdict needs {FEWEST_SEEDS} seeds.")
        elif found.bounds is None and not self.measured.least:
            reasons.append(
                "There is no interval: seeds are all alike, or one of them decides whether there is a number."
            )
        elif self.verdict == OPEN and not self.measured.least:
            reasons.append("The interval leaves it open.")
        if self.measured.least:
            reasons.append("Some curves end before they reach AcTune: longer ones would say how much is saved.")
        if self.verdict == HOLDS and self.p is not None and self.p >= 0.05:
            reasons.append(f"By itself; with all claims together p is {p_told(self.p)} after Holm's correction.")
        return reasons


def judge(evidence: Evidence, claims: Sequence[Claim]) -> list[Finding]:
    """Every claim against one table of results."""
    found = [(claim, claim.measure(evidence)) for claim in claims]
    corrected = holm([each.found.p if claim.tested and each.found else None for claim, each in found])
    return [Finding(claim, _verdict(claim, each), each, p) for (claim, each), p in zip(found, corrected, strict=True)]


def _verdict(claim: Claim, measured: Measured) -> Verdict:
    if measured.found is None or measured.found.runs < FEWEST_SEEDS:
        return OPEN
    return claim.rule.decide(measured.found, measured.least)


def claims_table(findings: Sequence[Finding]) -> TextTable:
    """The verdicts in words."""
    rows = [
        [each.claim.sentence, each.shown, each.numbers, each.p_shown, str(each.seeds), each.tasks] for each in findings
    ]
    columns = ["claim", "verdict", "found", "p", "seeds", "tasks"]
    note = (
        "Found: the mean and its 95 % interval. p after Holm's correction over all claims that have one. "
        "So far: tasks or methods are missing."
    )
    return TextTable("claims", "Claims of the paper", columns, rows, note)
