"""Records of a whole run: `run.json`, `control.json`, `pin.json` and the plans that models wrote.

Invariant: `run.json` is written once, when the run starts, and holds references to credentials, never credentials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from opsgym_api.base import Stored
from opsgym_api.kinds.evalrun import DEFAULT_AGENT, Agent
from opsgym_api.records.attempt import Cell, Usage
from opsgym_api.records.gate import LookRecord
from opsgym_api.records.version import RECORD_VERSION, RecordVersion


class PlanRecord(Stored):
    """A plan that a model wrote for a task once, for every agent of the run that is shown plans of that model."""

    version: RecordVersion = RECORD_VERSION
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


class RunPods(Stored):
    """What the pods of a run in a cluster are made of, frozen when it starts: an upgrade changes no run in progress."""

    images: dict[str, str]
    """Reference of each image, `runner` and `domains`; by digest where the registry's digest is known."""
    image_ids: dict[str, str] = {}
    """Id of each image as the node of the preflight reported it; images that the preflight did not use are absent."""
    gyms: dict[str, dict[str, Any]] = {}
    """Image and port of each server that replaces opsgym's, by domain."""
    resources: dict[str, Any] = {}
    """Requests and limits by container, as the installation configured them."""
    domain_resources: dict[str, dict[str, Any]] = {}
    """Those of a domain's pods that differ, by domain."""
    database_megabytes: int
    """Size limit, in MiB, of the volume that holds a pod's databases."""


class RunRecord(Stored):
    """`run.json`: what a run is, frozen when it starts."""

    version: RecordVersion = RECORD_VERSION
    run: str
    name: str
    spec: dict[str, Any]
    """The EvalRun's spec as it was read; holds references to credentials, never credentials."""
    task_ids: list[str]
    cells: list[PlannedCell] = []
    """Planned cells; what is not in them was never part of the run."""
    trials: int = 1
    """Trials that count, for every task in every cell; of a run with rounds, when it is loaded, those that are planned
    so far."""
    rounds: tuple[int, ...] = ()
    """Trials of each task at the end of each round, if a gate decides after each whether another one is played; empty
    for a fixed number of trials."""
    looks: tuple[LookRecord, ...] = ()
    """The looks so far when the record is loaded; `run.json` has none, except that of a rescored run."""
    suite_digest: str
    edition: str = ""
    """Edition of the built-in suite whose rows ran: `2026-12`, or `next` if they were not pinned; empty for other
    suites, and in records of releases without editions."""
    opsgym: str
    versions: dict[str, str] = {}
    """What affects scores besides spec and rows, by name: the version of opsgym, digests of seeds and recordings,
    `orchestrator:NAME` for code of installed packages, `command:NAME` for the files of an agent's command, `image:NAME`
    for images of pods, `address:MODEL` where a variable (`OPENAI_BASE_URL`) gives a model its address."""
    pods: RunPods | None = None
    """What its pods are made of; None for a run on one machine."""
    created_at: str
    schedule: str = ""
    """EvalSchedule that created the run; empty for a run that a user created."""
    rescored_from: str = ""
    """Run whose final states were verified anew to make this one; empty for a run that was run."""

    @property
    def suite(self) -> str:
        """Its suite in words, see `suite_label`."""
        return suite_label(self.spec, self.edition)

    @property
    def stopped(self) -> LookRecord | None:
        """The look that ended the run before its last round; None if none did."""
        return self.looks[-1] if self.looks and self.looks[-1].stops else None

    def with_looks(self, looks: Sequence[LookRecord]) -> RunRecord:
        """The record of a run with rounds as it stands after some looks."""
        if not self.rounds:
            return self
        stopped = bool(looks) and looks[-1].stops
        trials = looks[-1].look.trials if stopped else self.rounds[min(len(looks), len(self.rounds) - 1)]
        return self.model_copy(update={"trials": trials, "looks": tuple(looks)})


def suite_label(spec: Mapping[str, Any], edition: str) -> str:
    """The suite of a run in words: `hr-core@2026-12, variant 7`, `tasks.json`, `archive/nightly/`.

    Args:
        spec: The run's spec.
        edition: See `RunRecord.edition`.
    """
    suite = spec.get("suite") or {}
    elsewhere = suite.get("objectStore") or suite.get("configMap") or {}
    if builtin := suite.get("builtin"):
        variant = variant_of(spec)
        name = f"{builtin.partition('@')[0]}@{edition}" if edition else builtin
        return name + (", held out" if is_held_out(spec) else f", variant {variant}" if variant else "")
    named = suite.get("path") or elsewhere.get("key") or ""
    return "/".join(str(part) for part in (elsewhere.get("store") or elsewhere.get("name"), named) if part)


def variant_of(spec: Mapping[str, Any]) -> int:
    """The variant of the suite that a run's spec names; 0 for the tasks as they are written."""
    return int((spec.get("suite") or {}).get("variant") or 0)


def is_held_out(spec: Mapping[str, Any]) -> bool:
    """Whether a run's tasks are those of a secret seed's variant."""
    return bool((spec.get("suite") or {}).get("heldOut"))


def profile_of(spec: Mapping[str, Any], agent: str) -> str:
    """The profile of an agent of a run's spec, see `Agent.profile_label`; empty if the spec does not have the agent."""
    agents = spec.get("agents") or [{"name": DEFAULT_AGENT.name}]
    written = next((one for one in agents if one.get("name") == agent), None)
    try:
        return Agent.model_validate(written).profile_label if written else ""
    except ValidationError:
        return ""  # of another version


class PinRecord(Stored):
    """`pin.json`: a person wants the run to stay in the store, whatever its age."""

    version: RecordVersion = RECORD_VERSION
    reason: str
    """Why, in the person's words; may be empty."""
    since: str
    """UTC, RFC 3339."""


class Control(Stored):
    """`control.json`: whether episodes may start or go on."""

    start: bool = True
    """Whether a new episode may start."""
    proceed: bool = True
    """Whether a running episode may take its next step."""
    reason: str = ""
    """Why not: `budget`, `suspended`, `breaker`."""
    stopped: list[str] = []
    """Models with which no new episode starts for a while: the quota of their account is used up."""

    def is_waited_for(self, model: str) -> bool:
        """Whether an episode with a model waits until it may start, instead of ending."""
        return model in self.stopped if self.start else self.reason == "breaker"
