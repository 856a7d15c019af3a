"""A pool with what evaluation needs, and with the settings and the plan that belong to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from actune.core.pool import Pool
from actune.core.printing import counted
from actune.core.settings import Settings


@dataclass(frozen=True)
class Plan:
    """How many labels a task starts with, buys a round, and in how many rounds."""

    initial: int = 100
    batch: int = 100
    rounds: int = 10


@dataclass(frozen=True)
class Task:
    """Dev chooses the checkpoint, test is only ever measured; either may be missing."""

    name: str
    pool: Pool
    dev: Pool | None
    test: Pool | None
    settings: Settings
    plan: Plan = Plan()
    training: dict[str, int] = field(default_factory=dict)  # the batch sizes that belong to the task
    notes: tuple[str, ...] = ()  # what is worth telling, such as a scaled setting
    released: dict[str, dict[str, float]] = field(default_factory=dict)  # what the preset of that name changes
    bundled: bool = False  # a named data set that can be loaded again, so a run need not copy it

    def without_dev(self) -> Task:
        """The same task as a project has it that begins with no labels: the rows of the dev set are left aside."""
        return replace(self, dev=None)

    def __repr__(self) -> str:
        parts = {"dev": self.dev, "test": self.test}
        sizes = [f"{name} {len(part):,}" if part is not None else f"no {name}" for name, part in parts.items()]
        classes = counted(len(self.pool.classes), "class", "classes")
        return f"Task({self.name!r}, {counted(len(self.pool), 'text')}, {classes}, {', '.join(sizes)})"
