"""The recipe `auto`, the default of a run, and its ablations: see benchmarks/reports/auto.md."""

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
    "other",
    "ask about uncertain, dissimilar texts; a teacher model pseudo-labels the same number of texts per class",
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


@variant("auto", "auto-query", "ablation", "auto without pseudo-labels", uses=())
def auto_query(settings: Settings) -> Method:
    return asking(auto(settings).query)


@variant("auto", "auto-no-groups", "ablation", "auto that asks as margin does")
def auto_no_groups(settings: Settings) -> Method:
    return replace(auto(settings), query=Top(margin))


@variant("auto", "auto-no-balance", "ablation", "auto without equal numbers of pseudo-labels per class")
def auto_no_balance(settings: Settings) -> Method:
    return replace(auto(settings), self_training=replace(_draw(settings), balanced=False))


@variant("auto", "auto-one-student", "ablation", "auto with one student instead of two")
def auto_one_student(settings: Settings) -> Method:
    return replace(auto(settings), teacher=replace(TEACHER, generations=1))


@variant("auto", "auto-no-switch", "ablation", "auto that keeps the student even if the dev set favours the teacher")
def auto_no_switch(settings: Settings) -> Method:
    return replace(auto(settings), teacher=replace(TEACHER, may_stay=False))


def _draw(settings: Settings) -> EvenDraw:
    return EvenDraw(settings.teacher_rows // 2)  # of what UST's teacher pseudo-labels
