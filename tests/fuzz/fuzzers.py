"""All fuzzers, and which share of a long run each of them has."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from tests.fuzz import answers, command_lines, grids, results, rules, votes
from tests.fuzz.inputs import Fuzzer

OWN = (
    Fuzzer("command_lines", command_lines.make, share=0.14, few=60),
    Fuzzer("grids", grids.make, share=0.12, few=40),
    Fuzzer("rules", rules.make, share=0.12, few=40),
    Fuzzer("votes", votes.make, share=0.20, few=40),
    Fuzzer("answers", answers.make, share=0.13, few=40),
    Fuzzer("results", results.make, share=0.03, few=20),
)
# modules with a function make(rng, place), each with the module of generators that it needs
FURTHER = (
    ("damaged_data", "data_files", 0.20, 60),
    ("damaged_folders", "folders", 0.04, 20),
    ("model_folders", "models", 0.02, 20),
)


def all_fuzzers() -> dict[str, Fuzzer]:
    """By name; one whose module is not there is left out."""
    found = {fuzzer.name: fuzzer for fuzzer in OWN}
    for name, needs, share, few in FURTHER:
        if all(find_spec(f"tests.fuzz.{module}") is not None for module in (name, needs)):
            module = import_module(f"tests.fuzz.{name}")
            found[name] = Fuzzer(name, module.make, share, few=few, prepare=getattr(module, "prepare", None))
    return found


def missing() -> list[str]:
    """Fuzzers that this tree lacks a module of."""
    return [name for name, *_ in FURTHER if name not in all_fuzzers()]
