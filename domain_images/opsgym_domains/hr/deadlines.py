"""What time does in HR service delivery by itself.

Invariant: every deadline is a rule of the policy: CAS-9 and APR-5.
"""

from __future__ import annotations

from datetime import timedelta

from opsgym_domains.hr.tables import HrCase
from opsgym_domains.kit.passing import Deadline

ACCEPTED_AFTER = timedelta(days=5)
"""How long a case stays unchanged in awaiting_acceptance until the system closes it."""
REJECTED_AFTER = timedelta(days=7)
"""How long an approval stays unanswered until the system rejects it."""

DEADLINES = (
    Deadline(
        HrCase,
        where={"status": "awaiting_acceptance"},
        since="updated_at",
        after=ACCEPTED_AFTER,
        changes={"status": "closed_complete"},
    ),
    Deadline(
        HrCase,
        where={"status": "awaiting_approval", "request_status": "requested"},
        since="updated_at",
        after=REJECTED_AFTER,
        changes={"status": "ready", "request_status": "rejected"},
    ),
)
