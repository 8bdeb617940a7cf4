"""`Access`, apart from the EvalRun that states it: gym servers know the one and start without the other."""

from __future__ import annotations

from enum import StrEnum


class Access(StrEnum):
    """How strictly gym servers enforce roles, organisations and process rules."""

    PUBLISHED = "published"
    STRICT = "strict"
