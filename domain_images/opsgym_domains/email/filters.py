"""Filters of a mailbox: what happens to new messages that meet some criteria."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from opsgym_domains.email.mailbox import label_named, mailbox_of, not_found, shown_id
from opsgym_domains.email.resources import Resource
from opsgym_domains.email.search import as_search, matches
from opsgym_domains.email.settings import refuse_unverified
from opsgym_domains.email.tables import Filter, Label, User
from opsgym_domains.email.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

ID = {"id": "Filter id, for instance filter_…"}
MAXIMUM = 1000
"""Maximum number of filters of a mailbox."""


@tool(row=Filter)
async def list_filters(gym: Gym, user_id: str) -> Resource:
    """List the filters of a mailbox with their criteria and actions.

    Returns `filter`, a list.
    """
    mailbox = await mailbox_of(gym, user_id)
    return {"filter": [await _resource(gym, one) for one in await gym.all(Filter, Filter.user_id == mailbox.id)]}


@tool(row=Filter, words=ID)
async def get_filter(gym: Gym, user_id: str, id: str) -> Resource:  # noqa: A002 - the published name
    """Get a filter with its criteria and its action.

    Refused (NOT_FOUND) if the mailbox has no such filter.
    """
    return await _resource(gym, await _owned(gym, await mailbox_of(gym, user_id), id))


@tool(adds=Filter)
async def create_filter(gym: Gym, user_id: str, criteria: Mapping[str, Any], action: Mapping[str, Any]) -> Resource:
    """Create a filter for the new messages of a mailbox.

    A message must meet all criteria that are not empty. Labels must exist (INVALID_LABEL); an address to forward to
    must be a verified forwarding address (FORWARDING_ADDRESS_NOT_VERIFIED); the criteria together have at most 2,000
    characters (QUERY_TOO_LONG). Messages that have arrived already do not
    change. Returns the filter.
    """
    mailbox = await mailbox_of(gym, user_id)
    if await gym.count(Filter, {"user_id": mailbox.id}) >= MAXIMUM:
        raise ToolError("TOO_MANY_FILTERS", f"a mailbox has at most {MAXIMUM} filters; delete one first")
    matches(as_search(criteria), gym.now())
    if action.get("forward"):
        await refuse_unverified(gym, mailbox, action["forward"], "action.forward")
    stored = dict(action)
    for name in ("addLabelIds", "removeLabelIds"):
        if stored.get(name):
            stored[name] = [(await label_named(gym, mailbox, label, add=True)).id for label in stored[name]]
    key = f"filter_{await gym.next_id(Filter)}"
    row = Filter(
        id=key,
        user_id=mailbox.id,
        criteria_json=json.dumps(dict(criteria), ensure_ascii=False),
        action_json=json.dumps(stored, ensure_ascii=False),
        created_by=mailbox.primary_email,
    )
    return await _resource(gym, await gym.insert(row))


@tool(removes=Filter, words=ID)
async def delete_filter(gym: Gym, user_id: str, id: str) -> None:  # noqa: A002 - the published name
    """Delete a filter of a mailbox.

    Messages that it has filed stay as they are. Returns nothing.
    """
    await gym.delete([await _owned(gym, await mailbox_of(gym, user_id), id)])


async def _owned(gym: Gym, mailbox: User, filter_id: str) -> Filter:
    row = await gym.get(Filter, filter_id)
    if row is None or row.user_id != mailbox.id:
        raise not_found()
    return row


async def _resource(gym: Gym, row: Filter) -> Resource:
    action = json.loads(row.action_json or "{}")
    for name in ("addLabelIds", "removeLabelIds"):
        if action.get(name):
            labels = await gym.all(Label, Label.id.in_(action[name]))
            shown = {label.id: shown_id(label) for label in labels}
            action[name] = [shown.get(label, label) for label in action[name]]
    return {"id": row.id, "criteria": json.loads(row.criteria_json or "{}"), "action": action}
