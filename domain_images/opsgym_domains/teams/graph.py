"""How Microsoft Graph writes resources: contexts, times, references to other resources, lists and their pages.

Invariant: an object shows its properties under their published names, null included, in the order in which the
resource lists them; `$select` leaves properties out and never annotations. Apps and
tabs keep their order then; all else comes in the order of `$select`.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote, unquote

from sqlalchemy import ColumnElement

from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.pages import LAST_OFFSET, MOST_DIGITS
from opsgym_domains.teams import odata

BASE = "https://graph.microsoft.com/v1.0"
Shown = dict[str, Any]
"""An object of an answer."""
MEMBER_TYPE = "#microsoft.graph.aadUserConversationMember"
"""Type of a member of a team, channel or chat."""


def context(path: str) -> str:
    """The `@odata.context` of an answer, for instance of `teams('a')/channels/$entity`."""
    return f"{BASE}/$metadata#{path}"


def shown_time(time: datetime | None, zone: str = "Z") -> str | None:
    """A time as Graph writes it: fractions of a second only where there are any, thousandths where they suffice."""
    if time is None:
        return None
    digits = "seconds" if not time.microsecond else "microseconds" if time.microsecond % 1000 else "milliseconds"
    return time.isoformat(timespec=digits) + zone


def loaded(text: str | None, default: Any = None) -> Any:
    """The value of a column with JSON text; the default for NULL and for a text that is not JSON."""
    try:
        return default if text is None else json.loads(text)
    except ValueError:
        return default


def dumped(value: Any) -> Any:
    """A value as a column stores it: objects and lists as JSON text."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def text_of(value: Shown | None) -> str | None:
    """An object encoded as JSON twice, as columns of tabs store it: a public query looks for the escaped quotes."""
    return None if value is None else json.dumps(dumped(value), ensure_ascii=False)


def object_of(text: str | None) -> Any:
    """The object of a column that holds it encoded once, as in seeds, or twice."""
    value = loaded(text)
    return loaded(value) if isinstance(value, str) else value


def stored(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by column, as columns store them."""
    return {name: dumped(value) for name, value in fields.items()}


# --- references ------------------------------------------------------------------------------------------------------

_BOUND = re.compile(r"(?:https?://[^/\s]+/(?:v1\.0|beta)/|/)?(?:appCatalogs/)?(\w+)(?:\('([^']+)'\)|/([^/?#\s()]+))/?")


def bound(reference: str, collections: Iterable[str], field: str) -> str:
    """The id in a reference to a resource: `https://graph.microsoft.com/v1.0/users('ann')` or `…/users/ann`.

    Args:
        reference: The reference.
        collections: Names of the collections that it may be in.
        field: Argument that contains it.

    Raises:
        ToolError: `INVALID_REFERENCE`.
    """
    match, names = _BOUND.fullmatch(reference.strip()), list(collections)
    if match is None or match[1] not in names:
        form = f"{BASE}/{'appCatalogs/' if names == ['teamsApps'] else ''}{names[0]}('id')"
        message = f"Invalid bind property {short(reference)}; write it as {form}."
        raise ToolError("INVALID_REFERENCE", message, field)
    return match[2] or unquote(match[3])


# --- lists -----------------------------------------------------------------------------------------------------------


def picked(shown: Shown, names: Sequence[str] | None) -> Shown:
    """An object with the selected properties only, and its annotations; all if None."""
    if names is None:
        return shown
    annotations = {name: value for name, value in shown.items() if name.startswith("@")}
    return annotations | {name: shown.get(name) for name in names}


def picked_in_own_order(shown: Shown, names: Sequence[str] | None) -> Shown:
    """As `picked`, with the properties in the order of the object."""
    own = picked(shown, names)
    return {name: own[name] for name in [*shown, *own] if name in own}


def reduced(related: Any, expansion: odata.Expansion) -> Any:
    """A related object, or a list of them, with what the options of its `$expand` leave; None stays None."""
    if isinstance(related, list):
        return [reduced(one, expansion) for one in related[: expansion.top]]
    return picked(related, expansion.select) if isinstance(related, dict) else related


def filters(text: str | None, columns: odata.Columns) -> list[ColumnElement[bool]]:
    """The conditions of a `$filter` on rows; none for an empty one."""
    return [odata.condition(odata.parse_filter(text), columns)] if text and text.strip() else []


def sieved(items: Sequence[Shown], text: str | None, known: Sequence[str]) -> list[Shown]:
    """The objects that meet a `$filter`; all for an empty one."""
    if not text or not text.strip():
        return list(items)
    condition = odata.parse_filter(text)
    odata.matches(condition, {}, known)  # a wrong filter is refused even where nothing is listed
    return [item for item in items if odata.matches(condition, item, known)]


def skip_token(offset: int) -> str:
    """Token of the page that starts at an offset."""
    return base64.urlsafe_b64encode(str(offset).encode()).decode().rstrip("=")


def offset_of(token: str | None) -> int:
    """Offset of a page, at most `LAST_OFFSET`; 0 without a token.

    Raises:
        ToolError: `INVALID_SKIP_TOKEN`.
    """
    if not token:
        return 0
    try:
        text = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        text = ""
    if not text.isdecimal() or not text.isascii() or len(text) > MOST_DIGITS:
        raise ToolError("INVALID_SKIP_TOKEN", "The skiptoken is not one of an @odata.nextLink.", "_skiptoken")
    return min(int(text), LAST_OFFSET)


def next_link(path: str, options: Mapping[str, Any]) -> str:
    """The `@odata.nextLink` of a list, with the options that are given."""
    given = [(name, value) for name, value in options.items() if value not in (None, "", False)]
    sent = ((name, str(value).lower() if isinstance(value, bool) else value) for name, value in given)
    return f"{BASE}/{path}?" + "&".join(f"${name}={quote(str(value), safe='')}" for name, value in sent)
