"""Tasks about requests of callers: reports, answers from articles, notifications, corrections."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.tasks.answer_patterns import number
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.priority_matrix import priority_of
from opsgym_domains.itsm.tables import (
    Change,
    ChangeRequestMapping,
    ConfigurationItem,
    Incident,
    IncidentKnowledge,
    IncidentTemplate,
    Knowledge,
    Notification,
    Problem,
    Service,
    User,
)
from opsgym_suites.itsm.calls import breach_time, find_problem, find_team, find_user, notify, numbers, update_incident
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.verifiers import Present, answer_says
from opsgym_suites.kit.world import at

# --- reports -------------------------------------------------------------------------------------------------------


def reported(world: World) -> Iterator[Draft]:
    """A caller reports by phone, and the template gives most of the incident."""
    yield _locked_account(world)
    yield _broken_till(world)
    yield _changed_template(world)


def _from_template(template: IncidentTemplate, caller: User, **fields: str | None) -> ToolCall:
    given = {
        name: getattr(template, name)
        for name in (
            "short_description",
            "channel",
            "category",
            "impact",
            "urgency",
            "priority",
            "service",
            "service_offering",
        )
        if getattr(template, name)
    }
    key = template.incident_template_id
    return call("create_incident", **(given | {"caller_id": caller.user_id, "incident_template": key} | fields))


def _locked_account(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, caller, hand = map(records.person, ("Henrike Solberg", "Nadja Haddad", "Aino Lehto"))
    template, team = records.named(IncidentTemplate, "Locked account"), records.team("Harbour Service Desk West")
    article, namesake = records.article("Resetting a password by phone"), records.person("Nadia Haddad")
    draft = Draft(
        slug="report-locked-account",
        actor=actor,
        prompt=(
            "Nadja Haddad from the head office is on the phone, her account is locked. Please take the incident from "
            "our template for that; Aino Lehto from Harbour Service Desk West is free and starts on it at once. Add "
            "the article on resetting passwords by phone as a suggestion."
        ),
        plan=(
            "Look up Henrike Solberg, Nadja Haddad (not Nadia), Aino Lehto, the group, the template and the article.",
            (
                "Report the incident with the template's values, Nadja as caller, the group, Aino and in_progress "
                "(INC-3, INC-5)."
            ),
            "Link the article as suggested.",
        ),
        gold=(
            find_user(actor),
            find_user(caller),
            find_user(hand),
            find_team(team),
            call("get_incident_template_by_name", name=template.name),
            call("retrieve_knowledge_articles", title="password"),
            _from_template(
                template,
                caller,
                assignment_group=team.group_id,
                assigned_to=hand.user_id,
                status="in_progress",
            ),
            call(
                "link_knowledge_to_incident",
                incident_id=world.next_id(Incident),
                knowledge_id=article.knowledge_id,
                used_as="suggested",
            ),
        ),
        answer="Aino Lehto has Nadja Haddad's incident, priority moderate, with the article suggested.",
        verifiers=(),
        tools=("list_users", "get_incident_templates", "update_incident", "send_notification"),
        mistakes={"reports one for the namesake too": (_from_template(template, namesake),)},
    )
    return with_verifiers(
        world,
        draft,
        rules={"create_incident": "INC-1, INC-3, INC-4, INC-5", "link_knowledge_to_incident": "KB-1"},
        expect={"create_incident": {"short_description": Present()}},
    )


def _broken_till(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, caller, team = (
        records.person("Pauline Rey"),
        records.person("Chloe Petitjean"),
        records.team("Workshop Field Team"),
    )
    template, device = (
        records.named(IncidentTemplate, "Till does not start"),
        records.named(ConfigurationItem, "Boutique till 1"),
    )
    key, start = world.next_id(Incident), at("11-16 09:40")
    definitions = [records.sla_definition("high", metric) for metric in ("response", "resolution")]
    draft = Draft(
        slug="report-broken-till",
        actor=actor,
        prompt=(
            "At 09:40 Chloe Petitjean rang: Boutique till 1 in Lille does not start, customers are queueing. Use the "
            "template for tills, name the till, and list it as affected. It goes to the Workshop Field Team, no one in "
            "particular yet. The clocks run since her call."
        ),
        plan=(
            "Look up Pauline Rey, Chloe Petitjean (not Chloe Petit), the till, the template and the group.",
            "List the active definitions for high; keep Mirelle's.",
            (
                "Report the incident from the template: high priority, the till, the group, no assignee, status new "
                "(INC-3)."
            ),
            "Link the till as affected, and both SLAs from 09:40 with their breach times (SLA-1, SLA-2).",
        ),
        gold=(
            find_user(actor),
            find_user(caller),
            call("find_configuration_items", owner_id=actor.user_id),
            call("get_incident_template_by_name", name=template.name),
            find_team(team),
            call("find_sla_definitions", applies_to_priority="high", active=True),
            _from_template(
                template,
                caller,
                assignment_group=team.group_id,
                configuration_item=device.configuration_item_id,
                status="new",
            ),
            call("link_affected_ci_to_incident", configuration_item=device.configuration_item_id, incident_id=key),
            *(
                call(
                    "link_new_incident_sla",
                    incident_id=key,
                    sla_def_id=definition.sla_def_id,
                    start_time=start.isoformat(),
                    breach_time=breach_time(definition, start).isoformat(),
                )
                for definition in definitions
            ),
        ),
        answer="The till's incident is new with the Workshop Field Team, priority high; both SLAs run since 09:40.",
        verifiers=(),
        tools=("find_configuration_item_by_serial_number", "list_users", "get_incident_templates", "update_incident"),
        mistakes={
            "hands it to a colleague": (
                call("update_incident", incident_id=key, assigned_to=records.person("Oumar Sarr").user_id),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "create_incident": "INC-1, INC-3, INC-4",
            "link_affected_ci_to_incident": "LKP-1",
            "link_new_incident_sla": "SLA-1, SLA-2",
        },
        expect={
            "create_incident": {"short_description": Present()},
            "link_new_incident_sla": {"stage": "in_progress", "has_breached": False},
        },
    )


def _changed_template(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, team = records.person("Sigrid Aune"), records.team("Terminal Field Team")
    template = records.named(IncidentTemplate, "Broken handheld")
    callers = [records.person(name) for name in ("Anders Holt", "Lucia Ferrante")]
    levels = {"impact": "low", "urgency": "high", "priority": priority_of("low", "high")}
    draft = Draft(
        slug="template-for-handhelds",
        actor=actor,
        prompt=(
            "Broken handhelds stop the work of their users, so the template Broken handheld should say urgency "
            "high from now on, and what follows from that. Two people have come to the desk with such a handheld "
            "this morning, Anders Holt and Lucia Ferrante: report an incident for each by the changed template, for "
            "the Terminal Field Team."
        ),
        plan=(
            "Look up Sigrid Aune, the template, the group, Anders Holt and Lucia Ferrante.",
            "Change the template's urgency and its priority: low impact and high urgency are moderate (INC-1).",
            "Report an incident for each of them with the template's values, status new (INC-3).",
        ),
        gold=(
            find_user(actor),
            call("get_incident_templates", active=True),
            find_team(team),
            *map(find_user, callers),
            call(
                "update_incident_template",
                incident_template_id=template.incident_template_id,
                change_request_values={"urgency": "high", "priority": levels["priority"]},
            ),
            *(
                _from_template(template, caller, assignment_group=team.group_id, status="new", **levels)
                for caller in callers
            ),
        ),
        answer="The template says urgency high, priority moderate; Anders Holt and Lucia Ferrante have one each.",
        verifiers=(),
        tools=("get_incident_template_by_name", "create_new_incident_template", "list_users", "find_service_by_name"),
        mistakes={
            "switches the template off": (
                call("update_incident_template", incident_template_id=template.incident_template_id, active=False),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"update_incident_template": "INC-1", "create_incident": "INC-1, INC-3, INC-4"},
        expect={"create_incident": {"short_description": Present()}},
    )


# --- answers -------------------------------------------------------------------------------------------------------


def answered(world: World) -> Iterator[Draft]:
    """Questions that a published article answers are resolved with it, and callers are notified."""
    yield _answer(
        world,
        company="Halden Freight",
        article="Booking rooms at the terminal",
        summary="How to book a meeting room at the terminal",
        actor="Ines Carvalho",
        notes="Answered by the article on booking rooms.",
        slug="answer-room-questions",
        prompt=(
            "I have walked everybody who asked how to book a meeting room at the terminal through our article 'Booking "
            "rooms at the terminal'. So all of those incidents that are still open are solved, by me, notes '{notes}' "
            "Link the article where it is not linked yet, as what resolved it."
        ),
    )
    yield _answer(
        world,
        company="Mirelle Botanics",
        article="Two passwords on one phone",
        summary="Account locked after new password",
        actor="Elise Garnier",
        notes="Old password removed from the phone.",
        slug="answer-locked-accounts",
        prompt=(
            "Everybody with an account locked after a new password had the old one on the phone; I have removed it "
            "with each of them as our article 'Two passwords on one phone' says. Resolve what is open about that in "
            "my name with the notes '{notes}', and record the article as the resolution where no link to it exists."
        ),
    )


def _answer(
    world: World, *, company: str, article: str, summary: str, actor: str, notes: str, slug: str, prompt: str
) -> Draft:
    records = CompanyRecords(world, company)
    acting, page = records.person(actor), records.article(article)
    cases = [incident for incident in records.open_incidents() if incident.short_description.startswith(summary)]
    is_child = {link.incident_id for link in world.all(IncidentKnowledge, knowledge_id=page.knowledge_id)}
    bare = [incident for incident in cases if incident.incident_id not in is_child]
    callers = list({incident.caller_id: records.caller(incident) for incident in cases}.values())
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt.format(notes=notes),
        plan=(
            f"Look up {actor} and the article: published and external, so callers may have it (KB-1).",
            "List the incidents by their words; keep the company's open ones, whatever place they name.",
            "See which of them the article is linked to; link it to the others as resolution.",
            f"Resolve each in one call: Solution Provided, the notes, {actor} as resolver (INC-7).",
            "Look up the callers and send each a solution_proposal on each incident.",
        ),
        gold=(
            find_user(acting),
            call("retrieve_knowledge_articles", title=article),
            call("list_incidents", short_description=summary),
            call("find_incident_knowledge_links", knowledge_id=page.knowledge_id),
            *(call("get_user", user_id=user.user_id) for user in callers),
            *(
                call(
                    "link_knowledge_to_incident",
                    incident_id=incident.incident_id,
                    knowledge_id=page.knowledge_id,
                    used_as="resolution",
                )
                for incident in bare
            ),
            *(
                update_incident(
                    incident,
                    status="resolved",
                    resolution_code="Solution Provided",
                    resolution_notes=notes,
                    resolved_by=acting.user_id,
                )
                for incident in cases
            ),
            *(
                notify(
                    incident,
                    records.caller(incident),
                    "solution_proposal",
                    f"{incident.number} is resolved",
                    page.body or "",
                )
                for incident in cases
            ),
        ),
        answer=f"Resolved with the article: {numbers(cases)}. Their callers have a solution proposal.",
        verifiers=(),
        tools=("find_incident_by_number", "create_knowledge_article", "find_notifications_sent_for_incident"),
        mistakes={"closes one at once": (update_incident(cases[0], status="closed", close_notes=notes),)},
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "link_knowledge_to_incident": "KB-1",
            "update_incident": "INC-7, INC-8",
            "send_notification": "INC-7, NTF-2, NTF-3",
        },
    )


# --- articles ------------------------------------------------------------------------------------------------------


def articles(world: World) -> Iterator[Draft]:
    """Articles get new owners, or are retired."""
    yield _orphans(world)
    yield _successor(world)


def _orphans(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, heir = records.person("Hugo Lambert"), records.person("Elise Garnier")
    gone = [user.user_id for user in world.all(User, org_id=records.org_id, active=False)]
    left = [page for page in world.all(Knowledge, org_id=records.org_id) if page.owner_id in gone]
    remaining = [page for page in left if page.state == "published"]
    dropped = [page for page in left if page.state in {"draft", "review"}]
    draft = Draft(
        slug="articles-of-leavers",
        actor=actor,
        prompt=(
            "A few of our articles belong to people whose accounts are inactive. Those that are published get Elise "
            "Garnier as owner; those that never got that far are retired and keep their owner. Which ones did you "
            "retire?"
        ),
        plan=(
            "Look up Hugo Lambert (a manager) and Elise Garnier.",
            "List inactive users and keep Mirelle's; list the articles and keep those that belong to one of them.",
            "Give the published ones to Elise; retire drafts and those in review; leave what is retired already.",
            "Name what was retired.",
        ),
        gold=(
            find_user(actor),
            find_user(heir),
            call("list_users", active="false"),
            call("retrieve_knowledge_articles"),
            *(
                call("update_knowledge_article", knowledge_id=page.knowledge_id, owner_id=heir.user_id)
                for page in remaining
            ),
            *(call("update_knowledge_article", knowledge_id=page.knowledge_id, state="retired") for page in dropped),
        ),
        answer=(
            f"Elise Garnier owns {len(remaining)} more articles. Retired: {', '.join(page.title for page in dropped)}."
        ),
        verifiers=(
            answer_says(
                "answer_names_the_retired",
                "The answer names each article that was retired [REF-3]",
                "(?s)" + "".join(f"(?=.*(?:{page.title}|{page.kb_number}))" for page in dropped),
            ),
        ),
        tools=("get_user", "create_knowledge_article", "find_incident_knowledge_links"),
        mistakes={
            "takes over what is retired": (
                call(
                    "update_knowledge_article",
                    knowledge_id=next(page for page in left if page.state == "retired").knowledge_id,
                    owner_id=heir.user_id,
                ),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"update_knowledge_article": "ID-2, ID-3"})


def _successor(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, author, old = (
        records.person("Hugo Lambert"),
        records.person("Yara Haidar"),
        records.article("Connecting from home"),
    )
    open_ones = {incident.incident_id for incident in records.open_incidents()}
    links = [
        link for link in world.all(IncidentKnowledge, knowledge_id=old.knowledge_id) if link.incident_id in open_ones
    ]
    body = "Start the new client, choose Gateway B and confirm on the phone."
    draft = Draft(
        slug="article-gets-a-successor",
        actor=actor,
        prompt=(
            "Our article 'Connecting from home' describes the old gateway. Please publish a new one, 'Connecting "
            f"from home by Gateway B', external, by Yara Haidar, with the text '{body}', and retire the old one. "
            "Where the old one is linked to an incident that is still open, replace it by the new one, used in the "
            "same way."
        ),
        plan=(
            "Look up Hugo Lambert (a manager), Yara Haidar, Mirelle's article, and what it is linked to.",
            "Look at each linked incident; keep the open ones.",
            "Write the new article and retire the old one.",
            "On each open incident remove the old link and link the new article with the same use.",
        ),
        gold=(
            find_user(actor),
            find_user(author),
            call("retrieve_knowledge_articles", title=old.title),
            call("find_incident_knowledge_links", knowledge_id=old.knowledge_id),
            *(call("find_incident_by_id", incident_id=link.incident_id) for link in links),
            call(
                "create_knowledge_article",
                title="Connecting from home by Gateway B",
                owner_id=author.user_id,
                body=body,
                state="published",
                visibility="external",
            ),
            call("update_knowledge_article", knowledge_id=old.knowledge_id, state="retired"),
            *(
                call("remove_knowledge_link_to_incident", incident_id=link.incident_id, knowledge_id=old.knowledge_id)
                for link in links
            ),
            *(
                call(
                    "link_knowledge_to_incident",
                    incident_id=link.incident_id,
                    knowledge_id=world.next_id(Knowledge),
                    used_as=link.used_as,
                )
                for link in links
            ),
        ),
        answer=f"The new article is published, the old one retired, and {len(links)} open incidents name the new one.",
        verifiers=(),
        tools=("list_incidents", "find_incident_by_number", "list_users"),
        mistakes={
            "unlinks it from a finished incident": (
                call(
                    "remove_knowledge_link_to_incident",
                    incident_kb_id=next(
                        link
                        for link in world.all(IncidentKnowledge, knowledge_id=old.knowledge_id)
                        if link not in links
                    ).incident_kb_id,
                ),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "create_knowledge_article": "ID-3",
            "update_knowledge_article": "ID-3",
            "remove_knowledge_link_to_incident": "INC-10",
            "link_knowledge_to_incident": "INC-10, KB-1",
        },
    )


# --- messages ------------------------------------------------------------------------------------------------------


def messages(world: World) -> Iterator[Draft]:
    """Users are notified, once each, or once more."""
    yield _undelivered(world)
    yield _everybody_once(world)


def _undelivered(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor = records.person("Elise Garnier")
    failed = world.all(Notification, org_id=records.org_id, status="failed")
    draft = Draft(
        slug="send-undelivered-again",
        actor=actor,
        prompt=(
            "The mail gateway was down for a while, and some of our notifications ended up as failed. Send each of "
            "them again: same incident, recipient, type, subject and message. Then delete the failed ones. How many "
            "were there?"
        ),
        plan=(
            "Look up Elise Garnier.",
            "List failed notifications; keep Mirelle's (ID-2).",
            "Send each once more with the same content, its status left alone (NTF-2).",
            "Delete the failed ones, and say how many they were.",
        ),
        gold=(
            find_user(actor),
            call("find_notifications", status="failed"),
            *(
                call(
                    "send_notification",
                    incident_id=message.incident_id,
                    email=message.email,
                    type=message.type,
                    subject=message.subject,
                    message=message.message,
                )
                for message in failed
            ),
            *(call("delete_notifications", notification_id=message.notification_id) for message in failed),
        ),
        answer=f"{len(failed)} notifications were sent again, and the failed ones are gone.",
        verifiers=(answer_says("answer_has_the_number", "The answer says how many [REF-3]", number(len(failed))),),
        tools=("update_notification", "count_notifications_by_status", "find_notifications_for_email", "get_user"),
        mistakes={
            "deletes one of the other company": (
                call(
                    "delete_notifications",
                    notification_id=next(
                        message
                        for message in world.all(Notification, status="failed")
                        if message.org_id != records.org_id
                    ).notification_id,
                ),
            ),
        },
    )
    exact = {message.message for message in failed}
    return with_verifiers(
        world,
        draft,
        rules={"send_notification": "NTF-2", "delete_notifications": "ID-2, ID-4"},
        expect={"send_notification": {"message": sorted(filter(None, exact))}},
    )


def _everybody_once(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, line = records.person("Signe Aaberg"), records.named(Service, "Weighbridge")
    reports = [records.incident(f"weighbridge-zero-{number}") for number in (1, 2, 3, 4)]
    newest = {incident.caller_id: incident for incident in sorted(reports, key=records.reported_at)}
    text = "The technician comes today at 13:00; please use gate 2 until then."
    draft = Draft(
        slug="tell-weighbridge-callers-once",
        actor=actor,
        prompt=(
            "Tell everybody who has reported that the weighbridge shows no weight (there are four such reports "
            f"open): '{text}' Callers who reported it twice get it once, on the newer report. The same note goes into "
            "the work notes of all four."
        ),
        plan=(
            "Look up Signe Aaberg, the service Weighbridge and its incidents.",
            "Keep the four reports of missing weight; the ticket's logo is something else.",
            "Look up the callers; send each one update on the newest of their reports (NTF-2).",
            "Put the text into the work notes of all four.",
        ),
        gold=(
            find_user(actor),
            call("find_service_by_name", name=line.name),
            call("list_incidents", service=line.service_id),
            *(call("get_user", user_id=caller) for caller in newest),
            *(
                notify(incident, records.caller(incident), "update", f"{incident.number}: technician at 13:00", text)
                for incident in newest.values()
            ),
            *(update_incident(incident, worknotes=text) for incident in reports),
        ),
        answer=f"{len(newest)} people were notified, and the note is in {numbers(reports)}.",
        verifiers=(),
        tools=("find_notifications_sent_for_incident", "find_notifications", "find_incident_by_number"),
        mistakes={
            "notifies a caller twice": (
                notify(reports[0], records.caller(reports[0]), "update", f"{reports[0].number}: technician", text),
            ),
            "notes it on the logo as well": (
                update_incident(records.incident("weighbridge-zero-not-1"), worknotes=text),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"send_notification": "NTF-2", "update_incident": "ID-4"})


# --- links ---------------------------------------------------------------------------------------------------------


def corrections(world: World) -> Iterator[Draft]:
    """Links to wrong records are corrected."""
    yield _wrong_problem(world)
    yield _cause_found(world)


def _wrong_problem(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, wrong, right = (
        records.person("Theo Marchand"),
        world.fixture(Problem, "card-declines"),
        world.fixture(Problem, "voucher-expiry"),
    )
    change, other = world.fixture(Change, "payment-library"), world.fixture(Change, "voucher-zone")
    (link,) = world.all(ChangeRequestMapping, change_id=change.change_id)
    note = "CHG was mapped here by mistake."
    draft = Draft(
        slug="change-on-the-wrong-problem",
        actor=actor,
        prompt=(
            f"{change.number} was mapped to {wrong.number}, but what it solves is {right.number}. Take it off the one "
            f"and map it to the other, where {other.number} belongs as well, which has not been mapped so far. Leave "
            f"the work note '{note}' on the problem that loses it."
        ),
        plan=(
            "Look up Theo Marchand, both changes, both problems and the mappings of each problem.",
            "Remove the mapping, map both changes to the right problem.",
            "Give each change the impact and priority of the problem that it addresses now, where they differ (CHG-3).",
            "Add the note to the problem that loses the change. Status and levels of the problems stay.",
        ),
        gold=(
            find_user(actor),
            call("find_change_by_number", number=change.number),
            call("find_change_by_number", number=other.number),
            find_problem(wrong),
            find_problem(right),
            call("find_change_request_mappings_for_problem", problem_id=wrong.problem_id),
            call("find_change_request_mappings_for_problem", problem_id=right.problem_id),
            call("delete_change_request_mappings", change_request_mapping_id=link.change_request_mapping_id),
            call("map_change_request", change_id=change.change_id, problem_id=right.problem_id),
            call("map_change_request", change_id=other.change_id, problem_id=right.problem_id),
            call(
                "update_problem",
                problem_id=wrong.problem_id,
                worknotes=f"{wrong.worknotes} {note}" if wrong.worknotes else note,
            ),
            *_levels_of_the_problem(right, change, other),
        ),
        answer=f"{change.number} and {other.number} are mapped to {right.number}; {wrong.number} has the note.",
        verifiers=(),
        tools=("list_change_request_mappings", "list_changes", "list_problems", "update_change"),
        mistakes={"moves the change on": (call("update_change", change_id=change.change_id, status="authorize"),)},
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "delete_change_request_mappings": "CHG-3",
            "map_change_request": "CHG-3",
            "update_problem": "ID-4",
            "update_change": "CHG-3",
        },
    )


def _levels_of_the_problem(problem: Problem, *changes: Change) -> Iterator[ToolCall]:
    """Updates of changes that have another impact or priority than the problem that they address [CHG-3]."""
    levels = {"impact": problem.impact, "priority": "low" if problem.priority == "planning" else problem.priority}
    for change in changes:
        differing = {name: value for name, value in levels.items() if getattr(change, name) != value}
        if differing:
            yield call("update_change", change_id=change.change_id, **differing)


def _cause_found(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, change = records.person("Ravi Menon"), world.fixture(Change, "crane-firmware")
    line = records.named(Service, "Crane Telemetry")
    reports = [records.incident(f"crane-silence-{number}") for number in (1, 2, 3, 4, 5)]
    bare = [incident for incident in reports if not incident.assigned_to]
    draft = Draft(
        slug="change-that-silenced-the-cranes",
        actor=actor,
        prompt=(
            f"{change.number} did it: since that firmware the western crane gateway sends nothing. Please record it "
            "as the cause in every report of silent cranes from this morning, and give me those that have no "
            "assignee yet."
        ),
        plan=(
            "Look up Ravi Menon, the change, the service Crane Telemetry and its incidents.",
            "Keep the open reports of missing values; a crane that squeaks is something else.",
            "Name the change as cause in each; those without an assignee become Ravi's and in progress (INC-5).",
            "The change stays as it is.",
        ),
        gold=(
            find_user(actor),
            call("find_change_by_number", number=change.number),
            call("find_service_by_name", name=line.name),
            call("list_incidents", service=line.service_id),
            *(
                update_incident(
                    incident,
                    caused_by_change=change.change_id,
                    **({"assigned_to": actor.user_id, "status": "in_progress"} if incident in bare else {}),
                )
                for incident in reports
            ),
        ),
        answer=f"{numbers(reports)} name {change.number} as their cause, and {numbers(bare)} are Ravi Menon's.",
        verifiers=(),
        tools=("list_changes", "update_change", "map_change_request", "find_incident_by_number"),
        mistakes={
            "awaits the change as well": (update_incident(reports[0], change_request=change.change_id),),
            "blames it for the squeak": (
                update_incident(records.incident("crane-silence-not-1"), caused_by_change=change.change_id),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"update_incident": "INC-5"})
