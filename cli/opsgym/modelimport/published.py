"""Reads model configurations of the published harness: a JSON object, or a list of them, called a pool.

Invariant: every field of a file is either converted or reported by name, and no credential is printed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from opsgym_api.errors import InputError, Problem
from opsgym_api.validation import problems_of

_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")


class PublishedConfig(BaseModel):
    """One configuration, with the defaults of the published harness. Unknown fields are retained to be reported."""

    model_config = ConfigDict(extra="allow", frozen=True)

    llm_provider: Annotated[str, Field(min_length=1)]
    llm_model: Annotated[str, Field(min_length=1)]
    llm_api_key: str | None = Field(default=None, repr=False)
    llm_api_endpoint: str | None = None
    llm_api_version: str | None = None
    llm_region: str | None = None
    temperature: float = 0.0
    max_tokens: int = 4096
    top_p: float | None = None
    effort: str | None = None
    reasoning: dict[str, Any] | None = None
    base_model_id: str | None = None

    @property
    def unknown(self) -> list[str]:
        """Fields that are unknown to the published harness, too."""
        return sorted(self.model_extra or {})


def read_published(path: Path, environment: Mapping[str, str] = os.environ) -> list[PublishedConfig]:
    """Reads the configurations of a file.

    Args:
        path: The file.
        environment: Environment variables that replace `${VARIABLE}` in all fields but keys, which stay references.

    Raises:
        InputError: The file cannot be read or is not valid.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(str(path), [Problem("", f"cannot be read: {error.strerror}")]) from None
    except ValueError as error:
        raise InputError(str(path), [Problem("", f"is not JSON: {error}")]) from None
    entries = content if isinstance(content, list) else [content]
    problems: list[Problem] = []
    configs = [_config(entry, f"[{n}]" if isinstance(content, list) else "", environment, problems)
             for n, entry in enumerate(entries)]  # fmt: skip
    if not entries:
        problems.append(Problem("", "the list is empty; a pool needs at least one configuration"))
    if problems:
        raise InputError(str(path), problems)
    return [config for config in configs if config is not None]


def _config(
    entry: object, where: str, environment: Mapping[str, str], problems: list[Problem]
) -> PublishedConfig | None:
    if not isinstance(entry, dict):
        problems.append(Problem(where, "must be an object with llm_provider and llm_model"))
        return None
    missing: list[str] = []
    expanded = {
        name: value if name == "llm_api_key" and not _is_project(entry) else _expanded(value, environment, missing)
        for name, value in entry.items()
    }
    problems += [Problem(where, f"the environment variable {name} is not set") for name in missing]
    try:
        return PublishedConfig.model_validate(expanded)
    except ValidationError as error:
        problems += [_without_values(problem) for problem in problems_of(error, where)]
        return None


def _is_project(entry: Mapping[str, object]) -> bool:
    """Whether the key field holds the name of a Google Cloud project instead of a key."""
    return str(entry.get("llm_provider", "")).lower() == "googlevertexai"


def _expanded(value: Any, environment: Mapping[str, str], missing: list[str]) -> Any:
    if isinstance(value, dict):
        return {name: _expanded(item, environment, missing) for name, item in value.items()}
    if isinstance(value, list):
        return [_expanded(item, environment, missing) for item in value]
    if not isinstance(value, str):
        return value
    missing += [name for name in variables_in(value) if name not in environment]
    return _VARIABLE.sub(lambda match: environment.get(match[1] or match[2], ""), value)


def variables_in(text: str) -> Sequence[str]:
    """Environment variables in a text, written `$NAME` or `${NAME}`."""
    return [match[1] or match[2] for match in _VARIABLE.finditer(text)]


def _without_values(problem: Problem) -> Problem:
    """A problem of a key field without the value."""
    return Problem(problem.path, "must be text") if problem.path.endswith("llm_api_key") else problem
