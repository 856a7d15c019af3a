"""The one display name of every method, in figures, tables and sentences; command lines keep the short names."""

from __future__ import annotations

METHOD_NAMES = {
    "thrifty": "Thrifty",
    "thrifty-query": "Thrifty, query only",
    "thrifty-any": "Thrifty with the whole pool",
    "thrifty-one-student": "Thrifty, one student",
    "actune": "AcTune",
    "actune-cal": "AcTune + CAL",
    "actune-badge": "AcTune + BADGE",
    "actune-alps": "AcTune + ALPS",
    "actune-bald": "AcTune + BALD",
    "actune-margin": "AcTune + Margin",
    "actune-query": "AcTune, query only",
    "actune-cal-query": "AcTune + CAL, query only",
    "actune-no-regions": "AcTune without regions",
    "actune-no-memory": "AcTune without memory",
    "actune-no-weights": "AcTune without weights",
    "random": "Random",
    "entropy": "Entropy",
    "least-confidence": "Least confidence",
    "margin": "Margin",
    "bald": "BALD",
    "badge": "BADGE",
    "alps": "ALPS",
    "cal": "CAL",
    "typiclust": "TypiClust",
    "st": "ST",
    "ust": "UST",
    "cosine": "COSINE",
    "asst": "ASST",
    "ceal": "CEAL",
    "bass": "BASS",
    "hast": "HAST",
    "revival": "REVIVAL (reconstructed)",
}


def method_name(method: str) -> str:
    """A method as figures and tables name it; one that somebody else registered keeps its own name."""
    return METHOD_NAMES.get(method, method)
