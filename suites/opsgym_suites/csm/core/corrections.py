"""Rows that should not be there, or not in this form: SLAs, messages and products are deleted, corrected or left.

Invariant: what looks the same is not: of two rows one belongs to the record, and the request does not say which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, number
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.tables import CaseSla, CustomerCase, Knowledge, Notification
from opsgym_suites.csm.calls import (
    find_account,
    find_case_slas,
    find_contacts,
    find_user,
    notify,
    numbers,
    stage,
    update_case,
)
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.csm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution, call
from opsgym_suites.kit.verifiers import answer_says

SLA_CLEAN_UP = {"delete_case_slas": "ID-4", "update_case_sla_details": "SLA-3"}
MESSAGE_CLEAN_UP = {"delete_notifications": "NTF-2", "update_notification": "NTF-3", "send_notification": "NTF-1"}


def case_of(world: World, firm: str, product: str, state: str) -> CustomerCase:
    """The newest case of a customer on a product in a state."""
    account, item = world.account(firm), world.product(product)
    return world.all(CustomerCase, account_id=account.account_id, product_id=item.product_id, state=state)[-1]


def drop_sla(sla: CaseSla) -> ToolCall:
    """Deletes an SLA of a case."""
    return call("delete_case_slas", case_sla_id=sla.case_sla_id)


def drop_message(message: Notification) -> ToolCall:
    """Deletes a notification."""
    return call("delete_notifications", notification_id=message.notification_id)


def find_messages(case: CustomerCase) -> ToolCall:
    """Lists the notifications about a case."""
    return call("find_notifications", case_id=case.case_id)


def corrected(
    world: World,
    *,
    slug: str,
    actor: str,
    prompt: str,
    plan: Sequence[str],
    reads: Sequence[ToolCall],
    writes: Sequence[ToolCall],
    answer: str,
    named: Sequence[str],
    wrong: Mapping[str, tuple[ToolCall, ...]],
    rules: Mapping[str, str],
    instead: Mapping[str, Sequence[ToolCall]] | None = None,
    access: Access = Access.PUBLISHED,
    refused: Mapping[str, str] | None = None,
    also: Mapping[str, Solution] | None = None,
    optional: Sequence[ToolCall] = (),
) -> Draft:
    """A task in which rows are deleted or corrected.

    Args:
        world: The seed's rows.
        slug: Last part of the task id.
        actor: Name of the acting user.
        prompt: What the user says.
        plan: Steps after the look-up of the acting user.
        reads: Calls that show which rows are meant.
        writes: The corrections.
        answer: The final answer.
        named: Patterns that it must contain.
        wrong: Calls in addition that are mistakes.
        rules: Rules by tool.
        instead: Writes in place of `writes` that are mistakes.
        access: Whether the server enforces the process.
        refused: Rules by label of `instead` that the server refuses with.
        also: Other correct solutions.
        optional: Further calls that a correct solution may make.
    """
    acting = world.user(actor)
    looked = (find_user(acting), *reads)
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(f"Look up {actor}.", *plan),
        gold=(*looked, *writes),
        answer=answer,
        verifiers=(answer_says("names_what_was_done", "The answer names what was done [REF-3]", all_of(named)),),
        tools=("search_cases", "find_sla_definitions", "update_case", "find_products"),
        access=access,
        mistakes=wrong,
        negative_trajectories={
            label: NegativeTrajectory((*looked, *calls), answer, (refused or {}).get(label))
            for label, calls in (instead or {}).items()
        },
        also=also or {},
    )
    return with_verifiers(world, draft, rules=rules, optional=optional)


# --- SLAs that should not run --------------------------------------------------------------------------------------


def surplus_slas(world: World) -> Iterator[Draft]:
    """SLAs run twice on a case, or are of another priority; a breached one stays on record."""
    records = DeskRecords(world)
    probe = case_of(world, "Tamesis Museum", "Humidity Probe H2", "in_progress")
    first, second = records.running_slas(probe)
    yield corrected(
        world,
        slug="resolution-runs-twice-at-the-museum",
        actor="Rohan Mehta",
        prompt=(
            "My case with the humidity probe that shows no humidity, at the Tamesis Museum: a colleague clicked twice, "
            "the resolution SLA runs two times on it. The one that counts from when the case came in is the right one. "
            "Delete the other, please, and touch nothing else there."
        ),
        plan=(
            "Find the museum's cases in progress on the probe; that of Rohan is meant. List its SLAs.",
            "Delete the running resolution SLA that does not start with the registration, by its own key (SLA-1).",
        ),
        reads=(
            find_account(world.account("Tamesis Museum")),
            call("search_cases", account_id=probe.account_id, state="in_progress"),
            find_case_slas(probe),
        ),
        writes=(drop_sla(second),),
        answer=f"The surplus resolution SLA of {probe.number} is deleted; the one from the registration runs on.",
        named=(probe.number,),
        wrong={"cancels the right one": (stage(first, "canceled"),)},
        rules=SLA_CLEAN_UP,
        instead={
            "deletes the right one": (drop_sla(first),),
            "deletes both": (call("delete_case_slas", case_id=probe.case_id, sla_def_id=second.sla_def_id),),
            "cancels it": (stage(second, "canceled"),),
        },
    )  # fmt: skip
    junk = case_of(world, "Harbour Ice Cream", "ColdView Cloud", "in_progress")
    stray = next(row for row in records.running_slas(junk) if row.sla_def_id not in {
        one.sla_def_id for one in records.sla_definitions(junk.priority)})  # fmt: skip
    real = next(row for row in records.running_slas(junk) if row is not stray)
    waiting = records.pausable_slas(junk, "in_progress")
    contact = records.contact_of(junk)
    yield corrected(
        world,
        slug="wrong-sla-goes-before-the-wait",
        actor="Owen Pryce",
        prompt=(
            "Harbour's alarm mails that go to junk, my case: it has to wait for their IT now, so set that up as we do "
            "it. But first: an SLA runs on it that is for another priority; the case never had that priority, it was "
            "plain carelessness. That one does not get canceled or paused, it gets deleted."
        ),
        plan=(
            "Find the case, its SLAs, and the definitions of its priority.",
            "Delete the running SLA whose definition is for another priority.",
            "Set the case to pending, pause the SLA that remains, remind the contact (CAS-6, SLA-4).",
        ),
        reads=(
            find_account(world.account("Harbour Ice Cream")),
            call("search_cases", account_id=junk.account_id, state="in_progress"),
            find_case_slas(junk),
            call("find_sla_definitions", active=True),
            call("list_users", user_id=contact.portal_user_id),
        ),
        writes=(
            drop_sla(stray),
            update_case(junk, state="pending"),
            stage(real, "paused"),
            notify(junk, records.user_of(contact), "reminder"),
        ),
        answer=f"{junk.number} is pending, the stray SLA is deleted.",
        named=(junk.number,),
        wrong={"sends an update": (notify(junk, records.user_of(contact), "update"),)},
        rules={**SLA_CLEAN_UP, "update_case": "CAS-6", "update_case_sla_details": "SLA-4"},
        instead={
            "pauses the stray one": (
                update_case(junk, state="pending"),
                *(stage(sla, "paused") for sla in waiting),
                notify(junk, records.user_of(contact), "reminder"),
            ),
        },
    )
    yield _breached_ones_stay(world)


def _breached_ones_stay(world: World) -> Draft:
    records = DeskRecords(world)
    case = case_of(world, "Riverside Bakery", "Frost Sensor F1", "in_progress")
    own = {row.sla_def_id for row in records.sla_definitions(case.priority)}
    stray = [row for row in records.running_slas(case) if row.sla_def_id not in own]
    (breached,) = [row for row in stray if row.has_breached]
    (clean,) = [row for row in stray if not row.has_breached]
    return corrected(
        world,
        slug="bakery-loses-slas-it-never-needed",
        actor="Rohan Mehta",
        prompt=(
            "Riverside Bakery, readings that jump after defrost, the case that I have in progress. Two SLAs too many "
            "run there, of a priority that it never had. I want them off: delete them where our process lets you, and "
            "where it does not, cancel them. Which one is still there?"
        ),
        plan=(
            "Find the case, its SLAs, and the definitions of its priority: two running SLAs are of another priority.",
            "Delete the one that is not breached; a breached one is not deleted but canceled (PRC-5, SLA-3).",
        ),
        reads=(
            find_account(world.account("Riverside Bakery")),
            call("search_cases", account_id=case.account_id, state="in_progress"),
            find_case_slas(case),
            call("find_sla_definitions", active=True),
        ),
        writes=(drop_sla(clean), stage(breached, "canceled")),
        answer=f"On {case.number} the low resolution SLA is deleted; the low response SLA is breached, so it stays, "
        "canceled.",
        named=(case.number, "response"),
        wrong={"cancels one of its own": (stage(next(
            row for row in records.running_slas(case) if row.sla_def_id in own), "canceled"),)},
        rules={"delete_case_slas": "PRC-5", "update_case_sla_details": "SLA-3"},
        access=Access.STRICT,
        instead={
            "deletes both": (drop_sla(clean), drop_sla(breached)),
            "cancels both": (stage(clean, "canceled"), stage(breached, "canceled")),
        },
        refused={"deletes both": "PRC-5"},
    )  # fmt: skip


# --- messages ------------------------------------------------------------------------------------------------------


def stray_messages(world: World) -> Iterator[Draft]:
    """Messages went out twice, to others, or under the wrong type; some that failed did arrive."""
    yield _sent_twice(world)
    yield _sent_to_others(world)
    yield _wrong_type(world)
    yield _arrived_after_all(world)
    yield _failed_ones_go(world)


def _sent_twice(world: World) -> Draft:
    records = DeskRecords(world)
    firm = world.account("Riverside Bakery")
    pending = records.open_cases(account_id=firm.account_id, state="pending")
    case = case_of(world, firm.name, "Frost Sensor F1", "pending")
    older, newer = world.all(Notification, case_id=case.case_id, type="reminder")
    once = [one for one in pending if one is not case]
    return corrected(
        world,
        slug="bakery-was-reminded-twice",
        actor="Priya Venkat",
        prompt=(
            "One of the cases for which we wait on Riverside Bakery has its reminder twice in our books, two minutes "
            "apart. One per event is the rule, so delete the later one. The customers of their other waiting cases "
            "have had just one each, and a week is long enough: remind these again, not the one who was bothered twice."
        ),
        plan=(
            "Find the bakery's pending cases, and count and list the messages about each.",
            "Delete the later of the two reminders by its own key (NTF-2).",
            "Remind the contacts of the other pending cases (NTF-1, NTF-3).",
        ),
        reads=(
            find_account(firm),
            call("search_cases", account_id=firm.account_id, state="pending"),
            *(call("count_notifications_by_case", case_id=one.case_id) for one in pending),
            find_messages(case),
            find_contacts(firm),
            *(call("list_users", user_id=records.contact_of(one).portal_user_id) for one in once),
        ),
        writes=(
            drop_message(newer),
            *(notify(one, records.user_of(records.contact_of(one)), "reminder") for one in once),
        ),
        answer=f"The second reminder about {case.number} is deleted; reminded again: {numbers(once)}.",
        named=(case.number, *(one.number for one in once)),
        wrong={"deletes the other as well": (drop_message(older),)},
        rules=MESSAGE_CLEAN_UP,
        instead={
            "deletes the earlier one": (drop_message(older),),
            "deletes all reminders of the case": (
                call("delete_notifications", case_id=case.case_id, type="reminder"),
                *(notify(one, records.user_of(records.contact_of(one)), "reminder") for one in once),
            ),
        },
    )


def _sent_to_others(world: World) -> Draft:
    records = DeskRecords(world)
    case = case_of(world, "Malabar Spices", "Gateway G100", "pending")
    failed, stray = world.all(Notification, case_id=case.case_id, type="reminder")
    contact = records.contact_of(case)
    user = records.user_of(contact)
    return corrected(
        world,
        slug="reminder-for-malabar-went-elsewhere",
        actor="Maya Torres",
        prompt=(
            "Something went wrong with my waiting case of Malabar Spices, the gateway. A reminder about it went to "
            "people who have nothing to do with Malabar! That one has to vanish from the record. And the right one, "
            "did it ever arrive? If not, have it sent again; leave what the record says about the first try."
        ),
        plan=(
            "Find Malabar's pending cases on gateways, that of Maya, and the messages about it.",
            "See whose address each message went to: one is of another account (NTF-1). Delete that one.",
            "The right one failed: send the contact the reminder again, and leave the failed one.",
        ),
        reads=(
            find_account(world.account("Malabar Spices")),
            call("search_cases", account_id=case.account_id, state="pending"),
            find_messages(case),
            find_contacts(world.account("Malabar Spices")),
            call("list_users", user_id=contact.portal_user_id),
            call("find_user_by_email", email=stray.email),
        ),
        writes=(drop_message(stray), notify(case, user, "reminder")),
        answer=f"The stray reminder about {case.number} is deleted; the right one had failed, and is sent again.",
        named=(case.number,),
        wrong={"deletes the failed one": (drop_message(failed),)},
        rules=MESSAGE_CLEAN_UP,
        instead={
            "sends none": (drop_message(stray),),
            "readdresses the stray one": (
                call("update_notification", notification_id=stray.notification_id, email=user.email),
            ),
        },
    )


def _wrong_type(world: World) -> Draft:
    records = DeskRecords(world)
    updates = case_of(world, "Tamesis Museum", "ColdView Cloud", "in_progress")
    hints = case_of(world, "Deccan Biologics", "ColdView Cloud", "pending")
    rows = [world.one(Notification, case_id=case.case_id, type="other") for case in (updates, hints)]
    kinds = ("update", "reminder")
    total = len(world.all(Notification, type="other"))
    return corrected(
        world,
        slug="others-get-their-proper-type",
        actor="Jonas Ekberg",
        prompt=(
            "Our books have messages of the type other; there should be none. Give each the type that it ought to have "
            "had: what went out about a case in work was about progress, what went out about a case that waits for the "
            "customer said what the customer has to do. How many were there?"
        ),
        plan=(
            "Count the messages of type other, list them, and look at the state of the case of each.",
            "Correct the type: update for a case in progress, reminder for a pending one (NTF-3).",
        ),
        reads=(
            call("count_notifications_by_type", type=["other"]),
            call("find_notifications", type="other"),
            *(call("search_cases", case_id=case.case_id) for case in (updates, hints)),
        ),
        writes=tuple(
            call("update_notification", notification_id=row.notification_id, type=kind)
            for row, kind in zip(rows, kinds, strict=True)
        ),
        answer=f"There were {total}: {updates.number} has an update now, {hints.number} a reminder.",
        named=(number(total), updates.number, hints.number),
        wrong={"sends one again": (notify(hints, records.user_of(records.contact_of(hints)), "reminder"),)},
        rules=MESSAGE_CLEAN_UP,
        instead={
            "takes the same type for all": tuple(
                call("update_notification", notification_id=row.notification_id, type="update") for row in rows
            ),
            "sends new ones and deletes the old": (
                *(drop_message(row) for row in rows),
                *(
                    notify(case, records.user_of(records.contact_of(case)), kind)
                    for case, kind in zip((updates, hints), kinds, strict=True)
                ),
            ),
        },
    )


def _arrived_after_all(world: World) -> Draft:
    """Failed messages to one customer did arrive, as far as their recipient is still there."""
    failed = world.all(Notification, status="failed")
    alerts = [row for row in failed if row.type == "alert"]
    reminders = [row for row in failed if row.type == "reminder"]
    cases = [world.one(CustomerCase, case_id=row.case_id) for row in alerts]
    return corrected(
        world,
        slug="failed-alerts-were-read-after-all",
        actor="Ines Calloway",
        prompt=(
            "I asked our managers: alerts that our system calls failed were read all the same, the mail server only "
            "lost the receipts. So these have arrived, please let the record say so. For what failed on its way to "
            "customers this does not hold. Tell me how many failed messages are left then."
        ),
        plan=(
            "Count the failed messages, and list those of type alert.",
            "Set their status to success; leave all other failed messages (NTF-2).",
            "State how many failed ones are left.",
        ),
        reads=(
            call("count_notifications_by_status", status="failed"),
            call("find_notifications", status="failed", type="alert"),
        ),
        writes=tuple(
            call("update_notification", notification_id=row.notification_id, status="success") for row in alerts
        ),
        answer=f"The alerts about {numbers(cases)} count as arrived; {len(failed) - len(alerts)} failed ones are left.",
        named=(number(len(failed) - len(alerts)),),
        wrong={
            "takes a reminder as arrived": (
                call("update_notification", notification_id=reminders[0].notification_id, status="success"),
            ),
        },
        rules=MESSAGE_CLEAN_UP,
        instead={"deletes them": tuple(drop_message(row) for row in alerts)},
    )


def _failed_ones_go(world: World) -> Draft:
    """Failed messages of closed cases are deleted; open cases' ones are sent again first."""
    records = DeskRecords(world)
    firm = world.account("Kestrel Freight")
    cases = {row.case_id: row for row in world.all(CustomerCase, account_id=firm.account_id)}
    failed = [row for row in world.all(Notification, status="failed") if row.case_id in cases]
    to_contacts = [row for row in failed if row.type != "alert"]
    again = [row for row in to_contacts if records.world.one(CustomerCase, case_id=row.case_id).state == "pending"]
    over = [row for row in failed if cases[row.case_id].state in {"closed", "resolved"}]
    return corrected(
        world,
        slug="what-never-reached-kestrel",
        actor="Grace Holloway",
        prompt=(
            "Clean up after the mail trouble at Kestrel Freight, please: whatever failed about their cases. If the "
            "case is resolved or closed, the entry can be deleted, we do not need that any more. If we still wait for "
            "them, send the same thing again to the same person and leave the old entry, so that one can see it."
        ),
        plan=(
            "Find Kestrel's cases, and the failed messages about them.",
            "Delete those whose case is resolved or closed, one by one.",
            "Send those of pending cases again after a look at the contact (NTF-1).",
        ),
        reads=(
            find_account(firm),
            call("search_cases", account_id=firm.account_id),
            call("find_notifications", status="failed"),
            *(call("find_user_by_email", email=row.email) for row in again),
            find_contacts(firm),
        ),
        writes=(
            *map(drop_message, over),
            *(call("send_notification", case_id=row.case_id, email=row.email, type=row.type) for row in again),
        ),
        answer=f"{len(over)} entries are deleted; sent again: {numbers(cases[row.case_id] for row in again)}.",
        named=tuple(cases[row.case_id].number for row in again),
        wrong={"deletes the old one of a waiting case": (drop_message(again[0]),)},
        rules=MESSAGE_CLEAN_UP,
        instead={
            "deletes all that failed": (call("delete_notifications", status="failed"),),
            "marks it as arrived": (
                *map(drop_message, over),
                *(call("update_notification", notification_id=row.notification_id, status="success") for row in again),
            ),
        },
    )


# --- products that were never sold ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class NeverSold:
    """Products of which some were never used and one has something attached."""

    slug: str
    actor: str
    names: tuple[str, ...]
    prompt: str


NEVER_SOLD = (
    NeverSold(
        "catalogue-without-what-never-was", "Ines Calloway", ("Door Sensor D5", "Vibration Probe V3", "Route Planner"),
        "Three products were entered for the spring and will not come: Door Sensor D5, Vibration Probe V3 and Route "
        "Planner. Delete each of them from the catalogue as long as nothing of ours refers to it. Anything that has an "
        "article, a device or a case attached is retired instead; the attached thing stays as it is.",
    ),
)  # fmt: skip


def never_sold(world: World) -> Iterator[Draft]:
    """Products without any reference are deleted, others retired."""
    for scene in NEVER_SOLD:
        yield catalogue(world, scene)


def catalogue(world: World, scene: NeverSold) -> Draft:
    """A task of products that were never sold."""
    products = [world.product(name) for name in scene.names]
    used = [row for row in products if world.all(Knowledge, product_id=row.product_id)]
    gone = [row for row in products if row not in used]
    article = world.one(Knowledge, product_id=used[0].product_id)
    return corrected(
        world,
        slug=scene.slug,
        actor=scene.actor,
        prompt=scene.prompt,
        plan=(
            "Look up each product, and what refers to it: devices, entitlements, cases, articles.",
            "Delete those without any reference, each by its own key; retire the other (PRD-2).",
        ),
        reads=tuple(
            made
            for row in products
            for made in (
                call("find_product", name=row.name),
                call("retrieve_installed_products", product_id=row.product_id),
                call("find_entitlements", product_id=row.product_id),
                call("search_cases", product_id=row.product_id),
                call("retrieve_knowledge", product_id=row.product_id),
            )
        ),
        writes=(
            *(call("delete_products", product_id=row.product_id) for row in gone),
            *(call("update_product", product_id=row.product_id, lifecycle_state="retired") for row in used),
        ),
        answer=f"Deleted: {', '.join(row.name for row in gone)}. Retired, for it has an article: {used[0].name}.",
        named=tuple(row.name for row in products),
        wrong={
            "retires the article too": (call("update_knowledge", knowledge_id=article.knowledge_id, state="retired"),),
        },
        rules={"delete_products": "ID-4", "update_product": "PRD-2"},
        instead={
            "retires all": tuple(
                call("update_product", product_id=row.product_id, lifecycle_state="retired") for row in products
            ),
            "leaves the other": (*(call("delete_products", product_id=row.product_id) for row in gone),),
        },
    )


FAMILIES = (surplus_slas, stray_messages, never_sold)
