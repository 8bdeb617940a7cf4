"""Tables as published, and published verifier queries: they fail on the seed and pass after an agent's work."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.drive.conftest import made
from tests.drive.seed import PDF, TEXT, file, insert, permission
from tests.support.gym import Gym, GymDatabase
from tests.support.upstream import upstream

from opsgym_domains.drive.tables import METADATA

pytestmark = pytest.mark.published


def published(path: str) -> Any:
    return json.loads((upstream() / path).read_text(encoding="utf-8"))


OF_VERIFIERS = {("files", "app_properties"), ("permissions", "expiration_time")}
"""Columns that the one public seed lacks and published verifiers read."""


def test_tables_columns_and_keys_are_the_published_ones() -> None:
    tables = published("schema/drive.json")["tables"]
    assert list(METADATA.tables) == list(tables)
    for name, table in METADATA.tables.items():
        own = [column for column in table.columns.keys() if (name, column) not in OF_VERIFIERS]  # noqa: SIM118
        assert own == list(tables[name]["columns"]), name
        assert [column.name for column in table.primary_key] == tables[name]["primary_key"], name


_DRIVE = "01JBQM3K8TGHZX9RNVQM5Y2P8C"
_LABEL = "01JBQM3K8TGHZX9RNVQM5Y2P9U"
ROWS = (
    insert("users", {"id": "u-sarah", "email": "sarah.johnson@company.com", "display_name": "Sarah"})
    + insert("drives", {"id": _DRIVE, "name": "Board"})
    + insert("drive_memberships", {"id": "dm-1", "drive_id": _DRIVE, "type": "user", "user_id": "u-ann",
                                   "role": "organizer"})
    + insert("files", file("f-spec", "Technical Spec.pdf", PDF, "05-01"),
             file("f-month", "Monthly Financials.xls.xlsx", PDF, "05-02"),
             file("f-board", "Board.pdf", PDF, "05-03", drive_id=_DRIVE),
             file("f-zone", "User_Migration_Zone", "application/vnd.google-apps.folder", "05-04"),
             file("f-user", "User_Profile_Export.csv", TEXT, "05-05"))
    + insert("labels", {"id": _LABEL, "key": "level", "type": "enum", "options": '["low", "critical"]'})
    + insert("access_proposals", {"id": "pr-9", "file_id": "f-board", "requester_email": "lea@acme.test",
                                  "proposed_roles": '["reader"]', "status": "pending"})
    + insert("permissions", permission("o-spec", "owner", file_id="f-spec", user_id="u-ann"))
)  # fmt: skip
_HOOK = {"resourceUri": "https://drive.test/f", "id": "ch-month"}
WORK: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("permission", "create_permission",
     {"fileId": "f-spec", "role": "writer", "type": "user", "emailAddress": "sarah.johnson@company.com"}),
    ("watch channel", "watch_files",
     {"fileId": "f-month", "address": "https://monitoring.company.com/drive-changes", "resourceId": "f-month",
      "expiration": "2099-12-31T00:00:00Z", **_HOOK}),
    ("labels", "modify_files_labels",
     {"fileId": "f-board", "labelModifications": [
         {"labelId": _LABEL, "fieldModifications": [{"fieldId": "level", "setSelectionValues": ["critical"]}]}]}),
    ("keep revision", "update_revisions", {"fileId": "f-budget", "revisionId": "r-budget", "keepForever": True}),
    ("proposals", "resolve_accessproposals", {"fileId": "f-board", "proposalId": "pr-9", "action": "DENY"}),
    ("parents", "update_files", {"fileId": "f-user", "addParents": "f-zone"}),
    ("contains", "watch_files",
     {"fileId": "f-plan", "address": "https://hook.test/c", "resourceId": "daily-check", "resourceUri": "https://r.test",
      "id": "ch-check"}),
)  # fmt: skip


def passes(database: GymDatabase, verifier: dict[str, Any]) -> bool:
    rows = database.rows(verifier["query"])
    value = next(iter(rows[0].values())) if rows else None
    if verifier["comparison_type"] == "contains":
        return str(verifier["expected_value"]) in str(value)
    return bool(value == verifier["expected_value"])


@pytest.fixture
def office(gym_servers: Callable[[str], Gym]) -> Iterator[GymDatabase]:
    """Ann's files, and those that the published queries name."""
    with made(gym_servers("drive"), "published", ROWS) as database:
        yield database


def test_published_verifiers_fail_before_the_work_and_pass_after_it(office: GymDatabase) -> None:
    verifiers = {one["name"]: one for one in published("tasks/drive/_verifier_samples.json")["verifiers"]}
    assert set(verifiers) == {name for name, _, _ in WORK}
    before = [name for name, verifier in verifiers.items() if passes(office, verifier)]
    outcomes = [office.call_with(tool, arguments) for _, tool, arguments in WORK]
    assert before == []
    assert [outcome.text for outcome in outcomes if outcome.is_error] == []
    assert [name for name, verifier in verifiers.items() if not passes(office, verifier)] == []


_TIME = "2026-01-05 08:00:00"
REST = "".join(
    insert(table, row)
    for table, row in (
        ("uploads", {"id": "up-1", "file_id": None, "intended_mime": PDF, "total_size": 9, "received_bytes": 3,
                     "chunk_size": 3, "state": "in_progress", "created_time": _TIME, "updated_time": _TIME}),
        ("thumbnails", {"id": "t-1", "file_id": "f-plan", "revision_id": "r-1", "kind": "doc", "blob_id": "b-1",
                        "width": 128, "height": 96, "created_time": _TIME}),
        ("share_links", {"id": "s-1", "file_id": "f-plan", "permission_role": "reader", "link_token": "abc",
                         "allow_discovery": False, "expires_time": None, "created_by": "u-ann", "created_time": _TIME}),
        ("path_closure", {"ancestor_id": "f-plan", "descendant_id": "f-plan", "depth": 0}),
        ("trash_log", {"id": "tl-1", "file_id": "f-trash", "emptied_time": _TIME, "actor_id": None}),
        ("drive_channels", {"id": "dc-1", "resource_id": "f-plan", "expiration": _TIME, "type": "web_hook",
                            "params": '{"page_size": 100}', "created_time": _TIME}),
        ("subscriptions", {"id": "su-1", "channel_id": "dc-1", "resource_type": "files", "resource_id": "f-plan",
                           "callback_url": "https://hook.test/s", "created_time": _TIME, "expires_time": _TIME,
                           "active": True}),
        ("webhook_deliveries", {"id": "w-1", "subscription_id": "su-1", "channel_id": "dc-1", "change_token": "01J",
                                "status": "retrying", "attempts": 2, "next_retry_time": _TIME, "created_time": _TIME}),
    )
)  # fmt: skip


def test_rows_in_the_published_forms_are_in_every_table(gym_servers: Callable[[str], Gym]) -> None:
    with made(gym_servers("drive"), "published", REST) as database:
        empty = [name for name in METADATA.tables if not database.value(f'SELECT COUNT(*) FROM "{name}"')]
        assert empty == []
        assert database.rows("SELECT state, updated_time FROM uploads") == [
            {"state": "in_progress", "updated_time": _TIME}
        ]
        assert database.call("delete_files", fileId="f-plan").text == "Operation completed successfully"
        assert database.rows("SELECT active, channel_id FROM subscriptions") == [{"active": 1, "channel_id": "dc-1"}]
