"""The first methods on all of the real TREC questions with the real embedded encoder."""

from __future__ import annotations

import itertools

import pytest

import actune
from actune.annotators.oracle import Oracle
from actune.session.runner import result, run

METHODS = ["random", "entropy", "cal", "badge", "hast", "actune", "actune-cal"]
METHODS += ["actune-query", "actune-cal-query", "actune-no-regions", "actune-no-memory", "actune-no-weights"]
PLAN = {"learner": "probe", "initial": 50, "batch": 50, "rounds": 6, "seed": 0, "simulated": True}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory, trec):
    folder, found = tmp_path_factory.mktemp("trec"), {}
    for method in METHODS:
        session = actune.create(folder / method, trec, method=method, source="trec", **PLAN)
        run(session, Oracle(trec.pool))
        found[method] = result(session)
    return found


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns(outcomes, method):
    facts = outcomes[method]
    assert facts["labels"] == [50, 100, 150, 200, 250, 300]
    assert facts["accuracy"][-1] >= 0.65
    trusts = method == "hast" or (method.startswith("actune") and not method.endswith("-query"))
    assert (facts["pseudo_label_accuracy"][-1] is not None) == trusts


def test_no_two_methods_ask_the_same(outcomes):
    """The first set is shared by design; after it, every method goes its own way."""
    for one, other in itertools.combinations(outcomes, 2):
        assert outcomes[one]["asked"][0] == outcomes[other]["asked"][0]
        assert outcomes[one]["asked"][1:] != outcomes[other]["asked"][1:], (one, other)


def test_the_same_run_twice_asks_the_same(outcomes, tmp_path, trec):
    session = actune.create(tmp_path / "again", trec, method="actune", source="trec", **PLAN)
    run(session, Oracle(trec.pool))
    again = result(session)
    for name in ("asked", "accuracy", "pseudo_label_accuracy"):
        assert again[name] == outcomes["actune"][name]


def test_finetuning_on_a_cpu(tmp_path, trec):
    """A short run of the whole encoder: it learns something, and its model loads in transformers."""
    from transformers import pipeline

    session = actune.create(
        tmp_path / "run",
        trec,
        method="actune",
        learner="finetune",
        recipe="paper",  # its models are those of transformers; the pooled head is one of sentence-transformers
        device="cpu",
        initial=48,
        batch=16,
        rounds=2,
        simulated=True,
        source="trec",
        changes={"epochs": 6, "steps": 40, "learning_rate": 2e-4},
    )
    run(session, Oracle(trec.pool))
    facts = result(session)
    assert facts["labels"] == [48, 64]
    assert max(facts["accuracy"]) > 0.4  # the most frequent class alone gives 0.276
    classify = pipeline("text-classification", model=str(tmp_path / "run" / "model"))
    text = "how many people live in paris ?"
    said, (mine,) = classify(text)[0], session.predict([text])
    assert said["label"] == mine.label in trec.pool.classes
    assert said["score"] == pytest.approx(mine.probabilities[mine.label], abs=0.01)  # bfloat16
