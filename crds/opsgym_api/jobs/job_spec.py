"""Specs that the operator passes to pods, and the report of a preflight. Credentials are named, never contained.

Invariant: a spec has everything that an attempt needs besides the store, so that a pod sends no request to the API
server; a report fits into a termination message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from opsgym_api.base import Stored
from opsgym_api.kinds.evalmodel import Prices, Streaming
from opsgym_api.kinds.evalrun import Access, Agent, Limits, Suite
from opsgym_api.records.attempt import Cell

JOB_SPEC_VERSION = 1
MESSAGE_BYTES = 4096
"""What Kubernetes keeps of a container's termination message."""
POD_MESSAGE_BYTES = 12 * 1024
"""What it keeps of all of a pod's together; every container, init containers included, has an equal share."""

ENV_JOB_SPEC = "OPSGYM_JOB_SPEC"
"""Environment variable: file of the pod's job spec."""
ENV_STORE = "OPSGYM_STORE"
"""Environment variable: URL of the result store. It is opened with variables of its own, so that no library signs other
requests with the store's key: `STORE_ENV_PREFIX` and AWS's usual name; those that are unset are looked for where boto3
looks."""
STORE_ENV_PREFIX = "OPSGYM_STORE_"
"""Prefix of the result store's `AWS_ACCESS_KEY_ID`, `…_SECRET_ACCESS_KEY`, `…_ENDPOINT_URL_S3` and `…_REGION`."""
ENV_SUITE = "OPSGYM_SUITE"
"""Environment variable: folder of a built-in suite's or ConfigMap's rows in a preflight pod; `/suite` if unset."""
ENV_SUITE_STORE = "OPSGYM_SUITE_STORE"
"""Environment variable: URL of the store of `suite.objectStore` in a preflight pod, which is opened in the same way."""
SUITE_ENV_PREFIX = "OPSGYM_SUITE_"
"""Prefix of that store's variables."""
ENV_RECORDINGS = "OPSGYM_RECORDINGS"
"""Environment variable: folder that holds `<ConfigMap>/<key>` of recordings; `RECORDINGS` if unset."""
ENV_TERMINATION_LOG = "OPSGYM_TERMINATION_LOG"
"""Environment variable: file of the termination message; `/dev/termination-log` if unset."""
ENV_INDEX = "JOB_COMPLETION_INDEX"
"""Environment variable: position of the pod's trials in its job spec; set by Kubernetes."""
RECORDINGS = "/etc/opsgym/recordings"

UNREAD_DOMAIN = "unread"
"""Domain under which rows are reported that could not be read."""


class JobEndpoint(Stored):
    """One address of a model."""

    url: str | None = None
    """Base URL; the provider's public one if None."""
    key_env: str | None = None
    """Environment variable that holds the key; the provider's usual one if None."""
    header_envs: dict[str, str] = {}
    """Environment variables that hold the values of headers, by the header's name."""


class JobAws(Stored):
    """Access of a model's calls to AWS."""

    key_id_env: str
    """Environment variable that holds the access key's id."""
    secret_env: str
    """Environment variable that holds the secret access key."""
    region: str | None = None
    """Region that serves the model; AWS's usual variable if None."""


class JobModel(Stored):
    """A model as a pod reaches it."""

    name: str
    """Name in tables and records."""
    model: str
    """litellm id, or `replay/gold`, `replay/noop`, `replay/<ConfigMap>/<key>`."""
    origin: str = ""
    """Object and field that declare it, for messages: `EvalModel gpt: spec`, `EvalRun x: spec.models[0].inline`."""
    endpoints: list[JobEndpoint]
    """Empty: the provider's public address and its usual variable for the key."""
    parameters: dict[str, Any] = {}
    stream: Streaming = "auto"
    max_concurrency: int
    prices: Prices | None = None
    """None: litellm's bundled price map."""
    allow_unpriced: bool = False
    aws: JobAws | None = None
    """Access to AWS; None: what AWS's libraries find in the pod, never the store's key."""


class TrialRef(Stored):
    """A trial of the cell that a Job runs."""

    task_id: str
    trial: int
    """Counts from 0."""


class JobSpec(Stored):
    """What the pods of one Job do: the trials at `JOB_COMPLETION_INDEX` of one cell."""

    version: int = JOB_SPEC_VERSION
    run: str
    store: str = ""
    """Name of the run's store in the installation; the store gateway serves its pods this one."""
    cell: Cell
    model: JobModel
    planner: JobModel | None = None
    """Model that writes the agent's plans, if another one does."""
    judge: JobModel | None = None
    """Model that judges answers."""
    agent: Agent
    limits: Limits
    access: Access
    held_out: bool = False
    """Whether what is stored of its tasks is sealed; a pod without the held-out seed then does not start."""
    gyms: dict[str, str]
    """Base URL inside the pod by domain."""
    admin_token_files: dict[str, str] = {}
    """File with the token of a gym server's admin endpoints by domain; published servers have none."""
    trials: Annotated[list[TrialRef], Field(min_length=1)]
    """In the order of completion indexes, `trials_per_pod` for each; the last index may have fewer."""
    trials_per_pod: Annotated[int, Field(ge=1)] = 1
    """Trials that a pod plays in turn."""
    resources: dict[str, Any] = {}
    """Requests and limits of the pod's containers by name, for the record."""


def pods_for(trials: int, trials_per_pod: int) -> int:
    """Number of pods that play a number of trials."""
    return -(-trials // trials_per_pod)


def trials_at(trials: Sequence[TrialRef], trials_per_pod: int, index: int) -> Sequence[TrialRef]:
    """Trials of the pod at a completion index, in the order in which it plays them; empty beyond the last index."""
    first = index * trials_per_pod
    return trials[first : first + trials_per_pod] if index >= 0 else ()


class PreflightSpec(Stored):
    """What the preflight Job of a run checks."""

    version: int = JOB_SPEC_VERSION
    run: str
    store: str = ""
    """Name of the run's store in the installation."""
    suite: Suite
    """Exactly one source; a built-in suite or a ConfigMap's is found at `/suite`."""
    models: list[JobModel]
    """Evaluated ones, then supporting ones."""
    evaluated: list[str] = []
    """Names of the evaluated ones."""
    agents: list[Agent] = []
    budget: bool = False
    """Whether the run has a budget, which needs a price for each model."""


class Finding(Stored):
    """A problem that the user must fix before the run can start."""

    where: str
    """Object and field, for instance `EvalModel gpt: spec.prices` or `ConfigMap tasks: tasks.json:3: verifiers`."""
    problem: str
    """What is wrong and what to do."""


class PreflightReport(Stored):
    """What a preflight found; empty when the run can start."""

    version: int = JOB_SPEC_VERSION
    problems: list[Finding] = []
    more: int = 0
    """Further problems that did not fit into the message."""
    tasks: int = 0
    """Rows read."""
