"""`opsgym run --webhook-env`: who is told, and that it changes nothing of the run."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path

import pytest
from tests.cli.runs import CELL, put_run, put_trial
from tests.operator_io.webhook import webhook_server

from opsgym.local.notify import Webhook, notice_of, tell, webhook_of
from opsgym.main import invoke
from opsgym_api.errors import InputError
from opsgym_api.notices import Notice
from opsgym_api.outcomes import Outcome
from opsgym_api.records import GateCheck, GateRecord, PlannedCell, Verdict
from opsgym_api.results import load_rows
from opsgym_api.scores import summarise
from opsgym_api.store import LocalStore
from opsgym_operator.sending import Address

AT = "2026-01-01T00:00:00Z"


def notice(tmp_path: Path, verdict: Verdict | None = None) -> Notice:
    store = LocalStore(tmp_path)
    put_run(store, "demo.1", [PlannedCell(cell=CELL, task_ids=["a", "b", "c"])])
    put_trial(store, "demo.1", "a", Outcome.PASSED)
    put_trial(store, "demo.1", "b", Outcome.FAILED)
    rows = load_rows(store, "demo.1")
    checks = [
        GateCheck(condition="maxCostUsd", verdict=verdict or "GO", told="cost $0.5000; at most $0.1000 is allowed")
    ]
    gate = GateRecord(run="demo.1", verdict=verdict, checks=checks, decided_at=AT) if verdict else None
    return notice_of(rows.run, summarise(rows), gate, "./results", AT)


def test_a_notice_has_the_runs_numbers(tmp_path: Path) -> None:
    found = notice(tmp_path)
    assert (found.event, found.run, found.name, found.namespace) == ("finished", "demo.1", "demo", "")
    assert (found.progress, found.success, found.cost, found.gate) == ("2/3", "50.0%", "$0.5000", "")
    assert found.text == "EvalRun demo has ended: 2/3 trials are scored, 50.0% success, spent $0.5000"


@pytest.mark.parametrize(
    ("verdict", "event"), [("GO", "finished"), ("NO-GO", "gate_failed"), ("INCONCLUSIVE", "gate_failed")]
)
def test_a_gate_that_does_not_say_go_is_what_is_told(tmp_path: Path, verdict: Verdict, event: str) -> None:
    found = notice(tmp_path, verdict)
    assert (found.event, found.gate) == (event, verdict)
    assert ("at most $0.1000 is allowed" in found.message) == (event == "gate_failed")


def test_a_program_gets_signed_json_and_slack_its_own(tmp_path: Path) -> None:
    with webhook_server((500, {})) as server:
        given = {"HOOK": server.url, "OPSGYM_WEBHOOK_SECRET": "key"}
        assert tell(webhook_of("HOOK", given), notice(tmp_path), pauses=(0.0,)) == ""
    first, second = server.received
    assert Notice.model_validate_json(second.body) == notice(tmp_path)
    assert first.headers["X-Opsgym-Notice-Id"] == second.headers["X-Opsgym-Notice-Id"]
    stamp, _, digest = second.headers["X-Opsgym-Signature"].removeprefix("t=").partition(",v1=")
    assert digest == hmac.new(b"key", stamp.encode() + b"." + second.body, hashlib.sha256).hexdigest()
    slack = webhook_of("HOOK", {"HOOK": "https://hooks.slack.com/services/x"})
    assert (slack.form, slack.address.secret) == ("slack", None)
    with webhook_server() as server:
        assert tell(Webhook(Address(server.url, None), "slack"), notice(tmp_path)) == ""
    assert sorted(json.loads(server.received[0].body)) == ["blocks", "text"]


def test_who_refuses_is_not_asked_again_and_who_fails_is_a_few_times(tmp_path: Path) -> None:
    with webhook_server((404, {})) as server:
        problem = tell(Webhook(Address(server.url, None), "json"), notice(tmp_path), pauses=(0.0, 0.0))
    assert (len(server.received), problem.startswith("it refuses the notice (HTTP 404)")) == (1, True)
    with webhook_server(*[(503, {})] * 9) as server:
        assert tell(Webhook(Address(server.url, None), "json"), notice(tmp_path), pauses=(0.0, 0.0)) == (
            "it answers HTTP 503"
        )
    assert len(server.received) == 3


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "--webhook-env: the variable HOOK is not set; it holds the address"),
        ({"HOOK": "http://example.com/secret-part"}, "--webhook-env: the address in HOOK: is http; "),
        ({"HOOK": "secret-part"}, "--webhook-env: the address in HOOK: is no address"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_being_repeated(given: dict[str, str], problem: str) -> None:
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


def test_a_webhook_that_cannot_be_told_changes_nothing_of_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(EVALRUN)
    run = ["run", str(file), "--store", str(tmp_path / "results"), "--json"]
    assert invoke([*run, "--webhook-env", "HOOK"]) == 2
    assert "the variable HOOK is not set" in capsys.readouterr().err
    without = invoke(run)
    assert without == 0
    capsys.readouterr()
    with webhook_server((404, {})) as server:
        monkeypatch.setenv("HOOK", server.url)
        assert invoke([*run, "--webhook-env", "HOOK"]) == without
    found = capsys.readouterr()
    assert "the webhook was not told: it refuses the notice (HTTP 404)" in found.err
    assert "secret-part" not in found.out + found.err
    assert len(found.out.splitlines()) == 1
    file.write_text(f"{EVALRUN}  suspend: true\n")
    with webhook_server() as server:
        monkeypatch.setenv("HOOK", server.url)
        invoke([*run, "--webhook-env", "HOOK"])
    assert server.received == [], "a run that is suspended has not ended"
