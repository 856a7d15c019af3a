"""The option `recipe`: how the learner finetune trains."""

from __future__ import annotations

from dataclasses import replace

import pytest

import actune
from actune.core.task import Task
from actune.data.tasks import load_task
from actune.errors import SettingError
from actune.models.learners import CONTRASTIVE, CONTRASTIVE_CPU, CPU, PROBE, RECIPES, recipe_for
from actune.session.config import load_config

SMALL = {"epochs": 1, "steps": 2}


def recorded(folder, task: Task, **options):
    """The training that run.toml records for a run with these options."""
    actune.create(folder, task.pool, batch=10, **options).close()
    return load_config(folder).training


def test_each_recipe_has_its_own_training(questions: Task, tmp_path) -> None:
    found = {name: recorded(tmp_path / name, questions, learner="finetune", recipe=name) for name in RECIPES}
    assert found == {"paper": CPU, "contrastive": CONTRASTIVE_CPU}
    assert recipe_for("finetune", "cuda", "contrastive") == CONTRASTIVE


def test_the_contrastive_recipe_is_the_default_and_the_authors_scripts_have_the_paper_s(tmp_path, questions) -> None:
    assert recorded(tmp_path / "usual", questions, learner="finetune") == CONTRASTIVE_CPU
    released = recorded(tmp_path / "released", questions, learner="finetune", preset="released")
    assert not released.pooled_head and load_config(tmp_path / "released").request.recipe == "paper"


def test_a_run_folder_older_than_the_option_has_the_paper_s_recipe(questions: Task, tmp_path) -> None:
    actune.create(tmp_path / "run", questions.pool, learner="probe").close()
    file = tmp_path / "run" / "run.toml"
    lines = [line for line in file.read_text().splitlines(keepends=True) if not line.startswith("recipe = ")]
    file.write_text("".join(lines))
    assert load_config(tmp_path / "run").request.recipe == "paper"


def test_a_setting_changes_either_recipe(questions: Task, tmp_path) -> None:
    options = {"learner": "finetune", "recipe": "contrastive", "changes": {"temperature": 0.3}}
    assert recorded(tmp_path / "run", questions, **options) == replace(CONTRASTIVE_CPU, temperature=0.3)


def test_a_learner_with_one_recipe_keeps_it(questions: Task, tmp_path) -> None:
    assert recorded(tmp_path / "run", questions, learner="probe", recipe="contrastive") == PROBE


def test_the_batches_of_a_task_are_the_paper_s(tmp_path) -> None:
    """TREC says batches of 8 labelled and 16 pseudo-labelled rows; a contrastive term needs several of each class."""
    run = tmp_path / "run"
    plan = {"simulated": True, "initial": 20, "batch": 20, "rounds": 1}
    actune.create(run, load_task("trec"), learner="finetune", recipe="contrastive", **plan).close()
    training = load_config(run).training
    assert (training.labelled_batch, training.pseudo_batch) == (CONTRASTIVE_CPU.labelled_batch, 16)


def test_a_run_with_the_contrastive_recipe_goes_on_as_if_unbroken(questions: Task, tmp_path) -> None:
    def two_rounds(folder, stop: bool):
        plan = {"simulated": True, "initial": 20, "batch": 10, "rounds": 2, "changes": SMALL}
        session = actune.create(folder, questions, learner="finetune", recipe="contrastive", method="thrifty", **plan)
        for _ in range(2):
            truth = questions.pool.labels
            answers = {question.id: truth[questions.pool.row_of[question.id]] for question in session.ask()}
            session.tell({id: questions.pool.classes[label] for id, label in answers.items()})
            facts = session.advance()
            if stop:
                session.close()
                session = actune.open_session(folder)
        return facts

    unbroken, resumed = two_rounds(tmp_path / "a", stop=False), two_rounds(tmp_path / "b", stop=True)
    assert unbroken.metrics == resumed.metrics and unbroken.accuracy is not None
    assert unbroken.pseudo_labels.count


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"recipe": "papper"}, "unknown recipe 'papper': did you mean 'paper'"),
        ({"recipe": "contrastive", "preset": "released"}, "--preset released trains as the authors' scripts do"),
    ],
)
def test_a_recipe_that_cannot_be_is_a_sentence(questions: Task, tmp_path, options, sentence) -> None:
    with pytest.raises(SettingError, match=sentence):
        actune.create(tmp_path / "run", questions.pool, learner="finetune", **options)
    assert not (tmp_path / "run").exists()
