"""The recipe `auto`, which a run takes unless told otherwise, and its ablations: docs/auto.md says how it was found."""

from __future__ import annotations

from dataclasses import replace

from actune.core.objective import NO_GATE, Objective
from actune.core.settings import Settings
from actune.methods.features import embeddings
from actune.methods.method import Method, Teacher, asking, recipe, variant
from actune.methods.queries import Distinct, Top
from actune.methods.teaching import READ_AT_MOST, EvenDraw
from actune.methods.uncertainty import margin

STEPS = 500  # of a student, where labels alone take no more: its pseudo-labels are soon learnt
TEACHER = Teacher(may_stay=True, generations=2, reads=READ_AT_MOST)


@recipe(
    "auto",
    "beyond",
    "ask where two classes are closest, about unlike texts; a teacher pseudo-labels as many of each class, twice",
    "after Zhdanov 2019, Mukherjee and Awadallah 2020",
    uses=("teacher_rows", "weight"),
    version=3,
)
def auto(settings: Settings) -> Method:
    return Method(
        query=Distinct(margin, embeddings),
        self_training=_draw(settings),
        objective=Objective(settings.weight, NO_GATE, most_steps=STEPS),
        teacher=TEACHER,
    )


@variant("auto", "auto-query", "ablation", "auto that trusts nothing: its questions alone", uses=())
def auto_query(settings: Settings) -> Method:
    return asking(auto(settings).query)


@variant("auto", "auto-no-groups", "ablation", "auto that asks where two classes are closest, alike or not")
def auto_no_groups(settings: Settings) -> Method:
    return replace(auto(settings), query=Top(margin))


@variant("auto", "auto-no-balance", "ablation", "auto whose pseudo-labels have classes as often as they are predicted")
def auto_no_balance(settings: Settings) -> Method:
    return replace(auto(settings), self_training=replace(_draw(settings), balanced=False))


@variant("auto", "auto-one-student", "ablation", "auto whose first student is the last")
def auto_one_student(settings: Settings) -> Method:
    return replace(auto(settings), teacher=replace(TEACHER, generations=1))


@variant("auto", "auto-no-switch", "ablation", "auto whose student is taken even where dev is against it")
def auto_no_switch(settings: Settings) -> Method:
    return replace(auto(settings), teacher=replace(TEACHER, may_stay=False))


def _draw(settings: Settings) -> EvenDraw:
    return EvenDraw(settings.teacher_rows // 2)  # of what UST's teacher pseudo-labels
