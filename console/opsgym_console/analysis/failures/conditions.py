"""A condition on a column, as verifiers' queries state them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opsgym_console.analysis.failures.values import same


@dataclass(frozen=True)
class Condition:
    """A column and the value that it must have."""

    column: str
    value: Any
    partial: bool = False
    """Whether it is enough that the column's text contains the value."""
    alternatives: tuple[Condition, ...] = ()
    """Conditions of which one may hold instead."""

    def known(self, fields: Mapping[str, Any]) -> bool:
        """Whether a row has the column."""
        return any(condition.column in fields for condition in (self, *self.alternatives))

    def holds(self, fields: Mapping[str, Any]) -> bool:
        """Whether a row fulfils the condition."""
        return any(one.column in fields and one.fits(fields[one.column]) for one in (self, *self.alternatives))

    def fits(self, actual: Any) -> bool:
        """Whether a value fulfils the condition, alternatives left aside."""
        if not self.partial:
            return same(actual, self.value)
        return self.occurs_in(actual if isinstance(actual, str) else json.dumps(actual, ensure_ascii=False))

    def occurs_in(self, text: str) -> bool:
        """Whether a text contains the value."""
        return str(self.value).strip("%").casefold() in text.casefold()
