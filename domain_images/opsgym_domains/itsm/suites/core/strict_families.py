"""The hard families of the suite: access strict, events, and requests that must not be carried out."""

from __future__ import annotations

from opsgym_domains.itsm.suites.core import (
    events_people,
    events_records,
    events_time,
    infeasible_requests,
    strict_work,
)

FAMILIES = (
    *strict_work.FAMILIES,
    *events_people.FAMILIES,
    *events_records.FAMILIES,
    *events_time.FAMILIES,
    *infeasible_requests.FAMILIES,
)
