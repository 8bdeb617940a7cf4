"""Commands of agents on this machine: where their files are, and what version of them runs.

Invariant: what a command names is found before anything starts, and another content of it makes another run.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import Agent, EvalRunSpec

_RELATIVE = ("./", "../")


def located_agents(source: str, spec: EvalRunSpec, folder: Path, environment: Mapping[str, str]) -> dict[str, Agent]:
    """The agents of a run by name, with absolute paths in their commands.

    Args:
        source: What names the agents, for messages.
        spec: The run.
        folder: What their paths are relative to.
        environment: Environment variables, of which one says where programs are.

    Raises:
        InputError: A program does not exist, or a variable that an agent names is not set.
    """
    agents: dict[str, Agent] = {}
    problems: list[Problem] = []
    for index, agent in enumerate(spec.agents):
        parts = [str((folder / part).resolve()) if part.startswith(_RELATIVE) else part for part in agent.command]
        agents[agent.name] = agent.model_copy(update={"command": parts})
        if parts and (problem := _not_found(parts[0], agent.env.get("PATH") or environment.get("PATH"))):
            problems.append(Problem(f"spec.agents[{index}].command", problem))
        problems += [
            Problem(f"spec.agents[{index}].passEnv", f"variable {name} is not set")
            for name in agent.pass_env
            if name not in environment
        ]
    if problems:
        raise InputError(source, problems)
    return agents


def _not_found(program: str, path: str | None) -> str | None:
    """What is wrong with the program of a command; None if it can be started."""
    if shutil.which(program, path=path):
        return None
    if os.sep not in program:
        return f"no program {program!r} is on PATH; a file beside this document is named ./{program}"
    if not Path(program).is_file():
        return f"names a file that does not exist: {program}"
    return f"{program} is not executable; run: chmod +x {program}"


def commands_of(agents: Iterable[Agent]) -> dict[str, str]:
    """Digests of the files that commands name, for `RunRecord.versions`; those of installed programs are not read."""
    return {
        f"command:{agent.name}": hashlib.sha256(
            b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)
        ).hexdigest()[:12]
        for agent in agents
        if (files := [file for part in agent.command if part.startswith(os.sep) and (file := Path(part)).is_file()])
    }
