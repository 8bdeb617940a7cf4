"""Reads the prompts of the published harness from a checkout of it.

Invariant: the harness's code is read, never executed, and nothing of it is part of this project. A prompt is the
longest text of the function that makes it, and each name in it becomes the placeholder that stands for the same thing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from opsgym_api.errors import InputError, Problem

Place = tuple[str, str]
"""File below the checkout, and function."""
_PLANNER, _DECOMPOSING = "orchestrators/planner_react.py", "orchestrators/decomposing_planner.py"
PLACES: Mapping[str, Mapping[str, Place]] = {
    "planner_react": {
        "strategy": (_PLANNER, "_default_prompt_template"),
        "with_strategy": (_PLANNER, "execute"),
    },
    "decomposing": {
        "subtasks": (_DECOMPOSING, "_default_decomposition_template"),
        "subtask": (_DECOMPOSING, "_generate_subtask_prompt"),
        "memory": (_DECOMPOSING, "_extract_memory_updates"),
    },
}
"""Where the prompts of each orchestrator are, by the names that they have here."""
_PLACEHOLDERS = {
    "system_policy": "policy", "user_task": "request", "user_prompt": "request", "tools": "tools", "plan": "plan",
    "title": "title", "description": "description", "rationale": "rationale", "expected_outcome": "outcome",
    "memory_context": "memory", "actions_text": "actions",
}  # fmt: skip
"""Our placeholders by the last part of the harness's names."""
_FIELD = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_SHORTEST = 100
"""Characters of the shortest text that is taken for a prompt."""


def read_prompts(checkout: Path) -> dict[str, dict[str, str]]:
    """The prompts of a checkout, by orchestrator and name.

    Raises:
        InputError: A file or a prompt is missing, or a prompt names something that is not known here.
    """
    return {
        orchestrator: {name: _prompt(checkout, *place) for name, place in places.items()}
        for orchestrator, places in PLACES.items()
    }


def _prompt(checkout: Path, file: str, function: str) -> str:
    path = checkout / file
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        advice = "name the folder of a checkout of ServiceNow/EnterpriseOps-Gym"
        raise InputError(str(path), [Problem("", f"cannot be read: {error.strerror}; {advice}")]) from None
    except (SyntaxError, ValueError):
        raise InputError(str(path), [Problem("", "is not Python; check out the file again")]) from None
    try:
        text = max(_texts(tree, function), key=len, default="")
    except KeyError as error:
        problem = f"its prompt has {error}, which is not known here; known: {', '.join(_PLACEHOLDERS)}"
        raise InputError(str(path), [Problem(function, problem)]) from None
    if len(text) < _SHORTEST:
        problem = "has no prompt; check out a state of the harness that has one there"
        raise InputError(str(path), [Problem(function, problem)])
    return text


def _texts(tree: ast.Module, function: str) -> Iterator[str]:
    """Texts of a function but for its docstring, with our placeholders.

    Raises:
        KeyError: A long text has a name that is not known.
    """
    for defined in ast.walk(tree):
        if not isinstance(defined, ast.FunctionDef | ast.AsyncFunctionDef) or defined.name != function:
            continue
        doc = ast.get_docstring(defined, clean=False)
        inner = {id(part) for node in ast.walk(defined) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(defined):
            if isinstance(node, ast.JoinedStr) and _length(node) >= _SHORTEST:
                yield "".join(map(_part, node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
                yield "" if node.value == doc or len(node.value) < _SHORTEST else _FIELD.sub(_of_template, node.value)


def _length(text: ast.JoinedStr) -> int:
    return sum(len(str(part.value)) for part in text.values if isinstance(part, ast.Constant))


def _part(part: ast.expr) -> str:
    if isinstance(part, ast.FormattedValue):
        return _placeholder(ast.unparse(part.value).rpartition(".")[2])
    return str(part.value) if isinstance(part, ast.Constant) else ""


def _of_template(field: re.Match[str]) -> str:
    """What stands for a field, or a doubled brace, of a template of `str.format`."""
    return _placeholder(field[1]) if field[1] else field[0][0]


def _placeholder(name: str) -> str:
    return "{" + _PLACEHOLDERS[name] + "}"
