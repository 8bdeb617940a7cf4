"""Task rows of a variant.

Invariant: a row keeps its structure: the same verifiers, calls and events in the same order, with replaced names, keys,
numbers and dates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from opsgym_domains.kit.domain import Domain
from opsgym_domains.variants import worlds
from opsgym_domains.variants.rewriting import CONDITIONS, Rewriting, is_amount
from opsgym_domains.variants.words import FRAMES

_BUILTIN = "builtin:"
_COST = re.compile(r"\bcosts? (\d+)\b")
_VALUES = ("plan", "gold_answer", "gold_answers", "days")
"""Fields of a row that hold texts."""


def varied_rows(
    rows: Sequence[Mapping[str, Any]], variant: int, domain: Callable[[str], Domain]
) -> list[dict[str, Any]]:
    """Rows of a suite in a variant.

    Args:
        rows: Rows of a built-in suite, with included files inserted.
        variant: Number from 1 to 9999.
        domain: Finds a domain by its name.

    Raises:
        ValueError: A task has several gym servers, or its seed is not built in.
    """

    @cache
    def rewriting(name: str, seed: str) -> Rewriting:
        return worlds.rewriting(domain(name).metadata, domain(name).seeds[seed](), variant)

    return [_varied(row, variant, for_row(rewriting(*_seed_of(row)), row)) for row in rows]


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


def _varied(row: Mapping[str, Any], variant: int, change: Rewriting) -> dict[str, Any]:
    varied = dict(row) | {"variant": variant}
    varied |= {name: change.value(row[name]) for name in _VALUES if name in row}
    varied["system_prompt"] = change.text(row["system_prompt"])
    varied["user_prompt"] = change.text(_worded(row, variant))
    varied.pop("user_prompts", None)
    varied["gym_servers_config"] = [_gym(gym, change, variant) for gym in row["gym_servers_config"]]
    varied["verifiers"] = [_verifier(verifier, change) for verifier in row["verifiers"]]
    varied["gold_actions"] = [
        {**action, "arguments": change.value(action.get("arguments", {}))} for action in row.get("gold_actions") or []
    ]
    if "events" in row:
        varied["events"] = [_event(event, change) for event in row["events"]]
    return varied


def _seed_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Domain and seed of a row."""
    gyms = row["gym_servers_config"]
    seeds = [gym.get("seed_database_file", "") for gym in gyms]
    if len(gyms) != 1 or not seeds[0].startswith(_BUILTIN):
        raise ValueError(
            f"task {row['task_id']}: variants exist only for tasks with one gym server and a built-in seed"
        )
    return row["domain"], seeds[0].removeprefix(_BUILTIN)


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


def _event(event: Mapping[str, Any], change: Rewriting) -> dict[str, Any]:
    varied = {name: change.value(value) for name, value in event.items()}
    if "when" in event:
        varied["when"] = change.sql(event["when"])
    if "sql" in event:
        varied["sql"] = [change.sql(statement) for statement in event["sql"]]
    return varied
