"""What opsgym writes about a run. Ids, outcome and cost of every attempt are there; prompts and keys are not.

Invariant: a trial record exists only for a scored trial and is written once. Everything an attempt cost is in its own
attempt record, also when the attempt was killed.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from opsgym_api.base import Stored
from opsgym_api.evalmodel import Prices
from opsgym_api.outcomes import Outcome

RECORD_VERSION = 1

Verdict = Literal["GO", "NO-GO", "INCONCLUSIVE"]
"""What a gate says: the run is good, it is not, or there are too few trials to tell."""


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


class Usage(Stored):
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
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


class VerifierResult(Stored):
    """What one verifier found. Results stand in the row's order; same names stay apart."""

    index: int
    """Position in the row."""
    name: str
    verifier_type: str
    category: str
    gym_name: str | None = None
    executed: bool
    """False when it could not be evaluated; such a trial is not scored."""
    passed: bool
    published_passed: bool
    """What the published harness would have found."""
    expected: Any = None
    actual: Any = None
    comparison: str | None = None
    query: str | None = None
    error: str | None = None
    """Why it was not executed."""


class Timings(Stored):
    """Wall-clock seconds by phase."""

    started_at: str
    """UTC, RFC 3339."""
    seed_s: float = 0.0
    """Databases made and seeded."""
    connect_s: float = 0.0
    """Sessions opened and tools listed."""
    model_s: float = 0.0
    """Inside model calls, waits for retries included."""
    wait_s: float = 0.0
    """The part of `model_s` in which no request was under way: endpoints rested, or no slot was free."""
    tools_s: float = 0.0
    """Inside tool calls."""
    verify_s: float = 0.0
    """Verifiers and the final snapshot."""
    total_s: float = 0.0
    """From start to record."""


class Versions(Stored):
    """What ran, so that numbers can be compared or not."""

    opsgym: str
    python: str
    litellm: str
    task_digest: str
    """Of the row, canonical JSON, SHA-256."""
    catalogue_digest: str = ""
    """Of the tools shown to the model: names, descriptions and schemas."""


class AttemptRecord(Stored):
    """One try at a trial. Rewritten while it runs, so that spend is known when it is killed."""

    version: int = RECORD_VERSION
    run: str
    cell: Cell
    task_id: str
    trial: int
    """Counts from 0."""
    attempt: int
    """Counts from 0."""
    outcome: Outcome | None = None
    """None while it runs, and for ever if it was killed."""
    reason: str = ""
    """One of `FailReason`, `InfraReason`, `ConfigReason`."""
    message: str = ""
    """For people; names what is wrong and what to do."""
    usage: Usage = Usage()
    """The agent's tokens, its planner's included."""
    planner_usage: Usage = Usage()
    """The planner's part of `usage`."""
    judge_usage: Usage = Usage()
    """Tokens of the model that judged answers; no part of `usage`."""
    cost_usd: float | None = 0.0
    """Everything spent so far, planner and judge included; None when a model has no known price."""
    judge_cost_usd: float | None = 0.0
    """The judge's part of `cost_usd`."""
    steps: int = 0
    """Model calls answered to the agent."""
    tool_calls: int = 0
    model_retries: int = 0
    rate_limits: int = 0
    """Requests that a model refused as too many (429)."""
    timings: Timings


class RowDifference(Stored):
    """A row that is not in the final database as it was in the seed."""

    change: Literal["added", "changed", "removed"]
    key: dict[str, Any]
    """Primary key, by column."""
    before: dict[str, Any] = {}
    """The row in the seed; of a changed one, only the columns that differ. Empty for an added one."""
    after: dict[str, Any] = {}
    """The same in the final database. Empty for a removed one."""


class TableDifference(Stored):
    """What differs in a table."""

    table: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    rows: list[RowDifference] = []
    """In the order of keys; fewer than the counts say where the difference is too large to keep."""


class StateDifference(Stored):
    """How a gym server's final database differs from its seed. Counts are exact; rows and long values are bounded."""

    tables: list[TableDifference] = []
    """Tables that differ, by name."""


class TrialRecord(Stored):
    """A scored trial."""

    version: int = RECORD_VERSION
    run: str
    cell: Cell
    task_id: str
    trial: int
    attempt: int
    """The attempt that was scored."""
    outcome: Outcome
    reason: str = ""
    score: int = Field(ge=0, le=1)
    published_score: int = Field(ge=0, le=1)
    """Score under the published harness's rules; differs only where they are faulty."""
    feasible: bool = True
    horizon: int | None = None
    verifiers: list[VerifierResult]
    answer: str
    """The agent's final words."""
    stopped_by: str
    """What ended the agent's loop: `answer`, or a `FailReason`."""
    usage: Usage
    """The agent's tokens, its planner's included."""
    planner_usage: Usage = Usage()
    """The planner's part of `usage`."""
    judge_usage: Usage = Usage()
    """Tokens of the model that judged answers; no part of `usage`."""
    cost_usd: float | None
    """Everything the attempt cost, planner and judge included; None when a model has no known price."""
    judge_cost_usd: float | None = 0.0
    """The judge's part of `cost_usd`."""
    prices: Prices | None = None
    """Price used; None when it came from a provider's reply or is unknown."""
    steps: int
    tool_calls: int
    tool_errors: int
    model_retries: int
    rate_limits: int = 0
    """Requests that a model refused as too many (429)."""
    timings: Timings
    versions: Versions
    database_times: dict[str, str] = {}
    """Time on each gym server's clock when verifiers ran, of those that keep one; rescoring sets it again."""
    state_differences: dict[str, StateDifference] = {}
    """What the episode did to each gym server's database, by the gym server's name, of those that tell it."""
    resources: dict[str, Any] = {}
    """Requests and limits of the pod; empty on one machine."""


class TranscriptEvent(Stored):
    """One entry of a transcript: a message to or from the model, a tool's result, or a note of the harness."""

    kind: str
    """`system`, `user`, `assistant`, `tool`, `note`."""
    by: str = ""
    """Whose conversation it belongs to, if not the agent's own: `planner`, `judge`, or a part of the agent that its
    orchestrator names, for instance `sub-goal 2`."""
    content: str = ""
    step: int = 0
    """Model call it belongs to; 0 before the first."""
    tool_name: str | None = None
    arguments: dict[str, Any] | None = None
    """Arguments of a tool's call."""
    is_error: bool = False
    seconds: float | None = None
    tool_calls: list[dict[str, Any]] = []
    """Calls the model asked for."""


class Transcript(Stored):
    """Everything that was said in an attempt."""

    version: int = RECORD_VERSION
    task_id: str
    tools: list[str]
    """Names of the tools shown."""
    events: list[TranscriptEvent]


class PlanRecord(Stored):
    """A plan that a model wrote for a task once, for every agent of the run that is shown plans of that model."""

    version: int = RECORD_VERSION
    planner: str
    """Name of the model."""
    task_id: str
    text: str
    usage: Usage
    """What writing it took; booked to the attempt that had it written."""
    cost_usd: float | None


class PlannedCell(Stored):
    """A cell and the tasks it runs."""

    cell: Cell
    task_ids: list[str]


class RunRecord(Stored):
    """`run.json`: what a run is, frozen when it starts."""

    version: int = RECORD_VERSION
    run: str
    name: str
    spec: dict[str, Any]
    """The EvalRun's spec as it was read; holds references to credentials, never credentials."""
    task_ids: list[str]
    cells: list[PlannedCell] = []
    """What was planned, so that what is missing can be told from what never was."""
    trials: int = 1
    """Trials that count, for every task in every cell."""
    suite_digest: str
    opsgym: str
    created_at: str
    schedule: str = ""
    """EvalSchedule that made it; empty for a run that somebody made."""
    rescored_from: str = ""
    """Run whose final states were verified anew to make this one; empty for a run that was run."""


class GateCheck(Stored):
    """One condition of a gate, judged."""

    condition: str
    """The condition's name in the spec, for instance `minSuccessRate`."""
    verdict: Verdict
    told: str
    """The condition with the numbers that decided it, for people."""


class GateRecord(Stored):
    """`gate.json`: what the gate of a finished run says; rewritten when a run that was ended goes on."""

    version: int = RECORD_VERSION
    run: str
    verdict: Verdict
    """`NO-GO` if any condition is, else `INCONCLUSIVE` if any is, else `GO`."""
    checks: list[GateCheck]
    baseline: str = ""
    """Run it was compared with, by id; empty for none."""
    regression: float | None = None
    """Largest drop of a cell's success rate against the baseline, negative if none dropped; None without one."""
    decided_at: str
    """UTC, RFC 3339."""


class Control(Stored):
    """`control.json`: whether episodes may start or go on."""

    start: bool = True
    """Whether a new episode may start."""
    proceed: bool = True
    """Whether a running episode may take its next step."""
    reason: str = ""
    """Why not: `budget`, `suspended`, `breaker`."""
