"""Notices: noted in the status before they are sent, once for what happened, until sent or given up."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any, Literal

from tests.operator.fleet import CONFIG, Fleet, SimRun, entry, model

from opsgym_api.evalrun import EvalRunSpec
from opsgym_api.notices import PAUSES_S
from opsgym_api.outcomes import Outcome
from opsgym_operator.config import NotificationsConfig, OperatorConfig, WebhookConfig
from opsgym_operator.desired import Delivery, Letter

DESK = WebhookConfig(name="desk", secret="desk-hook", format="json")
PAGER = WebhookConfig(name="pager", secret="pager-hook", events=["stalled", "gate_failed"])
SPEC: dict[str, Any] = {"suite": {"builtin": "quickstart"}, "models": [{"name": "best", "ref": "gpt"}]}


def config(*webhooks: WebhookConfig, default: tuple[str, ...] = ()) -> OperatorConfig:
    notifications = NotificationsConfig(webhooks=list(webhooks), default=list(default))
    return CONFIG.model_copy(update={"notifications": notifications})


def began(found: OperatorConfig, *, there: bool = True, tasks: int = 1, **fields: Any) -> tuple[Fleet, SimRun]:
    fleet = Fleet(config=found)
    if there:
        fleet.models["gpt"] = model("gpt")
    run = fleet.apply("nightly", EvalRunSpec.model_validate(SPEC | fields), [entry(f"t{n}") for n in range(tasks)])
    fleet.plan()
    return fleet, run


def told(run: SimRun) -> list[tuple[str, str, str]]:
    return [(notice.webhook, notice.event, notice.state) for notice in run.status.notices]


def answer(
    fleet: Fleet, run: SimRun, outcome: Literal["sent", "again", "failed"], problem: str = "", retry_after: float = 0.0
) -> Letter:
    """Ends the attempt that was asked for last."""
    letter = list(run.letters.values())[-1]
    run.deliveries[letter.id] = Delivery(letter.id, letter.attempt, outcome, problem, retry_after)
    fleet.plan()
    return letter


def test_a_run_that_ends_is_told_of_once_with_its_numbers() -> None:
    fleet, run = began(config(DESK), notify=["desk"])
    assert run.status.notices == []
    fleet.run_out()
    assert told(run) == [("desk", "finished", "pending")]
    (letter,) = run.letters.values()
    body = json.loads(letter.body)
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
    assert told(run) == [("desk", "finished", "sent")]
    assert (len(run.letters), [(item.event, item.state) for item in run.told]) == (1, [("finished", "sent")])


def test_the_status_holds_a_notice_in_the_write_that_tells_what_happened() -> None:
    fleet, run = began(config(DESK), notify=["desk"])
    fleet.end_one()
    desired = fleet.plan()[run.uid]
    assert desired.status is not None
    assert {found.type: found.status for found in desired.status.conditions}["Succeeded"] == "True"
    assert [(notice.id, notice.state) for notice in desired.status.notices] == [(desired.send[0].id, "pending")]


def test_an_operator_that_died_before_it_noted_that_a_notice_was_sent_sends_it_again_under_the_same_id() -> None:
    fleet, run = began(config(DESK), notify=["desk"])
    fleet.run_out()
    (first,) = run.letters.values()
    run.letters.clear()
    run.deliveries.clear()
    fleet.plan()
    assert list(run.letters.values()) == [first]


def test_webhooks_of_every_run_are_told_too_and_each_only_what_it_wants() -> None:
    fleet, run = began(
        config(DESK, PAGER, default=("pager",)), tasks=20, notify=["desk", "pager"], gate={"minSuccessRate": 1}
    )
    fleet.ending = lambda *_: (Outcome.FAILED, 0.0)
    fleet.run_out()
    assert sorted(told(run)) == [
        ("desk", "finished", "pending"),
        ("desk", "gate_failed", "pending"),
        ("pager", "gate_failed", "pending"),
    ]
    assert len({notice.id for notice in run.status.notices}) == 3


def test_an_inconclusive_gate_is_told_of_and_a_gate_that_holds_is_not() -> None:
    fleet, run = began(config(PAGER), notify=["pager"], gate={"minSuccessRate": 0.9})
    fleet.run_out()
    assert told(run) == [("pager", "gate_failed", "pending")]
    (letter,) = run.letters.values()
    assert "did not pass its gate (INCONCLUSIVE)" in json.loads(letter.body)["text"]
    fleet, run = began(config(PAGER), notify=["pager"], gate={"maxCostUsd": 1})
    fleet.run_out()
    assert told(run) == []


def test_a_stall_is_told_of_once_and_the_next_one_again() -> None:
    fleet, run = began(config(PAGER), there=False, notify=["pager"])
    assert told(run) == [("pager", "stalled", "pending")]
    first = answer(fleet, run, "sent")
    for _ in range(3):
        fleet.now += timedelta(minutes=5)
        fleet.plan()
    assert len(run.letters) == 1
    fleet.models["gpt"] = model("gpt")
    fleet.plan()
    assert told(run) == [], "what is over and told need not be kept"
    del fleet.models["gpt"]
    run.record = None
    fleet.now += timedelta(minutes=5)
    fleet.plan()
    assert told(run) == [("pager", "stalled", "pending")]
    assert list(run.letters.values())[-1].id != first.id


def test_a_notice_is_sent_though_what_it_tells_of_is_over() -> None:
    fleet, run = began(config(PAGER), there=False, notify=["pager"])
    fleet.models["gpt"] = model("gpt")
    fleet.plan()
    assert told(run) == [("pager", "stalled", "pending")]
    answer(fleet, run, "sent")
    assert told(run) == []
    assert [(item.event, item.state) for item in run.told] == [("stalled", "sent")]


def test_a_notice_is_sent_again_after_pauses_and_then_given_up() -> None:
    fleet, run = began(config(DESK), notify=["desk"])
    fleet.run_out()
    for pause in PAUSES_S:
        before = len(run.letters)
        answer(fleet, run, "again", "it answers HTTP 503")
        assert fleet.last[run.uid].again_s == pause
        fleet.now += timedelta(seconds=pause - 1)
        fleet.plan()
        assert len(run.letters) == before, "not before it is time"
        fleet.now += timedelta(seconds=1)
        fleet.plan()
        assert len(run.letters) == before + 1
    last = answer(fleet, run, "again", "it answers HTTP 503")
    assert (last.attempt, told(run)) == (10, [("desk", "finished", "failed")])
    assert [(item.event, item.state) for item in run.told] == [("finished", "failed")]
    failed = [event for event in run.events if event.reason == "NoticeFailed"]
    assert [event.message for event in failed] == [
        "webhook desk was not told of finished in 10 attempts: it answers HTTP 503"
    ]
    assert len({letter.id for letter in run.letters.values()}) == 1


def test_a_receiver_is_left_alone_as_long_as_it_asks() -> None:
    fleet, run = began(config(DESK), notify=["desk"])
    fleet.run_out()
    answer(fleet, run, "again", "it answers HTTP 429", 60)
    assert run.status.notices[0].retry_at == fleet.now + timedelta(seconds=60)


def test_a_refusal_is_told_at_once_and_not_tried_again() -> None:
    fleet, run = began(config(DESK), notify=["desk"])
    fleet.run_out()
    answer(fleet, run, "failed", "it refuses the notice (HTTP 404)")
    fleet.now += timedelta(days=1)
    fleet.plan()
    assert (told(run), len(run.letters)) == ([("desk", "finished", "failed")], 1)
    (event,) = [event for event in run.events if event.reason == "NoticeFailed"]
    assert (event.kind, event.message) == (
        "Warning",
        "webhook desk was not told of finished in 1 attempt: it refuses the notice (HTTP 404)",
    )


def test_a_webhook_that_was_taken_away_meanwhile_is_given_up() -> None:
    fleet, run = began(config(DESK), notify=["desk"])
    fleet.run_out()
    fleet.config = CONFIG
    fleet.plan()
    assert told(run) == [("desk", "finished", "failed")]


def test_runs_that_had_ended_before_there_were_webhooks_are_not_told_of() -> None:
    fleet, run = began(CONFIG)
    fleet.run_out()
    fleet.config = config(DESK, default=("desk",))
    fleet.plan()
    assert (told(run), run.letters) == ([], {})


def test_an_evalrun_that_is_to_go_stays_until_it_was_told_of() -> None:
    fleet, run = began(config(DESK), notify=["desk"], ttlSecondsAfterFinished=0)
    fleet.run_out()
    fleet.now += timedelta(minutes=1)
    fleet.plan()
    assert not run.gone
    answer(fleet, run, "sent")
    assert run.gone


def test_a_webhook_that_the_installation_does_not_have_stalls_the_run() -> None:
    _, run = began(config(DESK), notify=["desk", "other"])
    assert run.condition("Stalled") == "True WebhookNotFound"
    stalled = next(found for found in run.status.conditions if found.type == "Stalled")
    assert stalled.message == "spec.notify[1]: 'other' is no webhook of this installation; webhooks: desk"
    assert told(run) == [("desk", "stalled", "pending")], "those that there are can be told"


def test_a_run_that_goes_on_is_told_of_again_at_its_next_end() -> None:
    fleet, run = began(config(DESK), tasks=3, notify=["desk"], budget={"maxUsd": 1})
    fleet.ending = lambda *_: (Outcome.PASSED, 1.0)
    fleet.run_out()
    answer(fleet, run, "sent")
    fleet.now += timedelta(minutes=5)
    fleet.edit(run, budget=EvalRunSpec.model_validate(SPEC | {"budget": {"maxUsd": 9}}).budget)
    fleet.run_out()
    assert told(run) == [("desk", "finished", "pending")]
    assert len({letter.id for letter in run.letters.values()}) == 2
