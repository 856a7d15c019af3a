"""`actune compare`: a verdict on data of one's own, in words and with an interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from actune.bench.store import Results
from tests.cli.conftest import Fails, done

PLAN = ["--initial", 20, "--batch", 10, "--rounds", 2, "--set", "epochs=2", "--set", "steps=20"]


def test_a_verdict_in_words_with_an_interval_and_seeds_that_are_added(files: Path, tmp_path: Path) -> None:
    out = tmp_path / "compared"
    words = ["compare", files / "labelled.csv", "--methods", "entropy", *PLAN, "--workers", 1, "--out", out]
    said = done(*words, "--seeds", 2, "--json")
    facts = said.facts
    assert "4 runs in" in said.err and "0 already finished" in said.err
    assert facts["answer"] == "cannot tell" and facts["best"] == "entropy"
    assert "A verdict needs at least 3 seeds, and there are 2." in facts["sentences"]
    assert [row["method"] for row in facts["methods"]] == ["entropy", "random"]
    more = done(*words, "--seeds", 3)
    assert "6 runs in" in more.err and "4 already finished" in more.err
    table = Results(out).table()
    assert sorted(set(zip(table["method"], table["seed"], strict=True))) == [
        (method, seed) for method in ("entropy", "random") for seed in range(3)
    ]
    assert set(table["task"]) == {"labelled"} and set(table["labels"]) == {20, 30}
    first = next(line for line in more.out.splitlines() if "active learning" in line.lower())
    assert "3 seeds" in first and "[" in first and "points" in first


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--methods", "random"], "a comparison needs a method beside random"),
        (["--methods", "entrpy"], "did you mean 'entropy'"),
        (["--seeds", 0], "--seeds is a number of runs from 1, not 0"),
        (["--learner", "auto"], "choose finetune or probe"),
        (["--set", "betta=1"], "unknown setting 'betta'"),
        (["--device", "cuda"], "this machine has no CUDA device"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(
    files: Path, tmp_path: Path, fails: Fails, words: list[object], sentence: str
) -> None:
    assert sentence in fails("compare", files / "labelled.csv", "--out", tmp_path / "compared", *words)
    assert not (tmp_path / "compared").exists()


def test_a_named_data_set_is_read_as_it_is(fails: Fails, tmp_path: Path) -> None:
    assert "leave --text out" in fails("compare", "trec", "--text", "body", "--out", tmp_path / "compared")
