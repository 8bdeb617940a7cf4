"""A service desk for access `strict`: the tests' seed with users of every role, the published permissions, and a
second organisation that has a row in every table.
"""

from __future__ import annotations

from tests.itsm.seed import SEED

TOKENS = {"admin": "token-ada", "manager": "token-mia", "agent": "token-bo", "reporter": "token-rea"}
"""Of active users of ORG_001, by role."""
RESOURCES = (
    "users", "groups", "locations", "services", "service_offerings", "configuration_items", "incident_templates",
    "incidents", "problems", "changes", "change_mappings", "knowledge", "notifications", "notification_analysis",
    "sla_definitions", "sla_metrics", "incident_slas", "incident_affected_cis",
)  # fmt: skip
AGENTS_CHANGE = {"incidents", "problems", "changes", "knowledge", "configuration_items", "locations"}
"""What agents may change in the published seeds; they read the rest. Reporters only read."""


def _permissions() -> str:
    rows = [(resource, action) for resource in RESOURCES for action in ("crud", "read")]
    granted = {
        "ROLE_1": [(resource, "crud") for resource in RESOURCES],
        "ROLE_2": [(resource, "crud") for resource in RESOURCES],
        "ROLE_3": [(resource, "crud" if resource in AGENTS_CHANGE else "read") for resource in RESOURCES],
        "ROLE_4": [(resource, "read") for resource in RESOURCES],
    }
    permissions = ", ".join(f"('{resource}:{action}', '{resource}', '{action}')" for resource, action in rows)
    links = ", ".join(f"('{role}', '{r}:{action}')" for role, of in granted.items() for r, action in of)
    return f"""
        DELETE FROM role_permission; DELETE FROM permission;
        INSERT INTO permission VALUES {permissions};
        INSERT INTO role_permission VALUES {links};
    """


OURS = """
INSERT INTO users VALUES
 ('USER_011', 'mia.holm', 'Mia', 'Holm', 'mia@northwind.test', '+47-555-010-0011', 'manager', 1, 'token-mia', 'ORG_001', NULL, '2025-01-08 09:00:00', '2025-01-08 09:00:00'),
 ('USER_012', 'rea.vik', 'Rea', 'Vik', 'rea@northwind.test', '+47-555-010-0012', 'reporter', 1, 'token-rea', 'ORG_001', NULL, '2025-01-08 09:00:00', '2025-01-08 09:00:00'),
 ('USER_013', 'al.moe', 'Al', 'Moe', 'al@northwind.test', '+47-555-010-0013', 'agent', 1, 'token-al', 'ORG_001', NULL, '2025-01-08 09:00:00', '2025-01-08 09:00:00');
INSERT INTO user_role VALUES
 ('USER_011', 'ROLE_2', 'ORG_001'), ('USER_012', 'ROLE_4', 'ORG_001'), ('USER_013', 'ROLE_3', 'ORG_001');
INSERT INTO user_group VALUES
 ('GROUP_003', 'Roof', 'Field Support Technicians', 1, NULL, NULL, 'USER_011', 'ORG_001', '2025-01-10 08:00:00', '2025-01-10 08:00:00');
INSERT INTO user_group_member VALUES
 ('MEMBER_003', 'GROUP_003', 'USER_011', 'ORG_001', '2025-01-12 08:00:00', '2025-01-12 08:00:00'),
 ('MEMBER_004', 'GROUP_002', 'USER_002', 'ORG_001', '2025-01-12 08:00:00', '2025-01-12 08:00:00');
"""  # noqa: E501 - one row a line

THEIRS = """
INSERT INTO user_group VALUES
 ('GROUP_020', 'Aide', 'Service Desk', 1, 'aide@southwind.test', NULL, 'USER_009', 'ORG_002', '2025-03-01 08:00:00', '2025-03-01 08:00:00');
INSERT INTO user_group_member VALUES ('MEMBER_020', 'GROUP_020', 'USER_009', 'ORG_002', '2025-03-01 08:00:00', '2025-03-01 08:00:00');
INSERT INTO service VALUES
 ('SVC_020', 'Courrier', 'USER_009', 'ORG_002', 'production', 'operational', 'business', 'critical', NULL, '2025-03-01 08:00:00', '2025-03-01 08:00:00');
INSERT INTO service_offering VALUES
 ('SVCOFF_020', 'Courrier Or', 'x', 'USER_009', 'SVC_020', 'ORG_002', 'production', 'operational', 'business', 'critical', NULL, '2025-03-01 08:00:00', '2025-03-01 08:00:00');
INSERT INTO configuration_item VALUES
 ('CI_020', 'Serveur', 'SN-20', 'USER_009', 'LOC_003', 'ORG_002', 'in_use', 10, '2025-03-01 08:00:00', '2025-03-01 08:00:00');
INSERT INTO incident_template VALUES
 ('TMPL_020', 'Panne', 1, 'USER_009', 'email', 'Panne', 'software', 'high', 'high', 'critical', 'CI_020', 'SVC_020', 'SVCOFF_020', 'ORG_002', '2025-03-01 08:00:00', '2025-03-01 08:00:00');
INSERT INTO change (change_id, number, short_description, requested_by, org_id, status, category, impact, priority, risk, created_on) VALUES
 ('CHG_020', 'CHG0000020', 'Migration', 'USER_009', 'ORG_002', 'new', 'software', 'low', 'low', 'low', '2025-03-01 08:00:00');
INSERT INTO problem (problem_id, number, problem_statement, opened_by, org_id, status, impact, urgency, priority, created_on) VALUES
 ('PRB_020', 'PRB0000020', 'Panne', 'USER_009', 'ORG_002', 'new', 'low', 'low', 'low', '2025-03-01 08:00:00');
INSERT INTO incident (incident_id, number, short_description, caller_id, org_id, status, category, impact, urgency, priority, created_at) VALUES
 ('INC_021', 'INC0000021', 'Panne', 'USER_009', 'ORG_002', 'new', 'software', 'low', 'low', 'planning', '2025-03-01 08:00:00');
INSERT INTO knowledge VALUES
 ('KB_020', 'KB0000020', 'Clavier', NULL, NULL, 'published', 'internal', 'USER_009', 'ORG_002', '2025-03-01 08:00:00', '2025-03-01 08:00:00');
INSERT INTO sla_definition VALUES
 ('SLA_020', 'Vite', 'response', 30, 1, 'high', 1, NULL, 'ORG_002', '2025-03-01 08:00:00', '2025-03-01 08:00:00');
INSERT INTO change_request_mapping VALUES ('CRM_020', 'CHG_020', 'INC_005', NULL, 'ORG_002', '2025-03-01 08:00:00', '2025-03-01 08:00:00');
INSERT INTO child_incident VALUES ('CINC_020', 'INC_005', 'INC_021', '2025-03-01 08:00:00', '2025-03-01 08:00:00');
INSERT INTO incident_affected_cis VALUES ('TASKCI_020', 'CI_020', 'INC_005', 'ORG_002', '2025-03-01 08:00:00', '2025-03-01 08:00:00');
INSERT INTO incident_knowledge VALUES ('IKB_020', 'INC_005', 'KB_020', 'ORG_002', 'applied', '2025-03-01 08:00:00', '2025-03-01 08:00:00');
INSERT INTO incident_sla VALUES
 ('TSLA_020', 'INC_005', 'SLA_020', 'ORG_002', 'in_progress', 0, '2025-03-01 08:00:00', NULL, NULL, '2025-03-01 08:00:00', '2025-03-01 08:00:00');
INSERT INTO notification VALUES
 ('NOTIF_020', 'INC_005', 'ORG_002', 'zoe@southwind.test', 'Panne', NULL, 'update', 'sent', '2025-03-01 08:00:00', '2025-03-01 08:00:00');
"""  # noqa: E501 - one row a line


SCRIPT = f"{SEED};{_permissions()};{OURS};{THEIRS};"
"""All of it, in SQLite's dialect."""
