"""Keeps credentials out of everything that is written. Invariant: no text of a provider is passed on unscrubbed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")  # name=value, commas between
_SHORTEST_SECRET = 6  # shorter values of such variables are flags and numbers, and would blot out ordinary words
_SHAPES = re.compile(
    r"(?i)(bearer\s+)\S+|\bsk-[A-Za-z0-9_*-]{6,}"
    r"|([?&](?:[\w-]*key|[\w-]*token|sig|signature|password)=)[^&\s\"']+"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----END)[\s\S])*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
)
_LONGEST_MESSAGE = 1000


def scrub(text: str, secrets: Iterable[str]) -> str:
    """A text without credentials, and not longer than a record should hold.

    Args:
        text: What a provider or a library said.
        secrets: Values known to be secret; those of the environment's secret-looking variables are added.
    """
    text = masked(text, known_secrets(secrets))
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"


def known_secrets(secrets: Iterable[str] = ()) -> list[str]:
    """Values that must not be written, longest first: those given, and those of secret-looking variables."""
    from_environment = (value for name, value in os.environ.items() if _SECRET_NAME.search(name))
    headers = (part.partition("=")[2] for name in _HEADERS for part in os.environ.get(name, "").split(","))
    known = {value for value in (*secrets, *from_environment, *headers) if len(value) >= _SHORTEST_SECRET}
    return sorted(known, key=len, reverse=True)


def masked(value: Any, known: Sequence[str]) -> Any:
    """A value whose texts, at any depth, hold no credential.

    Args:
        value: What JSON can say; other values are masked as the text that they print as.
        known: See `known_secrets`; what looks like a credential is masked besides.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict):
        return {name: masked(part, known) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [masked(part, known) for part in value]
    text = str(value)
    for secret in known:
        text = text.replace(secret, "[secret]")
    return _SHAPES.sub(lambda match: f"{match[1] or match[2] or ''}[secret]", text)
