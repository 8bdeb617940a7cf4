"""What Python code may import, by signature and docstring."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from opsgym_api.described import docstrings

MOST_COLUMNS = 100

_GROUPS = {
    "Write an orchestrator": (
        "Registered under the entry point `opsgym.orchestrators` ([agents.md](../agents.md#custom-orchestrators)).",
        "opsgym_runner.orchestrators",
        ("Orchestrator", "Session", "AgentResult", "Reply", "ToolRequest", "act", "initial_messages"),
    ),
    "Run attempts": (
        "What `opsgym run` and the pods of a cluster call. A `Job` says what is played; results are in the store.",
        "opsgym_runner.runner",
        ("Runner",),
    ),
    "Describe an attempt": ("", "opsgym_runner.job", ("Job",)),
    "Open a store": ("", "opsgym_core.store.location", ("open_store",)),
    "Read results": (
        "Rows hold one `ScoredAttempt` for each scored trial ([records.md](records.md)).",
        "opsgym_core.results.load",
        ("list_runs", "find_run", "load_record", "load_rows", "load_run"),
    ),
    "Compare runs": ("", "opsgym_core.results.compare", ("compare",)),
    "Find failure modes": ("", "opsgym_console.analysis.failures", ("FailedTrial", "analyse")),
    "Write a domain": (
        "Registered under the entry point `opsgym.domains` ([domains.md](../domains.md)).",
        "opsgym_domains.kit.domain",
        ("Domain",),
    ),
}
_INTRO = """
Commands and files are the stable interface; of Python's, what is on this page. Everything is typed.
"""


def python_page() -> str:
    """A section for each purpose."""
    return _INTRO + "".join(_section(title, *group) for title, group in _GROUPS.items())


def _section(title: str, purpose: str, module: str, names: tuple[str, ...]) -> str:
    module_object = import_module(module)
    parts = "\n".join(_part(name, getattr(module_object, name)) for name in names)
    text = f"{purpose}\n\n" if purpose else ""
    return f"\n## {title}\n\n{text}```python\nfrom {module} import {', '.join(names)}\n```\n\n{parts}"


def _part(name: str, thing: Any) -> str:
    lines = [f"### {name}", "", "```text", *_signed(name, thing)]
    if inspect.isclass(thing):
        lines += _attributes(thing)
        for method, function in _methods(thing):
            lines += ["", *_signed(method, function)]
    return "\n".join([*lines, "```", ""])


def _attributes(kind: type[Any]) -> list[str]:
    """Attributes with a docstring."""
    texts = {name: " ".join(text.split()) for name, text in docstrings(kind).items() if not name.startswith("_")}
    return ["", "    Attributes:", *(f"        {name}: {text}" for name, text in texts.items())] if texts else []


def _methods(kind: type[Any]) -> list[tuple[str, Any]]:
    """Public methods and properties with a docstring, in the order of their definition."""
    return [
        (name, value)
        for name, value in vars(kind).items()
        if (not name.startswith("_") or name == "__call__")
        and (inspect.isfunction(value) or isinstance(value, property))
        and (value.__doc__ or "").strip()
    ]


def _signed(name: str, thing: Any) -> list[str]:
    """A name with its signature, then its docstring."""
    if isinstance(thing, property):
        head = f"{name}: {inspect.get_annotations(thing.fget or _signed).get('return', 'Any')}"
    else:
        head = f"{'async ' if inspect.iscoroutinefunction(thing) else ''}{name}{_signature(thing)}"
    return [head, *(f"    {line}".rstrip() for line in (inspect.getdoc(thing) or "").splitlines())]


class _Raw:
    """Something that a signature shows as this text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _signature(thing: Any) -> str:
    """A signature, on a line of its own for each parameter if it is long; long defaults are left out."""
    if getattr(thing, "_is_protocol", False):
        return ""
    signature = inspect.signature(thing)
    parameters = [_parameter(parameter) for name, parameter in signature.parameters.items() if name != "self"]
    text = str(signature.replace(parameters=parameters, return_annotation=_raw(signature.return_annotation)))
    if len(text) < MOST_COLUMNS:
        return text
    lines = [f"    {parameter}," for parameter in parameters]
    return "\n".join(["(", *lines, ")" + text.rpartition(")")[2]])


def _parameter(parameter: inspect.Parameter) -> inspect.Parameter:
    default = parameter.default
    if default is not parameter.empty and (len(repr(default)) > 20 or callable(default)):
        default = _Raw("…")
    return parameter.replace(annotation=_raw(parameter.annotation), default=default)


def _raw(annotation: Any) -> Any:
    return _Raw(annotation) if isinstance(annotation, str) else annotation
