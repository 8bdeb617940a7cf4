"""Credentials as they are read from variables and mounted Secrets: usable ones, or what is wrong with them.

Invariant: no request is sent with a credential that no HTTP header can carry, and no message has its text.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping

_DOCUMENT = "{"
"""Begin of a service account's JSON, which goes into no header."""
_KEY_NAME = "_API_KEY"


def usable(value: str) -> str:
    """A credential without the blanks and line breaks around it, which files and Secrets often end with."""
    return value.strip()


def unusable_because(value: str, *, header: bool = False) -> str | None:
    """What is wrong with a credential that `usable` returned; None if a request can carry it.

    Args:
        value: The credential.
        header: Whether it is the value of a whole header, which may have blanks.
    """
    if not value:
        return "is empty"
    if value.startswith(_DOCUMENT):
        return None
    if re.search(r"[\r\n]", value):
        return "has a line break in it"
    if not value.isascii():
        return "has a character in it that is not ASCII"
    if not header and re.search(r"\s", value):
        return "has a blank in it"
    return None if value.isprintable() else "has a control character in it"


def drop_empty_keys(environment: MutableMapping[str, str]) -> None:
    """Removes empty API keys from an environment, and the blanks around others: an empty variable counts as unset."""
    for name in [name for name in environment if name.endswith(_KEY_NAME)]:
        environment[name] = usable(environment[name])
        if not environment[name]:
            del environment[name]
