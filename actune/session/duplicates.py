"""Near-duplicates in a project: finding their groups, showing them, and giving one answer to a whole group."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from actune.core.progress import Progress, silent
from actune.data.duplicates import groups_within_bounds, has_more_letters, similarity
from actune.errors import DataError
from actune.session.record import GROUP_OF, GROUPS, RunRecord
from actune.store.records import Said, Word

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SMALL = 2_000_000  # letters of a pool whose groups are found at once: it takes less than a second
SHOWN = 8  # texts of a group
Which = Literal["all", "partly", "differ", "none"]
State = Literal["off", "waiting", "ready"]


@dataclass(frozen=True)
class Member:
    """A text of a group, and how similar it is to the first one."""

    id: str
    text: str
    similarity: float
    label: str | None
    skipped: bool
    applied: bool  # its label was applied to it, and nobody has read it


@dataclass(frozen=True)
class Group:
    """Texts that are nearly the same: the labelled ones first, then in row order; at most some of them are shown."""

    id: str  # of its first text
    size: int
    labels: dict[str, int]  # how many texts have each label
    open: int  # texts without an answer
    audit: bool  # one of them is in the audit sample, so none is trained on
    members: tuple[Member, ...]


@dataclass(frozen=True)
class GroupPage:
    """Some groups, the largest first, of so many in all, with so many texts."""

    state: State
    compared: bool  # false in a pool so large that only equal texts are grouped
    similarity: float
    texts: int  # that have been looked at
    total: int
    grouped: int  # texts in these groups
    groups: tuple[Group, ...] = ()


class NearDuplicates(RunRecord):
    """The verbs about near-duplicates. Without --distinct there are no groups, and these verbs change nothing."""

    progress: Progress = silent

    def find_groups(self, only_small: bool = False) -> bool:
        """Looks for near-duplicates among all texts, where that was not done since the last ones were added.

        It takes about half a minute for a million short texts. Gives whether anything was done.
        """
        request = self.config.request
        if not request.distinct or request.simulated:
            return False
        self.refresh()
        texts = self.pool.texts
        known = self.store.fact(GROUPS)
        if known is not None and known["texts"] == len(texts) and self.group_of is not None:
            return False
        if only_small and has_more_letters(texts, SMALL):
            return False
        self.progress("compare", 0, 1)
        group_of, compared = groups_within_bounds(texts, request.distinct)
        self.store.save_arrays(GROUPS, {GROUP_OF: group_of})
        self.store.set_fact(GROUPS, {"texts": len(texts), "compared": compared})
        self.__dict__.pop("_groups", None)
        if "prepared" in self.__dict__:
            self.__dict__["prepared"].group_of = self.group_of
        self.progress("compare", 1, 1)
        return True

    def near_duplicates(
        self, which: Which = "all", offset: int = 0, limit: int = 20, hidden: Collection[int] = ()
    ) -> GroupPage:
        """The groups of more than one text: all of them, those that are partly labelled, or labelled differently.

        What people said about `hidden` rows is left out.
        """
        import numpy as np

        self.refresh()
        wanted, group_of, facts = self.config.request.distinct, self.group_of, self.store.fact(GROUPS)
        if group_of is None or facts is None:
            return GroupPage("waiting" if wanted else "off", True, wanted, 0, 0, 0)
        labels = self.store.labels().without(hidden)
        sizes = np.bincount(group_of, minlength=len(group_of))
        chosen = np.flatnonzero(sizes > 1)
        if which != "all":
            chosen = chosen[self._kinds(group_of, chosen, labels.of_row) == which]
        order = np.lexsort((chosen, -sizes[chosen]))
        page = chosen[order[max(0, offset) : max(0, offset) + limit]]
        shown = tuple(self._group(int(number), np.flatnonzero(group_of == number), hidden) for number in page)
        grouped = int(sizes[chosen].sum())
        return GroupPage("ready", facts["compared"], wanted, facts["texts"], len(chosen), grouped, shown)

    def open_near_duplicates(self, ids: Iterable[str]) -> dict[str, int]:
        """How many near-duplicates of each of these texts an answer could be applied to."""
        ids = list(ids)
        return {id: len(self._open_beside(row)) for id, row in zip(ids, self._rows(ids), strict=True)}

    def apply_to_near_duplicates(self, id: str, label: str, by: str = "person", client: str | None = None) -> list[str]:
        """Gives the label that stands on a text to those of its near-duplicates that have no answer.

        These answers are this person's, and the log says that nobody has read their texts. Gives the ids.
        """
        (row,) = self._rows([id])
        if client is not None and self.store.knows_client(by, _part(client, 0)):
            return self.applied_from(id, by)
        if not (rows := self._open_beside(row)):
            return []  # before the label is compared: where several people answer, nobody is told what others said
        word, number = self.store.word_on(row), self.pool.class_number(label)
        if word is None or word.label != number:
            raise DataError(f"the label {label!r} does not stand on the text {id!r} any more, so it was not applied")
        held = {lease.row for lease in self.store.leases() if lease.by != by}
        said = [
            Said(other, "label", number, by, client=client and _part(client, place), applied=row)
            for place, other in enumerate(other for other in rows if other not in held)
        ]
        self.store.tell(said)
        return [self.pool.ids[each.row] for each in said]

    def take_back_applied(self, id: str, by: str = "person", client: str | None = None) -> list[str]:
        """Takes back what was applied from a text by this person and nobody has confirmed since. Gives the ids."""
        (row,) = self._rows([id])
        if client is not None and self.store.knows_client(by, _part(client, 0)):
            return []
        words = self._applied_from(row, by)
        self.store.tell(
            [
                Said(word.row, "clear", None, by, client=client and _part(client, place))
                for place, word in enumerate(words)
            ]
        )
        return [self.pool.ids[word.row] for word in words]

    def applied_from(self, id: str, by: str) -> list[str]:
        """The near-duplicates on which the label of a text stands because this person applied it."""
        (row,) = self._rows([id])
        return [self.pool.ids[word.row] for word in self._applied_from(row, by)]

    def _applied_from(self, row: int, by: str) -> list[Word]:
        words = self.store.words_on([other for other in self._beside(row) if other != row])
        said = self.store.said([word.number for word in words])
        return [word for word in words if word.by == by and said[word.number].applied == row]

    def _beside(self, row: int) -> list[int]:
        """The rows of the group of a row."""
        import numpy as np

        group_of = self.group_of
        if group_of is None:
            return [row]
        return np.flatnonzero(group_of == group_of[row]).tolist()

    def _open_beside(self, row: int) -> list[int]:
        """The near-duplicates of a row without an answer; none where one of the group is in the audit sample.

        Where several people answer a text, what one of them says is not applied, and nothing is applied to such a text.
        """
        rows = self._beside(row)
        if len(rows) < 2 or row in self.held_out_rows or row in (shared := self.shared_rows(rows)):
            return []
        closed = {row, *(word.row for word in self.store.words_on(rows)), *shared}
        return [other for other in rows if other not in closed]

    def _kinds(
        self, group_of: npt.NDArray[np.int64], chosen: npt.NDArray[np.int64], of_row: dict[int, int]
    ) -> npt.NDArray[np.str_]:
        """What is labelled of each of these groups: none, partly, all of it alike, or differently."""
        import numpy as np

        rows = np.fromiter(of_row, np.int64, len(of_row))
        classes = np.fromiter(of_row.values(), np.int64, len(of_row))
        size, groups = len(group_of), group_of[rows]
        labelled, total = np.bincount(groups, minlength=size)[chosen], np.bincount(group_of, minlength=size)[chosen]
        low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
        np.minimum.at(low, groups, classes)
        np.maximum.at(high, groups, classes)
        differ = (labelled > 0) & (low[chosen] != high[chosen])
        kinds = [labelled == 0, differ, labelled < total]
        return np.select(kinds, ["none", "differ", "partly"], "done")

    def _group(self, number: int, rows: npt.NDArray[np.int64], hidden: Collection[int]) -> Group:
        """A group as people see it."""
        every, pool = rows.tolist(), self.pool
        words = {word.row: word for word in self.store.words_on(every) if word.row not in hidden}
        said = self.store.said([word.number for word in words.values()])
        labels: dict[str, int] = {}
        for word in words.values():
            if word.label is not None:
                labels[pool.classes[word.label]] = labels.get(pool.classes[word.label], 0) + 1
        some = sorted(every, key=lambda row: (row not in words or words[row].label is None, row))[:SHOWN]
        texts = [pool.texts[row] for row in some]
        alike = similarity(pool.texts[number], texts)
        members = tuple(
            Member(
                pool.ids[row],
                text,
                round(share, 3),
                pool.classes[label] if (label := words[row].label if row in words else None) is not None else None,
                row in words and words[row].label is None,
                row in words and said[words[row].number].applied is not None,
            )
            for row, text, share in zip(some, texts, alike, strict=True)
        )
        audit = not self.audit_released and not self.held_out_rows.isdisjoint(every)
        return Group(pool.ids[number], len(every), labels, len(every) - len(words), audit, members)


def _part(client: str, place: int) -> str:
    """The id of one of several answers that come under one id."""
    return f"{client}.{place}"
