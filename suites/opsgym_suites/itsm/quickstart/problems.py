"""Tasks about problems: opened for recurring incidents, resolved, worked around."""

from __future__ import annotations

from opsgym_domains.itsm.tables import Change, Problem
from opsgym_suites.itsm.calls import find_problem, find_user, notify, update_incident
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call


def scanner_freeze(world: World) -> Draft:
    """Three incidents, one problem behind them, one change against it."""
    records = CompanyRecords(world, "Halden Freight")
    nadia, strap = records.person("Nadia Haddad"), records.incident("scanner-strap")
    cases = [records.incident(f"scanner-freeze-{number}") for number in (1, 2, 3)]
    first, problem, change = cases[0], world.next_id(Problem), world.next_id(Change)
    gold = (
        find_user(nadia),
        call("list_incidents", short_description="scanner", service=first.service),
        call(
            "create_problem",
            problem_statement="Handheld scanners freeze since the November update.",
            short_description="Scanners freeze after the update",
            status="new",
            impact="medium",
            urgency="high",
            priority="high",
            category="software",
            service=first.service,
            service_offering=first.service_offering,
            assignment_group=first.assignment_group,
            original_task=first.incident_id,
        ),
        *(update_incident(incident, problem=problem) for incident in cases),
        call(
            "create_change",
            short_description="Roll back the November scanner update",
            status="new",
            category="software",
            impact="medium",
            risk="medium",
            priority="high",
            cab_required=False,
            implementation_plan="Push the October version to ten scanners, then to all.",
            testing_plan="Ten scanners run a full shift without a freeze.",
            service=first.service,
            service_offering=first.service_offering,
            assignment_group=first.assignment_group,
        ),
        call("map_change_request", change_id=change, problem_id=problem),
    )
    draft = Draft(
        slug="problem-scanner-freeze",
        actor=nadia,
        prompt=(
            "Handheld scanners freeze since the November update, and several people have reported it. Please open the "
            "problem behind these incidents, and request a change against it: 'Roll back the November scanner update', "
            "category software, medium risk. Plan: 'Push the October version to ten scanners, then to all.' Test: 'Ten "
            "scanners run a full shift without a freeze.' Neither is assigned yet."
        ),
        plan=(
            "Look up Nadia Haddad.",
            "List incidents about scanners; three of them are about freezing after the update, one is about a strap.",
            (
                "Open the problem: software, highest impact (medium) and highest urgency (high) of the three, priority "
                "high, the oldest incident as original task, service, offering and group from the incidents."
            ),
            "Name the problem in each of the three incidents.",
            "Request the change in status new with both plans, impact and priority of the problem, no advisory board.",
            "Map the change to the problem.",
        ),
        gold=gold,
        answer=(
            f"I opened problem PRB{world.next_number(Problem):07d} (priority high), linked {first.number}, "
            f"{cases[1].number} and {cases[2].number} to it, and requested change CHG{world.next_number(Change):07d} "
            "against it."
        ),
        verifiers=(),
        mistakes={
            "puts the torn strap under the problem": (update_incident(strap, problem=problem),),
            "takes one of the incidents": (update_incident(cases[2], assigned_to=nadia.user_id),),
        },
    )
    return with_verifiers(world, draft)


def tracking_login_fixed(world: World) -> Draft:
    """A problem is solved, and with it every incident that waited for it."""
    records = CompanyRecords(world, "Halden Freight")
    nadia, problem = records.person("Nadia Haddad"), world.fixture(Problem, "tracking-login")
    cases = (records.incident("login-planner"), records.incident("login-night"))
    fix, note = "Page cache enlarged to 8 GB.", "Fixed with the larger page cache."
    gold = (
        find_user(nadia),
        find_problem(problem),
        call("list_incidents", problem=problem.problem_id, status="on_hold"),
        *(call("get_user", user_id=incident.caller_id) for incident in cases),
        call("update_problem", number=problem.number, status="resolved", fix_notes=fix),
        *(
            update_incident(
                incident,
                status="resolved",
                resolution_code="Resolved By Problem",
                resolution_notes=note,
                resolved_by=nadia.user_id,
            )
            for incident in cases
        ),
        *(
            notify(
                incident,
                records.caller(incident),
                "solution_proposal",
                f"{incident.number}: tracking keeps you logged in",
                f"{incident.number} is resolved. {note}",
            )
            for incident in cases
        ),
    )
    draft = Draft(
        slug="problem-tracking-login-fixed",
        actor=nadia,
        prompt=(
            f"{problem.number} is solved: '{fix}' Please record that, and resolve what was waiting for it. "
            f"Resolution note for the incidents: '{note}'"
        ),
        plan=(
            "Look up Nadia Haddad.",
            "Find the problem by number; she is its assignee.",
            "List the incidents that are on hold for it; the closed one stays closed.",
            "Get the callers' addresses.",
            "Resolve the problem with its fix notes.",
            "Resolve each incident in one call: Resolved By Problem, the note, Nadia as resolver.",
            "Send each caller a solution proposal.",
        ),
        gold=gold,
        answer=(
            f"{problem.number} is resolved, and so are {cases[0].number} and {cases[1].number}; both callers have "
            "been notified."
        ),
        verifiers=(),
        mistakes={
            "touches the closed incident": (update_incident(records.incident("login-old"), resolution_notes=note),)
        },
    )
    return with_verifiers(world, draft)


def spread_wifi_workaround(world: World) -> Draft:
    """A workaround is recorded and sent to callers, but not to one whose account is inactive."""
    records = CompanyRecords(world, "Halden Freight")
    ravi, problem = records.person("Ravi Menon"), world.fixture(Problem, "wifi-roaming")
    cases = [records.incident(f"wifi-tablet-{number}") for number in (1, 2, 3)]
    reached, gone = cases[:2], records.person("Jonas Wiik")
    workaround = "Switch the tablet to flight mode and back after passing row 9."
    gold = (
        find_user(ravi),
        find_problem(problem),
        call("list_incidents", problem=problem.problem_id, status="on_hold"),
        *(call("get_user", user_id=incident.caller_id) for incident in cases),
        call("update_problem", number=problem.number, workaround=workaround),
        *(
            notify(
                incident,
                records.caller(incident),
                "update",
                f"{incident.number}: a workaround",
                f"Until the cause of {incident.number} is removed: {workaround}",
            )
            for incident in reached
        ),
    )
    draft = Draft(
        slug="problem-spread-wifi-workaround",
        actor=ravi,
        prompt=(
            f"We have a workaround for {problem.number}: '{workaround}' Please record it and let the people know "
            "who wait for the problem. Quote the workaround as it is."
        ),
        plan=(
            "Look up Ravi Menon.",
            "Find the problem by number.",
            "List the incidents that are on hold for it.",
            "Look up the callers; one of them is inactive and gets no message (NTF-1).",
            "Record the workaround in the problem; its status stays.",
            "Send the two others an update on their own incident, with the workaround.",
        ),
        gold=gold,
        answer=(
            f"The workaround stands in {problem.number}. Anders Holt and Lucia Ferrante have been notified; Jonas Wiik "
            "has not, because his account is inactive."
        ),
        verifiers=(),
        mistakes={
            "writes to the inactive caller": (
                notify(cases[2], gone, "update", f"{cases[2].number}: a workaround", workaround),
            ),
            "resolves one of the incidents": (update_incident(cases[0], status="resolved"),),
        },
    )
    return with_verifiers(world, draft)
