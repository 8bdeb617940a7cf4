"""What a page about a run shows, as JSON: embedded in the report, served by the console.

Invariant: everything that a page shows of a run is here, as numbers and texts; pages compute only what they draw.
Trials are columns of one table, so that a page of 50,000 of them stays small; what is long (transcripts, queries,
differences) is in `TrialDetail` and fetched when somebody opens a trial.
"""

from __future__ import annotations

from typing import Literal

from opsgym_api.base import Stored
from opsgym_api.records import (
    AttemptRecord,
    Cell,
    GateRecord,
    StateDifference,
    TranscriptEvent,
    TrialRecord,
    Usage,
)

PAGE_VERSION = 1


class IntervalView(Stored):
    """A 95 % confidence interval of a share."""

    low: float
    high: float


class ShareView(Stored):
    """So many of so many."""

    passed: int
    total: int


class SuccessView(Stored):
    """A success rate: the mean over tasks of the share of passed trials."""

    tasks: int
    """Tasks with a scored trial."""
    passed: int
    scored: int
    rate: float | None
    interval: IntervalView | None


class ScoreView(Stored):
    """Numbers of a group of trials; see `opsgym_api.scores.Score`."""

    total: int
    """Trials planned."""
    passed: int
    failed: int
    fail_reasons: dict[str, int]
    not_scored: dict[str, int]
    """Trials without a score by how they ended, those that have not ended included."""
    success: SuccessView
    published_rate: float | None
    horizons: dict[str, SuccessView]
    """By number of steps of the reference solution, shortest first."""
    verifiers: ShareView
    categories: dict[str, ShareView]
    usage: Usage
    cost_usd: float | None
    cost_per_task: float | None
    cost_per_success: float | None
    mean_steps: float | None
    mean_tool_calls: float | None
    mean_seconds: float | None


class CellView(Stored):
    """A row of the score table."""

    cell: Cell
    score: ScoreView


class AgentView(Stored):
    """A model × agent × mode over all domains, with both averages."""

    model: str
    agent: str
    mode: str
    score: ScoreView
    over_domains: float | None
    """Mean over domains of the success rate; `score.success` is the mean over tasks."""
    domains_interval: IntervalView | None


class FailureModeView(Stored):
    """How often a failure mode was found."""

    mode: str
    description: str
    trials: list[int]
    """Failed trials in which it was found, by position of the cell in `cells`."""
    primary: list[int]
    """Those in which it explains the failure best."""


class FailureModesView(Stored):
    """Failure modes of a run."""

    analysed: int
    """Failed trials that were looked into."""
    failed: int
    """Failed trials in all; more than `analysed` where a sample was taken or transcripts are missing."""
    modes: list[FailureModeView]
    """Modes that were found, the most frequent first. A bit of `TrialColumns.modes` is a position here."""


class ChangeView(Stored):
    """Success now against success then, over tasks that both runs scored."""

    tasks: int
    lost: int
    """Trials that passed then and do not now."""
    won: int
    before: float | None
    after: float | None
    difference: float | None
    interval: IntervalView | None
    p_value: float
    """McNemar's test, exact, two-sided."""


class CellChangeView(Stored):
    """Change of a cell."""

    cell: int
    """Position in `cells`."""
    change: ChangeView


class FlipView(Stored):
    """A task of a cell whose trials came out otherwise."""

    cell: int
    """Position in `cells`."""
    task: int
    """Position in `tasks`."""
    before: ShareView
    after: ShareView


class BaselineView(Stored):
    """Comparison with an earlier run."""

    run: str
    name: str
    created_at: str
    same_suite: bool
    total: ChangeView
    cells: list[CellChangeView]
    flips: list[FlipView]
    """What was lost first, then what was won; inside each, the largest change first."""


class TaskView(Stored):
    """A task."""

    id: str
    summary: str = ""
    """The beginning of what the user asks for, to recognise and to search it; empty where the suite is not at hand."""


class TrialColumns(Stored):
    """Trials of a run, scored or not, a list for each column; all of the same length.

    A trial that has not ended is not here. Positions point into the lists of the page.
    """

    offset: int = 0
    """Number of trials that come before these: a page that has more than this many drops the rest, then adds these."""
    cell: list[int]
    task: list[int]
    trial: list[int]
    """Counts from 0."""
    outcome: list[int]
    """Position in `PageData.outcomes`."""
    reason: list[int]
    """Position in `PageData.reasons`."""
    cost_usd: list[float | None]
    steps: list[int]
    tool_calls: list[int]
    tool_errors: list[int]
    seconds: list[float]
    verifiers_passed: list[int]
    verifiers: list[int]
    horizon: list[int | None]
    published_score: list[int | None]
    """None for a trial that is not scored."""
    modes: list[int]
    """Bits by position in `FailureModesView.modes`; the primary one is not told apart."""
    flip: list[int]
    """Against the baseline's trial of the same number: -1 it passed then and does not now, 1 the reverse, 0 neither."""


class RunView(Stored):
    """Which run."""

    id: str
    name: str
    schedule: str
    created_at: str
    opsgym: str
    suite: str
    rescored_from: str
    trials: int
    """Trials that count, for every task in every cell."""
    gate: GateRecord | None
    live: bool
    """Whether trials may still end; reports on disk are never live."""
    phase: str | None
    """What its EvalRun says, where it comes from a cluster."""
    message: str
    """The same, for people."""
    budget_usd: float | None
    written_by: str
    """Version of opsgym that made the page."""
    written_at: str


class PageData(Stored):
    """A page about a run."""

    version: int = PAGE_VERSION
    run: RunView
    total: ScoreView
    cells: list[CellView]
    agents: list[AgentView]
    failure_modes: FailureModesView | None
    """None where nobody looked into failed trials."""
    baseline: BaselineView | None
    tasks: list[TaskView]
    outcomes: list[str]
    reasons: list[str]
    trials: TrialColumns
    texts: list[str]
    """Texts that details repeat; see `Said.content`."""
    details: Literal["inline", "beside", "server", "none"]
    """Where details are: in the page, in files of `trials/` beside it, at the console, or nowhere."""
    details_per_file: int = 0
    """Trials whose details share a file; row `i` of `trials` is in file `i // details_per_file`. Only for `beside`."""


class Said(Stored):
    """An entry of a transcript."""

    event: TranscriptEvent
    """Its content is empty if `text` is given."""
    text: int | None = None
    """Position of its content in `TrialDetail.texts` or, if that is empty, in `PageData.texts`."""


class Evidence(Stored):
    """One thing that shows a failure; see `opsgym.failures.findings.Evidence`."""

    detail: str
    step: int | None = None
    call: int | None = None
    tool: str | None = None
    argument: str | None = None
    verifier: int | None = None


class FindingView(Stored):
    """A failure mode of a trial."""

    mode: str
    primary: bool
    basis: str
    evidence: list[Evidence]


class TrialDetail(Stored):
    """Everything about a trial that is not in the table."""

    cell: Cell
    task_id: str
    trial: int
    scored: TrialRecord | None
    """None if it is not scored. Its `state_differences` are in `differences`."""
    attempts: list[AttemptRecord]
    """All attempts that are known, in order."""
    differences: dict[str, StateDifference]
    """By gym server."""
    findings: list[FindingView]
    tools: list[str]
    """Names of the tools shown."""
    said: list[Said]
    """Transcript of the scored attempt, else of the last one that left one; empty if there is none."""
    texts: list[str] = []
