"""litellm's bundled map of models, read from its file: importing litellm takes seconds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from opsgym_runner.models.direct import PROVIDERS

_FILE = "model_prices_and_context_window_backup.json"


@cache
def _map() -> Mapping[str, Mapping[str, Any]]:
    """Entries of the providers that are called directly, by name in lower case."""
    package = find_spec("litellm")
    assert package is not None
    assert package.origin is not None
    entries: Mapping[str, Mapping[str, Any]] = json.loads((Path(package.origin).parent / _FILE).read_bytes())
    return {name.lower(): entry for name, entry in entries.items() if entry.get("litellm_provider") in PROVIDERS}


def listed(model: str) -> Mapping[str, Any] | None:
    """Entry of a litellm id of a provider that is called directly; None if the map does not list it.

    Args:
        model: litellm id.
    """
    provider, _, name = model.partition("/")
    entry = _map().get(model.lower()) or _map().get(name.lower())
    return entry if entry is not None and entry.get("litellm_provider") == provider else None
