"""Tool names of domains: of the installed domains, or of published servers from files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from opsgym_api.errors import InputError, Problem
from opsgym_domains import registry


def catalogues(folder: Path | None) -> Mapping[str, frozenset[str]]:
    """Tool names by domain. A file `<domain>.json` takes precedence over the installed domain.

    Args:
        folder: Folder of files with the result of `tools/list`: a list of tools, or an object with one under `tools`.
            None for the installed domains only.

    Raises:
        InputError: The folder or one of its files cannot be read.
    """
    installed = {name: frozenset(registry.load(name).toolbox.tools) for name in registry.domains()}
    return installed if folder is None else {**installed, **_from_files(folder)}


def _from_files(folder: Path) -> Mapping[str, frozenset[str]]:
    if not folder.is_dir():
        raise InputError(str(folder), [Problem("--tools", "is not a folder of files DOMAIN.json")])
    return {file.stem: _names(file) for file in sorted(folder.glob("*.json")) if not file.name.startswith("_")}


def _names(file: Path) -> frozenset[str]:
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
        listed = content["tools"] if isinstance(content, dict) else content
        return frozenset(str(tool["name"]) for tool in listed)
    except (OSError, ValueError, KeyError, TypeError):
        expected = 'expected the result of tools/list: a list of tools, or {"tools": [...]}'
        raise InputError(str(file), [Problem("--tools", expected)]) from None
