"""Reads task files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opsgym_api.errors import InputError, Problem
from opsgym_api.tasks.task_file import TaskFile
from opsgym_core.common.strict_yaml import model_of, parts_of

SUFFIXES = (".yaml", ".yml")


def task_files(path: Path) -> Sequence[tuple[Path, TaskFile]]:
    """The task files at a path, a file or a folder with others.

    Raises:
        InputError: There is none, or one is not valid; names file, field and line of each problem.
    """
    paths = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.suffix in SUFFIXES)
    if not paths:
        raise InputError(str(path), [Problem("", f"has no task file; those end with {' or '.join(SUFFIXES)}")])
    files = [(one, _read(one)) for one in paths]
    by_id: dict[str, Path] = {}
    for one, file in files:
        if file.id in by_id:
            raise InputError(
                str(one), [Problem("id", f"{file.id!r} is the id of {by_id[file.id]}; each task has its own")]
            )
        by_id[file.id] = one
    return files


def _read(path: Path) -> TaskFile:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(str(path), [Problem("", f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError:
        raise InputError(str(path), [Problem("", "is not text in UTF-8")]) from None
    parts = parts_of(str(path), text)
    if len(parts) != 1:
        raise InputError(str(path), [Problem("", f"has {len(parts)} documents; a task file has one")])
    return model_of(str(path), parts[0], TaskFile)
