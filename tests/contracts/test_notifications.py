"""Bodies of notifications, their signatures, their URLs and the pauses between deliveries."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from opsgym_api.errors import InputError
from opsgym_api.kinds.evalrun import Condition, EvalRunStatus
from opsgym_core.notifications.notification import (
    Notification,
    body_of,
    events_of,
    headers_of,
    next_attempt_at,
    notification_id,
    require_safe,
    signature,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NOTIFICATION = Notification(
    id="1f",
    event="gate_failed",
    at="2026-01-01T00:00:00Z",
    text="EvalRun team/nightly did not pass its gate (NO-GO): cost <$3> & more",
    run="team.nightly.0123",
    name="nightly",
    namespace="team",
    schedule="nightly",
    reason="GateFailed",
    message="cost <$3> & more",
    progress="18/24",
    success="37.5%",
    cost="$3.00",
    gate="NO-GO",
    results="s3://bucket/runs/team.nightly.0123",
)


def status(gate: str | None = None, **conditions: str) -> EvalRunStatus:
    given = [
        Condition.model_validate(
            {"type": kind, "status": state, "reason": "Why", "message": f"{kind} {state}", "lastTransitionTime": NOW}
        )
        for kind, state in conditions.items()
    ]
    return EvalRunStatus(conditions=given, gate=gate)


@pytest.mark.parametrize(
    ("status_of_run", "events"),
    [
        (status(), []),
        (status(Succeeded="Unknown", Stalled="False"), []),
        (status(Succeeded="Unknown", Stalled="True"), ["stalled"]),
        (status(Succeeded="True", Stalled="False"), ["finished"]),
        (status(Succeeded="False", Stalled="False"), ["finished"]),
        (status("GO", Succeeded="True", GatePassed="True"), ["finished"]),
        (status("NO-GO", Succeeded="True", GatePassed="False"), ["finished", "gate_failed"]),
        (status("INCONCLUSIVE", Succeeded="True", GatePassed="Unknown"), ["finished", "gate_failed"]),
        (status(None, Succeeded="Unknown", GatePassed="Unknown"), []),
    ],
)
def test_notifications_follow_from_the_conditions_of_a_run(status_of_run: EvalRunStatus, events: list[str]) -> None:
    assert [notification.event for notification in events_of(status_of_run)] == events


def test_the_json_body_is_the_notification() -> None:
    body = json.loads(body_of(NOTIFICATION, "json"))
    assert Notification.model_validate(body) == NOTIFICATION
    assert (body["version"], body["event"], body["gate"]) == (1, "gate_failed", "NO-GO")


def test_a_slack_body_has_text_and_blocks_with_mentions_escaped() -> None:
    body = json.loads(body_of(NOTIFICATION, "slack"))
    assert sorted(body) == ["blocks", "text"]
    assert body["text"].endswith("cost &lt;$3&gt; &amp; more")
    assert [block["type"] for block in body["blocks"]] == ["header", "section", "section", "context"]
    assert body["blocks"][0]["text"] == {"type": "plain_text", "text": "team/nightly: gate says NO-GO"}
    assert body["blocks"][1]["text"]["text"] == "cost &lt;$3&gt; &amp; more"
    assert [field["text"] for field in body["blocks"][2]["fields"]] == [
        "*Scored*\n18/24", "*Success*\n37.5%", "*Cost*\n$3.00", "*Gate*\nNO-GO",
    ]  # fmt: skip


def test_a_slack_body_stays_within_its_length_limits() -> None:
    long = NOTIFICATION.model_copy(update={"name": "n" * 63, "namespace": "s" * 63, "message": "<" * 5000})
    bare = Notification(id="1", event="stalled", at="", text="t", run="r", name="n")
    for notification in (long, bare):
        for block in json.loads(body_of(notification, "slack"))["blocks"]:
            text = block.get("text", {}).get("text", "x")
            assert 0 < len(text) <= (150 if block["type"] == "header" else 4000)
            assert len(block.get("fields", [])) <= 10


def reader(secret: bytes, header: str, body: bytes, *, now: int, tolerance: int = 300) -> bool:
    """Checks a signature as docs/gates.md tells receivers to."""
    parts = dict(part.split("=", 1) for part in header.split(","))
    expected = hmac.new(secret, parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(parts["v1"], expected) and abs(now - int(parts["t"])) <= tolerance


def test_the_signature_verifies_with_the_secret_only() -> None:
    header = signature(b"key", b"body", 1000)
    assert reader(b"key", header, b"body", now=1001)
    assert not reader(b"key", header, b"body!", now=1001)
    assert not reader(b"other", header, b"body", now=1001)
    assert not reader(b"key", header, b"body", now=2000), "an old one may have been recorded"
    assert not reader(b"key", header.replace("t=1000", "t=1999"), b"body", now=2000)


def test_headers_name_the_notification_and_are_signed_only_with_a_secret() -> None:
    headers = headers_of("1f", "finished", b"{}", None, 1)
    assert headers == {
        "Content-Type": "application/json", "X-Opsgym-Notification-Id": "1f", "X-Opsgym-Event": "finished",
    }  # fmt: skip
    assert headers_of("1f", "finished", b"{}", b"k", 1)["X-Opsgym-Signature"] == signature(b"k", b"{}", 1)


def test_a_notification_id_depends_on_run_webhook_event_and_time() -> None:
    given: list[tuple[Any, ...]] = [
        ("r", "w", "finished", NOW),
        ("s", "w", "finished", NOW),
        ("r", "v", "finished", NOW),
        ("r", "w", "stalled", NOW),
        ("r", "w", "finished", NOW + timedelta(seconds=1)),
    ]
    assert len({notification_id(*fields) for fields in given}) == len(given)
    assert notification_id(*given[0]) == notification_id(*given[0])


def test_ten_attempts_take_a_little_more_than_an_hour() -> None:
    due = [next_attempt_at(attempts, 0, NOW) for attempts in range(1, 11)]
    delays = [(at - NOW).total_seconds() for at in due if at is not None]
    assert len(delays) == 9
    assert delays == sorted(delays)
    assert 3600 <= sum(delays) <= 4000
    assert due[-1] is None


@pytest.mark.parametrize(("retry_after", "wait"), [(0, 5), (2, 5), (60, 60), (10**9, 900)])
def test_a_delay_that_a_receiver_requests_is_kept_within_bounds(retry_after: float, wait: float) -> None:
    assert next_attempt_at(1, retry_after, NOW) == NOW + timedelta(seconds=wait)


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.slack.com/services/T0/B0/xyz",
        "http://alerts.desk.svc/hook",
        "http://alerts.desk.svc.cluster.local:8080/hook",
        "http://alerts:8080/hook",
        "http://127.0.0.1:8080/hook",
        "http://[::1]/hook",
    ],
)
def test_https_urls_and_urls_inside_the_cluster_are_allowed(url: str) -> None:
    require_safe(url, "here")


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/secret-part",
        "http://10.0.0.1/secret-part",
        "http://svc.example.com/secret-part",
        "ftp://alerts.desk.svc/secret-part",
        "https:///secret-part",
        "http://[::1/secret-part",
        "secret-part",
        "",
    ],
)
def test_other_urls_are_refused_without_quoting_them(url: str) -> None:
    with pytest.raises(InputError) as refused:
        require_safe(url, "url of Secret hooks")
    assert str(refused.value).startswith("url of Secret hooks: is ")
    assert "secret-part" not in str(refused.value)
