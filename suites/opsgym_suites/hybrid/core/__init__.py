"""Tasks across the systems of the company."""

from __future__ import annotations

from opsgym_suites.hybrid.core.accounts import accounts
from opsgym_suites.hybrid.core.all_or_nothing import all_or_nothing
from opsgym_suites.hybrid.core.audits import audits
from opsgym_suites.hybrid.core.boards import boards
from opsgym_suites.hybrid.core.commitments import commitments
from opsgym_suites.hybrid.core.correspondence import correspondence
from opsgym_suites.hybrid.core.declined import declined
from opsgym_suites.hybrid.core.escalations import escalations
from opsgym_suites.hybrid.core.governing import governing
from opsgym_suites.hybrid.core.handing_on import handing_on
from opsgym_suites.hybrid.core.joiners import joiners
from opsgym_suites.hybrid.core.leavers import leavers
from opsgym_suites.hybrid.core.meetings import meetings
from opsgym_suites.hybrid.core.movers import movers
from opsgym_suites.hybrid.core.outages import outages
from opsgym_suites.hybrid.core.permissions import permissions
from opsgym_suites.hybrid.core.reconciling import reconciling
from opsgym_suites.hybrid.core.records_requests import records_requests
from opsgym_suites.hybrid.core.records_withheld import records_withheld
from opsgym_suites.hybrid.core.repairs import repairs
from opsgym_suites.hybrid.core.replacements import replacements
from opsgym_suites.hybrid.core.returning import returning
from opsgym_suites.hybrid.core.rooms import rooms
from opsgym_suites.hybrid.core.warroom import warroom
from opsgym_suites.kit.drafts import Draft
from opsgym_suites.kit.suite import Worlds


def drafts(worlds: Worlds) -> list[Draft]:
    """All tasks, in order."""
    return [
        *leavers(worlds),
        *joiners(worlds),
        *audits(worlds),
        *meetings(worlds),
        *warroom(worlds),
        *escalations(worlds),
        *permissions(worlds),
        *handing_on(worlds),
        *correspondence(worlds),
        *governing(worlds),
        *commitments(worlds),
        *repairs(worlds),
        *outages(worlds),
        *accounts(worlds),
        *declined(worlds),
        *movers(worlds),
        *boards(worlds),
        *rooms(worlds),
        *records_requests(worlds),
        *records_withheld(worlds),
        *reconciling(worlds),
        *returning(worlds),
        *replacements(worlds),
        *all_or_nothing(worlds),
    ]
