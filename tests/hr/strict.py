"""HR for access `strict`: people of every role, a confidential service, and a case in every status."""

from __future__ import annotations

TOKENS = {"admin": "t-ada", "manager": "t-mia", "agent": "t-bo", "employee": "t-dan"}
"""Of active users, by role."""
RESOURCES = (
    "users", "groups", "hr_services", "hr_cases", "hr_profiles", "topic_categories", "topic_details",
    "service_templates", "hr_criteria", "skills", "knowledge", "surveys", "assignment_rules", "escalation_rules",
    "notifications", "checklists", "survey_instances", "reports", "hr_case_tasks",
)  # fmt: skip
"""Resources in the order of their permissions, as in the published seed."""
AGENTS_CHANGE = frozenset({"hr_cases", "hr_case_tasks", "checklists", "survey_instances", "knowledge", "notifications"})
TIMES = "'2026-01-05 08:00:00', '2026-01-05 08:00:00'"


def permissions() -> str:
    """Rows of permissions and of what roles may do: admins and managers everything, employees read."""
    rows, grants = [], []
    for number, resource in enumerate(RESOURCES):
        read, write = 2 * number + 1, 2 * number + 2
        rows += [f"({read}, '{resource}', 'read', {TIMES})", f"({write}, '{resource}', 'crud', {TIMES})"]
        grants += [f"({role}, {write}, {TIMES})" for role in (1, 2)]
        grants.append(f"(3, {write if resource in AGENTS_CHANGE else read}, {TIMES})")
        grants.append(f"(4, {read}, {TIMES})")
    roles = ", ".join(
        f"({number}, '{name}', {TIMES})" for number, name in enumerate(("admin", "manager", "agent", "employee"), 1)
    )
    return (
        f"INSERT INTO permission VALUES {', '.join(rows)};\nINSERT INTO role VALUES {roles};\n"
        f"INSERT INTO role_permission VALUES {', '.join(grants)};\n"
    )


def people() -> str:
    """Users with their roles: Mia manages Dan, Eve and Bo; Al and Bo work at the desk."""
    users = [
        (1, "Ada", "Berg", "admin", 1), (2, "Mia", "Holm", "manager", 1), (3, "Bo", "Lund", "agent", 1),
        (4, "Al", "Moe", "agent", 1), (5, "Ina", "Ek", "agent", 0), (6, "Dan", "Orr", "employee", 1),
        (7, "Eve", "Tan", "employee", 1), (8, "Max", "Roy", "manager", 1),
    ]  # fmt: skip
    numbers = {"admin": 1, "manager": 2, "agent": 3, "employee": 4}
    accounts = ", ".join(
        f"({key}, '{first}', '{last}', '{first.lower()}@norfield.test', NULL, '{role}', {active}, 1,"
        f" 't-{first.lower()}', {TIMES})"
        for key, first, last, role, active in users
    )
    roles = ", ".join(f"({key}, {numbers[role]}, 1, {TIMES})" for key, _, _, role, _ in users)
    return f"INSERT INTO user VALUES {accounts};\nINSERT INTO user_role VALUES {roles};\n"


def case(
    key: int,
    status: str,
    *,
    service: str = "1",
    subject: str = "15",
    assigned: str = "3",
    group: str = "1",
    **more: str,
) -> str:
    """A row of a case, by default about Eve and handled by Bo of the desk."""
    values = {"skills": "NULL", "criteria": "NULL", "approver": "NULL", "request": "NULL", "account": "NULL"} | more
    return (
        f"({key}, 'HRC{key:07d}', '{status}', {service}, {subject}, 1, 'moderate', 'email', {assigned}, {group},"
        f" 'Case {key}', NULL, {values['skills']}, {values['criteria']}, 'Payroll', {values['approver']},"
        f" {values['request']}, {values['account']}, NULL, {TIMES}, 1)"
    )


CASES = ",\n ".join(
    [
        case(1, "draft", assigned="NULL", group="NULL"),
        case(2, "ready"),
        case(3, "work_in_progress"),
        case(4, "awaiting_approval", criteria="1", approver="2", request="'requested'"),
        case(5, "suspended"),
        case(6, "awaiting_acceptance"),
        case(7, "closed_complete"),
        case(8, "work_in_progress", service="2", subject="14", assigned="4", group="3"),
        case(9, "ready", account="'123'"),
        case(10, "work_in_progress"),
        case(11, "ready", assigned="NULL", group="NULL", request="'rejected'"),
    ]
)
SCRIPT = (
    f"INSERT INTO organization VALUES (1, 'Norfield', 1, {TIMES});\n"
    + permissions()
    + people()
    + f"""
INSERT INTO user_group VALUES (1, 'Desk', 'Service Desk', 1, 1, {TIMES}), (2, 'Past', 'Service Desk', 0, 1, {TIMES}),
 (3, 'Partners', 'IT Support', 1, 1, {TIMES});
INSERT INTO user_group_member VALUES (1, 1, 3, 1, {TIMES}), (2, 1, 2, 1, {TIMES}), (3, 3, 4, 1, {TIMES}),
 (4, 1, 5, 1, {TIMES});
INSERT INTO hr_profile VALUES
 (12, 'HR-012', NULL, 2, 'mia@home.test', NULL, 'full-time', NULL, NULL, '2020-01-01', NULL, NULL, NULL, 'TAX-001-102', 'Manager', {TIMES}, 1),
 (13, 'HR-013', NULL, 3, 'bo@home.test', NULL, 'full-time', NULL, NULL, '2020-01-01', NULL, 2, NULL, 'TAX-001-103', 'HR', {TIMES}, 1),
 (14, 'HR-014', NULL, 6, 'dan@home.test', NULL, 'full-time', NULL, 'GB', '2020-01-01', NULL, 2, NULL, 'TAX-001-104', 'QA', {TIMES}, 1),
 (15, 'HR-015', NULL, 7, 'eve@home.test', NULL, 'full-time', NULL, 'US', '2020-01-01', NULL, 2, NULL, 'TAX-001-105', 'QA', {TIMES}, 1),
 (18, 'HR-018', NULL, 8, 'max@home.test', NULL, 'full-time', NULL, NULL, '2020-01-01', NULL, NULL, NULL, 'TAX-001-108', 'Manager', {TIMES}, 1);
INSERT INTO hr_criteria VALUES (1, 'Approvers', 'approval', 1, NULL, '[2]', {TIMES}, 1),
 (2, 'Partners only', 'case_visibility', 1, 3, NULL, {TIMES}, 1), (3, 'Old approvers', 'approval', 0, 1, NULL, {TIMES}, 1);
INSERT INTO hr_service VALUES (1, 'Change of bank', 'manual', NULL, NULL, NULL, 1, 1, {TIMES}),
 (2, 'Health matters', 'manual', NULL, NULL, 2, 1, 1, {TIMES});
INSERT INTO skill VALUES (1, 'Payroll', 1, 1, {TIMES}), (2, 'Mediation', 1, 1, {TIMES});
INSERT INTO user_skill VALUES (1, 1, 3, 1, {TIMES});
INSERT INTO hr_case VALUES
 {CASES};
INSERT INTO hr_case_task VALUES
 (1, 'TASK-20260105-0001', 'work_in_progress', 3, 1, 'Tick', 'checklist', NULL, NULL, NULL, 1, 3, 1, {TIMES}),
 (2, 'TASK-20260105-0002', 'work_in_progress', 3, 1, 'Ask', 'survey', NULL, NULL, NULL, 1, 10, 1, {TIMES}),
 (3, 'TASK-20260105-0003', 'closed_complete', 3, 1, 'Done', NULL, NULL, NULL, NULL, 1, 2, 1, {TIMES}),
 (4, 'TASK-20260105-0004', 'draft', NULL, NULL, 'Later', NULL, NULL, NULL, NULL, 1, 2, 1, {TIMES});
INSERT INTO checklist VALUES (1, 'One', 1, 1, 1, {TIMES}), (2, 'Two', 0, 1, 1, {TIMES});
INSERT INTO survey VALUES (1, 'Well?', NULL, NULL, NULL, NULL, 1, {TIMES});
INSERT INTO survey_instance VALUES (1, 1, 2, 7, 1, NULL, NULL, NULL, NULL, NULL, {TIMES}),
 (2, 1, 2, 3, 1, NULL, NULL, NULL, NULL, NULL, {TIMES});
INSERT INTO assignment_rules VALUES (1, 'All', NULL, NULL, 'moderate', 1, 1, '[3]', 1, {TIMES});
INSERT INTO escalation_rule VALUES (1, 1, 3, 1, {TIMES});
INSERT INTO knowledge VALUES (1, 'KB-001', 'Published', 'x', 'published', 'internal', 3, {TIMES}, 1),
 (2, 'KB-002', 'Draft', 'x', 'draft', 'internal', 3, {TIMES}, 1);
INSERT INTO hr_case_knowledge VALUES (1, 3, 1, 'suggested', 1, {TIMES});
INSERT INTO notification VALUES (1, 3, 'eve@norfield.test', 'update', 'ready', '2026-01-05 08:00:00', 1, '2026-01-05 08:00:00');
"""  # noqa: E501 - one row a line
)
