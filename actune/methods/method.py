"""What a method is, and the registry of their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from typing import Any, Literal

from actune.core.objective import Objective
from actune.core.settings import Settings
from actune.methods.queries import Query
from actune.methods.trust import SelfTraining

Family = Literal[
    "active learning",
    "self-training",
    "semi-supervised active learning",
    "active self-training",
    "ablation",
    "other",
    "plug-in",
]
Signal = Literal["dropout", "masked language model", "word embeddings"]


@dataclass(frozen=True)
class Teacher:
    """Teaches within the round: it is fitted on the labels alone, and chooses and labels what its student learns."""

    hands_over: bool = False  # the student begins where the teacher stands, instead of afresh
    may_stay: bool = False  # where it is clearly better on dev; the round's model then learnt from labels alone
    generations: int = 1  # the student teaches the next one, so many in all
    reads: int | None = None  # at most so many texts of the pool, drawn anew each time; None: all


@dataclass(frozen=True)
class Method:
    """What to ask and what to trust, without any state. Without a teacher the last round's model trusts."""

    query: Query
    self_training: SelfTraining | None
    objective: Objective
    teacher: Teacher | None = None

    def __repr__(self) -> str:
        return sentence(self)


def asking(query: Query) -> Method:
    """A method that trusts nothing."""
    return Method(query, self_training=None, objective=Objective())


Builder = Callable[[Settings], Method]


@dataclass(frozen=True)
class Recipe:
    """A name for a method, as `actune methods` prints it."""

    name: str
    family: Family
    summary: str
    reference: str
    method: Builder
    uses: tuple[str, ...] = ()  # the settings that change it
    needs: tuple[Signal, ...] = ()  # what not every encoder or learner has
    version: int = 1  # raised when the same name comes to mean another method, so that older cells are not its own

    @property
    def shown(self) -> str:
        """The name with what a reader of results must know."""
        return f"{self.name} (reconstructed)" if "reconstructed" in self.reference else self.name


RECIPES: dict[str, Recipe] = {}


def recipe(
    name: str,
    family: Family,
    summary: str,
    reference: str,
    uses: tuple[str, ...] = (),
    needs: tuple[Signal, ...] = (),
    version: int = 1,
) -> Callable[[Builder], Builder]:
    """Registers a function of settings under a name."""

    def register(method: Builder) -> Builder:
        RECIPES[name] = Recipe(name, family, summary, reference, method, uses, needs, version)
        return method

    return register


def variant(of: str, name: str, family: Family, summary: str, **changes: object) -> Callable[[Builder], Builder]:
    """Registers what differs from another recipe in a few words."""
    parent = RECIPES[of]

    def register(method: Builder) -> Builder:
        RECIPES[name] = replace(parent, name=name, family=family, summary=summary, method=method, **changes)  # type: ignore[arg-type]
        return method

    return register


def sentence(value: Any, every_number: bool = False) -> str:
    """A value as it is written: `Hottest(Regions(entropy))`; numbers are settings, shown where they are not usual.

    With `every_number` those that have no usual value are shown too.
    """
    if not is_dataclass(value):
        return str(getattr(value, "__name__", value))
    inner = []
    for field in fields(value):
        part = getattr(value, field.name)
        if is_dataclass(part) or callable(part) or isinstance(part, str):
            inner.append(sentence(part, every_number))
        elif part != field.default and part is not None and (every_number or field.default is not MISSING):
            inner.append(f"{field.name}={part}")
    name = type(value).__name__
    return f"{name}({', '.join(inner)})" if inner else name
