"""Fields of a task row that opsgym does not know: misspelt ones, and those of other programs.

Invariant: no published field is reported, nor one that begins with `_`, which marks notes of the author.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from opsgym_api.tasks.task import Task
from opsgym_api.tasks.verifiers import CONFIG_OF, Verifier

_PUBLISHED = {"$schema", "user_info", "number_of_runs", "reset_database_between_runs", "mcp_endpoint"}
"""Fields of published rows without effect, and what editors read: opsgym brings its own servers, a spec says how many
trials run."""
_NEAR = 0.75
"""Similarity from which on a field counts as a misspelt one; `comparison` and `comparison_type` have 0.8."""


@dataclass(frozen=True)
class UnknownField:
    """A field that no model of the row has."""

    path: str
    """Path in the row: `verifiers[0].categry`."""
    meant: str | None
    """Field whose name is similar; None if there is none, so that it may belong to another program."""


def unknown_fields(task: Task) -> Iterator[UnknownField]:
    """Unknown fields of a row, in the order of its fields."""
    yield from _in_model(task, "")


def _in_model(model: BaseModel, path: str) -> Iterator[UnknownField]:
    fields = type(model).model_fields
    for name in model.model_extra or {}:
        if name not in _PUBLISHED and not name.startswith("_"):
            yield UnknownField(path + name, _similar(name, list(fields)))
    for name in fields:
        yield from _in_value(getattr(model, name), path + name)
    if isinstance(model, Verifier):
        config = CONFIG_OF[model.verifier_type].model_validate(model.validation_config)
        yield from _in_model(config, f"{path}validation_config.")


def _in_value(value: object, path: str) -> Iterator[UnknownField]:
    if isinstance(value, BaseModel):
        yield from _in_model(value, f"{path}.")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _in_value(item, f"{path}[{index}]")


def _similar(name: str, known: list[str]) -> str | None:
    """The known field that a name resembles, whatever its case and separators: `goldActions` is `gold_actions`.

    A name that adds a word to a known one is of another field: `selected_tools_count`.
    """
    if any(name.startswith(f"{field}_") for field in known):
        return None
    plain: Mapping[str, str] = {_letters(field): field for field in known}
    near = difflib.get_close_matches(_letters(name), list(plain), n=1, cutoff=_NEAR)
    return plain[near[0]] if near else None


def _letters(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
