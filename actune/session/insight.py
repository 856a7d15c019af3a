"""What the stored arrays of the rounds tell about single texts: why one was asked, where people and model disagree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from actune.core.checks import checked_count
from actune.core.training_set import PseudoLabels
from actune.errors import DataError, RunFolderError
from actune.session.record import RunRecord
from actune.store.records import Mark

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MEMORY = 10  # rounds whose predictions `why` tells


@dataclass(frozen=True)
class Suggestion:
    """The class that the model of the newest round says, and how sure it is."""

    label: str
    confidence: float


@dataclass(frozen=True)
class Disagreement:
    """A labelled text on which the model says something else."""

    id: str
    text: str
    label: str
    by: str
    predicted: str
    confidence: float


@dataclass(frozen=True)
class PseudoRow:
    """A text with a pseudo-label."""

    id: str
    text: str
    label: str
    confidence: float | None
    region: int | None


@dataclass(frozen=True)
class PseudoRegion:
    """A region of the pool, and how many pseudo-labels lie in it."""

    number: int
    pseudo_labels: int


@dataclass(frozen=True)
class PseudoPage:
    """Some pseudo-labels, the most confident first, of so many in all.

    `regions` are those in which there are any, whatever was asked for; the first one is the one with the most heat.
    """

    total: int
    rows: tuple[PseudoRow, ...]
    regions: tuple[PseudoRegion, ...] = ()


@dataclass(frozen=True)
class MapPoint:
    """A text on the map of the pool."""

    id: str
    x: float
    y: float
    predicted: str | None
    confidence: float | None
    label: str | None
    region: int | None
    asked: bool


@dataclass(frozen=True)
class MapPoints:
    """A sample of the pool in two dimensions, as the model of a round saw it; heat is that of each region."""

    round: int
    points: tuple[MapPoint, ...]
    heat: tuple[float, ...]


class Insight(RunRecord):
    """The verbs that look at what rounds have kept; none touches a model."""

    def suggestion(self, id: str) -> Suggestion | None:
        """What the model of the newest round says about a text; nothing about one of the audit sample."""
        (row,) = self._rows([id])
        self.refresh()
        return None if row in self.audit_rows else self._seen(self.selected - 1, row)

    def why(self, id: str) -> dict[str, Any]:
        """Why this text was asked, and what the models of all rounds have said about it, the newest first."""
        (row,) = self._rows([id])
        self.refresh()
        chosen = self.selected - 1
        if row in self.audit_rows:
            return {"id": id, "audit": True, "asked": None, "predictions": []}
        predictions = []
        for round in range(chosen, max(0, chosen - MEMORY), -1):
            if (seen := self._seen(round, row)) is not None:
                predictions.append({"round": round - 1, "label": seen.label, "confidence": seen.confidence})
        return {"id": id, "audit": False, "asked": self._asked(chosen, row), "predictions": predictions}

    def _asked(self, round: int, row: int) -> dict[str, Any] | None:
        """How the choice for a round saw an asked row: uncertainty, likeliest classes, neighbours, region."""
        arrays = self._arrays(round)
        if "why_rows" not in arrays or not len(places := (arrays["why_rows"] == row).nonzero()[0]):
            return None
        place = int(places[0])
        top = zip(arrays["why_top"][place].tolist(), arrays["why_top_confidence"][place].tolist(), strict=True)
        found: dict[str, Any] = {
            "round": round,
            "entropy": float(arrays["why_entropy"][place]),
            "margin": float(arrays["why_margin"][place]),
            "top": [{"label": self._named(number), "confidence": sure} for number, sure in top],
            "neighbours": [],
            "region": None,
        }
        if "why_near" in arrays:
            labels = self._labels_on(rows := arrays["why_near"][place].tolist())
            near = zip(rows, arrays["why_similarity"][place].tolist(), strict=True)
            found["neighbours"] = [
                {
                    "id": self.pool.ids[other],
                    "text": self.pool.texts[other],
                    "label": self.pool.classes[labels[other]] if other in labels else None,
                    "similarity": similar,
                }
                for other, similar in near
            ]
        if "why_regions" in arrays and (region := int(arrays["why_regions"][place])) >= 0:
            heat = arrays["why_heat"]
            rank = int((heat > heat[region]).sum()) + 1
            found["region"] = {"number": region, "heat": float(heat[region]), "rank": rank, "of": len(heat)}
        return found

    def disagreements(self, limit: int = 50, hidden: Collection[int] = ()) -> list[Disagreement]:
        """Labelled texts on which the model of the newest round says something else, the surest first.

        Those that somebody kept come again when the label or the prediction is another one. `hidden` rows are left out.
        """
        import numpy as np

        limit, arrays = checked_count(limit, "limit") or 50, self._arrays(self.selected - 1)
        if "seen_classes" not in arrays:
            return []
        labels = self.labels().without(hidden)
        seen = arrays["seen_classes"]
        rows = np.asarray([row for row in sorted(labels.of_row) if row < len(seen)], np.int64)
        said = np.asarray([labels.of_row[row] for row in rows.tolist()], np.int64)
        predicted = self._meanings()[seen[rows]]
        differ = (predicted != said) & (predicted >= 0)
        for mark in self.store.marked("keep"):
            place = np.searchsorted(rows, mark.row)
            if place < len(rows) and rows[place] == mark.row:
                differ[place] &= mark.value != kept(int(said[place]), int(predicted[place]))
        rows, predicted = rows[differ], predicted[differ]
        sure = arrays["seen_confidence"][rows]
        order = np.argsort(-sure.astype(np.float32), kind="stable")[:limit]
        found = []
        for place in order.tolist():
            row = int(rows[place])
            if (word := self.store.word_on(row)) is None or word.label is None:
                continue  # somebody took it back just now
            names = self.pool.classes[word.label], self.pool.classes[int(predicted[place])]
            id, text = self.pool.ids[row], self.pool.texts[row]
            found.append(Disagreement(id, text, names[0], word.by, names[1], float(sure[place])))
        return found

    def keep_label(
        self, id: str, label: str, predicted: str, by: str = "person", client: str | None = None, keep: bool = True
    ) -> None:
        """Confirms the label of a text although the model predicts another one; without `keep` takes that back."""
        (row,) = self._rows([id])
        self.refresh()
        word, seen = self.store.word_on(row), self._seen(self.selected - 1, row)
        if keep and (word is None or word.label is None or self.pool.classes[word.label] != label):
            raise DataError(f"the label {label!r} does not stand on the text {id!r} any more: look at the list again")
        if keep and (seen is None or seen.label != predicted):
            raise DataError(f"the model does not predict {predicted!r} for {id!r} any more: look at the list again")
        value = kept(self.pool.class_number(label), self.pool.class_number(predicted)) if keep else None
        self.store.mark([Mark(row, "keep", value, by, client)])

    def pseudo_labels(
        self,
        label: str | None = None,
        min_confidence: float | None = None,
        region: int | None = None,
        offset: int = 0,
        limit: int = 50,
    ) -> PseudoPage:
        """The newest pseudo-labels that still count: of one class or region, and at least so sure."""
        import numpy as np

        found, memory = self._standing_pseudo_labels()
        sure = confidences(found, self.usable_memory(memory))
        regions = self._regions(found.rows)
        keep = np.ones(len(found), bool)
        if label is not None:
            keep &= found.targets == self.pool.class_number(label)
        if min_confidence is not None:
            keep &= ~(sure < min_confidence)
        if region is not None:
            keep &= regions == region
        places = np.flatnonzero(keep)
        places = places[np.argsort(-np.nan_to_num(sure[places]), kind="stable")]
        shown = places[max(0, offset) : max(0, offset) + limit].tolist()
        rows = tuple(
            PseudoRow(
                self.pool.ids[int(found.rows[place])],
                self.pool.texts[int(found.rows[place])],
                self.pool.classes[int(found.targets[place])],
                None if np.isnan(sure[place]) else round(float(sure[place]), 4),
                int(regions[place]) if regions[place] >= 0 else None,
            )
            for place in shown
        )
        return PseudoPage(len(places), rows, self._regions_with(regions))

    def pseudo_labels_on(self, ids: Iterable[str]) -> dict[str, str]:
        """The pseudo-labels of these texts that still count."""
        import numpy as np

        ids = list(ids)
        rows, (found, _) = self._rows(ids), self._standing_pseudo_labels()
        wanted = np.isin(found.rows, rows)
        target = dict(zip(found.rows[wanted].tolist(), found.targets[wanted].tolist(), strict=True))
        return {id: self.pool.classes[target[row]] for id, row in zip(ids, rows, strict=True) if row in target}

    def _standing_pseudo_labels(self) -> tuple[PseudoLabels, Any]:
        """The newest pseudo-labels of texts that nobody has answered or skipped, and the memory bank behind them."""
        _, found, memory = self.newest_choice()
        if not len(found):
            return found, memory
        labels = self.labels()
        return self.usable(found).without({*labels.of_row, *labels.skipped}), memory

    def map_points(self) -> MapPoints | None:
        """The newest map of the pool: the two directions in which the embeddings of a sample spread most."""
        import numpy as np

        chosen = self.selected - 1
        arrays = self._arrays(chosen)
        if "map_rows" not in arrays:
            return None
        self.refresh()
        rows, numbers = (arrays[name].tolist() for name in ("map_rows", "map_classes"))
        labels = self._labels_on(rows)
        nothing, width = [None] * len(rows), arrays["map_points"].shape[1]
        points = np.pad(arrays["map_points"].astype(np.float32), ((0, 0), (0, max(0, 2 - width))))[:, :2].tolist()
        regions = arrays["map_regions"].tolist() if "map_regions" in arrays else [-1] * len(rows)
        asked = {question.row for question in self.store.questions(chosen)}
        hidden = () if self.audit_released else {*self.audit_rows}
        sure = arrays["seen_confidence"][rows].tolist() if "seen_confidence" in arrays else nothing
        said = [None if row in hidden else self._named(number) for row, number in zip(rows, numbers, strict=True)]
        found = tuple(
            MapPoint(
                self.pool.ids[row],
                x,
                y,
                named,
                None if named is None else confidence,
                self.pool.classes[labels[row]] if row in labels else None,
                region if region >= 0 else None,
                row in asked,
            )
            for row, (x, y), named, confidence, region in zip(rows, points, said, sure, regions, strict=True)
        )
        return MapPoints(chosen - 1, found, tuple(arrays["map_heat"].tolist() if "map_heat" in arrays else ()))

    # what lies behind these verbs

    def _labels_on(self, rows: Sequence[int]) -> dict[int, int]:
        """The labels of some rows; those of all texts may be a million."""
        return {word.row: word.label for word in self.store.words_on(rows) if word.label is not None}

    def _arrays(self, round: int) -> dict[str, Any]:
        """The arrays of the choice for a round; those of the newest rounds are kept in memory."""
        if round < 1:
            return {}
        with self._lock:
            kept: dict[int, dict[str, Any]] = self.__dict__.setdefault("_kept_arrays", {})
            if round not in kept:
                name = f"select-{round:03d}"
                try:
                    found = self.store.load_arrays(name) if self.store.has_arrays(name) else {}
                except RunFolderError:  # `actune verify` tells; the page goes on without them
                    found = {}
                kept[round] = {key: found[key] for key in found if key.startswith(("seen_", "why_", "map_"))}
                for old in sorted(kept)[: -MEMORY - 1]:
                    del kept[old]
            return kept[round]

    def least_sure_first(self, round: int) -> npt.NDArray[np.int64] | None:
        """All rows that the model before a round read, the least sure first; kept, as a server wants them often."""
        import numpy as np

        arrays = self._arrays(round)
        with self._lock:
            if "seen_order" not in arrays and "seen_confidence" in arrays:
                arrays["seen_order"] = np.argsort(arrays["seen_confidence"].astype(np.float32), kind="stable")
            return arrays.get("seen_order")

    def _seen(self, round: int, row: int) -> Suggestion | None:
        arrays = self._arrays(round)
        if "seen_classes" not in arrays or row >= len(arrays["seen_classes"]):
            return None  # a text that was added later
        label = self._named(int(arrays["seen_classes"][row]))
        return None if label is None else Suggestion(label, float(arrays["seen_confidence"][row]))

    def _named(self, number: int) -> str | None:
        """The name of the class that a number stands for now."""
        now = self.meaning(number)
        return None if now is None else self.pool.classes[now]

    def _meanings(self) -> npt.NDArray[np.int64]:
        """The class that each number stands for now, -1 where none does."""
        import numpy as np

        found = (self.meaning(number) for number in range(len(self.pool.classes)))
        return np.asarray([-1 if number is None else number for number in found], np.int64)

    def _regions(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The region of each row, -1 outside of all; of earlier versions as far as the newest map shows it."""
        import numpy as np

        arrays = self._arrays(self.selected - 1)
        found = np.full(len(self.pool), -1, np.int64)
        if "seen_regions" in arrays:
            found[: len(arrays["seen_regions"])] = arrays["seen_regions"]
        elif "map_regions" in arrays:
            found[arrays["map_rows"]] = arrays["map_regions"]
        return found[rows]

    def _regions_with(self, regions: npt.NDArray[np.int64]) -> tuple[PseudoRegion, ...]:
        """The regions that occur, the hottest first."""
        import numpy as np

        heat = self._arrays(self.selected - 1).get("map_heat")
        if heat is None:
            return ()
        counts = np.bincount(regions[regions >= 0], minlength=len(heat))
        order = np.argsort(-heat, kind="stable").tolist()
        return tuple(PseudoRegion(number, int(counts[number])) for number in order if counts[number])


def kept(label: int, predicted: int) -> str:
    """What a mark says about a label that stays against this prediction."""
    return f"{label} {predicted}"


def confidences(found: Any, memory: Any) -> npt.NDArray[np.float64]:
    """How sure the model is of each pseudo-label; NaN where that was not kept."""
    import numpy as np

    sure: Sequence[float] | None = found.confidence
    if memory is not None and memory.ndim == 2 and len(memory) > max(found.rows, default=-1):
        sure = memory[found.rows, np.minimum(found.targets, memory.shape[1] - 1)]
    return np.full(len(found), np.nan) if sure is None else np.asarray(sure, np.float64)
