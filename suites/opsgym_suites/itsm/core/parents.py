"""Tasks about children that hang under the wrong incident, or under one that goes away, and about known problems.

Invariant: which incidents belong together shows in their callers, in their groups and in the problems on file.
"""

from __future__ import annotations

from collections.abc import Iterable

from opsgym_api.tasks.answer_patterns import all_of, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.priority_matrix import priority_of
from opsgym_domains.itsm.tables import ChildIncident, ConfigurationItem, Incident, Location, Problem
from opsgym_suites.itsm.calls import (
    affects,
    articles_of,
    find_incident,
    find_user,
    notify,
    numbers,
    start_sla,
    suggest,
    unlink_article,
    update_incident,
)
from opsgym_suites.itsm.core.messages import reports_of
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution, call
from opsgym_suites.kit.verifiers import Has, HasAll, answer_refuses, answer_says


def unlink(parent: Incident, child: Incident) -> ToolCall:
    """Call that removes the link from a parent to a child."""
    return call("remove_child_incident", parent_incident=parent.incident_id, child_incident=child.incident_id)


def relink(link: ChildIncident, parent: Incident) -> ToolCall:
    """Call that hangs the child of a link under another parent."""
    return call(
        "update_child_incident",
        child_incident_mapping_id=link.child_incident_mapping_id,
        parent_incident=parent.incident_id,
        child_incident=link.child_incident,
    )


def children_of(parent: Incident) -> ToolCall:
    """Call that lists the links of a parent."""
    return call("list_child_incidents", parent_incident=parent.incident_id)


# --- cards that are not found ---------------------------------------------------------------------------------------


def cards(world: World) -> Iterable[Draft]:
    """Reports of cards that are not found: some are of another fault, or all of them are of none."""
    records = CompanyRecords(world, "Mirelle Botanics")
    parent = records.open_reports("Card is not found at the till")[0]
    links = world.all(ChildIncident, parent_incident=parent.incident_id)
    children = sorted(
        (world.one(Incident, incident_id=link.child_incident) for link in links), key=lambda row: row.incident_id
    )
    yield _other_site(world, records, parent, children)
    yield _dissolved(world, records, parent, children)
    yield _first_of_its_own(world, records, parent, children)


def _other_site(world: World, records: CompanyRecords, parent: Incident, children: list[Incident]) -> Draft:
    """Those whose callers work at one site are another fault; the oldest of them becomes their parent."""
    actor, site = records.person("Sana Qureshi"), records.named(Location, "Fulfilment Centre")
    first, *others = [case for case in children if records.caller(case).location_id == site.location_id]
    staying, hint = next(case for case in children if case not in (first, *others)), "Hold the card a little away."
    draft = Draft(
        slug="cards-of-the-fulfilment-centre",
        actor=actor,
        prompt=(
            f"Under {parent.number} hang reports that have nothing to do with it: people at the Fulfilment Centre hold "
            "the card too close, that is a fault of its own with the reader there. Sort that out; theirs belong "
            "together in the way that our rules describe, and are no longer part of the old one. The rest stays. They "
            f"can go on meanwhile, so an update tells each of those callers '{hint}'"
        ),
        plan=(
            "Look up Sana Qureshi, the parent, the links to its children and the children.",
            "Look up the callers and the site: two of them work there.",
            "The older of the two becomes a parent: remove its link and its parent.",
            "Hang the other one under it, in the link and in the incident (INC-11).",
            "Send an update about each of the two to its caller (NTF-3).",
        ),
        gold=(
            find_user(actor),
            find_incident(parent),
            children_of(parent),
            *reports_of(children, "Card is not found"),
            call("find_location_by_given_name", name=site.name),
            unlink(parent, first),
            update_incident(first, parent_incident=""),
            *(relink(records.link(case), first) for case in others),
            *(update_incident(case, parent_incident=first.incident_id) for case in others),
            *(
                notify(case, records.caller(case), "update", f"{case.number}: until the reader is repaired", hint)
                for case in (first, *others)
            ),
        ),
        answer=f"{first.number} stands alone and has {numbers(others)} as its child; the others stay.",
        verifiers=(answer_says("names_the_new_parent", "The answer names it [REF-3]", first.number),),
        tools=("find_parent_incident", "add_child_incident", "list_users", "find_incident_by_id"),
        mistakes={
            "takes one of another site along": (unlink(parent, staying),),
            "tells one of another site": (
                notify(staying, records.caller(staying), "update", f"{staying.number}: card", hint),
            ),
            "changes its group": (
                update_incident(first, assignment_group=records.team("Workshop Field Team").group_id),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "remove_child_incident": "INC-11",
            "update_child_incident": "INC-11",
            "update_incident": "INC-11",
            "send_notification": "NTF-2, NTF-3",
        },
        expect={"send_notification": {"message": Has(hint)}},
    )


def _dissolved(world: World, records: CompanyRecords, parent: Incident, children: list[Incident]) -> Draft:
    """All come out; who works on several of one caller's hears it once a report."""
    actor, note = records.person("Sana Qureshi"), "Not the same fault after all."
    urgent = [case for case in children if case.urgency == "high"]
    draft = Draft(
        slug="cards-are-no-common-fault",
        actor=actor,
        prompt=(
            f"I looked at the till in Lille: {parent.number} is a scratched card, so it is not the fault of what we "
            f"put under it. Take all of it out again, with the work note '{note}' in each. Those with urgency high "
            "I do today, so their callers get an update that says 'It is looked at today.', the others nothing. The "
            "articles linked to them (screens, printing!) have nothing to do with cards, unlink those. One person "
            "reported two of them: who is that?"
        ),
        plan=(
            "Look up Sana Qureshi, the parent, its links and its children with their callers.",
            "Remove each link, clear the parent and append the note.",
            "Send an update about each with urgency high; one caller has two of them, one message for each incident.",
            "Look up the articles linked to each child, and remove these links.",
        ),
        gold=(
            find_user(actor),
            find_incident(parent),
            children_of(parent),
            *reports_of(children, "Card is not found"),
            *(articles_of(case) for case in children),
            *(unlink(parent, case) for case in children),
            *(unlink_article(link) for link in records.articles(*children)),
            *(update_incident(case, parent_incident="", worknotes=note) for case in children),
            *(
                notify(case, records.caller(case), "update", f"{case.number}: today", "It is looked at today.")
                for case in urgent
            ),
        ),
        answer=f"{numbers(children)} have no parent any more. Clara Girard reported two of them.",
        verifiers=(answer_says("names_the_person", "The answer names the person [REF-3]", term("Girard")),),
        tools=("find_parent_incident", "update_child_incident", "list_users", "find_incident_by_id"),
        mistakes={
            "tells one that can wait": (
                notify(
                    next(case for case in children if case not in urgent),
                    records.caller(next(case for case in children if case not in urgent)),
                    "update",
                    f"{next(case for case in children if case not in urgent).number}: today",
                    "It is looked at today.",
                ),
            ),
            "notes it in the parent": (update_incident(parent, worknotes=note),),
            "unlinks the parent's article": tuple(unlink_article(link) for link in records.articles(parent)),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "remove_child_incident": "INC-11",
            "update_incident": "INC-11",
            "send_notification": "NTF-2, NTF-3",
            "remove_knowledge_link_to_incident": "ID-4",
        },
        expect={"send_notification": {"message": Has("It is looked at today.")}},
    )


def _first_of_its_own(world: World, records: CompanyRecords, parent: Incident, children: list[Incident]) -> Draft:
    """A call about one report: what it hangs under, who has that, and what that means for its own levels."""
    actor = records.person("Pauline Rey")
    child = next(case for case in children if case.urgency == "medium" and case is not children[0])
    caller, levels = records.caller(child), {"impact": "medium", "urgency": "high", "priority": "high"}
    switch = records.named(ConfigurationItem, "Warehouse switch east")
    draft = Draft(
        slug="card-reader-stops-the-counter",
        actor=actor,
        prompt=(
            f"{caller.first_name} {caller.last_name} on the phone about the card that is not found: the whole counter "
            "cannot work now, five colleagues. If that report still hangs under another one, take it out, it is worse "
            "than the rest; bring its levels in line, and let the same people know whom our rules would tell if it had "
            "just come in like that. Clocks as they have to be. She says that the reader has no link to the switch at "
            "her site, so that one belongs into the report's list of affected devices."
        ),
        plan=(
            f"Look up Pauline Rey, {caller.last_name}, the report, and what it hangs under.",
            "Remove the link and clear the parent.",
            "A team cannot work: impact medium, urgency high, priority high (INC-1, INC-2).",
            "Start both SLAs for high from the report (SLA-1); only critical ones are reported to anyone (NTF-4).",
            "Find the switch at the caller's site, and link it as affected.",
        ),
        gold=(
            find_user(actor),
            find_user(caller),
            call("list_incidents", called_id=caller.user_id),
            call("find_parent_incident", child_incident=child.incident_id),
            call("find_sla_definitions", applies_to_priority="high", active=True),
            call("find_configuration_items", location_id=caller.location_id),
            unlink(parent, child),
            update_incident(child, parent_incident="", **levels),
            *(
                start_sla(child, records.sla_definition("high", metric), records.reported_at(child))
                for metric in ("response", "resolution")
            ),
            affects(child, switch),
        ),
        answer=f"{child.number} stands alone with priority high and both SLAs; no message was due for that.",
        verifiers=(answer_says("names_it", "The answer names the incident and its priority [REF-3]", child.number),),
        tools=("list_child_incidents", "update_child_incident", "send_notification", "get_user_using_email"),
        mistakes={
            "alerts the manager": (
                notify(child, records.person("Amara Diallo"), "alert", f"{child.number} is high", "It is high."),
            ),
            "raises the parent as well": (update_incident(parent, **levels),),
            "names the dock as well": (affects(child, records.named(ConfigurationItem, "Picking tablet dock")),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "remove_child_incident": "INC-11",
            "update_incident": "INC-1, INC-2",
            "link_new_incident_sla": "SLA-1",
            "link_affected_ci_to_incident": "LKP-1",
        },
    )


# --- a parent that goes away ----------------------------------------------------------------------------------------


def lamps(world: World) -> Iterable[Draft]:
    """The parent of the red lamps is withdrawn; a child of a closed parent is final."""
    records = CompanyRecords(world, "Halden Freight")
    yield _withdrawn_parent(world, records)
    yield _final_child(world, records)


def _withdrawn_parent(world: World, records: CompanyRecords) -> Draft:
    actor, last = records.person("Signe Aaberg"), records.open_reports("Signal lamp of a dock stays red")[-1]
    parent = next(
        row for row in records.open_reports("Signal lamp") if world.all(ChildIncident, parent_incident=row.incident_id)
    )
    links = world.all(ChildIncident, parent_incident=parent.incident_id)
    first, *others = sorted(
        (world.one(Incident, incident_id=link.child_incident) for link in links), key=lambda row: row.incident_id
    )
    group, notes = first.assignment_group, "Withdrawn by the caller."
    moved = {case.incident_id: {} if case.assignment_group == group else {"assignment_group": group} for case in others}
    draft = Draft(
        slug="parent-of-the-red-lamps-is-withdrawn",
        actor=actor,
        prompt=(
            f"{parent.number} was withdrawn by its caller, someone had hung a jacket over the sensor. Cancel it, "
            f"close note '{notes}' The red lamps under it are real, though: they must not hang on a canceled one, so "
            "take the next to be their parent, as our rules choose one, and tie the rest to that. What was never "
            "among them is not to be drawn in now. And someone has linked articles on phones and leavers: take those "
            "off the lamps that stay with us, what is over keeps what it has."
        ),
        plan=(
            "Look up Signe Aaberg, the parent, its links and its children.",
            "Cancel the parent with the note.",
            "The oldest child becomes the parent: remove its link and its parent.",
            "Hang the others under it, with its group (INC-11); one is in another group.",
            "Look up the articles linked to the children, and remove these links; the parent is final (INC-10).",
        ),
        gold=(
            find_user(actor),
            find_incident(parent),
            children_of(parent),
            *(call("find_incident_by_id", incident_id=case.incident_id) for case in (first, *others)),
            *(articles_of(case) for case in (first, *others)),
            update_incident(parent, status="canceled", close_notes=notes),
            unlink(parent, first),
            update_incident(first, parent_incident=""),
            *(relink(records.link(case), first) for case in others),
            *(update_incident(case, parent_incident=first.incident_id, **moved[case.incident_id]) for case in others),
            *(unlink_article(link) for link in records.articles(first, *others)),
        ),
        answer=f"{parent.number} is canceled; {first.number} is the parent of {numbers(others)} now.",
        verifiers=(
            answer_says(
                "names_parent_and_children",
                "The answer names them [REF-3]",
                all_of(case.number for case in (first, *others)),
            ),
        ),
        tools=("find_parent_incident", "add_child_incidents", "list_incidents", "list_group_members"),
        mistakes={
            "unlinks the canceled one's": tuple(unlink_article(link) for link in records.articles(parent)),
            "draws another one in": (update_incident(last, parent_incident=first.incident_id),),
            "tells a caller": (
                notify(first, records.caller(first), "update", f"{first.number}: lamp", "It is the first one now."),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "remove_child_incident": "INC-11",
            "update_child_incident": "INC-11",
            "update_incident": "INC-10, INC-11",
            "remove_knowledge_link_to_incident": "INC-10, ID-4",
        },
        expect={"update_incident": lambda row: {"close_notes": Has(notes)} if row.key == parent.incident_id else {}},
    )


def _final_child(world: World, records: CompanyRecords) -> Draft:
    actor = records.person("Ebba Nyholm")
    link = next(
        link
        for link in reversed(world.all(ChildIncident))
        if (row := world.one(Incident, incident_id=link.child_incident)).status == "closed"
        and row.org_id == records.org_id
    )
    child = world.one(Incident, incident_id=link.child_incident)
    parent = world.one(Incident, incident_id=link.parent_incident)
    looked = (
        find_user(actor),
        find_incident(child),
        call("find_parent_incident", child_incident=child.incident_id),
    )
    return with_verifiers(
        world,
        Draft(
            slug="refuse-to-take-a-closed-child-out",
            actor=actor,
            prompt=(
                f"For the statistics: {child.number} should never have been a child of another report. Take it out "
                "there, it has to stand alone, in the list of links and in the incident itself."
            ),
            plan=(
                "Look up Ebba Nyholm, the incident and its parent: the incident is closed.",
                "Closed incidents are final (INC-10); clearing the parent would change it.",
                "Change nothing, the link included (REF-1), and say why.",
            ),
            gold=looked,
            answer=f"I changed nothing: {child.number} is closed, and closed incidents are final.",
            verifiers=answer_refuses(r"\b(closed|final)\b", subject_pattern=child.number),
            feasible=False,
            evidence=(child, link),
            tools=("remove_child_incident", "update_child_incident", "update_incident", "list_child_incidents"),
            mistakes={
                "clears the parent": (update_incident(child, parent_incident=""),),
                "turns the link round": (
                    call(
                        "update_child_incident",
                        child_incident_mapping_id=link.child_incident_mapping_id,
                        parent_incident=child.incident_id,
                        child_incident=parent.incident_id,
                    ),
                ),
            },
            negative_trajectories={
                "takes the link away": NegativeTrajectory((*looked, unlink(parent, child)), "It stands alone now."),
            },
        ),
    )


# --- problems that no one tied their reports to --------------------------------------------------------------------


def untied(world: World) -> Iterable[Draft]:
    """Reports of a problem on file are tied to it, and its levels follow from them."""
    yield _remote_access(world)
    yield _order_lists(world)


def _levels(cases: list[Incident]) -> dict[str, str]:
    """Levels that a problem gets from its incidents."""
    order = ("high", "medium", "low")
    impact, urgency = (min((getattr(case, name) for case in cases), key=order.index) for name in ("impact", "urgency"))
    return {"impact": impact, "urgency": urgency, "priority": priority_of(impact, urgency)}


def _remote_access(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, problem = records.person("Ebba Nyholm"), world.fixture(Problem, "remote-access")
    cases, first = records.open_reports("Remote access ends"), records.open_reports("Remote access ends")[0]
    moved = {name: value for name, value in _levels(cases).items() if getattr(problem, name) != value}
    other = world.fixture(Problem, "customs-timeouts")
    draft = Draft(
        slug="remote-access-gets-its-reports",
        actor=actor,
        prompt=(
            "We have had a problem on file for weeks about remote access that ends too early, and no report is tied "
            "to it. Find it and our open incidents about that, and connect them. It started from the oldest of them. "
            "Its levels were a guess of mine; they should be what the rules make of its incidents. As the cause is "
            "found now it moves on to root cause."
        ),
        plan=(
            "Look up Ebba Nyholm, the problems on file and the incidents about remote access.",
            "Name the problem in each open one of the organisation (PRB-1).",
            "Set original task, levels and status of the problem in one call (PRB-2).",
        ),
        gold=(
            find_user(actor),
            call("list_problems", category="network"),
            call("list_incidents", short_description="Remote access"),
            *(update_incident(case, problem=problem.problem_id) for case in cases),
            call(
                "update_problem",
                problem_id=problem.problem_id,
                original_task=first.incident_id,
                status="root_cause",
                **moved,
            ),
        ),
        answer=f"{problem.number} is in root_cause with {numbers(cases)} and their levels.",
        verifiers=(answer_says("names_the_problem", "The answer names the problem [REF-3]", problem.number),),
        tools=("find_problem_by_number", "get_problems_assigned_to", "create_problem", "find_incident_by_number"),
        mistakes={
            "puts one on hold": (update_incident(first, status="on_hold", on_hold_reason="Awaiting Problem"),),
            "moves another problem on": (call("update_problem", problem_id=other.problem_id, urgency="low"),),
        },
    )
    return with_verifiers(
        world, draft, rules={"update_incident": "PRB-1, INC-10", "update_problem": "PRB-1, PRB-2, PRB-3"}
    )


def _order_lists(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, problem = records.person("Yara Haidar"), world.fixture(Problem, "tablet-order-list")
    cases = records.open_reports("Order list loads slowly")
    begun = [case for case in cases if case.status == "in_progress"]
    unbegun = next(case for case in cases if case not in begun)
    moved = {name: value for name, value in _levels(cases).items() if getattr(problem, name) != value}
    text, article = problem.workaround or "", records.article("Picking on paper")
    draft = Draft(
        slug="order-lists-wait-for-their-problem",
        actor=actor,
        prompt=(
            "Slow order lists on the tablets: there is a problem of mine on file about that, with a way to live with "
            "it. All open incidents about it should name it. Those that someone is working on wait for it from now on, "
            "and their callers hear that in one message together with the workaround; those that wait for their "
            "callers' answer go on waiting for that. And the problem's levels, please, by its incidents. For us, what "
            "waits for the problem also gets our article about picking on paper linked, as a suggestion."
        ),
        plan=(
            "Look up Yara Haidar, her problems, and the incidents about slow order lists.",
            "Name the problem in all open ones; put the one in progress on hold for it (INC-6).",
            "Send its caller one update with what it waits for and the recorded workaround (PRB-4, NTF-2).",
            "Set the problem's levels to the highest of its incidents (PRB-2).",
            "Link the article to the incident on hold for the problem; it is internal, so no message has it (KB-1).",
        ),
        gold=(
            find_user(actor),
            call("list_problems", assigned_to=actor.user_id),
            call("list_incidents", short_description="Order list loads slowly"),
            call("retrieve_knowledge_articles", title="Picking on paper"),
            *(call("get_user", user_id=case.caller_id) for case in begun),
            *(
                update_incident(case, problem=problem.problem_id, status="on_hold", on_hold_reason="Awaiting Problem")
                for case in begun
            ),
            *(update_incident(case, problem=problem.problem_id) for case in cases if case not in begun),
            *(
                notify(
                    case,
                    records.caller(case),
                    "update",
                    f"{case.number} waits for {problem.number}",
                    f"Your incident waits for {problem.number}. Until then: {text}",
                )
                for case in begun
            ),
            call("update_problem", problem_id=problem.problem_id, **moved),
            *(suggest(case, article) for case in begun),
        ),
        answer=f"{numbers(cases)} name {problem.number}, which is {moved['priority']}; {numbers(begun)} waits for it.",
        verifiers=(
            answer_says(
                "names_problem_and_priority",
                "The answer names both [REF-3]",
                all_of([problem.number, term(moved["priority"])]),
            ),
        ),
        tools=("find_problem_by_number", "get_problems_assigned_to", "create_problem", "find_notifications"),
        mistakes={
            "tells one that waits for its caller": (
                notify(unbegun, records.caller(unbegun), "update", f"{unbegun.number}: workaround", text),
            ),
            "suggests it to that as well": (suggest(unbegun, article),),
            "lets that wait for the problem too": (update_incident(unbegun, on_hold_reason="Awaiting Problem"),),
        },
        also={
            "in two calls": Solution(
                answer=f"{problem.number} has {moved['priority']} and is named in {numbers(cases)}."
            )
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_incident": "PRB-1, INC-6",
            "update_problem": "PRB-2",
            "send_notification": "INC-6, PRB-4, NTF-2",
            "link_knowledge_to_incident": "KB-1",
        },
        expect={"send_notification": {"message": HasAll((text,))}},
    )


FAMILIES = (cards, lamps, untied)
