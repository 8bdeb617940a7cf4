"""The runner's input: one attempt at one trial, fully resolved.

Invariant: a job is complete. Its author (a pod's entry point, or local mode) has read the documents, located the seed
files and resolved the credentials.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from opsgym_api.kinds.evalmodel import Prices, Streaming
from opsgym_api.kinds.evalrun import Access, Agent, Limits, Mode
from opsgym_api.records.attempt import Cell
from opsgym_api.tasks.task import Task
from opsgym_core.results.frozen_suite import Seed

PLANNER = "planner"
"""Role of the model that writes plans and sub-goals."""
JUDGE = "judge"
"""Role of the model that judges answers. The agent's own model has the role `""`."""


@dataclass(frozen=True)
class ModelEndpoint:
    """One address of a model."""

    url: str | None = None
    """Base URL; None for the provider's public one."""
    api_key: SecretStr | None = None
    """API key; None for the provider's usual environment variable."""
    headers: tuple[tuple[str, SecretStr], ...] = ()
    """Names and values of headers with secret values."""

    @property
    def secrets(self) -> list[str]:
        """Values that must never be shown."""
        values = [self.api_key, *(value for _, value in self.headers)]
        return [value.get_secret_value() for value in values if value is not None]


@dataclass(frozen=True)
class AwsCredentials:
    """Access to AWS for the calls of one model."""

    key_id: str
    secret: SecretStr
    region: str | None = None
    """Region that serves the model; None for AWS's usual variable."""


@dataclass(frozen=True)
class ResolvedModel:
    """A model with its credentials."""

    name: str
    """Name in tables and records."""
    model: str
    """litellm id, or `replay/gold`, `replay/noop`, `replay/<absolute path of a recording>`."""
    endpoints: tuple[ModelEndpoint, ...] = (ModelEndpoint(),)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    stream: Streaming = "auto"
    max_concurrency: int = 8
    prices: Prices | None = None
    """None only if the user set `allowUnpriced`."""
    aws: AwsCredentials | None = None
    """Access to AWS; None for what AWS's libraries find."""

    @property
    def secrets(self) -> list[str]:
        """Values that must never appear in records, logs, spans or messages."""
        aws = [] if self.aws is None else [self.aws.secret.get_secret_value()]
        return [*(secret for endpoint in self.endpoints for secret in endpoint.secrets), *aws]


@dataclass(frozen=True)
class Job:
    """One attempt at one trial."""

    run: str
    cell: Cell
    task: Task
    trial: int
    attempt: int
    model: ResolvedModel
    agent: Agent
    mode: Mode
    limits: Limits
    access: Access
    """Access of the run; a task may require `strict` by itself."""
    gyms: Mapping[str, str]
    """Base URL by domain, for every domain of the task's gym servers."""
    seeds: Mapping[str, Seed]
    """Seed by `mcp_server_name`."""
    resources: Mapping[str, Any] = field(default_factory=dict)
    """Requests and limits of the pod's containers, copied into the record; empty in local mode."""
    planner: ResolvedModel | None = None
    """Model of the planner; None for the agent's own model."""
    judge: ResolvedModel | None = None
    """Model of the judge; None if no answer can be judged."""

    @property
    def secrets(self) -> list[str]:
        """Secrets of all models of the job."""
        models = (self.model, self.planner, self.judge)
        return [secret for model in models if model is not None for secret in model.secrets]
