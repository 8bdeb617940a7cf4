"""Reads everything that a run is made of, before anything starts.

Invariant: a mistake that can be found without running is found here. What concerns single rows becomes their outcome;
everything else ends the command with all problems named.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from opsgym.local.models import Resolver
from opsgym_api.digest import digest_of
from opsgym_api.documents import Documents, inlined, load_documents
from opsgym_api.errors import InputError, Problem
from opsgym_api.evalrun import EvalRunSpec, Suite
from opsgym_api.outcomes import ConfigReason
from opsgym_api.task import BadRow, Task, read_tasks
from opsgym_domains import registry
from opsgym_operator.plan import run_id as planned_run_id
from opsgym_operator.plan import select_tasks
from opsgym_operator.plan import suite_digest as planned_suite_digest
from opsgym_runner.episode import approach_of
from opsgym_runner.errors import NotScored
from opsgym_runner.job import ResolvedModel, Seed
from opsgym_runner.models import KnownPrices, MissingKey
from opsgym_runner.prices import REPLAY
from opsgym_runner.rows import domains_of, reported
from opsgym_runner.seeds import SeedFinder, SeedNotFoundError


@dataclass(frozen=True)
class Refusal:
    """Why no trial of a row can run."""

    reason: ConfigReason
    message: str


@dataclass(frozen=True)
class Inputs:
    """A run, ready to be planned."""

    name: str
    spec: EvalRunSpec
    """With every model written out."""
    tasks: Sequence[Task]
    """Tasks selected, in the suite's order."""
    unread: Mapping[str, str]
    """What is wrong, by the id it is reported under, with each selected row that could not be read."""
    refused: Mapping[str, Refusal]
    """Tasks selected that cannot run, by id."""
    models: Mapping[str, ResolvedModel]
    seeds: Mapping[str, Mapping[str, Seed]]
    """By task id, then by gym server."""
    suite_digest: str
    run_id: str
    notes: Sequence[str]
    """What the user should know about fields that mean nothing here."""


def read_inputs(
    file: Path, environment: Mapping[str, str], known_prices: KnownPrices, missing_key: MissingKey
) -> Inputs:
    """Reads the documents in a file and everything they name.

    Args:
        file: The file with the EvalRun.
        environment: Where credentials are.
        known_prices: See `Resolver`.
        missing_key: See `Resolver`.

    Raises:
        InputError: The run cannot be started.
    """
    documents = load_documents(file)
    _require_approaches(str(file), documents.run.spec)
    suite = documents.run.spec.suite
    rows, bad = _rows(str(file), documents)
    unread = reported(bad, {task.task_id for task in rows}, suite.ids)
    tasks = select_tasks(suite, rows, unreadable=unread.keys())
    models = Resolver(documents.folder, environment, known_prices, missing_key).resolve(str(file), documents)
    seeds, refused = _prepared(tasks, _finder(suite, documents.folder))
    if len(refused) == len(tasks):
        raise InputError(_source(suite), _nothing_runs(unread, refused))
    spec = inlined(documents.run, documents.models)
    digest = planned_suite_digest(tasks)
    name = documents.run.metadata.name
    return Inputs(
        name=name,
        spec=spec,
        tasks=tasks,
        unread=unread,
        refused=refused,
        models=models,
        seeds=seeds,
        suite_digest=digest,
        run_id=planned_run_id(name, spec, digest, _versions(seeds, models.values())),
        notes=[*_without_effect(documents), *_beyond_budget(spec, models.values())],
    )


def _require_approaches(source: str, spec: EvalRunSpec) -> None:
    """Refuses agents that cannot act: no episode of theirs would ever be scored."""
    problems: list[Problem] = []
    for index, agent in enumerate(spec.agents):
        try:
            approach_of(agent)
        except NotScored as error:
            problems.append(Problem(f"spec.agents[{index}]", str(error)))
    if problems:
        raise InputError(source, problems)


def _rows(source: str, documents: Documents) -> tuple[Sequence[Task], list[BadRow]]:
    suite = documents.run.spec.suite
    if suite.builtin is not None:
        if suite.builtin not in registry.suites():
            known = ", ".join(registry.suites()) or "none"
            problem = f"{suite.builtin!r} is no built-in suite; there are: {known}"
            raise InputError(source, [Problem("spec.suite.builtin", problem)])
        return registry.load_suite(suite.builtin), []
    if suite.path is not None:
        return read_tasks(documents.folder / suite.path)
    field = "objectStore" if suite.object_store is not None else "configMap"
    advice = "is read by the operator in a cluster; on one machine name builtin or path"
    raise InputError(source, [Problem(f"spec.suite.{field}", advice)])


def _source(suite: Suite) -> str:
    return suite.builtin or suite.path or "suite"


def _finder(suite: Suite, folder: Path) -> SeedFinder:
    seed_path = None if suite.seed_path is None else folder / suite.seed_path
    if suite.path is None:
        return SeedFinder(None, seed_path)
    path = folder / suite.path
    return SeedFinder(path if path.is_dir() else path.parent, seed_path)


def _prepared(tasks: Sequence[Task], finder: SeedFinder) -> tuple[dict[str, Mapping[str, Seed]], dict[str, Refusal]]:
    """Seeds of the tasks that can run, and why the others cannot."""
    seeds: dict[str, Mapping[str, Seed]] = {}
    refused: dict[str, Refusal] = {}
    installed = registry.domains()
    for task in tasks:
        missing = [domain for domain in domains_of(task) if domain not in installed]
        if missing:
            message = f"no gym server is installed for {', '.join(missing)}; installed: {', '.join(installed)}"
            refused[task.task_id] = Refusal(ConfigReason.UNKNOWN_GYM, message)
            continue
        try:
            seeds[task.task_id] = {
                server.mcp_server_name: finder.seed_for(server) for server in task.gym_servers_config
            }
        except SeedNotFoundError as error:
            refused[task.task_id] = Refusal(ConfigReason.SEED_NOT_FOUND, str(error))
    return seeds, refused


def _nothing_runs(unread: Mapping[str, str], refused: Mapping[str, Refusal]) -> list[Problem]:
    problems = [Problem("", message) for message in unread.values()]
    problems += [Problem(task_id, refusal.message) for task_id, refusal in refused.items()]
    return [*problems, Problem("", "no row can be run")]


def _versions(seeds: Mapping[str, Mapping[str, Seed]], models: Iterable[ResolvedModel]) -> dict[str, str]:
    """What decides a score beside spec and rows: this release, the seeds and the recordings."""
    texts = {seed.sql for by_server in seeds.values() for seed in by_server.values() if seed.sql is not None}
    recordings = {Path(model.model.removeprefix(REPLAY)) for model in models if model.model.startswith(REPLAY)}
    return {
        "opsgym": version("opsgym"),
        "seeds": digest_of(sorted(hashlib.sha256(text.encode()).hexdigest() for text in texts)),
        "recordings": digest_of(
            sorted(hashlib.sha256(file.read_bytes()).hexdigest() for file in recordings if file.is_file())
        ),
    }


def _without_effect(documents: Documents) -> list[str]:
    """Fields that were given although only a cluster honours them."""
    spec = documents.run.spec
    given = {
        "queueName": spec.queue_name is not None,
        "notify": bool(spec.notify),
        "resultStore": spec.result_store is not None,
        "ttlSecondsAfterFinished": spec.ttl_seconds_after_finished is not None,
        "limits.pendingSeconds": "pending_seconds" in spec.limits.model_fields_set,
    }
    fields = [field for field, is_given in given.items() if is_given]
    verb = "has" if len(fields) == 1 else "have"
    return [f"{', '.join(fields)}: {verb} no effect on one machine"] if fields else []


def _beyond_budget(spec: EvalRunSpec, models: Iterable[ResolvedModel]) -> list[str]:
    """Models whose spend the budget cannot bound."""
    unpriced = [m.name for m in models if m.prices is None and not m.model.startswith(REPLAY)]
    if spec.budget is None or not unpriced:
        return []
    return [f"budget: what {', '.join(unpriced)} costs is not known and not counted; give prices to bound it"]
