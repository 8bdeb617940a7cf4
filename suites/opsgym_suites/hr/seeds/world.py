"""The rows of an HR seed, with look-ups by name."""

from __future__ import annotations

import json
from collections.abc import Sequence

from opsgym_domains.hr.deadlines import DEADLINES
from opsgym_domains.hr.tables import (
    METADATA,
    AssignmentRule,
    Checklist,
    EscalationRule,
    HrCase,
    HrCaseTask,
    HrCriteria,
    HrProfile,
    HrService,
    Knowledge,
    Skill,
    SurveyInstance,
    TopicCategory,
    TopicDetail,
    User,
    UserGroup,
    UserGroupMember,
    UserSkill,
)
from opsgym_domains.hr.visibility import OPEN
from opsgym_suites.kit import world

OPEN_TASKS = ("draft", "ready", "work_in_progress")
"""Statuses of a task that is not closed."""


class World(world.World):
    """All rows of a seed."""

    metadata = METADATA
    deadlines = DEADLINES

    def user(self, name: str) -> User:
        """A user by first and last name."""
        first, _, last = name.partition(" ")
        return self.one(User, first_name=first, last_name=last)

    def profile(self, person: str | User) -> HrProfile:
        """The HR profile of a person."""
        user = self.user(person) if isinstance(person, str) else person
        return self.one(HrProfile, user_id=user.user_id)

    def person_of(self, case: HrCase) -> User:
        """The person whom a case is about."""
        profile = self.one(HrProfile, hr_profile_id=case.opened_for)
        return self.one(User, user_id=profile.user_id)

    def team(self, name: str) -> UserGroup:
        """A group by name."""
        return self.one(UserGroup, name=name)

    def team_of(self, case: HrCase) -> UserGroup:
        """The group that handles a case."""
        return self.one(UserGroup, group_id=case.assignment_group)

    def one_team(self, group_id: int | None) -> UserGroup:
        """A group by id, as rules name it."""
        return self.one(UserGroup, group_id=group_id)

    def one_service(self, case: HrCase) -> HrService:
        """The service of a case."""
        return self.one(HrService, hr_service_id=case.hr_service)

    def members(self, team: UserGroup) -> list[User]:
        """The members of a group, in the order in which they joined."""
        links = self.all(UserGroupMember, group_id=team.group_id)
        return [self.one(User, user_id=link.user_id) for link in links]

    def teams_of(self, user: User) -> list[UserGroup]:
        """The groups of a user."""
        links = self.all(UserGroupMember, user_id=user.user_id)
        return [self.one(UserGroup, group_id=link.group_id) for link in links]

    def service(self, name: str) -> HrService:
        """A service by name."""
        return self.one(HrService, service_name=name)

    def centre_of(self, service: HrService) -> str:
        """The centre of excellence of a service: that of its topic's category [CAS-1].

        Raises:
            LookupError: The service has no topic.
        """
        topic = self.one(TopicDetail, topic_detail_id=service.topic_detail)
        return self.one(TopicCategory, topic_category_id=topic.topic_category).coe_type

    def skill(self, name: str) -> Skill:
        """A skill by name."""
        return self.one(Skill, name=name)

    def has_skill(self, user: User, skill: Skill) -> bool:
        """Whether a user has a skill."""
        return bool(self.all(UserSkill, user=user.user_id, skill=skill.skill_id))

    def criteria(self, name: str) -> HrCriteria:
        """Criteria by name."""
        return self.one(HrCriteria, name=name)

    def criteria_of(self, service: HrService) -> list[HrCriteria]:
        """The criteria of a service; none or one."""
        return self.all(HrCriteria, hr_criteria_id=service.hr_criteria) if service.hr_criteria else []

    def rule(self, name: str) -> AssignmentRule:
        """An assignment rule by name."""
        return self.one(AssignmentRule, name=name)

    def escalation(self, team: UserGroup) -> EscalationRule:
        """The rule by which a group escalates."""
        return self.one(EscalationRule, escalate_from=team.group_id)

    def article(self, title: str) -> Knowledge:
        """An article by title."""
        return self.one(Knowledge, title=title)

    def case(self, key: str) -> HrCase:
        """A case by the key of its fixture."""
        return self.fixture(HrCase, key)

    def tasks(self, case: HrCase) -> list[HrCaseTask]:
        """The tasks of a case."""
        return self.all(HrCaseTask, parent_case=case.hr_case_id)

    def items(self, task: HrCaseTask) -> list[Checklist]:
        """The items of a task's checklist."""
        return self.all(Checklist, case_task_id=task.hr_case_task_id)

    def surveys_of(self, task: HrCaseTask) -> list[SurveyInstance]:
        """The surveys of a task."""
        return self.all(SurveyInstance, case_task_id=task.hr_case_task_id)

    def open_cases(self, user: User) -> list[HrCase]:
        """The open cases that are assigned to a user."""
        return [row for row in self.all(HrCase, assigned_to=user.user_id) if row.status in OPEN]

    def open_tasks(self, user: User) -> list[HrCaseTask]:
        """The open tasks that are assigned to a user."""
        return [row for row in self.all(HrCaseTask, assigned_to=user.user_id) if row.status in OPEN_TASKS]

    def people_of(self, manager: User) -> list[HrProfile]:
        """The profiles of the people of a manager, without those whose employment has an end."""
        return self.all(HrProfile, manager=manager.user_id, employment_end_date=None)

    def least_busy(self, users: Sequence[User]) -> User:
        """Whom of the users a case is assigned to: the one with the fewest open cases, then the lowest id [ASG-2]."""
        return min(users, key=lambda user: (len(self.open_cases(user)), user.user_id))

    def users_of(self, row: AssignmentRule | HrCriteria) -> list[User]:
        """The users whom a rule or criteria list."""
        return [self.one(User, user_id=key) for key in json.loads(row.users or "[]")]
