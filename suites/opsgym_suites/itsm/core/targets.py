"""Tasks that figures decide: target minutes, numbers of incidents, breached SLAs by stage.

Invariant: the figures that decide are those of the tools, which count definitions out of use and finished records too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, apart, figure, number, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Incident, IncidentSla, SlaDefinition, User, UserGroup
from opsgym_suites.itsm.calls import breach_time, find_team, find_user, notify, numbers, update_incident
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.verifiers import answer_refuses, answer_says, figures, figures_apart

SUM, AVERAGE = "total_sum_of_target_mins_per_priority", "average_target_mins_per_priority"
BREACHES, PRIORITIES = "find_stage_wise_breached_incident_sla_counts", "get_count_of_incident_priority_wise"


def define(definition: SlaDefinition, /, **fields: object) -> ToolCall:
    """Call that changes an SLA definition."""
    return call("update_sla_definition", sla_def_id=definition.sla_def_id, **fields)


def breaches_by_stage(world: World, records: CompanyRecords) -> Counter[str]:
    """Numbers of a company's breached SLAs by stage."""
    return Counter(row.stage for row in world.all(IncidentSla, org_id=records.org_id, has_breached=True))


# --- target minutes ------------------------------------------------------------------------------------------------


def target_minutes(world: World) -> Iterable[Draft]:
    """Sums and averages of target minutes, as the tools state them, say which definition has to change."""
    halden, mirelle = CompanyRecords(world, "Halden Freight"), CompanyRecords(world, "Mirelle Botanics")
    yield _within_the_sum(world, halden)
    yield _at_the_average(world, mirelle)
    yield _impossible_average(world, mirelle)


def _within_the_sum(world: World, records: CompanyRecords) -> Draft:
    actor, old, limit = records.person("Oskar Lindqvist"), records.sla_definition("moderate", "resolution"), 1500
    response, low = records.sla_definition("moderate", "response"), records.sla_definition("low", "resolution")
    new = SlaDefinition(target_mins=limit - response.target_mins)
    rows = world.all(IncidentSla, sla_def_id=old.sla_def_id)
    running = [row for row in rows if row.stage == "in_progress"]
    looked = (
        find_user(actor),
        call(SUM),
        call("find_sla_definitions", applies_to_priority="moderate"),
        call("find_incident_slas", sla_def_id=old.sla_def_id, stage="in_progress"),
    )
    changed = define(old, target_mins=new.target_mins)
    followed = tuple(
        call(
            "update_incident_sla_details",
            incident_sla_id=row.incident_sla_id,
            breach_time=breach_time(new, row.start_time).isoformat(),
        )
        for row in running
    )
    draft = Draft(
        slug="target-minutes-within-the-sum",
        actor=actor,
        prompt=(
            "The customers' new contract: all target minutes of a priority taken together may be 1500 at most, low is "
            "exempt. Where we are above that, take away from the resolution what is too much, response stays. It holds "
            "at once, so SLAs of that definition which are still in progress get the due time that follows; what is "
            "breached, paused or over keeps its own. Which priority was it, and what is the target now?"
        ),
        plan=(
            "Look up Oskar Lindqvist (a manager) and the sums of target minutes by priority: moderate is above 1500.",
            "Look up its definitions, and set the resolution to what the response leaves.",
            "Look up the SLAs of this definition in stage in_progress.",
            "Set the breach time of each to its start plus the new target (SLA-2).",
        ),
        gold=(*looked, changed, *followed),
        answer=f"It was moderate: {old.name} is {new.target_mins} minutes now, and {len(running)} running SLAs follow.",
        verifiers=(
            answer_says(
                "names_priority_and_target",
                "The answer names both [REF-3]",
                all_of([term("moderate"), figure(new.target_mins)]),
            ),
        ),
        tools=("find_sla_definition_by_name", "add_new_sla_definition", "list_incidents", "delete_incident_slas"),
        access=Access.STRICT,
        mistakes={
            "shortens low as well": (define(low, target_mins=limit - 480),),
            "gives a paused one another due time": (
                call(
                    "update_incident_sla_details",
                    incident_sla_id=next(row for row in rows if row.stage == "paused").incident_sla_id,
                    breach_time=breach_time(new, running[0].start_time).isoformat(),
                ),
            ),
        },
        negative_trajectories={
            "changes the definition alone": NegativeTrajectory(
                (*looked, changed), f"It was moderate, which has {new.target_mins} minutes now."
            ),
        },
    )
    return with_verifiers(
        world, draft, rules={"update_sla_definition": "PRC-9, ID-3", "update_incident_sla_details": "SLA-2"}
    )


def _at_the_average(world: World, records: CompanyRecords) -> Draft:
    actor = records.person("Amara Diallo")
    old = world.one(SlaDefinition, org_id=records.org_id, name="Critical response 2025")
    every = world.all(SlaDefinition, org_id=records.org_id, applies_to_priority="critical")
    response = records.sla_definition("moderate", "response")
    mean = round(sum(row.target_mins for row in every) / len(every), 2)
    looked = (
        find_user(actor),
        call(AVERAGE, priority=["critical", "high", "moderate"]),
        call("find_sla_definitions", applies_to_priority="moderate"),
    )
    changes = (define(response, target_mins=60, schedule="24x7"),)
    draft = Draft(
        slug="target-minutes-above-the-average",
        actor=actor,
        prompt=(
            "Please compare the average target minutes of critical, high and moderate, as the tool counts them. "
            "Whichever of the three lies above 750 needs a shorter response: take off what brings its average to 750 "
            "exactly, the resolution is not touched, and the response is counted around the clock (24x7) from now on. "
            "What is the average of critical?"
        ),
        plan=(
            "Look up Amara Diallo and the averages by priority: only moderate is above 750 minutes.",
            "Look up its definitions: response and resolution.",
            "Set the response so that the two make 750 on average, with the schedule 24x7.",
        ),
        gold=(*looked, *changes),
        answer=f"Moderate was above 750; its response is 60 minutes now. The average of critical is {mean}.",
        verifiers=(
            answer_says(
                "states_the_average_of_critical", "The answer states it [REF-3]", rf"(?<![\d.]){mean:g}(?:\.0+)?(?!\d)"
            ),
        ),
        tools=("find_sla_definition_by_name", "add_new_sla_definition", "update_incident_sla_details"),
        access=Access.STRICT,
        mistakes={"tidies up an old definition": (define(old, schedule="Weekdays 8-18"),)},
        negative_trajectories={
            "takes the excess off once": NegativeTrajectory(
                (*looked, define(response, target_mins=120, schedule="24x7")), f"It is 120 minutes, critical {mean}."
            ),
        },
    )
    return with_verifiers(world, draft, rules={"update_sla_definition": "PRC-9, ID-3"})


def _impossible_average(world: World, records: CompanyRecords) -> Draft:
    actor = records.person("Hugo Lambert")
    response, resolution = (records.sla_definition("high", metric) for metric in ("response", "resolution"))
    looked = (
        find_user(actor),
        call(AVERAGE, priority=["high"]),
        call("find_sla_definitions", applies_to_priority="high"),
    )
    return with_verifiers(
        world,
        Draft(
            slug="refuse-an-average-that-cannot-be",
            actor=actor,
            prompt=(
                "The board wants an average of 20 target minutes for high, not one more. Get us there by the "
                "resolution alone: the response is printed in every contract and stays as it is."
            ),
            plan=(
                "Look up Hugo Lambert, the average of high and its two definitions.",
                "The response alone is more than twice the average; no resolution makes up for that.",
                "Change nothing, and say why.",
            ),
            gold=looked,
            answer=(
                f"I changed nothing: with a response of {response.target_mins} minutes, an average of 20 would need a "
                "resolution below zero, which is not possible."
            ),
            verifiers=answer_refuses(
                r"\b(negative|below (0|zero|nothing)|less than (0|zero)|impossible|not possible|no resolution)\b",
                subject_pattern=rf"\b{response.target_mins}\b",
            ),
            feasible=False,
            evidence=(response, resolution),
            tools=("update_sla_definition", "add_new_sla_definition", "find_sla_definition_by_name"),
            access=Access.STRICT,
            mistakes={"shortens the response": (define(response, target_mins=10),)},
            negative_trajectories={
                "goes as low as it can": NegativeTrajectory(
                    (*looked, define(resolution, target_mins=1)), "The resolution of high is 1 minute now."
                ),
            },
        ),
    )


# --- numbers of incidents and breaches ------------------------------------------------------------------------------


def most_of_all(world: World) -> Draft:
    """The priority with the most incidents, finished ones included, loses the pauses of its clocks."""
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, reader = records.person("Amara Diallo"), records.person("Hugo Lambert")
    counts = Counter(row.priority for row in world.all(Incident, org_id=records.org_id))
    top = max(("critical", "high", "moderate", "low"), key=lambda priority: counts[priority])
    definitions = [records.sla_definition(top, metric) for metric in ("response", "resolution")]
    still = [row for row in definitions if row.pause_on_pending]
    oldest = next(case for case in records.open_incidents() if case.priority == top)
    looked = (
        find_user(actor),
        find_user(reader),
        call(PRIORITIES),
        call("find_sla_definitions", applies_to_priority=top),
        call("list_incidents", priority=top),
    )
    report = notify(oldest, reader, "report", f"{oldest.number}: most are {top}", f"{counts[top]} incidents are {top}.")
    changes = tuple(define(row, pause_on_pending=False) for row in still)
    other = records.sla_definition("moderate" if top != "moderate" else "low", "resolution")
    return with_verifiers(
        world,
        Draft(
            slug="no-pauses-where-most-incidents-are",
            actor=actor,
            prompt=(
                "Which priority have most of our incidents had, all those on file? Planning aside, it has no targets. "
                "For that one there shall be no pauses any more, in no definition that is in use. Hugo Lambert gets "
                "the number of these incidents in a report, in digits, on the oldest of them that is still open, and "
                "I get it here."
            ),
            plan=(
                "Look up Amara Diallo, Hugo Lambert and the numbers of incidents by priority.",
                "Look up the active definitions of the most frequent priority; end the pause of those that have one.",
                "Find the oldest open incident of this priority, and send Hugo the report (NTF-3).",
            ),
            gold=(*looked, *changes, report),
            answer=f"Most are {top}, {counts[top]}; no definition in use for it pauses any more, and Hugo knows.",
            verifiers=(answer_says("states_the_number", "The answer states it [REF-3]", figure(counts[top])),),
            tools=("find_sla_definition_by_name", "count_incident_for_assignment_group", "update_incident"),
            access=Access.STRICT,
            mistakes={"ends pauses elsewhere": (define(other, pause_on_pending=not other.pause_on_pending),)},
            negative_trajectories={"sends no report": NegativeTrajectory((*looked, *changes), f"{counts[top]} {top}.")},
        ),
        rules={"update_sla_definition": "PRC-9, ID-3", "send_notification": "NTF-2, NTF-3"},
        expect={"send_notification": {"message": figures(counts[top])}},
    )


@dataclass(frozen=True)
class Late:
    """A group whose late incidents are taken over, or reported, depending on the breaches of the whole company."""

    company: str
    team: str
    actor: str
    slug: str
    times: int
    """Above how many times as many as completed late the SLAs that run late are too many."""
    prompt: str
    limit: str = ""


RUNNING = r"(?:breached\s+)?(?:slas?\s+)?(?:still\s+)?(?:run|runs|running)"


def late_work(world: World, late: Late) -> Draft:
    """Breached SLAs by stage decide whether late work is taken over, or only reported to the manager."""
    records = CompanyRecords(world, late.company)
    actor, team = records.person(late.actor), records.team(late.team)
    stages = breaches_by_stage(world, records)
    running, finished = stages["breached"], stages["completed"]
    fresh = records.open_incidents(assignment_group=team.group_id, status="new", assigned_to=None)
    overdue = [case for case in fresh if world.all(IncidentSla, incident_id=case.incident_id, has_breached=True)]
    fine = next((case for case in fresh if case not in overdue), None)
    manager = world.one(User, user_id=world.one(UserGroup, group_id=team.group_id).manager_id)
    looked = (
        find_user(actor),
        call(BREACHES),
        find_team(team),
        call("list_incidents", assignment_group=team.group_id, status="new"),
        *(call("find_incident_slas", incident_id=case.incident_id) for case in fresh),
    )
    taken = tuple(update_incident(case, assigned_to=actor.user_id, status="in_progress") for case in overdue)
    report = (
        call("get_user", user_id=manager.user_id),
        notify(
            overdue[0],
            manager,
            "report",
            f"{overdue[0].number}: breached SLAs",
            f"{running} run late, {finished} were completed late.",
        ),
    )
    much = running > late.times * finished
    does, instead = (taken, report) if much else (report, taken)
    done = f"I assigned {numbers(overdue)} to you." if much else "The manager has the report; nothing is reassigned."
    mistakes = {"does the other as well": instead}
    if much and fine is not None:
        mistakes["takes what is not late"] = (update_incident(fine, assigned_to=actor.user_id, status="in_progress"),)
    return with_verifiers(
        world,
        Draft(
            slug=late.slug,
            actor=actor,
            prompt=late.prompt,
            plan=(
                f"Look up {late.actor}, and the breached SLAs of the company by stage.",
                "Compare those that still run with those that were completed late.",
                "Look up the group's new, unassigned incidents and their SLAs.",
                "Take over the late ones, in_progress (INC-5)." if much else "Send the manager the report (NTF-3).",
            ),
            gold=(*looked, *does),
            answer=f"{running} breached SLAs still run, {finished} were completed late. {done}",
            verifiers=(
                answer_says(
                    "states_both_numbers",
                    "The answer states both [REF-3]",
                    all_of(apart((figure(running), RUNNING), (number(finished), "completed"))),
                ),
            ),
            tools=("get_incidents_assigned_to", "list_group_members", "update_incident_sla_details", "list_incidents"),
            access=Access.STRICT,
            mistakes=mistakes,
            negative_trajectories={
                "decides otherwise": NegativeTrajectory((*looked, *instead), f"{running} run, {finished} were late."),
            },
        ),
        rules={"update_incident": "INC-5, PRC-2", "send_notification": "NTF-2, NTF-3"},
        expect={"send_notification": {"message": figures_apart((running, RUNNING), (finished, "completed"))}},
    )


LATE = (
    Late(
        "Halden Freight",
        "Network and Databases",
        "Ravi Menon",
        "late-work-is-only-reported",
        2,
        "Count the company's breached SLAs by stage for me, please. If those that still run (stage breached) are more "
        "than twice as many as those completed late, I take what is new in Network and Databases, has no one and has "
        "breached. If they are not, no one takes anything: then the group's manager gets both numbers as a report, on "
        "the oldest of these incidents. Give me both numbers too.",
    ),
)


def halden_late_work(world: World) -> Iterable[Draft]:
    """Late work at a company that completes enough of it."""
    return (late_work(world, late) for late in LATE)


FAMILIES = (target_minutes, lambda world: [most_of_all(world)], halden_late_work)
