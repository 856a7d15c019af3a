"""Numbers as figures, tables and sentences print them."""

from __future__ import annotations

import re
from collections.abc import Collection
from hashlib import sha256

from actune.bench.statistics import Estimate


def in_percent(share: float | None, digits: int = 1) -> str:
    return "–" if share is None else f"{100 * share:.{digits}f}"


def spread_told(found: Estimate, digits: int = 1) -> str:
    """`91.2 ± 0.2` in percent; one run has no deviation."""
    told = in_percent(found.mean, digits)
    return told if found.deviation is None else f"{told} ± {in_percent(found.deviation, digits)}"


def gap_told(found: Estimate | None) -> str:
    """`+0.5 [−0.1, 1.2]` in points."""
    if found is None:
        return "–"
    mean = f"{signed(found.mean)}"
    return mean if found.bounds is None else f"{mean} {interval_told(found.bounds)}"


def interval_told(bounds: tuple[float, float] | None) -> str:
    return "–" if bounds is None else f"[{signed(bounds[0])}, {signed(bounds[1])}]"


def signed(share: float, digits: int = 2) -> str:
    """Points with their sign, and with a minus that is one."""
    return f"{100 * share:+.{digits}f}".replace("-", "−")


def p_told(p: float | None) -> str:
    """A p-value as readers expect it."""
    if p is None:
        return "not enough runs"
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def seeds_named(seeds: Collection[int]) -> str:
    """`seed 2`, `seeds 0, 1`."""
    return f"seed{'' if len(seeds) == 1 else 's'} {', '.join(map(str, seeds))}"


def seeds_counted(count: int) -> str:
    """`1 seed`, `3 seeds`."""
    return f"{count} seed{'' if count == 1 else 's'}"


def range_told(numbers: Collection[int]) -> str:
    """`3`, `1 to 3`."""
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"


def file_name(words: str) -> str:
    """A name that every disk takes; where signs were lost a few letters tell it from others."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", words).strip("-_.")[:80]
    return plain if plain == words.strip("-") else f"{plain}-{sha256(words.encode()).hexdigest()[:6]}"


def escape_latex(words: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(_LATEX.get(letter, letter) for letter in words)


_LATEX = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    "–": "--",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "λ": r"$\lambda$",
    "<": r"$<$",
    ">": r"$>$",
}
