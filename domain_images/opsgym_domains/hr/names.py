"""Which names of users and groups are acceptable."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from opsgym_domains.kit.errors import ToolError

_NAME = re.compile(r"(?:[^\W\d_]|[ \-'.’])+")
"""A name: letters of any alphabet, spaces, hyphens, apostrophes, full stops."""


def refuse_odd_names(fields: Mapping[str, Any], *names: str) -> None:
    """Refuses names with other characters than letters, spaces, hyphens, apostrophes and full stops.

    Raises:
        ToolError: `INVALID_NAME`.
    """
    for name in names:
        value = fields.get(name)
        if value is not None and not _NAME.fullmatch(value):
            raise ToolError(
                "INVALID_NAME", f"{name} may contain letters, spaces, hyphens, apostrophes and full stops only", name
            )
