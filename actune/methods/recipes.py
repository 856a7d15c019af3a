"""The methods by name: each is a sentence made of a query, a self-training, a loss and perhaps a teacher."""

from __future__ import annotations

from dataclasses import replace

from actune.core.objective import NO_GATE, Objective
from actune.core.settings import Settings
from actune.methods.features import Propagation, frozen, gradient_factors, surprisal
from actune.methods.memory import Memory, Remembers
from actune.methods.method import RECIPES, Method, Recipe, Teacher, find, recipe, variant
from actune.methods.queries import Query, Random, Representatives, Spread, Top
from actune.methods.regions import Calmest, Hottest, Regions
from actune.methods.teaching import Agreement, EasyDraw
from actune.methods.trust import Anywhere, Below, Propagated, SelfTraining, Surest
from actune.methods.typical import Typical
from actune.methods.uncertainty import Adversarial, Bald, Cal, Score, entropy, least_confidence, margin

__all__ = ["RECIPES", "Method", "Recipe", "build", "find"]

REGIONS = ("regions", "regions_used", "beta")
TRUST = ("growth", "momentum_low", "momentum_high", "threshold", "weight")
ACTUNE = "Yu et al. 2022"


def build(name: str, settings: Settings) -> Method:
    """The method of this name with these settings."""
    return find(name).method(settings)


# active learning: a query, and nothing is trusted


@recipe("random", "active learning", "ask about texts drawn at random", "the baseline of all")
def random(settings: Settings) -> Method:
    return _asking(Random())


@recipe("entropy", "active learning", "ask about the texts with the least certain prediction", "Holub et al. 2008")
def least_certain(settings: Settings) -> Method:
    return _asking(Top(entropy))


@recipe(
    "least-confidence", "active learning", "ask where the likeliest class is least likely", "Lewis and Gale 1994"
)
def least_confident(settings: Settings) -> Method:
    return _asking(Top(least_confidence))


@recipe("margin", "active learning", "ask where the two likeliest classes are closest", "Scheffer et al. 2001")
def closest_classes(settings: Settings) -> Method:
    return _asking(Top(margin))


@recipe(
    "bald",
    "active learning",
    "ask where passes with dropout disagree most",
    "Gal et al. 2017",
    uses=("samples",),
    needs=("dropout",),
)
def bald(settings: Settings) -> Method:
    return _asking(Top(Bald(settings.samples)))


@recipe("badge", "active learning", "ask about texts with large gradients that differ", "Ash et al. 2020")
def badge(settings: Settings) -> Method:
    return _asking(Spread(gradient_factors))


@recipe(
    "alps",
    "active learning",
    "ask about one text of each kind of surprise to the pretrained model",
    "Yuan et al. 2020",
    needs=("masked language model",),
)
def alps(settings: Settings) -> Method:
    return _asking(Representatives(surprisal))


@recipe(
    "cal",
    "active learning",
    "ask about texts predicted unlike their nearest labelled texts",
    "Margatina et al. 2021",
    uses=("neighbors",),
)
def cal(settings: Settings) -> Method:
    return _asking(Top(Cal(settings.neighbors)))


# self-training on random labels: a teacher fitted on the same labels


@recipe("st", "self-training", "random labels; every other text is trusted as predicted", "Lee 2013", uses=("weight",))
def st(settings: Settings) -> Method:
    everything = Surest(_no_memory(), Anywhere(), growth=None)
    return Method(Random(), everything, Objective(settings.weight, NO_GATE), Teacher())


@recipe(
    "ust",
    "self-training",
    "random labels; easy texts of every class are trusted, steady ones more",
    "Mukherjee and Awadallah 2020",
    uses=("teacher_samples", "teacher_rows", "steadiness", "weight"),
    needs=("dropout",),
)
def ust(settings: Settings) -> Method:
    easy = EasyDraw(settings.teacher_samples, settings.teacher_rows, settings.steadiness)
    return Method(Random(), easy, Objective(settings.weight, NO_GATE), Teacher())


@recipe(
    "cosine",
    "self-training",
    "random labels; soft targets of a teacher that keeps learning, with contrast between classes",
    "Yu et al. 2021",
    uses=("certainty", "contrast", "spread", "teacher_every", "weight"),
)
def cosine(settings: Settings) -> Method:
    objective = Objective(
        settings.weight,
        NO_GATE,
        targets="soft",
        certainty=settings.certainty,
        contrast=settings.contrast,
        spread=settings.spread,
        teacher_every=settings.teacher_every,
    )
    return replace(st(settings), objective=objective, teacher=Teacher(hands_over=True))


# semi-supervised active learning: plain cross-entropy on what the last model trusts


@recipe(
    "asst",
    "semi-supervised active learning",
    "ask about the least certain texts, trust the most certain",
    "Tomanek and Hahn 2009; Simeoni et al. 2020",
    uses=("growth", "weight"),
)
def asst(settings: Settings) -> Method:
    return Method(
        Top(entropy), Surest(_no_memory(), Anywhere(), settings.growth), Objective(settings.weight, NO_GATE)
    )


@recipe(
    "ceal",
    "semi-supervised active learning",
    "ask about the least certain texts, trust those below a falling limit",
    "Wang et al. 2016",
    uses=("limit", "decay", "weight"),
)
def ceal(settings: Settings) -> Method:
    return replace(asst(settings), self_training=Below(settings.limit, settings.decay))


@recipe(
    "bass",
    "semi-supervised active learning",
    "ask where dropout passes disagree, trust where their mean is below a falling limit",
    "Rottmann et al. 2018",
    uses=("samples", "limit", "decay", "weight"),
    needs=("dropout",),
)
def bass(settings: Settings) -> Method:
    trust = Below(settings.limit, settings.decay, settings.samples)
    return replace(asst(settings), query=Top(Bald(settings.samples)), self_training=trust)


@recipe(
    "revival",
    "semi-supervised active learning",
    "reconstructed: ask where a small perturbation contradicts the neighbours, trust what spreads from labels",
    "Guo et al. 2021 (reconstructed)",
    uses=("graph_neighbors", "graph_alpha", "perturbation", "weight"),
    needs=("word embeddings",),
)
def revival(settings: Settings) -> Method:
    spread = Propagation(settings.graph_neighbors, settings.graph_alpha)
    return Method(
        Top(Adversarial(spread, settings.perturbation)),
        Propagated(spread),
        Objective(settings.weight, NO_GATE, adversarial=1.0, perturbation=settings.perturbation),
    )


# AcTune: ask in unsure regions, trust in sure ones


@recipe(
    "actune",
    "active self-training",
    "ask in unsure regions, trust in sure ones; regions and trust by entropy",
    ACTUNE,
    uses=REGIONS + TRUST,
)
def actune(settings: Settings) -> Method:
    return _actune(entropy, "predictions", settings)


@variant(
    "actune",
    "actune-cal",
    "active self-training",
    "ask in unsure regions, trust in sure ones; regions and trust by CAL",
    uses=(*REGIONS, *TRUST, "neighbors"),
)
def actune_cal(settings: Settings) -> Method:
    return _actune(Cal(settings.neighbors), "scores", settings)


@variant(
    "actune", "actune-badge", "active self-training", "ask as badge does, trust as actune does; regions only for trust"
)
def actune_badge(settings: Settings) -> Method:
    return replace(actune(settings), query=Spread(gradient_factors))


@variant(
    "actune",
    "actune-alps",
    "active self-training",
    "ask as alps does, trust as actune does; regions only for trust",
    needs=("masked language model",),
)
def actune_alps(settings: Settings) -> Method:
    return replace(actune(settings), query=Representatives(surprisal))


@variant(
    "actune",
    "actune-bald",
    "active self-training",
    "ask in unsure regions, trust in sure ones; regions and trust by BALD",
    uses=(*REGIONS, *TRUST, "samples"),
    needs=("dropout",),
)
def actune_bald(settings: Settings) -> Method:
    return _actune(Bald(settings.samples), "scores", settings)


@variant(
    "actune",
    "actune-margin",
    "active self-training",
    "ask in unsure regions, trust in sure ones; regions and trust by margin",
)
def actune_margin(settings: Settings) -> Method:
    return _actune(margin, "scores", settings)


# ablations


@variant("actune", "actune-query", "ablation", "actune that trusts nothing: its questions alone", uses=REGIONS)
def actune_query(settings: Settings) -> Method:
    return _asking(actune(settings).query)


@variant(
    "actune-cal",
    "actune-cal-query",
    "ablation",
    "actune-cal that trusts nothing: its questions alone",
    uses=(*REGIONS, "neighbors"),
)
def actune_cal_query(settings: Settings) -> Method:
    return _asking(actune_cal(settings).query)


@variant(
    "actune", "actune-no-regions", "ablation", "actune that asks about the least certain texts of the whole pool"
)
def actune_no_regions(settings: Settings) -> Method:
    return replace(actune(settings), query=Top(entropy))


@variant(
    "actune",
    "actune-no-memory",
    "ablation",
    "actune that trusts by the current model alone",
    uses=(*REGIONS, "growth", "threshold", "weight"),
)
def actune_no_memory(settings: Settings) -> Method:
    return actune(replace(settings, momentum_low=1.0, momentum_high=1.0))


@variant("actune", "actune-no-weights", "ablation", "actune whose regions come from plain k-means")
def actune_no_weights(settings: Settings) -> Method:
    return _actune(entropy, "predictions", settings, weighted=False)


# beyond the paper


@recipe(
    "hast",
    "beyond",
    "ask where two classes are closest; a teacher passes on what its nearest texts agree on",
    "Schroeder and Heyer 2024",
    uses=("agreeing", "rarity", "weight"),
)
def hast(settings: Settings) -> Method:
    agreement = Agreement(settings.agreeing, beta=settings.rarity)
    return Method(Top(margin), agreement, Objective(settings.weight, NO_GATE), Teacher())


@recipe("typiclust", "beyond", "ask about typical texts of groups that no label covers", "Hacohen et al. 2022")
def typiclust(settings: Settings) -> Method:
    return _asking(Typical(frozen))


def _asking(query: Query) -> Method:
    return Method(query, self_training=None, objective=Objective())


def _no_memory() -> Memory:
    return Memory(entropy, "nothing")


def _actune(score: Score, remembers: Remembers, settings: Settings, weighted: bool = True) -> Method:
    regions = Regions(score, settings.regions, settings.beta, weighted)
    memory = Memory(score, remembers, settings.momentum_low, settings.momentum_high)
    trust: SelfTraining = Surest(memory, Calmest(regions, settings.regions_used), settings.growth)
    return Method(
        query=Hottest(regions, settings.regions_used),
        self_training=trust,
        objective=Objective(settings.weight, settings.threshold),
    )
