"""`opsgym run --webhook-env`: notifications, their delivery, and that neither affects the run."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path

import pytest
from tests.cli.runs import CELL, put_run, put_trial
from tests.operator_io.webhook import webhook_server

from opsgym.local.webhook import ATTEMPTS, Webhook, notification_of, notify, webhook_of
from opsgym.main import invoke
from opsgym_api.errors import InputError
from opsgym_api.records.gate import GateCheck, GateRecord, Verdict
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_core.common.backoff import Backoff
from opsgym_core.notifications.notification import Notification
from opsgym_core.notifications.webhook import WebhookAddress
from opsgym_core.results.load import load_rows
from opsgym_core.results.score import summarise
from opsgym_core.store.local import LocalStore

AT_ONCE = Backoff(initial_s=0.0)
"""No delay between attempts."""
AT = "2026-01-01T00:00:00Z"


def notification(tmp_path: Path, verdict: Verdict | None = None) -> Notification:
    store = LocalStore(tmp_path)
    put_run(store, "demo.1", [PlannedCell(cell=CELL, task_ids=["a", "b", "c"])])
    put_trial(store, "demo.1", "a", Outcome.PASSED)
    put_trial(store, "demo.1", "b", Outcome.FAILED)
    rows = load_rows(store, "demo.1")
    checks = [
        GateCheck(condition="maxCostUsd", verdict=verdict or "GO", message="cost $0.5000; at most $0.1000 is allowed")
    ]
    gate = GateRecord(run="demo.1", verdict=verdict, checks=checks, decided_at=AT) if verdict else None
    return notification_of(rows.run, summarise(rows), gate, "./results", AT)


def test_a_notification_has_the_numbers_of_the_run(tmp_path: Path) -> None:
    sent = notification(tmp_path)
    assert (sent.event, sent.run, sent.name, sent.namespace) == ("finished", "demo.1", "demo", "")
    covered = "50.0% (33.3–66.7% with 1 of 3 not scored)"
    assert (sent.progress, sent.success, sent.cost, sent.gate) == ("2/3", covered, "$0.5000", "")
    assert sent.text == f"EvalRun demo has ended: 2/3 trials are scored, {covered} success, spent $0.5000"


@pytest.mark.parametrize(
    ("verdict", "event"), [("GO", "finished"), ("NO-GO", "gate_failed"), ("INCONCLUSIVE", "gate_failed")]
)
def test_a_gate_that_does_not_say_go_is_the_event(tmp_path: Path, verdict: Verdict, event: str) -> None:
    sent = notification(tmp_path, verdict)
    assert (sent.event, sent.gate) == (event, verdict)
    assert ("at most $0.1000 is allowed" in sent.message) == (event == "gate_failed")


def test_json_is_signed_and_slack_gets_its_own_format(tmp_path: Path) -> None:
    with webhook_server((500, {})) as server:
        given = {"HOOK": server.url, "OPSGYM_WEBHOOK_SECRET": "key"}
        result = notify(webhook_of("HOOK", given), notification(tmp_path), AT_ONCE)
        assert (result.outcome, result.problem, result.attempt) == ("sent", "", 2)
    first, second = server.received
    assert Notification.model_validate_json(second.body) == notification(tmp_path)
    assert first.headers["X-Opsgym-Notification-Id"] == second.headers["X-Opsgym-Notification-Id"]
    stamp, _, digest = second.headers["X-Opsgym-Signature"].removeprefix("t=").partition(",v1=")
    assert digest == hmac.new(b"key", stamp.encode() + b"." + second.body, hashlib.sha256).hexdigest()
    slack = webhook_of("HOOK", {"HOOK": "https://hooks.slack.com/services/x"})
    assert (slack.format, slack.address.secret) == ("slack", None)
    with webhook_server() as server:
        assert notify(Webhook(WebhookAddress(server.url, None), "slack"), notification(tmp_path)).outcome == "sent"
    assert sorted(json.loads(server.received[0].body)) == ["blocks", "text"]


def test_a_refused_notification_is_not_repeated_and_a_failed_one_is_a_few_times(tmp_path: Path) -> None:
    with webhook_server((404, {})) as server:
        result = notify(Webhook(WebhookAddress(server.url, None), "json"), notification(tmp_path), AT_ONCE)
    assert (len(server.received), result.outcome) == (1, "failed")
    assert result.problem.startswith("it refuses the notification (HTTP 404)")
    with webhook_server(*[(503, {})] * 9) as server:
        result = notify(Webhook(WebhookAddress(server.url, None), "json"), notification(tmp_path), AT_ONCE)
    assert (result.outcome, result.problem) == ("again", "it answers HTTP 503")
    assert len(server.received) == ATTEMPTS


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "--webhook-env: the environment variable HOOK is not set; set it to the webhook's URL"),
        ({"HOOK": "http://example.com/secret-part"}, "--webhook-env: the address in HOOK: is http; "),
        ({"HOOK": "secret-part"}, "--webhook-env: the address in HOOK: is not a valid URL"),
    ],
)
def test_an_invalid_url_is_refused_and_not_printed(given: dict[str, str], problem: str) -> None:
    with pytest.raises(InputError) as refused:
        webhook_of("HOOK", given)
    assert str(refused.value).startswith(problem)
    assert "secret-part" not in str(refused.value)


EVALRUN = """
apiVersion: opsgym.dev/v1alpha1
kind: EvalRun
metadata: {name: quick}
spec:
  suite: {builtin: quickstart, limit: 1, domains: [itsm]}
  models: [{name: gold, inline: {model: replay/gold}}]
"""


def test_a_notification_that_cannot_be_delivered_changes_nothing_about_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(EVALRUN)
    run = ["run", str(file), "--store", str(tmp_path / "results"), "--format", "json"]
    assert invoke([*run, "--webhook-env", "HOOK"]) == 2
    assert "the environment variable HOOK is not set" in capsys.readouterr().err
    without = invoke(run)
    assert without == 0
    capsys.readouterr()
    with webhook_server((404, {})) as server:
        monkeypatch.setenv("HOOK", server.url)
        assert invoke([*run, "--webhook-env", "HOOK"]) == without
    output = capsys.readouterr()
    assert "the webhook was not notified: it refuses the notification (HTTP 404)" in output.err
    assert "secret-part" not in output.out + output.err
    assert len(output.out.splitlines()) == 1
    file.write_text(f"{EVALRUN}  suspend: true\n")
    with webhook_server() as server:
        monkeypatch.setenv("HOOK", server.url)
        invoke([*run, "--webhook-env", "HOOK"])
    assert server.received == [], "a suspended run has not ended"
