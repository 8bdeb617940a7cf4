"""The 26 tables of HR service delivery.

Invariant: names, columns and their order are the published ones, so that published seeds and queries fit. References
are real foreign keys, and deleting a row that others refer to is refused. Keys are integers that are never reused, as
with SQLite's AUTOINCREMENT. Every row belongs to an organisation, and what must be unique is unique in it. Columns of
lists and objects hold JSON text.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import JSON, ForeignKey, Integer, PrimaryKeyConstraint, Text
from sqlalchemy.orm import Mapped, mapped_column

from opsgym_domains.hr import enums
from opsgym_domains.kit.schema import (
    Kind,
    Row,
    Str30,
    Str60,
    Str80,
    Str120,
    Str255,
    Str500,
    new_metadata,
    says,
    unique,
    varchar,
)


class HrRow(Row):
    """Base class of the domain's rows: all have the times of their creation and their last update."""

    __abstract__ = True
    metadata = new_metadata()
    created, updated = "created_at", "updated_at"
    newest_first = False


METADATA = HrRow.metadata


class OwnedRow(HrRow):
    """A row that belongs to the organisation of the user who adds it."""

    __abstract__ = True
    owner = "org_id"


def _ref(target: str) -> Any:
    return mapped_column(Integer, ForeignKey(target))


def _one_of(enumeration: Any, words: str, length: int = 40) -> Any:
    """A text column whose values are those of an enumeration."""
    return says(words, varchar(length), choices=enumeration)


Key = Annotated[int, mapped_column(Integer, primary_key=True, autoincrement=False)]
Json = Annotated[str, mapped_column(Text().with_variant(JSON(), "sqlite"))]
"""A list or an object as JSON text."""
OrgId = Annotated[int, _ref("organization.org_id")]
UserRef = Annotated[int, _ref("user.user_id")]
GroupRef = Annotated[int, _ref("user_group.group_id")]
ServiceRef = Annotated[int, _ref("hr_service.hr_service_id")]
CriteriaRef = Annotated[int, _ref("hr_criteria.hr_criteria_id")]
TaskRef = Annotated[int, _ref("hr_case_task.hr_case_task_id")]
CaseRef = Annotated[int, _ref("hr_case.hr_case_id")]
RoleRef = Annotated[int, _ref("role.role_id")]
PermissionRef = Annotated[int, _ref("permission.perm_id")]
ProfileRef = Annotated[int, _ref("hr_profile.hr_profile_id")]
CategoryRef = Annotated[int, _ref("topic_category.topic_category_id")]
TopicRef = Annotated[int, _ref("topic_detail.topic_detail_id")]
TemplateRef = Annotated[int, _ref("service_template.service_template_id")]
SkillRef = Annotated[int, _ref("skill.skill_id")]
SurveyRef = Annotated[int, _ref("survey.survey_id")]
ArticleRef = Annotated[int, _ref("knowledge.knowledge_id")]


# --- organisations, users, roles -----------------------------------------------------------------------------------


class Organization(HrRow):
    """An organisation whose people HR serves; every record belongs to one."""

    __tablename__ = "organization"
    label = "organisation"
    kinds = {"name": Kind.COMPANY}

    org_id: Mapped[Key]
    name: Mapped[Str120]
    active: Mapped[bool]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Permission(HrRow):
    """A permission on a kind of record: read, or all operations (crud)."""

    __tablename__ = "permission"

    perm_id: Mapped[Key]
    resource: Mapped[Str60]
    action: Mapped[Str30]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Role(HrRow):
    """A role of users: admin, manager, agent or employee."""

    __tablename__ = "role"

    role_id: Mapped[Key]
    name: Mapped[Str60]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class RolePermission(HrRow):
    """A permission that a role has."""

    __tablename__ = "role_permission"
    __table_args__ = (PrimaryKeyConstraint("role_id", "perm_id"),)

    role_id: Mapped[RoleRef]
    perm_id: Mapped[PermissionRef]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class User(OwnedRow):
    """A user account of an employee, an HR agent, a manager or an admin."""

    __tablename__ = "user"
    defaults = {"active": True}
    uniques = (
        unique("DUPLICATE_EMAIL", "org_id", "email"),
        unique("DUPLICATE_NAME", "org_id", "first_name", "last_name"),
    )
    kinds = {"first_name": Kind.GIVEN_NAME, "last_name": Kind.FAMILY_NAME, "email": Kind.EMAIL}

    user_id: Mapped[Key]
    first_name: Mapped[Str60] = says("First name: letters, spaces, hyphens, apostrophes and full stops")
    last_name: Mapped[Str60] = says("Last name: letters, spaces, hyphens, apostrophes and full stops")
    email: Mapped[Str120] = says("Work email address")
    phone: Mapped[Str30 | None] = says("Phone number")
    role: Mapped[str] = _one_of(enums.UserRole, "Role of the user, which decides about permissions")
    active: Mapped[bool] = says("Whether the account is active")
    org_id: Mapped[OrgId]
    static_token: Mapped[Str500 | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class UserRole(HrRow):
    """The role of a user in an organisation."""

    __tablename__ = "user_role"
    __table_args__ = (PrimaryKeyConstraint("user_id", "role_id"),)
    owner = "org_id"

    user_id: Mapped[UserRef]
    role_id: Mapped[RoleRef]
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class UserGroup(OwnedRow):
    """A team to which cases and tasks are assigned."""

    __tablename__ = "user_group"
    label = "group"
    defaults = {"active": True}
    uniques = (unique("DUPLICATE_GROUP_NAME", "org_id", "name"),)

    group_id: Mapped[Key]
    name: Mapped[Str80] = says("Name of the group: letters, spaces, hyphens, apostrophes and full stops")
    type: Mapped[str] = _one_of(enums.GroupType, "Type of the group")
    active: Mapped[bool] = says("Whether the group is active")
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class UserGroupMember(OwnedRow):
    """A user's membership of a group."""

    __tablename__ = "user_group_member"
    label = "group member"
    uniques = (unique("DUPLICATE_GROUP_MEMBER", "group_id", "user_id"),)

    member_id: Mapped[Key] = says("Membership id")
    group_id: Mapped[GroupRef]
    user_id: Mapped[UserRef]
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


# --- profiles ------------------------------------------------------------------------------------------------------


class HrProfile(OwnedRow):
    """The employment and personal data of a user."""

    __tablename__ = "hr_profile"
    label = "HR profile"
    numbers = {"number": "HR-{:03d}"}
    uniques = (
        unique("DUPLICATE_PROFILE", "org_id", "user_id"),
        unique("DUPLICATE_PERSONAL_EMAIL", "org_id", "personal_email"),
        unique("DUPLICATE_NATIONAL_TAX_ID", "org_id", "national_tax_id"),
    )
    kinds = {"number": Kind.NUMBER, "personal_email": Kind.EMAIL}

    hr_profile_id: Mapped[Key]
    number: Mapped[Str30 | None] = says("Profile number, for instance HR-001")
    gender: Mapped[str | None] = _one_of(enums.Gender, "Gender")
    user_id: Mapped[UserRef]
    personal_email: Mapped[Str120 | None] = says("Personal email address")
    marital_status: Mapped[str | None] = _one_of(enums.MaritalStatus, "Marital status")
    type: Mapped[str | None] = _one_of(enums.EmploymentType, "Type of employment")
    dob: Mapped[datetime | None] = says("Date of birth: YYYY-MM-DD")
    nationality: Mapped[str | None] = _one_of(enums.Country, "Nationality, as a country code")
    employment_start_date: Mapped[datetime | None] = says("First day of employment: YYYY-MM-DD")
    employment_end_date: Mapped[datetime | None] = says("Last day of employment: YYYY-MM-DD")
    manager: Mapped[UserRef | None]
    location_type: Mapped[str | None] = _one_of(enums.LocationType, "Where the person works")
    national_tax_id: Mapped[Str60 | None] = says("National tax id, for instance TAX-001-123")
    position: Mapped[str | None] = _one_of(enums.Position, "Position")
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    org_id: Mapped[OrgId]


# --- the catalogue of services -------------------------------------------------------------------------------------


class TopicCategory(OwnedRow):
    """A category of topics, of one centre of excellence (COE)."""

    __tablename__ = "topic_category"
    defaults = {"active": True}
    uniques = (unique("DUPLICATE_TOPIC_CATEGORY_NAME", "org_id", "name"),)

    topic_category_id: Mapped[Key]
    name: Mapped[Str120] = says("Name of the topic category", searched=True)
    active: Mapped[bool] = says("Whether the topic category is active")
    coe_type: Mapped[str] = _one_of(enums.CoeType, "Centre of excellence (COE)")
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class TopicDetail(OwnedRow):
    """A topic within a category."""

    __tablename__ = "topic_detail"
    defaults = {"active": True}
    uniques = (unique("DUPLICATE_TOPIC_DETAIL_NAME", "org_id", "name"),)

    topic_detail_id: Mapped[Key]
    active: Mapped[bool] = says("Whether the topic detail is active")
    name: Mapped[Str120] = says("Name of the topic detail", searched=True)
    topic_category: Mapped[CategoryRef | None]
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class HrService(OwnedRow):
    """A service of the HR catalogue, for which cases are opened."""

    __tablename__ = "hr_service"
    label = "HR service"
    defaults = {"active": True}
    uniques = (unique("DUPLICATE_SERVICE_NAME", "org_id", "service_name"),)

    hr_service_id: Mapped[Key]
    service_name: Mapped[Str120] = says("Name of the HR service")
    fulfillment_type: Mapped[str] = _one_of(enums.FulfillmentType, "How requests for the service are fulfilled")
    topic_detail: Mapped[TopicRef | None]
    service_template: Mapped[TemplateRef | None]
    hr_criteria: Mapped[CriteriaRef | None]
    active: Mapped[bool] = says("Whether the service is active")
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class ServiceTemplate(OwnedRow):
    """Values that a service presets in the requests made for it."""

    __tablename__ = "service_template"
    defaults = {"active": True}
    uniques = (unique("DUPLICATE_TEMPLATE_NAME", "org_id", "name"),)

    service_template_id: Mapped[Key]
    name: Mapped[Str120] = says("Name of the service template", searched=True)
    change_request_values: Mapped[Json | None]
    active: Mapped[bool] = says("Whether the template is active")
    coe_type: Mapped[str] = _one_of(enums.CoeType, "Centre of excellence (COE)")
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class HrCriteria(OwnedRow):
    """Who may see the cases of a service, or who approves them: a group, users, or both."""

    __tablename__ = "hr_criteria"
    label = "HR criteria"
    defaults = {"active": True}
    uniques = (unique("DUPLICATE_CRITERIA_NAME", "org_id", "name"),)

    hr_criteria_id: Mapped[Key]
    name: Mapped[Str120] = says("Name of the criteria", searched=True)
    type: Mapped[str] = _one_of(enums.CriteriaType, "What the criteria decide")
    active: Mapped[bool] = says("Whether the criteria are active")
    user_group: Mapped[GroupRef | None]
    users: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    org_id: Mapped[OrgId]


class Skill(OwnedRow):
    """A skill that users have and cases require."""

    __tablename__ = "skill"
    defaults = {"active": True}
    uniques = (unique("DUPLICATE_SKILL_NAME", "org_id", "name"),)

    skill_id: Mapped[Key]
    name: Mapped[Str120] = says("Name of the skill", searched=True)
    active: Mapped[bool] = says("Whether the skill is active")
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class UserSkill(OwnedRow):
    """A skill that a user has."""

    __tablename__ = "user_skill"
    uniques = (unique("DUPLICATE_USER_SKILL", "skill", "user"),)

    user_skill_id: Mapped[Key]
    skill: Mapped[SkillRef]
    user: Mapped[UserRef]
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


# --- cases ---------------------------------------------------------------------------------------------------------


class HrCase(OwnedRow):
    """A request or concern of an employee, from draft to closure."""

    __tablename__ = "hr_case"
    label = "HR case"
    actor, numbers = "opened_by", {"number": "HRC{:07d}"}
    defaults = {"status": "draft", "priority": "planning"}
    uniques = (unique("DUPLICATE_CASE_NUMBER", "org_id", "number"),)
    kinds = {"number": Kind.NUMBER}

    hr_case_id: Mapped[Key]
    number: Mapped[Str30] = says("Case number, for instance HRC0000042")
    status: Mapped[str] = _one_of(enums.CaseStatus, "Status of the case")
    hr_service: Mapped[ServiceRef | None]
    opened_for: Mapped[ProfileRef | None] = says("Person whom the case is about")
    opened_by: Mapped[UserRef | None] = says("User who opened the case")
    priority: Mapped[str | None] = _one_of(enums.Priority, "Priority")
    source: Mapped[str | None] = _one_of(enums.Source, "Channel on which the case was reported")
    assigned_to: Mapped[UserRef | None] = says("Assignee")
    assignment_group: Mapped[GroupRef | None] = says("Assignment group")
    short_description: Mapped[Str120] = says("Short description", searched=True)
    worknotes: Mapped[Str120 | None] = says("Work notes", searched=True)
    skills: Mapped[Json | None] = says("Skills that the case requires (skill ids)")
    approval_criteria: Mapped[CriteriaRef | None] = says("Criteria that say who approves the case")
    coe_type: Mapped[str] = _one_of(enums.CoeType, "Centre of excellence (COE) that handles the case")
    approver: Mapped[UserRef | None] = says("Approver")
    request_status: Mapped[str | None] = _one_of(enums.RequestStatus, "Status of the approval")
    account_number: Mapped[Str120 | None] = says("Number of the bank account, in cases of payroll", searched=True)
    account_type: Mapped[str | None] = _one_of(enums.AccountType, "Type of the bank account, in cases of payroll")
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    org_id: Mapped[OrgId]


class HrCaseTask(OwnedRow):
    """A step of a case, or work of its own."""

    __tablename__ = "hr_case_task"
    label = "HR case task"
    defaults = {"active": True}
    uniques = (unique("DUPLICATE_TASK_NUMBER", "org_id", "number"),)
    kinds = {"number": Kind.NUMBER}

    hr_case_task_id: Mapped[Key]
    number: Mapped[Str30] = says("Task number, for instance TASK-20261116-0001")
    status: Mapped[str] = _one_of(enums.TaskStatus, "Status of the task")
    assigned_to: Mapped[UserRef | None] = says("Assignee")
    assignment_group: Mapped[GroupRef | None] = says("Assignment group")
    short_description: Mapped[Str255] = says("Short description", searched=True)
    task_type: Mapped[str | None] = _one_of(enums.TaskType, "Type of the task")
    hr_service: Mapped[ServiceRef | None]
    external_url: Mapped[Str500 | None] = says("Address of a page, for a task of type url", searched=True)
    worknotes: Mapped[Str500 | None] = says("Work notes", searched=True)
    active: Mapped[bool | None] = says("Whether the task is active")
    parent_case: Mapped[CaseRef | None]
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Checklist(OwnedRow):
    """An item of the checklist of a task."""

    __tablename__ = "checklist"
    label = "checklist item"
    defaults = {"checked": False}

    checklist_id: Mapped[Key]
    checklist_item_description: Mapped[Str255] = says("What is to be done", searched=True)
    checked: Mapped[bool] = says("Whether the item is done")
    case_task_id: Mapped[TaskRef]
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Survey(OwnedRow):
    """Up to five questions that users are asked."""

    __tablename__ = "survey"

    survey_id: Mapped[Key]
    question_1: Mapped[Str500 | None] = says("Question 1", searched=True)
    question_2: Mapped[Str500 | None] = says("Question 2", searched=True)
    question_3: Mapped[Str500 | None] = says("Question 3", searched=True)
    question_4: Mapped[Str500 | None] = says("Question 4", searched=True)
    question_5: Mapped[Str500 | None] = says("Question 5", searched=True)
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class SurveyInstance(OwnedRow):
    """A survey that a user is asked to answer, with the answers."""

    __tablename__ = "survey_instance"

    survey_instance_id: Mapped[Key]
    survey_id: Mapped[SurveyRef]
    case_task_id: Mapped[TaskRef | None] = says("Task that the survey belongs to")
    assigned_to: Mapped[UserRef | None] = says("User who answers the survey")
    org_id: Mapped[OrgId]
    answer_1: Mapped[Str500 | None] = says("Answer to question 1", searched=True)
    answer_2: Mapped[Str500 | None] = says("Answer to question 2", searched=True)
    answer_3: Mapped[Str500 | None] = says("Answer to question 3", searched=True)
    answer_4: Mapped[Str500 | None] = says("Answer to question 4", searched=True)
    answer_5: Mapped[Str500 | None] = says("Answer to question 5", searched=True)
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


# --- rules, knowledge, notifications ---------------------------------------------------------------------------------


class AssignmentRule(OwnedRow):
    """To whom cases of a priority, a country or a set of skills are assigned."""

    __tablename__ = "assignment_rules"
    label = "assignment rule"
    defaults = {"based_on_priority": "planning", "active": False}
    uniques = (unique("DUPLICATE_RULE_NAME", "org_id", "name"),)

    assignment_rule_id: Mapped[Key]
    name: Mapped[Str120] = says("Name of the rule", searched=True)
    based_on_skills: Mapped[Json | None] = says("Skills of the cases that the rule concerns (skill ids)")
    based_on_country: Mapped[str | None] = _one_of(enums.Country, "Country of the cases that the rule concerns")
    based_on_priority: Mapped[str | None] = _one_of(enums.Priority, "Priority of the cases that the rule concerns")
    active: Mapped[bool] = says("Whether the rule is active")
    user_group: Mapped[GroupRef | None] = says("Group to which the cases are assigned")
    users: Mapped[Json | None] = says("Users to whom the cases are assigned (user ids)")
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class EscalationRule(OwnedRow):
    """The group to which a group escalates its cases."""

    __tablename__ = "escalation_rule"
    uniques = (unique("DUPLICATE_ESCALATION_RULE", "escalate_from", "escalate_to"),)

    escalation_rule_id: Mapped[Key]
    escalate_from: Mapped[GroupRef] = says("Group that escalates")
    escalate_to: Mapped[GroupRef] = says("Group to which it escalates")
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Knowledge(OwnedRow):
    """A knowledge article."""

    __tablename__ = "knowledge"
    label = "knowledge article"
    numbers = {"kb_number": "KB-{:03d}"}
    defaults = {"state": "published", "visibility": "internal"}
    uniques = (unique("DUPLICATE_KB_NUMBER", "org_id", "kb_number"),)
    kinds = {"kb_number": Kind.NUMBER}

    knowledge_id: Mapped[Key]
    kb_number: Mapped[Str30] = says("Number of the article, for instance KB-001")
    title: Mapped[Str120] = says("Title", searched=True)
    body: Mapped[str | None] = says("Text of the article", searched=True)
    state: Mapped[str] = _one_of(enums.ArticleState, "State of the article")
    visibility: Mapped[str] = _one_of(enums.Visibility, "Who may read the article")
    owner_id: Mapped[UserRef | None] = says("Owner")
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    org_id: Mapped[OrgId]


class HrCaseKnowledge(OwnedRow):
    """A link from a case to a knowledge article."""

    __tablename__ = "hr_case_knowledge"
    label = "knowledge link"
    defaults = {"used_as": "suggested"}
    uniques = (unique("DUPLICATE_KNOWLEDGE_LINK", "hr_case_id", "knowledge_id"),)

    hr_case_kb_id: Mapped[Key]
    hr_case_id: Mapped[CaseRef]
    knowledge_id: Mapped[ArticleRef]
    used_as: Mapped[str] = _one_of(enums.LinkUse, "How the article is used")
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Notification(OwnedRow):
    """A message about a case to an email address."""

    __tablename__ = "notification"
    defaults = {"type": "other", "status": "draft"}

    notification_id: Mapped[Key]
    hr_case_id: Mapped[CaseRef]
    email: Mapped[Str255] = says("Email address of the recipient")
    type: Mapped[str | None] = _one_of(enums.NotificationType, "Type of the notification")
    status: Mapped[str | None] = _one_of(enums.CaseStatus, "Status of the notification")
    created_at: Mapped[datetime | None]
    org_id: Mapped[OrgId]
    updated_at: Mapped[datetime | None]
