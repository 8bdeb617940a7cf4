"""Assignment of incidents, problems and changes to a group, a user, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from opsgym_domains.itsm.tables import Change, Incident, Problem
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

Work = TypeVar("Work", Incident, Problem, Change)


async def list_assigned(gym: Gym, kind: type[Work], assignment: Mapping[str, str]) -> Sequence[Work]:
    """Records that are assigned to a group, to a user, or to both, newest first.

    Raises:
        ToolError: `MISSING_FIELD` if neither is given.
    """
    if not assignment:
        raise ToolError("MISSING_FIELD", "give assignment_group, assigned_to, or both", "assignment_group")
    return await gym.list(kind, assignment)
