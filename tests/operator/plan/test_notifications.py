"""Notifications: noted in the status before they are sent, once for what happened, until sent or given up."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any, Literal

from tests.operator.fleet import CONFIG, Fleet, SimRun, entry, model

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.outcomes import Outcome
from opsgym_core.notifications.notification import ATTEMPTS, BACKOFF
from opsgym_core.notifications.webhook import DeliveryResult, WebhookRequest
from opsgym_operator.config import NotificationsConfig, OperatorConfig, WebhookConfig
from opsgym_operator.plan.namespace import plan

DESK = WebhookConfig(name="desk", secret="desk-hook", format="json")
PAGER = WebhookConfig(name="pager", secret="pager-hook", events=["stalled", "gate_failed"])
SPEC: dict[str, Any] = {"suite": {"builtin": "quickstart"}, "models": [{"name": "best", "ref": "gpt"}]}


def config(*webhooks: WebhookConfig, default: tuple[str, ...] = ()) -> OperatorConfig:
    notifications = NotificationsConfig(webhooks=list(webhooks), default=list(default))
    return CONFIG.model_copy(update={"notifications": notifications})


def began(
    operator_config: OperatorConfig, *, with_model: bool = True, tasks: int = 1, **fields: Any
) -> tuple[Fleet, SimRun]:
    fleet = Fleet(config=operator_config)
    if with_model:
        fleet.models["gpt"] = model("gpt")
    run = fleet.apply("nightly", EvalRunSpec.model_validate(SPEC | fields), [entry(f"t{n}") for n in range(tasks)])
    fleet.plan()
    return fleet, run


def states(run: SimRun) -> list[tuple[str, str, str]]:
    return [(notification.webhook, notification.event, notification.state) for notification in run.status.notifications]


def answer(
    fleet: Fleet, run: SimRun, outcome: Literal["sent", "again", "failed"], problem: str = "", retry_after: float = 0.0
) -> WebhookRequest:
    """Ends the attempt that was asked for last."""
    request = list(run.requests.values())[-1]
    run.deliveries[request.id] = DeliveryResult(request.id, request.attempt, outcome, problem, retry_after)
    fleet.plan()
    return request


def test_a_finished_run_is_notified_once_with_its_figures() -> None:
    fleet, run = began(config(DESK), notify=["desk"])
    assert run.status.notifications == []
    fleet.run_out()
    assert states(run) == [("desk", "finished", "pending")]
    (request,) = run.requests.values()
    body = json.loads(request.body)
    assert {name: body[name] for name in ("event", "namespace", "name", "run", "progress", "success", "cost")} == {
        "event": "finished",
        "namespace": "team",
        "name": "nightly",
        "run": "team.nightly.uid-nightly",
        "progress": "1/1",
        "success": "100.0%",
        "cost": "$0",
    }
    assert body["text"].startswith("EvalRun team/nightly has ended: 1 of 1 trials are scored")
    answer(fleet, run, "sent")
    fleet.now += timedelta(days=1)
    fleet.plan()
    assert states(run) == [("desk", "finished", "sent")]
    assert (len(run.requests), [(item.event, item.state) for item in run.settled]) == (1, [("finished", "sent")])


def test_a_status_lists_a_notification_in_the_write_that_reports_its_event() -> None:
    fleet, _ = began(config(DESK), notify=["desk"])
    fleet.end_one()
    [desired] = plan(fleet.observed(), fleet.config, fleet.now, "1.0").values()
    assert desired.status is not None
    assert {item.type: item.status for item in desired.status.conditions}["Succeeded"] == "True"
    assert [(notification.id, notification.state) for notification in desired.status.notifications] == [
        (desired.send[0].id, "pending")
    ]


def test_a_restarted_operator_sends_an_unrecorded_notification_again_under_its_id() -> None:
    fleet, run = began(config(DESK), notify=["desk"])
    fleet.run_out()
    (first,) = run.requests.values()
    run.requests.clear()
    run.deliveries.clear()
    fleet.plan()
    assert list(run.requests.values()) == [first]


def test_default_webhooks_are_notified_too_and_each_only_of_its_events() -> None:
    fleet, run = began(
        config(DESK, PAGER, default=("pager",)), tasks=20, notify=["desk", "pager"], gate={"minSuccessRate": 1}
    )
    fleet.ending = lambda *_: (Outcome.FAILED, 0.0)
    fleet.run_out()
    assert sorted(states(run)) == [
        ("desk", "finished", "pending"),
        ("desk", "gate_failed", "pending"),
        ("pager", "gate_failed", "pending"),
    ]
    assert len({notification.id for notification in run.status.notifications}) == 3


def test_an_inconclusive_gate_is_notified_and_a_passed_gate_is_not() -> None:
    fleet, run = began(config(PAGER), notify=["pager"], gate={"minSuccessRate": 0.9})
    fleet.run_out()
    assert states(run) == [("pager", "gate_failed", "pending")]
    (request,) = run.requests.values()
    assert "did not pass its gate (INCONCLUSIVE)" in json.loads(request.body)["text"]
    fleet, run = began(config(PAGER), notify=["pager"], gate={"maxCostUsd": 1})
    fleet.run_out()
    assert states(run) == []


def test_each_stall_is_notified_once() -> None:
    fleet, run = began(config(PAGER), with_model=False, notify=["pager"])
    assert states(run) == [("pager", "stalled", "pending")]
    first = answer(fleet, run, "sent")
    for _ in range(3):
        fleet.now += timedelta(minutes=5)
        fleet.plan()
    assert len(run.requests) == 1
    fleet.models["gpt"] = model("gpt")
    fleet.plan()
    assert states(run) == [], "what is over and states need not be kept"
    del fleet.models["gpt"]
    run.record = None
    fleet.now += timedelta(minutes=5)
    fleet.plan()
    assert states(run) == [("pager", "stalled", "pending")]
    assert list(run.requests.values())[-1].id != first.id


def test_a_notification_is_sent_even_if_its_event_is_over() -> None:
    fleet, run = began(config(PAGER), with_model=False, notify=["pager"])
    fleet.models["gpt"] = model("gpt")
    fleet.plan()
    assert states(run) == [("pager", "stalled", "pending")]
    answer(fleet, run, "sent")
    assert states(run) == []
    assert [(item.event, item.state) for item in run.settled] == [("stalled", "sent")]


def test_a_notification_is_retried_after_delays_and_then_fails() -> None:
    fleet, run = began(config(DESK), notify=["desk"])
    fleet.run_out()
    for attempt in range(1, ATTEMPTS):
        delay = BACKOFF.delay(attempt)
        before = len(run.requests)
        answer(fleet, run, "again", "it answers HTTP 503")
        assert fleet.last[run.uid].requeue_after_s == delay
        fleet.now += timedelta(seconds=delay - 1)
        fleet.plan()
        assert len(run.requests) == before, "not before it is time"
        fleet.now += timedelta(seconds=1)
        fleet.plan()
        assert len(run.requests) == before + 1
    last = answer(fleet, run, "again", "it answers HTTP 503")
    assert (last.attempt, states(run)) == (10, [("desk", "finished", "failed")])
    assert [(item.event, item.state) for item in run.settled] == [("finished", "failed")]
    failed = [event for event in run.events if event.reason == "NotificationFailed"]
    assert [event.message for event in failed] == [
        "webhook desk was not notified of finished after 10 attempts: it answers HTTP 503"
    ]
    assert len({request.id for request in run.requests.values()}) == 1


def test_a_retry_waits_as_long_as_the_receiver_asks() -> None:
    fleet, run = began(config(DESK), notify=["desk"])
    fleet.run_out()
    answer(fleet, run, "again", "it answers HTTP 429", 60)
    assert run.status.notifications[0].retry_at == fleet.now + timedelta(seconds=60)


def test_a_refused_notification_fails_at_once() -> None:
    fleet, run = began(config(DESK), notify=["desk"])
    fleet.run_out()
    answer(fleet, run, "failed", "it refuses the notification (HTTP 404)")
    fleet.now += timedelta(days=1)
    fleet.plan()
    assert (states(run), len(run.requests)) == ([("desk", "finished", "failed")], 1)
    (event,) = [event for event in run.events if event.reason == "NotificationFailed"]
    assert (event.kind, event.message) == (
        "Warning",
        "webhook desk was not notified of finished after 1 attempt: it refuses the notification (HTTP 404)",
    )


def test_a_notification_of_a_removed_webhook_fails() -> None:
    fleet, run = began(config(DESK), notify=["desk"])
    fleet.run_out()
    fleet.config = CONFIG
    fleet.plan()
    assert states(run) == [("desk", "finished", "failed")]


def test_runs_that_ended_before_a_webhook_was_configured_are_not_notified() -> None:
    fleet, run = began(CONFIG)
    fleet.run_out()
    fleet.config = config(DESK, default=("desk",))
    fleet.plan()
    assert (states(run), run.requests) == ([], {})


def test_an_expired_evalrun_stays_until_its_notifications_are_settled() -> None:
    fleet, run = began(config(DESK), notify=["desk"], ttlSecondsAfterFinished=0)
    fleet.run_out()
    fleet.now += timedelta(minutes=1)
    fleet.plan()
    assert not run.gone
    answer(fleet, run, "sent")
    assert run.gone


def test_an_unknown_webhook_is_a_warning_and_the_run_goes_on() -> None:
    fleet, run = began(config(DESK), notify=["desk", "other"])
    assert run.condition("Accepted") == "True WebhookNotFound"
    accepted = next(item for item in run.status.conditions if item.type == "Accepted")
    assert accepted.message == "spec.notify[1]: unknown webhook 'other' is not notified; configured webhooks: desk"
    assert [event.reason for event in run.events if event.kind == "Warning"] == ["WebhookNotFound"]
    fleet.run_out()
    assert states(run) == [("desk", "finished", "pending")], "known webhooks are notified"


def test_a_resumed_run_is_notified_again_at_its_next_end() -> None:
    fleet, run = began(config(DESK), tasks=3, notify=["desk"], budget={"maxUsd": 1})
    fleet.ending = lambda *_: (Outcome.PASSED, 1.0)
    fleet.run_out()
    answer(fleet, run, "sent")
    fleet.now += timedelta(minutes=5)
    fleet.edit(run, budget=EvalRunSpec.model_validate(SPEC | {"budget": {"maxUsd": 9}}).budget)
    fleet.run_out()
    assert states(run) == [("desk", "finished", "pending")]
    assert len({request.id for request in run.requests.values()}) == 2
