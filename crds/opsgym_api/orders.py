"""What the operator hands to pods, and what pods hand back. Credentials are named here, never written.

Invariant: an order says everything an attempt needs besides the store, so a pod asks no API server anything; what a pod
hands back fits into a termination message.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Any

from pydantic import Field

from opsgym_api.base import Stored
from opsgym_api.evalmodel import Prices
from opsgym_api.evalrun import Access, Agent, Limits, Suite
from opsgym_api.outcomes import Outcome
from opsgym_api.records import Cell, Timings, Usage

ORDER_VERSION = 1
MESSAGE_BYTES = 4096
"""What Kubernetes keeps of a container's termination message."""
POD_MESSAGE_BYTES = 12 * 1024
"""What it keeps of all of a pod's together; every container, init containers included, has an equal share."""

ENV_ORDER = "OPSGYM_ORDER"
"""Environment variable: file of the pod's order."""
ENV_STORE = "OPSGYM_STORE"
"""Environment variable: URL of the result store, which is opened with the usual `AWS_…` variables."""
ENV_SUITE = "OPSGYM_SUITE"
"""Environment variable: folder of a built-in suite's or ConfigMap's rows in a preflight pod; `/suite` if unset."""
ENV_SUITE_STORE = "OPSGYM_SUITE_STORE"
"""Environment variable: URL of the store of `suite.objectStore` in a preflight pod. It is opened with
`OPSGYM_SUITE_AWS_ACCESS_KEY_ID`, `…_AWS_SECRET_ACCESS_KEY`, `…_AWS_ENDPOINT_URL_S3` and `…_AWS_REGION`; those that are
unset are looked for where boto3 looks."""
ENV_RECORDINGS = "OPSGYM_RECORDINGS"
"""Environment variable: folder that holds `<ConfigMap>/<key>` of recordings; `RECORDINGS` if unset."""
ENV_TERMINATION_LOG = "OPSGYM_TERMINATION_LOG"
"""Environment variable: file of the termination message; `/dev/termination-log` if unset."""
ENV_INDEX = "JOB_COMPLETION_INDEX"
"""Environment variable: position of the pod's trial in its order; set by Kubernetes."""
RECORDINGS = "/etc/opsgym/recordings"

UNREAD_DOMAIN = "unread"
"""Domain under which rows are reported that could not be read."""


class Exit(IntEnum):
    """How a pod's main container ends. Kubernetes counts 100 to 109 as a try that failed."""

    DONE = 0
    """A final record, or a report, is written, whatever it says."""
    INFRA_ERROR = 101
    """The attempt ended as `infra_error`; another may succeed."""
    STORE_LOST = 102
    """The store could not be read or written."""
    NO_ORDER = 103
    """The order, the store's address or the index cannot be used; the termination message is plain text."""
    TERMINATED = 104
    """Told to stop, or the run is suspended; the attempt record says what was spent."""


class OrderedEndpoint(Stored):
    """One address of a model."""

    url: str | None = None
    """Base URL; the provider's public one if None."""
    key_env: str | None = None
    """Environment variable that holds the key; the provider's usual one if None."""


class OrderedModel(Stored):
    """A model as a pod reaches it."""

    name: str
    """Name in tables and records."""
    model: str
    """litellm id, or `replay/gold`, `replay/noop`, `replay/<ConfigMap>/<key>`."""
    origin: str = ""
    """Object and field that declare it, for messages: `EvalModel gpt: spec`, `EvalRun x: spec.models[0].inline`."""
    endpoints: list[OrderedEndpoint]
    """Empty: the provider's public address and its usual variable for the key."""
    parameters: dict[str, Any] = {}
    max_concurrency: int
    prices: Prices | None = None
    """None: litellm's bundled price map."""
    allow_unpriced: bool = False


class TrialRef(Stored):
    """A trial of the cell that a Job runs."""

    task_id: str
    trial: int
    """Counts from 0."""


class JobOrder(Stored):
    """What the pods of one Job do: trial number `JOB_COMPLETION_INDEX` of one cell."""

    version: int = ORDER_VERSION
    run: str
    cell: Cell
    model: OrderedModel
    planner: OrderedModel | None = None
    """Model that writes the agent's plans, if another one does."""
    judge: OrderedModel | None = None
    """Model that judges answers."""
    agent: Agent
    limits: Limits
    access: Access
    gyms: dict[str, str]
    """Base URL inside the pod by domain."""
    trials: Annotated[list[TrialRef], Field(min_length=1)]
    """By completion index."""
    resources: dict[str, Any] = {}
    """Requests and limits of the pod's containers by name, for the record."""


class PreflightOrder(Stored):
    """What the preflight Job of a run checks."""

    version: int = ORDER_VERSION
    run: str
    suite: Suite
    """Exactly one source; a built-in suite or a ConfigMap's is found at `/suite`."""
    models: list[OrderedModel]
    """Evaluated ones, then supporting ones."""
    agents: list[Agent] = []


class Finding(Stored):
    """Something that a user has to mend."""

    where: str
    """Object and field, for instance `EvalModel gpt: spec.prices` or `ConfigMap tasks: tasks.json:3: verifiers`."""
    problem: str
    """What is wrong and what to do."""


class PreflightReport(Stored):
    """What a preflight found; empty when the run can start."""

    version: int = ORDER_VERSION
    problems: list[Finding] = []
    more: int = 0
    """Further problems that did not fit into the message."""
    tasks: int = 0
    """Rows read."""


class SeedRef(Stored):
    """What a gym's database starts from: a seed that ships with the domain, or one frozen with the suite."""

    builtin: str | None = None
    sha256: str | None = None
    """Digest of the SQL text; see `RunKeys.suite_seed`."""


class FrozenTask(Stored):
    """A row with its seeds found, as the run will always see it."""

    version: int = ORDER_VERSION
    row: dict[str, Any]
    """The row, see `opsgym_api.task.Task`."""
    seeds: dict[str, SeedRef]
    """By `mcp_server_name`."""


class SuiteEntry(Stored):
    """One row of a frozen suite, as far as planning needs it."""

    task_id: str
    domain: str
    gyms: list[str]
    """Domains of its gym servers, each once, in the row's order."""
    digest: str
    """Of the row; see `digest.task_digest`."""
    problem: str = ""
    """Why the row cannot run; it may still be left out by the suite's filters."""

    @property
    def domain_name(self) -> str:
        """Its domain; see `task.Task.domain_name`."""
        return self.domain


class SuiteIndex(Stored):
    """A frozen suite: every row, before the run's filters."""

    version: int = ORDER_VERSION
    entries: list[SuiteEntry]


class AttemptSummary(Stored):
    """An attempt in short: what the operator counts. The store's records say more, and are the truth."""

    version: int = ORDER_VERSION
    cell: Cell
    task_id: str
    trial: int
    attempt: int
    outcome: Outcome
    reason: str = ""
    message: str = ""
    """Cut to fit."""
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    steps: int = 0
    tool_calls: int = 0
    model_retries: int = 0
    rate_limits: int = 0
    timings: Timings
