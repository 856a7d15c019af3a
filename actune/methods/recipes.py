"""The methods by name: each is a sentence made of a query, a self-training, a loss and perhaps a teacher."""

from __future__ import annotations

from dataclasses import replace

from actune.methods import thrifty, baselines  # noqa: F401  # isort: skip  (they register theirs, the default first)
from actune.core.objective import NO_GATE, Objective
from actune.core.settings import Settings
from actune.methods.features import frozen, gradient_factors, surprisal
from actune.methods.finding import build, find, find_again, name_of, origin_of, plugins, shown
from actune.methods.memory import Memory, Remembers
from actune.methods.method import RECIPES, Method, Recipe, Teacher, asking, recipe, variant
from actune.methods.queries import Representatives, Spread, Top
from actune.methods.regions import Calmest, Hottest, Regions
from actune.methods.teaching import Agreement
from actune.methods.trust import SelfTraining, Surest
from actune.methods.typical import Typical
from actune.methods.uncertainty import Bald, Cal, Score, entropy, margin

__all__ = [
    "RECIPES",
    "Method",
    "Recipe",
    "build",
    "find",
    "find_again",
    "name_of",
    "origin_of",
    "plugins",
    "shown",
]

REGIONS = ("regions", "regions_used", "beta")
TRUST = ("growth", "momentum_low", "momentum_high", "threshold", "weight", "power")
ACTUNE = "Yu et al. 2022"

# AcTune: ask in unsure regions, trust in sure ones


@recipe(
    "actune",
    "active self-training",
    "ask in uncertain regions, pseudo-label in certain ones, by entropy",
    ACTUNE,
    uses=REGIONS + TRUST,
)
def actune(settings: Settings) -> Method:
    return _actune(entropy, "predictions", settings)


@variant(
    "actune",
    "actune-cal",
    "active self-training",
    "ask in uncertain regions, pseudo-label in certain ones, by CAL",
    uses=(*REGIONS, *TRUST, "neighbors"),
)
def actune_cal(settings: Settings) -> Method:
    return _actune(Cal(settings.neighbors), "scores", settings)


@variant("actune", "actune-badge", "active self-training", "ask as badge does, pseudo-label as actune does")
def actune_badge(settings: Settings) -> Method:
    return replace(actune(settings), query=Spread(gradient_factors))


@variant(
    "actune",
    "actune-alps",
    "active self-training",
    "ask as alps does, pseudo-label as actune does",
    needs=("masked language model",),
)
def actune_alps(settings: Settings) -> Method:
    return replace(actune(settings), query=Representatives(surprisal))


@variant(
    "actune",
    "actune-bald",
    "active self-training",
    "ask in uncertain regions, pseudo-label in certain ones, by BALD",
    uses=(*REGIONS, *TRUST, "samples"),
    needs=("dropout",),
)
def actune_bald(settings: Settings) -> Method:
    return _actune(Bald(settings.samples), "scores", settings)


@variant(
    "actune",
    "actune-margin",
    "active self-training",
    "ask in uncertain regions, pseudo-label in certain ones, by margin",
)
def actune_margin(settings: Settings) -> Method:
    return _actune(margin, "scores", settings)


# ablations


@variant("actune", "actune-query", "ablation", "actune without pseudo-labels", uses=REGIONS)
def actune_query(settings: Settings) -> Method:
    return asking(actune(settings).query)


@variant(
    "actune-cal",
    "actune-cal-query",
    "ablation",
    "actune-cal without pseudo-labels",
    uses=(*REGIONS, "neighbors"),
)
def actune_cal_query(settings: Settings) -> Method:
    return asking(actune_cal(settings).query)


@variant("actune", "actune-no-regions", "ablation", "actune that asks about the least certain texts of the whole pool")
def actune_no_regions(settings: Settings) -> Method:
    return replace(actune(settings), query=Top(entropy))


@variant(
    "actune",
    "actune-no-memory",
    "ablation",
    "actune that selects pseudo-labels by the current model only",
    uses=(*REGIONS, "growth", "threshold", "weight", "power"),
)
def actune_no_memory(settings: Settings) -> Method:
    return actune(replace(settings, momentum_low=1.0, momentum_high=1.0))


@variant("actune", "actune-no-weights", "ablation", "actune with regions from k-means without weights")
def actune_no_weights(settings: Settings) -> Method:
    return _actune(entropy, "predictions", settings, weighted=False)


# beyond the paper


@recipe(
    "hast",
    "other",
    "ask as margin does; a teacher pseudo-labels texts whose nearest texts have the same prediction",
    "Schroeder and Heyer 2024",
    uses=("agreeing", "rarity", "weight"),
)
def hast(settings: Settings) -> Method:
    agreement = Agreement(settings.agreeing, beta=settings.rarity)
    return Method(Top(margin), agreement, Objective(settings.weight, NO_GATE), Teacher())


@recipe("typiclust", "other", "ask about typical texts of clusters without a label", "Hacohen et al. 2022")
def typiclust(settings: Settings) -> Method:
    return asking(Typical(frozen))


def _actune(score: Score, remembers: Remembers, settings: Settings, weighted: bool = True) -> Method:
    regions = Regions(score, settings.regions, settings.beta, weighted)
    memory = Memory(score, remembers, settings.momentum_low, settings.momentum_high)
    trust: SelfTraining = Surest(memory, Calmest(regions, settings.regions_used), settings.growth)
    return Method(
        query=Hottest(regions, settings.regions_used),
        self_training=trust,
        objective=Objective(settings.weight, settings.threshold, power=settings.power),
    )
