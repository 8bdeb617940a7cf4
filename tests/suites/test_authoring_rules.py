"""`python -m opsgym_suites` reports a task that breaks a rule of authoring, and passes those that are shipped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import opsgym_domains
from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, figure
from opsgym_api.tasks.event import Event
from opsgym_api.tasks.task import Task
from opsgym_api.tasks.verifiers import Category
from opsgym_domains.itsm.tables import Incident
from opsgym_domains.suite_rows import load_suite
from opsgym_suites.csm.authored import AUTHORED as CSM
from opsgym_suites.itsm.authored import AUTHORED as ITSM
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.kit.authoring_rules import CANARY, AuthoredTask, seed_violations, violations
from opsgym_suites.kit.drafts import call
from opsgym_suites.kit.verifiers import answer_says


@cache
def tasks() -> list[AuthoredTask]:
    return [*ITSM.tasks(), *CSM.tasks()]


def ordinary(task: AuthoredTask) -> bool:
    return task.task.domain == "itsm" and bool(task.task.feasible) and task.task.access is Access.PUBLISHED


def infeasible(task: AuthoredTask) -> bool:
    return not task.task.feasible


def strict(task: AuthoredTask) -> bool:
    return task.task.access is Access.STRICT and bool(task.draft.negative_trajectories)


def eventful(task: AuthoredTask) -> bool:
    return bool(task.task.events)


def task(authored: AuthoredTask, **changes: object) -> AuthoredTask:
    return replace(authored, task=authored.task.model_copy(update=changes))


def draft(authored: AuthoredTask, **changes: object) -> AuthoredTask:
    return replace(authored, draft=replace(authored.draft, **changes))  # type: ignore[arg-type]


def without(category: Category) -> Callable[[AuthoredTask], AuthoredTask]:
    return lambda t: task(t, verifiers=[verifier for verifier in t.task.verifiers if verifier.category is not category])


def citing(rule: str) -> Callable[[AuthoredTask], AuthoredTask]:
    return lambda t: task(t, verifiers=[v.model_copy(update={"description": f"[{rule}]"}) for v in t.task.verifiers])


def token(task_: Task) -> str:
    return next(iter((task_.gym_servers_config[0].context or {}).values()))


BROKEN: list[tuple[str, Callable[[AuthoredTask], bool], Callable[[AuthoredTask], AuthoredTask], str]] = [
    ("unknown tool", ordinary, lambda t: task(t, selected_tools=[*t.task.selected_tools, "fly"]), "unknown tools: fly"),
    ("hidden tool", ordinary, lambda t: task(t, selected_tools=t.task.selected_tools[1:]), "not selected"),
    ("wrong number of steps", ordinary, lambda t: draft(t, gold=t.draft.gold[:-1]), "calls"),
    ("writes at once", ordinary, lambda t: draft(t, gold=(call("update_incident"), *t.draft.gold)), "read before"),
    ("writes nothing", ordinary, lambda t: draft(t, gold=t.draft.gold[:1]), "writes nothing"),
    ("short plan", ordinary, lambda t: task(t, plan=["Do it."]), "fewer than two"),
    ("id in the prompt", ordinary, lambda t: task(t, user_prompt="Resolve INC_001."), "INC_001"),
    ("token in the prompt", ordinary, lambda t: task(t, user_prompt=f"I am {token(t.task)}."), "identity header"),
    (
        "token in the system prompt",
        ordinary,
        lambda t: task(t, system_prompt=t.task.system_prompt + token(t.task)),
        "secret token",
    ),
    ("long prompt", ordinary, lambda t: task(t, user_prompt="x" * 1201), "1201 characters"),
    ("side effects", ordinary, without(Category.SIDE_EFFECT), "no verifier of side effects"),
    ("nothing else", ordinary, without(Category.SIDE_EFFECT), "no state_difference verifier with nothing_else"),
    ("evidence", infeasible, lambda t: draft(t, evidence=()), "names no evidence"),
    ("refusal", infeasible, without(Category.REFUSAL), "no verifier checks the refusal"),
    ("no policy", ordinary, lambda t: task(t, system_prompt="Be kind."), "does not contain the policy"),
    ("no canary", ordinary, lambda t: task(t, system_prompt="**REF-3**"), "does not contain the canary"),
    ("no rule", ordinary, citing("none"), "no verifier cites a rule"),
    ("unknown rule", ordinary, citing("ZZZ-9"), "not in the system prompt: ZZZ-9"),
    (
        "unknown rule in the plan",
        ordinary,
        lambda t: task(t, plan=["Look it up.", "Do it (ZZZ-9)."]),
        "the plan cites rules that neither the system prompt nor an event states: ZZZ-9",
    ),
    ("strict rules", strict, lambda t: task(t, system_prompt="**REF-3**"), "enforces rules that are not"),
    ("strict without negatives", strict, lambda t: draft(t, negative_trajectories={}), "strict access, but no"),
    ("refusal by an unknown rule", strict, lambda t: draft(t, refused={0: "ZZZ-9"}), "does not enforce: ZZZ-9"),
    (
        "late event",
        eventful,
        lambda t: task(t, events=[Event(after_step=3, sql=["SELECT 1"])]),
        "first step",
    ),
    (
        "events without negatives",
        eventful,
        lambda t: draft(t, negative_trajectories={}),
        "events or several days, but no",
    ),
    (
        "figures without their nouns",
        ordinary,
        lambda t: draft(
            task(t, verifiers=[*t.task.verifiers, answer_says("both", "[REF-3]", all_of([figure(3), figure(4)]))]),
            answer="3 are open, 4 are late.",
        ),
        "3 and 4 may change places in the answer",
    ),
]


def test_the_shipped_tasks_keep_all_rules() -> None:
    assert violations(tasks()) == []


@pytest.mark.parametrize("variant", [0, 5])
@pytest.mark.parametrize("suite", ["quickstart", "hybrid-core", "email-core"])
def test_every_row_and_variant_contains_the_canary(suite: str, variant: int) -> None:
    tasks = load_suite(suite, variant)
    assert [task.task_id for task in tasks if CANARY not in task.system_prompt] == []


def test_every_policy_contains_the_canary() -> None:
    policies = [*Path(opsgym_domains.__file__).parent.glob("*/policy*.md")]
    assert len(policies) == 15
    assert [str(path) for path in policies if CANARY not in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(
    ("applies", "spoil", "problem"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN]
)
def test_a_violation_is_reported_with_the_task(
    applies: Callable[[AuthoredTask], bool], spoil: Callable[[AuthoredTask], AuthoredTask], problem: str
) -> None:
    good = next(filter(applies, tasks()))
    reported = violations([spoil(good)])
    assert any(problem in violation for violation in reported), reported
    assert all(violation.startswith(f"{good.task.task_id}: ") for violation in reported)


def test_tasks_that_repeat_each_other_are_reported() -> None:
    first, second = [task for task in tasks() if ordinary(task)][:2]
    copied = replace(second, draft=replace(first.draft, slug=second.draft.slug))
    reported = [violation for violation in violations([first, copied]) if "another task" in violation]
    assert {violation.rpartition(" the same ")[2] for violation in reported} == {"user prompt", "reference solution"}
    assert "another task has the same id" in str(violations([first, first]))


@pytest.mark.parametrize(
    ("number", "tells"), [("INC-000001", True), ("INC-002481", True), ("INC-002480", False), ("INC-000010", False)]
)
def test_a_number_that_ends_in_its_rows_id_is_reported(number: str, tells: bool) -> None:
    world = World()
    row = world.add(Incident(number=number))
    assert row.incident_id == "INC_001"
    assert [number in text for text in seed_violations(world)] == [True] * tells


def test_numbers_rise_skip_and_continue_as_the_server_continues_them() -> None:
    world = World()
    drawn = []
    for _ in range(60):
        drawn.append(world.draw_number(Incident))
        world.add(Incident(number=f"INC-{drawn[-1]:06d}"))
    steps = {later - earlier for earlier, later in pairwise(drawn)}
    assert min(steps) == 1
    assert len(steps) >= 4
    assert seed_violations(world) == []
    assert world.next_number(Incident) == drawn[-1] + 1
