"""The registry: what each name means, and that looking it up is cheap."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from actune.core.objective import NO_GATE, Objective
from actune.core.settings import Settings
from actune.errors import SettingError
from actune.methods.features import embeddings
from actune.methods.method import Method, Teacher
from actune.methods.queries import Distinct, Random, Top
from actune.methods.recipes import RECIPES, build
from actune.methods.regions import Calmest, Hottest, Regions
from actune.methods.teaching import EvenDraw
from actune.methods.trust import Surest
from actune.methods.uncertainty import Cal, entropy, margin

SETTINGS = Settings(regions=7, regions_used=3, beta=0.4, growth=11, neighbors=4, weight=0.5, threshold=0.7)


def test_the_names() -> None:
    wanted = """thrifty thrifty-query thrifty-any thrifty-one-student random entropy
    least-confidence margin bald badge alps cal st ust cosine asst ceal bass revival actune actune-cal
    actune-badge actune-alps actune-bald actune-margin actune-query actune-cal-query actune-no-regions actune-no-memory
    actune-no-weights hast typiclust"""
    assert list(RECIPES) == wanted.split()
    assert "reconstructed" in RECIPES["revival"].summary and "reconstructed" in RECIPES["revival"].reference
    assert all(recipe.summary and "\n" not in recipe.summary for recipe in RECIPES.values())


def test_plain_queries() -> None:
    assert build("random", SETTINGS).query == Random()
    assert build("entropy", SETTINGS).query == Top(entropy)
    assert build("cal", SETTINGS).query == Top(Cal(4))
    assert all(build(name, SETTINGS).self_training is None for name in ("random", "entropy", "cal"))


def test_actune_asks_and_trusts_in_the_same_regions() -> None:
    method = build("actune", SETTINGS)
    regions = Regions(entropy, k=7, beta=0.4, weighted=True)
    assert method.query == Hottest(regions, 3)
    assert isinstance(method.self_training, Surest)
    assert method.self_training.rule == Calmest(regions, 3)
    assert method.self_training.growth == 11
    assert method.self_training.memory.remembers == "predictions"
    assert method.objective == Objective(weight=0.5, threshold=0.7)


def test_actune_with_cal_remembers_scores() -> None:
    method = build("actune-cal", SETTINGS)
    assert method.query == Hottest(Regions(Cal(4), 7, 0.4), 3)
    assert isinstance(method.self_training, Surest)
    assert (method.self_training.memory.score, method.self_training.memory.remembers) == (Cal(4), "scores")


def parts(name: str) -> Surest:
    training = build(name, SETTINGS).self_training
    assert isinstance(training, Surest)
    return training


def test_an_ablation_differs_in_one_thing() -> None:
    actune, cal = build("actune", SETTINGS), build("actune-cal", SETTINGS)
    for name, whole in (("actune-query", actune), ("actune-cal-query", cal)):
        assert build(name, SETTINGS) == replace(whole, self_training=None, objective=Objective())
    assert build("actune-no-regions", SETTINGS) == replace(actune, query=Top(entropy))
    forgetful = replace(parts("actune").memory, low=1.0, high=1.0)
    assert build("actune-no-memory", SETTINGS) == replace(
        actune, self_training=replace(parts("actune"), memory=forgetful)
    )
    plain = Regions(entropy, 7, 0.4, weighted=False)
    assert build("actune-no-weights", SETTINGS) == replace(
        actune, query=Hottest(plain, 3), self_training=replace(parts("actune"), rule=Calmest(plain, 3))
    )


def test_an_ablation_of_thrifty_differs_in_one_thing() -> None:
    thrifty, draw = build("thrifty", SETTINGS), EvenDraw(SETTINGS.teacher_rows // 2, surer=0.5)
    taught = Objective(0.25, NO_GATE, most_steps=500)  # half of the weight that the settings give
    teacher = Teacher(may_stay=True, generations=2, reads=16_384)
    assert thrifty == Method(Distinct(margin, embeddings), draw, taught, teacher)
    assert build("thrifty-query", SETTINGS) == Method(thrifty.query, None, Objective())
    assert build("thrifty-any", SETTINGS) == replace(thrifty, self_training=replace(draw, surer=1.0))
    assert build("thrifty-one-student", SETTINGS) == replace(thrifty, teacher=replace(teacher, generations=1))


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(SettingError, match="unknown method 'actun': did you mean 'actune'"):
        build("actun", SETTINGS)


def test_methods_are_values() -> None:
    for name in RECIPES:
        assert build(name, SETTINGS) == build(name, SETTINGS) and hash(build(name, SETTINGS))


def test_looking_methods_up_needs_no_torch() -> None:
    code = (
        "import sys; from actune.core.settings import Settings; from actune.methods.recipes import RECIPES, build; "
        "[build(name, Settings()) for name in RECIPES]; print({'torch', 'numpy'} & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_a_function_that_makes_no_method_is_one_sentence() -> None:
    for place in ("math:log", "json:dumps"):  # one refuses settings, and one takes them for something else
        with pytest.raises(SettingError, match=place):
            build(place, SETTINGS)
