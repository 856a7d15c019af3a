"""What all requests share: the project's session, the trainer, and the cheap facts that the page polls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from actune import __version__
from actune.session.session import Session
from actune.web.people import Person
from actune.web.trainer import Trainer

KEYS = "1234567890"  # of the first classes


@dataclass(frozen=True)
class Desk:
    """One open project. Any number of threads may use it; nothing here waits for training."""

    id: str  # of the project, for what a browser keeps
    session: Session
    trainer: Trainer

    @property
    def folder(self) -> Path:
        return self.session.store.folder

    def state(self, person: Person) -> dict[str, Any]:
        """All that the page shows around a text."""
        session, store = self.session, self.session.store
        counts, news = store.counts(), session.news()
        texts = store.text_count("pool") or len(session.pool)
        model = self.model()
        return {
            "version": __version__,
            "project": {"id": self.id, "name": self.folder.name, "texts": texts, "classes": self.classes()},
            "user": asdict(person),
            "labels": counts.labelled,
            "skipped": counts.skipped,
            "unlabelled": texts - counts.labelled - counts.skipped,
            "open": len(store.open_questions()),
            "audit": self.audit(),
            "model": model,
            "training": self.trainer.state(),
            "stale": model is not None and news > 0,
            "next_round_at": max(0, self.answers_of_a_round() - news),
            "suggestions": model is not None,
            "undo_classes": self.undo_words(),
        }

    def hidden_from(self, person: Person, ids: Iterable[str]) -> frozenset[str]:
        """Those of these texts on which an annotator sees nothing of others: several people judge them, each alone."""
        return frozenset() if person.role == "owner" else self.session.for_several(ids)

    def rows_hidden_from(self, person: Person) -> frozenset[int]:
        """All rows of such texts."""
        return frozenset() if person.role == "owner" else self.session.shared_rows()

    def classes(self) -> list[dict[str, Any]]:
        """The classes, the first ones with a key each."""
        return [
            {
                "name": each.name,
                "key": KEYS[place] if place < len(KEYS) and not each.retired else None,
                "description": each.description or None,
                "answers": each.answers,
                "retired": each.retired,
            }
            for place, each in enumerate(self.session.classes())
        ]

    def audit(self) -> dict[str, Any]:
        """The audit sample in numbers."""
        sample = self.session.audit
        return {"answered": sample.answered, "planned": sample.planned, "released": sample.released}

    def model(self) -> dict[str, Any] | None:
        """The model in use."""
        if (final := self.session.final) is not None:
            return {"round": final.round - 1, "knows": final.labels, "fine_tuned": True}
        rounds = self.session.rounds()
        return {"round": rounds[-1].round, "knows": rounds[-1].labels, "fine_tuned": False} if rounds else None

    def undo_words(self) -> str | None:
        """What undoing would take back, where there is a change of the classes to undo."""
        changes = self.session.store.class_changes()
        undone = {change.undoes for change in changes}
        for change in reversed(changes):
            if change.step is not None and change.undoes is None and change.step not in undone:
                first = next(each for each in changes if each.step == change.step)
                return f"Takes back the last change: {first.kind} {first.name or ''}".rstrip()
        return None

    def answers_of_a_round(self) -> int:
        request = self.session.config.request
        return request.batch if self.session.fitted else request.initial

    def after_answers(self) -> None:
        """Wakes the trainer where a batch is answered, or where nothing is left of it to ask about.

        A round that comes to nothing is tried again with the next batch, or with other classes or texts.
        """
        store, batch, news = self.session.store, self.answers_of_a_round(), self.session.news()
        is_empty = not store.open_questions()
        if news < batch and not is_empty:
            return
        since = store.last_answer() if is_empty else news // batch
        answered, texts = len(store.counts().of_class), store.text_count("pool")
        self.trainer.ask_for("advance", (self.session.fitted, since, answered, texts, store.class_change_count()))
