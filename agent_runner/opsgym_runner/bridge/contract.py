"""What the program of an agent gets: files in a folder of its attempt, and variables. Version 1.

Invariant: nothing else of the runner reaches the program. Its keys are random words of this attempt, which open only
the bridge of this attempt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opsgym_runner.orchestrators.base import Session

VERSION = 1
ANSWER_FILE = "answer.txt"
"""File in the program's folder that holds its answer, if it posts none."""


def write_files(folder: Path, session: Session, url: str, key: str, deadline: str | None) -> None:
    """Writes `task.json`, `prompt.md` and `mcp.json`.

    Args:
        folder: Folder of the attempt.
        session: The episode.
        url: Address of the bridge.
        key: The attempt's key.
        deadline: Time at which the task's time is over if nothing waits (ISO 8601); None for none.
    """
    servers = {gym: f"{url}/mcp/{gym}" for gym in session.definitions_by_gym}
    task = {
        "version": VERSION,
        "task": session.task.task_id,
        "systemPrompt": session.system_prompt,
        "userPrompt": session.user_prompt,
        "model": session.task.model,
        "maxSteps": session.max_steps,
        "deadline": deadline,
        "answerUrl": f"{url}/opsgym/v1/answer",
        "mcpServers": [
            {"name": gym, "url": servers[gym], "tools": [tool["name"] for tool in tools]}
            for gym, tools in session.definitions_by_gym.items()
        ],
    }
    access = {"Authorization": f"Bearer {key}"}
    mcp = {"mcpServers": {gym: {"type": "http", "url": at, "headers": access} for gym, at in servers.items()}}
    _write(folder / "task.json", task)
    _write(folder / "mcp.json", mcp)
    prompt = f"{session.system_prompt}\n\n{session.user_prompt}\n"
    (folder / "prompt.md").write_text(prompt, encoding="utf-8", errors="backslashreplace")


def variables(
    folder: Path, session: Session, url: str, key: str, deadline: str | None, own: Mapping[str, str]
) -> dict[str, str]:
    """Variables of the program.

    Args:
        folder: Folder of the attempt.
        session: The episode.
        url: Address of the bridge.
        key: The attempt's key.
        deadline: See `write_files`.
        own: Variables that the agent names, and `PATH`.
    """
    return {
        **own,
        "HOME": str(folder),
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": key,
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": key,
        "OPSGYM_URL": url,
        "OPSGYM_KEY": key,
        "OPSGYM_MODEL": session.task.model,
        "OPSGYM_TASK": str(folder / "task.json"),
        **({} if deadline is None else {"OPSGYM_DEADLINE": deadline}),
    }


def _write(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, indent=2), encoding="utf-8")
