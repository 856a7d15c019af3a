"""The bodies of the programming interface: what is taken, with limits, and what is given."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

LONGEST_ID, LONGEST_NAME, LONGEST_NOTE = 4_096, 1_000, 10_000
MOST_ANSWERS, MOST_IDS, MOST_CLASSES = 1_000, 10_000, 1_000

Id = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Client = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9._:-]{1,100}$",
        description="An id by the client: repeat it, and the request is taken once.",
    ),
]
Said = Literal["label", "skip", "unsure", "clear", "unskip", "retract", "decide"]


class Body(BaseModel):
    """What comes in: nothing that is not known, nothing that is converted."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Nothing(Body):
    """An empty object."""


class AnswerIn(Body):
    client: Client
    id: Id
    kind: Said
    label: Name | None = None
    seconds: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] | None = None


class AnswersIn(Body):
    answers: Annotated[list[AnswerIn], Field(min_length=1, max_length=MOST_ANSWERS)]


class NewClass(Body):
    name: Name
    description: Annotated[str, Field(max_length=LONGEST_NOTE)] | None = None


class ClassesIn(Body):
    names: Annotated[list[NewClass], Field(min_length=1, max_length=MOST_CLASSES)]
    client: Client


class Add(Body):
    kind: Literal["add"]
    name: Name


class Rename(Body):
    kind: Literal["rename"]
    old: Name
    new: Name


class Merge(Body):
    kind: Literal["merge"]
    old: Name
    into: Name


class Retire(Body):
    kind: Literal["retire"]
    name: Name


class Restore(Body):
    kind: Literal["restore"]
    name: Name


class Split(Body):
    kind: Literal["split"]
    old: Name
    into: Annotated[list[Name], Field(min_length=1, max_length=MOST_CLASSES)]


class Describe(Body):
    kind: Literal["describe"]
    name: Name
    description: Annotated[str, Field(max_length=LONGEST_NOTE)]


Change = Annotated[Add | Rename | Merge | Retire | Restore | Split | Describe, Field(discriminator="kind")]


class PreviewIn(Body):
    change: Change


class ChangeIn(Body):
    change: Change
    client: Client


class UndoIn(Body):
    client: Client | None = None


class RemarkIn(Body):
    client: Client
    id: Id
    note: Annotated[str, Field(max_length=LONGEST_NOTE)] | None = None
    flag: bool | None = None


class QueueIn(Body):
    ids: Annotated[list[Id], Field(min_length=1, max_length=MOST_IDS)]
    client: Client


class VerdictIn(Body):
    ids: Annotated[list[Id], Field(min_length=1, max_length=MOST_ANSWERS)]
    verdict: Literal["accept", "reject"]
    client: Client


class KeepIn(Body):
    id: Id
    label: Name
    predicted: Name
    keep: bool = True
    client: Client


class ApplyIn(Body):
    id: Id
    label: Name
    kind: Literal["apply", "take-back"]
    client: Client


class Out(BaseModel):
    """What goes out."""


class Problem(Out):
    error: str
    code: str


class Suggestion(Out):
    label: str
    confidence: float | None


class QuestionOut(Out):
    id: str
    text: str
    round: int
    audit: bool
    picked: bool
    suggestion: Suggestion | None
    near_duplicates: int
    meta: dict[str, Any]


class Questions(Out):
    questions: list[QuestionOut]
    exhausted: bool


class WordOut(Out):
    kind: str
    label: str | None
    by: str


class ClassOut(Out):
    name: str
    key: str | None
    description: str | None
    answers: int
    retired: bool


class Project(Out):
    id: str
    name: str
    texts: int
    classes: list[ClassOut]


class User(Out):
    name: str
    role: Literal["annotator", "owner"]


class Audit(Out):
    answered: int
    planned: int
    released: bool


class Model(Out):
    round: int
    knows: int
    fine_tuned: bool


class Training(Out):
    state: Literal["idle", "waiting", "loading", "comparing", "embedding", "training", "reading", "failed"]
    done: int
    total: int
    seconds_left: float | None
    error: str | None


class State(Out):
    version: str
    project: Project
    user: User
    labels: int
    skipped: int
    unlabelled: int
    open: int
    audit: Audit
    model: Model | None
    training: Training
    stale: bool
    next_round_at: int
    suggestions: bool
    undo_classes: str | None


class Before(Out):
    kind: str
    label: str | None


class Saved(Out):
    client: str
    number: int | None
    before: Before | None


class Answered(Out):
    saved: list[Saved]
    state: State


class TextOut(Out):
    id: str
    text: str
    audit: bool
    picked: bool
    answer: WordOut | None
    words: list[WordOut]
    note: str | None
    flag: bool
    remarks: list[RemarkOut]
    suggestion: Suggestion | None


class RemarkOut(Out):
    note: str | None
    flag: bool
    by: str
    at: str


class HistoryRow(Out):
    number: int
    id: str
    text: str
    kind: str
    label: str | None
    by: str
    at: str
    seconds: float | None
    before: Before | None
    applied: bool
    note: str | None
    flag: bool


class History(Out):
    rows: list[HistoryRow]
    more: bool


class PreviewOut(Out):
    answers_moved: int
    texts_reopened: int
    sentence: str


class Changed(Out):
    sentence: str
    state: State


class WithState(Out):
    state: State


class Top(Out):
    label: str | None
    probability: float


class Neighbor(Out):
    id: str
    text: str
    label: str | None
    similarity: float


class Region(Out):
    number: int
    heat: float
    rank: int


class Prediction(Out):
    round: int
    label: str
    confidence: float


class Why(Out):
    audit: bool
    picked: bool
    round: int | None
    margin: float | None
    entropy: float | None
    top: list[Top]
    neighbors: list[Neighbor]
    region: Region | None
    memory: list[Prediction]


class Disagreement(Out):
    id: str
    text: str
    label: str
    by: str
    predicted: str
    confidence: float


class Disagreements(Out):
    rows: list[Disagreement]


class Opinion(Out):
    by: str
    label: str
    note: str | None


class NoteOut(Out):
    by: str
    note: str


class Conflict(Out):
    id: str
    text: str
    answers: list[Opinion]
    notes: list[NoteOut]


class Conflicts(Out):
    rows: list[Conflict]
    total: int
    planned: int


class PseudoLabel(Out):
    id: str
    text: str
    label: str
    confidence: float | None
    region: int | None


class PseudoRegion(Out):
    number: int
    pseudo_labels: int


class PseudoLabels(Out):
    rows: list[PseudoLabel]
    total: int
    round: int | None
    regions: list[PseudoRegion]


class Member(Out):
    id: str
    text: str
    similarity: float
    label: str | None
    skipped: bool
    applied: bool


class Group(Out):
    id: str
    size: int
    labels: dict[str, int]
    open: int
    audit: bool
    members: list[Member]


class NearDuplicates(Out):
    state: Literal["off", "waiting", "ready"]
    compared: bool
    similarity: float
    texts: int
    total: int
    grouped: int
    groups: list[Group]


class Applied(Out):
    count: int
    state: State


class MapRegion(Out):
    number: int
    heat: float
    size: int


class Map(Out):
    round: int
    ids: list[str]
    x: list[float]
    y: list[float]
    predicted: list[str | None]
    confidence: list[float | None]
    label: list[str | None]
    state: list[Literal["labelled", "asked", "free"]]
    region: list[int | None]
    regions: list[MapRegion]


class ClassProgress(Out):
    name: str
    answers: int
    pseudo: int


class Hour(Out):
    at: str
    answers: int


class Share(Out):
    value: float
    low: float
    high: float
    count: int


class Interval(Out):
    value: float
    low: float
    high: float


class Point(Out):
    round: int
    labels: int
    cross_validated: Share | None
    audit: Share | None


class AuditQuality(Out):
    accuracy: Share
    macro_f1: Interval
    answered: int


class Forecast(Out):
    answers: int | None
    low: int | None
    high: int | None
    sentence: str


class Pair(Out):
    people: list[str]
    texts: int
    kappa: float | None


class PeopleAgreement(Out):
    texts: int
    waiting: int
    open: int
    alpha: Interval | None
    pairs: list[Pair]


class Stop(Out):
    stop: bool
    reason: str


class Progress(Out):
    classes: list[ClassProgress]
    skipped: int
    hours: list[Hour]
    seconds_per_answer: float | None
    curve: list[Point]
    audit: AuditQuality | None
    agreement: PeopleAgreement | None
    forecast: Forecast | None
    stop: Stop


class ModelOut(Out):
    name: str
    round: int
    final: bool
    newest: bool
    labels: int | None
    accuracy: float | None
    bytes: int


class Models(Out):
    models: list[ModelOut]
