"""A preflight pod's main container: finds out whether a run can start, and freezes its suite if it can.

Invariant: what a user has to mend is a finding, named by object and field, and ends in exit code 0; another exit code
says that it could not be found out. Every check is made, so that one look shows all there is to mend.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import structlog

from opsgym_api.evalrun import Agent
from opsgym_api.layout import RunKeys
from opsgym_api.logs import configure_logs
from opsgym_api.orders import ENV_SUITE, Exit, Finding, OrderedModel, PreflightOrder, PreflightReport
from opsgym_api.store import Store, StoreError
from opsgym_runner.episode import approach_of
from opsgym_runner.errors import NotScored
from opsgym_runner.job import ModelEndpoint
from opsgym_runner.models import (
    PLAYED,
    KnownPrices,
    MissingKey,
    missing_key,
    secret_parameters,
    unpriced,
    wanted_key,
)
from opsgym_runner.pod.message import fitted_report, leave, leave_words, room
from opsgym_runner.pod.orders import UnusableOrder, read_order, recordings_folder, result_store, suite_store
from opsgym_runner.pod.suite import Frozen, fetched, mounted, read_suite
from opsgym_runner.prices import REPLAY, known_prices
from opsgym_runner.replay.flaky import flaky_problems
from opsgym_runner.replay.scripts import read_recording

_CONTAINERS = 2  # of the pod: the one that writes a built-in suite, and this one
_PROBE = b"opsgym writes each result once\n"
log = structlog.get_logger()


def main(environment: Mapping[str, str]) -> int:
    """Checks a run; the exit code."""
    configure_logs(environment)
    try:
        order = read_order(environment, PreflightOrder)
        store = result_store(environment)
        with tempfile.TemporaryDirectory() as scratch:
            report, code = _checked(order, store, environment, Path(scratch))
    except UnusableOrder as error:
        log.critical("cannot begin", error=str(error))
        leave_words(environment, str(error))
        return Exit.NO_ORDER
    for finding in report.problems:
        log.warning("finding", where=finding.where, problem=finding.problem)
    log.info("preflight ends", findings=len(report.problems), tasks=report.tasks, code=int(code))
    leave(environment, fitted_report(report, room(_CONTAINERS)))
    return code


def _checked(
    order: PreflightOrder, store: Store, environment: Mapping[str, str], scratch: Path
) -> tuple[PreflightReport, Exit]:
    structlog.contextvars.bind_contextvars(run=order.run)
    findings: list[Finding] = []
    frozen = Frozen()
    code = Exit.DONE
    try:
        findings += check_store(store, order.run)
    except StoreError as error:
        findings.append(_unreachable(error))
        code = Exit.STORE_LOST
    try:
        frozen = _suite(order, environment, scratch)
    except StoreError as error:
        findings.append(_unreachable(error))
        code = Exit.STORE_LOST
    findings += frozen.findings
    findings += check_models(order.models, environment, known_prices, missing_key)
    findings += check_agents(order.agents)
    if not findings:
        try:
            frozen.write(store, order.run)
        except StoreError as error:
            findings.append(_unreachable(error))
            code = Exit.STORE_LOST
    return PreflightReport(problems=findings, tasks=len(frozen.entries)), code


def _unreachable(error: StoreError) -> Finding:
    return Finding(where=f"store {error.store}", problem=str(error).removeprefix(f"{error.store}: "))


def _suite(order: PreflightOrder, environment: Mapping[str, str], scratch: Path) -> Frozen:
    if order.suite.object_store is not None:
        source = fetched(order.suite, suite_store(environment), scratch)
    else:
        source = mounted(order.suite, Path(environment.get(ENV_SUITE) or "/suite"))
    return read_suite(order.suite, source)


def check_store(store: Store, run: str) -> Iterator[Finding]:
    """Whether the store takes writes, and takes each key once.

    Raises:
        StoreError: It takes none.
    """
    key = RunKeys(run).probe
    store.put(key, _PROBE)
    advice = "it has to honour If-None-Match on PutObject, or results could be overwritten: use a store that does"
    try:
        overwritten = store.put_once(key, _PROBE)
    except StoreError as error:
        yield Finding(where=f"store {store.name}", problem=f"refuses conditional writes; {advice} ({error})")
        return
    if overwritten:
        yield Finding(where=f"store {store.name}", problem=f"ignores conditional writes; {advice}")


def check_agents(agents: Sequence[Agent]) -> Iterator[Finding]:
    """Whether every agent can act: its orchestrator is in this image, and so are the prompts that it replaces."""
    for index, agent in enumerate(agents):
        try:
            approach_of(agent)
        except NotScored as error:
            yield Finding(where=f"spec.agents[{index}]", problem=str(error))


def check_models(
    models: Iterable[OrderedModel],
    environment: Mapping[str, str],
    known_prices: KnownPrices,
    missing_key: MissingKey,
) -> Iterator[Finding]:
    """Whether every model can be called and its cost is known, as far as that can be told without calling it."""
    for model in models:
        origin = model.origin or f"models[{model.name}]"
        for parameter in secret_parameters(model.parameters):
            advice = "credentials do not belong in a document; name a Secret in credentials"
            yield Finding(where=f"{origin}.parameters.{parameter}", problem=advice)
        for problem in flaky_problems(model.model, model.parameters):
            yield Finding(where=f"{origin}.parameters.{problem.path}".rstrip("."), problem=problem.message)
        if model.model.startswith(REPLAY):
            yield from _recording(origin, model.model, recordings_folder(environment))
        else:
            yield from _keys(origin, model, environment, missing_key)
            if model.prices is None and not model.allow_unpriced and known_prices(model.model) is None:
                yield Finding(where=f"{origin}.prices", problem=unpriced(model.model))


def _keys(
    origin: str, model: OrderedModel, environment: Mapping[str, str], missing_key: MissingKey
) -> Iterator[Finding]:
    variables = {endpoint.key_env for endpoint in model.endpoints if endpoint.key_env is not None}
    if any(not environment.get(variable) for variable in variables):
        yield Finding(where=f"{origin}.credentials", problem="the Secret's key is empty; put the API key there")
    if variables:
        return
    wanted = wanted_key(model.model, (ModelEndpoint(endpoint.url) for endpoint in model.endpoints), missing_key)
    if wanted is not None:
        advice = "name the Secret that holds it: credentials: {secret: NAME, key: KEY}"
        yield Finding(where=f"{origin}.credentials", problem=f"{model.model} needs an API key ({wanted}); {advice}")


def _recording(origin: str, model: str, folder: Path) -> Iterator[Finding]:
    if model in PLAYED:
        return
    name, _, key = model.removeprefix(REPLAY).partition("/")
    if not name or not key or "/" in key or ".." in (name, key):
        allowed = "expected replay/gold, replay/noop, replay/flaky, or replay/CONFIGMAP/KEY of a recording"
        yield Finding(where=f"{origin}.model", problem=f"{model!r}: {allowed}")
        return
    where, file = f"ConfigMap {name}: {key}", folder / name / key
    if not file.is_file():
        problem = f"there is no such ConfigMap or key, which {origin}.model names; create it from the recording"
        yield Finding(where=where, problem=problem)
        return
    try:
        read_recording(file)
    except NotScored as error:
        yield Finding(where=where, problem=str(error).removeprefix(f"{file} "))
