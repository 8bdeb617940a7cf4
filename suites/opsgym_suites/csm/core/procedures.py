"""Procedures of the policy as pieces of a solution: what they read, what they write, and which mistakes suggest
themselves.

Invariant: a procedure decides nothing about which record it is done to. A task that compares figures decides that, and
`decided` joins both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, TypeVar

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, number
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.tables import Account, CustomerCase, Entitlement, User
from opsgym_suites.csm.calls import (
    find_case,
    find_case_slas,
    find_contact_user,
    find_entitlements,
    find_sla_definitions,
    find_user,
    notify,
    numbers,
    stage,
    track,
    update_case,
)
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.cases import registered_at
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.csm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, full_name
from opsgym_suites.kit.verifiers import answer_says

T = TypeVar("T")
SOON = timedelta(hours=1)
"""Time before the breach of a resolution SLA in which an escalation is for `breach_risk` [ESC-2]."""


@dataclass(frozen=True)
class Work:
    """A piece of a solution."""

    plan: str
    reads: tuple[ToolCall, ...]
    writes: tuple[ToolCall, ...]
    says: str
    """Sentence of the answer."""
    named: tuple[str, ...]
    """Patterns that an answer must contain."""
    rules: Mapping[str, str] = field(default_factory=dict)
    mistakes: Mapping[str, tuple[ToolCall, ...]] = field(default_factory=dict)
    optional: tuple[ToolCall, ...] = ()


def joined(*works: Work) -> Work:
    """Several pieces as one."""
    return Work(
        " ".join(work.plan for work in works),
        tuple(without_repetitions(made for work in works for made in work.reads)),
        tuple(made for work in works for made in work.writes),
        " ".join(work.says for work in works),
        tuple(pattern for work in works for pattern in work.named),
        {tool: rule for work in works for tool, rule in work.rules.items()},
        {label: calls for work in works for label, calls in work.mistakes.items()},
        tuple(made for work in works for made in work.optional),
    )


def without_repetitions(calls: Iterable[ToolCall]) -> list[ToolCall]:
    """Calls, each once, in order."""
    unique: list[ToolCall] = []
    for made in calls:
        if made not in unique:
            unique.append(made)
    return unique


# --- procedures ----------------------------------------------------------------------------------------------------


def manager_of(records: DeskRecords, case: CustomerCase) -> User:
    """The only active manager of a case's group."""
    (manager,) = records.managers(case)
    return manager


def _managers_read(records: DeskRecords, case: CustomerCase) -> tuple[ToolCall, ...]:
    members = records.members(records.group_of(case))
    return (
        call("list_group_members", group_id=case.assignment_group_id),
        *(call("list_users", user_id=user.user_id) for user in members if user.role == "manager"),
    )


def taken_up(records: DeskRecords, case: CustomerCase, hand: User | None = None) -> Work:
    """A new case is taken up, by the active manager of its group if no one is named; a covered one gets its SLAs."""
    user, covered = hand or manager_of(records, case), records.covered(case)
    definitions = records.sla_definitions(case.priority) if covered else []
    other = "high" if case.priority != "high" else "moderate"
    return Work(
        "Take the case up: assignee and in_progress in one call (CAS-5); both SLAs from its registration if it is "
        "covered (CAS-4, SLA-1).",
        (
            find_case(case),
            *(
                (
                    find_user(user),
                    call("check_user_membership", user_id=user.user_id, group_id=case.assignment_group_id),
                )
                if hand
                else _managers_read(records, case)
            ),
            find_entitlements(case),
            call("find_contracts", account_id=case.account_id, status="active"),
            *([find_sla_definitions(case.priority)] if covered else []),
        ),
        (
            update_case(case, state="in_progress", assigned_to=user.user_id),
            *(track(case, definition, registered_at(case)) for definition in definitions),
        ),
        f"{case.number} is in progress with {full_name(user)}.",
        (case.number,),
        {"update_case": "CAS-5"},
        {"changes the priority": (update_case(case, priority=other),)},
        () if covered else (notify(case, records.user_of(records.contact_of(case)), "next_steps"),),
    )


def parked(records: DeskRecords, case: CustomerCase) -> Work:
    """A case waits for its customer."""
    contact = records.contact_of(case)
    paused = records.pausable_slas(case, "in_progress")
    return Work(
        "Set the case to pending, pause the SLA that pauses, remind its contact (CAS-6, SLA-4).",
        (find_case(case), find_case_slas(case), find_contact_user(contact)),
        (
            update_case(case, state="pending"),
            *(stage(sla, "paused") for sla in paused),
            notify(case, records.user_of(contact), "reminder"),
        ),
        f"{case.number} is pending.",
        (case.number,),
        {"update_case": "CAS-6", "update_case_sla_details": "SLA-4", "send_notification": "CAS-6"},
        {"sends an update as well": (notify(case, records.user_of(contact), "update"),)},
    )


def reminded(records: DeskRecords, cases: Sequence[CustomerCase]) -> Work:
    """The contacts of cases get another reminder."""
    contacts = [records.contact_of(case) for case in cases]
    return Work(
        "Remind the contact of each of these cases (NTF-1, NTF-3).",
        (*map(find_case, cases), *map(find_contact_user, contacts)),
        tuple(
            notify(case, records.user_of(contact), "reminder") for case, contact in zip(cases, contacts, strict=True)
        ),
        f"Reminded: {numbers(cases)}.",
        tuple(case.number for case in cases),
        {"send_notification": "NTF-1, NTF-3"},
        {"has one go on": (update_case(cases[0], state="in_progress"),)},
    )


def reason_of(records: DeskRecords, case: CustomerCase, otherwise: str) -> str:
    """The reason of an escalation that is for no standstill [ESC-2]."""
    now = records.world.now
    for sla in records.running_slas(case):
        definition = next(row for row in records.sla_definitions(case.priority) if row.metric == "resolution")
        due = sla.breach_time
        if sla.sla_def_id == definition.sla_def_id and due is not None and now <= due <= now + SOON:
            return "breach_risk"
    levels = {row.support_level for row in records.world.all(Entitlement, account_id=case.account_id, active=True)}
    return "vip" if "enterprise" in levels else otherwise


def escalated(records: DeskRecords, case: CustomerCase, otherwise: str = "customer_request") -> Work:
    """A case is escalated, for `otherwise` unless another reason comes first."""
    reason, managers = reason_of(records, case, otherwise), records.managers(case)
    wrong = "urgency" if reason != "urgency" else "customer_request"
    contact = records.user_of(records.contact_of(case))
    return Work(
        f"Escalate it for {reason}, the first reason that applies (ESC-1, ESC-2), and alert the active managers of "
        "its group (ESC-3).",
        (find_case(case), find_case_slas(case), find_entitlements(case), *_managers_read(records, case)),
        (
            update_case(case, escalation=True, escalation_reason=reason),
            *(notify(case, user, "alert") for user in managers),
        ),
        f"{case.number} is escalated for {reason}.",
        (case.number,),
        {"update_case": "ESC-1, ESC-2", "send_notification": "ESC-3"},
        {
            "takes another reason": (update_case(case, escalation_reason=wrong),),
            "alerts the contact too": (notify(case, contact, "alert"),),
        },
    )


def reprioritised(records: DeskRecords, case: CustomerCase, priority: str) -> Work:
    """A covered case in work gets another priority, and other SLAs from now on."""
    now = records.world.now
    running = records.running_slas(case)
    return Work(
        "Change the priority, cancel the SLAs of the old one, start both of the new one as of now (SLA-1, SLA-3).",
        (find_case(case), find_case_slas(case), find_entitlements(case), find_sla_definitions(priority)),
        (
            update_case(case, priority=priority),
            *(stage(sla, "canceled") for sla in running),
            *(track(case, definition, now) for definition in records.sla_definitions(priority)),
        ),
        f"{case.number} has priority {priority}.",
        (case.number,),
        {"update_case": "CAS-2", "update_case_sla_details": "SLA-3"},
        {
            "escalates it": (update_case(case, escalation=True, escalation_reason="urgency"),),
            "starts a third one": (track(case, records.sla_definitions(priority)[0], now),),
        },
    )


def suspended(records: DeskRecords, firm: Account) -> Work:
    """The active support contract of an account is suspended, and its entitlements with it."""
    contract = records.contract(firm)
    entitlements = records.entitlements(contract, active=True)
    return Work(
        "Suspend the support contract, and deactivate its entitlements (CON-2).",
        (
            call("find_contracts", account_id=firm.account_id, status="active"),
            call("find_entitlements", account_id=firm.account_id, active=True),
        ),
        (
            call("update_contract", contract_id=contract.contract_id, status="suspended"),
            *(call("update_entitlement", entitlement_id=row.entitlement_id, active=False) for row in entitlements),
        ),
        f"The support contract of {firm.name} is suspended.",
        (firm.name,),
        {"update_contract": "CON-2", "update_entitlement": "CON-2"},
        {"lets one go on": (call("update_entitlement", entitlement_id=entitlements[0].entitlement_id, active=True),)},
    )


# --- a figure decides ----------------------------------------------------------------------------------------------


def decided(
    world: World,
    *,
    slug: str,
    actor: str,
    prompt: str,
    question: str,
    reads: Sequence[ToolCall],
    work: Work,
    instead: Mapping[str, Work],
    shown: Sequence[float] = (),
    access: Access = Access.PUBLISHED,
    tools: Sequence[str] = (),
    also_named: str = "",
) -> Draft:
    """A task in which something that is read first decides which work is done.

    Args:
        world: The seed's rows.
        slug: Last part of the task id.
        actor: Name of the acting user.
        prompt: What the user says.
        question: Line of the plan about what decides.
        reads: Calls that show it.
        work: What is to be done then.
        instead: What an agent does who decides otherwise, by a label for the mistake.
        shown: Whole figures that the answer must state.
        access: Whether the server enforces the process.
        tools: Further tools of the oracle set.
        also_named: Sentence of the answer with these figures.
    """
    acting = world.user(actor)
    looked = (find_user(acting), *without_repetitions([*reads, *work.reads]))
    patterns = [*work.named, *(number(int(figure)) for figure in shown)]
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(f"Look up {actor}. {question}", work.plan, "Leave all other records as they are (ID-4)."),
        gold=(*looked, *work.writes),
        answer=f"{work.says} {also_named}".strip(),
        verifiers=(
            answer_says("names_what_was_done", "The answer names what was done [REF-3]", all_of(patterns)),
        ),
        tools=("search_cases", "find_case_slas", "find_notifications", "list_users", *tools),
        access=access,
        mistakes=work.mistakes,
        negative_trajectories={
            label: NegativeTrajectory((find_user(acting), *reads, *other.reads, *other.writes), other.says)
            for label, other in instead.items()
        },
    )  # fmt: skip
    return with_verifiers(world, draft, rules=work.rules, optional=work.optional)


@dataclass(frozen=True)
class Comparison(Generic[T]):
    """A task in which the highest or the lowest of several figures decides whom the work is about."""

    slug: str
    actor: str
    prompt: str
    question: str
    candidates: Callable[[World], Sequence[T]]
    figure: Callable[[World, T], float]
    counted: Callable[[World, Sequence[T]], Sequence[ToolCall]]
    """Calls that show the figures."""
    work: Callable[[DeskRecords, T], Work]
    lowest: bool = False
    access: Access = Access.PUBLISHED
    tools: tuple[str, ...] = ()


def compared(world: World, scene: Comparison[T]) -> Draft:
    """A task whose figures are compared.

    Raises:
        ValueError: Two candidates share the figure that decides.
    """
    records, sign = DeskRecords(world), -1 if scene.lowest else 1
    candidates = scene.candidates(world)
    ranked = sorted(candidates, key=lambda one: sign * scene.figure(world, one), reverse=True)
    figures = [scene.figure(world, one) for one in ranked]
    if figures[0] == figures[1]:
        raise ValueError(f"{scene.slug}: two candidates have the figure {figures[0]}")
    return decided(
        world,
        slug=scene.slug,
        actor=scene.actor,
        prompt=scene.prompt,
        question=scene.question,
        reads=scene.counted(world, candidates),
        work=scene.work(records, ranked[0]),
        instead={"takes the other one": scene.work(records, ranked[-1])},
        access=scene.access,
        tools=scene.tools,
    )
