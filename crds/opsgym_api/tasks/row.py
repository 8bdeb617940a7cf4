"""Base of everything that stands in a task row.

Invariant: what the published harness tolerates is tolerated: JSON held in strings, nulls of optional fields, fields
that opsgym does not know.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, model_validator


class Row(BaseModel):
    """Part of a task row: unknown fields are kept, and a null of an optional field counts as absent."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, row: object) -> object:
        """Drops nulls of optional fields: a table has every column in every row."""
        if not isinstance(row, Mapping):
            return row
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {name: value for name, value in row.items() if value is not None or name not in optional}


def decoded(value: object) -> object:
    """JSON that the data set's Parquet files keep in a string; any other value as it is.

    Raises:
        ValueError: The string begins like JSON and is none.
    """
    if not isinstance(value, str) or not value.startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        raise ValueError(f"is a string that is not JSON: {error}") from None
    except RecursionError:
        raise ValueError("is a string of JSON that is nested too deeply") from None
