"""Assignment rules: to whom cases are assigned. Agents apply them; no tool assigns a case by itself."""

from __future__ import annotations

import json
from typing import Any

from opsgym_domains.hr.filters import having_any, numbers_in, refuse_no_filters
from opsgym_domains.hr.results import Shown, changed, shown, shown_all
from opsgym_domains.hr.tables import AssignmentRule, Skill, User
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym


@tool(
    row=AssignmentRule,
    words={
        "based_on_skills": "Include rules for one of these skills (skill ids, separated by commas)",
        "users": "Include rules that assign to one of these users (user ids, separated by commas)",
    },
)
async def list_assignment_rules(
    gym: Gym, based_on_skills: str | None = None, users: str | None = None, limit: int = 50, **filters: Any
) -> list[Shown]:
    """List assignment rules that match all filters, lowest id first.

    Give at least one filter (MISSING_FILTER); the name matches a part, ignoring case. Returns inactive rules too.
    """
    lists = {name: text for name, text in (("based_on_skills", based_on_skills), ("users", users)) if text is not None}
    refuse_no_filters({**filters, **lists})
    rules = list(await gym.list(AssignmentRule, filters))
    for name, text in lists.items():
        rules = having_any(rules, name, numbers_in(text, name))
    return await shown_all(gym, rules[:limit])


@tool(adds=AssignmentRule)
async def add_new_assignment_rule(gym: Gym, **fields: Any) -> Shown:
    """Create an assignment rule in your organisation.

    The name must be unique (DUPLICATE_RULE_NAME); skills, group and users must exist. The rule is inactive unless you
    set active. Returns the new rule.
    """
    return await shown(gym, await gym.insert(AssignmentRule(**await _stored(gym, fields))))


@tool(changes=AssignmentRule)
async def update_assignment_rules(gym: Gym, assignment_rule_id: int, **fields: Any) -> Shown:
    """Update an assignment rule. Fields that are not given keep their value; lists replace the stored ones.

    The name must be unique (DUPLICATE_RULE_NAME); skills, group and users must exist. Refused (NO_CHANGES_DETECTED) if
    no value differs from the stored one. Returns the rule, and in `changes` the fields that changed.
    """
    given = await _stored(gym, changes(fields))
    return await changed(gym, await gym.fetch(AssignmentRule, assignment_rule_id), given)


async def _stored(gym: Gym, fields: dict[str, Any]) -> dict[str, Any]:
    """Fields with lists of existing skills and users as JSON."""
    stored = dict(fields)
    for name, kind in (("based_on_skills", Skill), ("users", User)):
        if stored.get(name) is not None:
            for key in stored[name]:
                await gym.fetch(kind, key, field=name)
            stored[name] = json.dumps(stored[name])
    return stored
