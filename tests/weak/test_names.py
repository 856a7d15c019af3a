"""Labels from the names of classes: which names say something, and where k-means may move them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from actune.core.class_names import Described, described_classes
from actune.errors import DataError
from actune.weak.names import by_names, moved_to_texts, say_something, spelled


@pytest.mark.parametrize("names", [["0", "1", "2"], ["A", "B"], ["class_a", "class_b"], ["label 1", "LABEL-2"]])
def test_names_that_say_nothing(names: list[str]) -> None:
    assert not say_something([Described(name) for name in names])
    assert say_something([Described(name, ("about money",)) for name in names])


def test_names_that_say_something() -> None:
    assert say_something([Described("OfficeHolder"), Described("猫")])
    assert spelled("OfficeHolder") == "office holder" and spelled("part_of/none") == "part of none"


def test_forms_of_descriptions(tmp_path: Path) -> None:
    wanted = [Described("refund", ("wants money back", "give me my money")), Described("praise")]
    assert described_classes("refund: wants money back | give me my money, praise") == wanted
    contents = {
        "lines.txt": "refund: wants money back | give me my money\n\npraise\n",
        "classes.toml": "praise = ''\n[refund]\ndescription = 'wants money back'\nexamples = ['give me my money']\n",
        "classes.json": '{"refund": ["wants money back", "give me my money"], "praise": []}',
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
        assert sorted(described_classes(f"@{tmp_path / name}")) == sorted(wanted)
    (tmp_path / "list.json").write_text('["a: b", "c"]')
    assert described_classes(f"@{tmp_path / 'list.json'}") == [Described("a: b"), Described("c")]
    (tmp_path / "wrong.toml").write_text("[refund]\nwords = 3\n")
    with pytest.raises(DataError, match="must have a text, a list of texts, or description and examples"):
        described_classes(f"@{tmp_path / 'wrong.toml'}")


def test_centres_move_to_groups_of_texts_and_stay_where_there_are_none() -> None:
    rng = np.random.default_rng(0)
    names = np.eye(3, 8)
    truth = np.repeat(np.arange(3), 60)
    offset = 0.6 * np.eye(8)[3:6]  # every group lies beside its name
    texts = _unit(names[truth] + offset[truth] + 0.3 * rng.normal(size=(180, 8)))
    centres = moved_to_texts(names, texts)
    assert np.mean((centres * _unit(names + offset)).sum(1)) > np.mean((names * _unit(names + offset)).sum(1)) + 0.1
    assert ((texts @ centres.T).argmax(1) == truth).mean() >= ((texts @ names.T).argmax(1) == truth).mean()
    other = _unit(np.repeat([[0.0, 0, 0, 1, 0, 0, 0, 0], [0.0, 0, 0, -1, 0, 0, 0, 0]], 90, axis=0) + 0.1 * texts)
    before, after = ((other @ each.T).argmax(1) for each in (names, moved_to_texts(names, other)))
    assert (before == after).mean() > 0.6


def test_probabilities_of_the_nearest_name() -> None:
    def embed(phrases: list[str]) -> np.ndarray:
        return _unit(np.array([[1.0, 0.1] if "red" in phrase else [0.1, 1.0] for phrase in phrases]))

    texts = _unit(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.2]]))
    proba = by_names([Described("blue"), Described("colour", ("red", "red", "red"))], texts, embed)
    assert np.allclose(proba.sum(1), 1) and proba.argmax(1).tolist() == [1, 0, 1]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
