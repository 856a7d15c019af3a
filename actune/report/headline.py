"""The first sentences of a report: what was reached, how certain that is, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from actune.report.classes import interval
from actune.report.facts import ReportedRun, percent, points


def verdict(runs: Sequence[ReportedRun]) -> str:
    """What is true of the subject, beside others where there are any, made of printed numbers only."""
    subject, *others = runs
    if not subject.rounds:
        return f"No round of {subject.name} is finished yet: {subject.labels:,} texts are labelled."
    if not others:
        return _alone(subject)
    last = subject.rounds[-1]
    if last.accuracy is None:
        return f"{_counted(subject)} {_unmeasured(subject)}"
    parts = [f"{subject.name} reaches {percent(last.accuracy)} with {last.labels:,} labels{_at_the_end(subject)}"]
    parts += [_beside(other, last.labels) for other in others]
    return f"{'; '.join(parts)}. {_certainty(subject)} {_proof(runs)}".strip()


def next_step(run: ReportedRun) -> str:
    """What to do now, in one or two sentences."""
    if run.config.request.simulated:
        return _next_of_a_simulation(run)
    folder, advance = run.folder, f"`actune advance {run.folder}`"
    answer = f"`actune ask {folder} --to batch.csv` and `actune tell {folder} batch.csv`"
    if run.questions and not run.unseen:
        stalled = "" if not stands_still(run) else f" {_STALLED}"
        return f"Answer the {run.questions:,} open questions with {answer}, then train with {advance}.{stalled}"
    if run.questions:
        return (
            f"Train on the {run.unseen:,} new answers with {advance}, "
            f"or answer the other {run.questions:,} open questions first with {answer}."
        )
    if run.unseen or not run.rounds:
        return f"Train on the {run.unseen or run.labels:,} new answers with {advance}."
    if run.config.resolved.final and run.final is None:
        return f"Fine-tune the encoder on all answers with `actune advance {folder} --finish`."
    return f"Use the model: `actune predict {folder} new.csv --out labelled.csv`."


def stands_still(run: ReportedRun) -> bool:
    """Whether the last two rounds together brought nothing that the test set can show."""
    if len(run.rounds) < 3 or run.error is None:
        return False
    before, last = run.rounds[-3].accuracy, run.rounds[-1].accuracy
    return before is not None and last is not None and last - before <= run.error


_STALLED = (
    "The last two rounds show no improvement that this test set can detect: "
    "also look at the weakest classes and at the disputed answers below."
)


def _alone(run: ReportedRun) -> str:
    last = run.rounds[-1]
    if last.accuracy is None:
        return f"{_counted(run)} {_unmeasured(run)}"
    low, high = interval(last.accuracy, run.config.resolved.test)
    reached = (
        f"{last.labels:,} answers: accuracy {percent(last.accuracy)} on {run.config.resolved.test:,} test texts "
        f"({percent(low)} to {percent(high)} with 95 % confidence){_at_the_end(run)}."
    )
    return f"{reached} {_trend(run)}".strip()


def _trend(run: ReportedRun) -> str:
    """What the last answers brought, and whether that is more than the error of the test set."""
    if run.change is None:
        return "This is the first round, so there is no trend yet." if len(run.rounds) == 1 else ""
    new = run.rounds[-1].labels - run.rounds[-2].labels
    brought = f"The last {new:,} answers brought {points(run.change)} points"
    if run.error is None:
        return f"{brought}."
    if abs(run.change) <= run.error:
        return f"{brought}, which is within the error of the test set (±\u00a0{100 * run.error:.1f} points)."
    return f"{brought} (±\u00a0{100 * run.error:.1f})."


def _counted(run: ReportedRun) -> str:
    rounds = "one round" if len(run.rounds) == 1 else f"{len(run.rounds)} rounds"
    return f"{run.rounds[-1].labels:,} answers, {rounds}."


def _unmeasured(run: ReportedRun) -> str:
    """Why there is no accuracy, and what stands in for it."""
    absent = "The accuracy is not known, because there is no test set"
    if not run.signals:
        return f"{absent}."
    told = "; ".join(f"{signal.name} {percent(signal.value)}" for signal in run.signals)
    return f"{absent}. Signals of quality: {told}."


def _next_of_a_simulation(run: ReportedRun) -> str:
    request = run.config.request
    if len(run.rounds) < request.fits:
        return "Finish this run with the command that started it."
    return (
        "The same command with more `--rounds` extends this run. One seed is not enough for a conclusion: "
        f"compare methods over several seeds with `actune compare {request.data}`."
    )


def _beside(run: ReportedRun, labels: int) -> str:
    if not run.measured:
        return f"{run.name} has no accuracy yet"
    same = [facts for facts in run.rounds if facts.labels == labels]
    facts = (same or run.rounds)[-1]
    where = "with the same" if same else f"with {facts.labels:,} labels"
    at_the_end = _at_the_end(run) if facts is run.rounds[-1] else ""
    return f"{run.name} {percent(facts.accuracy)} {where}{at_the_end}"


def _certainty(run: ReportedRun) -> str:
    """How far off an accuracy may be because the test set is what it is."""
    accuracy, count = run.rounds[-1].accuracy, run.config.resolved.test
    if accuracy is None or not count:
        return ""
    low, high = interval(accuracy, count)
    return f"A test set of {count:,} texts leaves an error of about ±\u00a0{50 * (high - low):.1f} points."


def _at_the_end(run: ReportedRun) -> str:
    """The newest fine-tuning, which may have seen fewer answers than the last round."""
    if not run.finals or run.finals[-1].accuracy is None:
        return ""
    final = run.finals[-1]
    whose = "them" if final.labels == run.rounds[-1].labels else f"{final.labels:,} of them"
    return f" ({percent(final.accuracy)} once the encoder is fine-tuned on {whose})"


def _proof(runs: Sequence[ReportedRun]) -> str:
    """One seed of a method is one draw of its luck."""
    seeds: dict[str, set[int]] = {}
    for run in runs:
        seeds.setdefault(run.config.request.method, set()).add(run.config.request.seed)
    return "One seed is not enough for a conclusion." if min(map(len, seeds.values())) == 1 else ""
