"""Every method that the search for `auto` tried, by name: queries and teachers put together."""

from __future__ import annotations

from dataclasses import replace

from actune.core.objective import NO_GATE, Objective
from actune.methods.features import embeddings, gradient_factors
from actune.methods.method import RECIPES, Method, Recipe, Teacher, asking
from actune.methods.queries import Distinct, Query, Random, Spread, Top
from actune.methods.teaching import Agreement, EasyDraw
from actune.methods.trust import SelfTraining
from actune.methods.uncertainty import margin
from benchmarks.auto.words import Drawn

PLAINLY = Objective(1.0, NO_GATE)
QUERIES: dict[str, Query] = {
    "any": Random(),
    "margin": Top(margin),
    "distinct": Distinct(margin, embeddings),
    "distinct3": Distinct(margin, embeddings, factor=3),
    "badge": Spread(gradient_factors),
}
TEACHERS: dict[str, SelfTraining] = {
    "agree": Agreement(),
    "easy": EasyDraw(),
    "one": Drawn(weigh="one"),
    "lead": Drawn(),
    "lead-half": Drawn(even=0.5),
    "lead-as-is": Drawn(even=0),
    "lead-all": Drawn(keep=16_384),
    "lead-few": Drawn(keep=1024),
    "certain": Drawn(weigh="certainty"),
    "lead-agree": Drawn(agreeing=15),
    "lead-agree-as-is": Drawn(agreeing=15, even=0),
    "soft": Drawn(soft=True),
    "surest": Drawn(surest=True, keep=2048),
}
HOW: dict[str, tuple[Objective, Teacher]] = {
    "": (PLAINLY, Teacher()),
    "+stays": (PLAINLY, Teacher(may_stay=True)),  # in the searches where dev preferred the teacher at all
    "+hands": (PLAINLY, Teacher(hands_over=True)),
    "+gce": (replace(PLAINLY, power=0.7), Teacher()),
    "+half": (replace(PLAINLY, weight=0.5), Teacher()),
}


def variants() -> dict[str, Method]:
    """All of them; a name is a query, a teacher, and how it teaches."""
    found = {query: asking(asks) for query, asks in QUERIES.items()}
    for query, asks in QUERIES.items():
        for teacher, passes in TEACHERS.items():
            for how, (objective, teaches) in HOW.items():
                if teacher == "soft":
                    objective = replace(objective, targets="soft")
                found[f"{query}+{teacher}{how}"] = Method(asks, passes, objective, teaches)
    return found


def register() -> None:
    for name, method in variants().items():
        if name not in RECIPES:
            RECIPES[name] = Recipe(name, "beyond", name, "search", lambda settings, method=method: method)
