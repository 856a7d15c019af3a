"""What AcTune was compared with, by name: active learning, self-training, and both at once."""

from __future__ import annotations

from dataclasses import replace

from actune.core.objective import NO_GATE, Objective
from actune.core.settings import Settings
from actune.methods.features import Propagation, gradient_factors, surprisal
from actune.methods.memory import Memory
from actune.methods.method import Method, Teacher, asking, recipe
from actune.methods.queries import Random, Representatives, Spread, Top
from actune.methods.teaching import EasyDraw
from actune.methods.trust import Anywhere, Below, Propagated, Surest
from actune.methods.uncertainty import Adversarial, Bald, Cal, entropy, least_confidence, margin

# active learning: a query, and nothing is trusted


@recipe("random", "active learning", "ask about texts drawn at random", "baseline")
def random(settings: Settings) -> Method:
    return asking(Random())


@recipe(
    "entropy", "active learning", "ask about the texts whose prediction has the highest entropy", "Holub et al. 2008"
)
def least_certain(settings: Settings) -> Method:
    return asking(Top(entropy))


@recipe(
    "least-confidence",
    "active learning",
    "ask about the texts whose most likely class has the lowest probability",
    "Lewis and Gale 1994",
)
def least_confident(settings: Settings) -> Method:
    return asking(Top(least_confidence))


@recipe(
    "margin", "active learning", "ask about the texts whose two most likely classes are closest", "Scheffer et al. 2001"
)
def closest_classes(settings: Settings) -> Method:
    return asking(Top(margin))


@recipe(
    "bald",
    "active learning",
    "ask about the texts on which predictions with dropout disagree most",
    "Gal et al. 2017",
    uses=("samples",),
    needs=("dropout",),
)
def bald(settings: Settings) -> Method:
    return asking(Top(Bald(settings.samples)))


@recipe("badge", "active learning", "ask about texts with large and different gradients", "Ash et al. 2020")
def badge(settings: Settings) -> Method:
    return asking(Spread(gradient_factors))


@recipe(
    "alps",
    "active learning",
    "ask about one text per cluster of the pretrained model's surprisal",
    "Yuan et al. 2020",
    needs=("masked language model",),
)
def alps(settings: Settings) -> Method:
    return asking(Representatives(surprisal))


@recipe(
    "cal",
    "active learning",
    "ask about texts whose prediction differs from that of their nearest labelled texts",
    "Margatina et al. 2021",
    uses=("neighbors",),
)
def cal(settings: Settings) -> Method:
    return asking(Top(Cal(settings.neighbors)))


# self-training on random labels: a teacher fitted on the same labels


@recipe(
    "st",
    "self-training",
    "ask at random; pseudo-label every unlabelled text",
    "Lee 2013",
    uses=("weight", "ramp"),
)
def st(settings: Settings) -> Method:
    everything = Surest(_no_memory(), Anywhere(), growth=None)
    return Method(Random(), everything, Objective(settings.weight, NO_GATE, ramp=settings.ramp), Teacher())


@recipe(
    "ust",
    "self-training",
    "ask at random; pseudo-label easy texts of every class, weighted by stability under dropout",
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
    "ask at random; soft pseudo-labels of a teacher that is updated in training, with a contrastive term",
    "Yu et al. 2021",
    uses=("certainty", "contrast", "confidence_penalty", "teacher_every", "weight"),
)
def cosine(settings: Settings) -> Method:
    objective = Objective(
        settings.weight,
        NO_GATE,
        targets="soft",
        certainty=settings.certainty,
        contrast=settings.contrast,
        confidence_penalty=settings.confidence_penalty,
        teacher_every=settings.teacher_every,
    )
    return replace(st(settings), objective=objective, teacher=Teacher(hands_over=True))


# semi-supervised active learning: plain cross-entropy on what the last model trusts


@recipe(
    "asst",
    "semi-supervised active learning",
    "ask about the least certain texts, pseudo-label the most certain",
    "Tomanek and Hahn 2009; Simeoni et al. 2020",
    uses=("growth", "weight"),
)
def asst(settings: Settings) -> Method:
    return Method(Top(entropy), Surest(_no_memory(), Anywhere(), settings.growth), Objective(settings.weight, NO_GATE))


@recipe(
    "ceal",
    "semi-supervised active learning",
    "ask about the least certain texts, pseudo-label those whose entropy is below a falling limit",
    "Wang et al. 2016",
    uses=("limit", "decay", "weight"),
)
def ceal(settings: Settings) -> Method:
    return replace(asst(settings), self_training=Below(settings.limit, settings.decay))


@recipe(
    "bass",
    "semi-supervised active learning",
    "ask as bald does, pseudo-label as ceal does by the mean of dropout passes",
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
    "reconstructed: ask where a small perturbation contradicts the neighbours, pseudo-label by label propagation",
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


def _no_memory() -> Memory:
    return Memory(entropy, "nothing")
