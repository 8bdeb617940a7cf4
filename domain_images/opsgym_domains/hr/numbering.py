"""Numbers of new records whose form differs from that of seeded ones.

Invariant: a number is one more than the highest of the same form in the organisation, and 1 if there is none; records
that the acting user does not see count too.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import InstrumentedAttribute

from opsgym_domains.kit.gym import Gym


async def next_number(gym: Gym, column: InstrumentedAttribute[Any], prefix: str, digits: int) -> str:
    """Next number of a prefix and digits.

    Args:
        gym: The call's view of the database.
        column: Column of the number.
        prefix: What stands before the digits, for instance `HR-`.
        digits: Least number of digits.
    """
    kind = column.parent.class_
    same_form = column.regexp_match(rf"^{prefix}\d+$")
    return await gym.next_number(
        kind, column.key, f"{prefix}{{:0{digits}d}}", same_form, kind.org_id == gym.actor.org_id
    )
