"""HR cases with their story, for the explore page: people, approval, tasks, surveys, articles, notifications.

Invariant: the entries show every row that refers to a case or to one of its tasks. Rows have no history, so a change is
shown at the time of the row's last update.
"""

from __future__ import annotations

from opsgym_domains.kit.domain import Story

RECORDS = """
    WITH person AS (SELECT user_id, first_name || ' ' || last_name AS name FROM user)
    SELECT c.hr_case_id AS key, c.number, c.short_description AS title, c.status AS state,
        c.status NOT IN ('closed_complete', 'closed_incomplete', 'cancelled') AS open,
        concat_ws(', ', c.priority, 'for ' || subject.name, coalesce(assignee.name, g.name)) AS note
    FROM hr_case c
    LEFT JOIN hr_profile p ON p.hr_profile_id = c.opened_for
    LEFT JOIN person subject ON subject.user_id = p.user_id
    LEFT JOIN person assignee ON assignee.user_id = c.assigned_to
    LEFT JOIN user_group g ON g.group_id = c.assignment_group
    ORDER BY c.created_at DESC, c.hr_case_id DESC
"""
FACTS = """
    WITH person AS (SELECT user_id, first_name || ' ' || last_name AS name FROM user)
    SELECT c.hr_case_id AS record, 1 AS place, 'For' AS name, concat_ws(', ', subject.name, p.position) AS value
    FROM hr_case c JOIN hr_profile p ON p.hr_profile_id = c.opened_for
    JOIN person subject ON subject.user_id = p.user_id
    UNION ALL SELECT c.hr_case_id, 2, 'Service', s.service_name
    FROM hr_case c JOIN hr_service s ON s.hr_service_id = c.hr_service
    UNION ALL SELECT c.hr_case_id, 3, 'Confidential', 'only for those whom “' || k.name || '” names'
    FROM hr_case c JOIN hr_service s ON s.hr_service_id = c.hr_service
    JOIN hr_criteria k ON k.hr_criteria_id = s.hr_criteria AND k.type = 'case_visibility' AND k.active
    UNION ALL SELECT hr_case_id, 4, 'Centre of excellence', coe_type FROM hr_case
    UNION ALL SELECT hr_case_id, 5, 'Priority', priority FROM hr_case
    UNION ALL SELECT c.hr_case_id, 6, 'Group', g.name
    FROM hr_case c JOIN user_group g ON g.group_id = c.assignment_group
    UNION ALL SELECT c.hr_case_id, 7, 'Assignee', assignee.name
    FROM hr_case c JOIN person assignee ON assignee.user_id = c.assigned_to
    UNION ALL SELECT c.hr_case_id, 8, 'Approval', concat_ws(', ', c.request_status, 'by ' || approver.name, k.name)
    FROM hr_case c LEFT JOIN person approver ON approver.user_id = c.approver
    LEFT JOIN hr_criteria k ON k.hr_criteria_id = c.approval_criteria
    WHERE coalesce(c.request_status, c.approver, c.approval_criteria) IS NOT NULL
    UNION ALL SELECT c.hr_case_id, 9, 'Skills required', group_concat(s.name, ', ')
    FROM hr_case c JOIN skill s ON instr(',' || replace(trim(c.skills, '[]'), ' ', '') || ',', ',' || s.skill_id || ',')
    GROUP BY c.hr_case_id
    UNION ALL SELECT hr_case_id, 10, 'Bank account', concat_ws(', ', account_number, account_type)
    FROM hr_case WHERE account_number IS NOT NULL
    UNION ALL SELECT hr_case_id, 11, 'Work notes', worknotes FROM hr_case
    UNION ALL SELECT hr_case_id, 12, 'Last change', updated_at FROM hr_case
"""
ENTRIES = """
    WITH person AS (SELECT user_id, first_name || ' ' || last_name AS name FROM user)
    SELECT c.hr_case_id AS record, c.created_at AS at, 1 AS place, 'Opened' AS kind,
        coalesce('by ' || opener.name, 'Case') AS title, NULL AS state, c.source AS note,
        'hr_case' AS "table", 'hr_case_id' AS "column", c.hr_case_id AS key
    FROM hr_case c LEFT JOIN person opener ON opener.user_id = c.opened_by
    UNION ALL SELECT hr_case_id, updated_at, 9, 'Changed', 'Last change of the case', status,
        concat_ws('; ', worknotes, 'approval ' || request_status), 'hr_case', 'hr_case_id', hr_case_id
    FROM hr_case WHERE updated_at > created_at
    UNION ALL SELECT t.parent_case, t.created_at, 2, 'Task', t.number || ' ' || t.short_description, t.status,
        concat_ws(', ', t.task_type, g.name, assignee.name), 'hr_case_task', 'hr_case_task_id', t.hr_case_task_id
    FROM hr_case_task t LEFT JOIN user_group g ON g.group_id = t.assignment_group
    LEFT JOIN person assignee ON assignee.user_id = t.assigned_to
    UNION ALL SELECT parent_case, updated_at, 8, 'Task', number || ': last change', status, worknotes,
        'hr_case_task', 'hr_case_task_id', hr_case_task_id
    FROM hr_case_task WHERE updated_at > created_at
    UNION ALL SELECT t.parent_case, i.updated_at, 3, 'Checklist', i.checklist_item_description,
        iif(i.checked, 'done', 'open'), t.number, 'checklist', 'checklist_id', i.checklist_id
    FROM checklist i JOIN hr_case_task t ON t.hr_case_task_id = i.case_task_id
    UNION ALL SELECT t.parent_case, i.updated_at, 4, 'Survey', coalesce(s.question_1, 'Survey ' || s.survey_id),
        iif(i.answer_1 IS NULL, 'open', 'answered'), concat_ws(': ', asked.name, i.answer_1),
        'survey_instance', 'survey_instance_id', i.survey_instance_id
    FROM survey_instance i JOIN survey s ON s.survey_id = i.survey_id
    JOIN hr_case_task t ON t.hr_case_task_id = i.case_task_id LEFT JOIN person asked ON asked.user_id = i.assigned_to
    UNION ALL SELECT l.hr_case_id, l.created_at, 5, 'Article', a.kb_number || ' ' || a.title, l.used_as, NULL,
        'hr_case_knowledge', 'hr_case_kb_id', l.hr_case_kb_id
    FROM hr_case_knowledge l JOIN knowledge a ON a.knowledge_id = l.knowledge_id
    UNION ALL SELECT hr_case_id, created_at, 6, 'Notification', 'to ' || email, type, status,
        'notification', 'notification_id', notification_id
    FROM notification
"""

STORY = Story(name="Cases", table="hr_case", key="hr_case_id", records=RECORDS, facts=FACTS, entries=ENTRIES)
