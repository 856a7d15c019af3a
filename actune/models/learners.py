"""The learners by name: what each can do, its training recipe on each device, and what a round would cost.

Whoever needs to know what a learner can do asks its `LearnerKind`; nobody compares names. A learner of another package
is found by an entry point of the group `actune.learners` that has the learner's name and leads to its `LearnerKind`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from actune.core.settings import Training
from actune.errors import SettingError, nearest

if TYPE_CHECKING:
    import torch

    from actune.core.classifier import Learner
    from actune.models.finetuning import FineTuning
    from actune.models.tokens import Tokens

GROUP = "actune.learners"  # of entry points
AUTO = "auto"  # no learner: the choice of one, by what this machine can do
READ_TEXTS = 32  # of a sample, to learn how long a text takes
AUTO_HELP = (
    "chooses by machine: finetune on a GPU; on a CPU finetune, the upper half of the layers, or probe with one final "
    "fine-tuning"
)

PAPER_RECIPE, CONTRASTIVE_RECIPE = "paper", "contrastive"
RECIPES = {
    PAPER_RECIPE: "the fine-tuning of the paper: the encoder family's own head, which begins at random",
    CONTRASTIVE_RECIPE: "a linear head on the pooled embedding, which begins as a probe, and a contrastive term in the "
    "loss: needs fewer labels",
}

PAPER = Training()
# a third of the weights and the slowest gradients; benchmarks/speed/accuracy.py measures what that costs
GPU = Training(freeze_embeddings=True)
# chosen by benchmarks/cpu_recipe.py: a higher rate needs fewer steps, and embeddings are half of a small encoder
CPU = Training(learning_rate=1e-4, steps=150, dev_at_epoch_end=False, freeze_embeddings=True)
# benchmarks/few/learner.py: 45 epochs of 24 rows are as many steps as the paper's 15 of 8
CONTRASTIVE = Training(
    learning_rate=3e-5,
    epochs=45,
    labelled_batch=24,
    pooled_head=True,
    label_contrast=1.0,
    balanced_batches=True,
    freeze_embeddings=True,
)
CONTRASTIVE_CPU = replace(CONTRASTIVE, learning_rate=1e-4, epochs=30, steps=150, dev_at_epoch_end=False)
# a head has learnt long before its epochs are over
PROBE = Training(learning_rate=3e-3, epochs=30, steps=600, no_fewer_steps=False, dev_at_epoch_end=False)


WITH_TRANSFORMERS = """With transformers alone:

```python
from transformers import pipeline

classify = pipeline("text-classification", "FOLDER", truncation=True, max_length={max_tokens})
for found in classify(["a first text", "a second text"]):
    print(found["label"], found["score"])
```"""
WITH_SENTENCE_TRANSFORMERS = """With sentence-transformers alone; the last module returns the logits of the classes:

```python
import json
from pathlib import Path

from sentence_transformers import SentenceTransformer

model = SentenceTransformer("FOLDER")
classes = json.loads(Path("FOLDER", "actune.json").read_text(encoding="utf-8"))["classes"]
logits = model.encode(["a first text", "a second text"], convert_to_tensor=True)
for row in logits.softmax(1).tolist():
    print(classes[row.index(max(row))], max(row))
```"""

WITH_TRANSFORMERS_ALONE = """With transformers alone:

```python
import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer

folder = Path("FOLDER")
about = json.loads((folder / "probe.json").read_text(encoding="utf-8"))
head = load_file(folder / "head.safetensors")
encoder = AutoModel.from_pretrained(folder / "encoder").eval()
tokenizer = AutoTokenizer.from_pretrained(folder / "encoder")
texts = ["a first text", "a second text"]
batch = tokenizer(texts, truncation=True, max_length={max_tokens}, padding=True, return_tensors="pt")
mask = batch["attention_mask"][..., None]


def pooled(states):
    found = {{
        "mean": (states * mask).sum(1) / mask.sum(1),
        "cls": states[:, 0],
        "max": states.masked_fill(mask == 0, -torch.inf).amax(1),
    }}[about["pooling"]]
    return torch.nn.functional.normalize(found, dim=1)


with torch.inference_mode():
    read = encoder(**batch, output_hidden_states=True)
    embedding = pooled(read.last_hidden_state)
    if about["middle_layers"]:
        middle = pooled(sum(read.hidden_states[layer] for layer in about["middle_layers"]))
        share = about["own_share"]
        embedding = torch.cat([embedding * share**0.5, middle * (1 - share) ** 0.5], 1)
    hidden = torch.relu(embedding @ head["hidden.weight"].T + head["hidden.bias"])
    logits = hidden @ head["out.weight"].T + head["out.bias"]
for row in logits.softmax(1).tolist():
    print(about["classes"][row.index(max(row))], max(row))
```"""


class Price(NamedTuple):
    """Roughly what a learner takes, for plans of experiments."""

    step: float  # seconds of a training step
    text: float  # seconds of reading a text


class RoundSize(NamedTuple):
    """What decides how long a round takes."""

    texts: int
    dev: int
    labels: int
    trusts: bool  # it learns from pseudo-labels too


@dataclass(frozen=True)
class SavedForm:
    """How another library uses a saved classifier."""

    library: str = "actune"  # for the model card
    usage: str = ""  # Markdown for the card: how that library uses it, with the texts' {max_tokens}
    write_modules: Callable[[Path, int], None] | None = None  # adds what the library needs to a saved model


@dataclass(frozen=True)
class LearnerKind:
    """A learner that runs can name, how it is made, and what it can do."""

    name: str
    help: str
    make: Callable[[Path, int, int, Training, torch.device], Learner]  # encoder, classes, max_tokens, recipe, device
    recipe: Callable[[str], Training]  # the paper's one, or the only one, on a kind of device: cpu, cuda
    saved_file: str  # JSON in the folder of a saved classifier: its `classes`, and `encoder` where that is frozen
    is_frozen_encoder: bool  # a classifier stands on the run's encoder; else it brings its own
    has_dropout: Callable[[Path], bool] = lambda folder: False  # whether several passes over a text differ
    perturbs_words: bool = False  # it can take small steps in the word embeddings
    trains_layers: bool = False  # it can train the last layers alone (`train_layers`)
    keeps_prepared_pool: Callable[[Training], bool] = lambda recipe: True  # other runs may use its prepared texts
    keeps_checkpoints: bool = False  # its attribute `checkpoints` may be a folder, from which killed fits go on
    reorder: Callable[[Any, Sequence[int]], None] | None = None  # brings a classifier's outputs into another order
    recipes: Mapping[str, Callable[[str], Training]] = field(default_factory=dict)  # further ones, by name
    saved: SavedForm = SavedForm()
    saved_pooled: SavedForm = SavedForm()  # of a classifier with a pooled head
    prices: Mapping[str, Price] = field(default_factory=dict)  # by the kind of device
    version: int = 1  # raised when a fix changes what its models come out with: cells of `bench` are told apart by it
    automatic: bool = False  # `auto` may choose it: the first learner that a machine can afford
    # seconds of rounds of some sizes, timed on a sample of texts that the learner has prepared; None costs little
    estimate_rounds: Callable[[Any, Any, Sequence[RoundSize]], list[float]] | None = None

    def price_on(self, device: str) -> Price:
        """Its price on a kind of device, or a high one where it does not say."""
        return self.prices.get(device, Price(0.07, 0.004))

    def saved_here(self, folder: Path) -> bool:
        """Whether the folder holds a classifier of this learner."""
        return (folder / self.saved_file).is_file()

    def form(self, pooled: bool) -> SavedForm:
        return self.saved_pooled if pooled else self.saved


LEARNERS: dict[str, LearnerKind] = {}


def register(kind: LearnerKind) -> LearnerKind:
    """Makes a learner known by its name."""
    if kind.name == AUTO or LEARNERS.get(kind.name, kind) != kind:
        raise SettingError(f"there is already a learner {kind.name!r}: choose another name")
    return LEARNERS.setdefault(kind.name, kind)


def find_learner(name: str) -> LearnerKind:
    """The learner called `name`, registered here or by an installed package."""
    if name in LEARNERS:
        return LEARNERS[name]
    for entry in entry_points(group=GROUP, name=name):
        return register(_loaded(entry))
    installed = entry_points(group=GROUP).names
    raise SettingError(
        f"unknown learner {name!r}: {nearest(name, {AUTO, *LEARNERS, *installed})}; "
        "a learner of another package must be installed with that package"
    )


def _loaded(entry: EntryPoint) -> LearnerKind:
    package = entry.dist.name if entry.dist else entry.value
    try:
        kind = entry.load()
    except Exception as error:  # a package of somebody else may raise anything
        raise SettingError(
            f"the learner {entry.name!r} of the package {package} cannot be loaded: {error!r}"
        ) from error
    if not isinstance(kind, LearnerKind) or kind.name != entry.name:
        raise SettingError(
            f"the entry point {entry.name!r} of the package {package} is {kind!r}: it must be a LearnerKind with this "
            "name"
        )
    return kind


def all_learners() -> list[LearnerKind]:
    """All learners, those of installed packages included; one that cannot be loaded is left out."""
    for entry in entry_points(group=GROUP):
        with suppress(SettingError):
            find_learner(entry.name)
    return list(LEARNERS.values())


def described() -> dict[str, str]:
    """What `--learner` takes, each with its help."""
    return {AUTO: AUTO_HELP, **{kind.name: kind.help for kind in all_learners()}}


def check_learner(name: str) -> str:
    return name if name == AUTO else find_learner(name).name


def final_learner() -> LearnerKind:
    """The learner that trains the encoder once at the end, where the rounds had a frozen one."""
    return next(kind for kind in LEARNERS.values() if kind.automatic and not kind.is_frozen_encoder)


def recipe_for(learner: str, device: str, recipe: str = PAPER_RECIPE) -> Training:
    """A learner's recipe of this name on a kind of device; a learner that has no such recipe uses its only one."""
    kind = find_learner(learner)
    return kind.recipes.get(recipe, kind.recipe)(device)


def make_learner(
    name: str, folder: Path, classes: int, max_tokens: int, recipe: Training, device: torch.device
) -> Learner:
    """The learner called `name` on the encoder in `folder`."""
    return find_learner(name).make(folder, classes, max_tokens, recipe, device)


def estimate_rounds(learner: FineTuning, sample: Tokens, sizes: Sequence[RoundSize]) -> list[float]:
    """Seconds of a round of each size: three timed steps on a few texts of a sample and one small read, scaled up.

    A step on pseudo-labels too is not run: their share of it is priced as three reads, forward once and backward twice.
    """
    import numpy as np

    from actune.core.objective import Objective
    from actune.core.streams import Streams
    from actune.core.training_set import PseudoLabels, TrainingSet

    few, some = (
        np.unique(np.linspace(0, len(sample) - 1, most).astype(np.int64))
        for most in (learner.recipe.labelled_batch, READ_TEXTS)
    )
    trial = copy(learner)
    trial.recipe = replace(learner.recipe, epochs=3, most_steps=3)
    training = TrainingSet(few, np.arange(len(few)) % learner.classes, PseudoLabels.none())
    marks: list[float] = []
    classifier = trial.fit(
        sample, training, Objective(), Streams(0), progress=lambda *_: marks.append(time.perf_counter())
    )
    step = min(np.diff(marks).tolist())  # the first step warms up, and another program may be at work in the second
    start = time.perf_counter()
    classifier.read(sample.only(some))
    per_text = (time.perf_counter() - start) / len(some)
    return [_seconds(size, learner.recipe, step, per_text) for size in sizes]


def _seconds(size: RoundSize, recipe: Training, step: float, per_text: float) -> float:
    from actune.core.objective import Objective
    from actune.models.training import epochs_of, steps_alone, steps_with

    if size.trusts:
        steps, looks = steps_with(size.labels, Objective(), recipe), 0
        step += 3 * recipe.pseudo_batch * per_text
    else:
        steps, looks = steps_alone(size.labels, recipe), epochs_of(size.labels, recipe) * recipe.dev_at_epoch_end
    looks += 1 + steps // recipe.dev_every
    return steps * step + (looks * size.dev + size.texts) * per_text


def _make_finetuning(folder: Path, classes: int, max_tokens: int, recipe: Training, device: torch.device) -> Learner:
    if recipe.train_layers:
        from actune.models.layers import UpperLayers

        return UpperLayers(folder, classes, max_tokens, recipe, device)
    from actune.models.finetuning import FineTuning

    return FineTuning(folder, classes, max_tokens, recipe, device)


def _make_probing(folder: Path, classes: int, max_tokens: int, recipe: Training, device: torch.device) -> Learner:
    from actune.models.probing import Probing

    return Probing(folder, classes, max_tokens, recipe, device)


def _encoder_has_dropout(folder: Path) -> bool:
    from actune.models.sampling import has_dropout

    return has_dropout(folder)


def _reorder_finetuned(classifier: Any, order: Sequence[int]) -> None:
    from actune.models.finetuning import last_linear
    from actune.models.heads import reorder_outputs

    reorder_outputs(last_linear(classifier.network), order)


def _reorder_probed(classifier: Any, order: Sequence[int]) -> None:
    from actune.models.heads import reorder_outputs

    reorder_outputs(classifier.network.out, order)


def _describe_probe(folder: Path, max_tokens: int) -> None:
    from actune.models.modules import describe_probe

    describe_probe(folder, max_tokens)


def _write_pooled(folder: Path, max_tokens: int) -> None:
    from actune.models.modules import write_pooled

    write_pooled(folder, max_tokens)


# prices: minilm on two cores, mpnet on one H200
register(
    LearnerKind(
        name="finetune",
        help="trains the whole encoder, from its pretrained weights in every round",
        make=_make_finetuning,
        recipe=lambda device: CPU if device == "cpu" else GPU,
        saved_file="config.json",
        is_frozen_encoder=False,
        has_dropout=_encoder_has_dropout,
        perturbs_words=True,
        trains_layers=True,
        keeps_prepared_pool=lambda recipe: not recipe.train_layers,  # with them, prepared texts hold an encoder
        keeps_checkpoints=True,
        reorder=_reorder_finetuned,
        recipes={CONTRASTIVE_RECIPE: lambda device: CONTRASTIVE_CPU if device == "cpu" else CONTRASTIVE},
        saved=SavedForm("transformers", WITH_TRANSFORMERS),
        saved_pooled=SavedForm("sentence-transformers", WITH_SENTENCE_TRANSFORMERS, _write_pooled),
        prices={"cpu": Price(0.07, 0.004), "cuda": Price(0.008, 0.0002)},
        automatic=True,
        estimate_rounds=estimate_rounds,
    )
)
register(
    LearnerKind(
        name="probe",
        help="trains a small network on frozen embeddings",
        make=_make_probing,
        recipe=lambda device: PROBE,
        saved_file="probe.json",
        is_frozen_encoder=True,
        has_dropout=lambda folder: True,  # its head has
        reorder=_reorder_probed,
        saved=SavedForm("transformers", WITH_TRANSFORMERS_ALONE, _describe_probe),
        prices={"cpu": Price(0.0012, 0.000002), "cuda": Price(0.002, 0.000001)},
        version=3,  # it reads the middle layers too
        automatic=True,
    )
)
