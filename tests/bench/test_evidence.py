"""Curves out of a tidy table: which rows belong together, and which runs are finished."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from actune.bench.evidence import Evidence, Key, Scene, parse
from actune.bench.store import RESULT_COLUMNS, Results
from actune.errors import RunFolderError
from tests.bench.planted import Planted, cell

SCENE = Scene("trec", "mpnet", "finetune")


def evidence(*cells, **words):
    return Evidence(Planted([row for rows in cells for row in rows], **words))


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("", ("", ())),
        ("weak", ("weak", ())),
        ("weak beta=0.25", ("weak", (("beta", "0.25"),))),
        ("m_low=0.6 m_high=0.8", ("", (("momentum_high", "0.8"), ("momentum_low", "0.6")))),
        ("K=10", ("", (("regions", "10"),))),
        ("rounds=30", ("", ())),
        ("full", ("", (("full", ""),))),
    ],
)
def test_what_a_variant_says(variant, expected):
    assert parse(variant) == expected


def test_seeds_are_lines_of_one_array():
    found = evidence(cell("trec", "random", [0.5, 0.6], 1), cell("trec", "random", [0.7, 0.9], 0)).accuracy
    (curves,) = found.values()
    assert list(found) == [Key(SCENE, "random")]
    assert curves.seeds == (0, 1) and curves.labels == (100, 200)
    assert curves.values.tolist() == [[0.7, 0.9], [0.5, 0.6]]
    assert curves.mean.tolist() == pytest.approx([0.6, 0.75])
    assert curves.deviation.tolist() == pytest.approx([0.1 * np.sqrt(2), 0.15 * np.sqrt(2)])
    assert curves.at(200) == {0: 0.9, 1: 0.6}
    assert curves.areas() == pytest.approx({0: 0.8, 1: 0.55})
    assert curves.of([1]).values.tolist() == [[0.5, 0.6]] and curves.of([1]).deviation is None
    assert curves.within(150, 200).labels == (200,)


def test_a_seed_that_ends_early_is_unfinished_and_one_that_goes_on_is_cut():
    found = evidence(
        cell("trec", "random", [0.1, 0.2, 0.3], 0),
        cell("trec", "random", [0.1, 0.2, 0.3], 1),
        cell("trec", "random", [0.1], 2),
        cell("trec", "random", [0.1, 0.2, 0.3, 0.4], 3),
    )
    (curves,) = found.accuracy.values()
    assert curves.seeds == (0, 1, 3) and curves.unfinished == (2,) and curves.labels == (100, 200, 300)


def test_a_longer_run_continues_the_same_curve():
    usual, longer = cell("trec", "cal", [0.1, 0.2], 0), cell("trec", "cal", [0.5, 0.5, 0.3], 0, "rounds=3")
    found = evidence(usual, longer)
    assert found.accuracy[Key(SCENE, "cal")].values.tolist() == [[0.1, 0.2, 0.3]]
    assert found.cells[Key(SCENE, "cal"), 0] == usual[0]["cell"]
    assert found.rounds[Key(SCENE, "cal"), 0, 300] == (longer[0]["cell"], 2)


def test_empty_cells_are_no_numbers():
    rows = cell("trec", "actune", [0.5, 0.6], trusted=0.9)
    assert evidence(rows).pseudo_label_accuracy[Key(SCENE, "actune")].labels == (200,)
    for row in rows:
        row["accuracy"], row["variant"] = None, None
    assert evidence(rows).accuracy == {}


def test_the_scene_that_stands_for_a_task_has_the_most_cells():
    found = evidence(
        cell("trec", "random", [0.5], model="minilm"),
        cell("trec", "random", [0.5], model="roberta"),
        cell("trec", "entropy", [0.5], model="roberta"),
        cell("trec", "entropy", [0.5], variant="weak"),
    )
    assert found.main("trec") == Scene("trec", "roberta", "finetune")
    assert found.main("trec", "weak") == Scene("trec", "mpnet", "finetune", "weak")
    assert found.main("sst2") is None
    assert found.methods(found.main("trec")) == ["random", "entropy"]


def test_a_folder_gives_back_what_was_saved(tmp_path):
    planted = Planted(cell("trec", "random", [0.5, 0.625], 3, "weak"))
    read = Results(planted.save(tmp_path / "results")).table()
    assert read["accuracy"].tolist() == [0.5, 0.625] and read["variant"].tolist() == ["weak", "weak"]
    assert Results(tmp_path / "results").predictions("nothing") is None


@pytest.mark.parametrize(
    ("columns", "rows", "sentence"),
    [
        (None, [], "neither bench.toml nor cells.jsonl nor results.csv"),
        (RESULT_COLUMNS[:-1], [], "it has no column 'commit'"),
        (RESULT_COLUMNS, [], "no finished run yet"),
    ],
)
def test_a_folder_without_results_says_so(tmp_path, columns, rows, sentence):
    if columns:
        pandas.DataFrame(rows, columns=list(columns)).to_csv(tmp_path / "results.csv", index=False)
    with pytest.raises(RunFolderError, match=sentence):
        Evidence(Results(tmp_path))
