"""Task rows of a variant.

Invariant: a row keeps its structure: the same verifiers, calls and events in the same order, with replaced names, keys,
numbers and dates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from opsgym_api.tasks.task import GymServer
from opsgym_domains.variants.rewriting import CONDITIONS, Rewriting, is_amount
from opsgym_domains.variants.words import FRAMES

_BUILTIN = "builtin:"
_COST = re.compile(r"\bcosts? (\d+)\b")
_VALUES = ("plan", "gold_answer", "gold_answers", "days")
"""Fields of a row that hold texts."""


def varied_rows(
    rows: Sequence[Mapping[str, Any]], variant: int, rewriting_of: Callable[[str, str, int], Rewriting]
) -> list[dict[str, Any]]:
    """Rows of a suite in a variant.

    Args:
        rows: Rows of a built-in suite, with included files inserted.
        variant: Its number, from 1; see `opsgym_api.kinds.variants`.
        rewriting_of: Gives the rewriting of a domain's seed for a variant; see `variants.companies`.

    Raises:
        ValueError: A seed is not built in, or a task has several that do not belong to one company.
    """
    rewriting = cache(lambda domain, seed: rewriting_of(domain, seed, variant))
    return [_varied(row, variant, row_rewriting(row, rewriting)) for row in rows]


@dataclass(frozen=True)
class RowRewriting:
    """The rewritings of a row."""

    texts: Rewriting
    """Of what no gym server has: prompts, plans, answers."""
    gyms: Mapping[str, Rewriting]
    """Of calls, events and verifiers, by gym server."""

    def on(self, gym: str | None) -> Rewriting:
        """The rewriting of a gym server; that of the first one for None."""
        return self.gyms[gym or next(iter(self.gyms))]


def row_rewriting(row: Mapping[str, Any], rewriting: Callable[[str, str], Rewriting]) -> RowRewriting:
    """The rewritings of a row.

    Args:
        row: The row.
        rewriting: Gives the rewriting of a domain's seed.

    Raises:
        ValueError: A seed is not built in, or the seeds belong to different companies.
    """
    seeds = _seeds_of(row)
    by_gym = {gym: rewriting(*place) for gym, place in seeds.items()}
    first = next(iter(by_gym.values()))
    if any(other.words != first.words or other.years != first.years for other in by_gym.values()):
        named = ", ".join(seed for _, seed in seeds.values())
        raise ValueError(f"task {row['task_id']}: seeds of different companies have no common variants: {named}")
    amounts = frozenset(column for change in by_gym.values() for column in change.amounts)
    return RowRewriting(
        for_row(replace(first, amounts=amounts), row), {gym: for_row(change, row) for gym, change in by_gym.items()}
    )


def for_row(change: Rewriting, row: Mapping[str, Any]) -> Rewriting:
    """The rewriting of a world with the amounts that a task states in its texts.

    These are the amounts in the calls of its solution and in its verifiers, and those of which a prompt says that
    something costs them.
    """
    figures = {*_amounts(row["gold_actions"], change.amounts), *_amounts(row["verifiers"], change.amounts)}
    if change.amounts:
        figures |= {*_COST.findall(" ".join([row["user_prompt"], *row.get("user_prompts", ())]))}
    return replace(change, figures=frozenset(figures)) if figures else change


def _amounts(value: Any, columns: Collection[str], column: str = "") -> Iterator[str]:
    """Amounts of money in a JSON value, as texts write them."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _amounts(item, columns, column if name in CONDITIONS else str(name))
    elif isinstance(value, list):
        for item in value:
            yield from _amounts(item, columns, column)
    elif column in columns and is_amount(value):
        yield str(value)


def _varied(row: Mapping[str, Any], variant: int, change: RowRewriting) -> dict[str, Any]:
    texts = change.texts
    varied = dict(row) | {"variant": variant}
    varied |= {name: texts.value(row[name]) for name in _VALUES if name in row}
    varied["system_prompt"] = texts.text(row["system_prompt"])
    varied["user_prompt"] = texts.text(_worded(row, variant))
    varied.pop("user_prompts", None)
    varied["gym_servers_config"] = [
        _gym(gym, change.on(gym["mcp_server_name"]), variant) for gym in row["gym_servers_config"]
    ]
    varied["verifiers"] = [_verifier(verifier, change.on(verifier.get("gym_name"))) for verifier in row["verifiers"]]
    varied["gold_actions"] = [
        {**action, "arguments": change.on(action.get("gym")).value(action.get("arguments", {}))}
        for action in row.get("gold_actions") or []
    ]
    if "events" in row:
        varied["events"] = [_event(event, change) for event in row["events"]]
    return varied


def _seeds_of(row: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Domain and seed of each gym server of a row."""
    seeds = {}
    for gym in row["gym_servers_config"]:
        server, seed = GymServer(mcp_server_name=gym["mcp_server_name"]), gym.get("seed_database_file", "")
        if not seed.startswith(_BUILTIN):
            raise ValueError(f"task {row['task_id']}: variants exist only for tasks with built-in seeds")
        seeds[server.mcp_server_name] = (server.domain, seed.removeprefix(_BUILTIN))
    return seeds


def _worded(row: Mapping[str, Any], variant: int) -> str:
    """The prompt in one of its wordings; one that states no further wordings gets a frame."""
    wordings = row.get("user_prompts") or []
    if not wordings:
        return FRAMES[variant % len(FRAMES)].format(row["user_prompt"])
    forms = [row["user_prompt"], *wordings]
    return str(forms[variant % len(forms)])


def _gym(gym: Mapping[str, Any], change: Rewriting, variant: int) -> dict[str, Any]:
    seed = f"{gym['seed_database_file']}@{variant}"
    texts = {name: change.value(gym[name]) for name in ("context", "user_info") if name in gym}
    return {**gym, **texts, "seed_database_file": seed}


def _verifier(verifier: Mapping[str, Any], change: Rewriting) -> dict[str, Any]:
    config = dict(verifier["validation_config"])
    if "patterns" in config:
        config["patterns"] = [change.pattern(pattern) for pattern in config["patterns"]]
    for name in ("query", "sql_query"):
        if name in config:
            config[name] = change.sql(config[name])
    for name in ("rows", "expected_value", "comparison_prompt"):
        if name in config:
            config[name] = change.value(config[name])
    return {**verifier, "validation_config": config}


def _event(event: Mapping[str, Any], change: RowRewriting) -> dict[str, Any]:
    varied = {name: change.texts.value(value) for name, value in event.items() if name not in ("gym", "when_gym")}
    if "when" in event:
        varied["when"] = change.on(event.get("when_gym") or event.get("gym")).sql(event["when"])
    if "sql" in event:
        varied["sql"] = [change.on(event.get("gym")).sql(statement) for statement in event["sql"]]
    return {**event, **varied}
