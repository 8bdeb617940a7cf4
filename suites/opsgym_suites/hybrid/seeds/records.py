"""Records of the service desk, customer service and HR that messages and files of the company name.

Invariant: a number or a contact is read from the row of that system's seed, so a text agrees with it in every variant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from opsgym_domains.csm.tables import Contact, CustomerCase
from opsgym_domains.csm.tables import User as CustomerUser
from opsgym_domains.hr.tables import HrCase
from opsgym_domains.itsm.tables import Incident
from opsgym_suites.hybrid.seeds.csm import CASES as CUSTOMER_CASES
from opsgym_suites.hybrid.seeds.csm import csm_world
from opsgym_suites.hybrid.seeds.hr import CASES as PEOPLE_CASES
from opsgym_suites.hybrid.seeds.hr import hr_world
from opsgym_suites.hybrid.seeds.itsm import INCIDENTS, itsm_world


@dataclass(frozen=True)
class Outsider:
    """A contact of a customer."""

    name: str
    address: str


@cache
def numbers() -> dict[str, str]:
    """Numbers of incidents, of customers' cases and of HR cases, by the key of the fixture record."""
    itsm, csm, hr = itsm_world(), csm_world(), hr_world()
    by_key = {one.key: itsm.fixture(Incident, one.key).number for one in INCIDENTS}
    by_key |= {one.key: csm.fixture(CustomerCase, one.key).number for one in CUSTOMER_CASES}
    return by_key | {one.key: hr.fixture(HrCase, one.key).number for one in PEOPLE_CASES}


@cache
def contacts() -> dict[str, Outsider]:
    """The customer's contact of each case of customer service, by the key of the fixture record."""
    csm = csm_world()
    by_case: dict[str, Outsider] = {}
    for one in CUSTOMER_CASES:
        contact = csm.one(Contact, contact_id=csm.fixture(CustomerCase, one.key).contact_id)
        user = csm.one(CustomerUser, user_id=contact.portal_user_id)
        by_case[one.key] = Outsider(f"{user.first_name} {user.last_name}", user.email)
    return by_case


def filled(text: str) -> str:
    """A text in which `{key}` stands for the number of a record, and `{key's contact}` for the contact's name."""
    names = {f"{key}'s contact": one.name for key, one in contacts().items()}
    return text.format_map(numbers() | names)
