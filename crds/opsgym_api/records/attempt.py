"""One attempt, and every record of it: what opsgym writes about a run.

Invariant: `Attempt` names each field once. The record of an attempt, the record of a scored trial, the termination
message of a pod and the rows of compacted results are that type with more fields or with fewer, never a copy of it. A
trial record exists only for a scored trial and is written once; what an attempt cost is in its own attempt record, also
when the attempt was killed. No record has a prompt or a key in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, NamedTuple, Self, TypeVar

from pydantic import Field

from opsgym_api.base import Record, Stored
from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.state_difference import StateDifference
from opsgym_api.records.version import RECORD_VERSION, RecordVersion

A = TypeVar("A", bound="Attempt")


class Cell(Stored):
    """One row of a score table: model × agent × mode × domain."""

    model: str
    agent: str
    mode: str
    domain: str

    @property
    def key(self) -> str:
        """Name of the cell in store keys; names hold no underscore, so it reads back unambiguously."""
        return f"{self.model}_{self.agent}_{self.mode}_{self.domain}"


class TrialId(NamedTuple):
    """Identity of a trial in its run: what its score is stored under.

    A tuple rather than a dataclass: a run has tens of thousands, and tuples hash and sort in C.
    """

    cell: str
    """Key of the cell."""
    task_id: str
    trial: int
    """Number of the trial, counted from 0."""


@dataclass(frozen=True, slots=True)
class Usage(Record):
    """Tokens, as the provider counted them."""

    model_calls: int = 0
    """Requests that were answered."""
    prompt_tokens: int = 0
    """Tokens sent, cached ones included."""
    completion_tokens: int = 0
    """Tokens received, reasoning included."""
    cached_tokens: int = 0
    """Prompt tokens read from the provider's cache."""
    cache_write_tokens: int = 0
    """Prompt tokens written into the provider's cache, where it counts them."""
    reasoning_tokens: int = 0
    """Completion tokens spent on reasoning."""

    def __add__(self, other: Usage) -> Usage:
        """Sum of two usages."""
        return Usage(*(getattr(self, name) + getattr(other, name) for name in USAGE_FIELDS))


USAGE_FIELDS = tuple(part.name for part in fields(Usage))
NO_USAGE = Usage()
"""Shared by all attempts that used no tokens of a kind."""


@dataclass(frozen=True, slots=True)
class FinishCounts(Record):
    """Replies by finish reason, other than the ordinary `stop` and `tool_calls`; replaced replies included."""

    length: int = 0
    """Replies cut off by the limit of their tokens."""
    content_filter: int = 0
    """Replies stopped by the provider's content filter."""
    refusal: int = 0
    """Replies in which the model declines."""
    context_overflow: int = 0
    """Replies cut off by the end of the model's context."""
    malformed: int = 0
    """Replies that the provider could not read."""
    empty: int = 0
    """Replies with neither text nor tool calls."""
    call_in_text: int = 0
    """Replies with a tool call in their text, where nothing executes it."""

    def __add__(self, other: FinishCounts) -> FinishCounts:
        """Sum of two counts."""
        return FinishCounts(*(getattr(self, name) + getattr(other, name) for name in FINISH_FIELDS))

    def plus_one(self, reason: str) -> FinishCounts:
        """The counts with one more reply of a finish reason; unchanged for an ordinary end."""
        return self + FinishCounts(**{reason: 1}) if reason in FINISH_FIELDS else self


FINISH_FIELDS = tuple(part.name for part in fields(FinishCounts))
NO_FINISHES = FinishCounts()
"""Shared by all attempts whose replies all ended ordinarily."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings(Record):
    """Wall-clock seconds by phase."""

    started_at: str
    """UTC, RFC 3339."""
    seed_s: float = 0.0
    """Creating and seeding databases."""
    connect_s: float = 0.0
    """Opening sessions and listing tools."""
    model_s: float = 0.0
    """Inside model calls, waits for retries included."""
    wait_s: float = 0.0
    """The part of `model_s` in which no request was under way: endpoints rested, or no slot was free."""
    tools_s: float = 0.0
    """Inside tool calls."""
    verify_s: float = 0.0
    """Running verifiers and taking the final snapshot."""
    total_s: float = 0.0
    """From start to record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(Record):
    """One try to get a trial scored, as it stands now.

    Slotted: a large run has tens of thousands of them in memory.
    """

    cell: Cell
    task_id: str
    trial: int
    """Number of the trial, counted from 0."""
    attempt: int
    """Number of the attempt of this trial, counted from 0."""
    profile: str = ""
    """The agent's profile and the switches that differ from it (`Agent.profile_label`); empty if no agent was run."""
    outcome: Outcome | None = None
    """None while it runs, and forever if it was killed and never finalized."""
    reason: str = ""
    """One of `FailReason`, `InfraReason`, `ConfigReason`."""
    message: str = ""
    """What is wrong and what to do, for people; empty for a score."""
    usage: Usage = NO_USAGE
    """The agent's tokens, its planner's included."""
    planner_usage: Usage = NO_USAGE
    """The planner's part of `usage`."""
    judge_usage: Usage = NO_USAGE
    """Tokens of the model that judges answers; not a part of `usage`."""
    cost_usd: float | None = 0.0
    """Spend so far in dollars, planner and judge included; None when a model has no known price."""
    judge_cost_usd: float | None = 0.0
    """The judge's part of `cost_usd`."""
    steps: int = 0
    """Model calls answered to the agent."""
    tool_calls: int = 0
    """Tool calls of the agent."""
    tool_errors: int = 0
    """Tool calls that returned an error."""
    internal_errors: int = 0
    """Tool calls that failed by a fault of a gym server; a part of `tool_errors`."""
    model_retries: int = 0
    """Requests to models that were sent again."""
    rate_limits: int = 0
    """Requests that a model refused as too many (HTTP 429)."""
    refused_requests: int = 0
    """Requests of an agent with a command that were not sent on, since they ask the model's provider to act."""
    sample_retries: int = 0
    """Episodes before the last one that an error ended, see `sampleRetries`. Steps and tool calls are those of the last
    episode; tokens, cost, requests and finish reasons those of all."""
    finish_reasons: FinishCounts = NO_FINISHES
    """The agent's and its planner's replies that did not end ordinarily."""
    timings: Timings

    @property
    def trial_id(self) -> TrialId:
        """Identity of the trial."""
        return TrialId(self.cell.key, self.task_id, self.trial)

    def narrow(self, kind: type[A]) -> A:
        """This attempt as a kind of attempt with fewer fields; empty usages are shared."""
        return kind(**_values(self, kind))


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRecord(Attempt):
    """An attempt in the store. Rewritten while the attempt runs, so that spend is known when it is killed."""

    version: RecordVersion = RECORD_VERSION
    run: str

    @classmethod
    def of(cls, run: str, attempt: Attempt) -> Self:
        """The record of an attempt of a run."""
        return cls(run=run, **_values(attempt, Attempt))


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierOutcome(Record):
    """What one verifier decided, without its texts."""

    index: int
    """Position in the task row."""
    name: str
    verifier_type: str
    category: str
    executed: bool
    """False when it could not be evaluated; such a trial is not scored."""
    passed: bool
    published_passed: bool
    """What the published harness would have decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierResult(VerifierOutcome):
    """What one verifier decided, and on what. Results are in the row's order; verifiers of one name stay apart."""

    gym_name: str | None = None
    expected: Any = None
    actual: Any = None
    comparison: str | None = None
    query: str | None = None
    error: str | None = None
    """Why it was not executed."""

    def outcome(self) -> VerifierOutcome:
        """The result without its texts."""
        return VerifierOutcome(**{part.name: getattr(self, part.name) for part in fields(VerifierOutcome)})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredAttempt(Attempt):
    """The attempt that a trial's score is of, without texts: what scores and comparisons are computed from."""

    outcome: Outcome
    score: Annotated[int, Field(ge=0, le=1)]
    published_score: Annotated[int, Field(ge=0, le=1)] | None
    """Score under the published harness's rules; None where it has no counterpart, as for a task timeout."""
    feasible: bool = True
    """False if the right answer is to refuse the task."""
    horizon: int | None = None
    """Gold steps of the task; None if unknown."""
    variant: int = 0
    """Variant of the suite that the task belongs to; 0 for a task as it was written."""
    tags: tuple[str, ...] = ()
    """Tags of the task."""
    verifiers: tuple[VerifierOutcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions(Record):
    """Versions and digests that decide whether two scores can be compared."""

    opsgym: str
    python: str
    litellm: str
    task_digest: str
    """SHA-256 of the task row as canonical JSON."""
    catalogue_digest: str = ""
    """Digest of the tools shown to the model: names, descriptions and schemas."""
    model_snapshot: str = ""
    """The agent's model as the provider's answers name it; several names are joined by commas. Empty if no answer named
    one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord(ScoredAttempt):
    """A scored trial in the store."""

    version: RecordVersion = RECORD_VERSION
    run: str
    verifiers: tuple[VerifierResult, ...]
    answer: str
    """The agent's final text."""
    day_answers: tuple[str, ...] = ()
    """The agent's answers on the days before the last one that it reached."""
    stopped_by: str
    """What ended the agent's loop: `answer`, or a `FailReason`."""
    prices: Prices | None = None
    """Prices used; None when the cost came from a provider's reply or is unknown."""
    request_seed: int | None = None
    """Seed of the requests to the agent's model; None if they had none."""
    versions: Versions
    database_times: Mapping[str, str] = field(default_factory=dict)
    """Time of each gym server's clock when verifiers ran, if it keeps one; rescoring sets it again."""
    state_differences: Mapping[str, StateDifference] = field(default_factory=dict)
    """Changes of each gym server's database, by the gym server's name, if it reports them."""
    resources: Mapping[str, Any] = field(default_factory=dict)
    """Requests and limits of the pod's containers; empty on one machine."""

    def without_texts(self) -> ScoredAttempt:
        """The record as results compact it."""
        verifiers = tuple(result.outcome() for result in self.verifiers)
        return ScoredAttempt(**_values(self, ScoredAttempt) | {"verifiers": verifiers})


def _values(attempt: Attempt, kind: type[Attempt]) -> dict[str, Any]:
    values = {part.name: getattr(attempt, part.name) for part in fields(kind)}
    return values | {name: empty for name, empty in _SHARED.items() if values[name] == empty}


_SHARED = {**dict.fromkeys(("usage", "planner_usage", "judge_usage"), NO_USAGE), "finish_reasons": NO_FINISHES}
"""Values that attempts share, by field."""
