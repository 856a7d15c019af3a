"""What a model said, checked before anything is made of it, and the texts that it was said about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import actune
from actune.core.classifier import Readout
from actune.core.task import Task
from actune.core.view import View, checked
from actune.errors import Diverged, MissingSignal
from actune.methods.method import asking
from actune.methods.queries import Top
from actune.testing import check_query, check_score
from actune.testing.views import drawn_view

IDS = ("a", "b", "c")


def readout() -> Readout:
    return Readout(torch.full((3, 2), 0.5).log(), torch.ones(3, 4))


@pytest.mark.parametrize("part", ["log_proba", "embedding"])
def test_one_nan_names_its_text(part: str) -> None:
    said = readout()
    getattr(said, part)[1, 1] = float("nan")
    with pytest.raises(Diverged, match=r"NaN for 1 of 3 texts \(ids b\)"):
        checked(said, IDS)


def test_infinities_that_add_up_to_nan_are_none() -> None:
    said = readout()
    said.embedding[0, :2] = torch.tensor([float("inf"), -float("inf")])
    assert checked(said, IDS) is said


def shortest(view: View) -> torch.Tensor:
    """A score of one's own that looks at the texts: short ones are less sure."""
    return view.cached(shortest, lambda: -torch.tensor([float(len(text)) for text in view.texts]))


def test_scores_and_queries_may_look_at_texts() -> None:
    check_score(shortest)
    check_query(Top(shortest))
    view = drawn_view()
    assert len(view.texts) == 120 and view.texts[1] == "what is 1"
    assert view.without([1]).texts is view.texts


def test_texts_are_read_when_somebody_asks_for_them() -> None:
    asked = []

    def texts() -> Sequence[str]:
        asked.append(1)
        return IDS

    view = View(readout(), [0, 1], texts=texts)
    assert not asked
    assert view.texts[1] == view.texts[1] == "b" and len(asked) == 1
    with pytest.raises(MissingSignal, match="without texts"):
        _ = View(readout(), [0, 1]).texts


def test_the_method_of_a_session_sees_the_texts(tmp_path: Path, questions: Task) -> None:
    words: dict[str, Any] = {"learner": "probe", "initial": 20, "batch": 5, "rounds": 2}
    words["changes"] = {"steps": 20, "epochs": 2}
    session = actune.create(tmp_path / "run", questions, method=asking(Top(shortest)), simulated=True, **words)
    actune.run(session, actune.Oracle(questions.pool))
    length = [len(text) for text in questions.pool.texts]
    first, second = ([each.row for each in session.store.questions(round)] for round in (0, 1))
    free = sorted(length[row] for row in range(300) if row not in first)
    assert [length[row] for row in second] == free[:5]
