"""The methods by name: each is a sentence made of a query, a self-training and a loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from actune.core.objective import Objective
from actune.core.settings import Settings
from actune.errors import SettingError, nearest
from actune.methods.memory import Memory, Remembers
from actune.methods.queries import Query, Random, Top
from actune.methods.regions import Calmest, Hottest, Regions
from actune.methods.trust import SelfTraining
from actune.methods.uncertainty import Cal, Score, entropy

Family = Literal["active learning", "active self-training", "ablation"]


@dataclass(frozen=True)
class Method:
    """What to ask and what to trust. It has no state."""

    query: Query
    self_training: SelfTraining | None
    objective: Objective


@dataclass(frozen=True)
class Recipe:
    """A name for a method, as `actune methods` prints it."""

    name: str
    family: Family
    summary: str
    method: Callable[[Settings], Method]


RECIPES: dict[str, Recipe] = {}


def build(name: str, settings: Settings) -> Method:
    """The method of this name with these settings."""
    if name not in RECIPES:
        raise SettingError(f"unknown method {name!r}: {nearest(name, RECIPES)}")
    return RECIPES[name].method(settings)


def recipe(
    name: str, family: Family, summary: str
) -> Callable[[Callable[[Settings], Method]], Callable[[Settings], Method]]:
    """Registers a function of settings under a name."""

    def register(method: Callable[[Settings], Method]) -> Callable[[Settings], Method]:
        RECIPES[name] = Recipe(name, family, summary, method)
        return method

    return register


@recipe("random", "active learning", "ask about texts drawn at random")
def random(settings: Settings) -> Method:
    return _asking(Random(), settings)


@recipe("entropy", "active learning", "ask about the texts with the least certain prediction")
def least_certain(settings: Settings) -> Method:
    return _asking(Top(entropy), settings)


@recipe("cal", "active learning", "ask about texts predicted unlike their nearest labelled texts")
def cal(settings: Settings) -> Method:
    return _asking(Top(Cal(settings.neighbors)), settings)


@recipe("actune", "active self-training", "ask in unsure regions, trust in sure ones; regions and trust by entropy")
def actune(settings: Settings) -> Method:
    return _actune(_regions(entropy, settings), "predictions", settings)


@recipe("actune-cal", "active self-training", "ask in unsure regions, trust in sure ones; regions and trust by CAL")
def actune_cal(settings: Settings) -> Method:
    return _actune(_regions(Cal(settings.neighbors), settings), "scores", settings)


@recipe("actune-query", "ablation", "actune that trusts nothing: its questions alone")
def actune_query(settings: Settings) -> Method:
    return replace(actune(settings), self_training=None)


@recipe("actune-cal-query", "ablation", "actune-cal that trusts nothing: its questions alone")
def actune_cal_query(settings: Settings) -> Method:
    return replace(actune_cal(settings), self_training=None)


@recipe("actune-no-regions", "ablation", "actune that asks about the least certain texts of the whole pool")
def actune_no_regions(settings: Settings) -> Method:
    return replace(actune(settings), query=Top(entropy))


@recipe("actune-no-memory", "ablation", "actune that trusts by the current model alone")
def actune_no_memory(settings: Settings) -> Method:
    return actune(replace(settings, momentum_low=1.0, momentum_high=1.0))


@recipe("actune-no-weights", "ablation", "actune whose regions come from plain k-means")
def actune_no_weights(settings: Settings) -> Method:
    return _actune(replace(_regions(entropy, settings), weighted=False), "predictions", settings)


def _asking(query: Query, settings: Settings) -> Method:
    return Method(query, self_training=None, objective=Objective(settings.weight, settings.threshold))


def _regions(score: Score, settings: Settings) -> Regions:
    return Regions(score, settings.regions, settings.beta)


def _actune(regions: Regions, remembers: Remembers, settings: Settings) -> Method:
    memory = Memory(regions.score, remembers, settings.momentum_low, settings.momentum_high)
    return Method(
        query=Hottest(regions, settings.regions_used),
        self_training=SelfTraining(memory, Calmest(regions, settings.regions_used), settings.growth),
        objective=Objective(settings.weight, settings.threshold),
    )
