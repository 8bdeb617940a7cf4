"""A customer desk for access `strict`: people of every role, two customers, and a case in every state."""

from __future__ import annotations

NOW = "2026-03-01 12:00:00"
EMAILS = {"admin": "ada@desk.test", "manager": "mia@desk.test", "agent": "bo@desk.test", "customer": "cy@acme.test"}
"""Of active users, by role; the customer speaks for Acme."""

SCRIPT = """
INSERT INTO location VALUES (1, 'House', NULL, NULL, 'london', 'uk', 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO user VALUES
 (1, 'Ada', 'Berg', 'ada@desk.test', NULL, 'admin', 1, 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (2, 'Mia', 'Holm', 'mia@desk.test', NULL, 'manager', 1, 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (3, 'Bo', 'Lund', 'bo@desk.test', NULL, 'agent', 1, 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (4, 'Al', 'Moe', 'al@desk.test', NULL, 'agent', 1, 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (5, 'Ina', 'Ek', 'ina@desk.test', NULL, 'agent', 1, 0, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (6, 'Cy', 'Roux', 'cy@acme.test', NULL, 'customer', 1, 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (7, 'Di', 'Sand', 'di@acme.test', NULL, 'customer', 1, 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (8, 'Eve', 'Orr', 'eve@globex.test', NULL, 'customer', 1, 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (9, 'Old', 'Hand', 'old@acme.test', NULL, 'customer', 1, 0, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (10, 'Fay', 'New', 'fay@acme.test', NULL, 'customer', 1, 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO user_group VALUES
 (1, 'Triage', 'support', 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (2, 'Past', 'support', 0, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (3, 'Field', 'field', 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO user_group_member VALUES
 (1, 1, 2, '2025-01-01 08:00:00'), (2, 1, 3, '2025-01-01 08:00:00'), (3, 3, 4, '2025-01-01 08:00:00'),
 (4, 1, 5, '2025-01-01 08:00:00'), (5, 1, 1, '2025-01-01 08:00:00');
INSERT INTO account VALUES
 (1, 'Acme', 'customer', 'acme.test', 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (2, 'Globex', 'customer', 'globex.test', 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (3, 'Idle', 'customer', 'idle.test', 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO contact VALUES
 (1, 1, 6, 1, 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (2, 1, 7, 1, 0, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (3, 2, 8, 1, 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (4, 1, 9, 0, 0, '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO product VALUES
 (1, 'Relay', 'software', 10, 'active', '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (2, 'Box', 'hardware', 20, 'active', '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (3, 'Visit', 'service', 30, 'retired', '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO installed_product VALUES
 (1, 1, 1, 1, 'R-1', 'in_use', NULL, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (2, 1, 1, 1, 'R-2', 'repair', NULL, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (3, 2, 2, 1, 'B-1', 'in_use', NULL, '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO contract VALUES
 (1, 1, 'support', 'active', 100, '2026-01-01', '2026-12-31', '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (2, 2, 'support', 'expired', 100, '2025-01-01', '2025-12-31', '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO entitlement VALUES
 (1, 1, 1, 1, 'premium', 'h24x7', 10, 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (2, 2, NULL, 2, 'standard', 'h8x5', 5, 0, '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO sla_definition VALUES
 (1, 'Critical response', 'response', 15, 0, 'critical', 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (2, 'High resolution', 'resolution', 480, 1, 'high', 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (3, 'High response 2024', 'response', 90, 0, 'high', 0, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (4, 'High response', 'response', 60, 0, 'high', 1, '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO customer_case VALUES
 (1, 'CS-0000001', 1, 1, 1, 1, 'web', 'high', 'new', 'a', 1, NULL, 0, NULL, 0, '2026-02-20 08:00:00', '2026-02-20 08:00:00', NULL),
 (2, 'CS-0000002', 1, 1, 1, NULL, 'web', 'high', 'in_progress', 'b', 1, 3, 0, NULL, 0, '2026-02-20 08:00:00', '2026-02-20 08:00:00', NULL),
 (3, 'CS-0000003', 1, 1, 1, NULL, 'web', 'low', 'closed', 'c', 1, 3, 0, NULL, 0, '2026-01-20 08:00:00', '2026-01-20 08:00:00', '2026-01-20 08:00:00'),
 (4, 'CS-0000004', 1, 1, 1, NULL, 'web', 'low', 'resolved', 'd', 1, 3, 0, NULL, 0, '2026-02-20 08:00:00', '2026-02-24 12:00:00', NULL),
 (5, 'CS-0000005', 1, 1, 1, NULL, 'web', 'low', 'resolved', 'e', 1, 3, 0, NULL, 0, '2026-02-20 08:00:00', '2026-02-24 12:00:01', NULL),
 (6, 'CS-0000006', 2, 3, 2, NULL, 'web', 'low', 'in_progress', 'f', 3, 4, 0, NULL, 0, '2026-02-20 08:00:00', '2026-02-20 08:00:00', NULL),
 (7, 'CS-0000007', 1, 1, 1, NULL, 'web', 'low', 'canceled', 'g', 1, NULL, 0, NULL, 0, '2026-02-20 08:00:00', '2026-02-20 08:00:00', NULL),
 (8, 'CS-0000008', 1, 2, 1, NULL, 'web', 'high', 'in_progress', 'h', 1, 3, 1, 'urgency', 0, '2026-02-20 08:00:00', '2026-02-20 08:00:00', NULL),
 (9, 'CS-0000009', 1, 1, 1, NULL, 'web', 'high', 'in_progress', 'i', NULL, NULL, 0, NULL, 0, '2026-02-20 08:00:00', '2026-02-20 08:00:00', NULL);
INSERT INTO case_sla VALUES
 (1, 2, 2, 'in_progress', '2026-02-20 08:00:00', '2026-02-20 16:00:00', 0, NULL),
 (2, 2, 4, 'in_progress', '2026-02-20 08:00:00', '2026-02-20 09:00:00', 1, NULL),
 (3, 8, 2, 'completed', '2026-02-20 08:00:00', '2026-02-20 16:00:00', 0, '2026-02-20 10:00:00'),
 (4, 6, 2, 'in_progress', '2026-02-20 08:00:00', '2026-02-20 16:00:00', 0, NULL);
INSERT INTO interaction VALUES
 (1, 'web', 1, 1, 2, 3, 'handled', '2026-02-20 08:00:00', NULL, '2026-02-20 08:00:00'),
 (2, 'web', 2, 3, 6, 4, 'handled', '2026-02-20 08:00:00', NULL, '2026-02-20 08:00:00');
INSERT INTO knowledge VALUES
 (1, 'KB-0000001', 'Outside', 'x', 'published', 'external', 1, 3, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (2, 'KB-0000002', 'Inside', 'x', 'published', 'internal', 1, 3, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (3, 'KB-0000003', 'Draft', 'x', 'draft', 'external', 1, 3, '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
 (4, 'KB-0000004', 'Boxes', 'x', 'published', 'external', 2, 3, '2025-01-01 08:00:00', '2025-01-01 08:00:00');
INSERT INTO case_knowledge VALUES (1, 2, 2, 'suggested'), (2, 6, 4, 'suggested');
INSERT INTO notification VALUES
 (1, 2, NULL, 'cy@acme.test', 'update', 'success', '2026-02-20 08:00:00'),
 (2, 6, NULL, 'eve@globex.test', 'update', 'success', '2026-02-20 08:00:00');
"""  # noqa: E501 - one row a line
