"""`EvalSchedule`: EvalRuns made at set times, as a CronJob makes Jobs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, model_validator

from opsgym_api.base import Document
from opsgym_api.kinds.evalmodel import ObjectMeta
from opsgym_api.kinds.evalrun import Condition, EvalRunSpec, require_unique
from opsgym_api.kinds.history import History
from opsgym_api.patterns import NAME, pattern

_FIELD = r"[0-9A-Za-z*,/#-]+"

_CRON = pattern(
    rf"^{_FIELD}( +{_FIELD}){{4}}$",
    "five fields of cron, separated by blanks: minute, hour, day of month, month, day of week",
)
Cron = Annotated[str, Field(pattern=_CRON, max_length=200)]
"""Minute, hour, day of month, month, day of week."""

ScheduleName = Annotated[str, Field(pattern=NAME, max_length=52)]
"""Shorter than other names: those of its EvalRuns end in the time."""


class ConcurrencyPolicy(StrEnum):
    """What happens when it is time and an earlier EvalRun has not finished."""

    ALLOW = "Allow"
    FORBID = "Forbid"
    REPLACE = "Replace"


class TemplateMeta(Document):
    """Metadata of the EvalRuns made."""

    labels: dict[str, str] = {}
    """Labels."""
    annotations: dict[str, str] = {}
    """Annotations."""


class RunTemplate(Document):
    """The EvalRuns made."""

    metadata: TemplateMeta = TemplateMeta()
    """Labels and annotations."""
    spec: EvalRunSpec
    """What they evaluate."""


class EvalScheduleSpec(Document):
    """When to evaluate what."""

    schedule: Cron
    """Minute, hour, day of month, month and day of week, for instance `0 3 * * 1-5`."""
    time_zone: Annotated[str, Field(min_length=1, max_length=64)] = "Etc/UTC"
    """Time zone of the schedule, for instance `Europe/Berlin`. A time that the clock skips is made up for right after;
    one that it repeats counts once."""
    concurrency_policy: ConcurrencyPolicy = ConcurrencyPolicy.ALLOW
    """What happens when an earlier EvalRun has not finished: `Allow` starts another, `Forbid` waits for it, `Replace`
    deletes it."""
    starting_deadline_seconds: Annotated[int, Field(ge=0)] | None = None
    """Seconds by which an EvalRun may come late, for instance after a time without operator; for ever if absent. Of
    several times that were missed only the latest counts."""
    successful_runs_history_limit: Annotated[int, Field(ge=0)] = 3
    """Finished EvalRuns to keep; `history` says what stays in the store."""
    failed_runs_history_limit: Annotated[int, Field(ge=0)] = 1
    """The same for those that failed, or whose gate did not hold."""
    history: History | None = None
    """What stays in the store of its EvalRuns, and for how long; as the installation says if absent, without that for
    ever. An empty one keeps everything."""
    suspend: bool = False
    """Make no EvalRuns; those there go on."""
    run_template: RunTemplate
    """The EvalRuns made."""


class EvalScheduleStatus(Document):
    """What a schedule has made."""

    observed_generation: int | None = None
    """Generation of the spec that this status speaks of."""
    last_schedule_time: AwareDatetime | None = None
    """The latest time for which an EvalRun was made."""
    last_successful_time: AwareDatetime | None = None
    """When one of its EvalRuns last succeeded."""
    active: Annotated[list[str], Field(max_length=100)] = []
    """Names of its EvalRuns that have not finished, the latest ones."""
    active_runs: int | None = None
    """Number of its EvalRuns that have not finished."""
    conditions: Annotated[list[Condition], Field(max_length=32)] = []
    """Conditions of the schedule, one of each type."""

    @model_validator(mode="after")
    def _types_once(self) -> EvalScheduleStatus:
        require_unique("conditions", [condition.type for condition in self.conditions], "types")
        return self


class ScheduleMeta(ObjectMeta):
    """Metadata of a schedule."""

    name: ScheduleName
    """Name of the object."""


class EvalSchedule(Document):
    """Evaluations at set times."""

    api_version: Literal["opsgym.dev/v1alpha1"]
    kind: Literal["EvalSchedule"]
    metadata: ScheduleMeta
    spec: EvalScheduleSpec
    status: EvalScheduleStatus | None = None
