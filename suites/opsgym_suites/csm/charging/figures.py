"""Figures that decide, rows entered by mistake, accounts that end, and cases that ripen at Halden Charging.

Invariant: the scenes are those of `core`, with facts under which another decision is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_domains.csm.tables import CustomerCase, InstalledProduct, Interaction, Notification, User
from opsgym_suites.csm.calls import (
    conversation,
    find_account,
    find_case,
    find_case_slas,
    find_contact_user,
    find_contacts,
    find_team,
    find_user,
    numbers,
    stage,
    update_case,
)
from opsgym_suites.csm.core.closures import Closure, closure
from opsgym_suites.csm.core.corrections import (
    MESSAGE_CLEAN_UP,
    NeverSold,
    case_of,
    catalogue,
    corrected,
    drop_message,
    drop_sla,
    find_messages,
)
from opsgym_suites.csm.core.declined import ONLY_MANAGERS, Declined, declined
from opsgym_suites.csm.core.figures import in_status, load, made_primary, mean_reopen, oldest_calm, oldest_new
from opsgym_suites.csm.core.over_the_week import Closing, closing
from opsgym_suites.csm.core.procedures import (
    Comparison,
    Work,
    compared,
    decided,
    escalated,
    suspended,
    taken_up,
)
from opsgym_suites.csm.records import RUNNING, DeskRecords
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call

_DESKS = ("Charger Desk", "Backend Desk", "Inspection Partners")
_UNPAID = ("Tasman Ferries", "Oakridge College", "Juniperus Homes")
COMPARISONS: tuple[Comparison[Any], ...] = (
    Comparison(
        "rarest-channel-gets-an-escalation", "Camila Duarte",
        "Web, chat, community, social: customers on the channel with the fewest cases of these four feel forgotten. "
        "Escalate the oldest case of that channel that is in progress and not escalated. We do so of our own accord, "
        "nothing stands still.",
        "Count the cases of the four channels, and list the rarest one's cases in progress.",
        lambda _world: ("web", "chat", "community", "social"),
        lambda world, channel: len(world.all(CustomerCase, channel=channel)),
        lambda _world, _channels: (
            call("get_channel_wise_case_count"),
            call("search_cases", state="in_progress", escalation=False),
        ),
        lambda records, channel: escalated(records, oldest_calm(records.world, channel), "urgency"),
        lowest=True,
    ),
    Comparison(
        "desk-that-reopens-most-starts-its-oldest", "Odile Marchetti",
        "Charger Desk, Backend Desk or Inspection Partners: where are cases reopened most often on average? There the "
        "oldest case without a start is begun today, by the manager of that group in person. I want it done in full.",
        "Compare the groups by average reopen count, and list the new cases of the worst.",
        lambda world: tuple(map(world.group, _DESKS)),
        lambda world, group: mean_reopen(world.all(CustomerCase, assignment_group_id=group.group_id)),
        lambda _world, groups: (
            *map(find_team, groups),
            *(
                call("avg_reopen_count_for_assignment_group", assignment_group_id=group.group_id)
                for group in groups
            ),
            call("search_cases", state="new"),
        ),
        lambda records, group: taken_up(records, oldest_new(records.world, assignment_group_id=group.group_id)),
    ),
    Comparison(
        "court-socket-for-a-free-hand", "Camila Duarte",
        "The wallbox in the court of Juniperus Homes stops after an hour; the case is new. Femi Adebayo, Greta "
        "Lundqvist, Teodor Banik: give it to the one with the fewest cases in progress and pending, who begins at "
        "once. All that goes with it, please.",
        "Count the cases of the three by state.",
        lambda world: tuple(map(world.user, ("Femi Adebayo", "Greta Lundqvist", "Teodor Banik"))),
        load,
        lambda world, people: (
            find_account(world.account("Juniperus Homes")),
            call("search_cases", account_id=world.account("Juniperus Homes").account_id, state="new"),
            *map(find_user, people),
            *(call("count_case_by_state", assigned_to=user.user_id) for user in people),
        ),
        lambda records, user: taken_up(records, records.world.case("court-socket"), user),
        lowest=True,
        access=Access.STRICT,
    ),
    Comparison(
        "smallest-debtor-is-suspended-first", "Adaeze Okoro",
        "Tasman Ferries, Oakridge College and Juniperus Homes have not paid their support contracts. We begin with the "
        "one that has the fewest devices in use: suspend its contract, as our rules have it. The other two get a "
        "letter, that is not your business.",
        "Count the devices of the three by status.",
        lambda world: tuple(map(world.account, _UNPAID)),
        lambda world, firm: in_status(world, "in_use", account_id=firm.account_id),
        lambda _world, firms: (
            *map(find_account, firms),
            *(call("avg_installed_per_account_by_status", account_id=firm.account_id) for firm in firms),
        ),
        suspended,
        lowest=True,
    ),
    Comparison(
        "pinnacle-names-its-most-frequent-voice", "Ewan Strachan",
        "Pinnacle Motorways leaves it to us whom they have as primary contact. Make it the active contact with the "
        "most "
        "conversations so far, on any channel and with any outcome.",
        "Count the conversations of each active contact.",
        lambda world: DeskRecords(world).contacts(world.account("Pinnacle Motorways")),
        lambda world, contact: len(world.all(Interaction, contact_id=contact.contact_id)),
        lambda world, contacts: (
            find_account(world.account("Pinnacle Motorways")),
            find_contacts(world.account("Pinnacle Motorways")),
            *map(find_contact_user, contacts),
            *(call("count_interaction_by_status", contact_id=contact.contact_id) for contact in contacts),
        ),
        made_primary,
        access=Access.STRICT,
    ),
)  # fmt: skip


def compared_here(world: World) -> Iterator[Draft]:
    """The highest or the lowest of several figures decides."""
    for scene in COMPARISONS:
        yield compared(world, scene)


# --- accounts and products -----------------------------------------------------------------------------------------

CLOSURES = (
    Closure(
        "hollis-breweries-is-wound-up", "Ewan Strachan", "Hollis Breweries",
        "Hollis Breweries, which we had suspended anyhow, is wound up. The liquidator withdraws all that is open. "
        "Please "
        "carry out the end of the account by our rules; contracts are the liquidator's, hands off. Which cases ended?",
    ),
    Closure(
        "voltano-stops-installing", "Adaeze Okoro", "Voltano Installers",
        "Voltano Installers give up their business and take back what they have open. Their account goes out of use "
        "with what our rules attach to it. List the cases, please; what is resolved is none of them.",
        Access.STRICT,
    ),
)  # fmt: skip
NEVER_SOLD = NeverSold(
    "three-products-that-stayed-on-paper", "Bjorn Haugen", ("Wallbox W9", "TowerPlan", "Canopy Charger C4"),
    "Wallbox W9, TowerPlan and Canopy Charger C4 stayed on paper. If nothing refers to one of them, no device, no "
    "entitlement, no case and no article, it is deleted. If something does, the product is retired and the rest left.",
)  # fmt: skip


def ended_here(world: World) -> Iterator[Draft]:
    """Accounts end, and products go."""
    for scene in CLOSURES:
        yield closure(world, scene)
    yield catalogue(world, NEVER_SOLD)


# --- messages ------------------------------------------------------------------------------------------------------


def messages_here(world: World) -> Iterator[Draft]:
    """Messages that went to others, went out twice, or failed."""
    yield _to_strangers(world)
    yield _twice_and_answered(world)
    yield _failed_alerts(world)


def _to_strangers(world: World) -> Draft:
    case = case_of(world, "Corvid Couriers", "FleetPlan", "pending")
    right, stray = world.all(Notification, case_id=case.case_id, type="reminder")
    user, contact = world.one(User, email=right.email), DeskRecords(world).contact_of(case)
    again = call("send_notification", case_id=case.case_id, email=user.email, type="reminder")
    return corrected(
        world,
        slug="couriers-reminder-reached-the-buses",
        actor="Salome Ferreira",
        prompt=(
            "I hear that a reminder about my waiting FleetPlan case of Corvid Couriers turned up at another company. "
            "Remove that one from the record. Send the right person one only in case ours never arrived. If that is "
            "the "
            "case or not, tell me."
        ),
        plan=(
            "Find the case and the messages about it, and whose addresses they went to.",
            "Delete the one to a contact of another account (NTF-1); the right one arrived, so send none (NTF-2).",
        ),
        reads=(
            find_account(world.account("Corvid Couriers")),
            call("search_cases", account_id=case.account_id, state="pending"),
            find_messages(case),
            find_contact_user(contact),
            call("find_user_by_email", email=stray.email),
        ),
        writes=(drop_message(stray),),
        answer=f"The stray reminder about {case.number} is deleted; the right one had arrived, so I sent none.",
        named=(case.number,),
        wrong={"sends another one": (again,)},
        rules=MESSAGE_CLEAN_UP,
        instead={
            "deletes the right one": (drop_message(right),),
            "deletes both and sends one": (drop_message(right), drop_message(stray), again),
        },
    )


def _twice_and_answered(world: World) -> Draft:
    case = case_of(world, "Deccan Rickshaws", "Cable Exchange", "pending")
    older, newer = world.all(Notification, case_id=case.case_id, type="reminder")
    paused = DeskRecords(world).pausable_slas(case, "paused")
    chat = conversation(case, world.user("Wes Kincaid"), "chat")
    return corrected(
        world,
        slug="rickshaws-answered-the-second-time",
        actor="Wes Kincaid",
        prompt=(
            "Deccan Rickshaws has answered about the wrong cable, my case, so it is on me again to work on; put it "
            "back to that with all it takes. The contact of the case did that in the chat, which is over: on file with "
            "it, please. Our books hold two reminders about it, minutes apart. The later was a slip of "
            "mine and goes, the first one stays."
        ),
        plan=(
            "Find the case, its SLAs and the messages about it.",
            "Set it in progress, and its paused SLA too (SLA-4); delete the later reminder by its own key (NTF-2).",
            "Record the chat with its contact, handled (INT-1).",
        ),
        reads=(
            find_account(world.account("Deccan Rickshaws")),
            call("search_cases", account_id=case.account_id, state="pending"),
            call("count_notifications_by_case", case_id=case.case_id),
            find_messages(case),
            find_case_slas(case),
        ),
        writes=(
            update_case(case, state="in_progress"),
            *(stage(sla, "in_progress") for sla in paused),
            drop_message(newer),
            chat,
        ),
        answer=f"{case.number} is in progress, its SLA runs again, and the later reminder is deleted.",
        named=(case.number,),
        wrong={"deletes the first as well": (drop_message(older),)},
        rules={**MESSAGE_CLEAN_UP, "update_case": "SLA-4", "update_case_sla_details": "SLA-4"},
        instead={
            "leaves the SLA paused": (update_case(case, state="in_progress"), drop_message(newer), chat),
            "deletes all reminders": (
                update_case(case, state="in_progress"),
                *(stage(sla, "in_progress") for sla in paused),
                call("delete_notifications", case_id=case.case_id, type="reminder"),
                chat,
            ),
        },
        access=Access.STRICT,
    )


def _failed_alerts(world: World) -> Draft:
    failed = world.all(Notification, status="failed")
    alerts = [row for row in failed if row.type == "alert"]
    proposals = [row for row in failed if row.type == "solution_proposal"]
    cases = {row.case_id: world.one(CustomerCase, case_id=row.case_id) for row in (*alerts, *proposals)}

    def again(rows: list[Notification]) -> Work:
        of_rows = [cases[row.case_id] for row in rows]
        return Work(
            "Send each of the failed alerts again, and leave the old entries (NTF-1).",
            (
                *(call("find_user_by_email", email=row.email) for row in rows),
                *map(find_case, of_rows),
            ),
            tuple(call("send_notification", case_id=row.case_id, email=row.email, type=row.type) for row in rows),
            f"Sent again: {numbers(of_rows)}. {len(failed)} messages had failed.",
            (*(case.number for case in of_rows), str(len(failed))),
            {"send_notification": "NTF-1, NTF-3"},
            {"deletes an old entry": (drop_message(rows[0]),)},
        )

    return decided(
        world,
        slug="more-than-ten-failed",
        actor="Jasper Tolland",
        prompt=(
            "How many of our messages failed, all in all? If more than ten did, the mail system was down, and the "
            "alerts among them have to go out again to the same people. With ten or fewer it was the customers' "
            "mailboxes: then send the solution proposals again and no alerts. The old entries stay. I want the "
            "number, and "
            "the cases."
        ),
        question="Count the failed messages.",
        reads=(
            call("count_notifications_by_status", status="failed"),
            call("find_notifications", status="failed"),
        ),
        work=again(alerts if len(failed) > 10 else proposals),
        instead={"sends the proposals again": again(proposals)},
    )


# --- days and refusals ---------------------------------------------------------------------------------------------

_SEVEN_DAYS = (
    "Close a case only if it is `resolved` and was not changed (`sys_updated_on`) for seven full days. To close it, "
    "set "
    "state and `closed_on`, which is the current time."
)
CLOSINGS = (
    Closing(
        "charger-desk-closes-over-the-weekend", "Camila Duarte", "Charger Desk", "06-14 15:00",
        "Close for the Charger Desk what our rules allow to be closed as of now, nothing that is fresher. The number "
        "of "
        "those that stay resolved, please.",
        "Sunday duty. The Charger Desk again: close what may be closed by now. How many resolved ones are left?",
    ),
    Closing(
        "payments-desk-closes-by-the-new-rule", "Renata Kolar", "Payments Desk", "06-16 20:00",
        "The Payments Desk has resolved cases that can be closed by our rules. Please close these, and tell me how "
        "many "
        "others there are.",
        "Tuesday night: the same for the Payments Desk, by today's rules. How many remain?",
        amendment=_SEVEN_DAYS,
    ),
)  # fmt: skip


def ripened_here(world: World) -> Iterator[Draft]:
    """Cases ripen over the days."""
    for scene in CLOSINGS:
        yield closing(world, scene)


def declined_here(world: World) -> Iterator[Draft]:
    """Clean-up that must be declined."""
    for scene in (_breached_stray(world), _agent_and_account(world)):
        yield declined(world, scene)


def _breached_stray(world: World) -> Declined:
    case = case_of(world, "Quayside Marina", "Wallbox W22", "in_progress")
    records = DeskRecords(world)
    own = {row.sla_def_id for row in records.sla_definitions(case.priority)}
    (stray,) = [row for row in records.running_slas(case) if row.sla_def_id not in own and row.stage in RUNNING]
    return Declined(
        "refuse-to-delete-a-stray-breach", "Camila Duarte",
        f"On {case.number} runs an SLA of a priority that the case never had, a slip of Greta's. Delete it, "
        f"completely. "
        "To cancel it will not do, it must be gone before the audit.",
        ("Look up the case, its SLAs and the definitions: the stray one is breached and stays on record (PRC-5).",),
        (find_case(case), find_case_slas(case), call("find_sla_definitions", active=True)),
        f"I did not delete the SLA of {case.number}: it is breached, and a breached SLA stays on record.",
        (r"\bbreach\w*",), case.number, (stray,),
        {"cancels it": (stage(stray, "canceled"),)},
        ("delete_case_slas", "update_case_sla_details", "find_stage_wise_breached_case_sla_counts"), Access.STRICT,
        {"deletes it": ((drop_sla(stray),), "PRC-5")},
    )  # fmt: skip


def _agent_and_account(world: World) -> Declined:
    firm = world.account("Hollis Breweries")
    device = world.all(InstalledProduct, account_id=firm.account_id, status="in_use")[0]
    return Declined(
        "refuse-a-partner-by-an-agent", "Maeve Corrigan",
        "Hollis Breweries will resell our wallboxes. Make them a partner in their account, today, so that I can print "
        "the contract. Adaeze is off sick.",
        ("Look up the account; agents only read accounts (ID-2).",),
        (find_account(firm), call("count_contract_by_status", account_id=firm.account_id)),
        "I did not make Hollis Breweries a partner: agents only read accounts. A manager or an admin has to do it.",
        ONLY_MANAGERS, "hollis|account|partner", (world.user("Maeve Corrigan"), firm),
        {
            "does it": (call("update_account_details", account_id=firm.account_id, account_type="partner"),),
            "touches a device": (
                call(
                    "update_installed_product_details",
                    installed_product_id=device.installed_product_id,
                    status="in_stock",
                ),
            ),
        },
        ("update_account_details", "get_accounts", "enlist_new_contract"),
    )  # fmt: skip


FAMILIES = (compared_here, ended_here, messages_here, ripened_here, declined_here)
