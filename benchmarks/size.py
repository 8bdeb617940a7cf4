"""Size of a domain's code per tool, and of its suites per task.

Invariant: lines include blank lines and docstrings; generated seeds and rows do not count as lines. Statements are
those inside of functions, without docstrings: the logic.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Sequence
from pathlib import Path

from opsgym_domains import registry
from opsgym_domains.data_files import read_data
from opsgym_suites.__main__ import all_authored

KINDS = {
    "tables and words": ("tables.py", "enums.py", "words.py"),
    "identity and assembly": ("__init__.py", "toolbox.py", "domain.py"),
    "strict": ("access.py", "rules.py", "roles.py", "priority_matrix.py"),
    "time": ("deadlines.py",),
}
TOOLS = "modules of tools"
SHARED = "modules that tools share"


async def measure() -> list[str]:
    """A table of lines by kind and domain, and lines per tool."""
    sizes = {name: _lines(name) for name in registry.domains()}
    rows = [*KINDS, TOOLS, SHARED]
    table = ["| lines | " + " | ".join(sizes) + " |", "| --- |" + " --- |" * len(sizes)]
    table += [f"| {row} | " + " | ".join(str(size[row]) for size in sizes.values()) + " |" for row in rows]
    counts = {name: len(registry.load(name).toolbox.tools) for name in sizes}
    table.append("| number of tools | " + " | ".join(map(str, counts.values())) + " |")
    for label, parts in {
        "lines of tools per tool": [TOOLS],
        "lines of tools and what they share per tool": [TOOLS, SHARED],
        "all lines but strict and time per tool": [kind for kind in rows if kind not in ("strict", "time")],
    }.items():
        shares = [f"{sum(size[part] for part in parts) / counts[name]:.1f}" for name, size in sizes.items()]
        table.append(f"| {label} | " + " | ".join(shares) + " |")
    logic = [f"{_statements(name) / counts[name]:.1f}" for name in sizes]
    table.append("| statements in functions of tools per tool | " + " | ".join(logic) + " |")
    return [*table, "", *_suites(list(sizes)), "", f"The shared kit has {_kit()} lines."]


def _suites(domains: Sequence[str]) -> list[str]:
    """A table of what writing tasks takes, by domain."""
    authoring = [_authoring(name) for name in domains]
    table = ["| suites | " + " | ".join(domains) + " |", "| --- |" + " --- |" * len(domains)]
    return table + [f"| {row} | " + " | ".join(one[row] for one in authoring) + " |" for row in authoring[0]]


def _authoring(domain: str) -> dict[str, str]:
    """Sizes of a domain's suites, without the code that generates seeds."""
    folder = Path(importlib.import_module(f"opsgym_suites.{domain}").__file__ or "").parent
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py") if "seeds" not in path.parts]
    scenes = sum(
        isinstance(node, ast.FunctionDef) and _writes_drafts(node)
        for text in texts
        for node in ast.walk(ast.parse(text))
    )
    rows = [
        line
        for authored in all_authored()
        if authored.domain == domain
        for suite in authored.suites
        for line in read_data(f"opsgym_domains.{domain}", f"{suite.name}.jsonl").splitlines()
    ]
    return {
        "tasks": str(len(rows)),
        "scenes: functions that write the tasks of one situation": str(scenes),
        "tasks a scene": f"{len(rows) / scenes:.1f}",
        "lines of code a task": f"{sum(len(text.splitlines()) for text in texts) / len(rows):.0f}",
        "kB of JSON a task, on one line": f"{sum(map(len, rows)) / len(rows) / 1000:.1f}",
    }


def _writes_drafts(function: ast.FunctionDef) -> bool:
    """Whether a function states a task itself; one that only puts together the tasks of others states none."""
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    return any(isinstance(called, ast.Name) and called.id == "Draft" for called in calls)


def _modules(domain: str) -> list[tuple[str, Path]]:
    """A domain's modules, with the kind of each."""
    folder = Path(importlib.import_module(f"opsgym_domains.{domain}").__file__ or "").parent
    kind_of = {name: kind for kind, names in KINDS.items() for name in names}
    kind_of |= {path.name: "strict" for path in folder.glob("strict_*.py")}
    return [(kind_of.get(path.name) or _tools_or_shared(path), path) for path in sorted(folder.glob("*.py"))]


def _tools_or_shared(path: Path) -> str:
    return TOOLS if "\n@tool" in path.read_text(encoding="utf-8") else SHARED


def _lines(domain: str) -> dict[str, int]:
    lines = dict.fromkeys([*KINDS, TOOLS, SHARED], 0)
    for kind, path in _modules(domain):
        lines[kind] += _count(path)
    return lines


def _statements(domain: str) -> int:
    """Statements within functions of the modules of tools, without docstrings."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for kind, path in _modules(domain) if kind in (TOOLS, SHARED)]
    functions = [
        node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    inside = [node for function in functions for node in ast.walk(function) if node is not function]
    return sum(isinstance(node, ast.stmt) and not _is_text(node) for node in inside)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _kit() -> int:
    folder = Path(importlib.import_module("opsgym_domains.kit").__file__ or "").parent
    return sum(map(_count, folder.glob("*.py")))


def _count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
