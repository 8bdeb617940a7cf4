"""The tools shown to a model, and the gym server that executes each.

Invariant: the same task, mode and servers give the same tools in the same order on every machine, and a larger
`plus_N` set contains the smaller ones.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from opsgym_api.kinds.evalrun import Mode
from opsgym_api.tasks.digest import digest_of
from opsgym_api.tasks.task import GymServer, Task, ToolCall
from opsgym_runner.gyms.published_schema import simplified

ToolSchemas = Literal["gym", "published"]
"""See `opsgym_api.kinds.profiles.Switches.tool_schemas`."""
ToolNames = Literal["published", "qualified"]
"""See `opsgym_api.kinds.evalrun.Agent.tool_names`."""
LONGEST_NAME = 64
"""Maximum characters of a tool's name that providers accept."""
_DISTRACTORS: Mapping[Mode, int] = {Mode.ORACLE: 0, Mode.PLUS_5: 5, Mode.PLUS_10: 10, Mode.PLUS_15: 15}
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True)
class ServerTools:
    """The tools of one gym server."""

    gym: str
    tools: Sequence[Mapping[str, Any]]
    domain: str = ""
    """Prefix of qualified tool names; the gym's name if empty."""


@dataclass(frozen=True)
class ToolRef:
    """Gym server and name of a tool."""

    gym: str
    """Name of the gym server."""
    name: str
    """The gym's own name of the tool."""


@dataclass(frozen=True)
class Catalogue:
    """The tools shown to a model."""

    tools: tuple[dict[str, Any], ...]
    """In OpenAI's format."""
    definitions: tuple[Mapping[str, Any], ...]
    """The same tools as their gym servers list them, under the names shown."""
    refs: Mapping[str, ToolRef]
    """Tools by the name shown to the model."""
    missing: tuple[str, ...]
    """Selected tools that no gym server offers."""
    digest: str
    """SHA-256 of names, descriptions and schemas, in the order shown."""

    @property
    def names(self) -> list[str]:
        """Names of the tools, in the order shown."""
        return list(self.refs)

    def own_name(self, shown: str) -> str:
        """The gym's own name of a shown tool; an unknown name is returned unchanged."""
        ref = self.refs.get(shown)
        return shown if ref is None else ref.name


_Candidates = Mapping[str, tuple[str, Mapping[str, Any]]]
"""Gym server and tool, by the name that the model would be shown."""


def build_catalogue(
    servers: Sequence[ServerTools],
    task: Task,
    mode: Mode,
    tool_names: ToolNames = "published",
    tool_schemas: ToolSchemas = "gym",
) -> Catalogue:
    """Selects the tools that a mode shows for a task.

    Args:
        servers: Tools of the gym servers, in the row's order.
        task: The row; its selected and restricted tools are the gyms' own names.
        mode: How many distractors are shown beside the selected tools.
        tool_names: `published`: the first gym with a tool of a name gets its calls. `qualified`: tools of the same name
            each get a name of their own. With both, a name that providers do not take is shown as one that they do.
        tool_schemas: `gym`: each tool has the gym's own schema. `published`: simplified as the published harness does.
    """
    candidates = dict(_published(servers) if tool_names == "published" else _qualified(servers))
    own = {shown: str(tool["name"]) for shown, (_, tool) in candidates.items()}
    names = _shown({name: own[name] for name in own if own[name] not in task.restricted_tools}, task, mode)
    chosen = {name: entry for name, entry in candidates.items() if name in names}
    simplify = simplified if tool_schemas == "published" else dict
    tools = tuple(_openai_tool(name, tool, simplify) for name, (_, tool) in chosen.items())
    available = set(own.values())
    return Catalogue(
        tools=tools,
        definitions=tuple({**tool, "name": name} for name, (_, tool) in chosen.items()),
        refs={name: ToolRef(gym, own[name]) for name, (gym, _) in chosen.items()},
        missing=tuple(name for name in dict.fromkeys(task.tools_in(mode)) if name not in available),
        digest=_digest(tools),
    )


def _first_of_each(servers: Sequence[ServerTools]) -> _Candidates:
    first: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for server in servers:
        for tool in server.tools:
            first.setdefault(tool["name"], (server.gym, tool))
    return first


def _published(servers: Sequence[ServerTools]) -> Iterator[tuple[str, tuple[str, Mapping[str, Any]]]]:
    first = _first_of_each(servers)
    taken = {name for name in first if _is_accepted(name)}
    for name, (gym, tool) in first.items():
        shown = name if name in taken else _free_name(name, gym, taken)
        taken.add(shown)
        yield shown, (gym, tool)


def _qualified(servers: Sequence[ServerTools]) -> Iterator[tuple[str, tuple[str, Mapping[str, Any]]]]:
    counts = Counter(name for server in servers for name in {tool["name"] for tool in server.tools})
    taken = {name for name, count in counts.items() if count == 1 and _is_accepted(name)}
    for server in servers:
        for name, (_, tool) in _first_of_each([server]).items():
            full_name = name if counts[name] == 1 else f"{server.domain or server.gym}_{name}"
            shown = name if name in taken else _free_name(full_name, server.gym, taken)
            taken.add(shown)
            yield shown, (server.gym, tool)


def _is_accepted(name: str) -> bool:
    """Whether providers take a tool's name as it is."""
    return 0 < len(name) <= LONGEST_NAME and not _NOT_IN_A_NAME.search(name)


def names_of(call: ToolCall, gyms: Sequence[str]) -> Iterator[str]:
    """Names under which a model may be shown the tool of a gold action, in the order in which they are tried.

    Args:
        call: The gold action. If it names no gym server, it is for the first one that has the tool.
        gyms: Names of the task's gym servers, in the row's order.
    """
    if call.gym is None:
        yield call.name
    for gym in gyms if call.gym is None else [call.gym]:
        qualified = f"{GymServer(mcp_server_name=gym).domain}_{call.name}"
        # Another gym server of the domain may have the name without the mark.
        yield _marked_name(qualified, gym)
        yield _NOT_IN_A_NAME.sub("_", qualified)
        if not _is_accepted(call.name):
            yield _marked_name(call.name, gym)
            yield _NOT_IN_A_NAME.sub("_", call.name)
    yield call.name


def _free_name(full_name: str, gym: str, taken: Collection[str]) -> str:
    """A unique name that providers accept; it depends only on the names."""
    name = _NOT_IN_A_NAME.sub("_", full_name)
    return name if _is_accepted(name) and name not in taken else _marked_name(full_name, gym)


def _marked_name(qualified: str, gym: str) -> str:
    mark = hashlib.sha256(f"{gym}/{qualified}".encode()).hexdigest()[:8]
    return f"{_NOT_IN_A_NAME.sub('_', qualified)[: LONGEST_NAME - len(mark) - 1]}_{mark}"


def _shown(allowed: Mapping[str, str], task: Task, mode: Mode) -> set[str]:
    """Names shown in a mode.

    Args:
        allowed: The gyms' own names of the unrestricted tools, by shown name.
        task: The row.
        mode: The mode.
    """
    task_tools = task.tools_in(mode)
    selected = {name for name, own in allowed.items() if own in task_tools}
    if mode in task.mode_tools:
        return selected
    if mode is Mode.ALL or not task_tools:
        return set(allowed)
    others = sorted(allowed.keys() - selected, key=lambda name: hashlib.sha256((task.task_id + name).encode()).digest())
    return selected | set(others[: _DISTRACTORS[mode]])


def _openai_tool(
    name: str, tool: Mapping[str, Any], simplify: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    schema = tool.get("inputSchema") or {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {"name": name, "description": tool.get("description") or "", "parameters": simplify(schema)},
    }


def _digest(tools: Sequence[Mapping[str, Any]]) -> str:
    functions = [tool["function"] for tool in tools]
    return digest_of([[tool["name"], tool["description"], tool["parameters"]] for tool in functions])
