"""Files as the explore page shows them: where they are, and who reaches them and why.

Invariant: the roles shown are those that access `strict` counts (`reach`): permissions on the file, on the folders
above, where an owner is a writer, and on the shared drive, with memberships that have no permission of their own.
"""

from __future__ import annotations

from opsgym_domains.drive.forms import FOLDER, NATIVE
from opsgym_domains.kit.domain import Files, FileSearch

_TIME = "to_char({}, 'YYYY-MM-DD HH24:MI')"
_SHOWN = 4000
"""Number of characters of a content that the page shows."""
_ABOVE = """
    above AS (
        SELECT id AS file, id AS folder, parent_id AS next, 0 AS depth FROM files
        UNION ALL SELECT a.file, f.id, f.parent_id, a.depth + 1 FROM above a JOIN files f ON f.id = a.next
        WHERE a.depth < 100
    )
"""
_OWNERS = """
    owners AS (
        SELECT p.file_id, min(p.user_id) AS user_id, string_agg(coalesce(u.display_name, u.email), ', ') AS names
        FROM permissions p JOIN users u ON u.id = p.user_id WHERE p.role = 'owner' AND p.deleted IS NOT TRUE
        GROUP BY p.file_id
    )
"""

PLACES = """
    SELECT id AS key, name, 'shared drive' AS kind FROM drives
    UNION ALL SELECT u.id, coalesce(u.display_name, u.email), 'files of a user' FROM users u
    WHERE u.id IN (SELECT user_id FROM permissions WHERE role = 'owner' AND deleted IS NOT TRUE)
        OR u.id IN (SELECT created_by FROM files WHERE drive_id IS NULL)
    ORDER BY kind DESC, name, key
"""
FILES = f"""
    WITH {_OWNERS}, labelled AS (
        SELECT fl.file_id, string_agg(concat_ws(': ', l.key, coalesce(fl.value_string, fl.value_enum,
            to_char(fl.value_date, 'YYYY-MM-DD'), fl.value_number::text, fl.value_boolean::text)), E'\\n'
            ORDER BY l.key) AS labels
        FROM file_labels fl JOIN labels l ON l.id = fl.label_id GROUP BY fl.file_id
    ), shared AS (SELECT DISTINCT file_id FROM permissions WHERE role <> 'owner' AND deleted IS NOT TRUE)
    SELECT f.id AS key, f.name, coalesce(f.drive_id, o.user_id, f.created_by) AS place, f.parent_id AS parent,
        f.mime_type = '{FOLDER}' AS folder, coalesce(f.trashed, false) AS trashed,
        replace(f.mime_type, '{NATIVE}', '') AS kind, o.names AS people, {_TIME.format("f.modified_time")} AS time,
        l.labels, s.file_id IS NOT NULL AS shared
    FROM files f LEFT JOIN owners o ON o.file_id = f.id LEFT JOIN labelled l ON l.file_id = f.id
        LEFT JOIN shared s ON s.file_id = f.id
    ORDER BY f.mime_type = '{FOLDER}' DESC, lower(f.name), f.id
"""  # noqa: S608 - names of our own tables
FACTS = f"""
    WITH {_OWNERS}
    SELECT f.id AS file, 1 AS place, 'Type' AS name, f.mime_type AS value FROM files f
    UNION ALL SELECT file_id, 2, 'Owner', names FROM owners
    UNION ALL SELECT f.id, 3, 'Created', concat_ws(', ', {_TIME.format("f.created_time")}, u.display_name)
    FROM files f LEFT JOIN users u ON u.id = f.created_by
    UNION ALL SELECT f.id, 4, 'Changed', concat_ws(', ', {_TIME.format("f.modified_time")}, u.display_name)
    FROM files f LEFT JOIN users u ON u.id = f.modified_by
    UNION ALL SELECT id, 5, 'In the trash since', {_TIME.format("trashed_time")} FROM files WHERE trashed
    UNION ALL SELECT id, 6, 'Size', size_bytes || ' bytes' FROM files WHERE mime_type <> '{FOLDER}'
    UNION ALL SELECT id, 7, 'Description', description FROM files
    UNION ALL SELECT id, 8, 'Properties', nullif(concat_ws(' ', properties, app_properties), '') FROM files
    UNION ALL SELECT f.id, 9, 'Shortcut to', coalesce(t.name, f.shortcut_target_id)
    FROM files f LEFT JOIN files t ON t.id = f.shortcut_target_id WHERE f.is_shortcut
    UNION ALL SELECT file_id, 10, 'Revisions', count(*)::text FROM revisions GROUP BY file_id
    UNION ALL SELECT file_id, 11, 'Comments', count(*)::text FROM comments WHERE deleted IS NOT TRUE GROUP BY file_id
    UNION ALL SELECT file_id, 12, 'Requests for access', count(*)::text
    FROM access_proposals WHERE status = 'pending' GROUP BY file_id
    UNION ALL SELECT f.id, 13, 'Content', left(b.key, {_SHOWN})
    FROM files f JOIN revisions r ON r.id = f.head_revision_id JOIN blobs b ON b.id = r.blob_id WHERE b.storage = 'DB'
"""  # noqa: S608 - names of our own tables
ACCESS = f"""
    WITH RECURSIVE {_ABOVE}, on_drives AS (
        SELECT drive_id, id, 'permissions' AS "table", role, type, user_id, group_id, domain, email_address,
            allow_file_discovery AS findable
        FROM permissions WHERE drive_id IS NOT NULL AND deleted IS NOT TRUE
        UNION ALL SELECT m.drive_id, m.id, 'drive_memberships', m.role, m.type, m.user_id, m.group_id, m.domain, NULL,
            NULL
        FROM drive_memberships m WHERE NOT EXISTS (SELECT FROM permissions p WHERE p.drive_id = m.drive_id
            AND p.deleted IS NOT TRUE
            AND (p.user_id, p.group_id, p.domain) IS NOT DISTINCT FROM (m.user_id, m.group_id, m.domain))
    ), given AS (
        SELECT a.file, a.depth, CASE WHEN a.depth > 0 THEN a.folder END AS folder, NULL AS drive, p.id,
            'permissions' AS "table", CASE WHEN a.depth > 0 AND p.role = 'owner' THEN 'writer' ELSE p.role END AS role,
            p.type, p.user_id, p.group_id, p.domain, p.email_address, p.allow_file_discovery AS findable
        FROM above a JOIN permissions p ON p.file_id = a.folder AND p.deleted IS NOT TRUE
        UNION ALL SELECT t.file, 1000, NULL, d.drive_id, d.id, d.table, d.role, d.type, d.user_id, d.group_id, d.domain,
            d.email_address, d.findable
        FROM (SELECT DISTINCT a.file, f.drive_id FROM above a JOIN files f ON f.id = a.folder) t
            JOIN on_drives d ON d.drive_id = t.drive_id
        UNION ALL SELECT drive_id, 0, NULL, NULL, id, "table", role, type, user_id, group_id, domain, email_address,
            findable FROM on_drives
    ), companies AS (
        SELECT DISTINCT split_part(email, '@', 2) AS host FROM users WHERE auth_token IS NOT NULL
    ), members AS (
        SELECT m.group_id, string_agg(coalesce(u.display_name, u.email), ', ' ORDER BY u.display_name) AS names
        FROM group_memberships m JOIN users u ON u.id = m.user_id GROUP BY m.group_id
    )
    SELECT x.file, x.role,
        coalesce(u.auth_token IS NULL AND split_part(u.email, '@', 2) IN (SELECT host FROM companies), false) AS gone,
        x.table, 'id' AS "column", x.id AS key,
        CASE x.type WHEN 'domain' THEN 'everyone at ' || x.domain
            WHEN 'anyone' THEN CASE WHEN x.findable THEN 'everyone' ELSE 'everyone who has the link' END
            ELSE coalesce(u.display_name, g.name, x.email_address) END AS who,
        coalesce(u.email, g.email || coalesce(': ' || m.names, ''),
            CASE WHEN x.type IN ('user', 'group') THEN 'no account here' END) AS note,
        x.folder, f.name AS folder_name, x.drive, d.name AS drive_name
    FROM given x LEFT JOIN users u ON u.id = x.user_id LEFT JOIN groups g ON g.id = x.group_id
        LEFT JOIN members m ON m.group_id = x.group_id LEFT JOIN files f ON f.id = x.folder
        LEFT JOIN drives d ON d.id = x.drive
    ORDER BY x.depth, x.role = 'owner' DESC, who, x.id
"""  # noqa: S608 - names of our own tables

BROWSER = Files(
    table="files",
    key="id",
    places=PLACES,
    files=FILES,
    facts=FACTS,
    access=ACCESS,
    search=FileSearch(
        name="list_files",
        text="q",
        given={"corpora": "allDrives", "pageSize": 200},
        files="files",
        example="name contains",
    ),
)
