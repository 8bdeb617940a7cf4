"""Tasks over several days, and with messages or amendments in mid-task, in which figures or deadlines decide.

Invariant: what time does is derived from the world (`until`), and what a new rule or message changes is stated once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, number
from opsgym_api.tasks.event import Amendment, Event
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.deadlines import CLOSED_AFTER
from opsgym_domains.csm.rules import QUIET_BEFORE_CLOSING
from opsgym_domains.csm.tables import CaseSla, CustomerCase
from opsgym_suites.csm.calls import (
    find_account,
    find_contact_user,
    find_team,
    find_user,
    notify,
    numbers,
    timestamp,
    update_case,
)
from opsgym_suites.csm.core.contact_work import suggested, talked
from opsgym_suites.csm.core.procedures import Work, decided, escalated, joined, parked, reprioritised, taken_up
from opsgym_suites.csm.core.several_days import morning, until
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.csm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, on_day
from opsgym_suites.kit.scenarios import FIRST_LOOK
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import at

# --- closing on two days -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Closing:
    """Resolved cases of a group are closed on a day, and those that are ripe later on another one."""

    slug: str
    actor: str
    team: str
    begins: str
    """Month, day and time of the second day."""
    first: str
    then: str
    access: Access = Access.PUBLISHED
    amendment: str | None = None
    """CAS-8 as it reads from the second day on, with seven days in place of five."""


_SEVEN = (
    "Close a case only if it is `resolved` and was not changed (`sys_updated_on`) for seven full days. To close it, "
    "set "
    "state and `closed_on`, which is the current time."
)
CLOSINGS = (
    Closing(
        "sensor-support-closes-twice", "Priya Venkat", "Sensor Support", "11-18 09:00",
        "Close what is resolved in Sensor Support and ripe for it by our rules, and only that. How many stay "
        "resolved?",
        "It is Wednesday. Sensor Support once more, please: what has ripened since Monday. And how many are resolved "
        "and not closed now?",
    ),
    Closing(
        "gateway-support-closes-late", "Callum Reid", "Gateway Support", "11-20 15:00",
        "I would like to see Gateway Support tidy: please close the resolved cases that our rules let us close today. "
        "I "
        "need the number of those that remain resolved.",
        "Friday. Same thing again for Gateway Support, by the rules that hold now. How many remain resolved "
        "this time?",
        amendment=_SEVEN,
    ),
)  # fmt: skip


def ripe(cases: Sequence[CustomerCase], now: datetime, days: int = QUIET_BEFORE_CLOSING.days) -> list[CustomerCase]:
    """Resolved cases that nothing has changed for so many days."""
    return [case for case in cases if case.sys_updated_on is not None and (now - case.sys_updated_on).days >= days]


def closings(world: World) -> Iterator[Draft]:
    """Cases ripen over the days."""
    for scene in CLOSINGS:
        yield closing(world, scene)


def closing(world: World, scene: Closing) -> Draft:
    """A task of closing on two days."""
    acting, group, end = world.user(scene.actor), world.group(scene.team), at(scene.begins)
    resolved = world.all(CustomerCase, assignment_group_id=group.group_id, state="resolved")
    first = ripe(resolved, world.now)
    left = [case for case in resolved if case not in first]
    second = ripe(left, end, 7 if scene.amendment else 5)
    early = [case for case in ripe(left, end) if case not in second]
    rest = [case for case in left if case not in second]
    assert not any(end - (case.sys_updated_on or end) > CLOSED_AFTER for case in left)
    listed = (
        call("count_case_by_state", assignment_group_id=group.group_id),
        call("search_cases", assignment_group_id=group.group_id, state="resolved"),
    )
    day_one = (find_user(acting), find_team(group), *listed, *(_close(case, world.now) for case in first))
    day_two = on_day(2, *listed, *(_close(case, end) for case in second))
    answer = f"Closed today: {numbers(second) or 'none'}. {len(rest)} remain resolved."
    wrong = early or rest
    draft = Draft(
        slug=scene.slug,
        actor=acting,
        prompt=scene.first,
        plan=(
            f"Look up {scene.actor} and the group; list its resolved cases.",
            "Close those without a change for five full days, with closed_on (CAS-8); count the others.",
            "On the second day list them again, and close by the rule as it reads then.",
        ),
        gold=(*day_one, *day_two),
        day_answers=(f"{len(first)} cases are closed, {len(left)} remain resolved.",),
        answer=answer,
        verifiers=(
            answer_says("counts_the_rest_at_first", "The first answer says how many are left [REF-3]",
                number(len(left)), day=1),
            answer_says("counts_the_rest", "The answer says how many are left [REF-3]", number(len(rest))),
        ),
        tools=("get_cases_assigned_to", "update_case", "send_notification"),
        access=scene.access,
        events=tuple(
            [Event(at=end.isoformat(), amend=Amendment(rule="CAS-8", text=scene.amendment))] if scene.amendment else []
        ),
        days=(morning(scene.then, end),),
        mistakes={"closes a fresh one": on_day(2, _close(wrong[0], end))},
        negative_trajectories={
            "closes nothing on the second day": NegativeTrajectory((*day_one, *day_two[:2]), answer),
            "closes by the rule of the first day": NegativeTrajectory(
                (*day_one, *day_two, *on_day(2, *(_close(case, end) for case in wrong))), answer
            ),
        }
        if second
        else {
            "closes by the rule of the first day": NegativeTrajectory(
                (*day_one, *day_two, *on_day(2, *(_close(case, end) for case in wrong))), answer
            ),
        },
    )  # fmt: skip
    return with_verifiers(world, draft, until(world, end, handled=first), rules={"update_case": "CAS-8"})


def _close(case: CustomerCase, time: datetime) -> ToolCall:
    return update_case(case, state="closed", closed_on=timestamp(time))


# --- one day this, another day that --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sequel:
    """A piece of work on the first day, and on the second one what its effect on a figure asks for."""

    slug: str
    actor: str
    begins: str
    first: str
    then: str


def sequels(world: World) -> Iterator[Draft]:
    """What was done on the first day decides the second."""
    yield _lighter_hand(world)


def _in_two_days(
    world: World, scene: Sequel, one: Work, two: Work, other: Work, reads: Sequence[ToolCall], again: Sequence[ToolCall]
) -> Draft:
    """Both pieces, one a day; `other` is what an agent does on the second day who does not look again."""
    acting, end = world.user(scene.actor), at(scene.begins)
    records = DeskRecords(world)
    day_one = (find_user(acting), *reads, *one.reads, *one.writes)
    day_two = on_day(2, *again, *two.reads, *two.writes)
    handled = [
        sla
        for sla in (row for case in world.all(CustomerCase) for row in records.running_slas(case))
        if any(sla.case_sla_id == made.arguments.get("case_sla_id") for made in one.writes)
    ]
    draft = Draft(
        slug=scene.slug,
        actor=acting,
        prompt=scene.first,
        plan=(f"Look up {scene.actor}.", one.plan, f"On the second day look again. {two.plan}"),
        gold=(*day_one, *day_two),
        day_answers=(one.says,),
        answer=two.says,
        verifiers=(
            answer_says("names_the_first", "The first answer names what was done [REF-3]", all_of(one.named), day=1),
            answer_says("names_the_second", "The answer names what was done [REF-3]", all_of(two.named)),
        ),
        tools=("search_cases", "find_notifications", "list_users"),
        days=(morning(scene.then, end),),
        mistakes={label: on_day(2, *calls) for label, calls in two.mistakes.items()},
        negative_trajectories={
            "does not look again": NegativeTrajectory(
                (*day_one, *on_day(2, *again, *other.reads, *other.writes)), other.says
            ),
            "leaves the second day out": NegativeTrajectory(day_one, two.says),
        },
    )
    return with_verifiers(world, draft, until(world, end, handled=handled), rules={**one.rules, **two.rules})


def load(world: World, name: str) -> int:
    """Number of a colleague's cases in progress or pending."""
    cases = world.all(CustomerCase, assigned_to=world.user(name).user_id)
    return len([case for case in cases if case.state in {"in_progress", "pending"}])


def _lighter_hand(world: World) -> Draft:
    records, names = DeskRecords(world), ("Asha Nair", "Yuki Tanabe", "Lena Fischer")
    people = [world.user(name) for name in names]
    firms = [world.account(name) for name in ("Coral Bay Fisheries", "Southern Cross Wines", "Deccan Biologics")]
    high = [world.all(CustomerCase, account_id=firm.account_id, state="new", priority="high")[0] for firm in firms]
    ginza = world.all(CustomerCase, account_id=world.account("Ginza Flowers").account_id, state="new")
    loads = {name: load(world, name) for name in names}
    light = min(names, key=lambda name: loads[name])
    after = loads | {light: loads[light] + len(ginza) + 2}
    then = min(names, key=lambda name: after[name])
    assert light != then
    counted = tuple(call("count_case_by_state", assigned_to=user.user_id) for user in people)
    scene = Sequel(
        "lightest-of-three-on-two-days",
        "Priya Venkat",
        "11-17 09:00",
        "Asha Nair, Lena Fischer and Yuki Tanabe of Sensor Support: look who has the fewest cases in progress and "
        "pending. That one takes up the new high cases of Coral Bay Fisheries and of Southern Cross Wines, and all new "
        "ones of Ginza Flowers, in full.",
        "Good morning. Today it is the new high case of Deccan Biologics. Same three people and same question, by how "
        "things stand now: the one with the fewest takes it up, in full.",
    )
    return _in_two_days(
        world,
        scene,
        joined(*(taken_up(records, case, world.user(light)) for case in (*high[:2], *ginza))),
        taken_up(records, high[2], world.user(then)),
        taken_up(records, high[2], world.user(light)),
        (*map(find_user, people), call("search_cases", state="new"), *counted),
        counted,
    )


# --- interrupted ---------------------------------------------------------------------------------------------------

_ESC_3 = (
    "When a case is escalated, send an `alert` to every active manager who is a member of its group, and an `update` "
    "to "
    "the contact of the case. Do not change the priority unless the request says otherwise."
)
_CAS_6 = "Set a case to `pending` when the customer has to act. Send its contact a `next_steps` notification."


def interrupted(world: World) -> Iterator[Draft]:
    """The user or a new rule changes the task after the first look."""
    yield _sick_colleague(world)
    yield _limit_rises(world)
    yield _contacts_hear_of_escalations(world)
    yield _other_message_for_a_wait(world)


def _after_a_look(draft: Draft, **effect: Any) -> Draft:
    """A draft in which something is said or amended after the first step."""
    return replace(draft, events=(Event(after_step=FIRST_LOOK, **effect),))


def _sick_colleague(world: World) -> Draft:
    records, names = DeskRecords(world), ("Dwight Larson", "Emi Kondo", "Owen Pryce")
    ranked = sorted(names, key=lambda name: load(world, name))
    loads = [load(world, name) for name in ranked]
    assert len(set(loads)) == len(loads), loads
    firm = world.account("Ferro Seafood")
    case = world.all(CustomerCase, account_id=firm.account_id, state="new")[0]
    people = [world.user(name) for name in names]
    further = joined(
        talked(records, case, world.user("Jonas Ekberg")), suggested(records, case, "Double trips in Route Audit")
    )
    draft = decided(
        world,
        slug="first-choice-is-ill",
        actor="Jonas Ekberg",
        prompt=(
            "Ferro Seafood has a new case about trips that the audit shows twice. Dwight Larson, Emi Kondo or Owen "
            "Pryce takes it up, the one with the fewest cases in progress and pending. I am on the phone about the "
            "shifts, so "
            "I may write again. Everything that belongs to a start, please. Before the shifts I had the contact of "
            "that case on the line, just now; we are through with it, but no one has recorded the call. And link what "
            "has been published about that product as a suggestion."
        ),
        question="Count the cases of the three by state; one of them turns out to be ill.",
        reads=(
            find_account(firm),
            call("search_cases", account_id=firm.account_id, state="new"),
            *map(find_user, people),
            *(call("count_case_by_state", assigned_to=user.user_id) for user in people),
        ),
        work=joined(taken_up(records, case, world.user(ranked[1])), further),
        instead={
            "takes the one who is ill": joined(taken_up(records, case, world.user(ranked[0])), further),
            "takes the last one": joined(taken_up(records, case, world.user(ranked[2])), further),
        },
    )
    return _after_a_look(draft, tell=f"I hear that {ranked[0]} is ill today, so that is not an option for Ferro.")


def _limit_rises(world: World) -> Draft:
    records, firm = DeskRecords(world), world.account("Anand Dairy")
    case = world.all(CustomerCase, account_id=firm.account_id, state="in_progress", priority="moderate")[0]
    breached = len(world.all(CaseSla, stage="in_progress", has_breached=True))
    assert 40 < breached <= 70
    further = joined(
        talked(records, case, world.user("Ruth Abara")), suggested(records, case, "Handling of goods at risk")
    )
    draft = decided(
        world,
        slug="limit-of-breaches-is-raised",
        actor="Ruth Abara",
        prompt=(
            "With more than forty breached SLAs in progress we do not escalate further cases; that is the number I "
            "remember, wait a moment, I ask. Count them. Up to the limit, please escalate the oldest of the moderate "
            "cases that Anand Dairy has in progress, at our own wish. Beyond it that case becomes high instead. Either "
            "way complete. What the house has published on goods at risk shall be suggested for the case as well, and "
            "the call that its contact and I have just finished shall be on record."
        ),
        question="Count the breached SLAs by stage, and find the case; the limit turns out to be another.",
        reads=(
            call("find_stage_wise_breached_case_sla_counts", stage="in_progress"),
            find_account(firm),
            call("search_cases", account_id=firm.account_id, state="in_progress"),
        ),
        work=joined(escalated(records, case, "urgency"), further),
        instead={"goes by the first number": joined(reprioritised(records, case, "high"), further)},
    )
    return _after_a_look(draft, tell="I have asked: the limit is seventy, not forty. The rest of what I wrote stands.")


def _contacts_hear_of_escalations(world: World) -> Draft:
    records, firm = DeskRecords(world), world.account("Southern Cross Wines")
    case = world.all(CustomerCase, account_id=firm.account_id, state="in_progress", priority="moderate")[0]
    contact = records.contact_of(case)
    update, work = notify(case, records.user_of(contact), "update"), escalated(records, case)
    new = replace(
        work,
        plan=f"{work.plan} The amended rule wants an update to the contact as well.",
        reads=(*work.reads, find_contact_user(contact)),
        writes=(*work.writes, update),
        mistakes={"raises it too": (update_case(case, priority="high"),)},
    )
    further = joined(talked(records, case, world.user("Asha Nair")), suggested(records, case, "How to write to us"))
    draft = decided(
        world,
        slug="escalated-under-a-new-rule",
        actor="Asha Nair",
        prompt=(
            "Southern Cross Wines asks for an escalation of their moderate case that is in progress, the humidity that "
            "is stuck. Please do it by the rules. They are being revised this morning, so mind how they read when you "
            "do it. The wish reached me by phone just now, from the contact of the case, and I said yes: that call has "
            "to be in our records. As they keep posting in the forum, also suggest our article about writing to us."
        ),
        question="Find the case; the rule about escalations is amended.",
        reads=(find_account(firm), call("search_cases", account_id=firm.account_id, state="in_progress")),
        work=joined(new, further),
        instead={"goes by the old rule": joined(work, further)},
    )
    return _after_a_look(draft, amend=Amendment(rule="ESC-3", text=_ESC_3))


def _other_message_for_a_wait(world: World) -> Draft:
    records, firm = DeskRecords(world), world.account("Ginza Flowers")
    case = world.all(CustomerCase, account_id=firm.account_id, state="in_progress")[0]
    work, contact = parked(records, case), records.user_of(records.contact_of(case))
    hint = notify(case, contact, "next_steps")
    reminder = notify(case, contact, "reminder")
    called = talked(records, case, world.user("Lena Fischer"))
    new = replace(work, writes=(*work.writes[:-1], hint), mistakes={"reminds too": (reminder,)})
    draft = decided(
        world,
        slug="waiting-under-a-new-rule",
        actor="Lena Fischer",
        prompt=(
            "The humidity of Ginza Flowers that is stuck at 99 percent, mine: they must dry the cap before I can go "
            "on. Please set the case accordingly. Today the office revises some rules, so go by what is in force when "
            "you write. Their contact and I agreed on the cap on the phone a moment ago; put this call on record, it "
            "needs no answer."
        ),
        question="Find the case; the rule about waiting is amended.",
        reads=(find_account(firm), call("search_cases", account_id=firm.account_id, state="in_progress")),
        work=joined(new, called),
        instead={"goes by the old rule": joined(work, called)},
    )
    return _after_a_look(draft, amend=Amendment(rule="CAS-6", text=_CAS_6))


FAMILIES = (closings, sequels, interrupted)
