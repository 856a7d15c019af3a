"""Named data sets, as data: the paper's settings, the checksums of their files, and where these may lie."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import file_digest
from pathlib import Path
from typing import Any, cast

from actune.core import toml
from actune.core.places import exists, is_folder, open_regular
from actune.core.pool import Coded, Pool, as_labels, pool_of
from actune.core.settings import Settings
from actune.core.strings import Strings
from actune.core.task import Plan, Task
from actune.data.cells import Table
from actune.data.folders import make_task_from_folder
from actune.data.formats import repeats
from actune.data.frames import IN_MEMORY, Data, is_in_memory
from actune.data.hub import has_hub, make_task_from_hub, read_hub
from actune.data.splits import (
    MOST_DEV,
    USUAL,
    Reading,
    are_splits,
    cut_dev,
    cut_pool,
    draw,
    make_task,
    make_task_from_splits,
    part_of,
    rows_without,
)
from actune.data.tables import has_known_suffix, read_table
from actune.errors import DataError, nearest

PACKAGE = Path(__file__).parent
VARIABLE = "ACTUNE_DATA"


@dataclass(frozen=True)
class Card:
    """What is known of a named data set before a file of it is opened."""

    name: str
    description: str
    classes: tuple[str, ...]
    paper_pool: int  # its own train rows, where the paper does not have it
    settings: Settings
    training: dict[str, int]
    plan: Plan
    files: dict[str, dict[str, Any]]  # by part: rows and sha256
    hub: dict[str, dict[str, str]]  # by part: id, split and columns; empty where no public copy has the same labels
    released: dict[str, dict[str, float]]  # settings and training of the authors' scripts
    in_paper: bool = True


@cache
def cards() -> dict[str, Card]:
    """All named data sets."""
    tables = toml.read(PACKAGE / "tasks.toml")
    return {name: _card(name, table) for name, table in tables.items()}


def card(name: str) -> Card:
    """One named data set, or a sentence that suggests the nearest."""
    if not isinstance(name, str) or name not in cards():
        raise DataError(f"{name!r} is neither a file nor a named data set: {nearest(name, cards())}")
    return cards()[name]


def resolve(
    data: Data,
    dev: Data | None = None,
    test: Data | None = None,
    reading: Reading = USUAL,
    data_dir: str | Path | None = None,
    seed: int = 0,
) -> Task:
    """The task that a user means.

    The name of a data set, a file, a folder with a train file, a hub's owner/name, or data that is in memory already.
    """
    if is_in_memory(data):
        return _from_memory(data, dev, test, reading, seed)
    path = Path(data)
    other = next((part if isinstance(part, (str, Path)) else IN_MEMORY for part in (dev, test) if part is not None), "")
    if other and (str(data) in cards() or is_folder(path)):
        raise DataError(f"{data} already has a dev and a test set: give a single train file to use {other}")
    if str(data) in cards():
        if replace(reading, sample=None) != USUAL:
            raise DataError(
                f"{data} is a named data set with its own columns, classes and splits, for `actune run` and `actune "
                "compare`: give a file"
            )
        return load_task(str(data), data_dir, seed, reading.sample)
    if is_folder(path):
        if path.resolve().name in cards() and _train_file(path).exists():
            return load_task(path.resolve().name, path.resolve().parent, seed, reading.sample)
        return make_task_from_folder(path, reading, seed)
    if _on_the_hub(str(data)):
        if other:
            raise DataError(
                f"{data} on the hub already has a dev and a test set: give a single train file to use {other}"
            )
        return make_task_from_hub(str(data), reading, seed)
    if exists(path) or path.suffix or len(path.parts) > 1:
        return make_task(path.name.split(".")[0], path, dev, test, reading, seed)
    return load_task(str(data), data_dir, seed)


def _from_memory(data: Data, dev: Data | None, test: Data | None, reading: Reading, seed: int) -> Task:
    if not are_splits(data):
        return make_task("data", data, dev, test, reading, seed)
    if dev is not None or test is not None:
        raise DataError("the data already has splits: give only its train split if you set another dev or test set")
    return make_task_from_splits("data", data, reading, seed)


def _on_the_hub(data: str) -> bool:
    """Whether this can only be an id there: `owner/name`, where no file, no folder and no known suffix is meant."""
    id = data.partition(":")[0]
    owner, slash, name = id.partition("/")
    if not slash or not owner.strip(".~") or not name or "/" in name or exists(Path(id)) or is_folder(Path(owner)):
        return False
    return not has_known_suffix(Path(id))


def load_task(name: str, data_dir: str | Path | None = None, seed: int = 0, sample: int | None = None) -> Task:
    """A named data set with the paper's settings, from a folder, the package or the hub."""
    known = card(name)
    folder = find_folder(known, data_dir)
    notes: list[str] = []
    if folder is not None:
        pool, dev, test = (_read(known, folder, part) for part in ("train", "dev", "test"))
    else:
        pool, dev, test = _from_hub(known, seed)
        notes.append(
            f"{name} was loaded from the hub with {len(pool):,} rows, so results may differ from published ones"
        )
    dev, cut = cut_dev(dev, seed)
    pool, drawn = cut_pool(pool, sample, seed)
    notes += drawn
    growth = scaled_growth(known, len(pool))
    if growth != known.settings.growth:
        whole = "the paper's" if known.in_paper else "the whole data set's"
        sizes = f"the pool has {len(pool):,} rows and {whole} {known.paper_pool:,}"
        notes.append(f"the setting growth (k) is {growth:,} and not {whole} {known.settings.growth:,}, because {sizes}")
    settings = replace(known.settings, growth=growth)
    # the hub may change under us, so a run must copy what came from there
    bundled = folder is not None
    own = {"settings": {**known.released["settings"]}, "training": known.released.get("training", {})}
    for setting in own["settings"].keys() & {"growth", "growth_start"}:
        own["settings"][setting] = scaled(int(own["settings"][setting]), known, len(pool))
    return Task(
        name, pool, dev, test, settings, known.plan, dict(known.training), (*notes, *cut), released=own, bundled=bundled
    )


def load_votes(name: str, data_dir: str | Path | None = None) -> Sequence[list[int]]:
    """The votes of the rules for every train row, -1 where a rule says nothing."""
    known = card(name)
    folder = find_folder(known, data_dir)
    cells = _verified(known, folder, "train").cells.get("weak_labels") if folder is not None else None
    if cells is None:
        raise DataError(f"{name} has no votes of rules: use trec, or chemprot with --data-dir")
    return cast("Sequence[list[int]]", cells)


def row_ids(known: Card, part: str) -> Strings:
    """The ids of all rows in one file of a data set; a task may hold a sample of them."""
    return Strings.of(f"{part}-{row}" for row in range(known.files[part]["rows"]))


def scaled_growth(known: Card, pool: int) -> int:
    """k in the paper's proportion to the pool."""
    return scaled(known.settings.growth, known, pool)


def scaled(count: int, known: Card, pool: int) -> int:
    """A number of rows in the paper's proportion, rounded to tens; a larger pool than the paper's changes nothing."""
    share = min(1.0, pool / known.paper_pool)
    return count if share == 1 else max(10, 10 * round(count * share / 10))


def find_folder(known: Card, data_dir: str | Path | None = None) -> Path | None:
    """Where the files of a data set lie; None means that they must come from the hub."""
    for base in (data_dir, os.environ.get(VARIABLE), PACKAGE):
        if base and _train_file(folder := Path(base) / known.name).exists():
            return folder
    if data_dir is None and known.hub and has_hub():
        return None
    here = f"{known.name}/{{train,dev,test}}.jsonl.zst"
    hub = ", or install actune[hub]" if known.hub else ""
    where = f"{data_dir} has no {here}" if data_dir else f"the files of {known.name!r} were not found"
    raise DataError(f"{where}: set --data-dir or {VARIABLE} to a folder that contains {here}{hub}")


def _train_file(folder: Path) -> Path:
    return folder / "train.jsonl.zst"


def _read(known: Card, folder: Path, part: str) -> Pool:
    table = _verified(known, folder, part)
    labels = Coded(known.classes, as_labels(cast("list[int]", list(table.cells["label"]))))
    texts = Strings.of(cast("Sequence[str]", table.cells["text"]))
    return pool_of(texts, labels, row_ids(known, part), known.classes, repeats(texts))


def _verified(known: Card, folder: Path, part: str) -> Table:
    path = folder / f"{part}.jsonl.zst"
    if not path.exists():
        raise DataError(f"there is no file {path}: copy the whole folder of {known.name!r}")
    with open_regular(path, DataError) as handle:
        expected, found = known.files[part]["sha256"], file_digest(handle, "sha256").hexdigest()
    if found != expected:
        sums = f"SHA-256 {found[:12]}..., not {expected[:12]}..."
        raise DataError(f"{path} is not the {part} file of {known.name!r} ({sums}): copy it again or rename its folder")
    table = read_table(path)
    if len(table) != known.files[part]["rows"]:
        raise DataError(f"{path} has {len(table):,} rows, not {known.files[part]['rows']:,}: copy it again")
    return table


def _from_hub(known: Card, seed: int) -> tuple[Pool, Pool, Pool]:
    pools = {part: read_hub(**source, classes=known.classes) for part, source in known.hub.items()}
    pools = {part: replace(pool, ids=Strings.of(f"{part}-{row}" for row in pool.ids)) for part, pool in pools.items()}
    pool = pools["train"]
    if "dev" in pools:
        return pool, pools["dev"], pools["test"]
    held = draw(range(len(pool)), MOST_DEV, seed, "split")
    return part_of(pool, rows_without(pool, held)), part_of(pool, held), pools["test"]


def _card(name: str, table: dict[str, Any]) -> Card:
    return Card(
        name,
        table["description"],
        tuple(table["classes"]),
        table.get("paper_pool", table["files"]["train"]["rows"]),
        Settings(**table["settings"]),
        table["training"],
        Plan(**table["plan"]),
        table["files"],
        table.get("hub", {}),
        table["released"],
        "paper_pool" in table,
    )
