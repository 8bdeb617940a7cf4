"""Tasks about several incidents: bundled under a parent, or closed."""

from __future__ import annotations

from opsgym_api.tasks.answer_patterns import all_of
from opsgym_suites.itsm.calls import find_user, update_incident
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.verifiers import (
    answer_says,
)


def bundle_checkout_reports(world: World) -> Draft:
    """Reports of one outage become children of the first of them."""
    records = CompanyRecords(world, "Mirelle Botanics")
    elise = records.person("Elise Garnier")
    parent, *children = (records.incident(f"checkout-{number}") for number in (1, 2, 3))
    till, solved = records.incident("checkout-till"), records.incident("checkout-solved")
    gold = (
        find_user(elise),
        call("list_incidents", short_description="checkout"),
        *(
            call("add_child_incident", parent_incident=parent.incident_id, child_incident=child.incident_id)
            for child in children
        ),
        *(
            update_incident(child, parent_incident=parent.incident_id, assignment_group=parent.assignment_group)
            for child in children
        ),
    )
    draft = Draft(
        slug="bundle-checkout-reports",
        actor=elise,
        prompt=(
            "Since seven this morning people keep reporting that the checkout of the webshop does not work. "
            "Please bundle what we have about that outage, so that Theo can work on one incident."
        ),
        plan=(
            "Look up Elise Garnier.",
            (
                "List incidents about the checkout. Three open ones are about this outage; the till's drawer and the "
                "voucher of last week are something else."
            ),
            "The oldest is the parent. Link the other two as its children (INC-11).",
            "Name the parent in both, and give them its group. Status, assignee and levels stay.",
        ),
        gold=gold,
        answer=f"{children[0].number} and {children[1].number} are children of {parent.number} now, in its group.",
        verifiers=(),
        mistakes={
            "bundles the till as well": (
                call("add_child_incident", parent_incident=parent.incident_id, child_incident=till.incident_id),
                update_incident(till, parent_incident=parent.incident_id),
            ),
            "bundles what was solved last week": (update_incident(solved, parent_incident=parent.incident_id),),
            "puts a child on hold": (update_incident(children[0], status="on_hold"),),
        },
    )
    return with_verifiers(world, draft)


def close_what_is_settled(world: World) -> Draft:
    """Closes the resolved incidents that may be closed."""
    records = CompanyRecords(world, "Halden Freight")
    beatriz, yusuf = records.person("Beatriz Fontes"), records.person("Yusuf Demir")
    ready = [records.incident(f"close-{number}") for number in (1, 2, 3)]
    fresh, bare = records.incident("close-fresh"), records.incident("close-bare")
    note = "Quiet for three days."
    gold = (
        find_user(beatriz),
        find_user(yusuf),
        call("list_incidents", status="resolved", resolved_by=yusuf.user_id),
        *(update_incident(incident, status="closed", close_notes=note) for incident in ready),
    )
    draft = Draft(
        slug="close-what-is-settled",
        actor=beatriz,
        prompt=(
            "Yusuf Demir has resolved a few incidents lately. Please close those of them that may be closed today, "
            f"with the close note '{note}' Tell me which ones have to stay, and why."
        ),
        plan=(
            "Look up Beatriz Fontes and Yusuf Demir.",
            "List resolved incidents that Yusuf resolved.",
            (
                "Keep those that have resolution code and notes and were resolved on 13 November at 10:00 or earlier "
                "(INC-9)."
            ),
            "Close each with the note.",
            "Name the two that stay: one was resolved yesterday, one has neither code nor notes.",
        ),
        gold=gold,
        answer=(
            f"Closed: {', '.join(incident.number for incident in ready)}. {fresh.number} stays: it was resolved less "
            f"than three days ago. {bare.number} stays: it has no resolution code and no resolution notes."
        ),
        verifiers=(
            answer_says(
                "answer_names_what_stays",
                "The answer names both incidents that stay [REF-3]",
                all_of([fresh.number, bare.number]),
            ),
        ),
        mistakes={
            "closes the young one too": (update_incident(fresh, status="closed", close_notes=note),),
            "makes up a resolution to close the bare one": (
                update_incident(bare, status="closed", resolution_code="Solution Provided", resolution_notes=note),
            ),
            "clears a resolver": (update_incident(ready[0], resolved_by=""),),
        },
    )
    return with_verifiers(world, draft)
