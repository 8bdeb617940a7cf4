"""The quickstart tasks, in the order of the suite."""

from __future__ import annotations

from collections.abc import Callable

from opsgym_suites.itsm.quickstart import backlog, incidents, infeasible_requests, people, problems, slas
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.kit.drafts import Draft

_TASKS: tuple[Callable[[World], Draft], ...] = (
    incidents.triage_dock_printer,
    slas.escalate_tracking_outage,
    incidents.hold_for_firmware_change,
    incidents.resolve_label_driver,
    people.onboard_subscription_team,
    problems.scanner_freeze,
    backlog.bundle_checkout_reports,
    backlog.close_what_is_settled,
    people.hand_over_leavers_work,
    slas.report_sla_breaches,
    infeasible_requests.account_asked_by_agent,
    incidents.report_by_phone,
    problems.tracking_login_fixed,
    problems.spread_wifi_workaround,
    slas.track_critical_incidents,
    infeasible_requests.reopen_closed_incident,
    infeasible_requests.change_of_another_company,
)


def drafts(world: World) -> tuple[Draft, ...]:
    """The tasks, written for this world."""
    return tuple(write(world) for write in _TASKS)
