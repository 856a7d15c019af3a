"""Names of classes as people write them: another case, spaces around, or another Unicode form of the same letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from unicodedata import normalize


def folded(name: str) -> str:
    """What names have in common that differ only in case, surrounding space or Unicode form."""
    return normalize("NFC", normalize("NFC", name).strip().casefold())


def matcher(classes: Sequence[str]) -> Callable[[str], str | None]:
    """A function that gives the class that a name means, or None; an exact match wins.

    Where two classes differ only in what is folded away, both need their exact spelling.
    """
    counts = Counter(map(folded, classes))
    class_of = {folded(name): name for name in classes if counts[folded(name)] == 1}
    exact = set(classes)
    return lambda name: name if name in exact else class_of.get(folded(name))


def matches(names: Iterable[str], classes: Sequence[str]) -> dict[str, str]:
    """The class that each name means, without the names that mean none."""
    match = matcher(classes)
    return {name: meant for name in names if (meant := match(name)) is not None}


def alike(names: Iterable[str]) -> list[tuple[str, ...]]:
    """The names that differ only in case, surrounding space or Unicode form, in groups."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(folded(name), []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]
