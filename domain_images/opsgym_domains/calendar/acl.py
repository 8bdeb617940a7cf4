"""Rules of sharing: which role whom a rule applies to has on a calendar.

Invariant: in access `published` only the owner of a calendar reaches its rules, whatever the owner's role, and a change
of a rule's scope changes the scope that other rules share, as in the published server. In access `strict` rules are
read and changed with the role owner, and a rule's scope never changes.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from opsgym_domains.calendar.channels import INTERNAL, open_channel
from opsgym_domains.calendar.pages import rules_offset, rules_sync_token, rules_synced_at
from opsgym_domains.calendar.permissions import OWNERS, reach
from opsgym_domains.calendar.requests import NewRule, Notify, RuleFields, RulesChannel, RulesQuery, ScopeFields
from opsgym_domains.calendar.tables import AclRule, Calendar, Scope, User, WatchChannel
from opsgym_domains.calendar.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.pages import next_page

FAILED = """API Error: {
  "error": "Internal server error",
  "message": "An unexpected error occurred. Please try again later.",
  "support": "Check logs for more details"
}"""
"""What the published server says of a scope of a user without an address."""


@tool()
async def get_acl_rule(gym: Gym, calendar_id: str, rule_id: str) -> dict[str, Any]:
    """Read a rule of sharing.

    Returns its role and whom it applies to.
    """
    rule = await _rule(gym, calendar_id, rule_id, "ACL rule not found")
    return await _as_item(gym, rule)


@tool()
async def list_acl_rules(gym: Gym, calendar_id: str, query: RulesQuery) -> dict[str, Any]:
    """List the rules of sharing of a calendar, the oldest first.

    Rules with the role none are listed with showDeleted. `nextSyncToken` lists what has changed since.
    """
    calendar = await _own(gym, calendar_id)
    rules = [rule for rule in await _rules(gym, calendar) if query.show_deleted or rule.role != "none"]
    changed = [rule.updated_at for rule in rules if rule.updated_at]
    if query.sync_token:
        since = rules_synced_at(query.sync_token, calendar_id, gym.now())
        rules = [rule for rule in rules if rule.updated_at and _is_later(gym, rule.updated_at, since)]
        changed = [since, *(rule.updated_at for rule in rules if rule.updated_at)]
    offset = rules_offset(query.page_token)
    page = rules[offset : offset + query.max_results]
    return {
        "kind": "calendar#acl",
        "etag": f'"{calendar_id}-{max(changed, default=gym.now()).isoformat()}"',
        "items": [await _as_item(gym, rule) for rule in page],
        "nextPageToken": next_page(offset, query.max_results, len(rules)),
        "nextSyncToken": rules_sync_token(calendar_id, max(changed, default=gym.now())),
    }


@tool(adds=AclRule)
async def insert_acl_rule(gym: Gym, calendar_id: str, rule: NewRule, _notify: Notify) -> dict[str, Any]:
    """Share a calendar: give a user, a group, a domain or everybody a role on it.

    The scope must be known to the server: an address or domain that occurs in other rules, or a user's.
    """
    calendar = await _own(gym, calendar_id)
    if rule.role is None:
        raise ToolError("MISSING_FIELD", INTERNAL.removesuffix(": "), "role")
    row = AclRule(
        calendar_id=calendar.calendar_id,
        user_id=gym.actor.user_id,
        scope_id=(await _scope(gym, rule.scope)).id,
        role=rule.role,
        etag=f'"{await gym.next_id(AclRule)}"',
    )
    await gym.insert(row)
    return _as_rule(row, rule.scope.model_dump(exclude_none=True))


@tool(changes=AclRule)
async def update_acl_rule(gym: Gym, calendar_id: str, rule_id: str, rule: NewRule, _notify: Notify) -> dict[str, Any]:
    """Change role and scope of a rule of sharing.

    Returns the rule.
    """
    calendar = await _own(gym, calendar_id)
    row = await _rule(gym, calendar.calendar_id, rule_id, "ACL rule not found")
    return await _changed(gym, row, rule.scope, rule.role)


@tool(changes=AclRule)
async def patch_acl_rule(
    gym: Gym, calendar_id: str, rule_id: str, fields: RuleFields, _notify: Notify
) -> dict[str, Any]:
    """Change role or scope of a rule of sharing.

    What is not given stays. Returns the rule.
    """
    row = await _rule(gym, calendar_id, rule_id, "ACL rule not found")
    return await _changed(gym, row, fields.scope, fields.role)


@tool(removes=AclRule)
async def delete_acl_rule(gym: Gym, calendar_id: str, rule_id: str) -> None:
    """Delete a rule of sharing.

    It gives no role any more.
    """
    missing = f"ACL rule '{rule_id}' not found for calendar '{calendar_id}'"
    await gym.delete([await _rule(gym, calendar_id, rule_id, missing)])


@tool(adds=WatchChannel)
async def watch_acl(gym: Gym, calendar_id: str, channel: RulesChannel) -> dict[str, Any]:
    """Open a channel for changes of a calendar's rules.

    Returns the channel. It expires after 24 hours.
    """
    calendar = await _own(gym, calendar_id, prefix=INTERNAL)
    path = f"{calendar.calendar_id}/acl"
    return await open_channel(gym, channel, "acl", "acl", path, calendar_id=calendar.calendar_id, prefix=INTERNAL)


def _is_later(gym: Gym, changed: datetime, since: datetime) -> bool:
    """Whether a change is listed; in `strict` also one at the very time of the token, since clocks stand."""
    return changed >= since if gym.is_strict else changed > since


async def _own(gym: Gym, calendar_id: str, *, prefix: str = "") -> Calendar:
    """A calendar whose rules the acting user may see and change."""
    if gym.is_strict:
        return (await reach(gym, calendar_id, OWNERS)).calendar
    calendar = await gym.find(Calendar, calendar_id=calendar_id, user_id=gym.actor.user_id, deleted=False)
    if calendar is None:
        message = f"{prefix}Calendar {calendar_id} not found for user {gym.actor.user_id}"
        raise ToolError("NOT_FOUND", message, "calendarId")
    return calendar


async def _rules(gym: Gym, calendar: Calendar) -> list[AclRule]:
    owned = [] if gym.is_strict else [AclRule.user_id == gym.actor.user_id]
    rules = await gym.all(AclRule, AclRule.calendar_id == calendar.calendar_id, *owned)
    return sorted(rules, key=lambda rule: (rule.created_at is not None, rule.created_at or gym.now(), rule.id))


async def _rule(gym: Gym, calendar_id: str, rule_id: str, missing: str) -> AclRule:
    owner = {} if gym.is_strict else {"user_id": gym.actor.user_id}
    if gym.is_strict:
        await reach(gym, calendar_id, OWNERS)
    rule = await gym.find(AclRule, id=rule_id, calendar_id=calendar_id, **owner)
    if rule is None:
        raise ToolError("NOT_FOUND", missing, "ruleId")
    return rule


async def _scope(gym: Gym, scope_fields: ScopeFields) -> Scope:
    """The scope that a new rule applies to."""
    if scope_fields.type != "default" and scope_fields.value is None:
        raise ToolError("MISSING_FIELD", FAILED, "scope")
    scope = await _find_scope(gym, scope_fields)
    if scope is not None:
        return scope
    if gym.is_strict and (scope_fields.type != "user" or await gym.exists(User, email=scope_fields.value)):
        return await gym.insert(Scope(type=scope_fields.type, value=scope_fields.value))
    raise ToolError("NOT_FOUND", f"Scope (ScopeType.{scope_fields.type}, {scope_fields.value}) not found", "scope")


async def _find_scope(gym: Gym, scope_fields: ScopeFields) -> Scope | None:
    if scope_fields.type == "default":
        return await gym.find(Scope, type="default")
    return await gym.find(Scope, type=scope_fields.type, value=scope_fields.value)


async def _changed(gym: Gym, rule: AclRule, scope_fields: ScopeFields | None, role: str | None) -> dict[str, Any]:
    scope = await gym.fetch(Scope, rule.scope_id)
    if scope_fields is not None:
        await _rewrite(gym, scope, scope_fields)
    await gym.update(rule, {"role": role} if role else {})
    return _as_rule(rule, {"type": scope.type, "value": scope.value})


async def _rewrite(gym: Gym, scope: Scope, scope_fields: ScopeFields) -> None:
    """Changes a scope, for every rule that has it."""
    if gym.is_strict:
        if (scope_fields.type, scope_fields.value) != (scope.type, scope.value):
            message = "the scope of a rule cannot be changed; delete the rule and insert another one"
            raise ToolError("SCOPE_CHANGED", message, "scope")
        return
    if scope_fields.type in ("user", "group"):
        if scope_fields.value is None:
            raise ToolError("MISSING_FIELD", FAILED, "scope")
        if not await gym.exists(User, email=scope_fields.value, is_active=True):
            message = "Invalid data in 'value field'. Please enter an existing email id in 'value' field"
            raise ToolError("NOT_FOUND", message, "scope")
    value = {} if scope_fields.value is None else {"value": scope_fields.value}
    await gym.update(scope, {"type": scope_fields.type, **value})


async def _as_item(gym: Gym, rule: AclRule) -> dict[str, Any]:
    scope = await gym.fetch(Scope, rule.scope_id)
    return {
        "id": rule.id,
        "calendar_id": rule.calendar_id,
        "user_id": rule.user_id,
        "role": rule.role,
        "etag": rule.etag,
        "scope": {"type": scope.type, "value": scope.value},
    }


def _as_rule(rule: AclRule, scope: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "calendar#aclRule", "etag": rule.etag, "id": rule.id, "scope": scope, "role": rule.role}
