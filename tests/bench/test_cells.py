"""Keys: the same for the same run on any machine, another one for everything that decides a result."""

from __future__ import annotations

import csv
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from actune.bench import cells
from actune.bench.cells import Cell, CellDevice, _unusual, data_digest, load, plan, version_of
from actune.bench.grid import parse_grid
from actune.core.settings import Settings, Training
from actune.errors import ActuneError, DataError, SettingError
from actune.methods.method import RECIPES
from actune.models.learners import LEARNERS
from tests.bench.conftest import stub_hub
from tests.models.tiny import save_tiny

CPU = CellDevice("cpu")
ONE = '[grid]\ntasks = "trec"\nmethods = "actune"\nlearners = "probe"\n[settings]\nrounds = 3\n'


def only(text: str, device: CellDevice = CPU, data_dir: Path | None = None) -> Cell:
    (cell,) = plan(parse_grid(text), device, data_dir)
    return cell


def key(text: str, device: CellDevice = CPU) -> str:
    return only(text, device).key


def test_the_same_grid_has_the_same_keys_however_it_is_written():
    assert key(ONE) == key(ONE) == key(ONE + "beta = 0.5\ninitial = 50\nK = 40\n")
    assert len(key(ONE)) == 16 and int(key(ONE), 16)


def test_a_setting_at_its_default_is_no_part_of_the_key_and_a_changed_one_is():
    assert _unusual(Settings()) == {} and _unusual(Training()) == {}
    assert _unusual(Settings(beta=0.25)) == {"beta": 0.25} and _unusual(Training(steps=7)) == {"steps": 7}
    assert key(ONE + "momentum_low = 0.25\n") != key(ONE)
    assert key(ONE + f"momentum_low = {Settings().momentum_low}\n") == key(ONE)


def test_a_cell_without_its_dev_set_is_another_one_and_the_keys_of_all_others_stay():
    assert key(ONE + "no_dev = false\n") == key(ONE) != key(ONE + "no_dev = true\n")
    assert only(ONE + "no_dev = true\n").options["no_dev"] is True


def test_a_setting_that_was_renamed_leaves_the_keys_as_they_were():
    assert _unusual(Training(no_fewer_steps=False)) == {"as_long": False}
    assert _unusual(Settings(confidence_penalty=0.2)) == {"spread": 0.2}
    for former, name in (
        ("as_long = true\n", "no_fewer_steps = true\n"),
        ("spread = 0.2\n", "confidence_penalty = 0.2\n"),
    ):
        assert key(ONE + former) == key(ONE + name) != key(ONE)


def test_the_switch_to_plain_code_decides_the_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ACTUNE_FAST", raising=False)
    usual, plain = key(ONE), key(ONE + "fast = false\n")
    assert usual == key(ONE + "fast = true\n") != plain
    monkeypatch.setenv("ACTUNE_FAST", "0")
    assert key(ONE) == plain


def test_a_fix_that_changes_results_makes_all_cells_new(monkeypatch: pytest.MonkeyPatch):
    before = only(ONE)
    monkeypatch.setattr(cells, "RESULTS", cells.RESULTS + 1)
    assert only(ONE).key != before.key and only(ONE).group != before.group


def test_a_learner_that_became_another_one_has_other_cells(monkeypatch: pytest.MonkeyPatch):
    tuned = ONE.replace("probe", "finetune")
    before = only(ONE), only(tuned)
    monkeypatch.setitem(LEARNERS, "probe", replace(LEARNERS["probe"], version=9))
    assert only(ONE).key != before[0].key and only(ONE).group != before[0].group
    assert only(tuned) == before[1] and version_of("finetune") == {}


def test_a_method_that_became_another_one_has_other_cells(monkeypatch: pytest.MonkeyPatch):
    before = only(ONE)
    monkeypatch.setitem(RECIPES, "actune", replace(RECIPES["actune"], version=2))
    assert only(ONE).key != before.key and only(ONE).group == before.group


def test_a_sample_of_a_named_data_set_counts():
    texts = [ONE + f"[task.trec]\nsample = {rows}\n" for rows in (600, 601)]  # so near that no setting differs
    assert len({key(text) for text in (ONE, *texts)}) == 3
    assert key(ONE + "[task.trec]\nsample = 9999\n") == key(ONE)


def test_rows_from_the_hub_are_drawn_by_seed_and_those_of_files_count_as_one_set(monkeypatch: pytest.MonkeyPatch):
    two = ONE.replace("[settings]", "seeds = [0, 1]\n[settings]")
    first, second = plan(parse_grid(two), CPU)
    assert first.data == second.data
    stub_hub(monkeypatch)
    for cell in plan(parse_grid(two.replace("trec", "ag_news")), CPU):
        point = cell.point
        assert cell.data == data_digest(load(point.data, point.reading, point.seed, point.preset))


@pytest.mark.parametrize(
    "more",
    [
        *("rounds = 4", "batch = 20", "beta = 0.25", "steps = 300", "noise = 0.1", "weak = true", "adapt = 3"),
        *(
            'preset = "released"',
            'first = "typiclust"',
            "momentum_high = 1.0",
            "max_tokens = 32",
            "learning_rate = 0.01",
        ),
    ],
)
def test_what_decides_a_result_decides_the_key(more: str):
    text = ONE.replace("rounds = 3\n", "") if more.startswith("rounds") else ONE
    assert key(text + more) != key(ONE)


def test_so_do_method_learner_and_seed():
    others = [
        ONE.replace("actune", "actune-cal"),
        ONE.replace("probe", "finetune"),
        ONE.replace("[set", "seeds = 1\n[set"),
    ]
    assert len({key(text) for text in (ONE, *others)}) == 4


def test_the_device_counts_as_far_as_it_decides_bits(monkeypatch: pytest.MonkeyPatch):
    assert len({key(ONE, device) for device in (CPU, CellDevice("cpu", 2), CellDevice("cpu", 1, "bfloat16"))}) == 3
    gpu = CellDevice("cuda", 1, "bfloat16")
    assert key(ONE, gpu) == key(ONE, replace(gpu, threads=8)) != key(ONE)
    before = key(ONE)
    monkeypatch.setattr(cells, "__version__", "9.9")
    assert key(ONE) != before


def test_places_of_files_do_not_count_and_what_they_hold_does(data: Path, tmp_path: Path):
    def text(folder: Path, model: Path) -> str:
        return f'[task.mine]\ndata = "{folder}"\n' + ONE.replace('"trec"', f'"mine"\nmodels = "{model}"')

    tiny = save_tiny(tmp_path / "tiny")
    elsewhere, moved = shutil.copytree(data, tmp_path / "data"), shutil.copytree(tiny, tmp_path / "moved")
    before = key(text(data, tiny))
    assert before == key(text(elsewhere, moved))
    assert key(text(data, save_tiny(tmp_path / "other", "roberta"))) != before
    with (elsewhere / "test.csv").open("a", newline="") as handle:
        csv.writer(handle).writerow(["new", "who invented it ?", "human"])
    assert key(text(elsewhere, tiny)) != before


def test_cells_of_one_group_differ_in_their_method_alone():
    text = ONE.replace('"actune"', '["actune", "random"]').replace("[settings]", "seeds = [0, 1]\n[settings]")
    found = plan(parse_grid(text), CPU)
    assert [cell.group for cell in found[:2]] == [found[0].group] * 2 != [cell.group for cell in found[2:]]


def test_labels_fits_and_steps_of_a_cell():
    cell = only(ONE)
    assert (cell.fits, cell.labels) == (3, 150)
    weak = only(ONE + "weak = true\n")
    assert (weak.fits, weak.labels) == (4, 150)
    sampled = only(ONE + "weak = true\n[task.trec]\nsample = 600\n")
    assert (sampled.fits, sampled.reads) == (4, 4 * (600 + 500))
    # 50 labels in 7 steps for 30 epochs, then twice 600 steps with pseudo-labels
    assert cell.steps == 30 * 7 + 2 * 600
    # a teacher on 50, 100 and 150 labels, and two students of 500 steps each time
    assert only(ONE.replace("actune", "thrifty")).steps == 30 * (7 + 13 + 19) + 3 * 2 * 500


SWEEP = "[[sweep]]\nover = { beta = [0.25, 0.5] }\n"
BAD: dict[str, tuple[str, type[ActuneError]]] = {
    ONE + SWEEP: ("two cells of the grid are the same run: trec actune", SettingError),
    ONE.replace("trec", "trek"): ("'trek' is neither a file nor a named data set: did you mean 'trec'?", DataError),
    ONE + "batch = 3000\n": ("trec actune minilm probe seed 0: the plan asks for 6,050 labels", SettingError),
    ONE + "label_model = 'me'\n": ("trec actune minilm probe seed 0: unknown label model 'me'", SettingError),
    ONE.replace('"actune"', '"actune"\nmodels = "minilmm"'): ("unknown model 'minilmm': did you mean", ActuneError),
    ONE.replace("actune", "revival"): ("revival needs word embeddings", ActuneError),
    ONE.replace("actune", "alps"): ("alps needs a masked language model", ActuneError),
    ONE + 'weak = "votes.csv"\n': ("there is no file votes.csv", DataError),
    ONE.replace("trec", "chemprot"): ("the files of 'chemprot' were not found", DataError),
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: BAD[text][0][:50])
def test_what_cannot_work_is_one_sentence_before_anything_runs(text: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ACTUNE_DATA", raising=False)
    sentence, kind = BAD[text]
    with pytest.raises(kind) as error:
        plan(parse_grid(text), CPU)
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_an_encoder_that_will_be_adapted_will_have_a_masked_language_model():
    assert only(ONE.replace("actune", "alps") + "adapt = 3\n").point.method == "alps"


@pytest.mark.parametrize("value", ["1979-05-27", "[1]", "{ a = 1 }", "true"])
def test_how_data_is_read_has_values_of_its_kind(value: str):
    with pytest.raises(SettingError, match="setting 'sample' takes a whole number, not"):
        only(f"[task.trec]\nsample = {value}\n{ONE}")
