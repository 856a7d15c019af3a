"""The numbers that a run is made of: what the method uses, and how a model is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeVar

from actune.core.checks import KIND_NAMES, told
from actune.core.matching import folded
from actune.errors import SettingError, nearest


@dataclass(frozen=True)
class Settings:
    """What a method and its reader use. The paper's symbols may be used in `--set` too."""

    max_tokens: int = 128
    regions: int = 25  # K, Eq. 3
    regions_used: int = 5  # M, Eq. 8 and 9
    beta: float = 0.5  # Eq. 7
    threshold: float = 0.6  # gamma, Eq. 14
    weight: float = 1.0  # lambda, Eq. 14
    momentum_low: float = 0.8  # m_L, Eq. 10
    momentum_high: float = 0.9  # m_H, Eq. 10
    growth: int = 500  # k: trusted rows grow by this many each round
    growth_start: int = 0  # preset released: trusted rows in the first round
    power: float = 0.0  # q of the generalised cross-entropy on pseudo-labels; 0 is cross-entropy
    neighbors: int = 10  # CAL
    samples: int = 10  # dropout passes of BALD and BASS
    limit: float = 0.05  # delta_0 of CEAL and BASS: entropy as a share of ln C
    decay: float = 0.0033  # by which that limit falls each round
    ramp: bool = False  # ST: pseudo-labels weigh more and more, from none
    teacher_samples: int = 30  # dropout passes of UST
    teacher_rows: int = 4096  # rows that UST's teacher pseudo-labels
    steadiness: float = 0.1  # alpha of UST's weights
    certainty: float = 0.6  # xi of COSINE: soft targets below it do not count
    contrast: float = 1.0  # weight of COSINE's contrastive term
    confidence_penalty: float = 0.1  # weight of COSINE's confidence term
    teacher_every: float = 0.125  # T_3 of COSINE as a share of the steps: 250 of 2,000
    agreeing: int = 15  # HAST: nearest rows, with the row itself
    rarity: float = 0.1  # beta of HAST's weights
    graph_neighbors: int = 50  # REVIVAL
    graph_alpha: float = 0.99  # REVIVAL: how far classes spread along the graph
    perturbation: float = 1.0  # epsilon of REVIVAL


@dataclass(frozen=True)
class Training:
    """How one model is trained; the defaults are the paper's fine-tuning."""

    learning_rate: float = 2e-5
    weight_decay: float = 1e-8
    clip: float = 1.0
    warmup: float = 0.1
    epochs: int = 15  # on labels alone
    most_steps: int = 2000  # on labels alone: fewer epochs where there are many labels, but one at least
    steps: int = 2000  # with pseudo-labels
    no_fewer_steps: bool = True  # with pseudo-labels: no fewer than on the labels alone, up to most_steps
    dev_every: int = 50
    dev_at_epoch_end: bool = True  # on labels alone
    labelled_batch: int = 8
    pseudo_batch: int = 32
    pseudo_rate: float = 1.0  # factor of the learning rate with pseudo-labels
    pseudo_constant: bool = False  # with pseudo-labels: that rate throughout, no warm-up and no decay
    freeze_embeddings: bool = False
    fast: bool = True  # use hand-tuned kernels, where plain code would give the same up to rounding
    train_layers: int = 0  # only the last ones, on cached outputs of those below; 0 trains all
    cache_limit: float = 10.0  # gigabytes that these outputs may take; above it they are computed anew
    middle_layers: bool = True  # a probe reads the mean of the middle layers beside the encoder's own embedding
    pooled_head: bool = False  # a linear head on the pooled embedding, begun as a probe; else the encoder family's head
    head_scale: float = 10.0  # by which pooled embeddings of length one are multiplied below that head
    label_contrast: float = 0.0  # weight of the contrastive term on labelled rows, with a pooled head
    temperature: float = 0.1  # of that term
    balanced_batches: bool = False  # labelled rows of a step: as many of each class, in turn


@dataclass(frozen=True)
class Words:
    """What people write in the place of a class; `actune start --set skip_word=pass` changes it for a project."""

    skip_word: str = "skip"  # this text cannot be labelled
    unskip_word: str = "unskip"  # it can after all


SYMBOLS = {
    "K": "regions",
    "M": "regions_used",
    "gamma": "threshold",
    "lambda": "weight",
    "m_L": "momentum_low",
    "m_H": "momentum_high",
    "k": "growth",
}

# settings that were renamed: files that were written before have the former name, which is still read
FORMER_NAMES = {"as_long": "no_fewer_steps", "spread": "confidence_penalty"}

LARGEST = 1_000_000_000  # of a setting without a limit of its own; far above anything that makes sense

Values = TypeVar("Values", Settings, Training)


def full_name(name: str) -> str:
    """The name of a setting that is given by its symbol in the paper, or by a former name."""
    return SYMBOLS.get(name) or FORMER_NAMES.get(name, name)


def override(values: Values, changes: Mapping[str, Any]) -> Values:
    """The same values with some changed, each converted to its field's type."""
    types = {field.name: type(getattr(values, field.name)) for field in fields(values)}
    return replace(values, **{name: _convert(name, types[name], value) for name, value in changes.items()})


def split_changes(changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Sorts `--set` changes into those of the method and those of the training; an unknown name is an error.

    `words_of` has those of the words.
    """
    method: dict[str, Any] = {}
    training: dict[str, Any] = {}
    for given, value in changes.items():
        name = full_name(given)
        if name in asdict(Settings()):
            method[name] = value
        elif name in asdict(Training()):
            training[name] = value
        elif name not in asdict(Words()):
            known = [*asdict(Settings()), *asdict(Training()), *asdict(Words()), *SYMBOLS]
            raise SettingError(f"unknown setting {given!r}: {nearest(given, known)}")
    return method, training


def words_of(changes: Mapping[str, Any], classes: Sequence[str] = ()) -> Words:
    """The words that a project was made with, or a sentence where one of them is a class or they are the same."""
    said = {name: str(value).strip() for name, value in changes.items() if name in asdict(Words())}
    words = Words(**said)
    for name, word in asdict(words).items():
        if not word:
            raise SettingError(f"setting {name!r} takes a word, not {changes[name]!r}")
        if folded(word) in map(folded, classes):
            raise SettingError(f"the class {word!r} is also the {name}: choose another word with --set {name}=WORD")
    if folded(words.skip_word) == folded(words.unskip_word):
        raise SettingError(f"skip_word and unskip_word are both {words.skip_word!r}: choose two different words")
    return words


def _convert(name: str, kind: type, value: Any) -> Any:
    try:
        if kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}[str(value).lower()]
        number = kind(value)
    except (KeyError, ValueError, TypeError, OverflowError):  # int(inf), float(10**400)
        raise SettingError(f"setting {name!r} takes {KIND_NAMES[kind]}, not {told(value)}") from None
    low, high = _LIMITS.get(name, (0, LARGEST))
    if not low <= number <= high:  # nan is not
        said = f"{number:g}" if kind is float or abs(number) <= LARGEST else told(number)
        raise SettingError(f"setting {name!r} must be between {low:,} and {high:,}, not {said}")
    return number


MOST = 10**12  # of a setting without a limit of its own, so that no sum of it is infinite


_LIMITS: dict[str, tuple[float, float]] = {
    "max_tokens": (3, 8192),
    "regions": (1, 10_000),
    "regions_used": (1, 10_000),
    "threshold": (0, 1),
    "power": (0, 1),
    "momentum_low": (0, 1),
    "momentum_high": (0, 1),
    "neighbors": (1, 10_000),
    "samples": (2, 1000),  # one pass cannot disagree with itself
    "teacher_samples": (2, 1000),
    "teacher_rows": (1, 10_000_000),
    "limit": (0, 1),
    "certainty": (0, 1),
    "teacher_every": (0.001, 1),
    "agreeing": (2, 10_000),
    "graph_neighbors": (1, 10_000),
    "graph_alpha": (0, 0.9999),
    "learning_rate": (1e-9, 10),
    "warmup": (0, 1),
    "epochs": (1, 100_000),
    "steps": (1, 10_000_000),
    "most_steps": (1, 10_000_000),
    "dev_every": (1, 10_000_000),
    "labelled_batch": (1, 10_000),
    "pseudo_batch": (1, 10_000),
    "head_scale": (0.01, 1000),
    "temperature": (0.001, 100),
}


def own_settings(pool: int, classes: int) -> Settings:
    """Settings for a user's own data, from the size of its pool and the number of its classes."""
    regions = min(40, max(5, pool // 200))
    return Settings(
        regions=regions,
        regions_used=max(1, regions // 4),
        growth=max(1, round(0.04 * pool)),
        threshold=min(0.9, max(0.6, 1.5 / classes)),
    )
