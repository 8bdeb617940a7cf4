"""What time does at the service desk by itself.

Invariant: every deadline is a rule of the policy: SLA-4 and INC-12.
"""

from __future__ import annotations

from datetime import timedelta

from opsgym_domains.itsm.tables import Incident, IncidentSla
from opsgym_domains.kit.passing import Deadline

CLOSED_AFTER = timedelta(days=14)
"""How long an incident stays resolved until the system closes it."""
CLOSE_NOTES = "Closed by the system, 14 days after resolution."

DEADLINES = (
    Deadline(
        IncidentSla,
        where={"stage": "in_progress", "has_breached": False},
        since="breach_time",
        changes={"stage": "breached", "has_breached": True},
    ),
    Deadline(
        Incident,
        where={"status": "resolved"},
        since="resolved",
        after=CLOSED_AFTER,
        changes={"status": "closed", "close_notes": CLOSE_NOTES},
    ),
)
