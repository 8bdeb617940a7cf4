"""`EvalRun`: which tasks, which models, which agents, how often, within which limits.

Invariant: a spec says everything that decides a score. Where the run happens, and how many episodes at once, are not
part of it, so the same file gives the same numbers on a laptop and in a cluster.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AwareDatetime, Field, model_validator

from opsgym_api.base import Document
from opsgym_api.kinds.access import Access
from opsgym_api.kinds.evalmodel import ModelSpec, Name, ObjectMeta, SecretKey
from opsgym_api.kinds.profiles import OPSGYM, Profile, Switches, switches_of, with_defaults
from opsgym_api.kinds.variants import LAST_PUBLIC
from opsgym_api.patterns import VARIABLE, pattern

__all__ = [
    "Access", "Agent", "Budget", "Condition", "ConfigMapSource", "EvalRun", "EvalRunSpec", "EvalRunStatus", "Gate",
    "Limits", "Mode", "ModelEntry", "NotificationEvent", "NotificationStatus", "ObjectStoreSource", "PodOptions",
    "SecretKey", "Suite", "require_unique",
]  # fmt: skip


class Mode(StrEnum):
    """The tool set shown to the agent."""

    ORACLE = "oracle"
    PLUS_5 = "plus_5_tools"
    PLUS_10 = "plus_10_tools"
    PLUS_15 = "plus_15_tools"
    ALL = "all_tools"


class ObjectStoreSource(Document):
    """Task rows in an object store."""

    store: Name
    """Store that the installation mounts for the operator."""
    key: Annotated[str, Field(min_length=1)]
    """Key of a file, or a prefix that ends in `/`."""

    @property
    def folder(self) -> str:
        """Prefix of the rows and of the files that they may name; empty for a file at the root of the store."""
        return self.key[: self.key.rfind("/") + 1].lstrip("/")


class ConfigMapSource(Document):
    """Task rows in a ConfigMap of the namespace."""

    name: Name
    """Name of the ConfigMap."""
    key: Annotated[str, Field(min_length=1)] = "tasks.json"
    """Key inside the ConfigMap: a JSON list of rows, or JSON lines."""


_SUITE_NAME = pattern(
    r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(@[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$",
    "the name of a suite, or NAME@EDITION: lower-case letters, digits, '-' and '.'",
)
SuiteName = Annotated[str, Field(pattern=_SUITE_NAME, max_length=127)]
"""A built-in suite, with or without an edition."""


class Suite(Document):
    """Which tasks to run. Exactly one source; filters narrow it down in the order they are listed here."""

    builtin: SuiteName | None = None
    """A suite that ships with opsgym, for instance `quickstart`, or an edition of one: `hr-core@2026-12`. Without an
    edition the newest pinned one; `@next` is what is not pinned yet."""
    variant: Annotated[int, Field(ge=1, le=LAST_PUBLIC)] | None = None
    """Variant of the built-in suite: the same tasks with other names, numbers, ids, dates and wordings. Absent: the
    tasks as they are written."""
    held_out: bool = False
    """Run the variant of the built-in suite that a secret seed stands for; no task of it is stored in clear. The seed
    is the installation's (in a cluster) or in the environment variable `OPSGYM_HELD_OUT_SEED` (on one machine)."""
    path: Annotated[str, Field(min_length=1)] | None = None
    """A file or folder of task rows (JSON or JSON lines), relative to the document that names it."""
    object_store: ObjectStoreSource | None = None
    """Task rows in an object store."""
    config_map: ConfigMapSource | None = None
    """Task rows in a ConfigMap."""
    seed_path: Annotated[str, Field(min_length=1)] | None = None
    """Folder of the rows' seed files, relative to the document; `seeds/` beside the suite or above it if absent."""
    domains: Annotated[list[Name], Field(max_length=64)] = []
    """Keep tasks of these domains; all if empty."""
    modes: Annotated[list[Mode], Field(min_length=1, max_length=len(Mode))] = [Mode.ORACLE]
    """Tool sets to run every task with; each once."""
    ids: Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=5000)] = []
    """Keep tasks with these ids; all if empty."""
    limit: Annotated[int, Field(ge=1)] | None = None
    """Keep this many tasks: the first ones, or a sample if `seed` is given."""
    seed: Annotated[int, Field(ge=0)] | None = None
    """Draws the sample that `limit` asks for; the same seed gives the same tasks."""
    access: Access = Access.PUBLISHED
    """How strictly gym servers enforce roles and process rules; a task that asks for `strict` is strict anyway."""

    @model_validator(mode="after")
    def _one_source(self) -> Suite:
        given = [n for n in ("builtin", "path", "object_store", "config_map") if getattr(self, n) is not None]
        if len(given) != 1:
            raise ValueError(f"exactly one of builtin, path, objectStore, configMap is required, found {len(given)}")
        return self

    @model_validator(mode="after")
    def _variant_of_builtin(self) -> Suite:
        if self.variant is not None and self.builtin is None:
            raise ValueError("variant goes with builtin; other suites have no variants")
        if self.held_out and (self.builtin is None or self.variant is not None):
            raise ValueError("heldOut goes with builtin and without variant: the secret seed says which one it is")
        return self

    @model_validator(mode="after")
    def _modes_once(self) -> Suite:
        require_unique("modes", [str(mode) for mode in self.modes])
        return self


class ModelEntry(Document):
    """A model of the run: by name, or written out here."""

    name: Name
    """Name of the model in tables, metrics and store keys."""
    ref: Name | None = None
    """EvalModel of the namespace (in a cluster) or of the same file (on one machine)."""
    inline: ModelSpec | None = None
    """The model, written out."""

    @model_validator(mode="after")
    def _ref_or_inline(self) -> ModelEntry:
        if (self.ref is None) == (self.inline is None):
            raise ValueError("exactly one of ref and inline is required")
        return self


EXTERNAL = "external"
"""Orchestrator of agents with a `command`."""
CONTRACT_VARIABLES = frozenset(
    {
        *("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "HOME"),
        *("OPSGYM_URL", "OPSGYM_KEY", "OPSGYM_MODEL", "OPSGYM_TASK", "OPSGYM_DEADLINE"),
    }
)
"""Variables of a `command` that opsgym sets."""
EnvName = Annotated[str, Field(pattern=VARIABLE, max_length=128)]


_ORCHESTRATOR = pattern(
    r"^[a-z0-9]([-_a-z0-9.]*[a-z0-9])?$",
    "lower-case letters, digits, '-', '_' and '.', a letter or digit first and last",
)


class Agent(Switches):
    """A named way to act."""

    name: Name
    """Name of the agent in tables, metrics and store keys."""
    profile: Profile = "opsgym"
    """Defaults of the switches: opsgym's, or the behaviour of the published harness; see docs/fidelity.md."""
    orchestrator: Annotated[str, Field(pattern=_ORCHESTRATOR, max_length=63)] = "react"
    """How model calls and tool calls are arranged: `react`, `planner_react`, `decomposing`, or one that an installed
    package adds."""
    plan: Literal["none", "human", "model"] = "none"
    """Plan shown to the agent: none, the task's human-written one, or one that `planner` writes once for each task."""
    planner: Name | None = None
    """Model that plans, of `models` or `supportingModels`; required by `plan: model`. An orchestrator that plans uses
    the evaluated model if absent."""
    command: Annotated[list[Annotated[str, Field(min_length=1, max_length=4096)]], Field(max_length=64)] = []
    """Program that is the agent, with its arguments: it asks the model and calls the tools over HTTP; see
    docs/own-agents.md. Parts that begin with `./` or `../` are paths relative to the document. On one machine only."""
    env: Annotated[dict[str, Annotated[str, Field(max_length=4096)]], Field(max_length=64)] = {}
    """Variables of `command` with their values, which are stored with the run: no secrets."""
    pass_env: Annotated[list[EnvName], Field(max_length=64)] = []
    """Names of your own variables that `command` gets; it gets no others but `PATH`."""
    days: bool = False
    """Whether `command` goes on with the message that the answer to `POST answer` may contain, as tasks of several days
    and tasks with messages in mid-task require; without it such a task is a `config_error`."""
    prompts: Annotated[dict[str, Annotated[str, Field(max_length=20_000)]], Field(max_length=16)] = {}
    """Prompts of the orchestrator to replace, by name; see docs/agents.md for names and placeholders."""
    tool_names: Literal["published", "qualified"] = "published"
    """What a tool is called that several of a task's gym servers have: by its name, which reaches the first of them as
    in the published harness, or by names of its own such as `email_create_label`, which reach each."""

    @model_validator(mode="before")
    @classmethod
    def _with_profile(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        # An API server has filled in `react` where the author wrote no orchestrator.
        if values.get("command") and values.get("orchestrator", "react") == "react":
            values = {**values, "orchestrator": EXTERNAL}
        return with_defaults(values)

    @property
    def profile_label(self) -> str:
        """The profile as records and tables name it: followed by the switches that differ from it, if any, for instance
        `published, toolErrors: shown`.
        """
        defaults = switches_of(self.profile, self.orchestrator)
        own = [
            f"{field.alias}: {getattr(self, name)}"
            for name, field in Switches.model_fields.items()
            if getattr(self, name) != getattr(defaults, name)
        ]
        return ", ".join([self.profile, *own])

    @model_validator(mode="after")
    def _planner_has_work(self) -> Agent:
        if self.plan == "model" and self.planner is None:
            raise ValueError("plan: model requires a planner")
        if self.planner is not None and self.plan != "model" and self.orchestrator in ("react", EXTERNAL):
            raise ValueError("a planner goes with plan: model, or with an orchestrator that plans")
        return self

    @model_validator(mode="after")
    def _command_alone(self) -> Agent:
        if bool(self.command) != (self.orchestrator == EXTERNAL):
            raise ValueError(f"command goes with orchestrator: {EXTERNAL}, which may be left out, and with no other")
        if not self.command and (self.env or self.pass_env or self.days):
            raise ValueError("env, passEnv and days go with command")
        if self.command and self.profile != "opsgym":
            raise ValueError("command goes with profile: opsgym; the published harness runs no programs")
        if self.command and (idle := self._switches_of_own_loop()):
            raise ValueError(f"{', '.join(idle)}: only opsgym's own loop has this switch; leave it out with command")
        if invalid := sorted(name for name in self.env if not re.fullmatch(VARIABLE, name)):
            raise ValueError(f"env: {', '.join(invalid)}: not the name of a variable")
        taken = sorted(name for name in (*self.env, *self.pass_env) if name in CONTRACT_VARIABLES)
        if taken:
            raise ValueError(f"env and passEnv: {', '.join(taken)}: opsgym sets this for the command; leave it out")
        return self

    def _switches_of_own_loop(self) -> list[str]:
        """Switches that are set and that no command has."""
        return [
            str(field.alias)
            for name, field in Switches.model_fields.items()
            if name not in _SWITCHES_OF_COMMANDS and getattr(self, name) != getattr(OPSGYM, name)
        ]


_SWITCHES_OF_COMMANDS = ("max_steps", "time_limit", "tool_errors")
DEFAULT_AGENT = Agent(name="react")
"""The agent of a run that names none."""

MOST_PER_POD = 100
"""Trials that a pod plays at most."""
MOST_COMBINATIONS = 1024
"""Models × agents × modes of a run. Each has a cell for every domain, and a cell costs the operator memory and time."""


class Limits(Document):
    """What an episode may take before something is wrong."""

    task_timeout_seconds: Annotated[int, Field(ge=1)] = 900
    """Seconds that the agent's model, tools and own work may take; past it the trial fails with `task_timeout`. Waits
    for a slot, a rate limit or a retry do not count."""
    infra_retries: Annotated[int, Field(ge=0, le=10)] = 2
    """Further attempts at a trial that ended in `infra_error`."""
    pending_seconds: Annotated[int, Field(ge=1)] = 600
    """Seconds a pod may stay unschedulable before the run is `Stalled`."""


class Budget(Document):
    """What the run may spend."""

    max_usd: Annotated[float, Field(gt=0)]
    """No episode starts once this is spent; tasks left over are `budget_skipped`."""


class Gate(Document):
    """When a finished run counts as good. Each condition is judged GO, NO-GO or, where trials are too few to tell,
    INCONCLUSIVE; docs/gates.md says how.
    """

    min_success_rate: Annotated[float, Field(ge=0, le=1)] | None = None
    """Lowest success rate: the mean over tasks of all cells; its lower bound is judged."""
    unscored: Literal["failed", "ignored"] = "failed"
    """How `minSuccessRate` counts planned trials without a score: as failed, so that the worst case is judged, or not
    at all."""
    min_cell_success_rate: Annotated[float, Field(ge=0, le=1)] | None = None
    """Lowest success rate of each cell: NO-GO if one is shown to be below it, corrected for the number of cells."""
    max_cost_usd: Annotated[float, Field(ge=0)] | None = None
    """Highest total cost."""
    max_infra_error_rate: Annotated[float, Field(ge=0, le=1)] = 0.02
    """Highest share of trials that ended in `infra_error`; they are not lost at random, so many make a rate doubtful.
    1 allows any."""
    max_unscored_rate: Annotated[float, Field(ge=0, le=1)] = 0.05
    """Highest share of planned trials without a score, for whatever reason. 1 allows any."""
    baseline: Annotated[str, Field(min_length=1)] | None = None
    """Run to compare with: its id, which pins it, or a name, which means the newest other run of that name."""
    last_good: bool = False
    """Compare with the last run of the same EvalSchedule whose gate said GO; of the same name, for a run that no
    schedule made. While there is none, `maxRegression` holds. The run must also keep within `maxRegression` of the
    first good run, so that small losses cannot add up."""
    best_of: Annotated[int, Field(ge=1, le=100)] = 1
    """With `lastGood`, compare with the best of that many last good runs."""
    max_regression: Annotated[float, Field(ge=0, le=1)] | None = None
    """Largest drop of the success rate, the mean over tasks of all cells, against `baseline` or the last good run, over
    the tasks of both; the lower bound of the paired difference is judged."""
    max_cell_regression: Annotated[float, Field(ge=0, le=1)] | None = None
    """Largest drop of each cell: NO-GO if one is shown to have fallen by more, corrected for the number of cells;
    `maxRegression` if absent."""
    confidence: Annotated[float, Field(ge=0.5, le=0.999)] = 0.95
    """Confidence of each bound. The higher, the more tasks it takes to tell."""
    min_trials: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Trials of each task after which the gate is judged for the first time, `trials` at most. While it is undecided,
    another round doubles them, up to `trials`; once it is decided, nothing more is played. Bounds hold over all looks
    together. Absent: every task has `trials` trials."""

    @model_validator(mode="after")
    def _one_baseline(self) -> Gate:
        if self.baseline is not None and self.last_good:
            raise ValueError("baseline and lastGood are two ways to name the run to compare with; give one")
        return self

    @model_validator(mode="after")
    def _regression_goes_with_baseline(self) -> Gate:
        if (self.baseline is not None or self.last_good) != (self.max_regression is not None):
            raise ValueError("maxRegression goes with baseline or lastGood, and they with it")
        if self.max_cell_regression is not None and self.max_regression is None:
            raise ValueError("maxCellRegression goes with maxRegression")
        if self.best_of > 1 and not self.last_good:
            raise ValueError("bestOf goes with lastGood")
        return self

    @model_validator(mode="after")
    def _rounds_can_be_undecided(self) -> Gate:
        if self.min_trials is not None and self.max_regression is None and self.min_success_rate is None:
            raise ValueError("minTrials goes with minSuccessRate or maxRegression, which more trials can decide")
        return self


_LABEL_VALUE = pattern(
    r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
    "empty, or letters, digits, '-', '_' and '.', a letter or digit first and last",
)
LabelValue = Annotated[str, Field(pattern=_LABEL_VALUE, max_length=63)]
"""Value of a label, as Kubernetes takes it."""


class PodOptions(Document):
    """What a run asks for its pods, of what the installation allows. Nothing else of a pod can be set by a run."""

    profile: Name | None = None
    """Pod profile of the installation (`podProfiles` of the chart): nodes, resources, runtime class, volumes and more.
    A profile that is unknown, or not for the namespace, is refused with the names of those that are."""
    labels: Annotated[dict[str, LabelValue], Field(max_length=16)] = {}
    """Labels of the pods, with keys that the installation allows (`pods.allowedLabels` of the chart)."""
    annotations: Annotated[dict[str, Annotated[str, Field(max_length=1024)]], Field(max_length=16)] = {}
    """Annotations of the pods, with keys that the installation allows (`pods.allowedAnnotations` of the chart)."""


class EvalRunSpec(Document):
    """What to evaluate. Immutable except `suspend` and `budget`."""

    suite: Suite
    """Which tasks."""
    models: Annotated[list[ModelEntry], Field(min_length=1, max_length=64)]
    """Which models; names are unique."""
    supporting_models: Annotated[list[ModelEntry], Field(max_length=64)] = []
    """Models that plan or judge and are not evaluated; names are unique, also among `models`."""
    judge: Name | None = None
    """Model that judges answers for `response_check` verifiers, of `models` or `supportingModels`."""
    agents: Annotated[list[Agent], Field(min_length=1, max_length=64)] = [DEFAULT_AGENT]
    """Which ways to act; names are unique."""
    trials: Annotated[int, Field(ge=1, le=1000)] = 1
    """Attempts that count, for every task in every cell; at most that many with `gate.minTrials`."""
    trials_per_pod: Annotated[int, Field(ge=1, le=MOST_PER_POD)] | Literal["auto"] = 1
    """Trials that a pod plays one after the other, each with a fresh Postgres and fresh gym servers. More of them save
    starts of pods and hold model slots for longer. With `auto` as many as keep a pod busy for about five minutes, by
    the durations of the run's trials. Not used on one machine."""
    pods: PodOptions | None = None
    """What the run asks for its pods; what the installation gives every run if absent. Not used on one machine."""
    limits: Limits = Limits()
    """What an episode may take."""
    budget: Budget | None = None
    """What the run may spend; no bound if absent."""
    result_store: Name | None = None
    """Store that the installation mounts; its default one if absent. On one machine, `--store` says where."""
    gate: Gate | None = None
    """When the finished run counts as good."""
    notify: Annotated[list[Name], Field(max_length=16)] = []
    """Webhooks that the installation has, to tell how the run goes, besides those that every run has."""
    suspend: bool = False
    """Start nothing new and stop running pods; paid results stay."""
    queue_name: Name | None = None
    """Kueue LocalQueue that admits the run's Jobs."""
    queue_priority_class: Name | None = None
    """Kueue WorkloadPriorityClass of the run's Jobs in `queueName`; the priority of their pods if absent."""
    ttl_seconds_after_finished: Annotated[int, Field(ge=0)] | None = None
    """Delete the EvalRun this long after it finished; results stay in the store. Never if absent."""

    @model_validator(mode="after")
    def _told_once(self) -> EvalRunSpec:
        require_unique("notify", self.notify)
        return self

    @model_validator(mode="after")
    def _names_unique(self) -> EvalRunSpec:
        require_unique("models", [model.name for model in self.all_models])
        require_unique("agents", [agent.name for agent in self.agents])
        return self

    @model_validator(mode="after")
    def _combinations_bounded(self) -> EvalRunSpec:
        if self.combinations > MOST_COMBINATIONS:
            raise ValueError(
                f"models × agents × suite.modes are {self.combinations}, more than {MOST_COMBINATIONS}; "
                "split them into several runs"
            )
        return self

    @model_validator(mode="after")
    def _priority_in_queue(self) -> EvalRunSpec:
        if self.queue_priority_class is not None and self.queue_name is None:
            raise ValueError("queuePriorityClass goes with queueName")
        return self

    @model_validator(mode="after")
    def _rounds_fit(self) -> EvalRunSpec:
        if self.gate is not None and (self.gate.min_trials or 0) > self.trials:
            raise ValueError("gate.minTrials is more than trials, which is the most; lower it, or raise trials")
        return self

    @model_validator(mode="after")
    def _helpers_exist(self) -> EvalRunSpec:
        models = [model.name for model in self.all_models]
        references = {f"agents: planner {agent.planner!r}": agent.planner for agent in self.agents if agent.planner}
        references |= {f"judge: {self.judge!r}": self.judge} if self.judge else {}
        for what, name in references.items():
            if name not in models:
                raise ValueError(f"{what} is not one of the run's models: {', '.join(models)}")
        return self

    @property
    def combinations(self) -> int:
        """Models × agents × modes: cells for each domain."""
        return len(self.models) * len(self.agents) * len(self.suite.modes)

    @property
    def all_models(self) -> list[ModelEntry]:
        """Evaluated models, then supporting ones."""
        return [*self.models, *self.supporting_models]


class Condition(Document):
    """Standard Kubernetes condition."""

    type: Annotated[
        str, Field(pattern=r"^([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$", max_length=316)
    ]
    """`Accepted`, `Progressing`, `Stalled`, `Succeeded` or `GatePassed`; other controllers may add theirs."""
    status: Literal["True", "False", "Unknown"]
    """Status of the condition."""
    reason: Annotated[str, Field(pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", max_length=1024)]
    """Reason of the last change as one CamelCase word, for programs."""
    message: Annotated[str, Field(max_length=32768)] = ""
    """Explanation for people: what is wrong and how to fix it."""
    last_transition_time: AwareDatetime
    """When `status` last changed."""
    observed_generation: Annotated[int, Field(ge=0)] | None = None
    """Generation of the spec that the condition was computed from."""


NotificationEvent: TypeAlias = Literal["finished", "stalled", "gate_failed"]
"""Events of a run: it has ended; it is stalled until a user fixes something; its gate is NO-GO or INCONCLUSIVE."""


class NotificationStatus(Document):
    """A notification to one webhook. It is recorded before it is sent, so that a restarted operator sends it."""

    id: Annotated[str, Field(max_length=64)]
    """Id of the notification, equal in every delivery attempt."""
    webhook: Name
    """Name of the webhook."""
    event: NotificationEvent
    """Event that it reports."""
    at: AwareDatetime
    """Time of the event."""
    reason: Annotated[str, Field(max_length=200)] = ""
    """Reason of the condition that reports the event."""
    message: Annotated[str, Field(max_length=1024)] = ""
    """Message of that condition; empty once the notification is sent or failed."""
    state: Literal["pending", "sent", "failed"] = "pending"
    """Delivery state; `failed` after the last delivery attempt."""
    attempts: Annotated[int, Field(ge=0)] = 0
    """Number of delivery attempts."""
    retry_at: AwareDatetime | None = None
    """Time of the next delivery attempt; immediately if absent."""


class EvalRunStatus(Document):
    """Counters, conditions and short strings for printer columns; never results."""

    observed_generation: int | None = None
    """Generation of the spec that this status was computed from."""
    phase: str | None = None
    """Summary of the conditions in one word, for people; programs read the conditions."""
    models: str | None = None
    """Names of the run's models, joined, for the printer column."""
    progress: str | None = None
    """Scored trials of all trials, for instance `18/24`."""
    success: str | None = None
    """Success rate over scored trials, for instance `37.5%`."""
    not_scored: int | None = None
    """Trials that ended without a score."""
    cost: str | None = None
    """Spend so far in dollars, for instance `$1.25`."""
    gate: str | None = None
    """Verdict of the gate on the ended run: `GO`, `NO-GO` or `INCONCLUSIVE`."""
    results: str | None = None
    """Location of the results: URL of the store, `/runs/`, and the run's id."""
    started_at: AwareDatetime | None = None
    """When the first attempt started."""
    finished_at: AwareDatetime | None = None
    """When the last trial ended."""
    counters: dict[str, int] = {}
    """Trials by outcome, `pending` ones, and `total`."""
    conditions: Annotated[list[Condition], Field(max_length=32)] = []
    """Conditions of the run, one of each type."""
    notifications: Annotated[list[NotificationStatus], Field(max_length=64)] = []
    """Pending and delivered webhook notifications."""

    @model_validator(mode="after")
    def _types_once(self) -> EvalRunStatus:
        require_unique("conditions", [condition.type for condition in self.conditions], "types")
        return self


class EvalRun(Document):
    """A declared evaluation."""

    api_version: Literal["opsgym.dev/v1alpha1"]
    kind: Literal["EvalRun"]
    metadata: ObjectMeta
    spec: EvalRunSpec
    status: EvalRunStatus | None = None


def require_unique(field: str, names: Sequence[str], what: str = "names") -> None:
    """Refuses a list of which items share a name.

    Raises:
        ValueError: Naming the field, and what is there twice.
    """
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{field}: {what} must be unique, found twice: {', '.join(twice)}")
