"""Files of an exported suite, and the seeds that its rows name.

Invariant: a file is written inside of the folder for the export, whatever names a row has.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from opsgym.taskimport.seeds import Seeds
from opsgym_api.errors import InputError, Problem
from opsgym_api.tasks.task import GymServer, Task
from opsgym_domains import registry

MODE = "oracle"
"""Folder of the rows: they name the oracle tool set."""
SEED_FOLDER = "seeds"
_BUILTIN = "builtin:"


def write_file(out: Path, name: str, content: bytes) -> Path:
    """Writes a file and its folder; its path.

    Raises:
        InputError: It cannot be written.
    """
    path = out / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise InputError(str(path), [Problem("--out", f"cannot be written: {error.strerror}")]) from None
    return path


def seed_file(server: GymServer) -> str:
    """Name of the file with a gym server's seed: that of the row's file, or domain and name of a built-in seed."""
    name = server.seed_database_file
    return (
        f"{server.domain}-{name.removeprefix(_BUILTIN)}.sql" if name.startswith(_BUILTIN) else PurePosixPath(name).name
    )


def seed_text(task: Task, server: GymServer, seeds: Seeds) -> str:
    """SQL of a gym server's seed.

    Args:
        task: The row, for messages.
        server: The gym server, of an installed domain.
        seeds: Seed files of rows that name files.

    Raises:
        InputError: The seed is missing or cannot be read.
    """
    name = server.seed_database_file
    if name.startswith(_BUILTIN):
        reader = registry.load(server.domain).seeds.get(name.removeprefix(_BUILTIN))
        sql = None if reader is None else reader()
    else:
        path = seeds.find(name)
        sql = next((text.decode() for _, text in seeds.texts({path})), None) if path else None
    if sql is None:
        problem = f"seed {name!r} is missing; name its folder or archive with --seeds"
        raise InputError(task.task_id, [Problem("gym_servers_config", problem)])
    return sql


def require_installed(task: Task, server: GymServer) -> None:
    """Refuses a gym server of a domain that is not installed.

    Raises:
        InputError: It is not.
    """
    if server.domain not in registry.domains():
        problem = f"domain {server.domain!r} is not installed; its tables are needed"
        raise InputError(task.task_id, [Problem("gym_servers_config", problem)])
