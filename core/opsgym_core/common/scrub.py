"""Removes credentials from text that is stored or logged.

Invariant: text from a provider or a library is scrubbed before it is stored, logged or shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

from opsgym_core.common.foreign import storable_text

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")  # name=value, commas between
_SHORTEST_SECRET = 6  # shorter values of such variables are flags and numbers, and would mask ordinary words
_SHAPES = re.compile(
    r"(?i)(bearer\s+)\S+|\bsk-[A-Za-z0-9_*-]{6,}"
    r"|([?&](?:[\w-]*key|[\w-]*token|sig|signature|password)=)[^&\s\"']+"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----END)[\s\S])*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
)
_LONGEST_MESSAGE = 1000


def scrub(text: str, secrets: Iterable[str]) -> str:
    """A storable text without credentials, cut to 1,000 characters.

    Args:
        text: Text from a provider or a library.
        secrets: Known secrets; values of environment variables with secret-looking names are added.
    """
    text = mask(storable_text(text), known_secrets(secrets))
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"


def known_secrets(secrets: Iterable[str] = ()) -> list[str]:
    """The given secrets and the values of environment variables with secret-looking names, longest first."""
    from_environment = (value.strip() for name, value in os.environ.items() if _SECRET_NAME.search(name))
    headers = (part.partition("=")[2] for name in _HEADERS for part in os.environ.get(name, "").split(","))
    known = {value for value in (*secrets, *from_environment, *headers) if len(value) >= _SHORTEST_SECRET}
    return sorted(known, key=len, reverse=True)


def mask(value: Any, known: Sequence[str]) -> Any:
    """A value with the credentials in its texts replaced, at any depth.

    Args:
        value: A JSON value; a value of another type is replaced by its masked `str`.
        known: Secrets, see `known_secrets`; texts that look like a credential are replaced too.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict):
        return {name: mask(part, known) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [mask(part, known) for part in value]
    text = str(value)
    for secret in known:
        text = text.replace(secret, "[secret]")
    return _SHAPES.sub(lambda match: f"{match[1] or match[2] or ''}[secret]", text)
