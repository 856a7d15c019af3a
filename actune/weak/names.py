"""Weak labels from the names of classes: the class whose name, or what is said about it, means most nearly the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from actune.core.class_names import Described

# how a name is read; a mean of both does better than either on data sets whose classes are topics and on others
TEMPLATES = ("{}", "This text is about {}.")
NOTHING = frozenset({"class", "cls", "label", "lbl", "category", "type", "group", "cluster", "topic", "tag", "value"})
WORD = re.compile(r"[^\W\d_]+")
BORDER = re.compile(r"(?<=[a-z])(?=[A-Z])")  # of words that are written as one: OfficeHolder
LINES = re.compile(r"[\s_/\-]+")

# how many texts a name counts for where the centre of its class is looked for, as a share of the mean class; a small
# share moves the centres far from the names
SHARES = (0.1, 0.2, 0.4, 0.8)
KEPT = 0.6  # the agreement (Cohen's kappa) of the moved centres with the names that shows that classes stayed the same
STEPS = 10
SHARPNESS = 0.02  # of the assignment to centres, in cosine
TEMPERATURE = 0.1  # of the probabilities, in cosine

Floats = npt.NDArray[np.floating]
Embed = Callable[[Sequence[str]], Floats]  # unit vectors of texts


def says_something(described: Described) -> bool:
    """Whether a class has a description, or a name with a word in it: not `3`, `B` or `class_a`."""
    if described.phrases:
        return True
    words = [word for word in WORD.findall(spelled(described.name)) if len(word) > 1 or not word.isascii()]
    return any(word not in NOTHING for word in words)


def say_something(classes: Sequence[Described]) -> bool:
    """Whether most of the classes have names or descriptions that mean something."""
    return 2 * sum(map(says_something, classes)) > len(classes)


def spelled(name: str) -> str:
    """A name as words: `OfficeHolder` and `office_holder` as `office holder`."""
    return LINES.sub(" ", BORDER.sub(" ", name)).strip().lower()


def by_names(classes: Sequence[Described], vectors: Floats, embed: Embed) -> Floats:
    """The probability of every class for every text, (texts, classes), by the distance to what is said of it."""
    told = [
        [template.format(spelled(described.name)) for template in TEMPLATES] + list(described.phrases)
        for described in classes
    ]
    embedded = embed([phrase for phrases in told for phrase in phrases])
    ends = np.cumsum([len(phrases) for phrases in told])[:-1]
    names = _unit(np.stack([part.mean(0) for part in np.split(embedded, ends)]))
    # what all texts have in common, and all names, tells nothing about the class
    texts, names = _unit(vectors - vectors.mean(0)), _unit(names - names.mean(0))
    return _shares(texts @ moved_to_texts(names, texts).T / TEMPERATURE)


def moved_to_texts(names: Floats, texts: Floats) -> Floats:
    """The centres of k-means that begins at the names, as far from them as most texts keep their class.

    Classes that are topics are groups of texts, which k-means finds. Where they are not, such as opinions, it finds
    other groups, and the texts change their classes: then the centres stay nearer to the names.
    """
    first = (texts @ names.T).argmax(1)
    for share in SHARES:
        centres = _k_means(names, texts, share * len(texts) / len(names))
        if _kappa(first, (texts @ centres.T).argmax(1), len(names)) >= KEPT:
            return centres
    return names


def _k_means(names: Floats, texts: Floats, strength: float) -> Floats:
    """Soft k-means in which each name counts as so many texts of its class."""
    centres = names
    for _ in range(STEPS):
        shares = _shares(texts @ centres.T / SHARPNESS)
        centres = _unit(shares.T @ texts + strength * names)
    return centres


def _kappa(some: npt.NDArray[np.int64], others: npt.NDArray[np.int64], classes: int) -> float:
    """Cohen's kappa: the agreement beyond that of labels which are dealt out in the same proportions."""
    shares = [np.bincount(each, minlength=classes) / len(each) for each in (some, others)]
    expected = float(shares[0] @ shares[1])
    return (float((some == others).mean()) - expected) / max(1 - expected, 1e-9)


def _unit(vectors: Floats) -> Floats:
    found: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return found


def _shares(likeness: Floats) -> Floats:
    raised = np.exp(likeness - likeness.max(1, keepdims=True))
    found: Floats = raised / raised.sum(1, keepdims=True)
    return found
