"""Effects of the CSM tools, as far as their declarations do not state them: arguments and links."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.domain import DOMAIN
from opsgym_domains.csm.tables import CaseKnowledge, CaseSla, Contact, UserGroupMember
from opsgym_suites.kit.drafts import call
from opsgym_suites.kit.effects import ToolEffects

_ASSIGNMENT = {"assigned_to_user_id": "assigned_to"}
"""Columns by argument of the tools that assign cases."""


def _equivalents(made: ToolCall) -> Iterator[ToolCall]:
    """The tool for any column of a case, for those for one column."""
    if made.name in ("assign_case_to_user", "set_case_assignment_group"):
        yield call("update_case", **{_ASSIGNMENT.get(name, name): value for name, value in made.arguments.items()})


EFFECTS = ToolEffects(
    DOMAIN.toolbox,
    link_types=frozenset({UserGroupMember, Contact, CaseSla, CaseKnowledge}),
    columns=_ASSIGNMENT,
    equivalents=_equivalents,
)
