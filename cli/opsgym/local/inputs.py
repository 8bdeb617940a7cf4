"""Reads the inputs of a local run before anything starts: documents, rows, seeds, models.

Invariant: every mistake that can be detected without running is detected here. A problem of one row becomes the outcome
of its trials; all other problems end the command, listed together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

from opsgym.local.commands import commands_of, located_agents
from opsgym.local.models import ModelResolver
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalmodel import ObjectMeta
from opsgym_api.kinds.evalrun import Agent, EvalRun, EvalRunSpec, Suite
from opsgym_api.records.outcomes import ConfigReason
from opsgym_api.tasks.digest import digest_of
from opsgym_api.tasks.reading import BadRow, read_tasks
from opsgym_api.tasks.task import Task
from opsgym_api.validation import problems_of
from opsgym_core.planning.documents import Documents, inline_models, load_documents
from opsgym_core.planning.held_out import held_out_variant
from opsgym_core.planning.run_id import prompt_digests
from opsgym_core.planning.run_id import run_id as planned_run_id
from opsgym_core.planning.run_id import suite_digest as planned_suite_digest
from opsgym_core.planning.select import select_tasks
from opsgym_core.planning.suite_rows import domains_of, problems_by_id
from opsgym_core.results.frozen_suite import Seed
from opsgym_domains import registry
from opsgym_domains.editions import UnknownSuiteError, resolved
from opsgym_domains.suite_rows import load_suite
from opsgym_runner.episode import resolve_agent
from opsgym_runner.errors import NotScored
from opsgym_runner.gyms.seeds import SeedFinder, SeedNotFoundError
from opsgym_runner.gyms.tool_counts import tool_problems
from opsgym_runner.job import ResolvedModel
from opsgym_runner.models.checks import KnownPrices, MissingKey, recording_of, unbounded_cost
from opsgym_runner.models.endpoints import shown_url
from opsgym_runner.models.forward import keys_of, unforwardable
from opsgym_runner.models.prices import REPLAY, reports_cost
from opsgym_runner.orchestrators.code_version import code_version


@dataclass(frozen=True)
class RowProblem:
    """The reason why no trial of a row can run."""

    reason: ConfigReason
    message: str


@dataclass(frozen=True)
class RunInputs:
    """Inputs of a run, ready to be planned."""

    name: str
    spec: EvalRunSpec
    """Spec in which every model is written out, none only named."""
    tasks: Sequence[Task]
    """Selected tasks, in the order of the suite."""
    unreadable: Mapping[str, str]
    """Error messages of the selected rows that cannot be read, by the id that the row is reported under."""
    unrunnable: Mapping[str, RowProblem]
    """Problems of the selected tasks that cannot run, by task id."""
    models: Mapping[str, ResolvedModel]
    """By name."""
    agents: Mapping[str, Agent]
    """By name; the files that a command names are absolute paths."""
    seeds: Mapping[str, Mapping[str, Seed]]
    """By task id, then by name of the gym server."""
    suite_digest: str
    edition: str
    """See `RunRecord.edition`."""
    versions: Mapping[str, str]
    """See `RunRecord.versions`."""
    run_id: str
    notes: Sequence[str]
    """Warnings about fields that have no effect in local mode."""


def read_inputs(
    file: Path,
    environment: Mapping[str, str],
    known_prices: KnownPrices,
    missing_key: MissingKey,
    name: str | None = None,
) -> RunInputs:
    """Reads the documents in a file and everything they refer to.

    Args:
        file: The file with the EvalRun.
        environment: Environment variables, which hold credentials.
        known_prices: See `ModelResolver`.
        missing_key: See `ModelResolver`.
        name: Name of the run instead of the EvalRun's.

    Raises:
        InputError: The run cannot start.
    """
    documents = load_documents(file)
    if name is not None:
        documents = replace(documents, run=_renamed(documents.run, name))
    _require_resolvable_agents(str(file), documents.run.spec)
    suite = documents.run.spec.suite
    rows, bad_rows = read_suite(str(file), suite, documents.folder, environment)
    unreadable = problems_by_id(bad_rows, {task.task_id for task in rows}, suite.ids)
    tasks = select_tasks(suite, rows, unreadable=unreadable.keys())
    models = ModelResolver(documents.folder, environment, known_prices, missing_key).resolve(str(file), documents)
    agents = located_agents(str(file), documents.run.spec, documents.folder, environment)
    _require_usable_models(str(file), documents.run.spec, models, environment)
    _require_takeable_tools(str(file), documents.run.spec, models, tasks)
    _require_bounded_costs(str(file), documents.run.spec, models.values())
    seeds, unrunnable = resolve_seeds(tasks, seed_finder(suite, documents.folder))
    if len(unrunnable) == len(tasks):
        problems = [Problem("", message) for message in unreadable.values()]
        problems += [Problem(task_id, problem.message) for task_id, problem in unrunnable.items()]
        raise InputError(suite.builtin or suite.path or "suite", [*problems, Problem("", "none of the rows can run")])
    spec = inline_models(documents.run, documents.models)
    digest = planned_suite_digest(tasks)
    name = documents.run.metadata.name
    versions = _versions(spec, seeds, models.values()) | commands_of(agents.values())
    return RunInputs(
        name=name,
        spec=spec,
        tasks=tasks,
        unreadable=unreadable,
        unrunnable=unrunnable,
        models=models,
        agents=agents,
        seeds=seeds,
        suite_digest=digest,
        edition=resolved(suite.builtin).partition("@")[2] if suite.builtin else "",
        versions=versions,
        run_id=planned_run_id(name, spec, digest, versions),
        notes=_ignored_fields(documents),
    )


def _renamed(run: EvalRun, name: str) -> EvalRun:
    """The run under another name."""
    try:
        metadata = ObjectMeta.model_validate({**run.metadata.model_dump(by_alias=True), "name": name})
    except ValidationError as error:
        raise InputError("--name", problems_of(error, model=ObjectMeta)) from None
    return run.model_copy(update={"metadata": metadata})


def _require_resolvable_agents(source: str, spec: EvalRunSpec) -> None:
    """Refuses agents that cannot be resolved: none of their episodes could be scored."""
    problems: list[Problem] = []
    for index, agent in enumerate(spec.agents):
        try:
            resolve_agent(agent)
        except NotScored as error:
            problems.append(Problem(f"spec.agents[{index}]", str(error)))
    if problems:
        raise InputError(source, problems)


def _require_usable_models(
    source: str, spec: EvalRunSpec, models: Mapping[str, ResolvedModel], environment: Mapping[str, str]
) -> None:
    """Refuses models that no agent with a command can use as declared, and variables that would show it a key."""
    problems: list[Problem] = []
    for index, agent in enumerate(spec.agents):
        if not agent.command:
            continue
        called = [models[entry.name] for entry in spec.models]
        messages = (unforwardable(model.model, environment) for model in called if not model.model.startswith(REPLAY))
        problems += [Problem(f"spec.agents[{index}].command", message) for message in messages if message]
        problems += _not_sent(agent, called)
        keys = {key for model in models.values() for key in keys_of(model, environment)}
        problems += [
            Problem(
                f"spec.agents[{index}].passEnv", f"{name} holds a key of a model, which no agent gets; leave it out"
            )
            for name in agent.pass_env
            if environment.get(name, "").strip() in keys
        ]
    if problems:
        raise InputError(source, problems)


def _not_sent(agent: Agent, models: Sequence[ResolvedModel]) -> Iterator[Problem]:
    """Settings of models that the requests of an agent with a command, which it writes itself, would not have."""
    for index, model in enumerate(models):
        declared = [f"parameters.{name}" for name in model.parameters]
        declared += [] if model.stream == "auto" else ["stream"]
        if declared:
            yield Problem(
                f"spec.models[{index}]",
                f"{', '.join(declared)}: agent {agent.name} writes its requests itself, and they would not have this; "
                "set it in the agent's program and remove it here, or give the other agents a run of their own",
            )


def _require_takeable_tools(
    source: str, spec: EvalRunSpec, models: Mapping[str, ResolvedModel], tasks: Sequence[Task]
) -> None:
    """Refuses agents that would show a model more tools than its provider takes."""
    called = {name: (models[name].model, models[name].endpoints) for name in (model.name for model in spec.models)}
    problems = list(tool_problems(called, spec.agents, spec.suite.modes, tasks))
    if problems:
        raise InputError(source, problems)


def _require_bounded_costs(source: str, spec: EvalRunSpec, models: Iterable[ResolvedModel]) -> None:
    """Refuses a budget over models without a price: it could not be kept."""
    unpriced = [m for m in models if m.prices is None and not m.model.startswith(REPLAY) and not reports_cost(m.model)]
    if spec.budget is not None and unpriced:
        raise InputError(source, [Problem(f"model {m.name}", unbounded_cost(m.model)) for m in unpriced])


def read_suite(
    source: str, suite: Suite, folder: Path, environment: Mapping[str, str]
) -> tuple[Sequence[Task], list[BadRow]]:
    """Every row of a suite, and the rows that cannot be read.

    Args:
        source: What names the suite, for messages.
        suite: The suite.
        folder: What its paths are relative to.
        environment: Environment variables, one of which holds the seed of a held-out suite.

    Raises:
        InputError: The suite does not exist, has no seed that it needs, or is of a kind that only a cluster reads.
    """
    if suite.builtin is not None:
        number = held_out_variant(environment, source) if suite.held_out else suite.variant
        return _builtin_tasks(source, suite.builtin, number), []
    if suite.path is not None:
        return read_tasks(folder / suite.path)
    field = "objectStore" if suite.object_store is not None else "configMap"
    advice = "is only supported in a cluster; in local mode use builtin or path"
    raise InputError(source, [Problem(f"spec.suite.{field}", advice)])


def _builtin_tasks(source: str, name: str, variant: int | None) -> Sequence[Task]:
    try:
        return load_suite(name, variant or 0)
    except UnknownSuiteError as error:
        raise InputError(source, [Problem("spec.suite.builtin", str(error))]) from None
    except ValueError as error:
        raise InputError(source, [Problem("spec.suite.variant", str(error))]) from None


def seed_finder(suite: Suite, folder: Path) -> SeedFinder:
    """Finds the seeds of a suite whose paths are relative to a folder."""
    seed_path = None if suite.seed_path is None else folder / suite.seed_path
    if suite.path is None:
        return SeedFinder(None, seed_path)
    path = folder / suite.path
    return SeedFinder(path if path.is_dir() else path.parent, seed_path)


def resolve_seeds(
    tasks: Sequence[Task], finder: SeedFinder
) -> tuple[dict[str, Mapping[str, Seed]], dict[str, RowProblem]]:
    """Seeds of the tasks that can run, and problems of those that cannot, both by task id."""
    seeds: dict[str, Mapping[str, Seed]] = {}
    unrunnable: dict[str, RowProblem] = {}
    installed = registry.domains()
    for task in tasks:
        missing = [domain for domain in domains_of(task) if domain not in installed]
        if missing:
            message = f"no gym server is installed for {', '.join(missing)}; installed: {', '.join(installed)}"
            unrunnable[task.task_id] = RowProblem(ConfigReason.UNKNOWN_GYM, message)
            continue
        try:
            seeds[task.task_id] = {
                server.mcp_server_name: finder.seed_for(server) for server in task.gym_servers_config
            }
        except SeedNotFoundError as error:
            unrunnable[task.task_id] = RowProblem(ConfigReason.SEED_NOT_FOUND, str(error))
    return seeds, unrunnable


def _versions(
    spec: EvalRunSpec, seeds: Mapping[str, Mapping[str, Seed]], models: Iterable[ResolvedModel]
) -> dict[str, str]:
    """What affects scores besides spec and rows: this release, orchestrators, seeds, recordings and the addresses of
    models that variables give; digests of replaced prompts, so that two runs show whether they had the same ones.
    """
    models = list(models)
    texts = {seed.sql for by_server in seeds.values() for seed in by_server.values() if seed.sql is not None}
    recordings = {file for model in models if (file := recording_of(model.model)) is not None}
    code = {agent.orchestrator: code_version(agent.orchestrator) for agent in spec.agents}
    entries = (*spec.models, *spec.supporting_models)
    named = {entry.name for entry in entries if entry.inline is not None and entry.inline.endpoints}
    return {
        "opsgym": version("opsgym"),
        **{
            f"address:{model.name}": shown_url(endpoint)
            for model in models
            for endpoint in model.endpoints
            if endpoint.url is not None and model.name not in named
        },
        **{f"orchestrator:{name}": text for name, text in code.items() if text is not None},
        **prompt_digests(spec),
        "seeds": digest_of(sorted(hashlib.sha256(text.encode()).hexdigest() for text in texts)),
        "recordings": digest_of(sorted(hashlib.sha256(file.read_bytes()).hexdigest() for file in recordings)),
    }


def _ignored_fields(documents: Documents) -> list[str]:
    """A warning that names the given fields that only a cluster uses."""
    spec = documents.run.spec
    given_by_field = {
        "queueName": spec.queue_name is not None,
        "queuePriorityClass": spec.queue_priority_class is not None,
        "notify": bool(spec.notify),
        "resultStore": spec.result_store is not None,
        "ttlSecondsAfterFinished": spec.ttl_seconds_after_finished is not None,
        "trialsPerPod": spec.trials_per_pod != 1,
        "pods": spec.pods is not None,
        "limits.pendingSeconds": "pending_seconds" in spec.limits.model_fields_set,
    }
    fields = [field for field, given in given_by_field.items() if given]
    verb = "has" if len(fields) == 1 else "have"
    return [f"{', '.join(fields)}: {verb} no effect in local mode"] if fields else []
