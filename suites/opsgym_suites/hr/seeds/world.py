"""The rows of an HR seed, with look-ups by name."""

from __future__ import annotations

from opsgym_domains.hr.deadlines import DEADLINES
from opsgym_domains.hr.tables import (
    METADATA,
    HrCase,
    HrCriteria,
    HrProfile,
    HrService,
    Knowledge,
    Skill,
    User,
    UserGroup,
    UserGroupMember,
    UserSkill,
)
from opsgym_suites.kit import world


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

    def members(self, team: UserGroup) -> list[User]:
        """The members of a group, in the order in which they joined."""
        links = self.all(UserGroupMember, group_id=team.group_id)
        return [self.one(User, user_id=link.user_id) for link in links]

    def service(self, name: str) -> HrService:
        """A service by name."""
        return self.one(HrService, service_name=name)

    def skill(self, name: str) -> Skill:
        """A skill by name."""
        return self.one(Skill, name=name)

    def has_skill(self, user: User, skill: Skill) -> bool:
        """Whether a user has a skill."""
        return bool(self.all(UserSkill, user=user.user_id, skill=skill.skill_id))

    def criteria(self, name: str) -> HrCriteria:
        """Criteria by name."""
        return self.one(HrCriteria, name=name)

    def article(self, title: str) -> Knowledge:
        """An article by title."""
        return self.one(Knowledge, title=title)
