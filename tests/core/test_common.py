"""Backoff, host names and times that all packages share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from opsgym_core.common.backoff import Backoff
from opsgym_core.common.clock import utc_text
from opsgym_core.common.net import is_loopback


def test_backoff_delays_grow_by_the_factor_up_to_the_maximum() -> None:
    backoff = Backoff(initial_s=5, factor=3, maximum_s=60)
    assert [backoff.delay(attempt) for attempt in (1, 2, 3, 4, 100_000)] == [5, 15, 45, 60, 60]


def test_backoff_jitter_shortens_a_delay_by_at_most_its_share() -> None:
    assert Backoff(initial_s=8, jitter=0.5, draw=lambda: 0.0).delay(2) == 16
    assert Backoff(initial_s=8, jitter=0.5, draw=lambda: 0.5).delay(2) == 12


def test_an_attempt_before_the_first_has_no_delay() -> None:
    with pytest.raises(ValueError, match="counted from 1"):
        Backoff(initial_s=1).delay(0)


@pytest.mark.parametrize("fields", [{"initial_s": -1}, {"initial_s": 9, "maximum_s": 8}, {"initial_s": 1, "jitter": 2}])
def test_an_impossible_backoff_is_rejected(fields: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="not a valid backoff"):
        Backoff(**fields)  # type: ignore[arg-type]


def test_loopback_is_this_machine_only() -> None:
    assert all(map(is_loopback, ("localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "10.0.0.1", "example.org", "localhost.example.org", "")))


def test_times_are_written_in_utc_with_z() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678000, UTC)
    assert utc_text(moment) == "2026-01-02T03:04:05.678000Z"
    assert utc_text(moment.astimezone(timezone(timedelta(hours=2))), "milliseconds") == "2026-01-02T03:04:05.678Z"


def test_a_time_without_zone_is_rejected() -> None:
    with pytest.raises(ValueError, match="time zone"):
        utc_text(datetime(2026, 1, 2))  # noqa: DTZ001
