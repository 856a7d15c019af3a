"""`TextClassifier` on real questions: kinds of texts and labels, self-training, questions, and scikit-learn's tools."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import actune
from actune import TextClassifier
from actune.core.task import Task
from actune.errors import DataError, InputError, ModelError, SettingError
from actune.methods.method import asking
from actune.methods.queries import Top
from actune.methods.uncertainty import margin

LABELLED = 60


@pytest.fixture(scope="module")
def texts(questions: Task) -> list[str]:
    return list(questions.pool.texts)


@pytest.fixture(scope="module")
def y(questions: Task) -> Any:
    return np.asarray([questions.pool.classes[number] for number in questions.pool.labels], object)


@pytest.fixture(scope="module")
def some(y: Any) -> Any:
    """Labels of the first rows, and none of the others."""
    found = y.copy()
    found[LABELLED:] = None
    return found


@pytest.fixture(scope="module")
def fitted(texts: list[str], some: Any) -> TextClassifier:
    return classifier().fit(texts, some)


def classifier(**changes: Any) -> TextClassifier:
    return TextClassifier(**{"method": "margin", "device": "cpu", **changes})


def test_it_learns_from_some_labels(fitted: TextClassifier, texts: list[str], y: Any, questions: Task) -> None:
    assert fitted.classes_.tolist() == sorted(questions.pool.classes)
    proba = fitted.predict_proba(texts)
    assert proba.shape == (300, 6) and np.allclose(proba.sum(1), 1)
    assert (fitted.predict(texts) == fitted.classes_[proba.argmax(1)]).all()
    assert fitted.score(texts[LABELLED:], y[LABELLED:]) == (fitted.predict(texts) == y)[LABELLED:].mean() > 0.4


def test_unlabelled_rows_do_not_count_in_a_score(fitted: TextClassifier, texts: list[str], some: Any) -> None:
    assert fitted.score(texts, some) == fitted.score(texts[:LABELLED], some[:LABELLED])
    weights = np.arange(300)
    right = fitted.predict(texts[:LABELLED]) == some[:LABELLED]
    assert fitted.score(texts, some, sample_weight=weights) == pytest.approx(
        np.average(right, weights=weights[:LABELLED])
    )
    with pytest.raises(DataError, match="nothing to score"):
        fitted.score(texts[LABELLED:], some[LABELLED:])


@pytest.mark.parametrize(
    "given",
    [
        lambda texts: np.asarray(texts),
        lambda texts: np.asarray(texts, object),
        lambda texts: np.asarray(texts, object)[:, None],
        lambda texts: pd.Series(texts, index=range(1000, 1300)),
        lambda texts: pd.DataFrame({"text": texts}),
        lambda texts: (text for text in texts),
        tuple,
    ],
    ids=["array", "objects", "column", "series", "frame", "generator", "tuple"],
)
def test_texts_come_in_many_kinds(given: Any, fitted: TextClassifier, texts: list[str], some: Any) -> None:
    other = classifier().fit(given(texts), some)
    assert (other.predict_proba(given(texts)) == fitted.predict_proba(texts)).all()
    assert getattr(other, "n_features_in_", None) == (1 if getattr(given(texts), "ndim", 1) == 2 else None)


@pytest.mark.parametrize(
    "given",
    [
        lambda names, numbers: [None if number < 0 else number for number in numbers],
        lambda names, numbers: numbers,
        lambda names, numbers: np.where(numbers < 0, np.nan, numbers),
        lambda names, numbers: pd.Series(numbers).where(numbers >= 0).astype("Int64"),
        lambda names, numbers: [np.nan if name is None else name for name in names],
        lambda names, numbers: np.asarray(["" if name is None else name for name in names]),
        lambda names, numbers: pd.Series(names).astype("category"),
        lambda names, numbers: pd.Series([np.nan if name is None else name for name in names]),
    ],
    ids=["None", "-1", "NaN", "pandas NA", "NaN in a list", "empty", "category", "NaN among names"],
)
def test_missing_labels_come_in_many_kinds(
    given: Any, fitted: TextClassifier, texts: list[str], some: Any, questions: Task
) -> None:
    numbers = np.asarray([-1 if name is None else sorted(questions.pool.classes).index(name) for name in some])
    other = classifier().fit(texts, given(some, numbers))
    assert (other.predict_proba(texts) == fitted.predict_proba(texts)).all()
    assert other.predict(texts[:5]).dtype == other.classes_.dtype
    assert (other.query(5) == fitted.query(5)).all()


@pytest.mark.parametrize(
    ("X", "labels", "sentence"),
    [
        (["a", "b"], ["x", "x"], "y has one class only, 'x': a classifier needs at least two classes"),
        (["a", "b"], [None, -1], "none of the 2 texts has a label"),
        (["a", "b"], None, "requires y to be passed, but the target y is None"),
        (["a", "b"], ["x"], "X has 2 texts and y has 1 labels"),
        (["a", "b"], ["x", 1], "y mixes labels of the types int and str"),
        ("a text", ["x"], "X is a str: give a list of texts"),
        (["a", None], ["x", "y"], "row 1 of X is None, which is not a text"),
        ([], [], "X has 0 samples"),
        (np.ones((2, 3)), [0, 1], r"X has the shape \(2, 3\)"),
    ],
)
def test_a_mistake_is_one_sentence_and_a_value_error(X: Any, labels: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as raised:
        classifier().fit(X, labels)
    assert isinstance(raised.value, ValueError)


def test_an_unknown_setting_or_method_is_told_when_it_is_fitted(texts: list[str], some: Any) -> None:
    with pytest.raises(SettingError, match="unknown setting 'regoins': did you mean 'regions'"):
        classifier(settings={"regoins": 3}).fit(texts, some)
    with pytest.raises(SettingError, match="unknown method 'margim'"):
        classifier(method="margim").fit(texts, some)
    with pytest.raises(NotFittedError):
        classifier().query(3)


# the same as a session


def asked_by_a_session(folder: Path, texts: list[str], some: Any, rounds: int, **options: Any) -> list[int]:
    labels = [None if label is None else str(label) for label in some]
    pool = actune.pool_of(texts, labels)
    with actune.create(folder, pool, learner="probe", device="cpu", **options) as session:
        for _ in range(rounds):
            session.advance()
        return [int(question.id) for question in session.ask()]


@pytest.mark.parametrize(
    ("method", "rounds"), [("margin", 1), ("thrifty", 1), ("badge", 1), ("actune", 2), ("actune-cal", 2), ("asst", 2)]
)
def test_a_query_is_what_a_session_with_the_same_labels_asks(
    method: str, rounds: int, texts: list[str], some: Any, tmp_path: Path
) -> None:
    for seed in (0, 3):
        other = classifier(method=method, seed=seed, batch=12).fit(texts, some)
        asked = asked_by_a_session(tmp_path / str(seed), texts, some, rounds, method=method, seed=seed, batch=12)
        assert other.query().tolist() == asked
        assert len(set(asked)) == 12 and min(asked) >= LABELLED


def test_unlabelled_rows_are_learnt_from(texts: list[str], some: Any) -> None:
    for method in ("thrifty", "actune"):
        trusting = classifier(method=method).fit(texts, some)
        assert trusting._state is not None and len(trusting._state.fitted.pseudo_labels)
        alone = classifier(method=method).fit(texts[:LABELLED], some[:LABELLED])
        assert not np.allclose(trusting.predict_proba(texts[:20]), alone.predict_proba(texts[:20]))


@pytest.mark.parametrize("method", ["thrifty", "actune", "ust", "revival", "margin"])
def test_without_an_unlabelled_row_it_is_plain_learning(method: str, texts: list[str], y: Any) -> None:
    learner = "probe" if method != "revival" else "finetune"
    changes = {"learner": learner, "settings": {"epochs": 1, "steps": 2}}
    whole = classifier(method=method, **changes).fit(texts[:LABELLED], y[:LABELLED])
    assert len(whole.query(5)) == 0 and len(whole.predict(texts[:3])) == 3


# the tools of scikit-learn


def test_the_same_parameters_give_the_same_model(fitted: TextClassifier, texts: list[str], some: Any) -> None:
    again = clone(fitted)
    assert again.get_params() == fitted.get_params() and not hasattr(again, "classes_")
    assert (again.fit(texts, some).predict_proba(texts) == fitted.predict_proba(texts)).all()
    other = clone(fitted).set_params(seed=1).fit(texts, some)
    assert (other.predict_proba(texts) != fitted.predict_proba(texts)).any()


def test_it_works_in_a_grid_search_a_pipeline_and_a_cross_validation(texts: list[str], y: Any) -> None:
    lower = FunctionTransformer(lambda given: [text.lower() for text in given])
    grid = {
        "textclassifier__seed": [0, 1],
        "textclassifier__method": ["thrifty", asking(Top(margin))],
        "textclassifier__settings": [{"epochs": 2, "steps": 5}],
    }
    search = GridSearchCV(make_pipeline(lower, classifier()), grid, cv=2, error_score="raise").fit(texts[:120], y[:120])
    assert len(search.cv_results_["mean_test_score"]) == 4
    assert search.best_params_["textclassifier__settings"] == {"epochs": 2, "steps": 5}
    assert set(search.predict(texts[:9])) <= set(y)
    assert (cross_val_score(classifier(), texts[:120], y[:120], cv=2) > 0.3).all()


def test_nothing_is_left_behind_but_embeddings(
    texts: list[str], some: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("ACTUNE_CACHE", str(tmp_path / "cache"))
    classifier(method="actune").fit(texts[:80], some[:80]).predict(texts[:5])
    left = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert left and all(path.parts[:2] == ("cache", "embeddings") for path in left)


@pytest.mark.parametrize("learner", ["probe", "finetune"])
def test_save_and_load_are_equal(learner: str, texts: list[str], questions: Task, tmp_path: Path) -> None:
    numbers = questions.pool.labels[:40]
    whole = classifier(learner=learner, settings={"epochs": 1}).fit(texts[:40], numbers)
    loaded = TextClassifier.load(whole.save(tmp_path / "model"), device="cpu")
    assert loaded.classes_.dtype == whole.classes_.dtype
    np.testing.assert_allclose(loaded.predict_proba(texts[:20]), whole.predict_proba(texts[:20]), atol=1e-6)
    assert (loaded.predict(texts[:20]) == whole.predict(texts[:20])).all()
    served = actune.load(tmp_path / "model", device="cpu")
    np.testing.assert_allclose(served.predict_proba(texts[:20]), whole.predict_proba(texts[:20]), atol=1e-6)
    assert served.classes == tuple(map(str, whole.classes_.tolist())) and "learner" in served.note
    earlier = shutil.copytree(tmp_path / "model", tmp_path / "earlier")  # as an earlier version wrote it
    (earlier / "actune.json").unlink()
    shutil.rmtree(earlier / "encoder", ignore_errors=True)
    again = TextClassifier.load(earlier, device="cpu")
    np.testing.assert_allclose(again.predict_proba(texts[:20]), whole.predict_proba(texts[:20]), atol=1e-6)
    with pytest.raises(DataError, match="no texts to choose from"):
        loaded.query(3)
    with pytest.raises(DataError, match="already exists"):
        whole.save(tmp_path / "model")
    with pytest.raises(ModelError, match="is not a saved TextClassifier"):
        TextClassifier.load(tmp_path)
    assert (loaded.fit(texts[:40], numbers).query(3) == whole.query(3)).all()
