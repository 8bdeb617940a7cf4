"""Tasks about knowledge articles, interactions and notifications."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.tasks.answer_patterns import all_of, apart, number, only_for
from opsgym_domains.csm.tables import CaseKnowledge, CustomerCase, Interaction, Knowledge, Notification
from opsgym_suites.csm.calls import (
    find_article,
    find_case,
    find_contact_user,
    find_product,
    find_team,
    find_user,
    link,
    names_all,
    notify,
    numbers,
)
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.csm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.verifiers import answer_says

# --- articles ------------------------------------------------------------------------------------------------------


def articles(world: World) -> Iterator[Draft]:
    """Articles are written, published, corrected and retired."""
    yield _written_up(world)
    yield _published(world)
    yield _used_wrongly(world)
    yield _goes_out(world)


def _written_up(world: World) -> Draft:
    """An agent writes an article about a solution; it may not be linked before a manager has published it."""
    acting, product = world.user("Emi Kondo"), world.product("Route Audit")
    title, body = "Missing trips in Route Audit", "Import the logger once more, then merge the day."
    case = world.case("toyosu-audit")
    made = world.next_id(Knowledge)
    draft = Draft(
        slug="write-up-missing-trips",
        actor=acting,
        prompt=(
            "I have found out what helps when trips are missing in the Route Audit. Please write an article for "
            "customers: "
            f'"{title}", and the text is "{body}" Bring it as far as it may be brought by me.'
        ),
        plan=(
            "Look up Emi: an agent. Look up the product, and whether there is such an article already.",
            "Create the article as a draft, external, owned by Emi, about the product (KB-3).",
            "Link it nowhere: only published articles are linked (KB-1).",
        ),
        gold=(
            find_user(acting),
            find_product(product),
            call("retrieve_knowledge", product_id=product.product_id),
            call(
                "create_knowledge",
                title=title,
                body=body,
                state="draft",
                visibility="external",
                product_id=product.product_id,
                owner_id=acting.user_id,
            ),
        ),
        answer="The article is a draft of yours; a manager or an admin has to publish it.",
        verifiers=(
            answer_says("says_who_publishes", "The answer says who publishes [KB-3]", only_for("manager", "admin")),
        ),
        tools=("update_knowledge", "link_case_knowledge", "search_cases"),
        mistakes={
            "publishes it": (call("update_knowledge", knowledge_id=made, state="published"),),
            "links it": (call("link_case_knowledge", case_id=case.case_id, knowledge_id=made, used_as="suggested"),),
        },
    )
    return with_verifiers(world, draft)


def _published(world: World) -> Draft:
    """A manager publishes a draft, and it is linked as suggested to all open cases about the product."""
    records, acting = DeskRecords(world), world.user("Priya Venkat")
    article = records.article("Frost Sensor F2 after firmware 3")
    cases = [
        case for case in records.open_cases(product_id=article.product_id) if case.state in {"in_progress", "pending"}
    ]
    new = next(case for case in records.open_cases(product_id=article.product_id) if case.state == "new")
    draft = Draft(
        slug="publish-the-firmware-article",
        actor=acting,
        prompt=(
            f'I have read "{article.title}" and approve it: please publish it. Then suggest it on every case about the '
            "Frost Sensor F2 that is in progress or pending. The new ones have not been looked at yet, so not there."
        ),
        plan=(
            "Look up Priya: a manager. Look up the article, its product, and the product's cases.",
            "Publish the article (KB-3), then link it as suggested on those cases (KB-1).",
        ),
        gold=(
            find_user(acting),
            find_article(article),
            call("find_product_by_id", product_id=article.product_id),
            call("search_cases", product_id=article.product_id, state="in_progress"),
            call("search_cases", product_id=article.product_id, state="pending"),
            call("update_knowledge", knowledge_id=article.knowledge_id, state="published"),
            *(link(case, article, "suggested") for case in cases),
        ),
        answer=f"{article.kb_number} is published and suggested on {numbers(cases)}.",
        verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(cases)),),
        tools=("create_knowledge", "find_case_knowledge_linkages", "send_notification"),
        mistakes={
            "suggests it on a new one": (link(new, article, "suggested"),),
            "calls it the resolution": (link(cases[0], article, "resolution"),),
        },
    )
    return with_verifiers(world, draft)


def _used_wrongly(world: World) -> Draft:
    """Suggested articles become applied ones, and wrong links are removed."""
    records, acting = DeskRecords(world), world.user("Jonas Ekberg")
    product = world.product("Gateway G100")
    links = [
        row
        for case in records.open_cases(product_id=product.product_id)
        for row in records.linked_articles(case)
        if row.used_as == "suggested"
    ]
    cases = [world.one(CustomerCase, case_id=row.case_id) for row in links]
    other = next(row for row in world.all(CaseKnowledge, used_as="suggested") if row not in links)
    draft = Draft(
        slug="suggested-means-applied-now",
        actor=acting,
        prompt=(
            "On the open cases about the Gateway G100 my people have tried out by now what had been suggested. Please "
            "mark every article that is suggested there as applied, and leave those that are marked otherwise."
        ),
        plan=(
            "Look up Jonas, the product, its open cases, and the articles that are linked to them.",
            "Change the links that say suggested to applied (KB-1); leave the others.",
        ),
        gold=(
            find_user(acting),
            find_product(product),
            *(
                call("search_cases", product_id=product.product_id, state=state)
                for state in ("new", "in_progress", "pending")
            ),
            *(call("find_case_knowledge_linkages", case_id=case.case_id) for case in cases),
            *(call("updated_linked_case_knowledge", case_kb_id=row.case_kb_id, used_as="applied") for row in links),
        ),
        answer=f"Applied now: what was suggested on {numbers(cases)}.",
        verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(cases)),),
        tools=("link_case_knowledge", "delete_case_knowledge_linkages", "retrieve_knowledge"),
        mistakes={
            "marks another product's": (
                call("updated_linked_case_knowledge", case_kb_id=other.case_kb_id, used_as="applied"),
            ),
        },
    )
    return with_verifiers(world, draft)


def _goes_out(world: World) -> Draft:
    """An article is retired, and its suggestions on open cases are removed."""
    records, acting = DeskRecords(world), world.user("Kenji Morita")
    article = records.article("Humidity Probe H2 stuck at a value")
    linked = world.all(CaseKnowledge, knowledge_id=article.knowledge_id)
    cases = {row.case_id: world.one(CustomerCase, case_id=row.case_id) for row in linked}
    opened = {case.case_id for case in records.open_cases()}
    hints = [row for row in linked if row.used_as == "suggested" and row.case_id in opened]
    used = next(row for row in linked if row not in hints)
    draft = Draft(
        slug="retire-the-humidity-article",
        actor=acting,
        prompt=(
            f'"{article.title}" is wrong for the new probes. Please retire the article with everything that our rules '
            "attach to that, and tell me how many suggestions have gone."
        ),
        plan=(
            "Look up Kenji: a manager. Look up the article and where it is linked.",
            "Retire it (KB-3); remove the links on open cases that only suggest it, keep the others (KB-4).",
        ),
        gold=(
            find_user(acting),
            find_article(article),
            call("find_case_knowledge_linkages", knowledge_id=article.knowledge_id, used_as="suggested"),
            *(find_case(cases[row.case_id]) for row in hints),
            call("update_knowledge", knowledge_id=article.knowledge_id, state="retired"),
            *(call("delete_case_knowledge_linkages", case_kb_id=row.case_kb_id) for row in hints),
        ),
        answer=f"{article.kb_number} is retired, and {len(hints)} suggestions are gone.",
        verifiers=(answer_says("counts_them", "The answer says how many [REF-3]", number(len(hints))),),
        tools=("create_knowledge", "updated_linked_case_knowledge", "search_cases"),
        mistakes={
            "removes one that was used": (call("delete_case_knowledge_linkages", case_kb_id=used.case_kb_id),),
            "makes it internal": (call("update_knowledge", knowledge_id=article.knowledge_id, visibility="internal"),),
        },
    )
    return with_verifiers(world, draft, rules={"update_knowledge": "KB-3, KB-4"})


# --- conversations and messages ------------------------------------------------------------------------------------


def conversations(world: World) -> Iterator[Draft]:
    """Interactions are recorded, and failed notifications are sent again."""
    yield _morning_calls(world)
    yield _not_arrived(world)
    yield _figures(world)


def _morning_calls(world: World) -> Draft:
    """Three phone calls, of which one still needs an answer."""
    records, acting = DeskRecords(world), world.user("Grace Holloway")
    cases = [world.case(key) for key in ("yard-loggers", "ota-missing", "blood-beacon")]
    contacts = [records.contact_of(case) for case in cases]
    times = ("2026-11-16 08:15:00", "2026-11-16 08:40:00", "2026-11-16 09:30:00")
    states = ("handled", "handled", "open")
    made = world.next_id(Interaction)
    draft = Draft(
        slug="three-calls-of-a-morning",
        actor=acting,
        prompt=(
            "I had three calls this morning with the contacts of these cases and have to put them on record: at 8:15 "
            f"about {cases[0].number}, at 8:40 about {cases[1].number}, and at 9:30 about {cases[2].number}. The "
            "first two are over; the third one waits until I call back. No end times, I did not look at the clock."
        ),
        plan=(
            "Look up Grace, the three cases and their contacts.",
            "Register each call by phone with account, contact, case and Grace, at the time named (INT-1).",
            "The first two are handled, the third is open (INT-1).",
        ),
        gold=(
            find_user(acting),
            *(find_case(case) for case in cases),
            *(call("find_contacts", contact_id=contact.contact_id) for contact in contacts),
            *(
                call(
                    "register_new_interaction",
                    channel="phone",
                    account_id=case.account_id,
                    contact_id=case.contact_id,
                    case_id=case.case_id,
                    interacted_user=acting.user_id,
                    status=status,
                    started_at=time,
                )
                for case, time, status in zip(cases, times, states, strict=True)
            ),
        ),
        answer=f"Your calls about {numbers(cases)} are on record; the last one is open.",
        verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(cases)),),
        tools=("update_interaction", "find_interactions", "send_notification"),
        mistakes={
            "handles the third": (call("update_interaction", interaction_id=made + 2, status="handled"),),
            "reminds the contact": (notify(cases[2], records.user_of(contacts[2]), "reminder"),),
        },
    )
    return with_verifiers(world, draft)


def _not_arrived(world: World) -> Draft:
    """Solution proposals that failed are sent again where the case is still resolved."""
    records, acting = DeskRecords(world), world.user("Bronte Walsh")
    failed = world.all(Notification, status="failed", type="solution_proposal")
    cases = {row.case_id: world.one(CustomerCase, case_id=row.case_id) for row in failed}
    again = [row for row in failed if cases[row.case_id].state == "resolved"]
    over = next(row for row in failed if row not in again)
    draft = Draft(
        slug="proposals-that-did-not-arrive",
        actor=acting,
        prompt=(
            "Some of our solution proposals failed. Please send those again, to the contact of the case and with the "
            "same article, whose case is still resolved; closed cases do not matter any more. Leave the old messages "
            "as they are. Which cases are concerned?"
        ),
        plan=(
            "Look up Bronte, the failed proposals, and the resolved cases.",
            "For each failed proposal of a case that is resolved, look at the contact.",
            "Send the proposal again with its article (NTF-1, NTF-2).",
        ),
        gold=(
            find_user(acting),
            call("find_notifications", status="failed", type="solution_proposal"),
            call("search_cases", state="resolved"),
            *(find_contact_user(records.contact_of(cases[row.case_id])) for row in again),
            *(
                call(
                    "send_notification",
                    case_id=row.case_id,
                    email=row.email,
                    type="solution_proposal",
                    **({"knowledge_id": row.knowledge_id} if row.knowledge_id else {}),
                )
                for row in again
            ),
        ),
        answer=f"Sent again: {numbers(cases[row.case_id] for row in again)}.",
        verifiers=(
            answer_says(
                "names_the_cases",
                "The answer names the cases [REF-3]",
                names_all([cases[row.case_id] for row in again]),
            ),
        ),
        tools=("update_notification", "delete_notifications", "count_notifications_by_status"),
        mistakes={
            "sends one of a case that is over": (
                call("send_notification", case_id=over.case_id, email=over.email, type="solution_proposal"),
            ),
            "tidies the old one up": (call("delete_notifications", notification_id=again[0].notification_id),),
        },
    )
    return with_verifiers(world, draft, rules={"send_notification": "NTF-1, NTF-2"})


def _figures(world: World) -> Draft:
    """A manager asks for figures, and for a report about the worst case."""
    records, acting, group = DeskRecords(world), world.user("Jonas Ekberg"), world.group("Gateway Support")
    cases = world.all(CustomerCase, assignment_group_id=group.group_id)
    pending = [case for case in cases if case.state == "pending"]
    oldest = pending[0]
    contact = records.contact_of(oldest)
    critical = [case for case in world.all(CustomerCase) if case.priority == "critical"]
    draft = Draft(
        slug="figures-for-gateway-support",
        actor=acting,
        prompt=(
            "For the Monday meeting I need two figures: how many cases of Gateway Support are pending, and how many "
            "cases there are with priority critical, all states and groups together. And please send a reminder to "
            "the contact of the case that has been pending in Gateway Support for longest, by registration."
        ),
        plan=(
            "Look up Jonas and the group; count its pending cases, and all critical ones.",
            "List the group's cases, find the oldest pending one and its contact.",
            "Send the contact a reminder (NTF-1, NTF-3), and answer with both figures.",
        ),
        gold=(
            find_user(acting),
            find_team(group),
            call("count_case_for_assignment_group", assignment_group_id=group.group_id, state="pending"),
            call("get_count_of_cases_priority_wise", priority="critical"),
            call("get_cases_assigned_to", assignment_group_id=group.group_id),
            call("find_contacts", contact_id=contact.contact_id),
            find_contact_user(contact),
            notify(oldest, records.user_of(contact), "reminder"),
        ),
        answer=f"{len(pending)} are pending, {len(critical)} are critical; the contact of {oldest.number} is reminded.",
        verifiers=(
            answer_says(
                "gives_both_figures",
                "The answer gives both figures [REF-3]",
                all_of(apart((number(len(pending)), "pending"), (number(len(critical)), "critical"))),
            ),
        ),
        tools=("count_case_by_state", "get_channel_wise_case_count", "avg_reopen_count_for_assignment_group"),
        mistakes={
            "has the case go on": (call("update_case", case_id=oldest.case_id, state="in_progress"),),
            "reminds another": (notify(pending[1], records.user_of(records.contact_of(pending[1])), "reminder"),),
        },
    )
    return with_verifiers(world, draft)


FAMILIES = (articles, conversations)
