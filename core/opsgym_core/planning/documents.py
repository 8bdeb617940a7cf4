"""Reads the file that declares a run: one EvalRun and the EvalModels that it names.

Invariant: a file has the same meaning as in a cluster, or it is refused. Types are therefore strict: text that some
YAML parsers read as a number stays text, and a field of another type is an error.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalmodel import API_VERSION, EvalModel, ModelSpec
from opsgym_api.kinds.evalrun import EvalRun, EvalRunSpec, ModelEntry
from opsgym_core.common.strict_yaml import line_of, model_of, parts_of, value_of


@dataclass(frozen=True)
class Documents:
    """The objects that a file declares."""

    run: EvalRun
    models: dict[str, EvalModel]
    """EvalModels by name."""
    folder: Path
    """Folder of the file, to which relative paths in the file refer."""


def load_documents(path: Path) -> Documents:
    """Reads and validates a file of YAML or JSON documents.

    Raises:
        InputError: The file is not valid. Lists every problem with its path, its line and what is allowed.
    """
    source, read = str(path), _objects(path)
    runs = [item for item in read if isinstance(item, EvalRun)]
    models = [item for item in read if isinstance(item, EvalModel)]
    problems = [*_one_run(runs), *_distinct(models)]
    if problems:
        raise InputError(source, problems)
    by_name = {model.metadata.name: model for model in models}
    _refuse_unknown_refs(source, runs[0], by_name)
    return Documents(runs[0], by_name, path.parent)


def load_models(path: Path) -> dict[str, ModelSpec]:
    """The models that a file declares, by name: its EvalModels, and those that its EvalRuns declare inline.

    Raises:
        InputError: The file is not valid, or declares no model.
    """
    declared = _objects(path)
    models = [item for item in declared if isinstance(item, EvalModel)]
    problems = _distinct(models)
    runs = [item for item in declared if isinstance(item, EvalRun)]
    inline = {e.name: e.inline for run in runs for e in run.spec.all_models if e.inline is not None}
    specs = {model.metadata.name: model.spec for model in models} | inline
    if not specs:
        problems = [Problem("", "declares no model; expected an EvalModel, or an EvalRun with inline models")]
    if problems:
        raise InputError(str(path), problems)
    return specs


def _objects(path: Path) -> list[EvalRun | EvalModel]:
    """The valid objects that a file declares.

    Raises:
        InputError: The file is empty or not valid.
    """
    source = str(path)
    parts = parts_of(source, text_of(path))
    if not parts:
        raise InputError(source, [Problem("", "is empty; expected an EvalRun, and EvalModels if it names any")])
    read = [_read(source, part) for part in parts]
    problems = [problem for item in read if isinstance(item, list) for problem in item]
    if problems:
        raise InputError(source, problems)
    return [item for item in read if not isinstance(item, list)]


def resolve_models(run: EvalRun, models: Mapping[str, EvalModel]) -> dict[str, ModelSpec]:
    """The spec of each of the run's models, by the model's name in the run.

    Args:
        run: The run.
        models: EvalModels that refs of the run may name.

    Raises:
        InputError: A ref names an unknown EvalModel.
    """
    _refuse_unknown_refs(run.metadata.name, run, models)
    return {entry.name: entry.inline or models[entry.ref or ""].spec for entry in run.spec.all_models}


def _refuse_unknown_refs(source: str, run: EvalRun, models: Mapping[str, EvalModel]) -> None:
    known = f"known EvalModels: {', '.join(models)}" if models else _NO_MODEL
    problems = [
        Problem(f"spec.{field}[{index}].ref", f"{entry.ref!r} names no EvalModel; {known}")
        for field, entries in (("models", run.spec.models), ("supportingModels", run.spec.supporting_models))
        for index, entry in enumerate(entries)
        if entry.ref is not None and entry.ref not in models
    ]
    if problems:
        raise InputError(source, problems)


def _one_run(runs: Sequence[EvalRun]) -> list[Problem]:
    if len(runs) == 1:
        return []
    names = ": " + ", ".join(run.metadata.name for run in runs) if runs else ""
    return [Problem("", f"exactly one EvalRun is required, found {len(runs)}{names}")]


def _distinct(models: Sequence[EvalModel]) -> list[Problem]:
    names = [model.metadata.name for model in models]
    twice = sorted({name for name in names if names.count(name) > 1})
    return [Problem("metadata.name", f"{name!r} names several EvalModels; names must be unique") for name in twice]


_NO_MODEL = "no EvalModel exists; declare it in the namespace or, on one machine, as a second document of the file"
_SCHEDULE = "an EvalSchedule starts runs in a cluster (kubectl apply); to run one here, make its template an EvalRun"
_KINDS: Mapping[str, type[EvalRun | EvalModel]] = {"EvalRun": EvalRun, "EvalModel": EvalModel}


def _read(source: str, part: yaml.Node) -> EvalRun | EvalModel | list[Problem]:
    """The object that a document declares, or its problems."""
    content = value_of(source, part)
    if not isinstance(content, dict):
        return [
            Problem(f"line {line_of(part, ())}", "a document must be a map with apiVersion, kind, metadata and spec")
        ]
    kind = content.get("kind")
    if kind == "EvalSchedule":
        return [Problem(f"kind (line {line_of(part, ('kind',))})", _SCHEDULE)]
    if not isinstance(kind, str) or kind not in _KINDS:
        return [Problem(f"kind (line {line_of(part, ('kind',))})", _expected(kind, list(_KINDS)))]
    if content.get("apiVersion") != API_VERSION:
        path = f"apiVersion (line {line_of(part, ('apiVersion',))})"
        return [Problem(path, _expected(content.get("apiVersion"), [API_VERSION]))]
    try:
        return model_of(source, part, _KINDS[kind])
    except InputError as error:
        return list(error.problems)


def _expected(value: object, allowed: Sequence[str]) -> str:
    if value is None:
        return f"is required; allowed: {', '.join(allowed)}"
    near = difflib.get_close_matches(str(value), allowed, n=1)
    return f"{value!r} is not known; " + (f"did you mean {near[0]!r}?" if near else f"allowed: {', '.join(allowed)}")


def text_of(path: Path) -> str:
    """Text of a file.

    Raises:
        InputError: The file cannot be read or is not UTF-8 text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(str(path), [Problem("", f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError as error:
        raise InputError(str(path), [Problem(f"byte {error.start}", "is not UTF-8 text")]) from None


def inline_models(run: EvalRun, models: Mapping[str, EvalModel]) -> EvalRunSpec:
    """The run's spec with the spec of every model in place of its ref, as `run.json` freezes it.

    Raises:
        InputError: A ref names an unknown EvalModel.
    """
    resolved = resolve_models(run, models)
    fields = {"models": run.spec.models, "supporting_models": run.spec.supporting_models}
    entries = {
        field: [ModelEntry(name=entry.name, inline=resolved[entry.name]) for entry in refs]
        for field, refs in fields.items()
    }
    return run.spec.model_copy(update=entries)
