"""A preflight pod's main container: checks whether a run can start, and freezes its suite if it can.

Invariant: a fault that a user must fix is a problem of the report, named by object and field, with exit code 0; another
exit code means that the check itself failed. Every check is made, so one report lists all problems.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import structlog

from opsgym_api.errors import InputError
from opsgym_api.jobs.exit_codes import Exit
from opsgym_api.jobs.job_spec import ENV_SUITE, Finding, JobModel, PreflightReport, PreflightSpec
from opsgym_api.kinds.credentials import secret_parameters
from opsgym_api.kinds.evalrun import Agent
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.task import Task
from opsgym_core.common.logs import configure_logs
from opsgym_core.planning.select import select_tasks
from opsgym_core.store.base import Store, StoreError, write_once_problem
from opsgym_runner.episode import resolve_agent
from opsgym_runner.errors import NotScored
from opsgym_runner.gyms.tool_counts import tool_problems
from opsgym_runner.job import ModelEndpoint
from opsgym_runner.models.checks import (
    SCRIPTED_REPLAYS,
    KnownPrices,
    MissingKey,
    missing_key,
    required_key,
    unbounded_cost,
    unknown_price,
)
from opsgym_runner.models.credentials import unusable_because, usable
from opsgym_runner.models.prices import REPLAY, known_prices, reports_cost
from opsgym_runner.pod.heartbeat import Heartbeat
from opsgym_runner.pod.job_spec import UnusableJobSpec, read_job_spec, recordings_folder, result_store, suite_store
from opsgym_runner.pod.message import fitted_report, message_limit, write_message, write_text_message
from opsgym_runner.pod.suite import Frozen, fetched, mounted, read_suite
from opsgym_runner.replay.flaky import flaky_problems
from opsgym_runner.replay.scripts import read_recording

_CONTAINERS = 2  # containers of the pod: the one that writes a built-in suite, and this one
log = structlog.get_logger()


def main(environment: Mapping[str, str]) -> int:
    """Checks a run, writes the report and returns the exit code."""
    configure_logs(environment)
    try:
        spec = read_job_spec(environment, PreflightSpec)
        store = result_store(environment, held_out=spec.suite.held_out)
        with Heartbeat(environment).in_thread(), tempfile.TemporaryDirectory() as scratch:
            report, code = _checked(spec, store, environment, Path(scratch))
    except UnusableJobSpec as error:
        log.critical("cannot start", error=str(error))
        write_text_message(environment, str(error))
        return Exit.NO_JOB_SPEC
    for finding in report.problems:
        log.warning("finding", where=finding.where, problem=finding.problem)
    log.info("preflight ended", problems=len(report.problems), tasks=report.tasks, code=int(code))
    write_message(environment, fitted_report(report, message_limit(_CONTAINERS)))
    return code


def _checked(
    spec: PreflightSpec, store: Store, environment: Mapping[str, str], scratch: Path
) -> tuple[PreflightReport, Exit]:
    structlog.contextvars.bind_contextvars(run=spec.run)
    findings: list[Finding] = []
    frozen = Frozen()
    code = Exit.DONE
    try:
        findings += check_store(store, spec.run)
    except StoreError as error:
        findings.append(_unreachable(error))
        code = Exit.STORE_LOST
    try:
        frozen = _read_suite(spec, environment, scratch)
    except StoreError as error:
        findings.append(_unreachable(error))
        code = Exit.STORE_LOST
    findings += frozen.findings
    findings += check_models(spec.models, environment, known_prices, missing_key, budget=spec.budget)
    findings += check_agents(spec.agents)
    findings += check_tools(spec, frozen)
    if not findings:
        try:
            frozen.write(store, spec.run)
        except StoreError as error:
            findings.append(_unreachable(error))
            code = Exit.STORE_LOST
    return PreflightReport(problems=findings, tasks=len(frozen.entries)), code


def _unreachable(error: StoreError) -> Finding:
    return Finding(where=f"store {error.store}", problem=str(error).removeprefix(f"{error.store}: "))


def _read_suite(spec: PreflightSpec, environment: Mapping[str, str], scratch: Path) -> Frozen:
    if spec.suite.object_store is not None:
        source = fetched(spec.suite, suite_store(environment), scratch)
    else:
        source = mounted(spec.suite, Path(environment.get(ENV_SUITE) or "/suite"))
    return read_suite(spec.suite, source)


def check_store(store: Store, run: str) -> Iterator[Finding]:
    """Checks that the store accepts writes, and accepts each key only once.

    Raises:
        StoreError: The store cannot be written.
    """
    if problem := write_once_problem(store, RunKeys(run).probe):
        yield Finding(where=f"store {store.name}", problem=problem)


def check_agents(agents: Sequence[Agent]) -> Iterator[Finding]:
    """Checks that every agent's orchestrator is installed and has the prompts that the agent replaces."""
    for index, agent in enumerate(agents):
        try:
            resolve_agent(agent)
        except NotScored as error:
            yield Finding(where=f"spec.agents[{index}]", problem=str(error))


def check_tools(spec: PreflightSpec, frozen: Frozen) -> Iterator[Finding]:
    """Checks that no agent shows an evaluated model more tools than its provider takes, at the tasks selected."""
    try:
        selected = {entry.task_id for entry in select_tasks(spec.suite, frozen.entries)}
    except InputError:
        return  # the operator reports filters that select no task
    models = {
        model.name: (model.model, [ModelEndpoint(endpoint.url) for endpoint in model.endpoints])
        for model in spec.models
        if model.name in spec.evaluated
    }
    tasks = (Task.model_validate(task.row) for task_id, task in frozen.tasks.items() if task_id in selected)
    for problem in tool_problems(models, spec.agents, spec.suite.modes, tasks):
        yield Finding(where=problem.path, problem=problem.message)


def check_models(
    models: Iterable[JobModel],
    environment: Mapping[str, str],
    known_prices: KnownPrices,
    missing_key: MissingKey,
    *,
    budget: bool,
) -> Iterator[Finding]:
    """Checks credentials, parameters, prices and recordings of every model, without calling it."""
    for model in models:
        origin = model.origin or f"models[{model.name}]"
        for parameter in secret_parameters(model.parameters):
            advice = "credentials do not belong in a document; name a Secret in credentials or endpoints[].headers"
            yield Finding(where=f"{origin}.parameters.{parameter}", problem=advice)
        for problem in flaky_problems(model.model, model.parameters):
            yield Finding(where=f"{origin}.parameters.{problem.path}".rstrip("."), problem=problem.message)
        if model.model.startswith(REPLAY):
            yield from _recording(origin, model.model, recordings_folder(environment))
        else:
            yield from _keys(origin, model, environment, missing_key)
            priced = model.prices is not None or reports_cost(model.model)
            if not priced and (budget or not model.allow_unpriced) and known_prices(model.model) is None:
                described = unbounded_cost if model.allow_unpriced else unknown_price
                yield Finding(where=f"{origin}.prices", problem=described(model.model))


def _keys(origin: str, model: JobModel, environment: Mapping[str, str], missing_key: MissingKey) -> Iterator[Finding]:
    variables = {endpoint.key_env for endpoint in model.endpoints if endpoint.key_env is not None}
    faults = {unusable_because(usable(environment.get(variable, ""))) for variable in variables}
    for fault in sorted(filter(None, faults)):
        yield Finding(where=f"{origin}.credentials", problem=f"the Secret's key {fault}; put the API key there")
    for index, endpoint in enumerate(model.endpoints):
        for name, source in sorted(endpoint.header_envs.items()):
            unusable = unusable_because(usable(environment.get(source, "")), header=True)
            if unusable is not None:
                problem = f"the Secret's key for {name} {unusable}; put the header's value there"
                yield Finding(where=f"{origin}.endpoints[{index}].headers", problem=problem)
    if model.aws is not None and not (environment.get(model.aws.key_id_env) and environment.get(model.aws.secret_env)):
        yield Finding(where=f"{origin}.aws", problem="the Secret's access-key-id or secret-access-key is empty")
    if variables:
        return
    variable = required_key(model.model, (ModelEndpoint(endpoint.url) for endpoint in model.endpoints), missing_key)
    if variable is not None:
        advice = "name the Secret that holds it: credentials: {secret: NAME, key: KEY}"
        yield Finding(where=f"{origin}.credentials", problem=f"{model.model} needs an API key ({variable}); {advice}")


def _recording(origin: str, model: str, folder: Path) -> Iterator[Finding]:
    if model in SCRIPTED_REPLAYS:
        return
    name, _, key = model.removeprefix(REPLAY).partition("/")
    if not name or not key or "/" in key or ".." in (name, key):
        allowed = "expected replay/gold, replay/noop, replay/flaky, or replay/CONFIGMAP/KEY of a recording"
        yield Finding(where=f"{origin}.model", problem=f"{model!r}: {allowed}")
        return
    where, file = f"ConfigMap {name}: {key}", folder / name / key
    if not file.is_file():
        problem = f"the ConfigMap or key that {origin}.model names does not exist; create it from the recording"
        yield Finding(where=where, problem=problem)
        return
    try:
        read_recording(file)
    except NotScored as error:
        yield Finding(where=where, problem=str(error).removeprefix(f"{file} "))
