"""Configuration of a console in a cluster: what the chart writes and the console reads once, when it starts.

Invariant: an unknown field, or one of the wrong type, stops the console with the field's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, model_validator

from opsgym_api.base import Document
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalmodel import Name
from opsgym_api.kinds.evalrun import require_unique
from opsgym_core.common.strict_yaml import model_of, parts_of
from opsgym_core.store.mounted import StoreConfig


class ConsoleConfig(Document):
    """`/etc/opsgym/config.yaml` of the console's pod."""

    stores: Annotated[list[StoreConfig], Field(min_length=1)]
    """Stores whose runs are shown; names are unique."""
    default_store: Name
    """Store that is read first: where two stores hold a run of the same id, its run is shown."""
    namespaces: list[Name] = []
    """Namespaces whose EvalRuns are shown; those of the whole cluster if empty."""

    @model_validator(mode="after")
    def _default_store_exists(self) -> ConsoleConfig:
        require_unique("stores", [store.name for store in self.stores])
        if self.default_store not in self.store_by_name:
            names = ", ".join(self.store_by_name)
            raise ValueError(f"defaultStore: unknown store {self.default_store!r}; configured stores: {names}")
        return self

    @property
    def store_by_name(self) -> Mapping[str, StoreConfig]:
        """Stores by name."""
        return {store.name: store for store in self.stores}


def parse_config(text: str, source: str) -> ConsoleConfig:
    """Reads the configuration.

    Args:
        text: YAML.
        source: Name of the file, for messages.

    Raises:
        InputError: A field is missing, unknown or not valid; each is named with its line.
    """
    documents = parts_of(source, text)
    if len(documents) != 1:
        raise InputError(source, [Problem("", f"must contain one YAML document, has {len(documents)}")])
    return model_of(source, documents[0], ConsoleConfig)
