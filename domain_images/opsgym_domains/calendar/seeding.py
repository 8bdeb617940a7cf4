"""What the published server adds to every seed: primary calendars, and rules for owners.

Invariant: after a seed was loaded, each user who has calendars has a primary one, and each calendar whose owner exists
has a rule with the role owner for that owner. A seed that holds both already is not changed and does not read the time.
"""

from __future__ import annotations

import apsw

_PRIMARY = """
    UPDATE calendars SET is_primary = 1
    WHERE calendar_id IN (
        SELECT (
            SELECT c.calendar_id FROM calendars c WHERE c.user_id = u.user_id ORDER BY c.created_at, c.rowid LIMIT 1
        )
        FROM users u
        WHERE NOT EXISTS (SELECT 1 FROM calendars p WHERE p.user_id = u.user_id AND p.is_primary = 1)
    )
"""

_WITHOUT_OWNER = """
    SELECT c.calendar_id, u.user_id, u.email FROM calendars c JOIN users u USING (user_id)
    WHERE NOT EXISTS (
        SELECT 1 FROM acls a JOIN scopes s ON s.id = a.scope_id
        WHERE a.calendar_id = c.calendar_id AND a.role = 'owner' AND s.value = u.email
    )
    ORDER BY c.rowid
"""

_ADD_SCOPE = "INSERT OR IGNORE INTO scopes (id, type, value) VALUES (?, 'user', ?)"
_ADD_RULE = """
    INSERT INTO acls (id, calendar_id, user_id, scope_id, role, etag, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, datetime('now'), datetime('now'))
"""


def complete(db: apsw.Connection) -> None:
    """Adds what is missing to a seed that was executed."""
    db.execute(_PRIMARY)
    for calendar_id, user_id, email in list(db.execute(_WITHOUT_OWNER)):
        scope_id = f"scope-{user_id}"
        db.execute(_ADD_SCOPE, (scope_id, email))
        for role in ("owner", "writer"):
            rule_id = f"acl-{calendar_id}-{role}"
            db.execute(_ADD_RULE, (rule_id, calendar_id, user_id, scope_id, role, f"etag-{rule_id}"))
