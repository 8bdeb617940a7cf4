"""Data of the page about a run, as JSON: embedded in the report, served by the console.

Invariant: everything that a page shows is here, as numbers and texts; scripts compute only what they draw. Trials are
columns of one table, so that a page of 50,000 trials stays small. Long texts (transcripts, queries, differences) are in
`TrialDetail`, which is loaded when a user opens a trial.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import SerializerFunctionWrapHandler, WrapSerializer

from opsgym_api.base import Stored
from opsgym_api.records.attempt import AttemptRecord, Cell, TrialRecord
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.state_difference import StateDifference
from opsgym_api.records.transcript import TranscriptEvent
from opsgym_core.results.compare import Change
from opsgym_core.results.published import Beside
from opsgym_core.results.score import Ratio, Score, Success
from opsgym_core.results.statistics import Interval
from opsgym_core.results.variants import Spread

PAGE_VERSION = 1


def _with_derived(score: Score, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
    names = (
        "total",
        "not_scored",
        "cost_per_task",
        "cost_per_success",
        "attempts_per_scored",
        "worst_rate",
        "best_rate",
    )
    return {**dump(score), **{name: getattr(score, name) for name in names}}


PageScore = Annotated[Score, WrapSerializer(_with_derived)]
"""A score as JSON, with the numbers that it derives from its fields."""


class CellView(Stored):
    """A row of the score table."""

    cell: Cell
    score: PageScore


class AgentView(Stored):
    """A model × agent × mode over all domains, with both averages."""

    model: str
    agent: str
    mode: str
    score: PageScore
    success_over_domains: float | None
    """Mean over domains of the success rate; `score.success` is the mean over tasks."""
    worst_over_domains: float | None
    """That mean if every trial without a score failed."""
    best_over_domains: float | None
    """That mean if every trial without a score passed."""
    profile: str = ""
    """The agent's profile and the switches that differ from it."""
    domains_interval: Interval | None


class FailureModeView(Stored):
    """How often the rules report a failure mode; see `opsgym_console.analysis.failures.counts`."""

    mode: str
    description: str
    trials: list[int]
    """Failed trials that have it, by position of the cell in `cells`."""
    primary: list[int]
    """Failed trials whose primary mode it is, by position of the cell."""
    share: float | None
    """Share of the analysed trials, as a mean over tasks; None without one."""
    interval: Interval | None
    """Interval of `share`, by task."""
    intervals: list[Interval | None]
    """Intervals of the shares of each cell; None for a cell without an analysed trial."""
    weak: bool
    """Whether the rule is known to be weak, or not known to be better."""


class FailureModesView(Stored):
    """Failure modes of a run."""

    analysed: int
    """Failed trials that were analysed."""
    failed: int
    """All failed trials; more than `analysed` if only a sample was analysed or transcripts are missing."""
    note: str
    """What the counts are and are not."""
    modes: list[FailureModeView]
    """Detected modes, most frequent first. Bits of `TrialColumns.modes` are positions in this list."""


class CellChangeView(Stored):
    """Change of a cell."""

    cell: int
    """Position in `cells`."""
    change: Change


class FlipView(Stored):
    """A task of a cell whose trials have other results than in the baseline."""

    cell: int
    """Position in `cells`."""
    task: int
    """Position in `tasks`."""
    before: Ratio
    after: Ratio


class BaselineView(Stored):
    """Comparison with an earlier run."""

    run: str
    name: str
    created_at: str
    same_suite: bool
    total: Change
    cells: list[CellChangeView]
    flips: list[FlipView]
    """Losses first, then wins; each with the largest change first."""


class VariantView(Stored):
    """Success in one variant of the suite."""

    variant: int
    """0 for the tasks as they are written."""
    run: str
    successes: list[Success | None]
    """By position in `cells`; None for a cell that the run does not have."""


class VariantsView(Stored):
    """Success over the variants of the suite that the store has runs of."""

    runs: list[VariantView]
    """At least two, by variant."""
    spreads: list[Spread | None]
    """By position in `cells`; None for a cell with scores in fewer than two variants."""


class TaskView(Stored):
    """A task."""

    id: str
    summary: str = ""
    """The beginning of the user prompt; empty if the store does not have the suite."""
    feasible: bool = True
    """False if the right answer is to refuse it."""
    horizon: int | None = None
    """Steps of its reference solution; None if unknown, or if none of its trials has a score."""
    tags: list[str] = []


class TrialColumns(Stored):
    """Ended trials of a run, scored or not; a list for each column, all of the same length.

    Positions refer to the lists of the page.
    """

    offset: int = 0
    """Trials before these, in an update: the page drops its rows from this one on, then appends these."""
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
    """None for a trial without a score."""
    modes: list[int]
    """Bits by position in `FailureModesView.modes`; the primary mode is not marked."""
    flip: list[int]
    """Against the baseline's trial of the same number: -1 passed only then, 1 passes only now, 0 neither."""


class RunView(Stored):
    """The run."""

    id: str
    name: str
    schedule: str
    created_at: str
    opsgym: str
    suite: str
    rescored_from: str
    trials: int
    """Trials of every task in every cell."""
    gate: GateRecord | None
    live: bool
    """Whether trials may still end; False in reports on disk."""
    phase: str | None
    """Phase of its EvalRun; None outside a cluster."""
    message: str
    """Status for users; empty if there is nothing to report."""
    store: str = ""
    """Store to repeat trials from; empty for the default one, and in the console, whose stores users may not reach."""
    budget_usd: float | None
    written_by: str
    """Version of opsgym that wrote the page."""
    written_at: str


class PageData(Stored):
    """A page about a run."""

    version: int = PAGE_VERSION
    run: RunView
    total: PageScore
    cells: list[CellView]
    agents: list[AgentView]
    failure_modes: FailureModesView | None
    """None if failed trials were not analysed."""
    baseline: BaselineView | None
    variants: VariantsView | None = None
    """None if the store has runs of one variant only."""
    beside: Beside | None = None
    """The run among the published results; None unless it is of the published rows."""
    tasks: list[TaskView]
    outcomes: list[str]
    reasons: list[str]
    trials: TrialColumns
    texts: list[str]
    """Texts that details share; see `TranscriptEntry.text`."""
    details: Literal["inline", "beside", "server", "none"]
    """Location of details: in the page, in files of `trials/` beside it, served by the console, or not written."""
    details_per_file: int = 0
    """Trials in a file of `trials/`: row `i` is in file `i // details_per_file`. 0 unless details are `beside`."""


class TranscriptEntry(Stored):
    """An entry of a transcript."""

    event: TranscriptEvent
    """Its content is empty if `text` is set."""
    text: int | None = None
    """Position of its content in `TrialDetail.texts` or, if that is empty, in `PageData.texts`."""
    reasoning: str = ""
    """What the model thought before a reply; empty if its provider shows nothing."""
    encrypted: bool = False
    """Whether the provider shows no text of the model's reasoning."""


class ToolEntry(Stored):
    """A tool as the model was shown it."""

    name: str
    definition: str
    """Its function in OpenAI's format, as indented JSON; empty if `text` is set."""
    text: int | None = None
    """Position of its definition, as of `TranscriptEntry.text`."""


class Evidence(Stored):
    """Evidence of a finding; see `opsgym_console.analysis.failures.findings.Evidence`."""

    detail: str
    step: int | None = None
    call: int | None = None
    tool: str | None = None
    argument: str | None = None
    verifier: int | None = None


class FindingView(Stored):
    """A failure mode of a trial; see `opsgym_console.analysis.failures.findings.Finding`."""

    mode: str
    primary: bool
    basis: str
    evidence: list[Evidence]


class CheckView(Stored):
    """A verifier in words; see `opsgym_core.results.explanation`."""

    index: int
    sentence: str
    rules: list[str]
    shortfalls: list[str]


class DeviationView(Stored):
    """An argument of a write that differs from the reference solution's."""

    argument: str
    due: Any
    given: Any


class ReferenceCall(Stored):
    """A call of the reference solution, and what became of it."""

    name: str
    gym: str | None
    day: int | None
    arguments: dict[str, Any]
    state: Literal["read", "made", "different", "missing"]
    """Of a write, whether the agent made it; `read` for a call that only reads, which is not compared."""
    call: int | None
    """Position among the agent's calls of the one that differs from it."""
    deviations: list[DeviationView]


class ReferenceView(Stored):
    """The reference solution of a task."""

    calls: list[ReferenceCall]
    parting: int | None
    """Position of the agent's first write that the solution does not have; None if it has all of them."""
    answer: str


class TrialDetail(Stored):
    """Everything about a trial that is not in the table."""

    cell: Cell
    task_id: str
    trial: int
    scored: TrialRecord | None
    """None if the trial has no score. Its `state_differences` are in `differences`."""
    attempts: list[AttemptRecord]
    """All stored attempts, in order."""
    differences: dict[str, StateDifference]
    """By gym server."""
    findings: list[FindingView]
    checks: list[CheckView] = []
    """Verifiers of a failed trial in words."""
    rules: dict[str, str] = {}
    """Rules of the policy that these cite, by id."""
    reference: ReferenceView | None = None
    """Of a failed trial; None if the store has no reference solution or no transcript."""
    tools: list[str]
    """Names of the tools shown to the agent."""
    catalogue: list[ToolEntry] = []
    """The same tools with descriptions and schemas; empty if the store does not have them."""
    transcript: list[TranscriptEntry]
    """Of the scored attempt, else of the last attempt that has one; empty if none has."""
    problems: list[str] = []
    """Objects of the trial that cannot be read, and why."""
    texts: list[str] = []
