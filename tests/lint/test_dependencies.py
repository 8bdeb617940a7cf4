"""Each member of the workspace declares every distribution that it imports or asks for its version."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MEMBERS = ("crds", "core", "operator", "agent_runner", "domain_images", "suites", "console", "cli")
DISTRIBUTIONS = packages_distributions()
COMPANIONS = {"botocore": "boto3", "markupsafe": "jinja2", "mcp-types": "mcp", "pydantic-core": "pydantic"}
"""Distributions that are released with another one and pinned by it."""


def imported(folder: Path) -> Iterator[tuple[str, Path]]:
    """Top-level modules that the code of a folder imports at run time, with the file."""
    for file in folder.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        typing = [
            node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        ]
        skipped = {id(inner) for block in typing for inner in ast.walk(block)}
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=names) if id(node) not in skipped:
                    yield from ((name.name.split(".")[0], file) for name in names)
                case ast.ImportFrom(module=str(module), level=0) if id(node) not in skipped:
                    yield module.split(".")[0], file


def declared(member: str) -> set[str]:
    """Names of the distributions in a member's pyproject.toml, optional ones included, and its own."""
    project = tomllib.loads((ROOT / member / "pyproject.toml").read_text())["project"]
    optional = (item for items in project.get("optional-dependencies", {}).values() for item in items)
    requirements = [project["name"], *project["dependencies"], *optional]
    return {normal(re.split(r"[\[<>=!~; ]", requirement)[0]) for requirement in requirements}


def normal(name: str) -> str:
    """The distribution to declare for a name: normalised (PEP 503), its leader for a companion."""
    normalised = re.sub(r"[-_.]+", "-", name).lower()
    return COMPANIONS.get(normalised, normalised)


@pytest.mark.parametrize("member", MEMBERS)
def test_a_member_declares_what_it_imports(member: str) -> None:
    names = declared(member)
    undeclared = {
        f"{module} ({file.relative_to(ROOT)})"
        for package in (ROOT / member).glob("opsgym*")
        if package.is_dir()
        for module, file in imported(package)
        if module not in sys.stdlib_module_names
        and not any(normal(d) in names for d in DISTRIBUTIONS.get(module, [module]))
    }
    assert undeclared == set()


@pytest.mark.parametrize("member", MEMBERS)
def test_a_member_reads_versions_only_of_itself_and_of_what_it_declares(member: str) -> None:
    names = declared(member)
    calls = (
        (ast.literal_eval(node.args[0]), file.relative_to(ROOT))
        for package in (ROOT / member).glob("opsgym*")
        for file in package.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "version" and isinstance(node.args[0], ast.Constant)
    )
    assert {f"{name} ({file})" for name, file in calls if normal(name) not in names} == set()
