"""Two organisations with few rows, written so that every rule can be broken: gaps between keys, both forms of numbers,
one name in both organisations, references to the other organisation, empty fields, JSON lists of ids and of names.
"""

from __future__ import annotations

TOKEN = "token-ada"
"""Of user 1, an admin of organisation 1."""
NOW = "2026-03-02T12:00:00"
"""Time that tests stop the clock at, on a Monday; later than every row."""

SEED = """
INSERT INTO organization VALUES
 (1, 'Norfield', 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (2, 'Southgate', 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO permission VALUES
 (1, 'users', 'read', '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (2, 'users', 'crud', '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (7, 'hr_cases', 'read', '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (8, 'hr_cases', 'crud', '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO role VALUES
 (1, 'admin', '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (2, 'manager', '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (3, 'agent', '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (4, 'employee', '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO role_permission VALUES
 (1, 2, '2025-01-01 08:00:00', '2025-01-01 08:00:00'), (1, 8, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (3, 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'), (3, 8, '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO user VALUES
 (1, 'Ada', 'Berg', 'ada@norfield.test', '+44-555-0101', 'admin', 1, 1, 'token-ada', '2025-01-05 08:00:00', '2025-01-05 08:00:00'),
 (2, 'Bo', 'Lund', 'bo@norfield.test', NULL, 'agent', 1, 1, 'token-bo', '2025-01-07 08:00:00', '2025-01-07 08:00:00'),
 (3, 'Cleo', 'Marsh', 'Cleo@norfield.test', '+44-555-0103', 'manager', 1, 1, 'token-cleo', '2025-01-06 08:00:00', '2025-01-06 08:00:00'),
 (4, 'Dan', 'Okoro', 'dan@norfield.test', NULL, 'employee', 1, 1, 'token-dan', '2025-01-08 08:00:00', '2025-01-08 08:00:00'),
 (5, 'Eve', 'Tan', 'eve@norfield.test', NULL, 'employee', 1, 1, 'token-eve', '2025-01-09 08:00:00', '2025-01-09 08:00:00'),
 (6, 'Fay', 'Unger', 'fay@norfield.test', NULL, 'agent', 0, 1, 'token-fay', '2025-01-10 08:00:00', '2025-01-10 08:00:00'),
 (9, 'Bo', 'Lund', 'bo@southgate.test', NULL, 'agent', 1, 2, 'token-bo-2', '2025-01-11 08:00:00', '2025-01-11 08:00:00');
INSERT INTO user_role VALUES
 (1, 1, 1, '2025-01-05 08:00:00', '2025-01-05 08:00:00'), (2, 3, 1, '2025-01-07 08:00:00', '2025-01-07 08:00:00'),
 (3, 2, 1, '2025-01-06 08:00:00', '2025-01-06 08:00:00'), (4, 4, 1, '2025-01-08 08:00:00', '2025-01-08 08:00:00'),
 (5, 4, 1, '2025-01-09 08:00:00', '2025-01-09 08:00:00'), (9, 3, 2, '2025-01-11 08:00:00', '2025-01-11 08:00:00');
INSERT INTO user_group VALUES
 (1, 'Payroll Desk', 'Service Desk', 1, 1, '2025-01-11 08:00:00', '2025-01-11 08:00:00'),
 (2, 'People Partners', 'IT Support', 0, 1, '2025-01-12 08:00:00', '2025-01-12 08:00:00'),
 (4, 'Field Crew', 'Field Support Technicians', 1, 1, '2025-01-13 08:00:00', '2025-01-13 08:00:00'),
 (5, 'Payroll Desk', 'Service Desk', 1, 2, '2025-01-14 08:00:00', '2025-01-14 08:00:00');
INSERT INTO user_group_member VALUES
 (1, 1, 1, 1, '2025-01-13 08:00:00', '2025-01-13 08:00:00'),
 (2, 1, 2, 1, '2025-01-14 08:00:00', '2025-01-14 08:00:00'),
 (5, 4, 2, 1, '2025-01-15 08:00:00', '2025-01-15 08:00:00'),
 (6, 5, 9, 2, '2025-01-16 08:00:00', '2025-01-16 08:00:00');
INSERT INTO hr_profile VALUES
 (11, 'HRP00011', 'Female', 1, 'ada@home.test', 'Married', 'full-time', '1980-02-03', 'GB', '2015-05-01', NULL, NULL, 'Remote', 'TAX-001-101', 'Administration', '2025-01-16 08:00:00', '2025-01-16 08:00:00', 1),
 (12, 'HRP00012', 'Male', 2, 'bo@home.test', 'Single', 'full-time', '1990-01-15', 'US', '2020-01-01', NULL, 3, 'Hotdesk', 'TAX-001-102', 'HR', '2025-01-17 08:00:00', '2025-01-17 08:00:00', 1),
 (13, 'HR-002', NULL, 3, 'Cleo@home.test', NULL, 'part-time', NULL, NULL, '2018-09-01', NULL, NULL, NULL, 'TAX-001-103', 'Manager', '2025-01-18 08:00:00', '2025-01-18 08:00:00', 1),
 (14, 'HRP00014', 'Other', 4, 'dan@home.test', 'Divorced', 'contractor', '1999-12-31', 'IN', '2024-03-01', '2025-12-31', 3, 'Office Based', 'TAX-001-104', 'QA', '2025-01-19 08:00:00', '2025-01-19 08:00:00', 1),
 (19, 'HRP00019', 'Male', 9, 'bo@elsewhere.test', 'Single', 'full-time', '1991-01-15', 'US', '2021-01-01', NULL, NULL, 'Hotdesk', 'TAX-002-109', 'HR', '2025-01-20 08:00:00', '2025-01-20 08:00:00', 2);
INSERT INTO topic_category VALUES
 (1, 'Onboarding', 1, 'Workforce Administration', 1, '2025-01-21 08:00:00', '2025-01-21 08:00:00'),
 (3, 'Pay', 0, 'Payroll', 1, '2025-01-22 08:00:00', '2025-01-22 08:00:00'),
 (4, 'Pay', 1, 'Payroll', 2, '2025-01-22 08:00:00', '2025-01-22 08:00:00');
INSERT INTO topic_detail VALUES
 (1, 1, 'New starters', 1, 1, '2025-01-23 08:00:00', '2025-01-23 08:00:00'),
 (2, 0, 'Bank details', 3, 1, '2025-01-24 08:00:00', '2025-01-24 08:00:00'),
 (5, 1, 'Loose ends', NULL, 1, '2025-01-25 08:00:00', '2025-01-25 08:00:00');
INSERT INTO service_template VALUES
 (1, 'Starter kit', '{"short_description": "Set up a starter", "category": "onboarding", "journey": {"days": 5}}', 1, 'Workforce Administration', 1, '2025-01-26 08:00:00', '2025-01-26 08:00:00'),
 (4, 'Pay change', '{"short_description": "Change pay", "category": "payroll"}', 0, 'Payroll', 1, '2025-01-27 08:00:00', '2025-01-27 08:00:00');
INSERT INTO hr_criteria VALUES
 (1, 'Payroll approvers', 'approval', 1, 1, '[1, 3]', '2025-01-28 08:00:00', '2025-01-28 08:00:00', 1),
 (2, 'Partners only', 'case_visibility', 0, 2, NULL, '2025-01-29 08:00:00', '2025-01-29 08:00:00', 1),
 (3, 'Everybody', 'case_visibility', 1, NULL, '[9]', '2025-01-30 08:00:00', '2025-01-30 08:00:00', 2);
INSERT INTO hr_service VALUES
 (1, 'Onboard a starter', 'lifecycle event', 1, 1, 2, 1, 1, '2025-02-01 08:00:00', '2025-02-01 08:00:00'),
 (2, 'Change bank details', 'manual', 2, 4, 1, 1, 1, '2025-02-02 08:00:00', '2025-02-02 08:00:00'),
 (6, 'Old desk', 'manual', NULL, NULL, NULL, 0, 1, '2025-02-03 08:00:00', '2025-02-03 08:00:00');
INSERT INTO skill VALUES
 (1, 'Payroll', 1, 1, '2025-02-04 08:00:00', '2025-02-04 08:00:00'),
 (2, 'Mediation', 0, 1, '2025-02-05 08:00:00', '2025-02-05 08:00:00'),
 (7, 'Payroll', 1, 2, '2025-02-06 08:00:00', '2025-02-06 08:00:00');
INSERT INTO user_skill VALUES
 (1, 1, 2, 1, '2025-02-07 08:00:00', '2025-02-07 08:00:00'),
 (4, 2, 3, 1, '2025-02-08 08:00:00', '2025-02-08 08:00:00');
INSERT INTO hr_case VALUES
 (1, 'HRC0000701', 'work_in_progress', 2, 14, 2, 'high', 'email', 2, 1, 'Salary missed a bonus', 'Asked payroll', '[1]', 1, 'Payroll', 3, 'requested', '12345678', 'checking', '2025-02-09 08:00:00', '2025-02-09 08:00:00', 1),
 (2, 'HRC0000702', 'draft', NULL, NULL, 1, 'planning', NULL, NULL, NULL, 'Badge is 50%_worn', NULL, NULL, NULL, 'HRIT', NULL, NULL, NULL, NULL, '2025-02-10 08:00:00', '2025-02-10 08:00:00', 1),
 (5, 'HRC0000705', 'awaiting_approval', 1, 12, 2, 'critical', 'phone', 1, 4, 'Starter has no laptop', 'Ordered', '[1, 2]', 1, 'Workforce Administration', 1, 'requested', NULL, NULL, '2025-02-11 08:00:00', '2025-02-12 08:00:00', 1),
 (8, 'HRC0000708', 'ready', NULL, 19, 9, 'low', 'chat', 9, 5, 'Elsewhere', NULL, NULL, NULL, 'Payroll', NULL, NULL, NULL, NULL, '2025-02-13 08:00:00', '2025-02-13 08:00:00', 2);
INSERT INTO hr_case_task VALUES
 (1, 'HRT0001000', 'ready', 2, 1, 'Check the payslip', 'checklist', NULL, NULL, 'Since January', 1, 1, 1, '2025-02-14 08:00:00', '2025-02-14 08:00:00'),
 (2, 'TASK-20260302-0007', 'work_in_progress', NULL, NULL, 'Read the guide', 'url', NULL, 'https://guide.test/Pay', NULL, 1, 1, 1, '2025-02-15 08:00:00', '2025-02-15 08:00:00'),
 (6, 'HRT0001005', 'cancelled', 1, 4, 'Ask how it went', 'survey', 1, NULL, NULL, 0, 5, 1, '2025-02-16 08:00:00', '2025-02-16 08:00:00');
INSERT INTO checklist VALUES
 (1, 'Compare with contract', 1, 1, 1, '2025-02-17 08:00:00', '2025-02-17 08:00:00'),
 (2, 'Tell the employee', 0, 1, 1, '2025-02-18 08:00:00', '2025-02-18 08:00:00'),
 (5, 'Send the survey', 0, 6, 1, '2025-02-19 08:00:00', '2025-02-19 08:00:00');
INSERT INTO survey VALUES
 (1, 'How was it?', 'Was it quick?', 'Who helped?', 'Any advice?', NULL, 1, '2025-02-20 08:00:00', '2025-02-20 08:00:00'),
 (4, 'Leaving?', NULL, NULL, NULL, 'Why?', 1, '2025-02-21 08:00:00', '2025-02-21 08:00:00');
INSERT INTO survey_instance VALUES
 (1, 1, 6, 4, 1, 'Good', 'Yes', 'Bo', 'None', NULL, '2025-02-22 08:00:00', '2025-02-22 08:00:00'),
 (3, 4, NULL, 5, 1, NULL, NULL, NULL, NULL, NULL, '2025-02-23 08:00:00', '2025-02-23 08:00:00');
INSERT INTO assignment_rules VALUES
 (1, 'Payroll first', '[1]', 'GB', 'high', 1, 1, '[2]', 1, '2025-02-24 08:00:00', '2025-02-24 08:00:00'),
 (3, 'By name', '["Payroll"]', NULL, 'planning', 0, 4, NULL, 1, '2025-02-25 08:00:00', '2025-02-25 08:00:00');
INSERT INTO escalation_rule VALUES
 (1, 1, 2, 1, '2025-02-26 08:00:00', '2025-02-26 08:00:00'),
 (4, 4, 1, 1, '2025-02-27 08:00:00', '2025-02-27 08:00:00');
INSERT INTO knowledge VALUES
 (1, 'KB0040001', 'Change your bank', 'Fill in the form; wait two days.', 'published', 'internal', 1, '2025-02-10 08:00:00', '2025-02-10 08:00:00', 1),
 (2, 'KB-004', 'Parental leave', NULL, 'draft', 'external', NULL, '2025-02-11 08:00:00', '2025-02-11 08:00:00', 1),
 (5, 'KB0040003', 'Old form', 'Do not use.', 'retired', 'internal', 3, '2025-02-12 08:00:00', '2025-02-12 08:00:00', 1),
 (6, 'KB0040004', 'Elsewhere', 'Theirs.', 'published', 'internal', 9, '2025-02-12 08:00:00', '2025-02-12 08:00:00', 2);
INSERT INTO hr_case_knowledge VALUES
 (1, 1, 1, 'suggested', 1, '2025-02-13 08:00:00', '2025-02-13 08:00:00'),
 (2, 1, 5, 'applied', 1, '2025-02-14 08:00:00', '2025-02-14 08:00:00'),
 (7, 5, 1, 'resolution', 1, '2025-02-15 08:00:00', '2025-02-15 08:00:00');
INSERT INTO notification VALUES
 (1, 1, 'dan@norfield.test', 'update', 'ready', '2025-02-16 08:30:00', 1, '2025-02-16 08:30:00'),
 (2, 1, 'bo@norfield.test', 'alert', 'draft', '2025-02-16 09:30:00', 1, '2025-02-16 09:30:00'),
 (6, 5, 'dan@norfield.test', 'reminder', 'ready', '2025-02-17 08:30:00', 1, '2025-02-17 08:30:00'),
 (7, 8, 'bo@southgate.test', 'reminder', 'ready', '2025-02-17 08:30:00', 2, '2025-02-17 08:30:00');
"""  # noqa: E501 - one row a line
