"""Process rules that service desks share, as factories: each makes a check for `Rulebook.declare` from column names.

Invariant: a check judges only what a write changes, so that a record that already violates it can still be corrected,
and its refusal says what to do instead. Checks for writes get the row after and before the write, None for a new row.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from opsgym_domains.kit.schema import Row, key_column

if TYPE_CHECKING:
    from opsgym_domains.kit.access import AnyWriteRule, Transitions
    from opsgym_domains.kit.gym import Gym

AnyDeleteRule = Callable[["Gym", Any], Awaitable[str | None]]
"""A check for deletions, which gets the row."""


def sets_any(after: Row, before: Row | None, *columns: str) -> bool:
    """Whether a write sets or changes any of the columns."""
    return before is None or any(getattr(after, name) != getattr(before, name) for name in columns)


def sets_to(after: Row, before: Row | None, column: str, *values: Any) -> bool:
    """Whether a write sets or changes a column to one of the values."""
    return getattr(after, column) in values and sets_any(after, before, column)


def missing(row: Row, *columns: str) -> str:
    """Names of the columns without a value, comma-separated."""
    return ", ".join(dict.fromkeys(name for name in columns if getattr(row, name) is None))


# --- references ------------------------------------------------------------------------------------------------------


def refers_to_active(column: str, kind: type[Row], advice: str, *, named: str | None = None) -> AnyWriteRule:
    """The row that a column refers to is active.

    Args:
        column: Column with the reference; empty is allowed.
        kind: Row class with a column `active`.
        advice: What to do instead.
        named: Column that names the row in the refusal; None for its key.
    """

    async def check(gym: Gym, after: Row, before: Row | None) -> str | None:
        if getattr(after, column) is None or not sets_any(after, before, column):
            return None
        row: Any = await gym.fetch(kind, getattr(after, column))
        return None if row.active else f"{kind.label} {_name(row, named)} is inactive; {advice}"

    return check


def user_is_eligible(
    column: str, user: type[Row], roles: Collection[str], advice: str, *, named: str | None = None
) -> AnyWriteRule:
    """The user that a column refers to is active and has one of the roles; arguments as for `refers_to_active`."""

    async def check(gym: Gym, after: Row, before: Row | None) -> str | None:
        if getattr(after, column) is None or not sets_any(after, before, column):
            return None
        row: Any = await gym.fetch(user, getattr(after, column))
        if row.active and row.role in roles:
            return None
        return f"{_name(row, named)} has role {row.role}{'' if row.active else ' and is inactive'}; {advice}"

    return check


def assignee_is_member(assignee: str, group: str, member: type[Row], *, group_needed: bool = False) -> AnyWriteRule:
    """The assignee is a member of the assignment group.

    Args:
        assignee: Column with the assigned user.
        group: Column with the assignment group.
        member: Row class of memberships, with columns `user_id` and `group_id`.
        group_needed: Whether a record without a group has no assignee.
    """

    async def check(gym: Gym, after: Row, before: Row | None) -> str | None:
        user, team = getattr(after, assignee), getattr(after, group)
        if user is None or not sets_any(after, before, assignee, group):
            return None
        if team is None:
            return f"the record has no group; set {group} in the same call" if group_needed else None
        if await gym.exists(member, user_id=user, group_id=team):
            return None
        return f"user {user} is not a member of group {team}; give {assignee} a member of that group in the same call"

    return check


def recipient_is_active(column: str, user: type[Row]) -> AnyWriteRule:
    """The address in a column is that of an active user whom the acting user may see."""

    async def check(gym: Gym, after: Row, before: Row | None) -> str | None:
        address = getattr(after, column)
        if not sets_any(after, before, column) or await gym.exists(user, email=address, active=True):
            return None
        return f"no active user has the address {address}; do not send the notification"

    return check


def in_order(first: str, last: str, *, equal: bool) -> AnyWriteRule:
    """A date is before another one, or equal to it; either may be empty.

    Args:
        first: Column with the earlier date.
        last: Column with the later date.
        equal: Whether the two may be equal.
    """

    async def check(_gym: Gym, after: Row, before: Row | None) -> str | None:
        start, end = getattr(after, first), getattr(after, last)
        if start is None or end is None or not sets_any(after, before, first, last):
            return None
        if start < end or (equal and start == end):
            return None
        return f"{last} {end:%Y-%m-%d} must {'not be before' if equal else 'be after'} {first}; give other dates"

    return check


# --- states ----------------------------------------------------------------------------------------------------------


def follows(column: str, transitions: Transitions, first: Collection[str]) -> AnyWriteRule:
    """A record changes its state only along the transitions, and a new one is in one of the first states."""

    async def check(_gym: Gym, after: Row, before: Row | None) -> str | None:
        state = getattr(after, column)
        if before is None:
            allowed = " or ".join(first)
            return None if state in first else f"a new {after.label} must have {column} {allowed}"
        return _refused_transition(transitions, getattr(before, column), state)

    return check


def is_final(column: str, states: Collection[str], advice: str, *, named: str | None = None) -> AnyWriteRule:
    """A record in one of the states cannot be changed; arguments as for `refers_to_active`."""

    async def check(_gym: Gym, after: Row, before: Row | None) -> str | None:
        if before is None or getattr(before, column) not in states:
            return None
        return f"{_name(after, named)} is {getattr(before, column)} and cannot be changed; {advice}"

    return check


def begun_if_assigned(assignee: str, column: str, *, new: str = "new", begun: str = "in_progress") -> AnyWriteRule:
    """A record with an assignee is not in the state `new` any more."""

    async def check(_gym: Gym, after: Row, before: Row | None) -> str | None:
        if getattr(after, assignee) is None or getattr(after, column) != new:
            return None
        if not sets_any(after, before, assignee, column):
            return None
        return f"a {after.label} with an assignee cannot be {new}; set {column} {begun} in the same call"

    return check


def needs(column: str, state: str, *columns: str) -> AnyWriteRule:
    """A record in the state has a value in all of the columns."""

    async def check(_gym: Gym, after: Row, before: Row | None) -> str | None:
        if getattr(after, column) != state or not sets_any(after, before, column, *columns):
            return None
        lacking = missing(after, *columns)
        return f"{column} {state} also needs {lacking}; give it in the same call" if lacking else None

    return check


def closes_after(column: str, since: Collection[str], wait: timedelta, required: Collection[str]) -> AnyWriteRule:
    """A record is closed only from `resolved`, with the required columns, and after some time.

    Args:
        column: Column with the state.
        since: Columns with the time from which on `wait` counts; the first that has a value.
        wait: Time that has passed.
        required: Columns that a closed record needs.
    """

    async def check(gym: Gym, after: Row, before: Row | None) -> str | None:
        if not sets_to(after, before, column, "closed"):
            return None
        if before is None or getattr(before, column) != "resolved":
            return f"only a resolved {after.label} can be closed; resolve it first"
        lacking = missing(after, *required)
        if lacking:
            return f"{column} closed also needs {lacking}; give it in the same call"
        start = next((getattr(before, name) for name in since if getattr(before, name) is not None), None)
        if start is None or gym.now() - start >= wait:
            return None
        return f"the {after.label} has waited since {start} and can be closed from {start + wait}"

    return check


def flag_stays(column: str, what: str) -> AnyWriteRule:
    """A flag that is set is not reset."""

    async def check(_gym: Gym, after: Row, before: Row | None) -> str | None:
        if before is None or not getattr(before, column) or getattr(after, column):
            return None
        return f"the {what}; do not reset {column}"

    return check


def flagged_rows_stay(column: str, what: str) -> AnyDeleteRule:
    """A row whose flag is set cannot be deleted."""

    async def check(_gym: Gym, row: Row) -> str | None:
        return f"{row.label} {_name(row)}: the {what} and stays on record" if getattr(row, column) else None

    return check


# --- roles -----------------------------------------------------------------------------------------------------------


def only_roles_set(roles: Collection[str], column: str, values: Collection[str], advice: str) -> AnyWriteRule:
    """Only users with one of the roles set a column to one of the values."""

    async def check(gym: Gym, after: Row, before: Row | None) -> str | None:
        if gym.actor.role in roles or not sets_to(after, before, column, *values):
            return None
        return f"only {_any_role(roles)} may set {column} {getattr(after, column)}; {advice}"

    return check


def only_roles_write(roles: Collection[str]) -> AnyWriteRule:
    """Only users with one of the roles create and change rows, whatever the tables of permissions say."""

    async def check(gym: Gym, after: Row, _before: Row | None) -> str | None:
        return None if gym.actor.role in roles else f"only {_any_role(roles)} may create or change a {after.label}"

    return check


def _any_role(roles: Collection[str]) -> str:
    return " or ".join(f"{'an' if role[0] in 'aeiou' else 'a'} {role}" for role in sorted(roles))


def _name(row: Row, column: str | None = None) -> Any:
    return getattr(row, column or key_column(type(row)))


def _refused_transition(transitions: Transitions, before: str, after: str) -> str | None:
    allowed = transitions.get(before, ())
    if after == before or after in allowed:
        return None
    return f"{before} cannot be changed to {after}; " + (
        f"allowed: {' or '.join(allowed)}" if allowed else f"{before} is final"
    )
