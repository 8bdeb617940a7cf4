"""Products, and the installed products of accounts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypedDict, cast

from sqlalchemy import func

from opsgym_domains.csm.enums import InstalledStatus
from opsgym_domains.csm.tables import InstalledProduct, Product
from opsgym_domains.csm.toolbox import tool
from opsgym_domains.kit.fitting import parse_time
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import Deleted, tally
from opsgym_domains.kit.schema import columns_but

BRIEF = columns_but(Product, "product_price", "sys_created_on", "sys_updated_on")

EndedCount = TypedDict("EndedCount", {"ended_count": int})
InstalledCount = TypedDict("InstalledCount", {"status": InstalledStatus, "count": int})
AverageInstalled = TypedDict(
    "AverageInstalled", {"account_id": int, "status": InstalledStatus, "avg_installed_per_account": float}
)


@tool(shows=BRIEF, words={"name": "Full name, case-sensitive"})
async def find_product(gym: Gym, name: str) -> Product | None:
    """Look up a product by its full name.

    Returns the one with the lowest id if several have the name, and an empty object if there is no match.
    """
    return await gym.find(Product, name=name)


@tool(shows=BRIEF)
async def find_product_by_id(gym: Gym, product_id: int) -> Product | None:
    """Look up a product by id.

    Returns an empty object if there is no match.
    """
    return await gym.get(Product, product_id)


@tool(shows=(*BRIEF, "product_price", "sys_created_on"))
async def find_products(gym: Gym, **filters: Any) -> Sequence[Product]:
    """List products, optionally filtered.

    Filters are combined with AND; the name matches a part, ignoring case; all other filters match exactly. Lowest id
    first.
    """
    return await gym.list(Product, filters)


@tool(adds=Product)
async def add_new_product(gym: Gym, **fields: Any) -> Product:
    """Add a product to the catalogue.

    The name need not be unique. Returns the new product.
    """
    return await gym.insert(Product(**fields))


@tool(changes=Product)
async def update_product(gym: Gym, product_id: int, **fields: Any) -> Product:
    """Update a product. Fields that are not given keep their value.

    Give at least one field (NO_FIELDS_TO_UPDATE). Installed products do not change. Returns the updated product.
    """
    return await gym.change(Product, product_id, fields)


@tool(removes=Product, words={"name": "Full name, case-sensitive"})
async def delete_products(gym: Gym, **filters: Any) -> Deleted:
    """Delete the products that match all filters.

    Give at least one filter (MISSING_FILTER). Nothing is deleted if installed products, entitlements, cases or articles
    still refer to one of the products (STILL_REFERENCED). Returns the number of deleted products.
    """
    return {"deleted": len(await gym.remove(Product, filters))}


# --- installed products ----------------------------------------------------------------------------------------------


@tool(
    shows=columns_but(InstalledProduct, "sys_created_on", "sys_updated_on"),
    words={"serial_number": "Full serial number, case-sensitive"},
)
async def find_installed_product_by_serial(gym: Gym, serial_number: str) -> InstalledProduct | None:
    """Look up an installed product by its serial number.

    Returns the one with the lowest id if several accounts or products have the number, and an empty object if there is
    no match.
    """
    return await gym.find(InstalledProduct, serial_number=serial_number)


@tool(shows=columns_but(InstalledProduct, "sys_updated_on"))
async def retrieve_installed_products(gym: Gym, **filters: Any) -> Sequence[InstalledProduct]:
    """List installed products, optionally filtered.

    Filters are combined with AND; the serial number matches a part, ignoring case; all other filters match exactly. The
    lowest id comes first.
    """
    return await gym.list(InstalledProduct, filters)


@tool(adds=InstalledProduct)
async def register_new_installed_product(gym: Gym, **fields: Any) -> InstalledProduct:
    """Register an installed product of an account.

    Account, product and location must exist, and the combination of account, product and serial number must be unique
    (DUPLICATE_INSTALLED_PRODUCT). Returns the new installed product.
    """
    return await gym.insert(InstalledProduct(**fields))


@tool(changes=InstalledProduct)
async def update_installed_product_details(gym: Gym, installed_product_id: int, **fields: Any) -> InstalledProduct:
    """Update an installed product. Fields that are not given keep their value.

    Give at least one field (NO_FIELDS_TO_UPDATE). The combination of account, product and serial number must be unique
    (DUPLICATE_INSTALLED_PRODUCT). Returns the updated installed product.
    """
    return await gym.change(InstalledProduct, installed_product_id, fields)


# --- statistics of installed products -----------------------------------------------------------------------------


@tool(row=InstalledProduct, words={"on_date": "Reference date: YYYY-MM-DD"})
async def installed_product_warranties_ended_count(gym: Gym, on_date: str, **filters: Any) -> EndedCount:
    """Count installed products with a warranty that ended on or before a date.

    Installed products without a warranty end date do not count.
    """
    ended = InstalledProduct.warranty_end <= parse_time(on_date, "on_date").date()
    return {"ended_count": await gym.count(InstalledProduct, filters, ended)}


@tool(row=InstalledProduct)
async def count_installed_product_by_status(gym: Gym, **filters: Any) -> list[InstalledCount]:
    """Count installed products by status.

    Statuses without an installed product are omitted.
    """
    return tally(InstalledCount, await gym.grouped(InstalledProduct.status, func.count(), filters))


@tool(row=InstalledProduct)
async def avg_installed_per_account_by_status(gym: Gym, **filters: Any) -> list[AverageInstalled]:
    """Count installed products by account and status.

    Returns an entry for each combination of account and status that occurs, sorted by account and then by status.
    """
    installed = await gym.list(InstalledProduct, filters)
    counts = Counter((product.account_id, cast("InstalledStatus", product.status)) for product in installed)
    return [
        {"account_id": account_id, "status": status, "avg_installed_per_account": float(count)}
        for (account_id, status), count in sorted(counts.items())
    ]
