"""A refused and a corrected call for each process rule of Drive."""

from __future__ import annotations

from typing import Any

from tests.domains.declaration import StrictCase
from tests.drive.seed import insert, permission

IDENTITIES = {"admin": "token-ann", "colleague": "token-ben", "legal": "token-lea", "administrator": "token-dana"}
_ZOE = {"type": "user", "emailAddress": "zoe@other.test"}
_LEA = {"type": "user", "emailAddress": "lea@acme.test"}


def _label(file_id: str, label: str, key: str, **values: Any) -> dict[str, Any]:
    return {
        "fileId": file_id,
        "labelModifications": [{"labelId": label, "fieldModifications": [{"fieldId": key, **values}]}],
    }


_ON_HELD = insert("permissions", permission("p-held-lea", "writer", file_id="f-held", user_id="u-lea"))
_SECRET_CLIENT = insert(
    "file_labels", {"id": "fl-9", "file_id": "f-client", "label_id": "l-sens", "value_enum": "restricted"}
)

CASES = (
    StrictCase("PRC-1", "LEGAL_HOLD", "update_files", {"fileId": "f-held", "trashed": True}, {"fileId": "f-open"},
               says="f-held"),
    StrictCase("PRC-1", "LEGAL_HOLD", "update_files", {"fileId": "f-held", "name": "Renamed.pdf"},
               {"name": None, "starred": True}),
    StrictCase("PRC-1", "LEGAL_HOLD", "update_files", {"fileId": "f-held", "addParents": "f-plans"},
               {"fileId": "f-open"}),
    StrictCase("PRC-1", "LEGAL_HOLD", "delete_files", {"fileId": "f-held"}, {"fileId": "f-open"}),
    StrictCase("PRC-1", "LEGAL_HOLD", "delete_files", {"fileId": "f-spare"}, {"fileId": "f-out"}, says="below f-spare",
               given=insert("file_labels", {"id": "fl-9", "file_id": "f-deep", "label_id": "l-hold",
                                            "value_boolean": True})),
    StrictCase("PRC-1", "LEGAL_HOLD", "delete_revisions", {"fileId": "f-held", "revisionId": "r-held"},
               {"fileId": "f-plan", "revisionId": "r-1"}),
    StrictCase("PRC-2", "RETENTION", "delete_files", {"fileId": "f-kept"}, {"fileId": "f-open"}, says="2030-01-01"),
    StrictCase("PRC-2", "RETENTION", "empty_files_trash", {}, {"driveId": "d-sales"}, says="f-trash",
               given=insert("file_labels", {"id": "fl-9", "file_id": "f-trash", "label_id": "l-keep",
                                            "value_date": "2026-11-16"})),
    StrictCase("PRC-2", "RETENTION", "delete_revisions", {"fileId": "f-plan", "revisionId": "r-1"}, None,
               given=insert("file_labels", {"id": "fl-9", "file_id": "f-plan", "label_id": "l-keep",
                                            "value_date": "2026-11-17"})),
    StrictCase("PRC-3", "CONFIDENTIAL", "create_permission", {"fileId": "f-secret", "role": "reader", **_ZOE}, _LEA,
               says="acme.test"),
    StrictCase("PRC-3", "CONFIDENTIAL", "create_permission", {"fileId": "f-spare", "role": "reader", "type": "anyone"},
               {"type": "domain", "domain": "acme.test"}, says="f-deep",
               given=insert("file_labels", {"id": "fl-9", "file_id": "f-deep", "label_id": "l-sens",
                                            "value_enum": "restricted"})),
    StrictCase("PRC-3", "CONFIDENTIAL", "create_permission", {"fileId": "d-sales", "role": "reader", **_ZOE}, _LEA,
               says="f-client", given=_SECRET_CLIENT),
    StrictCase("PRC-3", "CONFIDENTIAL", "update_files", {"fileId": "f-secret", "addParents": "f-out"},
               {"addParents": "f-plans"}, says="p-out-zoe"),
    StrictCase("PRC-4", "OUTSIDE_ROLE", "create_permission", {"fileId": "f-plan", "role": "writer", **_ZOE},
               {"role": "commenter"}, says="acme.test"),
    StrictCase("PRC-4", "OUTSIDE_ROLE", "create_permission",
               {"fileId": "f-plan", "role": "reader", "type": "anyone", "allowFileDiscovery": True},
               {"allowFileDiscovery": False}),
    StrictCase("PRC-4", "OUTSIDE_ROLE", "update_permission",
               {"fileId": "f-out", "permissionId": "p-out-zoe", "role": "writer"}, {"role": "commenter"}),
    StrictCase("PRC-5", "DRIVE_RESTRICTED", "create_permission", {"fileId": "d-lab", "role": "reader", **_ZOE}, _LEA,
               says="d-lab"),
    StrictCase("PRC-5", "DRIVE_RESTRICTED", "create_permission", {"fileId": "f-rule", "role": "reader", **_LEA},
               {"emailAddress": "ann@acme.test"}, says="members"),
    StrictCase("PRC-6", "LAST_ORGANIZER", "delete_permission", {"fileId": "d-sales", "permissionId": "dm-sales-ann"},
               {"permissionId": "dm-sales-ben"}, says="dm-sales-ann"),
    StrictCase("PRC-6", "LAST_ORGANIZER", "update_permission",
               {"fileId": "d-sales", "permissionId": "dm-sales-ann", "role": "writer"},
               {"permissionId": "dm-sales-ben"}),
    StrictCase("PRC-7", "OWNERSHIP", "create_permission",
               {"fileId": "f-plan", "role": "owner", "transferOwnership": True, **_ZOE}, _LEA, says="acme.test"),
    StrictCase("PRC-7", "OWNERSHIP", "create_permission",
               {"fileId": "f-left", "role": "owner", "transferOwnership": True, "useDomainAdminAccess": True,
                "type": "user", "emailAddress": "cleo@acme.test"},
               {"emailAddress": "ben@acme.test"}, role="administrator", says="gone",
               given="UPDATE permissions SET role = 'reader' WHERE id = 'o-f-left';"),
    StrictCase("PRC-8", "MORE_THAN_ASKED", "resolve_accessproposals",
               {"fileId": "f-plan", "proposalId": "pr-1", "action": "ACCEPT", "role": ["writer"]}, {"role": ["reader"]},
               says="reader"),
    StrictCase("PRC-8", "MORE_THAN_ASKED", "resolve_accessproposals",
               {"fileId": "f-plan", "proposalId": "pr-1", "action": "ACCEPT", "role": ["commenter"]},
               {"role": ["reader"]}, says="reader",
               given=insert("permissions", permission("p-plan-dana", "reader", file_id="f-plan", user_id="u-dana"))),
    StrictCase("PRC-9", "HOLD_BY_LEGAL", "modify_files_labels",
               _label("f-held", "l-hold", "legal_hold", setSelectionValues=["false"]), {},
               helper="legal", says="legal@", given=_ON_HELD),
    StrictCase("PRC-9", "HOLD_BY_LEGAL", "modify_files_labels",
               {"fileId": "f-held", "labelModifications": [{"labelId": "l-hold", "removeLabel": True}]}, {},
               helper="legal", given=_ON_HELD),
    StrictCase("PRC-10", "SENSITIVITY_LOWERED", "modify_files_labels",
               _label("f-doc", "l-sens", "sensitivity", setSelectionValues=["public"]),
               _label("f-doc", "l-sens", "sensitivity", setSelectionValues=["restricted"]),
               role="colleague", says="f-doc"),
    StrictCase("PRC-10", "SENSITIVITY_LOWERED", "modify_files_labels",
               {"fileId": "f-doc", "labelModifications": [{"labelId": "l-sens", "removeLabel": True}]}, {},
               role="colleague", helper="admin"),
)  # fmt: skip
