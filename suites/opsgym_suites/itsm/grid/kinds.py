"""Tasks about reports of one kind: the site, the messages or the clocks of each settle what is done with it."""

from __future__ import annotations

from collections.abc import Iterable

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, apart, number, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import ConfigurationItem, Incident, IncidentSla, Location, Problem
from opsgym_suites.itsm.calls import (
    articles_of,
    callers,
    find_user,
    notify,
    numbers,
    suggest,
    unlink_article,
    update_incident,
)
from opsgym_suites.itsm.core.follow_ups import next_change, raised
from opsgym_suites.itsm.core.major_incidents import new_problem
from opsgym_suites.itsm.core.messages import messages_about
from opsgym_suites.itsm.core.recurring import proposal, resolve
from opsgym_suites.itsm.core.scenario_events import ScenarioEvent
from opsgym_suites.itsm.grid.outages import CLINICS, LINES
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, full_name
from opsgym_suites.kit.scenarios import FIRST_LOOK
from opsgym_suites.kit.verifiers import May, answer_says


def at_site(records: CompanyRecords, cases: Iterable[Incident], site: str) -> list[Incident]:
    """Those incidents whose callers work at a site."""
    place = records.named(Location, site).location_id
    return [case for case in cases if records.caller(case).location_id == place]


def listed(summary: str) -> ToolCall:
    """Call that lists the incidents with a summary."""
    return call("list_incidents", short_description=summary)


# --- results without units --------------------------------------------------------------------------------------------


def units(world: World) -> Draft:
    """A problem and its change; a caller leaves meanwhile and gets no message."""
    records, summary = CompanyRecords(world, CLINICS), "Lab result arrives without units"
    actor, cases = records.person("Fetu Lagi"), records.open_reports(summary)
    statement, text = "The import drops the units of results.", "Your report waits for a lasting repair of the import."
    leaver = records.caller(cases[1])
    event = ScenarioEvent(world).change(leaver, active=False)
    key = str(world.next_id(Problem))
    opened, _named = new_problem(records, cases, statement, assigned_to=actor.user_id)
    levels = {name: opened.arguments[name] for name in ("impact", "priority")}
    made = call(
        "create_change",
        short_description="One import profile for each laboratory",
        status="new",
        category="application_software",
        risk="low",
        cab_required=levels["impact"] == "high",
        implementation_plan="Split the profile by laboratory.",
        testing_plan="Import ten results of each.",
        assignment_group=cases[0].assignment_group,
        service=cases[0].service,
        service_offering=cases[0].service_offering,
        **levels,
    )

    def informed(case: Incident) -> ToolCall:
        return notify(case, records.caller(case), "update", f"{case.number}: waits for a problem", text)

    reached = [case for case in cases if case.caller_id != leaver.user_id]
    looked = (find_user(actor), listed(summary), *callers(cases))
    writes = (
        opened,
        *(update_incident(case, problem=key, status="on_hold", on_hold_reason="Awaiting Problem") for case in cases),
        made,
        call("map_change_request", change_id=next_change(world), problem_id=key),
        *map(informed, reached),
    )
    left = next(case for case in cases if case not in reached)
    answer = (
        f"{len(cases)} reports wait for the new problem. {full_name(leaver)} got no message: the account is closed."
    )
    return with_verifiers(
        world,
        Draft(
            slug="results-without-units",
            actor=actor,
            prompt=(
                f"{summary}: four open reports, all mine, one cause. Open a problem for them, assigned to me in their "
                f"group, '{statement}', and let all of them wait for it in due form; the message is '{text}' Raise the "
                "change for the problem as well, in the same group: 'One import profile for each laboratory', "
                "application software, low risk, plan 'Split the profile by laboratory.', test 'Import ten results of "
                "each.' Contracts end these days and accounts are closed hour by hour, so check the callers again "
                "right before you write to them. Who, if anyone, could not be reached?"
            ),
            plan=(
                "Look up Fetu Lagi, the open reports and their callers.",
                "Open the problem with the highest levels of them (PRB-1, PRB-2), and put each on hold for it (INC-6).",
                "Create the change with impact and priority of the problem, and map it (CHG-3).",
                "Look the callers up again: the account of one is closed meanwhile, so it gets no message (NTF-1).",
                "Send the update to the others.",
            ),
            gold=(*looked, *callers(cases), *writes),
            answer=answer,
            verifiers=(
                answer_says(
                    "names_who_was_not_reached", "The answer names the person or the report [REF-3]",
                    term(leaver.last_name), left.number,
                ),
            ),
            tools=("list_problems", "list_users", "update_problem", "find_notifications_sent_for_incident"),
            events=(event.happens_after(FIRST_LOOK),),
            mistakes={"resolves one": (resolve(cases[0], actor.user_id, "Known Error", text),)},
            negative_trajectories={
                "writes to a closed account": NegativeTrajectory((*looked, *writes, informed(left)), answer)
            },
        ),
        event,
        rules={
            "create_problem": "PRB-1, PRB-2",
            "update_incident": "INC-6, PRB-1",
            "create_change": "CHG-1, CHG-2, CHG-3",
            "map_change_request": "CHG-3",
            "send_notification": "INC-6, NTF-1",
        },
        expect={"create_problem": {"short_description": May()}},
    )  # fmt: skip


# --- letters with the old address -------------------------------------------------------------------------------------


def letters(world: World) -> Draft:
    """At one site it is repaired; the reports of the other one wait for a change."""
    records, summary = CompanyRecords(world, CLINICS), "Letter template shows the old address"
    actor, clerk = records.person("Vikram Shah"), records.person("Tane Bishop")
    cases = records.open_reports(summary)
    done, waiting = at_site(records, cases, "Ponsonby Clinic"), at_site(records, cases, "Suva Clinic")
    notes, text, key = "Address in the template corrected.", "It waits for the template of Suva.", next_change(world)
    return with_verifiers(
        world,
        Draft(
            slug="letters-of-two-clinics",
            actor=actor,
            prompt=(
                "The letter template with the old address is corrected for the Ponsonby Clinic, by Tane Bishop. So "
                f"resolve what callers from there have open about it, in Tane's name, '{notes}', with the usual "
                "message. Suva has a template of its own: raise a change for the oldest open report from there, "
                "'Template of Suva', application software, low risk, for the group that has the report, plan "
                "'Replace the address line.', test 'Print one letter of each kind.' All open reports of "
                f"this from Suva wait for the change, as our rules have it, message '{text}' Go by where the callers "
                "work, the titles do not always say. "
                "How many of each?"
            ),
            plan=(
                "Look up Vikram Shah, Tane Bishop, the sites, the open reports and the callers.",
                "Resolve those of one clinic by Tane Bishop (INC-7, INC-8), and send each caller the proposal.",
                "Create the change with impact and priority of the oldest of the other clinic (CHG-3).",
                "Map it to each report from there, put it on hold for it, and send the caller the update (INC-6).",
            ),
            gold=(
                find_user(actor),
                find_user(clerk),
                listed(summary),
                call("find_locations", active=True),
                *callers(cases),
                *(resolve(case, clerk.user_id, "Solution Provided", notes) for case in done),
                *(proposal(records, case, notes) for case in done),
                raised(
                    waiting[0],
                    waiting[0].assignment_group,
                    "Template of Suva",
                    "application_software",
                    risk="low",
                    cab_required=False,
                    implementation_plan="Replace the address line.",
                    testing_plan="Print one letter of each kind.",
                ),
                *(call("map_change_request", change_id=key, incident_id=case.incident_id) for case in waiting),
                *(
                    update_incident(
                        case, status="on_hold", on_hold_reason="Awaiting Change", change_request=key
                    )
                    for case in waiting
                ),
                *(
                    notify(case, records.caller(case), "update", f"{case.number}: waits for a change", text)
                    for case in waiting
                ),
            ),
            answer=f"{len(done)} are resolved, {numbers(done)}; {len(waiting)} wait, {numbers(waiting)}.",
            verifiers=(
                answer_says(
                    "says_how_many",
                    "The answer says how many [REF-3]",
                    all_of(apart((number(len(done)), "resolved"), (number(len(waiting)), "wait|waiting|on hold"))),
                ),
            ),
            tools=("list_changes", "update_change", "find_incident_by_number", "list_users"),
            mistakes={
                "resolves one of the other clinic": (
                    resolve(waiting[0], clerk.user_id, "Solution Provided", notes),
                ),
                "starts the change": (call("update_change", change_id=key, status="assess"),),
            },
        ),
        rules={
            "update_incident": "INC-6, INC-7, INC-8",
            "send_notification": "INC-6, INC-7, NTF-2",
            "create_change": "CHG-1, CHG-2, CHG-3",
            "map_change_request": "INC-6, CHG-3",
        },
    )  # fmt: skip


# --- second screens ---------------------------------------------------------------------------------------------------


def screens(world: World) -> Draft:
    """An article is published; only callers who were sent nothing so far are written to."""
    records, summary = CompanyRecords(world, LINES), "Second screen stays dark"
    actor, article = records.person("Leilani Fonoti"), records.article("Connecting a second screen")
    cases, body = records.open_reports(summary), "Choose the input of the screen with the button at its back."
    silent = [case for case in cases if not records.messages(case)]
    written = next(case for case in cases if case not in silent)
    fresh = next(case for case in cases if case.status == "new")
    fitter = records.person("Callum Reade")

    def informed(case: Incident) -> ToolCall:
        return notify(case, records.caller(case), "update", f"{case.number}: second screen", body)

    return with_verifiers(
        world,
        Draft(
            slug="second-screens-get-their-article",
            actor=actor,
            prompt=(
                "Second screens that stay dark are a matter of the input, every time. Our article 'Connecting a second "
                f"screen' should say so: text '{body}', published and external from now on, owner as it is. Suggest it "
                "on all open reports of that, and take off what else is linked to them, phones and the like. Callers "
                "about whose report not a single message exists yet get the text as an update; the others were written "
                "to often enough. The new one with no assignee goes to Callum Reade (not Reid), who begins. How many "
                "did you write to?"
            ),
            plan=(
                "Look up Leilani Fonoti (a manager), Callum Reade, the article and the open reports.",
                "List the articles and the messages of each report.",
                "Publish the article with its new text; suggest it on each, and remove the other articles (KB-1).",
                "Assign the new one, in_progress (INC-5).",
                "Send the update to the callers without any message so far.",
            ),
            gold=(
                find_user(actor),
                find_user(fitter),
                call("retrieve_knowledge_articles", title=article.title),
                listed(summary),
                *(articles_of(case) for case in cases),
                *(messages_about(case) for case in cases),
                *callers(silent),
                call(
                    "update_knowledge_article",
                    knowledge_id=article.knowledge_id,
                    body=body,
                    state="published",
                    visibility="external",
                ),
                *(suggest(case, article) for case in cases),
                *(unlink_article(link) for link in records.articles(*cases)),
                update_incident(fresh, assigned_to=fitter.user_id, status="in_progress"),
                *map(informed, silent),
            ),
            answer=f"I wrote to the callers of {len(silent)} reports: {numbers(silent)}.",
            verifiers=(answer_says("says_how_many", "The answer says how many [REF-3]", number(len(silent))),),
            tools=("create_knowledge_article", "count_notifications_by_incident", "find_incident_knowledge_links"),
            mistakes={"writes once more": (informed(written),)},
        ),
        rules={
            "update_knowledge_article": "KB-1",
            "link_knowledge_to_incident": "KB-1",
            "remove_knowledge_link_to_incident": "ID-4",
            "update_incident": "INC-5",
            "send_notification": "KB-1, NTF-2, NTF-3",
        },
    )  # fmt: skip


# --- labels of samples ------------------------------------------------------------------------------------------------


def labels(world: World) -> Draft:
    """The reports from one clinic are about one printer that no one has entered yet."""
    records, summary = CompanyRecords(world, CLINICS), "Label of a sample is unreadable"
    actor, keeper = records.person("Ofa Taufa"), records.person("Moana Grey")
    cases = records.open_reports(summary)
    parent, *children = at_site(records, cases, "Suva Clinic")
    far, printer = next(c for c in cases if c not in (parent, *children)), str(world.next_id(ConfigurationItem))
    place = records.named(Location, "Suva Clinic")

    def affected(case: Incident) -> ToolCall:
        return call("link_affected_ci_to_incident", configuration_item=printer, incident_id=case.incident_id)

    tied = [
        call("add_child_incident", parent_incident=parent.incident_id, child_incident=c.incident_id) for c in children
    ]
    return with_verifiers(
        world,
        Draft(
            slug="sample-labels-of-one-printer",
            actor=actor,
            prompt=(
                "Samples with unreadable labels: what callers at the Suva Clinic report is our pale printer there, "
                "which no one ever entered. Please enter it, 'Sample label printer Suva', serial number SL-0909, 420 "
                "dollars, in use, Moana Grey's. Their open reports are all about it, name it as affected, and as one "
                "fault they hang together the way that our rules want. Articles on other things that are suggested on "
                "one of these go away. The reports from other clinics are none of it. Which one is the parent?"
            ),
            plan=(
                "Look up Ofa Taufa (a manager), Moana Grey, the site, the open reports and their callers.",
                "Register the printer; set it in the reports of callers at that site, and list it as affected.",
                "The oldest is the parent: link the others as its children, with their parent (INC-11).",
                "Remove the articles on other things.",
            ),
            gold=(
                find_user(actor),
                find_user(keeper),
                call("find_location_by_given_name", name=place.name),
                listed(summary),
                *callers(cases),
                *(articles_of(case) for case in (parent, *children)),
                call(
                    "register_configuration_item",
                    name="Sample label printer Suva",
                    serial_number="SL-0909",
                    cost=420,
                    status="in_use",
                    owner_id=keeper.user_id,
                    location_id=place.location_id,
                ),
                update_incident(parent, configuration_item=printer),
                *(
                    update_incident(case, configuration_item=printer, parent_incident=parent.incident_id)
                    for case in children
                ),
                *tied,
                *map(affected, (parent, *children)),
                *(unlink_article(link) for link in records.articles(parent, *children)),
            ),
            answer=f"{parent.number} is the parent of {numbers(children)}.",
            verifiers=(answer_says("names_the_parent", "The answer names it [REF-3]", parent.number),),
            tools=("add_child_incidents", "find_configuration_items", "list_incident_affected_cis", "list_users"),
            mistakes={
                "draws in another clinic": (update_incident(far, parent_incident=parent.incident_id),),
                "lists it there": (affected(far),),
            },
        ),
        rules={
            "register_configuration_item": "ID-3",
            "update_incident": "INC-11",
            "add_child_incident": "INC-11",
            "link_affected_ci_to_incident": "LKP-1",
            "remove_knowledge_link_to_incident": "ID-4",
        },
    )  # fmt: skip


# --- badges -----------------------------------------------------------------------------------------------------------


def badges(world: World) -> Draft:
    """Clocks that are still kept are completed; those that have breached stay as they are."""
    records, summary = CompanyRecords(world, CLINICS), "Card reader does not take the badge"
    actor, cases, notes = records.person("Moana Grey"), records.open_reports(summary), "Badge enrolled."
    clocks = [row for case in cases for row in world.all(IncidentSla, incident_id=case.incident_id)]
    running = [row for row in clocks if row.stage in ("in_progress", "paused")]
    late = [case for case in cases if any(row.has_breached for row in clocks if row.incident_id == case.incident_id)]

    def completed(row: IncidentSla) -> ToolCall:
        return call(
            "update_incident_sla_details",
            incident_sla_id=row.incident_sla_id,
            stage="completed",
            completed_time=world.now.isoformat(),
        )

    return with_verifiers(
        world,
        Draft(
            slug="badges-and-their-clocks",
            actor=actor,
            prompt=(
                "All badges that card readers did not take are enrolled now: resolve my open reports of it for me, "
                f"'{notes}', the fault is gone in each, with the message that follows. Clocks on them that run or "
                f"pause end with that: completed, at {world.now:%H:%M} UTC today. A clock that was missed stays "
                "exactly as it is. If an article on something else is suggested on one of them, take it off. Which "
                "reports missed a clock?"
            ),
            plan=(
                "Look up Moana Grey, her open reports, the callers, the SLAs and the articles of each.",
                "Resolve each (INC-7, INC-8), and send its caller the solution proposal.",
                "Complete the SLAs in progress or paused; breached ones stay on record (PRC-10).",
                "Remove the article on another subject.",
            ),
            gold=(
                find_user(actor),
                call("list_incidents", short_description=summary, assigned_to=actor.user_id),
                *callers(cases),
                *(call("find_incident_slas", incident_id=case.incident_id) for case in cases),
                *(articles_of(case) for case in cases),
                *(resolve(case, actor.user_id, "Solution Provided", notes) for case in cases),
                *(proposal(records, case, notes) for case in cases),
                *map(completed, running),
                *(unlink_article(link) for link in records.articles(*cases)),
            ),
            answer=f"All {len(cases)} are resolved. A clock was missed on {numbers(late)}.",
            access=Access.STRICT,
            verifiers=(
                answer_says("names_the_late_ones", "The answer names them [REF-3]", all_of(c.number for c in late)),
            ),
            tools=("delete_incident_slas", "link_new_incident_sla", "find_sla_definitions", "find_incident_by_id"),
            mistakes={
                "removes a clock": (call("delete_incident_slas", incident_sla_id=running[0].incident_sla_id),),
                "completes one that was missed": (completed(next(row for row in clocks if row.has_breached)),),
            },
            negative_trajectories={
                "takes a breach back": NegativeTrajectory(
                    (
                        find_user(actor),
                        call("find_incident_slas", incident_id=late[0].incident_id),
                        call(
                            "update_incident_sla_details",
                            incident_sla_id=next(row for row in clocks if row.has_breached).incident_sla_id,
                            has_breached=False,
                        ),
                    ),
                    "All are resolved.",
                    "PRC-10",
                )
            },
        ),
        rules={
            "update_incident": "INC-7, INC-8",
            "send_notification": "INC-7, NTF-3",
            "update_incident_sla_details": "SLA-2, PRC-10",
            "remove_knowledge_link_to_incident": "ID-4",
        },
    )  # fmt: skip


FAMILIES = (units, letters, screens, labels, badges)
