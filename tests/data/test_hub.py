"""The hub: names for numbers, one sentence for each failure, and a task whose dev is held out of train."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import datasets
import pytest

from actune.data.formats import repeats
from actune.data.hub import read_hub
from actune.data.splits import Reading
from actune.data.tasks import card, load_task, resolve
from actune.errors import DataError


def news(rows: int) -> datasets.Dataset:
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["Business", "World", "Sports", "Sci/Tech"]),
        }
    )
    cells = {"text": [f"story {row}" for row in range(rows)], "label": [row % 4 for row in range(rows)]}
    return datasets.Dataset.from_dict(cells, features=features)


def test_names_of_a_real_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    data = news(3)
    data.to_parquet(str(tmp_path / "repo" / "train-00000-of-00001.parquet"))
    pool = read_hub(str(tmp_path / "repo"), "train")
    assert pool.texts == ("story 0", "story 1", "story 2")
    assert [pool.classes[label] for label in pool.labels] == ["Business", "World", "Sports"]
    with pytest.raises(DataError, match="has no column 'topic': it has text, label"):
        read_hub(str(tmp_path / "repo"), "train", label="topic")
    with pytest.raises(DataError, match=r"cannot read split 'dev' of .*check the name and the network"):
        read_hub(str(tmp_path / "repo"), "dev")


def test_hidden_labels_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    data = news(2).map(lambda row: {"label": -1})
    monkeypatch.setattr(datasets, "load_dataset", lambda *names, **options: data)
    assert read_hub("some/news").labels.tolist() == [-1, -1]


def test_no_network_and_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*names: Any, **options: Any) -> None:
        raise ConnectionError("Couldn't reach the Hub\nmany more lines")

    monkeypatch.setattr(datasets, "load_dataset", offline)
    with pytest.raises(DataError) as error:
        read_hub("some/news")
    assert str(error.value) == (
        "cannot read split 'train' of 'some/news' from the hub (Couldn't reach the Hub): check the name and the network"
    )
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(DataError, match=r"needs the package 'datasets': pip install 'actune\[hub\]'"):
        read_hub("some/news")


def test_a_task_from_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACTUNE_DATA", raising=False)
    sizes = {"train": 3_380, "test": 40}
    monkeypatch.setattr(datasets, "load_dataset", lambda id, config, split: news(sizes[split]))
    task = load_task("ag_news", seed=5)
    assert task.dev is not None and task.test is not None
    assert (len(task.pool), len(task.dev), len(task.test)) == (2_380, 1_000, 40)
    assert not {*task.pool.ids} & {*task.dev.ids}
    assert task.pool.classes == card("ag_news").classes  # ours, whatever the order on the hub
    story = task.test.texts.index("story 1")
    assert task.test.classes[task.test.labels[story]] == "World"
    assert task.settings.growth == 100
    assert not task.bundled
    assert "from the hub with 2,380 rows" in task.notes[0]
    assert load_task("ag_news", seed=5) == task
    assert load_task("ag_news", seed=6).dev != task.dev


def test_repeated_texts_are_counted_without_those_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACTUNE_DATA", raising=False)
    data = news(1_800).map(lambda row: {"text": row["text"][:8]})  # story 10, ..., story 99 many times
    monkeypatch.setattr(datasets, "load_dataset", lambda *names, **options: data)
    pool = load_task("ag_news").pool
    assert len(pool) == 800
    assert list(pool.notes) == repeats(pool.texts) != repeats(data["text"][:])


def test_a_users_own_id(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None, str]] = []

    def load(id: str, config: str | None, split: str) -> datasets.Dataset:
        asked.append((id, config, split))
        return news({"train": 60, "validation": 8, "test": 4}[split]).map(
            lambda row: {"label": -1} if split == "test" else row
        )

    monkeypatch.setattr(
        datasets, "get_dataset_split_names", lambda id, config: ["train", "validation", "test", "extra"]
    )
    monkeypatch.setattr(datasets, "load_dataset", load)
    task = resolve("some/news:small", reading=Reading(hold_out_test=12), seed=2)
    assert asked == [("some/news", "small", split) for split in ("train", "validation", "test")]
    assert task.dev is not None and task.test is not None
    assert (len(task.pool), len(task.dev), len(task.test)) == (48, 8, 12)  # the hidden test labels are of no use
    assert task.pool.classes == ("Business", "Sci/Tech", "Sports", "World")
    assert not task.bundled
    with pytest.raises(DataError, match="already has a dev and a test set"):
        resolve("some/news", dev="dev.csv")


@pytest.mark.parametrize("data", ["./some/news", "some/news.csv", "some/more/news", "~/news"])
def test_what_is_no_id(data: str) -> None:
    with pytest.raises(DataError, match="there is no file"):
        resolve(data)
