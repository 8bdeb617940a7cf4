"""Times in the format of records and API objects: RFC 3339, UTC, with the suffix `Z`."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """The current time, timezone-aware UTC."""
    return datetime.now(UTC)


def utc_text(moment: datetime, timespec: str = "auto") -> str:
    """A time in RFC 3339, UTC, with the suffix `Z`.

    Args:
        moment: A timezone-aware time of any zone.
        timespec: Precision, as `datetime.isoformat` takes it, for instance `milliseconds`.

    Raises:
        ValueError: The time has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"a time in a record needs a time zone: {moment.isoformat()}")
    return moment.astimezone(UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


def now_text() -> str:
    """The current time in the format of records: RFC 3339, UTC, with milliseconds."""
    return utc_text(utc_now(), "milliseconds")
