"""All fuzzers, and which share of a long run each of them has."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from tests.fuzz import answers, command_lines, grids, results, rules, votes
from tests.fuzz.inputs import Fuzzer

OWN = (
    Fuzzer("command_lines", command_lines.make, share=0.20, few=60),
    Fuzzer("grids", grids.make, share=0.15, few=40),
    Fuzzer("rules", rules.make, share=0.12, few=40),
    Fuzzer("votes", votes.make, share=0.15, few=40),
    Fuzzer("answers", answers.make, share=0.13, few=40),
    Fuzzer("results", results.make, share=0.05, few=30),
)
# modules with a function make(rng, place) as above
FURTHER = (("data_files", 0.12, 60), ("folders", 0.05, 20), ("models", 0.03, 20))


def all_fuzzers() -> dict[str, Fuzzer]:
    """By name; one whose module is not there is left out."""
    found = {fuzzer.name: fuzzer for fuzzer in OWN}
    for name, share, few in FURTHER:
        if find_spec(f"tests.fuzz.{name}") is not None:
            found[name] = Fuzzer(name, import_module(f"tests.fuzz.{name}").make, share, few=few)
    return found


def missing() -> list[str]:
    """Fuzzers that this tree does not have."""
    return [name for name, *_ in FURTHER if name not in all_fuzzers()]
