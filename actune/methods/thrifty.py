"""The recipe `thrifty`, the default of a run, and its ablations: see benchmarks/reports/few.md."""

from __future__ import annotations

from dataclasses import replace

from actune.core.objective import NO_GATE, Objective
from actune.core.settings import Settings
from actune.methods.features import embeddings
from actune.methods.method import Method, Teacher, asking, recipe, variant
from actune.methods.queries import Distinct
from actune.methods.teaching import READ_AT_MOST, EvenDraw
from actune.methods.uncertainty import margin

STEPS = 500  # of a student, where labels alone take no more: its pseudo-labels are soon learnt
SURER = 0.5  # the share of the pool that a teacher pseudo-labels from: less sure texts teach its mistakes
WEIGHT = 0.5  # of the pseudo-labels, beside the answers
TEACHER = Teacher(may_stay=True, generations=2, reads=READ_AT_MOST)


@recipe(
    "thrifty",
    "other",
    "ask about uncertain, dissimilar texts; a teacher model pseudo-labels texts of its surer half, evenly by class",
    "after Zhdanov 2019, Mukherjee and Awadallah 2020",
    uses=("teacher_rows", "weight"),
)
def thrifty(settings: Settings) -> Method:
    return Method(
        query=Distinct(margin, embeddings),
        self_training=_draw(settings),
        objective=Objective(WEIGHT * settings.weight, NO_GATE, most_steps=STEPS),
        teacher=TEACHER,
    )


@variant("thrifty", "thrifty-query", "ablation", "thrifty without pseudo-labels", uses=())
def thrifty_query(settings: Settings) -> Method:
    return asking(thrifty(settings).query)


@variant("thrifty", "thrifty-any", "ablation", "thrifty that pseudo-labels texts of the whole pool")
def thrifty_any(settings: Settings) -> Method:
    return replace(thrifty(settings), self_training=replace(_draw(settings), surer=1.0))


@variant("thrifty", "thrifty-one-student", "ablation", "thrifty with one student instead of two")
def thrifty_one_student(settings: Settings) -> Method:
    return replace(thrifty(settings), teacher=replace(TEACHER, generations=1))


def _draw(settings: Settings) -> EvenDraw:
    return EvenDraw(settings.teacher_rows // 2, surer=SURER)  # of what UST's teacher pseudo-labels
