"""When a provider says that a request may be sent again: headers and bodies of error answers.

Invariant: only what the provider states is used. A limit's reset counts only where the limit is used up, since most
answers carry the resets of all limits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from opsgym_runner.models.provider_errors import ProviderError

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def retry_after_s(error: ProviderError, now: datetime) -> float | None:
    """Seconds after which a provider takes the request again; None if it does not say.

    `Retry-After` and `retry-after-ms` decide, then `RetryInfo.retryDelay` in Google's bodies, then the latest reset of
    the limits that are used up (`x-ratelimit-reset-*`, `anthropic-ratelimit-*-reset`).

    Args:
        error: The error answer.
        now: Time of day that a date is compared with.
    """
    named = _milliseconds(error.headers.get("retry-after-ms"))
    if named is None:
        named = parse_retry_after(error.headers.get("retry-after"), now)
    if named is None:
        named = max(_retry_delays(error.body), default=None)
    return max(_resets(error.headers, now), default=None) if named is None else named


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds that a `Retry-After` header names; None if it is missing or not valid.

    Args:
        value: Seconds, or an HTTP date.
        now: Time of day that an HTTP date is compared with.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = _until(moment, now)
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _milliseconds(value: str | None) -> float | None:
    try:
        seconds = float(value) / 1000 if value is not None else math.nan
    except ValueError:
        return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _retry_delays(body: Any) -> Iterator[float]:
    """`retryDelay` of Google's `RetryInfo`, for instance `34.07s`."""
    answer = body[0] if isinstance(body, list) and body else body
    error = answer.get("error") if isinstance(answer, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        seconds = _duration(delay) if isinstance(delay, str) else None
        if seconds is not None:
            yield seconds


def _resets(headers: Mapping[str, str], now: datetime) -> Iterator[float]:
    """Seconds until each used-up limit is reset."""
    for name, value in headers.items():
        if name.startswith("x-ratelimit-reset-"):
            remaining = headers.get(name.replace("-reset-", "-remaining-"))
        elif name.startswith("anthropic-ratelimit-") and name.endswith("-reset"):
            remaining = headers.get(f"{name.removesuffix('-reset')}-remaining")
        else:
            continue
        seconds = _reset(value, now)
        if remaining == "0" and seconds is not None:
            yield max(seconds, 0.0)


def _reset(value: str, now: datetime) -> float | None:
    """A duration (`6m0s`, `1.5`) or a time (`2026-01-05T08:00:30Z`) as seconds from now; None if it is neither."""
    duration = _duration(value if value[-1:].isalpha() else f"{value}s")
    if duration is not None:
        return duration
    try:
        return _until(datetime.fromisoformat(value), now)
    except ValueError:
        return None


def _duration(text: str) -> float | None:
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _until(moment: datetime, now: datetime) -> float:
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
