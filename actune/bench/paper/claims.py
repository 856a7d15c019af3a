"""What the paper claims, in our own words, and how each claim is measured here."""

from __future__ import annotations

from actune.bench.evidence import WEAK, Evidence, Scene
from actune.bench.paper import measures, subjects, sweeps
from actune.bench.paper.judging import AtLeast, Claim, Finding, StaysBelow, judge
from actune.bench.paper.measured import first_half, second_half


def judge_paper(evidence: Evidence) -> list[Finding]:
    """Every claim of the paper against one table of results."""
    return judge(evidence, CLAIMS)


def _weak(evidence: Evidence) -> list[Scene]:
    return list(subjects.scenes_of(evidence, subjects.WEAK_TASKS, WEAK).values())


def _ag_news(evidence: Evidence) -> list[Scene]:
    return list(subjects.scenes_of(evidence, ("ag_news",)).values())


CLAIMS = (
    Claim(
        "saves labels against active learning",
        "AcTune needs 56.2 % fewer labels than the best active learner for the same accuracy.",
        "1 - n/N at actune's last labels n, N by interpolation on the best learner's mean curve; mean over tasks",
        AtLeast(0.562),
        lambda evidence: measures.labels_saved(evidence, subjects.ASKING),
        "%",
    ),
    Claim(
        "saves labels against UST",
        "AcTune needs 57.0 % fewer labels than UST for the same accuracy.",
        "as above, against ust",
        AtLeast(0.570),
        lambda evidence: measures.labels_saved(evidence, ("ust",)),
        "%",
    ),
    Claim(
        "ahead in most rounds",
        "AcTune is ahead of all others in more than 90 % of the rounds.",
        "share of tasks and rounds, but the first, where its mean is above every other's of its panel; ties are half; "
        "the interval is the wider of two: one seed left out at a time, and Wilson's over rounds",
        AtLeast(0.9, above=0.5),
        measures.rounds_won,
        "%",
        tested=False,
    ),
    Claim(
        "asks better",
        "With its questions alone AcTune ends 0.4 to 0.7 points above the best active learner.",
        "difference at the last labels to the best of them, mean over tasks; at least 0.4",
        AtLeast(0.004),
        lambda evidence: measures.last_gain(evidence, "actune-query", subjects.ASKING),
    ),
    Claim(
        "ends higher with pseudo-labels",
        "AcTune ends 0.3 to 1.5 points above the best method that also learns from unlabelled texts.",
        "difference at the last labels to the best of them, mean over tasks; at least 0.3",
        AtLeast(0.003),
        lambda evidence: measures.last_gain(evidence, "actune", subjects.TRUSTING),
    ),
    Claim(
        "ends higher than self-training",
        "AcTune ends 1.05 points above self-training on average.",
        "difference at the last labels to the mean of st and ust, mean over tasks",
        AtLeast(0.0105),
        lambda evidence: measures.gain_over_mean(evidence, ("st", "ust")),
    ),
    *(
        Claim(
            f"weak start, {labels} labels",
            f"From weak labels on TREC AcTune reaches 96.68 % with about 6 % clean labels; here with {labels}.",
            f"accuracy of actune at {labels} clean labels; reached with at most one point of doubt",
            AtLeast(0.9668, above=0.9568),
            lambda evidence, labels=labels: measures.weak_accuracy(evidence, "trec", labels),  # type: ignore[misc]
            "%",
            tested=False,
        )
        for labels in (300, 500)
    ),
    Claim(
        "beta hardly matters",
        "The weight of mixed classes, beta, changes accuracy by less than 0.6 points.",
        "best less worst value at the last labels",
        StaysBelow(0.006),
        lambda evidence: sweeps.effect_of_setting(evidence, "beta"),
        tested=False,
    ),
    Claim(
        "memory cleans pseudo-labels",
        "Memory makes about one point more of the pseudo-labels right.",
        "difference of pseudo-label accuracy to actune-no-memory, on average over labels; at least half a point",
        AtLeast(0.005),
        lambda evidence: measures.gap_between(evidence, "actune", "actune-no-memory", measure="pseudo_label_accuracy"),
    ),
    Claim(
        "BASS is behind BALD",
        "On AG News BASS, for all its pseudo-labels, is behind BALD.",
        "difference bald - bass on average over labels",
        AtLeast(0.0),
        lambda evidence: measures.gap_between(evidence, "bald", "bass", _ag_news(evidence)),
    ),
    Claim(
        "large last momentum is better late",
        "A larger momentum at the end (m_H) is better in late rounds.",
        "largest less smallest m_H, on average over the second half of the labels",
        AtLeast(0.0),
        sweeps.late_gap_of_momentum,
    ),
    Claim(
        "memory matters early",
        "Without memory the early rounds are worse.",
        "difference to actune-no-memory on average over the first half of the labels",
        AtLeast(0.0),
        lambda evidence: measures.gap_between(evidence, "actune", "actune-no-memory", part=first_half),
    ),
    Claim(
        "weights matter late",
        "Without weights in k-means the late rounds are worse.",
        "difference to actune-no-weights on average over the second half of the labels",
        AtLeast(0.0),
        lambda evidence: measures.gap_between(evidence, "actune", "actune-no-weights", part=second_half),
    ),
    Claim(
        "CAL disappoints after a weak start",
        "From weak labels AcTune + CAL is unsatisfactory.",
        "difference actune - actune-cal on average over labels, on the tasks with a weak start",
        AtLeast(0.0),
        lambda evidence: measures.gap_between(evidence, "actune", "actune-cal", _weak(evidence)),
    ),
    Claim(
        "neither few nor many regions",
        "A small and a large number of regions are both worse.",
        "the task's own K less the smallest and less the largest tried, at the last labels; the smaller of the two",
        AtLeast(0.0),
        lambda evidence: sweeps.inner_is_better(evidence, "regions"),
    ),
)
