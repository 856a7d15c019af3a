"""A grid file: which cells it means, and one sentence for everything that it cannot mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from actune.bench.grid import load_grid, parse_grid
from actune.data.tasks import cards
from actune.errors import SettingError
from actune.methods.recipes import RECIPES

ROOT = Path(__file__).parents[2]
GRID = '[grid]\ntasks = "trec"\nmethods = ["random", "actune"]\nlearners = "probe"\n'


def test_a_grid_is_the_product_of_its_lists_and_single_values_are_lists_of_one():
    grid = parse_grid(
        'title = "t"\n[grid]\ntasks = ["trec", "sst2"]\nmethods = ["random", "cal"]\nmodels = ["minilm", "mpnet"]\n'
        'learners = "probe"\nseeds = [0, 1, 2]\n[settings]\nrounds = 3\nK = 10\nweak = false\nnoise = 0\n'
    )
    assert grid.title == "t" and len(grid.points) == len(set(grid.points)) == 24
    assert {point.settings["regions"] for point in grid.points} == {10}
    assert dict(grid.points[0].settings) == {"rounds": 3, "regions": 10, "weak": "", "noise": 0.0}
    assert grid.points[0].name == "trec random minilm probe seed 0"
    assert {point.variant for point in grid.points} == {""}


def test_what_is_left_out_has_a_default():
    (point,) = parse_grid('[grid]\ntasks = "trec"\nmethods = "random"\n').points
    assert (point.model, point.learner, point.seed) == ("minilm", "finetune", 0)


def test_cells_that_can_share_a_first_model_stand_together():
    points = parse_grid(GRID + "seeds = [0, 1]\n[[sweep]]\nmethods = 'actune'\nover = { beta = [0, 1] }\n").points
    assert [point.seed for point in points] == [0] * 4 + [1] * 4


def test_an_override_changes_some_cells_and_makes_no_variant():
    grid = parse_grid(
        GRID + '[settings]\nrounds = 3\n[[override]]\nwhen = { method = "random", seed = [0] }\nset = { rounds = 9 }\n'
    )
    assert [(point.method, point.settings["rounds"], point.variant) for point in grid.points] == [
        ("random", 9, ""),
        ("actune", 3, ""),
    ]


def test_a_sweep_adds_cells_that_are_named_by_what_they_change():
    grid = parse_grid(
        GRID + '[[sweep]]\nmethods = "actune"\nover = { m_L = [0.6, 0.7], m_H = [0.8, 1.0] }\n'
        '[[sweep]]\nmethods = "actune"\nover = { beta = [0, 0.25] }\n'
    )
    assert [point.variant for point in grid.points] == [
        *("", ""),
        "momentum_high=0.8 momentum_low=0.6",
        "momentum_high=1 momentum_low=0.6",
        "momentum_high=0.8 momentum_low=0.7",
        "momentum_high=1 momentum_low=0.7",
        *("beta=0", "beta=0.25"),
    ]
    assert grid.points[-2].settings == {"beta": 0.0}


def test_a_block_has_its_own_lists_and_settings_and_takes_the_rest_from_the_grid():
    grid = parse_grid(
        '[grid]\nmethods = "random"\nseeds = [4]\n[[block]]\ntasks = "sst2"\n'
        '[[block]]\ntasks = "trec"\nmethods = ["asst", "ust"]\nsettings = { weak = true, growth = 100, ramp = true }\n'
    )
    assert [point.name for point in grid.points] == [
        "sst2 random minilm finetune seed 4",
        "trec asst minilm finetune seed 4 weak growth=100 ramp=true",
        "trec ust minilm finetune seed 4 weak growth=100 ramp=true",
    ]


def test_what_a_block_sets_goes_before_an_override_and_that_before_the_settings():
    grid = parse_grid(
        '[grid]\ntasks = "trec"\nmethods = "random"\n[settings]\nrounds = 1\nbatch = 1\ninitial = 1\n'
        '[[override]]\nwhen = { task = "trec" }\nset = { rounds = 2, batch = 2 }\n'
        '[[block]]\nmethods = "cal"\nsettings = { rounds = 3 }\n'
    )
    assert [tuple(point.settings.values()) for point in grid.points] == [(2, 2, 1), (3, 2, 1)]


def test_a_weak_start_is_a_variant_however_it_was_set():
    text = '[grid]\ntasks = ["trec", "sst2"]\nmethods = "random"\n'
    grid = parse_grid(text + '[[override]]\nwhen = { task = "trec" }\nset = { weak = true }\n')
    assert [(point.variant, point.settings.get("weak")) for point in grid.points] == [("weak", "own"), ("", None)]


def test_ones_own_data_has_a_short_name_and_says_how_it_is_read():
    text = '[task.mine]\ndata = "posts.csv"\nlabel = "kind"\nhold_out_test = 0.3\n'
    (point,) = parse_grid(text + '[grid]\ntasks = "mine"\nmethods = "random"\n').points
    assert (point.task, point.data, dict(point.reading)) == (
        "mine",
        "posts.csv",
        {"label": "kind", "hold_out_test": 0.3},
    )


def test_only_leaves_some_cells():
    grid = parse_grid(GRID + 'seeds = [0, 1, 2]\n[[sweep]]\nmethods = "actune"\nover = { beta = 0.25 }\n')
    assert len(grid.only(["seed=0,2"]).points) == 6
    assert [point.name for point in grid.only(["seed=1", "method=actune", "variant="]).points] == [
        "trec actune minilm probe seed 1"
    ]
    assert {point.variant for point in grid.only(["variant=beta=0.25"]).points} == {"beta=0.25"}
    for filters, sentence in (
        (["method=actun"], "the grid has no method 'actun': did you mean 'actune'?"),
        (["methods=actune"], "--only takes no 'methods': did you mean 'method'?"),
        (["seed"], "--only takes name=value, not 'seed'"),
        (["method=random", "variant=beta=0.25"], "no cell of the grid matches method=random and variant=beta=0.25"),
    ):
        with pytest.raises(SettingError) as error:
            grid.only(filters)
        assert str(error.value).startswith(sentence)


BAD = {
    "gird = 1\n": "a grid has no 'gird': did you mean 'grid'?",
    "": "the grid has no cells: name tasks and methods in [grid]",
    '[grid]\ntasks = "trec"\n': "the grid has no cells",
    "[grid]\ntasks = []\nmethods = []\n": "the list tasks in [grid] is empty",
    '[grid]\ntask = "trec"\n': "[grid] has no 'task': did you mean 'tasks'?",
    '[grid]\ntasks = "trec"\nmethods = "actuna"\n': "unknown method 'actuna': did you mean 'actune'?",
    GRID.replace("probe", "prob"): "unknown learner 'prob': did you mean 'probe'?",
    GRID.replace("probe", "auto"): "a grid cannot use the learner auto, which depends on the speed of the machine",
    GRID + "seeds = [0, -1]\n": "seeds in [grid] must be whole numbers of at least 0, not -1",
    GRID + "seeds = [true]\n": "seeds in [grid] must be whole numbers of at least 0, not True",
    GRID + "models = [3]\n": "models in [grid] must be names, not 3",
    GRID + "seeds = [1, 1]\n": "[grid] has a duplicate in seeds",
    GRID + "[settings]\nbeto = 1\n": "[settings] has an unknown setting 'beto': did you mean 'beta'?",
    GRID + "[settings]\nrounds = 'ten'\n": "setting 'rounds' takes a whole number, not 'ten'",
    GRID + "[settings]\nrounds = true\n": "setting 'rounds' takes a whole number, not True",
    GRID + "[settings]\nthreshold = 2\n": "setting 'threshold' must be between 0 and 1, not 2",
    GRID + "[settings]\ndevice = 'cpu'\n": "[settings] has an unknown setting 'device'",
    GRID + "[[override]]\nwhen = { method = 'cal' }\nset = { beta = 1 }\n": "[[override]] 1 is for the method 'cal'",
    GRID
    + "[[override]]\nwhen = { methods = 'random' }\nset = { beta = 1 }\n": "`when` in [[override]] 1 has no 'methods'",
    GRID + "[[override]]\nset = { beta = 1 }\n": "[[override]] 1 needs both `when` and `set`",
    GRID + "[override]\nset = { beta = 1 }\n": "write [[override]] with two brackets",
    GRID + "[[sweep]]\nseeds = 1\n": "[[sweep]] 1 has no values to sweep over",
    GRID + "[[sweep]]\nover = { beta = [0], gamma = 3 }\n": "setting 'threshold' must be between 0 and 1, not 3",
    GRID + "[[block]]\nover = { beta = [0] }\nseeds = 1\n": "[[block]] 1 has no 'over'",
    "[grid]\nseeds = 1\n[[block]]\ntasks = 'trec'\n": "[[block]] 1 has no methods, and neither has [grid]",
    GRID + "[[block]]\nmethods = 'random'\n": "the grid has the cell trec random minilm probe seed 0 twice",
    "[task.mine]\ntext = 'x'\n" + GRID: "[task.mine] needs the path of its data",
    "[task.mine]\ndata = 'x.csv'\ntexts = 'x'\n" + GRID: "[task.mine] has no 'texts': did you mean 'text'?",
    "settings = 3\n" + GRID: "settings in a grid must be a table, not 3",
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: BAD[text][:50])
def test_bad_input_is_one_sentence(text: str):
    with pytest.raises(SettingError) as error:
        parse_grid(text, "my.toml")
    assert str(error.value).startswith(f"my.toml: {BAD[text]}")
    assert "\n" not in str(error.value)


def test_a_file_that_is_none_or_no_toml_is_one_sentence(tmp_path: Path):
    (tmp_path / "bad.toml").write_text("[grid\n")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    for name, sentence in (("none", "there is no file"), ("bad", "is not TOML"), ("binary", "is not UTF-8")):
        with pytest.raises(SettingError, match=sentence):
            load_grid(tmp_path / f"{name}.toml")


@pytest.mark.parametrize("file", sorted((ROOT / "benchmarks/grids").glob("*.toml")), ids=lambda file: file.stem)
def test_grids_that_ship_can_be_read(file: Path):
    points = load_grid(file).points
    assert {Path(point.data).name for point in points} <= set(cards())  # as it is, or a folder made of it
    assert {point.method for point in points} <= set(RECIPES)


def test_the_grids_that_ship_hold_what_their_names_say():
    grids = {name: load_grid(ROOT / f"benchmarks/grids/{name}.toml") for name in ("paper", "core", "weak", "smoke")}
    paper = {point.coordinates for point in grids["paper"].points}
    assert {place[0] for place in paper} == {name for name, known in cards().items() if known.in_paper}
    core = {point.coordinates for point in grids["core"].points}
    assert len(core) == 5 * 11 * 3 and {place[5] for place in core if place[0] == "trec"} == {"weak"}
    assert {place for place in core if place[0] != "trec"} <= paper
    full = [point for point in grids["weak"].points if not point.settings["weak"]]
    pools = {card.name: card.files["train"]["rows"] for card in cards().values()}
    assert {(point.task, point.settings["initial"]) for point in full} == {
        (name, pools[name]) for name in ("trec", "chemprot")
    }
    assert {point.learner for point in grids["smoke"].points} == {"probe"}


HOSTILE = {
    "[settings]\nregions = inf\n": "setting 'regions' takes a whole number, not inf",
    "[settings]\nbeta = nan\n": "setting 'beta' must be",
    "[settings]\nbeta = inf\n": "setting 'beta' must be between 0 and 1,000,000,000, not inf",
    f"[settings]\ngrowth = {10**30}\n": "setting 'growth' must be between",
    "[settings]\nnoise = nan\n": "setting 'noise' takes a number, not nan",
    "[task.trec]\nsample = 'x'\n": "[task.trec]: setting 'sample' takes a whole number, not 'x'",
    "[task.trec]\nsample = nan\n": "[task.trec]: setting 'sample' takes a whole number, not nan",
    "[task.trec]\nhold_out_dev = nan\n": "[task.trec]: setting 'hold_out_dev' takes a number, not nan",
    "[task.trec]\nhold_out_test = 1979-05-27\n": "[task.trec]: setting 'hold_out_test' takes a number, not",
    "[task.trec]\ntest = 3\n": "[task.trec]: setting 'test' takes a text, not 3",
    "[task.trec]\nclasses = 3\n": "[task.trec]: setting 'classes' takes a list, not 3",
    "[task.trec]\nclasses = [3]\n": "[task.trec]: classes must be names, not [3]",
    f"[[block]]\nseeds = {2**60}\n": "seeds in [[block]] 1 must be at most",
}


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: HOSTILE[text][:50])
def test_numbers_and_types_that_cannot_be_are_one_sentence(text: str):
    with pytest.raises(SettingError) as error:
        parse_grid('[grid]\ntasks = "trec"\nmethods = "random"\n' + text, "my.toml")
    assert str(error.value).startswith(f"my.toml: {HOSTILE[text]}")


NAMED = (
    "[grid]\ntasks = {}",
    "[grid]\nmodels = [{}]",
    "[task.trec]\ntest = {}",
    "[settings]\nweak = {}",
    "[[block]]\nx={}",
)


@pytest.mark.parametrize("text", NAMED)
def test_a_name_that_no_disk_takes_is_one_sentence(text: str):
    for name in ("n" * 300, "a/" * 3_000, "a\\u0000", "\u00e9" * 130):
        with pytest.raises(SettingError, match=r"my\.toml: the grid has the name '.*, which is too long"):
            parse_grid(text.format(f'"{name}"'), "my.toml")


@pytest.mark.parametrize(
    "end",
    [f"seeds = {list(range(60_000))}", "[[sweep]]\nover = { beta = %s, weight = %s }" % ((list(range(1000)),) * 2)],
)
def test_short_lists_that_multiply_to_more_cells_than_can_be_run_are_one_sentence(end: str):
    with pytest.raises(SettingError, match=r"the grid has [\d,]+ cells, and at most 100,000 can be planned"):
        parse_grid(f"{GRID}{end}\n")
