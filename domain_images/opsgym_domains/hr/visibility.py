"""Which rows a user sees in access `strict`: personal and confidential matters are visible to few.

Invariant: a confidential case, one whose service has active criteria for visibility, is seen by the people whom these
criteria name and by those whom the case concerns, whatever their role. What belongs to a case is seen by those who see
the case, or who have been given that piece of work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, and_, false, func, not_, or_, select, true

from opsgym_domains.hr.tables import (
    Checklist,
    HrCase,
    HrCaseKnowledge,
    HrCaseTask,
    HrCriteria,
    HrProfile,
    HrService,
    Knowledge,
    Notification,
    SurveyInstance,
    UserGroupMember,
)
from opsgym_domains.kit.gym import Actor

OPEN = ("draft", "ready", "awaiting_approval", "work_in_progress", "awaiting_acceptance", "suspended")
"""Statuses of a case that is not closed."""
EDITORS = frozenset({"admin", "manager"})
"""Roles that publish and retire articles, and see those that are not published."""
Condition = ColumnElement[bool]


def visible(table: FromClause, actor: Actor) -> list[Condition]:
    """Conditions of the rows of a table that a user sees, besides the organisation; none if all are visible."""
    rule = _RULES.get(str(table))
    return [] if rule is None else [rule(actor)]


def _profiles(actor: Actor) -> Condition:
    """The user's own profile, those of the people whom the user manages, and of those whose open cases they handle."""
    handled = select(HrCase.opened_for).where(HrCase.status.in_(OPEN), _handles(HrCase, actor))
    return or_(
        _is_admin(actor),
        HrProfile.user_id == actor.user_id,
        HrProfile.manager == actor.user_id,
        HrProfile.hr_profile_id.in_(handled),
    )


def _cases(actor: Actor) -> Condition:
    confidential = func.coalesce(HrCase.hr_service.in_(_confidential_services()), false())
    concerned = or_(
        HrCase.opened_for.in_(_profiles_of(HrProfile.user_id == actor.user_id)),
        func.coalesce(HrCase.assigned_to == actor.user_id, false()),
        func.coalesce(HrCase.approver == actor.user_id, false()),
    )
    named = HrCase.hr_service.in_(_services_naming(actor))
    others = or_(
        _is_admin(actor),
        HrCase.opened_by == actor.user_id,
        HrCase.assignment_group.in_(_groups(actor)),
        HrCase.opened_for.in_(_profiles_of(HrProfile.manager == actor.user_id)),
    )
    return or_(concerned, and_(confidential, named), and_(not_(confidential), others))


def _tasks(actor: Actor) -> Condition:
    return or_(
        HrCaseTask.assigned_to == actor.user_id,
        HrCaseTask.parent_case.in_(_visible_cases(actor)),
        and_(HrCaseTask.parent_case.is_(None), or_(_is_admin(actor), HrCaseTask.assignment_group.in_(_groups(actor)))),
    )


def _survey_instances(actor: Actor) -> Condition:
    return or_(
        SurveyInstance.assigned_to == actor.user_id,
        SurveyInstance.case_task_id.in_(_visible_tasks(actor)),
        and_(SurveyInstance.case_task_id.is_(None), _has_role(actor, *EDITORS)),
    )


def _articles(actor: Actor) -> Condition:
    return or_(_has_role(actor, *EDITORS), Knowledge.state == "published", Knowledge.owner_id == actor.user_id)


_RULES: dict[str, Callable[[Actor], Condition]] = {
    HrProfile.__tablename__: _profiles,
    HrCase.__tablename__: _cases,
    HrCaseTask.__tablename__: _tasks,
    Checklist.__tablename__: lambda actor: Checklist.case_task_id.in_(_visible_tasks(actor)),
    SurveyInstance.__tablename__: _survey_instances,
    HrCaseKnowledge.__tablename__: lambda actor: HrCaseKnowledge.hr_case_id.in_(_visible_cases(actor)),
    Notification.__tablename__: lambda actor: Notification.hr_case_id.in_(_visible_cases(actor)),
    Knowledge.__tablename__: _articles,
}


# --- parts ---------------------------------------------------------------------------------------------------------


def _has_role(actor: Actor, *roles: str) -> Condition:
    return true() if actor.role in roles else false()


def _is_admin(actor: Actor) -> Condition:
    return _has_role(actor, "admin")


def _groups(actor: Actor) -> Select[Any]:
    return select(UserGroupMember.group_id).where(UserGroupMember.user_id == actor.user_id)


def _handles(kind: Any, actor: Actor) -> Condition:
    """Whether a record is assigned to the user or to a group of theirs."""
    return or_(kind.assigned_to == actor.user_id, kind.assignment_group.in_(_groups(actor)))


def _profiles_of(condition: Condition) -> Select[Any]:
    return select(HrProfile.hr_profile_id).where(condition)


def _visible_cases(actor: Actor) -> Select[Any]:
    return select(HrCase.hr_case_id).where(_cases(actor), HrCase.org_id == actor.org_id)


def _visible_tasks(actor: Actor) -> Select[Any]:
    return select(HrCaseTask.hr_case_task_id).where(_tasks(actor), HrCaseTask.org_id == actor.org_id)


def _confidential_services() -> Select[Any]:
    joined = select(HrService.hr_service_id).join(HrCriteria, HrCriteria.hr_criteria_id == HrService.hr_criteria)
    return joined.where(HrCriteria.type == "case_visibility", HrCriteria.active)


def _services_naming(actor: Actor) -> Select[Any]:
    """Services whose criteria name the user or a group of theirs."""
    listed = func.concat(",", func.translate(HrCriteria.users, "[] ", ""), ",").contains(f",{actor.user_id},")
    return _confidential_services().where(or_(HrCriteria.user_group.in_(_groups(actor)), listed))
