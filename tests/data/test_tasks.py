"""Named data sets: TREC from the package, the paper's settings, checksums, and where files are looked for."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from actune.core.settings import Settings
from actune.core.task import Plan
from actune.data import tasks
from actune.data.cells import Table
from actune.data.splits import Reading
from actune.data.tasks import PACKAGE, card, cards, load_task, load_votes, resolve, scaled_growth
from actune.errors import DataError

NAMES = ["trec", "sst2", "ag_news", "pubmed_sections", "dbpedia14", "chemprot", "banking77", "csabstruct", "scicite"]


@pytest.fixture
def trec_copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PACKAGE / "trec", tmp_path / "trec"))


def test_trec_comes_with_the_package() -> None:
    task = load_task("trec")
    assert task.dev is not None and task.test is not None
    assert (len(task.pool), len(task.dev), len(task.test)) == (4965, 500, 500)
    assert task.pool.classes == ("description", "entity", "human", "abbreviation", "location", "numeric")
    assert task.pool.texts[0] == "how did serfdom develop in and then leave russia ?"
    assert (task.pool.ids[0], task.dev.ids[7], task.test.ids[-1]) == ("train-0", "dev-7", "test-499")
    assert Counter(task.pool.labels)[3] == min(Counter(task.pool.labels).values())  # abbreviations are rare
    assert task.settings == Settings(64, 40, 10, 0.5, 0.6, 1.0, 0.8, 0.9, 500)
    assert task.training == {"labelled_batch": 8, "pseudo_batch": 16}
    assert task.plan == Plan(50, 50, 10)
    assert task.bundled
    assert (task.notes, task.pool.notes) == ((), ("55 texts occur more than once (117 rows)",))


def test_the_package_holds_what_the_table_says() -> None:
    known = card("trec")
    for part, facts in known.files.items():
        assert sha256((PACKAGE / "trec" / f"{part}.jsonl.zst").read_bytes()).hexdigest() == facts["sha256"]
    assert json.loads((PACKAGE / "trec" / "labels.json").read_text()) == list(known.classes)
    assert "Apache-2.0" in (PACKAGE / "trec" / "SOURCE.md").read_text()


def test_votes() -> None:
    votes = load_votes("trec")
    assert len(votes) == 4965
    assert {len(row) for row in votes} == {68}
    covered = [row for row in votes if max(row) >= 0]
    assert round(len(covered) / len(votes), 3) == 0.951


def test_tasks_without_votes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_verified", lambda *names: Table("t", {"text": ["a"], "label": [0]}, [1]))
    with pytest.raises(DataError, match="trec has no votes of rules"):
        load_votes("trec")


def test_every_card_is_whole() -> None:
    assert list(cards()) == NAMES
    for known in cards().values():
        assert set(known.files) >= {"train", "dev", "test"}
        assert all(len(facts["sha256"]) == 64 and facts["rows"] > 0 for facts in known.files.values())
        assert known.settings.regions_used < known.settings.regions  # M < K: the paper's table has them exchanged
        assert known.plan.initial + (known.plan.rounds - 1) * known.plan.batch in (500, 1000)
        assert len(set(known.classes)) == len(known.classes)


@pytest.mark.parametrize(
    ("name", "pool", "growth"),
    [
        ("trec", 4_965, 500),
        ("sst2", 60_614, 3_000),
        ("ag_news", 69_343, 2_910),
        ("pubmed_sections", 44_217, 740),
        ("dbpedia14", 43_010, 770),
        ("chemprot", 12_861, 500),
        ("dbpedia14", 559_000, 5_000),
        ("trec", 20, 10),
    ],
)
def test_growth_follows_the_pool(name: str, pool: int, growth: int) -> None:
    assert scaled_growth(card(name), pool) == growth
    if pool > 20 and pool < 500_000:
        assert card(name).files["train"]["rows"] == pool


def test_a_smaller_pool_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    larger = replace(card("trec"), paper_pool=10_000)
    monkeypatch.setitem(cards(), "trec", larger)
    task = load_task("trec")
    assert task.settings.growth == 250
    assert task.notes == (
        "the setting growth (k) is 250 and not the paper's 500, because the pool has 4,965 rows and the paper's 10,000",
    )


def test_a_sample_is_drawn_by_the_seed_and_settings_follow_it() -> None:
    one, same, other = (resolve("trec", reading=Reading(sample=1000), seed=seed) for seed in (0, 0, 1))
    assert one.pool.ids == same.pool.ids != other.pool.ids and len(one.pool) == len(set(one.pool.ids)) == 1000
    assert one.test == load_task("trec").test and one.settings.growth == 100
    assert one.notes[0] == "the pool is a random sample of 1,000 of 4,965 rows"
    repeated = [count for count in Counter(one.pool.texts).values() if count > 1]
    assert one.pool.notes == (f"{len(repeated)} texts occur more than once ({sum(repeated)} rows)",)
    assert resolve("trec", reading=Reading(sample=5000)) == load_task("trec")
    with pytest.raises(DataError, match="--sample must be at least 1, not 0"):
        resolve("trec", reading=Reading(sample=0))


def test_a_flipped_byte_is_found(trec_copy: Path) -> None:
    assert load_task("trec", trec_copy.parent) == load_task("trec")
    path = trec_copy / "dev.jsonl.zst"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(DataError, match=r"dev\.jsonl\.zst is not the dev file of 'trec' \(SHA-256 .*copy it again"):
        load_task("trec", trec_copy.parent)
    path.unlink()
    with pytest.raises(DataError, match=r"there is no file .*dev\.jsonl\.zst: copy the whole folder"):
        load_task("trec", trec_copy.parent)


def test_rows_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    known = card("trec")
    files = {**known.files, "test": {**known.files["test"], "rows": 501}}
    monkeypatch.setitem(cards(), "trec", replace(known, files=files))
    with pytest.raises(DataError, match="has 500 rows, not 501"):
        load_task("trec")


def test_where_files_are_looked_for(trec_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACTUNE_DATA", raising=False)
    assert tasks.find_folder(card("trec")) == PACKAGE / "trec"
    monkeypatch.setenv("ACTUNE_DATA", str(tmp_path))
    assert tasks.find_folder(card("trec")) == trec_copy
    (tmp_path / "sst2").mkdir()
    shutil.copy(trec_copy / "train.jsonl.zst", tmp_path / "sst2")
    assert tasks.find_folder(card("sst2")) == tmp_path / "sst2"
    assert tasks.find_folder(card("ag_news")) is None
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(
        DataError, match=r"'ag_news' were not found.*--data-dir or ACTUNE_DATA .*, or install actune\[hub"
    ):
        load_task("ag_news")
    with pytest.raises(DataError, match=r"ACTUNE_DATA to a folder that contains chemprot/.*zst$"):
        load_task("chemprot")
    with pytest.raises(DataError, match="nowhere has no ag_news/"):
        load_task("ag_news", "nowhere")


def test_resolve(trec_copy: Path, tmp_path: Path) -> None:
    assert resolve("trec") == resolve(trec_copy) == load_task("trec")
    own = tmp_path / "posts.csv"
    own.write_text("text,label\n" + "".join(f"t{row},{row % 2}\n" for row in range(40)))
    task = resolve(own, seed=1)
    assert (task.name, task.bundled, task.pool.classes) == ("posts", False, ("0", "1"))
    folder = tmp_path / "mine"
    folder.mkdir()
    shutil.copy(own, folder / "train.csv")
    assert resolve(folder, seed=1).pool == task.pool
    with pytest.raises(DataError, match="'agnews' is neither a file nor a named data set: did you mean 'ag_news'"):
        resolve("agnews")
    with pytest.raises(DataError, match=r"there is no file postz\.csv"):
        resolve("postz.csv")
    with pytest.raises(DataError, match=r"trec already has a dev and a test set"):
        resolve("trec", dev=own)
