"""Contracts with accounts, and entitlements to support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from sqlalchemy import func

from opsgym_domains.csm.enums import ContractStatus
from opsgym_domains.csm.tables import Contract, Entitlement
from opsgym_domains.csm.toolbox import tool
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import tally
from opsgym_domains.kit.schema import columns_but

ContractCount = TypedDict("ContractCount", {"status": ContractStatus, "count": int})
AverageContracts = TypedDict("AverageContracts", {"status": ContractStatus, "avg_contracts_per_account": float})
MaxCases = TypedDict("MaxCases", {"support_level": str, "sum": int})


@tool(
    shows=columns_but(Contract, "sys_updated_on"),
    words={
        "contract_price_range_start": "Lowest price, inclusive",
        "contract_price_range_end": "Highest price, inclusive",
    },
)
async def find_contracts(gym: Gym, **filters: Any) -> Sequence[Contract]:
    """List contracts, optionally filtered.

    Filters are combined with AND and match exactly; the price range includes both ends and excludes contracts without a
    price. Lowest id first.
    """
    return await gym.list(Contract, filters)


@tool(adds=Contract)
async def enlist_new_contract(gym: Gym, **fields: Any) -> Contract:
    """Create a contract with an account, which must exist.

    A contract does not create entitlements: add them afterwards. Its status does not follow its dates. Returns the new
    contract.
    """
    return await gym.insert(Contract(**fields))


@tool(changes=Contract)
async def update_contract(gym: Gym, contract_id: int, **fields: Any) -> Contract:
    """Update a contract. Fields that are not given keep their value.

    Give at least one field (NO_FIELDS_TO_UPDATE). Entitlements of the contract do not change. Returns the updated
    contract.
    """
    return await gym.change(Contract, contract_id, fields)


@tool(row=Contract)
async def count_contract_by_status(gym: Gym, **filters: Any) -> list[ContractCount]:
    """Count contracts by status.

    Statuses without a contract are omitted.
    """
    return tally(ContractCount, await gym.grouped(Contract.status, func.count(), filters))


@tool(row=Contract)
async def avg_contracts_per_account_by_status(gym: Gym, **filters: Any) -> list[AverageContracts]:
    """Calculate the average number of contracts per account, by status.

    For each status only accounts with at least one such contract count. Statuses without a contract are omitted.
    """
    per_account = func.count() * 1.0 / func.count(Contract.account_id.distinct())
    return tally(AverageContracts, await gym.grouped(Contract.status, per_account, filters))


# --- entitlements ----------------------------------------------------------------------------------------------------


@tool(shows=columns_but(Entitlement, "sys_updated_on"))
async def find_entitlements(gym: Gym, **filters: Any) -> Sequence[Entitlement]:
    """List entitlements, optionally filtered.

    Filters are combined with AND and match exactly. Lowest id first.
    """
    return await gym.list(Entitlement, filters)


@tool(adds=Entitlement)
async def add_new_entitlement(gym: Gym, **fields: Any) -> Entitlement:
    """Add an entitlement to an account.

    Account, product and contract must exist. The tool does not check that the contract belongs to the account. Returns
    the new entitlement.
    """
    return await gym.insert(Entitlement(**fields))


@tool(changes=Entitlement)
async def update_entitlement(gym: Gym, entitlement_id: int, **fields: Any) -> Entitlement:
    """Update an entitlement. Fields that are not given keep their value.

    Give at least one field (NO_FIELDS_TO_UPDATE). Returns the updated entitlement.
    """
    return await gym.change(Entitlement, entitlement_id, fields)


@tool(row=Entitlement)
async def total_sum_of_max_cases_per_support_level(gym: Gym, **filters: Any) -> MaxCases:
    """Sum the maximum number of cases per month over entitlements, active and inactive.

    Returns the support level, or `all` if none is given, and the sum. Entitlements without a maximum do not count.
    """
    total = await gym.measure(Entitlement, func.sum(Entitlement.max_cases_per_month), filters)
    return {"support_level": filters.get("support_level", "all"), "sum": total or 0}
