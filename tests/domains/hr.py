"""What HR declares to be tested."""

from __future__ import annotations

from tests.domains.declaration import (
    CreateTool,
    DeleteTool,
    DomainDeclaration,
    ListTool,
    StrictDeclaration,
    UpdateTool,
)
from tests.hr.examples import EXAMPLES
from tests.hr.process_rules import CASES
from tests.hr.seed import NOW, SEED, TOKEN
from tests.hr.strict import AGENTS_CHANGE, SCRIPT, TOKENS

from opsgym_domains import registry
from opsgym_domains.hr.rules import CASE_TRANSITIONS

PERSON = "SELECT first_name || ' ' || last_name FROM user WHERE user_id = ?"
GROUP = "SELECT name FROM user_group WHERE group_id = ?"
SERVICE = "SELECT service_name FROM hr_service WHERE hr_service_id = ?"
CRITERIA = "SELECT name FROM hr_criteria WHERE hr_criteria_id = ?"
TOPIC = "SELECT name FROM topic_detail WHERE topic_detail_id = ?"
CATEGORY = "SELECT name FROM topic_category WHERE topic_category_id = ?"
TEMPLATE = "SELECT name FROM service_template WHERE service_template_id = ?"
SUBJECT = f"SELECT ({PERSON.replace('?', 'hr_profile.user_id')}) FROM hr_profile WHERE hr_profile_id = ?"
MANAGER = "SELECT CAST(hr_profile_id AS TEXT) FROM hr_profile WHERE user_id = ?"
TAX_ID = "SELECT substr(?, -3)"
MEMBERS = "SELECT trim(?, '[]')"

CASE_FILTERS = {
    "hr_service": SERVICE,
    "opened_for": SUBJECT,
    "opened_by": PERSON,
    "assigned_to": PERSON,
    "approver": PERSON,
    "assignment_group": GROUP,
    "approval_criteria": CRITERIA,
}
TASK_NAMES = {"assigned_to": PERSON, "assignment_group": GROUP, "hr_service": SERVICE}
SERVICE_NAMES = {"topic_detail": TOPIC, "service_template": TEMPLATE, "hr_criteria": CRITERIA}


def details(*columns: str) -> frozenset[str]:
    """Fields with the records that columns refer to."""
    return frozenset(f"{column}_details" for column in columns)


CASE_DETAILS = details(*CASE_FILTERS)
LISTS = {
    "find_hr_services": ListTool(
        "hr_service", by_name=SERVICE_NAMES, needs_filter=True, optional_fields=details(*SERVICE_NAMES)
    ),
    "get_topic_details": ListTool(
        "topic_detail",
        ("name",),
        by_name={"topic_category": CATEGORY},
        needs_filter=True,
        optional_fields=details("topic_category"),
    ),
    "get_topic_categories": ListTool(
        "topic_category", ("name",), needs_filter=True, optional_fields=frozenset({"topic_details_count"})
    ),
    "get_service_templates": ListTool("service_template", ("name",), needs_filter=True),
    "list_user_groups": ListTool("user_group"),
    "list_hr_criteria": ListTool("hr_criteria", ("name",), own_rules=("users",), needs_filter=True),
    "list_skills": ListTool("skill", ("name",), needs_filter=True),
    "list_user_skills": ListTool(
        "user_skill",
        needs_filter=True,
        optional_fields=frozenset({"skill_name", "user_email", "user_first_name", "user_last_name"}),
    ),
    "list_checklists": ListTool("checklist", ("checklist_item_description",)),
    "list_surveys": ListTool("survey", tuple(f"question_{n}" for n in range(1, 6))),
    "list_survey_instances": ListTool("survey_instance", tuple(f"answer_{n}" for n in range(1, 6))),
    "list_hr_cases": ListTool(
        "hr_case",
        ("short_description", "worknotes", "account_number"),
        own_rules=("skills", "limit"),
        by_name=CASE_FILTERS,
        optional_fields=CASE_DETAILS,
    ),
    "get_cases_assigned_to": ListTool(
        "hr_case",
        by_name={"assigned_to": PERSON, "assignment_group": GROUP},
        needs_filter=True,
        optional_fields=CASE_DETAILS,
    ),
    "fetch_hr_profiles": ListTool("hr_profile", by_name={"manager": MANAGER}),
    "retrieve_knowledge_articles": ListTool("knowledge", ("title", "body")),
    "find_hr_case_knowledge_links": ListTool("hr_case_knowledge"),
    "list_assignment_rules": ListTool(
        "assignment_rules", ("name",), own_rules=("based_on_skills", "users", "limit"), needs_filter=True
    ),
    "list_escalation_rules": ListTool(
        "escalation_rule",
        needs_filter=True,
        optional_fields=frozenset({"escalate_from_group_name", "escalate_to_group_name"}),
    ),
    "find_notifications": ListTool("notification", columns={"sys_created_on": "created_at"}),
    "list_hr_case_tasks": ListTool(
        "hr_case_task",
        ("short_description", "worknotes", "external_url"),
        by_name=TASK_NAMES,
        optional_fields=details(*TASK_NAMES, "parent_case"),
    ),
}

# --- writes ----------------------------------------------------------------------------------------------------------

CREATES = {
    "create_new_hr_service": CreateTool(
        "hr_service",
        filled={"hr_service_id": 7, "topic_detail": None, "service_template": None, "hr_criteria": None},
        given={"service_name": "Ask for leave", "fulfillment_type": "workflow", "active": True},
        optional={"topic_detail": "New starters", "service_template": "Pay change", "hr_criteria": "Partners only"},
        by_name={"topic_detail": 1, "service_template": 4, "hr_criteria": 2},
    ),
    "add_new_topic_detail": CreateTool(
        "topic_detail",
        filled={"topic_detail_id": 6, "topic_category": None},
        given={"name": "Tax", "active": False},
        optional={"topic_category": "Pay"},
        by_name={"topic_category": 3},
    ),
    "add_new_topic_category": CreateTool(
        "topic_category",
        filled={"topic_category_id": 5},
        given={"name": "Leaving", "coe_type": "HRIT", "active": False},
    ),
    "create_new_service_template": CreateTool(
        "service_template",
        filled={"service_template_id": 5, "active": True},
        given={
            "name": "Leave",
            "change_request_values": {"short_description": "Grant leave", "category": "leave", "days": 3},
            "coe_type": "HRIT",
        },
        optional={"active": False},
    ),
    "add_new_user": CreateTool(
        "user",
        filled={"user_id": 10, "phone": None, "active": True},
        given={"first_name": "Gus", "last_name": "O'Neil", "email": "gus@norfield.test", "role": "employee"},
        optional={"phone": "+44-555-0110", "active": False},
        also_writes=frozenset({"user_role"}),
    ),
    "add_new_user_group": CreateTool(
        "user_group",
        filled={"group_id": 6, "active": True},
        given={"name": "Leave Desk", "type": "Service Desk"},
        optional={"active": False},
    ),
    "add_new_group_member": CreateTool(
        "user_group_member",
        filled={"member_id": 7, "group_id": 4, "user_id": 3},
        given={"group_id": "4", "user_id": "3"},
    ),
    "register_hr_criteria": CreateTool(
        "hr_criteria",
        filled={"hr_criteria_id": 4, "active": True, "user_group": None, "users": None},
        given={"name": "Crew", "type": "approval"},
        optional={"active": False, "user_group": "4", "users": "1,2"},
        by_name={"user_group": 4, "users": [1, 2]},
    ),
    "add_new_skill": CreateTool(
        "skill", filled={"skill_id": 8, "active": True}, given={"name": "Visas"}, optional={"active": False}
    ),
    "add_new_skill_to_user": CreateTool(
        "user_skill", filled={"user_skill_id": 5, "skill": 2, "user": 2}, given={"skill": "2", "user": "2"}
    ),
    "create_checklist": CreateTool(
        "checklist",
        filled={"checklist_id": 6, "checked": False},
        given={"checklist_item_description": "Send the letter", "case_task_id": 2},
        optional={"checked": True},
    ),
    "create_survey": CreateTool(
        "survey",
        filled={"survey_id": 5, "question_2": None, "question_3": None, "question_4": None, "question_5": None},
        given={"question_1": "All well?"},
        optional={"question_2": "Why?", "question_3": "How?", "question_4": "When?", "question_5": "Who?"},
    ),
    "create_survey_instance": CreateTool(
        "survey_instance",
        filled={"survey_instance_id": 4, "case_task_id": None, "assigned_to": None, "answer_1": None},
        given={"survey_id": 1},
        optional={"case_task_id": 2, "assigned_to": 5, "answer_1": "Well", "answer_5": "Bye"},
    ),
    "create_new_hr_case": CreateTool(
        "hr_case",
        filled={
            "hr_case_id": 9,
            "number": "HRC0000709",
            "status": "draft",
            "priority": "planning",
            "opened_by": 1,
            "hr_service": None,
            "opened_for": None,
            "skills": None,
            "request_status": None,
        },
        given={"short_description": "Bank account changed", "coe_type": "Payroll"},
        optional={
            "status": "ready",
            "hr_service": "2",
            "opened_for": "Dan Okoro",
            "priority": "high",
            "source": "walk-in",
            "assigned_to": "Bo Lund",
            "assignment_group": "Payroll Desk",
            "worknotes": "Called",
            "skills": [1, 2],
            "approval_criteria": "1",
            "approver": "Cleo Marsh",
            "request_status": "approved",
            "account_number": "87654321",
            "account_type": "savings",
        },
        by_name={
            "hr_service": 2,
            "opened_for": 14,
            "assigned_to": 2,
            "assignment_group": 1,
            "approval_criteria": 1,
            "approver": 3,
        },
    ),
    "onboard_new_hr_profile": CreateTool(
        "hr_profile",
        filled={
            "hr_profile_id": 20,
            "number": "HR-003",
            "user_id": 5,
            "national_tax_id": "TAX-001-105",
            "manager": None,
        },
        given={"user_id": "5", "personal_email": "eve@home.test", "national_tax_id": "105"},
        optional={
            "gender": "Female",
            "marital_status": "Single",
            "type": "part-time",
            "dob": "1995-05-05T00:00:00",
            "nationality": "FR",
            "employment_start_date": "2026-03-01T00:00:00",
            "employment_end_date": "2027-03-01T00:00:00",
            "manager": "13",
            "location_type": "Remote",
            "position": "Sales",
        },
        by_name={"manager": 3, "user_id": 5, "national_tax_id": "TAX-001-105"},
    ),
    "create_knowledge_article": CreateTool(
        "knowledge",
        filled={
            "knowledge_id": 7,
            "kb_number": "KB-005",
            "body": None,
            "state": "published",
            "visibility": "internal",
            "owner_id": None,
        },
        given={"title": "Sick leave"},
        optional={"body": "Call us.", "state": "draft", "visibility": "external", "owner_id": 2},
    ),
    "link_knowledge_to_hr_case": CreateTool(
        "hr_case_knowledge",
        filled={"hr_case_kb_id": 8, "used_as": "suggested"},
        given={"hr_case_id": 2, "knowledge_id": 1},
        optional={"used_as": "applied"},
    ),
    "add_new_assignment_rule": CreateTool(
        "assignment_rules",
        filled={
            "assignment_rule_id": 4,
            "based_on_skills": None,
            "based_on_country": None,
            "based_on_priority": "planning",
            "active": False,
            "user_group": None,
            "users": None,
        },
        given={"name": "Crew"},
        optional={
            "based_on_skills": [1, 2],
            "based_on_country": "US",
            "based_on_priority": "low",
            "active": True,
            "user_group": 4,
            "users": [2],
        },
    ),
    "add_new_escalation_rule": CreateTool(
        "escalation_rule",
        filled={"escalation_rule_id": 5, "escalate_from": 2, "escalate_to": 4},
        given={"escalate_from": "2", "escalate_to": "4"},
    ),
    "send_notification": CreateTool(
        "notification",
        filled={"notification_id": 8, "type": "other", "status": "draft"},
        given={"hr_case_id": 2, "email": "eve@norfield.test"},
        optional={"type": "alert", "status": "ready"},
    ),
    "create_hr_case_task": CreateTool(
        "hr_case_task",
        filled={"hr_case_task_id": 7, "number": "TASK-20260302-0008", "task_type": None, "parent_case": None},
        given={"status": "ready", "short_description": "Call the bank"},
        optional={
            "assigned_to": "Bo Lund",
            "assignment_group": "Payroll Desk",
            "task_type": "url",
            "hr_service": "Old desk",
            "external_url": "https://bank.test",
            "worknotes": "Twice",
            "active": False,
            "parent_case": "1",
        },
        by_name={"assigned_to": 2, "assignment_group": 1, "hr_service": 6, "parent_case": 1},
    ),
}
QUESTIONS = {f"question_{n}": f"Question {n}?" for n in range(1, 6)}
ANSWERS = {f"answer_{n}": f"Answer {n}" for n in range(1, 6)}
UPDATES = {
    "update_hr_service": UpdateTool(
        "hr_service",
        "hr_service_id",
        "1",
        "HR_SERVICE_NOT_FOUND",
        values={
            "service_name": "Welcome",
            "fulfillment_type": "flow",
            "topic_detail": "Bank details",
            "service_template": "Pay change",
            "hr_criteria": "Payroll approvers",
            "active": False,
        },
        by_name=SERVICE_NAMES,
    ),
    "update_topic_detail": UpdateTool(
        "topic_detail",
        "topic_detail_id",
        "1",
        "TOPIC_DETAIL_NOT_FOUND",
        values={"name": "Starters", "active": False, "topic_category": "Pay"},
        by_name={"topic_category": CATEGORY},
        always=("name",),
    ),
    "update_topic_category": UpdateTool(
        "topic_category",
        "topic_category_id",
        "1",
        "TOPIC_CATEGORY_NOT_FOUND",
        values={"name": "Joining", "coe_type": "HRIT", "active": False},
        always=("name",),
    ),
    "update_service_template": UpdateTool(
        "service_template",
        "service_template_id",
        "1",
        "SERVICE_TEMPLATE_NOT_FOUND",
        values={
            "name": "Kit",
            "change_request_values": {"short_description": "Set up", "category": "it", "days": 1},
            "coe_type": "HRIT",
            "active": False,
        },
    ),
    "update_user_details": UpdateTool(
        "user",
        "user_id",
        "4",
        "USER_NOT_FOUND",
        values={
            "email": "daniel@norfield.test",
            "first_name": "Daniel",
            "last_name": "Okoro-Hill",
            "phone": "+44-555-0104",
            "role": "manager",
            "active": False,
        },
        also_writes=frozenset({"user_role"}),
    ),
    "update_user_group": UpdateTool(
        "user_group",
        "group_id",
        "4",
        "GROUP_NOT_FOUND",
        values={"name": "Road Crew", "type": "IT Support", "active": False},
    ),
    "update_hr_criteria": UpdateTool(
        "hr_criteria",
        "hr_criteria_id",
        "1",
        "HR_CRITERIA_NOT_FOUND",
        values={"name": "Approvers", "type": "case_visibility", "active": False, "user_group": "2", "users": "2, 3"},
        by_name={"users": MEMBERS},
    ),
    "update_skill": UpdateTool("skill", "skill_id", "1", "SKILL_NOT_FOUND", values={"name": "Pay", "active": False}),
    "update_checklist": UpdateTool(
        "checklist",
        "checklist_id",
        1,
        "CHECKLIST_ITEM_NOT_FOUND",
        values={"checklist_item_description": "Compare twice", "checked": False, "case_task_id": 2},
    ),
    "update_survey": UpdateTool("survey", "survey_id", 1, "SURVEY_NOT_FOUND", values=QUESTIONS),
    "update_survey_instance": UpdateTool(
        "survey_instance",
        "survey_instance_id",
        1,
        "SURVEY_INSTANCE_NOT_FOUND",
        values={"survey_id": 4, "case_task_id": 1, "assigned_to": 5, **ANSWERS},
    ),
    "update_hr_case": UpdateTool(
        "hr_case",
        "hr_case_id",
        "1",
        "HR_CASE_NOT_FOUND",
        values={
            "status": "suspended",
            "hr_service": "6",
            "opened_for": "Cleo Marsh",
            "priority": "moderate",
            "source": "chat",
            "assigned_to": "Ada Berg",
            "assignment_group": "Field Crew",
            "short_description": "Bonus",
            "worknotes": "Waiting",
            "skills": [2],
            "approval_criteria": "2",
            "coe_type": "HRIT",
            "approver": "Dan Okoro",
            "request_status": "rejected",
            "account_number": "999",
            "account_type": "other",
        },
        by_name={
            "opened_for": SUBJECT,
            "assigned_to": PERSON,
            "approver": PERSON,
            "assignment_group": GROUP,
        },
        other_keys=("number", "created_before", "created_after"),
    ),
    "update_hr_profile": UpdateTool(
        "hr_profile",
        "hr_profile_id",
        "14",
        "HR_PROFILE_NOT_FOUND",
        values={
            "personal_email": "dan@new.test",
            "gender": "Male",
            "marital_status": "Single",
            "type": "full-time",
            "dob": "1999-12-30T00:00:00",
            "nationality": "BR",
            "employment_start_date": "2024-04-01T00:00:00",
            "employment_end_date": "2026-12-31T00:00:00",
            "location_type": "Remote",
            "position": "Manager",
        },
        by_name={"manager": MANAGER, "national_tax_id": TAX_ID},
        other_keys=("number", "user_id"),
    ),
    "update_knowledge_article": UpdateTool(
        "knowledge",
        "knowledge_id",
        1,
        "KNOWLEDGE_ARTICLE_NOT_FOUND",
        values={"title": "Bank", "body": "Form.", "state": "retired", "visibility": "external", "owner_id": 2},
        other_keys=("kb_number",),
    ),
    "update_assignment_rules": UpdateTool(
        "assignment_rules",
        "assignment_rule_id",
        1,
        "ASSIGNMENT_RULE_NOT_FOUND",
        values={
            "name": "Payroll later",
            "based_on_skills": [1, 2],
            "based_on_country": "FR",
            "based_on_priority": "low",
            "active": False,
            "user_group": 2,
            "users": [1],
        },
    ),
    "update_notification": UpdateTool(
        "notification",
        "notification_id",
        1,
        "NOTIFICATION_NOT_FOUND",
        values={"hr_case_id": 2, "email": "eve@norfield.test", "type": "alert", "status": "cancelled"},
    ),
    "update_hr_case_task": UpdateTool(
        "hr_case_task",
        "hr_case_task_id",
        "1",
        "HR_CASE_TASK_NOT_FOUND",
        values={
            "number": "TASK-20260302-0099",
            "status": "closed_complete",
            "assigned_to": "Ada Berg",
            "assignment_group": "Field Crew",
            "task_type": "survey",
            "hr_service": "Old desk",
            "external_url": "https://x.test",
            "short_description": "Check it",
            "worknotes": "Done",
            "active": False,
            "parent_case": "2",
        },
        by_name=TASK_NAMES,
    ),
}
DELETES = {
    "remove_group_membership": DeleteTool(
        "user_group_member",
        removes=[({"group_id": "1", "user_id": "2"}, {2})],
        incomplete=[],
        incomplete_code="",
        misses=[({"group_id": "4", "user_id": "1"}, "GROUP_MEMBER_NOT_FOUND")],
    ),
    "remove_user_skills": DeleteTool(
        "user_skill",
        removes=[({"user_skill_id": "1"}, {1})],
        incomplete=[],
        incomplete_code="",
        misses=[({"user_skill_id": "404"}, "USER_SKILL_NOT_FOUND")],
    ),
    "remove_knowledge_link_to_hr_case": DeleteTool(
        "hr_case_knowledge",
        removes=[
            ({"hr_case_kb_id": 7}, {7}),
            ({"hr_case_id": 1}, {1, 2}),
            ({"hr_case_id": 1, "knowledge_id": 5}, {2}),
            ({"hr_case_kb_id": 7, "hr_case_id": 1}, {7}),
        ],
        incomplete=[{}, {"knowledge_id": 1}, {"used_as": "applied"}],
        incomplete_code="INVALID_IDENTIFIER",
        misses=[
            ({"hr_case_kb_id": 404}, "KNOWLEDGE_LINK_NOT_FOUND"),
            ({"hr_case_id": 404}, "HR_CASE_NOT_FOUND"),
            ({"hr_case_id": 2}, "KNOWLEDGE_LINK_NOT_FOUND"),
        ],
    ),
    "remove_escalation_rule": DeleteTool(
        "escalation_rule",
        removes=[({"escalation_rule_id": "1"}, {1})],
        incomplete=[],
        incomplete_code="",
        misses=[({"escalation_rule_id": "404"}, "ESCALATION_RULE_NOT_FOUND")],
    ),
    "delete_notifications": DeleteTool(
        "notification",
        removes=[
            ({"notification_id": 1}, {1}),
            ({"hr_case_id": 1}, {1, 2}),
            ({"email": "dan@norfield.test"}, {1, 6}),
            ({"type": "alert"}, {2}),
            ({"status": "ready"}, {1, 6}),
            ({"sys_created_on": "2025-02-16"}, {1, 2}),
            ({"sys_created_on": "2025-02-16T09:30:00"}, {2}),
            ({"created_after": "2025-02-17", "type": "reminder"}, {6}),
        ],
        incomplete=[{}, {"email": None}],
        incomplete_code="MISSING_FILTER",
        misses=[
            ({"notification_id": 404}, "NOTIFICATION_NOT_FOUND"),
            ({"notification_id": 7}, "NOTIFICATION_NOT_FOUND"),
            ({"email": "dan"}, "NOTIFICATION_NOT_FOUND"),
        ],
    ),
}
REFERENCES = {
    "user_id": "USER_NOT_FOUND",
    "group_id": "GROUP_NOT_FOUND",
    "user_group": "GROUP_NOT_FOUND",
    "skill": "SKILL_NOT_FOUND",
    "user": "USER_NOT_FOUND",
    "case_task_id": "HR_CASE_TASK_NOT_FOUND",
    "survey_id": "SURVEY_NOT_FOUND",
    "opened_for": "USER_NOT_FOUND",
    "assigned_to": "USER_NOT_FOUND",
    "approver": "USER_NOT_FOUND",
    "assignment_group": "GROUP_NOT_FOUND",
    "hr_service": "HR_SERVICE_NOT_FOUND",
    "approval_criteria": "HR_CRITERIA_NOT_FOUND",
    "topic_category": "TOPIC_CATEGORY_NOT_FOUND",
    "topic_detail": "TOPIC_DETAIL_NOT_FOUND",
    "service_template": "SERVICE_TEMPLATE_NOT_FOUND",
    "hr_criteria": "HR_CRITERIA_NOT_FOUND",
    "manager": "HR_PROFILE_NOT_FOUND",
    "owner_id": "USER_NOT_FOUND",
    "hr_case_id": "HR_CASE_NOT_FOUND",
    "knowledge_id": "KNOWLEDGE_ARTICLE_NOT_FOUND",
    "escalate_from": "GROUP_NOT_FOUND",
    "escalate_to": "GROUP_NOT_FOUND",
    "parent_case": "HR_CASE_NOT_FOUND",
}


TOOLS_OF_RESOURCE = {
    "users": ("get_user", "update_user_details"),
    "groups": ("list_group_members", "add_new_group_member"),
    "hr_services": ("find_hr_services", "delete_hr_service"),
    "hr_cases": ("find_my_cases_to_approve", "create_new_hr_case"),
    "hr_profiles": ("fetch_hr_profiles", "offboard_hr_profile"),
    "topic_categories": ("get_topic_categories", "add_new_topic_category"),
    "topic_details": ("get_topic_details", "update_topic_detail"),
    "service_templates": ("get_service_templates", "create_new_service_template"),
    "hr_criteria": ("list_hr_criteria", "register_hr_criteria"),
    "skills": ("list_user_skills", "remove_user_skills"),
    "knowledge": ("retrieve_knowledge_articles", "link_knowledge_to_hr_case"),
    "surveys": ("list_surveys", "create_survey"),
    "assignment_rules": ("list_assignment_rules", "update_assignment_rules"),
    "escalation_rules": ("list_escalation_rules", "remove_escalation_rule"),
    "notifications": ("find_notifications", "send_notification"),
    "checklists": ("list_checklists", "update_checklist"),
    "survey_instances": ("list_survey_instances", "create_survey_instance"),
    "reports": ("count_notifications_by_type", None),
    "hr_case_tasks": ("list_hr_case_tasks", "create_hr_case_task"),
}

DECLARATION = DomainDeclaration(
    domain=registry.load("hr"),
    tool_count=89,
    seed=SEED,
    examples=EXAMPLES,
    identity=TOKEN,
    now=NOW,
    order="rowid",
    unknown_key=404,
    visible="org_id = 1",
    selecting=frozenset(
        {("offboard_hr_profile", "user_id"), ("offboard_hr_profiles", "user_id"), ("offboard_hr_profiles", "manager")}
    ),
    lists=LISTS,
    creates=CREATES,
    updates=UPDATES,
    deletes=DELETES,
    other_writes=frozenset({"delete_hr_service", "offboard_hr_profile", "offboard_hr_profiles"}),
    refuses_no_op=True,
    references=REFERENCES,
    strict=StrictDeclaration(
        seed=SCRIPT,
        identities=TOKENS,
        inactive="t-ina",
        reads=lambda _role, _resource: True,
        changes=lambda role, resource: role in {"admin", "manager"} or (role == "agent" and resource in AGENTS_CHANGE),
        tools_of_resource=TOOLS_OF_RESOURCE,
        cases=CASES,
        rules_of_identity=frozenset({"ID-1", "ID-2"}),
        transitions=CASE_TRANSITIONS,
        denial=("employee", "update_hr_case", ("rule ID-2", "6 (employee)", "hr_cases", "update_hr_case")),
    ),
    dangling=(
        "(1, 1, 1, 1, '2025-01-13",
        "(1, 1, 77, 1, '2025-01-13",
        {"place": "user_group_member.user_id", "value": "77"},
    ),
)
