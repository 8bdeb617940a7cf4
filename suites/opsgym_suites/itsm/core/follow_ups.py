"""Tasks about changes and problems that follow from others, under rules that are amended, or in the wrong group.

Invariant: the request states what is wanted; who gets it and who approves it follow from the records and the rules.
"""

from __future__ import annotations

from collections.abc import Iterable

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.event import Amendment, Event
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Change, ConfigurationItem, Incident, Problem, User
from opsgym_suites.itsm.calls import (
    affects,
    callers,
    find_incident,
    find_team,
    find_user,
    notify,
    numbers,
    update_incident,
)
from opsgym_suites.itsm.core.major_incidents import new_problem
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, full_name
from opsgym_suites.kit.scenarios import FIRST_LOOK
from opsgym_suites.kit.verifiers import Has, May, answer_says

FREIGHT, BOTANICS = "Halden Freight", "Mirelle Botanics"
LINKED = ("service", "service_offering", "configuration_item")


def raised(of: Incident | Problem, group: str | None, title: str, category: str, **fields: object) -> ToolCall:
    """Creates a change for an incident or a problem, with its impact and priority (CHG-3)."""
    copied = {name: getattr(of, name, None) for name in LINKED}
    return call(
        "create_change",
        short_description=title,
        status="new",
        category=category,
        impact=of.impact,
        priority=of.priority,
        assignment_group=group,
        **{name: value for name, value in copied.items() if value},
        **fields,
    )


def next_change(world: World) -> str:
    """Key of the change that a solution creates."""
    return str(world.next_id(Change))


# --- rules that change meanwhile -------------------------------------------------------------------------------------


def amended(world: World) -> Iterable[Draft]:
    """A rule about new problems or changes reads differently before the agent writes."""
    records = CompanyRecords(world, FREIGHT)
    yield _larger_cache(world, records)
    yield _late_values(world, records)


def _larger_cache(world: World, records: CompanyRecords) -> Draft:
    actor, change = records.person("Nadia Haddad"), world.fixture(Change, "tracking-cache")
    problem = world.fixture(Problem, "tracking-login")
    waiting = [records.incident(key) for key in ("login-planner", "login-night")]
    text, title = "The larger cache did not help; another change is being prepared.", "Session store outside the cache"
    amendment = Amendment(
        rule="CHG-2",
        text=(
            "Set `cab_required` (approval by the change advisory board) if impact or risk is high, or if an earlier "
            "change for the same problem was unsuccessful, and not otherwise."
        ),
    )
    looked = (
        find_user(actor),
        call("find_change_by_number", number=change.number),
        call("list_change_request_mappings", change_id=change.change_id),
        call("list_problems", problem_id=problem.problem_id),
        call("list_incidents", problem=problem.problem_id),
        *callers(waiting),
    )

    def writes(*, board: bool) -> tuple[ToolCall, ...]:
        return (
            call(
                "update_change",
                change_id=change.change_id,
                status="closed",
                close_code="unsuccessful",
                close_notes="Sessions still end.",
            ),
            call(
                "update_problem",
                problem_id=problem.problem_id,
                worknotes=f"{problem.worknotes} The larger cache did not help.",
            ),
            raised(
                problem,
                problem.assignment_group,
                title,
                "application_software",
                risk="low",
                cab_required=board,
                implementation_plan="Move the sessions into a store of their own.",
                testing_plan="Stay logged in for a day.",
            ),
            call("map_change_request", change_id=next_change(world), problem_id=problem.problem_id),
            *(notify(case, records.caller(case), "update", f"{case.number}: sessions", text) for case in waiting),
        )

    answer = f"{change.number} is closed as unsuccessful. The new change, for the board, belongs to {problem.number}."
    draft = Draft(
        slug="cache-that-did-not-help",
        actor=actor,
        prompt=(
            f"{change.number} is in review, and the planners lose their sessions as before: close it as unsuccessful, "
            "'Sessions still end.' In the problem that it was for, append 'The larger cache did not help.' to the "
            f"work notes. We try something else, so raise '{title}' for that problem in due form, for the same group: "
            "application software, low risk, 'Move the sessions into a store of their own.', tested by 'Stay logged "
            f"in for a day.' Who still waits for the problem gets an update: '{text}' The managers revise the rules "
            "on changes this morning, mind what holds when you write. Does it go to the board?"
        ),
        plan=(
            "Look up Nadia Haddad, the change, what it is mapped to, the problem and its incidents with their callers.",
            "Close the change as unsuccessful; the problem stays where it is, with the note.",
            "Create the new change with impact and priority of the problem; by the amended rule it needs the board.",
            "Map it to the problem (CHG-3).",
            "Send an update to the callers of the two incidents on hold; the closed one waits for nothing.",
        ),
        gold=(*looked, *writes(board=True)),
        answer=answer,
        events=(Event(after_step=FIRST_LOOK, amend=amendment),),
        verifiers=(
            answer_says(
                "says_that_the_board_is_asked", "The answer says so [REF-3]", r"\b([Bb]oard|CAB|cab\w*|advisory)\b"
            ),
        ),
        tools=("list_changes", "update_incident", "delete_change_request_mappings", "find_problem_by_number"),
        mistakes={
            "resolves the problem": (
                call("update_problem", problem_id=problem.problem_id, status="resolved", fix_notes=text),
            ),
            "writes about the closed one": (
                notify(
                    records.incident("login-old"),
                    records.caller(records.incident("login-old")),
                    "update",
                    f"{records.incident('login-old').number}: sessions",
                    text,
                ),
            ),
        },
        negative_trajectories={
            "goes by the old rule": NegativeTrajectory((*looked, *writes(board=False)), answer),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_change": "ID-4, PRC-7",
            "update_problem": "ID-4",
            "create_change": "CHG-1, CHG-2, CHG-3",
            "map_change_request": "CHG-3",
            "send_notification": "NTF-2, NTF-3",
        },
        expect={"create_change": dict.fromkeys(["configuration_item"], May(problem.configuration_item))},
    )


def _late_values(world: World, records: CompanyRecords) -> Draft:
    actor, summary = records.person("Ebba Nyholm"), "Crane values arrive late"
    cases = records.open_reports(summary)
    known = next(
        row
        for row in world.all(Incident, org_id=records.org_id, status="resolved")
        if row.short_description.startswith(summary)
    )
    most = max(
        (case.assigned_to for case in cases if case.assigned_to),
        key=lambda user: sum(case.assigned_to == user for case in cases),
    )
    statement, text = "Values of the cranes arrive two minutes late.", known.resolution_notes or ""
    amendment = Amendment(
        rule="PRB-1",
        text=(
            "Open a problem for three or more incidents of one service that have the same cause. Set status `new`, the "
            "category of the incidents, the oldest of them as `original_task`, and as assignee the user who has most "
            "of them. Set `problem` of each of these incidents to the new problem."
        ),
    )
    opened, named = new_problem(records, cases, statement, workaround=text, assigned_to=str(most))
    careless, _named = new_problem(records, cases, statement, workaround=text)
    levels = {name: opened.arguments[name] for name in ("impact", "priority")}
    looked = (
        find_user(actor),
        call("list_incidents", short_description=summary),
        find_incident(known),
        find_team(records.team("Network and Databases")),
    )
    made = call(
        "create_change",
        short_description="Push crane values instead of polling",
        status="new",
        category="network",
        risk="medium",
        cab_required=levels["impact"] == "high",
        **levels,
        implementation_plan="Let the gateway push each value.",
        testing_plan="Compare the times of 100 values.",
        assignment_group=cases[0].assignment_group,
        service=cases[0].service,
        service_offering=cases[0].service_offering,
    )
    mapped = call("map_change_request", change_id=next_change(world), problem_id=str(world.next_id(Problem)))
    person = world.one(User, user_id=most)
    answer = f"{full_name(person)} has the new problem of {len(cases)} incidents: {numbers(cases)}."
    decoy = records.incident("crane-silence-not-1")
    draft = Draft(
        slug="late-values-get-a-problem",
        actor=actor,
        prompt=(
            f"{summary}, and no one looks for the cause. Could you open a problem for all open reports of that, "
            f"statement '{statement}', in the group that has them? As the workaround record what helped where such a "
            "report was resolved, in the words that stand there. Then a change for the problem, same group: 'Push "
            "crane values instead of polling', network, medium risk, plan 'Let the gateway push each value.', test "
            "'Compare the times of 100 values.' Our rules on problems are being rewritten, so go by what holds when "
            "you open it. Who gets it, and how many reports are there?"
        ),
        plan=(
            "Look up Ebba Nyholm, the open reports, and the resolved one with what helped.",
            "Open the problem with the highest levels of its incidents (PRB-2), the oldest as the original task.",
            "By the amended rule the assignee is the one who has most of them.",
            "Name the problem in each report; none of them waits for it, so no caller gets the workaround (PRB-4).",
            "Create the change with impact and priority of the problem, and map it (CHG-3).",
        ),
        gold=(*looked, opened, *named, made, mapped),
        answer=answer,
        access=Access.STRICT,
        events=(Event(after_step=FIRST_LOOK, amend=amendment),),
        verifiers=(answer_says("names_the_assignee", "The answer names the assignee [REF-3]", term(person.last_name)),),
        tools=("list_problems", "send_notification", "get_incidents_assigned_to", "update_problem"),
        mistakes={
            "adds another fault": (update_incident(decoy, problem=str(world.next_id(Problem))),),
            "adds the resolved one": (update_incident(known, problem=str(world.next_id(Problem))),),
            "writes to a caller": (
                notify(cases[0], records.caller(cases[0]), "update", f"{cases[0].number}: values", text),
            ),
        },
        negative_trajectories={
            "leaves it without an assignee": NegativeTrajectory((*looked, careless, *named, made, mapped), answer)
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "create_problem": "PRB-1, PRB-2, PRB-4",
            "update_incident": "PRB-1",
            "create_change": "CHG-1, CHG-2, CHG-3",
            "map_change_request": "CHG-3",
        },
        expect={"create_problem": {"short_description": May(), "workaround": Has(text)}},
    )


# --- a wrong group ----------------------------------------------------------------------------------------------------


def misrouted(world: World) -> Iterable[Draft]:
    """An incident of the wrong group goes to the one that its category requires, and waits for a change there."""
    records = CompanyRecords(world, FREIGHT)
    actor, team = records.person("Aino Lehto"), records.team("Network and Databases")
    case = records.report("Airway bill number is used twice", "Emil Gran")
    load = {user.user_id: len(records.open_incidents(assigned_to=user.user_id)) for user in records.members(team)}
    chosen = min(load, key=lambda key: load[key])
    other = max(load, key=lambda key: load[key])
    person, key, text = world.one(User, user_id=chosen), next_change(world), "It waits for a longer number range."
    held = {"status": "on_hold", "on_hold_reason": "Awaiting Change", "change_request": key}
    printer = records.named(ConfigurationItem, "Airway bill printer")

    def work(assignee: str) -> tuple[ToolCall, ...]:
        return (
            raised(
                case,
                team.group_id,
                "Longer number range for airway bills",
                "system_software",
                risk="high",
                cab_required=True,
                assigned_to=assignee,
                implementation_plan="Add two digits to the range.",
                testing_plan="Issue a hundred bills in the test company.",
            ),
            call("map_change_request", change_id=key, incident_id=case.incident_id),
            update_incident(case, assignment_group=team.group_id, assigned_to=assignee, **held),
            notify(case, records.caller(case), "update", f"{case.number}: waits for a change", text),
            affects(case, printer),
        )

    looked = (
        find_user(actor),
        call("list_incidents", short_description="Airway bill number is used twice", status="new"),
        find_team(team),
        call("list_group_members", group_id=team.group_id),
        *(call("get_incidents_assigned_to", assigned_to=key) for key in load),
        call("get_user", user_id=case.caller_id),
        call("find_configuration_items", location_id=printer.location_id),
    )
    answer = f"{case.number} waits for the change with {full_name(person)}."
    yield with_verifiers(
        world,
        Draft(
            slug="bill-numbers-in-the-wrong-group",
            actor=actor,
            prompt=(
                "Emil Gran's report that a number of an airway bill was used twice is new, but in a group that our "
                "rules do not give such things to. Put it where it belongs, with the member who has the fewest open "
                "incidents. It will be cured by 'Longer number range for airway bills', a change still to be raised "
                "for that group and person: system software, high risk, 'Add two digits to the range.', test 'Issue a "
                "hundred bills in the test company.' Let the report wait for it with all that goes with that; the "
                f"message reads '{text}' As affected device list the printer for airway bills. Who has it now?"
            ),
            plan=(
                "Look up Aino Lehto, the report and its category: database (INC-4).",
                "Look up the members of that group and the open incidents of each.",
                "Create the change with impact and priority of the incident, for the board by its risk (CHG-2).",
                "Map it; move the incident to group and person and put it on hold in one call (INC-6, PRC-2).",
                "Send the caller the update, and list the printer.",
            ),
            gold=(*looked, *work(chosen)),
            answer=answer,
            access=Access.STRICT,
            verifiers=(
                answer_says("names_the_assignee", "The answer names the assignee [REF-3]", term(person.last_name)),
            ),
            tools=("list_changes", "update_change", "list_user_groups", "count_incident_for_assignment_group"),
            mistakes={
                "approves the change": (call("update_change", change_id=key, status="assess"),),
                "alerts a manager": (
                    notify(case, records.person("Beatriz Fontes"), "alert", f"{case.number}: moved", text),
                ),
            },
            negative_trajectories={
                "gives it to who has more": NegativeTrajectory((*looked, *work(other)), answer),
            },
        ),
        rules={
            "create_change": "CHG-1, CHG-2, CHG-3",
            "map_change_request": "INC-6, CHG-3",
            "update_incident": "INC-4, INC-6, PRC-2",
            "send_notification": "INC-6, NTF-2",
            "link_affected_ci_to_incident": "ID-4",
        },
    )


FAMILIES = (amended, misrouted)
