"""What time does in customer service by itself.

Invariant: every deadline is a rule of the policy: SLA-6, CAS-11 and CON-4.
"""

from __future__ import annotations

from datetime import timedelta

from opsgym_domains.csm.tables import CaseSla, Contract, CustomerCase, Entitlement
from opsgym_domains.kit.passing import DUE, Consequence, Deadline

CLOSED_AFTER = timedelta(days=14)
"""How long a resolved case stays unchanged until the system closes it."""

DEADLINES = (
    Deadline(
        CaseSla,
        where={"stage": "in_progress", "has_breached": False},
        since="breach_time",
        changes={"has_breached": True},
    ),
    Deadline(
        CustomerCase,
        where={"state": "resolved"},
        since="sys_updated_on",
        after=CLOSED_AFTER,
        changes={"state": "closed", "closed_on": DUE},
    ),
    Deadline(
        Contract,
        where={"status": "active"},
        since="end_date",
        after=timedelta(days=1),
        changes={"status": "expired"},
        consequences=(Consequence(Entitlement, "contract_id", {"active": True}, {"active": False}),),
    ),
)
