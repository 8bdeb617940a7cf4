"""Process rules of HR service delivery that access `strict` enforces: those of all desks, and its own.

Invariant: every rule has a number in `policy.md` or `policy-strict.md`, and its refusal states what to do instead. A
rule checks only what a write changes, so that a record that already violates a rule can still be corrected.
"""

from __future__ import annotations

from opsgym_domains.hr.filters import members
from opsgym_domains.hr.tables import (
    AssignmentRule,
    Checklist,
    EscalationRule,
    HrCase,
    HrCaseKnowledge,
    HrCaseTask,
    HrCriteria,
    HrProfile,
    Knowledge,
    Notification,
    SurveyInstance,
    User,
    UserGroup,
    UserGroupMember,
    UserSkill,
)
from opsgym_domains.hr.visibility import EDITORS, OPEN
from opsgym_domains.kit import desk
from opsgym_domains.kit.access import Rulebook, Transitions
from opsgym_domains.kit.desk import sets_any, sets_to
from opsgym_domains.kit.gym import Gym

RULEBOOK = Rulebook()
on_write, rule = RULEBOOK.on_write, RULEBOOK.declare

WORKERS = frozenset({"agent", "manager"})
"""Roles that cases and tasks may be assigned to."""
FINAL = frozenset({"closed_complete", "closed_incomplete", "cancelled"})
"""Statuses of cases and tasks that are closed."""
OPEN_TASKS = frozenset({"draft", "ready", "work_in_progress"})
"""Statuses of a task that is not closed."""
CASE_TRANSITIONS: Transitions = {
    "draft": ["ready", "cancelled"],
    "ready": ["awaiting_approval", "work_in_progress", "cancelled"],
    "awaiting_approval": ["ready", "work_in_progress", "cancelled"],
    "work_in_progress": ["awaiting_approval", "awaiting_acceptance", "suspended", "closed_incomplete", "cancelled"],
    "suspended": ["work_in_progress", "cancelled"],
    "awaiting_acceptance": ["work_in_progress", "closed_complete"],
}
TASK_TRANSITIONS: Transitions = {
    "draft": ["ready", "cancelled"],
    "ready": ["work_in_progress", "cancelled"],
    "work_in_progress": ["ready", "closed_complete", "closed_incomplete", "cancelled"],
}


# --- people --------------------------------------------------------------------------------------------------------


rule("USR-1", "ADMIN_DENIED", desk.only_roles_set({"admin"}, "role", {"admin"}, "give another role"), User)


@on_write(User, "USR-2", "USER_HAS_WORK")
async def users_with_open_work_stay_active(gym: Gym, after: User, before: User | None) -> str | None:
    """Open cases and tasks are assigned to others before an account is deactivated: those that the acting user sees."""
    if before is None or after.active or not sets_any(after, before, "active"):
        return None
    cases = await gym.all(HrCase, HrCase.assigned_to == after.user_id, HrCase.status.in_(OPEN))
    tasks = await gym.all(HrCaseTask, HrCaseTask.assigned_to == after.user_id, HrCaseTask.status.in_(OPEN_TASKS))
    numbers = [case.number for case in cases] + [task.number for task in tasks]
    return f"{', '.join(numbers)} are assigned to the user; assign them to others first" if numbers else None


rule(
    "PRO-1",
    "EMPLOYMENT_DATES",
    desk.in_order("employment_start_date", "employment_end_date", equal=True),
    HrProfile,
)


@on_write(HrProfile, "PRO-2", "MANAGER_NOT_ELIGIBLE")
async def managers_are_active(gym: Gym, after: HrProfile, before: HrProfile | None) -> str | None:
    """The manager's account is active."""
    if after.manager is None or not sets_any(after, before, "manager"):
        return None
    manager = await gym.fetch(User, after.manager)
    return None if manager.active else f"user {manager.user_id} is inactive; choose an active manager"


@on_write(HrProfile, "PRO-3", "OWN_PROFILE")
async def users_do_not_change_their_own_profile(gym: Gym, after: HrProfile, before: HrProfile | None) -> str | None:
    """Another user changes employment data; personal address and marital status are not restricted."""
    employment = {"type", "employment_start_date", "employment_end_date", "manager", "position", "national_tax_id"}
    if after.user_id != gym.actor.user_id or (before is not None and not sets_any(after, before, *employment)):
        return None
    return "users do not create or change the employment data of their own profile; another user has to do it"


@on_write(HrProfile, "PRO-4", "PEOPLE_WITHOUT_MANAGER")
async def managers_who_leave_have_no_people(gym: Gym, after: HrProfile, before: HrProfile | None) -> str | None:
    """The people of a manager get another one before the manager's employment ends."""
    if after.employment_end_date is None or not sets_any(after, before, "employment_end_date"):
        return None
    profiles = gym.published()
    people = await profiles.all(HrProfile, HrProfile.manager == after.user_id, HrProfile.employment_end_date.is_(None))
    numbers = ", ".join(str(profile.number) for profile in people)
    return f"{numbers} still have this manager; give them another one first" if people else None


# --- cases ---------------------------------------------------------------------------------------------------------


rule(
    "CAS-8",
    "CASE_IS_FINAL",
    desk.is_final("status", FINAL, "create a new case if the matter comes up again", named="number"),
    HrCase,
)
rule(
    "CAS-4",
    "GROUP_INACTIVE",
    desk.refers_to_active("assignment_group", UserGroup, "choose an active group", named="name"),
    HrCase,
    HrCaseTask,
)
rule(
    "CAS-4",
    "NOT_ASSIGNABLE",
    desk.user_is_eligible("assigned_to", User, WORKERS, "assign an active agent or manager", named="email"),
    HrCase,
    HrCaseTask,
)
rule(
    "CAS-4",
    "NOT_A_GROUP_MEMBER",
    desk.assignee_is_member("assigned_to", "assignment_group", UserGroupMember, group_needed=True),
    HrCase,
)


async def _subject(gym: Gym, case: HrCase) -> int | None:
    """User whom a case is about, whether the acting user may read the HR profile or not; None if there is none."""
    if case.opened_for is None:
        return None
    return (await gym.published().fetch(HrProfile, case.opened_for)).user_id


@on_write(HrCase, "CAS-5", "CONFLICT_OF_INTEREST")
async def users_do_not_handle_their_own_case(gym: Gym, after: HrCase, before: HrCase | None) -> str | None:
    """Neither assignee nor approver is the person whom the case is about."""
    if not sets_any(after, before, "opened_for", "assigned_to", "approver"):
        return None
    subject = await _subject(gym, after)
    if subject is None or subject not in {after.assigned_to, after.approver}:
        return None
    return f"the case is about user {subject}, who can neither handle nor approve it; choose another user"


@on_write(HrCase, "CAS-6", "SKILL_MISSING")
async def assignees_have_the_required_skills(gym: Gym, after: HrCase, before: HrCase | None) -> str | None:
    """The assignee has every skill that the case requires."""
    if after.assigned_to is None or not sets_any(after, before, "assigned_to", "skills"):
        return None
    has = {row.skill for row in await gym.all(UserSkill, UserSkill.user == after.assigned_to)}
    lacking = [skill for skill in members(after.skills) if skill not in has]
    return (
        f"user {after.assigned_to} lacks skill {', '.join(map(str, lacking))}; choose another one" if lacking else None
    )


@on_write(HrCase, "CAS-7", "OPEN_TASKS")
async def cases_close_after_their_tasks(gym: Gym, after: HrCase, before: HrCase | None) -> str | None:
    """No task of the case is open when it is handed over or closed."""
    if not any(sets_to(after, before, "status", status) for status in ("awaiting_acceptance", "closed_complete")):
        return None
    tasks = await gym.all(HrCaseTask, HrCaseTask.parent_case == after.hr_case_id, HrCaseTask.status.in_(OPEN_TASKS))
    return f"{', '.join(task.number for task in tasks)} are open; finish or cancel them first" if tasks else None


rule("CAS-3", "REASON_MISSING", desk.needs("status", "suspended", "worknotes"), HrCase)
rule("CAS-3", "REASON_MISSING", desk.needs("status", "closed_incomplete", "worknotes"), HrCase)


@on_write(HrCase, "CAS-3", "NOT_ASSIGNED")
async def work_starts_with_an_assignee(_gym: Gym, after: HrCase, before: HrCase | None) -> str | None:
    """A case whose work starts has a group and an assignee; an escalated one loses its assignee [ESC-1]."""
    if not sets_to(after, before, "status", "work_in_progress"):
        return None
    missing = [name for name in ("assigned_to", "assignment_group") if getattr(after, name) is None]
    return f"status work_in_progress also needs {', '.join(missing)}; give it in the same call" if missing else None


# --- approvals -----------------------------------------------------------------------------------------------------


@on_write(HrCase, "APR-1", "APPROVER_NOT_NAMED")
async def approvers_are_named_by_the_criteria(gym: Gym, after: HrCase, before: HrCase | None) -> str | None:
    """The criteria are active criteria for approvals and name the approver, who is active and not the assignee."""
    if after.approver is None or not sets_any(after, before, "approver", "approval_criteria", "assigned_to"):
        return None
    if after.approver == after.assigned_to:
        return "the approver must not be the assignee; choose another user"
    if after.approval_criteria is None:
        return "a case with an approver needs approval_criteria; give the criteria in the same call"
    criteria, user = await gym.fetch(HrCriteria, after.approval_criteria), await gym.fetch(User, after.approver)
    if not criteria.active or criteria.type != "approval":
        return f"{criteria.name} are not active criteria for approvals; choose others"
    member = criteria.user_group is not None and await gym.exists(
        UserGroupMember, group_id=criteria.user_group, user_id=user.user_id
    )
    if user.active and (member or user.user_id in members(criteria.users)):
        return None
    return f"{user.email} is not an active user whom {criteria.name} name; choose one of those"


@on_write(HrCase, "APR-2", "APPROVAL_INCOMPLETE")
async def requested_approvals_have_an_approver(_gym: Gym, after: HrCase, before: HrCase | None) -> str | None:
    """`awaiting_approval` goes with a requested approval and an approver."""
    if not sets_to(after, before, "status", "awaiting_approval"):
        return None
    if after.approver is not None and after.request_status == "requested":
        return None
    return "status awaiting_approval also needs approver and request_status requested; give them in the same call"


@on_write(HrCase, "APR-3", "APPROVAL_DENIED")
async def only_the_approver_decides(gym: Gym, after: HrCase, before: HrCase | None) -> str | None:
    """No other user approves or rejects."""
    if after.request_status not in {"approved", "rejected"} or not sets_any(after, before, "request_status"):
        return None
    if before is not None and before.approver == gym.actor.user_id:
        return None
    return "only the approver of the case approves or rejects; leave request_status to them"


@on_write(HrCase, "APR-4", "APPROVAL_MISSING")
async def work_waits_for_a_requested_approval(_gym: Gym, after: HrCase, before: HrCase | None) -> str | None:
    """A case whose approval is requested or rejected is neither worked on nor handed over."""
    waits = after.request_status in {"requested", "rejected"}
    if not waits or after.status not in {"work_in_progress", "awaiting_acceptance", "closed_complete"}:
        return None
    if not sets_any(after, before, "status", "request_status"):
        return None
    return f"the approval is {after.request_status}; the case cannot be {after.status}"


@on_write(HrCase, "APR-4", "APPROVAL_MISSING")
async def bank_accounts_change_with_approval(_gym: Gym, after: HrCase, before: HrCase | None) -> str | None:
    """A case of payroll with a bank account is worked on only if it is approved."""
    if after.coe_type != "Payroll" or after.account_number is None or after.request_status == "approved":
        return None
    if not any(sets_to(after, before, "status", status) for status in ("work_in_progress", "awaiting_acceptance")):
        return None
    return "a case with a bank account needs an approval before work on it starts; request it first"


rule(
    "PRC-1",
    "INVALID_STATUS_TRANSITION",
    desk.follows("status", CASE_TRANSITIONS, first=("draft", "ready")),
    HrCase,
)


# --- tasks ---------------------------------------------------------------------------------------------------------


rule(
    "TSK-1",
    "TASK_IS_FINAL",
    desk.is_final("status", FINAL, "create a new task if there is more to do", named="number"),
    HrCaseTask,
)
rule(
    "CAS-4",
    "NOT_A_GROUP_MEMBER",
    desk.assignee_is_member("assigned_to", "assignment_group", UserGroupMember),
    HrCaseTask,
)


@on_write(HrCaseTask, "TSK-2", "CASE_IS_FINAL")
async def tasks_belong_to_open_cases(gym: Gym, after: HrCaseTask, before: HrCaseTask | None) -> str | None:
    """A closed case gets no task."""
    if after.parent_case is None or not sets_any(after, before, "parent_case"):
        return None
    case = await gym.fetch(HrCase, after.parent_case)
    return None if case.status in OPEN else f"{case.number} is {case.status}; it gets no tasks"


@on_write(HrCaseTask, "TSK-3", "TASK_INCOMPLETE")
async def tasks_have_what_their_type_needs(_gym: Gym, after: HrCaseTask, before: HrCaseTask | None) -> str | None:
    """A task of type url has an address, one of type hr service a service."""
    needed = {"url": "external_url", "hr service": "hr_service"}.get(after.task_type or "")
    if needed is None or not sets_any(after, before, "task_type", needed) or getattr(after, needed) is not None:
        return None
    return f"a task of type {after.task_type} needs {needed}; give it in the same call"


@on_write(HrCaseTask, "TSK-4", "TASK_NOT_DONE")
async def tasks_are_done_when_they_close(gym: Gym, after: HrCaseTask, before: HrCaseTask | None) -> str | None:
    """Every item of a checklist is ticked and every survey answered before a task is closed as complete."""
    if not sets_to(after, before, "status", "closed_complete"):
        return None
    if after.task_type == "checklist":
        open_items = await gym.all(
            Checklist, Checklist.case_task_id == after.hr_case_task_id, Checklist.checked.is_(False)
        )
        return f"{len(open_items)} items of the checklist are open; tick them first" if open_items else None
    unanswered = await gym.all(
        SurveyInstance, SurveyInstance.case_task_id == after.hr_case_task_id, SurveyInstance.answer_1.is_(None)
    )
    if after.task_type == "survey" and unanswered:
        return f"survey instance {unanswered[0].survey_instance_id} is not answered yet; the task stays open"
    return None


rule(
    "PRC-2",
    "INVALID_STATUS_TRANSITION",
    desk.follows("status", TASK_TRANSITIONS, first=("draft", "ready")),
    HrCaseTask,
)


@on_write(SurveyInstance, "SUR-1", "ANSWER_OF_ANOTHER")
async def users_answer_for_themselves(gym: Gym, after: SurveyInstance, before: SurveyInstance | None) -> str | None:
    """Only the user who is asked gives answers, and an answer stays as it is."""
    answers = tuple(f"answer_{number}" for number in range(1, 6))
    if before is None:
        given = any(getattr(after, name) is not None for name in answers)
    else:
        given = sets_any(after, before, *answers)
    if not given or after.assigned_to == gym.actor.user_id:
        return None
    return "only the user whom the survey asks answers it; leave the answers empty"


# --- rules, articles, notifications ----------------------------------------------------------------------------------


rule(
    "RUL-1",
    "GROUP_INACTIVE",
    desk.refers_to_active("user_group", UserGroup, "choose an active group", named="name"),
    AssignmentRule,
)
rule(
    "RUL-3",
    "GROUP_INACTIVE",
    desk.refers_to_active("escalate_to", UserGroup, "choose an active group", named="name"),
    EscalationRule,
)


@on_write(AssignmentRule, "RUL-2", "NOT_A_GROUP_MEMBER")
async def rules_assign_to_members_of_their_group(
    gym: Gym, after: AssignmentRule, before: AssignmentRule | None
) -> str | None:
    """The users of a rule with a group are members of it."""
    if after.user_group is None or not sets_any(after, before, "user_group", "users"):
        return None
    group = {row.user_id for row in await gym.all(UserGroupMember, UserGroupMember.group_id == after.user_group)}
    others = [user for user in members(after.users) if user not in group]
    return (
        f"user {', '.join(map(str, others))} does not belong to group {after.user_group}; choose members"
        if others
        else None
    )


@on_write(HrCaseKnowledge, "KB-1", "ARTICLE_NOT_PUBLISHED")
async def linked_articles_are_published(gym: Gym, after: HrCaseKnowledge, before: HrCaseKnowledge | None) -> str | None:
    """Drafts and retired articles are not linked."""
    if not sets_any(after, before, "knowledge_id"):
        return None
    article = await gym.fetch(Knowledge, after.knowledge_id)
    return None if article.state == "published" else f"{article.kb_number} is {article.state}; link a published article"


rule(
    "KB-2",
    "PUBLISHING_DENIED",
    desk.only_roles_set(EDITORS, "state", {"published", "retired"}, "give state draft"),
    Knowledge,
)


@on_write(Notification, "NTF-1", "RECIPIENT_NOT_ELIGIBLE")
async def recipients_may_know_of_the_case(gym: Gym, after: Notification, before: Notification | None) -> str | None:
    """The recipient is active, and is concerned with the case: by it, or as a member of a group that may get it.

    The group to which the case escalates is among these, since who escalates it may not see it afterwards [ESC-1].
    """
    if not sets_any(after, before, "email", "hr_case_id"):
        return None
    case = await gym.fetch(HrCase, after.hr_case_id)
    user = await gym.find(User, email=after.email, active=True)
    if user is None:
        return f"no active user has the work address {after.email}; send notifications to work addresses only"
    concerned = {case.assigned_to, case.approver, case.opened_by, await _subject(gym, case)}
    if user.user_id in concerned or await _is_in_a_group_of(gym, case, user):
        return None
    return f"{after.email} has nothing to do with {case.number}; do not tell them about it"


async def _is_in_a_group_of(gym: Gym, case: HrCase, user: User) -> bool:
    """Whether a user is a member of the group of a case, or of one to which that group escalates."""
    above = await gym.all(EscalationRule, EscalationRule.escalate_from == case.assignment_group)
    groups = [case.assignment_group, *(rule.escalate_to for rule in above)]
    memberships = await gym.all(
        UserGroupMember, UserGroupMember.group_id.in_(groups), UserGroupMember.user_id == user.user_id
    )
    return bool(memberships)
