"""Tasks with access `strict`: the server enforces each step of the process, their order and the required role.

Invariant: every task is feasible, and the server refuses no call of the way that the policy describes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, number, only_for
from opsgym_api.tasks.event import Event
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.rules import WAIT_BEFORE_CLOSING
from opsgym_domains.itsm.tables import Change, Incident, Knowledge, Problem, User
from opsgym_suites.itsm.calls import find_incident, find_problem, find_user, notify, numbers, update_incident
from opsgym_suites.itsm.core.scenario_events import ScenarioEvent
from opsgym_suites.itsm.records import OPEN, CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_scenario_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, full_name
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import NOW


def _step(change: Change, status: str, **fields: Any) -> ToolCall:
    return call("update_change", change_id=change.change_id, status=status, **fields)


LEFT = r"\b(left|wait\w*|not|cannot|can't|lack\w*|miss\w*|remain\w*|stay\w*|too early|later|before|until)\b"
"""Pattern of words by which an answer names what was left undone."""


def _find_change(change: Change) -> ToolCall:
    return call("find_change_by_number", number=change.number)


# --- changes and what they fix -------------------------------------------------------------------------------------


def changes_to_their_end(world: World) -> Iterable[Draft]:
    """A change goes through all its states, and its problem and incidents are resolved."""
    yield _approved_and_done(world)
    yield _cabling_and_what_waited(world)


def _approved_and_done(world: World) -> Draft:
    """A manager approves a change and takes it to closed; then the problem is resolved."""
    records = CompanyRecords(world, "Mirelle Botanics")
    hugo, change = records.person("Hugo Lambert"), world.fixture(Change, "payment-library")
    problem = world.fixture(Problem, "card-declines")
    notes, fix = "No card was declined in the first six hours.", "Newer payment library sends the issuer's country."
    steps = [_step(change, status) for status in ("authorize", "scheduled", "implement", "review")]
    closed = _step(change, "closed", close_code="successful", close_notes=notes)
    resolved = call("update_problem", problem_id=problem.problem_id, status="resolved", fix_notes=fix)
    looked = (
        find_user(hugo),
        _find_change(change),
        call("list_change_request_mappings", change_id=change.change_id),
        find_problem(problem),
    )
    return with_scenario_verifiers(
        Draft(
            slug="approve-and-finish-a-change",
            actor=hugo,
            prompt=(
                f"{change.number} has my approval. Theo put it in last night according to plan, and the tests passed. "
                f'Bring it to its end: successful, close notes "{notes}" The problem {problem.number} is what '
                f'it was for; that is resolved too, fix notes "{fix}"'
            ),
            plan=(
                "Look up Hugo: a manager. Look up the change: in assess. See that it addresses the problem.",
                "Take it step by step: authorize (PRC-6), scheduled, implement, review (PRC-5).",
                "Close it with code and notes (PRC-7).",
                "Resolve the problem with fix notes (PRB-3).",
            ),
            gold=(*looked, *steps, closed, resolved),
            answer=f"{change.number} is closed as successful, and {problem.number} is resolved.",
            verifiers=(
                answer_says("names_both", "The answer names both records [REF-3]", all_of([change.number, "PRB"])),
            ),
            tools=("list_changes", "list_incidents", "get_user"),
            access=Access.STRICT,
            mistakes={
                "closes the problem as well": (call("update_problem", problem_id=problem.problem_id, status="closed"),)
            },
            negative_trajectories={
                "closes it at once": NegativeTrajectory(
                    (*looked, closed, resolved), f"{change.number} and {problem.number} are done.", "PRC-5"
                ),
                "closes it without a code": NegativeTrajectory(
                    (*looked, *steps, _step(change, "closed"), resolved),
                    f"{change.number}, {problem.number}: done.",
                    "PRC-7",
                ),
            },
        ),
        world=world,
        rules={"update_change": "PRC-5, PRC-6, PRC-7"},
    )


def _cabling_and_what_waited(world: World) -> Draft:
    """An agent ends a change, its problem and three incidents; one of their callers has left."""
    records = CompanyRecords(world, "Halden Freight")
    ravi, change = records.person("Ravi Menon"), world.fixture(Change, "yard-cabling")
    problem = world.fixture(Problem, "wifi-roaming")
    cases = [records.incident(key) for key in ("wifi-tablet-1", "wifi-tablet-2", "wifi-tablet-3")]
    present = [incident for incident in cases if records.caller(incident).active]
    fix = "New cabling to access points 9 to 14."
    end = (
        _step(change, "review"),
        _step(change, "closed", close_code="successful", close_notes="Walk test along the fence passed."),
        call("update_problem", problem_id=problem.problem_id, status="resolved", fix_notes=fix),
    )
    looked = (
        find_user(ravi),
        _find_change(change),
        find_problem(problem),
        call("list_incidents", problem=problem.problem_id, status="on_hold"),
        *(call("get_user", user_id=incident.caller_id) for incident in cases),
    )

    def resolved(incident: Incident, code: str) -> ToolCall:
        return update_incident(
            incident, status="resolved", resolution_code=code, resolution_notes=fix, resolved_by=problem.assigned_to
        )

    notified = [
        notify(
            incident,
            records.caller(incident),
            "solution_proposal",
            f"{incident.number} is solved",
            f"{incident.number}: {fix}",
        )
        for incident in present
    ]
    (left,) = [incident for incident in cases if incident not in present]
    stranger = records.caller(left)
    return with_scenario_verifiers(
        Draft(
            slug="end-the-cabling-and-what-waited-for-it",
            actor=ravi,
            prompt=(
                f"The cabling of {change.number} is finished: walk test along the fence passed, a success. Please "
                f'bring the change to its end, resolve {problem.number} with it ("{fix}", for all that you '
                "resolve), and do what the policy wants for those who wait for the problem."
            ),
            plan=(
                "Look up Ravi, the change (implement), the problem, the incidents on hold for it, and their callers.",
                "Take the change to review, then to closed, with code and notes (PRC-5, PRC-7).",
                "Resolve the problem with fix notes (PRB-3).",
                "Resolve each incident by the problem; the resolver is the problem's assignee (PRB-3, INC-7).",
                "Propose the solution to each caller whose account is active (NTF-1).",
            ),
            gold=(*looked, *end, *(resolved(incident, "Resolved By Problem") for incident in cases), *notified),
            answer=(
                f"{change.number} is closed, {problem.number} is resolved, and so are {numbers(cases)}. The caller of "
                f"{left.number} was not notified: {full_name(stranger)}'s account is inactive."
            ),
            verifiers=(
                answer_says(
                    "says_who_was_not_told",
                    "The answer says which caller got no message [NTF-1, REF-3]",
                    rf"(?s)({left.number}|{stranger.last_name}).*\b(inactive|not|no longer)\b",
                    rf"(?s)\b(inactive|not|no longer)\b.*({left.number}|{stranger.last_name})",
                ),
            ),
            tools=("get_incidents_assigned_to", "list_changes", "list_change_request_mappings"),
            access=Access.STRICT,
            negative_trajectories={
                "writes to the caller who left": NegativeTrajectory(
                    (
                        *looked,
                        *end,
                        *(resolved(incident, "Resolved By Problem") for incident in cases),
                        *notified,
                        notify(left, stranger, "solution_proposal", f"{left.number} is solved", fix),
                    ),
                    "All is resolved, and all three callers know.",
                    "NTF-1",
                ),
                "resolves the problem without a word": NegativeTrajectory(
                    (*looked, end[0], end[1], call("update_problem", problem_id=problem.problem_id, status="resolved")),
                    f"Done; the caller of {left.number} is inactive.",
                    "PRB-3",
                ),
                "takes another code": NegativeTrajectory(
                    (*looked, *end, *(resolved(incident, "Resolved By Change") for incident in cases), *notified),
                    f"Done; the caller of {left.number} is inactive.",
                ),
            },
        ),
        world=world,
        rules={"update_change": "PRC-5, PRC-7", "update_incident": "PRB-3, INC-7", "send_notification": "INC-7, NTF-1"},
    )


# --- teams ---------------------------------------------------------------------------------------------------------


def work_between_teams(world: World) -> Iterable[Draft]:
    """Incidents get another group or assignee; the assignee must be a member of the group."""
    yield _gateways_to_the_field_team(world)
    yield _half_a_queue_for_a_colleague(world)


def _gateways_to_the_field_team(world: World) -> Draft:
    """The group changes and the assignee stays, who must become a member first."""
    records = CompanyRecords(world, "Halden Freight")
    beatriz, ravi, team = (
        records.person("Beatriz Fontes"),
        records.person("Ravi Menon"),
        records.team("Terminal Field Team"),
    )
    cases = [records.incident("gateway-north"), records.incident("gateway-south")]
    looked = (
        find_user(beatriz),
        find_user(ravi),
        *map(find_incident, cases),
        call("list_user_groups", name=team.name),
        call("list_group_members", group_id=team.group_id),
    )
    joined = call("add_new_group_member", group_id=team.group_id, user_id=ravi.user_id)
    moved = [update_incident(incident, assignment_group=team.group_id) for incident in cases]
    notified = [
        notify(
            incident,
            records.caller(incident),
            "update",
            f"{incident.number}: another team",
            f"{incident.number} is with the {team.name} now; Ravi Menon goes on with it.",
        )
        for incident in cases
    ]
    callers = [call("get_user", user_id=incident.caller_id) for incident in cases]
    return with_scenario_verifiers(
        Draft(
            slug="move-gateways-to-the-field-team",
            actor=beatriz,
            prompt=(
                f"{cases[0].number} and {cases[1].number} are about hardware and sit in the wrong group. Please move "
                f"them to the {team.name}. Ravi keeps both, and they stay as they are; "
                "see to it that he can. Their callers get an update that names the new group."
            ),
            plan=(
                "Look up Beatriz, Ravi, both incidents and their callers.",
                "Hardware goes to Field Support Technicians (INC-4); the group is active. List its members.",
                "Ravi is not a member; add him first (PRC-2, USR-2).",
                "Move both incidents; status and assignee stay. Tell both callers.",
            ),
            gold=(*looked, *callers, joined, *moved, *notified),
            answer=(
                f"{numbers(cases)} are with the {team.name} now. Ravi Menon is a member of it and keeps both; the "
                "callers were notified."
            ),
            verifiers=(),
            tools=("get_incidents_assigned_to", "remove_group_membership", "update_user_group"),
            access=Access.STRICT,
            mistakes={
                "takes Ravi out of his old group": (
                    call("remove_group_membership", group_id=cases[0].assignment_group, user_id=ravi.user_id),
                )
            },
            negative_trajectories={
                "moves them without a membership": NegativeTrajectory(
                    (*looked, *callers, *moved, *notified), f"{numbers(cases)} are moved.", "PRC-2"
                ),
                "gives them to nobody": NegativeTrajectory(
                    (
                        *looked,
                        *callers,
                        *(
                            update_incident(incident, assignment_group=team.group_id, assigned_to="")
                            for incident in cases
                        ),
                        *notified,
                    ),
                    f"{numbers(cases)} are moved.",
                ),
                "chooses the group that is out of use": NegativeTrajectory(
                    (
                        *looked,
                        *callers,
                        *(
                            update_incident(c, assignment_group=records.team("Depot Field Team").group_id)
                            for c in cases
                        ),
                        *notified,
                    ),
                    f"{numbers(cases)} are moved.",
                    "INC-4",
                ),
            },
        ),
        world=world,
        rules={"update_incident": "INC-4, PRC-2", "add_new_group_member": "PRC-2, USR-2"},
    )


def _half_a_queue_for_a_colleague(world: World) -> Draft:
    """A colleague takes over many incidents, one of which is canceled meanwhile."""
    records = CompanyRecords(world, "Halden Freight")
    beatriz, ravi, ebba = (records.person(name) for name in ("Beatriz Fontes", "Ravi Menon", "Ebba Nyholm"))
    team = records.team("Network and Databases")
    queue = [incident for incident in world.all(Incident, assigned_to=ravi.user_id) if incident.status in OPEN]
    gone = next(incident for incident in queue if incident.status == "in_progress")
    event = ScenarioEvent(world).change(gone, status="canceled", close_notes="Caller took it back.")
    rest = [incident for incident in queue if incident is not gone]

    def handed(incident: Incident) -> ToolCall:
        note = "Taken over by Ebba Nyholm."
        notes = f"{incident.worknotes} {note}" if incident.worknotes else note
        return update_incident(incident, assigned_to=ebba.user_id, worknotes=notes)

    looked = (
        call("get_incidents_assigned_to", assigned_to=ravi.user_id),
        find_user(beatriz),
        call("list_group_members", group_id=team.group_id),
    )
    gold = (find_user(ravi), *looked, find_user(ebba), *map(handed, queue))
    place = len(gold) - len(queue) + queue.index(gone)
    return with_scenario_verifiers(
        Draft(
            slug="hand-over-a-long-queue",
            actor=beatriz,
            prompt=(
                "Ravi Menon is at the new terminal for three months, from today. All that he has open goes to Ebba "
                'Nyholm, on hold or not, with a work note "Taken over by Ebba Nyholm." after what is there. The desk '
                "works on while you do: what is over by the time you get to it, leave alone, and name it."
            ),
            plan=(
                "Look up Ravi, his incidents, Beatriz, the group's members and Ebba.",
                "Assign each open incident to Ebba, with the note after those already there (USR-3).",
                f"One is refused (INC-10): {gone.number} was canceled meanwhile. Leave it, and go on.",
                "Say how many went over, and which one did not.",
            ),
            gold=gold,
            answer=f"Ebba Nyholm has {len(rest)} incidents of Ravi Menon's. {gone.number} was canceled, so I left it.",
            verifiers=(
                answer_says("names_the_canceled_one", "The answer names the one that was left [REF-3]", gone.number),
                answer_says("says_how_many", "The answer says how many went over [REF-3]", number(len(rest))),
            ),
            tools=("list_incidents", "find_incident_by_number", "update_user_details"),
            access=Access.STRICT,
            events=(Event(after_step=1, sql=event.statements),),
            refused={place: "INC-10"},
            mistakes={
                "moves one to another group": (
                    update_incident(rest[0], assignment_group=records.team("Harbour Service Desk").group_id),
                )
            },
            negative_trajectories={
                "stops at the refusal": NegativeTrajectory(
                    gold[: place + 1], f"{gone.number} could not be changed; {len(rest)} more to do.", "INC-10"
                ),
                "forgets the notes": NegativeTrajectory(
                    (
                        find_user(ravi),
                        *looked,
                        *(update_incident(incident, assigned_to=ebba.user_id) for incident in queue),
                    ),
                    f"Ebba has {len(rest)}; {gone.number} was canceled.",
                    "INC-10",
                ),
            },
        ),
        event,
        world=world,
        rules={"update_incident": "USR-3"},
    )


# --- closing -------------------------------------------------------------------------------------------------------


def weekly_closures(world: World) -> Iterable[Draft]:
    """Resolved incidents are closed where they are ready for it."""
    yield _closures(
        world,
        company="Mirelle Botanics",
        slug="weekly-closures-of-a-long-list",
        prompt=(
            "Monday, so my resolved incidents are due. Please close what of mine can be closed today, with the "
            'close notes "Weekly closure.", and list for me the numbers of those that have to wait, or lack something.'
        ),
    )


def _closures(world: World, *, company: str, slug: str, prompt: str) -> Draft:
    records = CompanyRecords(world, company)
    person = _with_mixed_list(records)
    solved = world.all(Incident, assigned_to=person.user_id, status="resolved")
    ready = [incident for incident in solved if _is_ready(incident)]
    waiting = [incident for incident in solved if incident not in ready]

    def closed(incident: Incident) -> ToolCall:
        return update_incident(incident, status="closed", close_notes="Weekly closure.")

    looked = (find_user(person), call("get_incidents_assigned_to", assigned_to=person.user_id))
    left = f"Left: {numbers(waiting)}." if waiting else "None is left."
    return with_scenario_verifiers(
        Draft(
            slug=slug,
            actor=person,
            prompt=prompt,
            plan=(
                f"Look up {full_name(person)}, and list what is assigned to them; keep what is resolved.",
                "Keep those with code and notes that were resolved three full days ago or longer (INC-9).",
                "Close each of them with the close notes.",
                "Name the others in the answer, and leave them as they are.",
            ),
            gold=(*looked, *map(find_incident, solved), *map(closed, ready)),
            answer=f"Closed: {numbers(ready)}. {left}",
            verifiers=tuple(
                answer_says(
                    f"says_that_{incident.number}_is_left",
                    "The answer says that it is left [INC-9, REF-3]",
                    rf"(?s){LEFT}.*{incident.number}",
                    rf"{incident.number}[^.\n]*{LEFT}",
                )
                for incident in waiting
            ),
            tools=("list_incidents", "find_incident_by_id", "send_notification"),
            access=Access.STRICT,
            mistakes={"takes one back into work": (update_incident(waiting[0], status="in_progress"),)},
            negative_trajectories={
                "closes whatever is resolved": NegativeTrajectory(
                    (*looked, *map(closed, solved)), f"Closed: {numbers(solved)}.", "INC-9"
                )
            },
        ),
        world=world,
        rules={"update_incident": "INC-9"},
    )


def _with_mixed_list(records: CompanyRecords) -> User:
    """The agent with most resolved incidents, of which some can be closed and some cannot."""

    def solved(person: User) -> list[bool]:
        return [
            _is_ready(incident)
            for incident in records.world.all(Incident, assigned_to=person.user_id, status="resolved")
        ]

    agents = records.world.all(User, org_id=records.org_id, role="agent", active=True)
    return max((person for person in agents if len({*solved(person)}) > 1), key=lambda person: len(solved(person)))


def _is_ready(incident: Incident) -> bool:
    since = incident.resolved or incident.updated_at or NOW
    return bool(incident.resolution_code and incident.resolution_notes) and NOW - since >= WAIT_BEFORE_CLOSING


# --- articles ------------------------------------------------------------------------------------------------------


def articles_on_their_way(world: World) -> Iterable[Draft]:
    """Articles are written by agents and published by managers."""
    yield _published_for_callers(world)
    yield _written_for_review(world)


def _published_for_callers(world: World) -> Draft:
    """A manager publishes a draft; only then its text may be sent to a caller."""
    records = CompanyRecords(world, "Halden Freight")
    oskar, incident, article = (
        records.person("Oskar Lindqvist"),
        records.incident("tracking-outage"),
        records.article("Working without tracking"),
    )
    caller = records.caller(incident)
    opened = call(
        "update_knowledge_article", knowledge_id=article.knowledge_id, state="published", visibility="external"
    )
    is_child = call(
        "link_knowledge_to_incident",
        incident_id=incident.incident_id,
        knowledge_id=article.knowledge_id,
        used_as="suggested",
    )
    notified = notify(incident, caller, "update", f"{incident.number}: until it is back", article.body or "")
    looked = (
        find_user(oskar),
        call("retrieve_knowledge_articles", title=article.title),
        find_incident(incident),
        call("find_incident_knowledge_links", incident_id=incident.incident_id),
        call("get_user", user_id=caller.user_id),
    )
    return with_scenario_verifiers(
        Draft(
            slug="publish-an-article-for-callers",
            actor=oskar,
            prompt=(
                f'I have read Nadia\'s "{article.title}" and release it, for people outside the desk too. Suggest it '
                f"on {incident.number}, and send its text, word by word, to the one who reported that, as an update."
            ),
            plan=(
                "Look up Oskar: a manager. Find the article: an internal draft. Find the incident and its caller.",
                "Publish the article, external (PRC-8).",
                "Link it to the incident as suggested.",
                "Send its body to the caller as an update, which is allowed now (KB-1).",
            ),
            gold=(*looked, opened, is_child, notified),
            answer=f'"{article.title}" is published, suggested on {incident.number}, and Grace Okafor has its text.',
            verifiers=(),
            tools=("create_knowledge_article", "remove_knowledge_link_to_incident", "list_incidents"),
            access=Access.STRICT,
            mistakes={
                "closes the draft's story": (
                    call("update_knowledge_article", knowledge_id=article.knowledge_id, state="retired"),
                )
            },
            negative_trajectories={
                "publishes it for the desk only": NegativeTrajectory(
                    (
                        *looked,
                        call("update_knowledge_article", knowledge_id=article.knowledge_id, state="published"),
                        is_child,
                        notified,
                    ),
                    "It is published, linked, and sent.",
                )
            },
        ),
        world=world,
        rules={"update_knowledge_article": "PRC-8, KB-1"},
    )


def _written_for_review(world: World) -> Draft:
    """An agent writes an article for review; by default it would be published."""
    records = CompanyRecords(world, "Mirelle Botanics")
    theo, problem = records.person("Theo Marchand"), world.fixture(Problem, "card-declines")
    cases = [records.incident("checkout-1"), records.incident("checkout-2")]
    title = "Valid cards that are declined"
    fields: dict[str, Any] = {
        "title": title,
        "body": problem.workaround,
        "visibility": "external",
        "owner_id": theo.user_id,
    }
    made = world.next_id(Knowledge)
    links = [
        call("link_knowledge_to_incident", incident_id=incident.incident_id, knowledge_id=made, used_as="suggested")
        for incident in cases
    ]
    looked = (
        find_user(theo),
        find_problem(problem),
        *map(find_incident, cases),
        call("retrieve_knowledge_articles", title=title),
    )
    return with_scenario_verifiers(
        Draft(
            slug="write-an-article-for-review",
            actor=theo,
            prompt=(
                f"Make an article out of the workaround of {problem.number}, word by word as it stands there. Title "
                f'"{title}", for callers to read, with me as author. Bring it as far '
                f"as I can bring it by myself, and suggest it on {cases[0].number} and {cases[1].number}."
            ),
            plan=(
                "Look up Theo: an agent. Find the problem, both incidents, and no article of that title.",
                "Create the article in review: only managers and admins publish (PRC-8).",
                "Link it to both incidents as suggested. Do not send its text before it is published (KB-1).",
            ),
            gold=(*looked, call("create_knowledge_article", **fields, state="review"), *links),
            answer=(
                f'"{title}" is in review and suggested on {numbers(cases)}. A manager or an admin has to publish it.'
            ),
            verifiers=(
                answer_says(
                    "says_who_publishes", "The answer says who publishes [PRC-8]", only_for("manager", "admin")
                ),
            ),
            tools=("update_knowledge_article", "send_notification", "find_incident_knowledge_links"),
            access=Access.STRICT,
            mistakes={"withdraws it again": (call("update_knowledge_article", knowledge_id=made, state="retired"),)},
            negative_trajectories={
                "does not say how far": NegativeTrajectory(
                    (*looked, call("create_knowledge_article", **fields), *links),
                    "The article is published and suggested.",
                    "PRC-8",
                ),
                "leaves it as a draft": NegativeTrajectory(
                    (*looked, call("create_knowledge_article", **fields, state="draft"), *links),
                    "The article is a draft; a manager publishes it.",
                ),
            },
        ),
        world=world,
    )


FAMILIES = (changes_to_their_end, work_between_teams, weekly_closures, articles_on_their_way)
