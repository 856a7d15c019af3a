"""`actune compare`: a verdict on data of one's own, in words and with an interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from actune.bench.store import Results
from tests.cli.conftest import Fails, done, write

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
    assert facts["files"] == [str(out / "compare.html"), str(out / "compare.tex")]
    assert facts["p_of"].startswith("p ") and "paired by seed (2 seeds)" in facts["p_of"]
    page = tmp_path / "page.html"
    more = done(*words, "--seeds", 3, "--to", page)
    command = f"actune compare {files / 'labelled.csv'} --methods entropy --seeds 3 --learner probe --initial 20"
    assert command in page.read_text(encoding="utf-8") and page.with_suffix(".tex").is_file()
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
        (["--methods", "random"], "a comparison needs at least one method other than random"),
        (["--methods", "entrpy"], "did you mean 'entropy'"),
        (["--seeds", 0], "--seeds must be at least 1, not 0"),
        (["--seeds", 10**15], "--seeds must be at most 10,000, not 1000000000000000"),
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


def test_data_that_is_too_small_to_measure_is_refused_before_anything_runs(tmp_path: Path, fails: Fails) -> None:
    data = write(tmp_path / "tiny.csv", ["text", "label"], [["one", "a"], ["two", "b"]])
    sentence = fails("compare", data, "--out", tmp_path / "compared")
    assert f"{data} has 2 labelled texts" in sentence and "--test FILE" in sentence


def test_a_named_data_set_is_read_as_it_is(fails: Fails, tmp_path: Path) -> None:
    assert "leave out --text" in fails("compare", "trec", "--text", "body", "--out", tmp_path / "compared")
