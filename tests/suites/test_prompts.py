"""Prompts of the large suites: each is stated in several ways, which state the same facts.

Facts are compared by the rule of authoring, and names of people once more by the rows of the seed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import pytest

from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_domains.kit.schema import Kind
from opsgym_domains.suite_rows import load_suite
from opsgym_domains.variants.worlds import read_world
from opsgym_suites.kit.authoring_rules import differing_facts

LARGE = ("itsm-core", "csm-core", "calendar-core", "hr-core", "email-core", "drive-core", "teams-core", "hybrid-core")


@cache
def tasks_of(suite: str) -> Sequence[Task]:
    return load_suite(suite)


@pytest.mark.parametrize("suite", LARGE)
def test_a_task_of_a_large_suite_states_its_prompt_in_at_least_three_ways(suite: str) -> None:
    few = [task.task_id for task in tasks_of(suite) if len({task.user_prompt, *task.user_prompts}) < 3]
    assert few == []


@pytest.mark.parametrize("suite", LARGE)
def test_every_wording_of_a_prompt_states_the_same_facts(suite: str) -> None:
    """Names, numbers, dates and quoted texts; names of the seed's people also where they begin a sentence."""
    offenders = []
    for task in tasks_of(suite):
        people = {word for word in _words(task.user_prompt) if word in _names(task)}
        for wording in task.user_prompts:
            missing = {word for word in people if word.lower() not in _words(wording.lower())}
            if differing := differing_facts(task.user_prompt, wording) | missing:
                offenders.append(f"{task.task_id}: {differing}: {wording[:40]}")
    assert offenders == []


def _words(text: str) -> set[str]:
    """Words of a text; `Don` is none of `Don't`."""
    return set(re.findall(r"\b[^\W\d_]+\b(?!['\u2019]t\b)", text))


def _names(task: Task) -> frozenset[str]:
    """Given and family names of the people in a task's seeds."""
    servers = task.gym_servers_config
    seeds = ((server.domain, (server.seed_database_file or "").removeprefix("builtin:")) for server in servers)
    return frozenset().union(*(_names_in(domain, seed) for domain, seed in seeds))


@cache
def _names_in(domain: str, seed: str) -> frozenset[str]:
    loaded = registry.load(domain)
    world = read_world(loaded.metadata, loaded.seeds[seed]())
    kinds = (Kind.GIVEN_NAME, Kind.FAMILY_NAME, Kind.PERSON)
    return frozenset(name for kind in kinds for text in world.texts(kind) for name in text.split())


@pytest.mark.parametrize(
    ("wording", "differing"),
    [
        ("please give INC-000123 to ana vea by 5 May.", set()),
        ("Ana Vea gets INC-000123 by 6 May, please.", {"5", "6"}),
        ("Please give INC-000123 to Ana by 5 May.", {"Vea"}),
        ("Please give INC-000123 to Ana Vea by 5 May, 'soon'.", {"soon"}),
    ],
)
def test_a_wording_with_another_fact_is_told_apart(wording: str, differing: set[str]) -> None:
    assert differing_facts("Ana Vea: please give Ana Vea INC-000123 by 5 May.", wording) == differing
