"""What the seeds and the suite of email hold beyond what every suite proves."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from tests.suites.conftest import Gyms
from tests.suites.proofs import Case, cases_of

from opsgym_api.kinds.evalrun import Access
from opsgym_domains import registry
from opsgym_domains.difficulty import difficulty_of
from opsgym_domains.email.tables import Label, Message, User
from opsgym_suites.email.seeds import ferries_sql, ferries_world, generate_ferries, press_world
from opsgym_suites.kit.seed_sql import seed_sql
from opsgym_suites.kit.world import key_of

WORLDS = {"press": press_world, "ferries": ferries_world}


def _cases() -> list[Case]:
    return cases_of("email-core")


def test_email_seeds_of_one_description_are_equal() -> None:
    assert seed_sql(generate_ferries()) == ferries_sql()


@pytest.mark.parametrize("seed", WORLDS)
def test_email_keys_are_unique_and_nothing_is_later_than_now(seed: str) -> None:
    world = WORLDS[seed]()
    for kind in world.kinds:
        rows = world.all(kind)
        keys = [getattr(row, key_of(kind)) for row in rows]
        assert len(set(keys)) == len(keys)
        times = [getattr(row, kind.created) for row in rows] if kind.created else []
        assert max(times, default=world.now) <= world.now
    assert all(_time(row) <= world.now for row in world.all(Message))


def _time(message: Message) -> datetime:
    return datetime(1970, 1, 1) + timedelta(milliseconds=int(message.internal_date_ms or 0))  # noqa: DTZ001 - as stored


def test_one_mailbox_has_five_thousand_messages_and_the_other_world_is_smaller() -> None:
    press, ferries = press_world(), ferries_world()
    (owner,) = press.all(User, primary_email="harriet.vance@quillmark.example")
    assert len(press.all(Message, user_id=owner.id)) >= 5000
    assert 2500 <= sum(len(rows) for _name, rows in ferries.tables()) <= 10_000
    assert len({label.name for label in press.all(Label, type="user")}) >= 20


@pytest.mark.parametrize("seed", WORLDS)
def test_the_counts_of_a_mailbox_are_those_of_its_messages(seed: str) -> None:
    world = WORLDS[seed]()
    for user in world.all(User):
        rows = world.all(Message, user_id=user.id)
        assert (user.messages_total, user.threads_total) == (len(rows), len({row.thread_id for row in rows}))


@pytest.mark.parametrize("seed", WORLDS)
def test_an_email_database_has_the_rows_of_the_seed_in_every_table(gyms: Gyms, seed: str) -> None:
    gym = gyms("email")
    made = gym.database(builtin=seed)
    expected = {name: len(rows) for name, rows in WORLDS[seed]().tables()}
    counts = {name: made.value(f"SELECT COUNT(*) FROM {name}") for name in expected}
    gym.drop(made)
    assert counts == expected
    if seed == "press":
        assert min(counts.values()) > 0


def test_the_email_suite_is_large_and_uses_time() -> None:
    tasks = [case.task for case in _cases()]
    assert len(tasks) >= 70
    assert sum(case.part.seed == "ferries" for case in _cases()) >= 20
    assert sum(not task.feasible for task in tasks) >= 8
    assert sum(task.needs_clock for task in tasks) >= 15
    assert sum(bool(task.days) for task in tasks) >= 8
    changing = [
        task for task in tasks if any(event.amend or "delegates" in " ".join(event.sql) for event in task.events)
    ]
    assert len(changing) >= 4
    assert sum(task.access is Access.STRICT for task in tasks) >= 15
    steps = [task.steps or 0 for task in tasks]
    assert sum(steps) / len(steps) >= 7
    assert max(steps) >= 25


def test_tasks_with_hostile_mail_have_a_tag_and_mistakes() -> None:
    tagged = [case for case in _cases() if case.task.tags == ["hostile"]]
    assert len(tagged) >= 8
    assert tagged == [case for case in _cases() if case.draft.slug.startswith("hostile-") or case.task.tags]
    assert all(case.draft.mistakes for case in tagged)


def test_email_tasks_use_most_writing_tools() -> None:
    (some, *_) = _cases()
    used = {call.name for case in _cases() for call in case.draft.gold}
    writing = {name for name, tool in registry.tools_of(some.task).items() if tool.writes}
    assert len(used & writing) >= 28


def test_a_third_of_the_email_tasks_needs_four_writing_tools() -> None:
    estimates = [difficulty_of(case.task, registry.tools_of(case.task)) for case in _cases()]
    many = [estimate for estimate in estimates if estimate is not None and estimate.writing_tools >= 4]
    assert len(many) * 3 >= len(estimates)


def test_no_prompt_states_a_key() -> None:
    prompts = [prompt for case in _cases() for prompt in (case.task.user_prompt, *case.task.user_prompts)]
    assert not [prompt for prompt in prompts if re.search(r"[0-9a-f]{8}-[0-9a-f]{4}", prompt)]
