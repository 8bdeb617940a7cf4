"""Prepares one trial of a stored run to be repeated on this machine.

Invariant: the trial is repeated as it was declared, with the row, seeds, tools, agent and limits of its run. Anything
that is not available here (a Secret, a recording in a ConfigMap) is reported by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from opsgym.local.commands import located_agents
from opsgym.local.inputs import RunInputs
from opsgym.local.models import ModelResolver
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalmodel import API_VERSION, ModelSpec, ObjectMeta
from opsgym_api.kinds.evalrun import EvalRun, EvalRunSpec, Mode, ModelEntry
from opsgym_api.records.attempt import Cell
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.validation import problems_of
from opsgym_core.planning.documents import Documents
from opsgym_core.planning.run_id import suite_digest
from opsgym_core.planning.suite_rows import domains_of
from opsgym_core.results.frozen_suite import FrozenSuiteError, read_frozen
from opsgym_core.store.base import Store
from opsgym_domains import registry
from opsgym_runner.models.checks import KnownPrices, MissingKey, recording_of
from opsgym_runner.models.prices import REPLAY


@dataclass(frozen=True)
class TrialSelection:
    """A trial that the user selected from a run."""

    cell: Cell
    task_id: str
    trial: int

    @property
    def label(self) -> str:
        """Name of the trial in messages."""
        return f"{cell_text(self.cell)} {self.task_id}/{self.trial}"


def cell_text(cell: Cell) -> str:
    """A cell in the form that `--cell` accepts."""
    return f"{cell.model}/{cell.agent}/{cell.mode}/{cell.domain}"


def select_trial(run: RunRecord, trial: str, cell: str | None, option: str = "--trial") -> TrialSelection:
    """Selects a trial of a run.

    Args:
        run: The run.
        trial: `TASK`, or `TASK/N` with the trial's number.
        cell: Model, agent, mode and domain, separated by `/`; the last ones may be left out. None if only one cell
            runs the task.
        option: Argument of the command that names the trial, for errors.

    Raises:
        InputError: No trial of the run matches, or several do.
    """
    task_id, number = _parse(run, trial, option)
    cells = [planned.cell for planned in run.cells if task_id in planned.task_ids]
    if not cells:
        problem = f"unknown task {task_id!r}; tasks of the run: {_first_names(run.task_ids)}"
        raise InputError(run.run, [Problem(option, problem)])
    if number >= run.trials:
        problem = f"no trial {number}; the run has trials 0 to {run.trials - 1} of each task"
        raise InputError(run.run, [Problem(option, problem)])
    prefix = cell.split("/") if cell else []
    matches = [candidate for candidate in cells if cell_text(candidate).split("/")[: len(prefix)] == prefix]
    if len(matches) != 1:
        problem = "several cells run the task; select one of" if matches else f"{cell!r} does not run the task; cells"
        names = ", ".join(map(cell_text, matches or cells))
        raise InputError(run.run, [Problem("--cell", f"task {task_id}: {problem}: {names}")])
    return TrialSelection(matches[0], task_id, number)


def _parse(run: RunRecord, trial: str, option: str) -> tuple[str, int]:
    task_id, separator, number = trial.rpartition("/")
    if not separator:
        return trial, 0
    if not number.isascii() or not number.isdigit():
        raise InputError(
            run.run, [Problem(option, f"{trial!r} is not of the form TASK/N, where N is the number of the trial")]
        )
    return task_id, int(number)


def _first_names(names: Sequence[str]) -> str:
    rest = len(names) - 5
    return ", ".join(names[:5]) + (f" and {rest} more" if rest > 0 else "")


@dataclass(frozen=True)
class LocalEnvironment:
    """Credentials and prices that are available on this machine; see `ModelResolver`."""

    environment: Mapping[str, str]
    """Environment variables."""
    known_prices: KnownPrices
    missing_key: MissingKey


def copy_recordings(store: Store, run: RunRecord, folder: Path) -> dict[str, Path]:
    """Copies the recordings that a local run stored into a folder.

    Returns:
        The copies, by the model's name; of a run that stored none, its recordings are looked for where they were.

    Raises:
        InputError: The run's spec is not valid.
        StoreError: The store cannot be read.
    """
    keys = RunKeys(run.rescored_from or run.run)
    copies: dict[str, Path] = {}
    for model in spec_of(run).all_models:
        original = None if model.inline is None else recording_of(model.inline.model)
        content = None if original is None else store.get(keys.recording(model.name))
        if original is not None and content is not None:
            copies[model.name] = folder / f"{model.name}{original.suffix}"
            copies[model.name].write_bytes(content)
    return copies


def repeat_inputs(
    store: Store, run: RunRecord, trial: TrialSelection, recordings: Mapping[str, Path], local: LocalEnvironment
) -> RunInputs:
    """Inputs of a run that consists of one trial of another run.

    Args:
        store: Store of the run.
        run: The run.
        trial: The trial to repeat.
        recordings: Files that models replay, by the model's name; the other models are called.
        local: Credentials and prices of this machine.

    Raises:
        InputError: The trial cannot run on this machine.
        StoreError: The store cannot be read.
    """
    try:
        task, seeds = read_frozen(store, run.rescored_from or run.run, trial.task_id)
    except FrozenSuiteError as error:
        raise InputError(run.run, [Problem(trial.task_id, str(error))]) from None
    _require_servers(run.run, domains_of(task))
    spec = _narrowed(spec_of(run), trial.cell, recordings)
    name = f"{run.name}-again"
    documents = Documents(
        EvalRun(api_version=API_VERSION, kind="EvalRun", metadata=ObjectMeta(name=name), spec=spec), {}, Path()
    )
    resolver = ModelResolver(Path(), local.environment, local.known_prices, local.missing_key)
    return RunInputs(
        name=name,
        spec=spec,
        tasks=[task],
        unreadable={},
        unrunnable={},
        models=resolver.resolve(run.run, documents),
        agents=located_agents(run.run, spec, Path(), local.environment),
        seeds={task.task_id: seeds},
        suite_digest=suite_digest([task]),
        edition=run.edition,
        versions={},
        run_id=_unused_id(store, run.run),
        notes=[],
    )


def _require_servers(run: str, domains: Sequence[str]) -> None:
    missing = [domain for domain in domains if domain not in registry.domains()]
    if missing:
        installed = ", ".join(registry.domains())
        problem = f"no gym server is installed for {', '.join(missing)}; installed: {installed}"
        raise InputError(run, [Problem("", problem)])


def spec_of(run: RunRecord) -> EvalRunSpec:
    """The spec of a stored run.

    Raises:
        InputError: It is not valid.
    """
    try:
        return EvalRunSpec.model_validate(run.spec)
    except ValidationError as error:
        raise InputError(f"{run.run}: spec", problems_of(error, model=EvalRunSpec)) from None


def _narrowed(spec: EvalRunSpec, cell: Cell, recordings: Mapping[str, Path]) -> EvalRunSpec:
    """The spec reduced to one cell and one trial, without gate and budget."""
    agent = next(agent for agent in spec.agents if agent.name == cell.agent)
    needed = {name for name in (agent.planner, spec.judge) if name is not None and name != cell.model}
    model = next(entry for entry in spec.models if entry.name == cell.model)
    return spec.model_copy(
        update={
            "suite": spec.suite.model_copy(update={"modes": [Mode(cell.mode)], "limit": None}),
            "models": [_here(model, recordings)],
            "supporting_models": [_here(entry, recordings) for entry in spec.all_models if entry.name in needed],
            "agents": [agent],
            "trials": 1,
            "budget": None,
            "gate": None,
            "suspend": False,
        }
    )


def _here(entry: ModelEntry, recordings: Mapping[str, Path]) -> ModelEntry:
    """A model as it runs on this machine."""
    if entry.name in recordings:
        return ModelEntry(name=entry.name, inline=ModelSpec(model=f"{REPLAY}{recordings[entry.name]}"))
    return _without_secrets(entry)


def _without_secrets(entry: ModelEntry) -> ModelEntry:
    """A model without references to Secrets: keys come from the named variables, or from the provider's usual ones."""
    model = entry.inline
    assert model is not None, "the spec in run.json has every model written out"
    endpoints = [
        endpoint.model_copy(update={"credentials": None})
        if endpoint.credentials is not None and endpoint.credentials.env is None
        else endpoint
        for endpoint in model.endpoints
    ]
    secret_only = model.credentials is not None and model.credentials.env is None
    credentials = None if secret_only else model.credentials
    return ModelEntry(
        name=entry.name, inline=model.model_copy(update={"endpoints": endpoints, "credentials": credentials})
    )


def _unused_id(store: Store, run: str) -> str:
    number = 1
    while store.get(RunKeys(f"{run}.again-{number}").run_json) is not None:
        number += 1
    return f"{run}.again-{number}"
