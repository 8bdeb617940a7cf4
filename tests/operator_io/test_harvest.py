"""Harvesting of ended pods, with the store on a real S3 server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest
from structlog.testing import capture_logs
from tests.operator_io.material import (
    CELL,
    JOB_TRIALS,
    RUN,
    TRIALS_BY_JOB,
    at,
    ended,
    job,
    pod,
    record,
    score,
    stamp,
    summary,
)

from opsgym_api.jobs.heartbeat import HUNG
from opsgym_api.jobs.job_spec import TrialRef
from opsgym_api.records.attempt import AttemptRecord, TrialId
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.metrics.registry import Metrics
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.mounted import StoreConfig, Stores
from opsgym_core.store.s3 import S3Store
from opsgym_operator.observe.parse import JobTrials
from opsgym_operator.state.harvest import PodHarvester
from opsgym_operator.state.stored_run import read_stored_run

KEY = TrialId(CELL.key, "task-0", 0)
KEYS = RunKeys(RUN).trial(CELL, "task-0", 0)


class Fixture:
    """A harvester over an empty store."""

    def __init__(self, stores: Stores) -> None:
        self.stores = stores
        self.metrics = Metrics()
        self.ledger = AttemptLedger(2)
        self.harvester = PodHarvester(RUN, "results", self.ledger, stores, self.metrics, at(0))

    @property
    def store(self) -> Store:
        return self.stores.get("results")

    def take(
        self,
        pods: list[Any],
        jobs: Any = (),
        *,
        suspended: bool = False,
        trials_by_job: Mapping[str, JobTrials] = TRIALS_BY_JOB,
    ) -> None:
        if self.harvester.observe(pods, jobs, trials_by_job, suspended=suspended):
            asyncio.run(self.harvester.settle())

    def put_trial(self, index: int, outcome: Outcome | None, **fields: Any) -> None:
        """Writes the attempt at a trial, and its score if the outcome is one."""
        keys = RunKeys(RUN).trial(CELL, f"task-{index}", 0)
        if outcome is not None and outcome.scored:
            scored = score(index, outcome=outcome, began=fields.get("began", 10))
            fields.setdefault("cost_usd", scored.cost_usd)
            self.store.put(keys.record, scored.to_json())
        self.store.put(keys.attempt(0), record(index, outcome=outcome, **fields).to_json())

    def outcomes(self) -> list[tuple[Outcome | None, int]]:
        """Outcome and infra errors of each trial."""
        states = [self.ledger.state(TrialId(CELL.key, f"task-{index}", 0)) for index in range(3)]
        return [(state.outcome, state.infra_errors) for state in states]

    def begin(self) -> None:
        self.harvester.load(read_stored_run(self.store, RUN))

    def put(self, item: AttemptRecord) -> None:
        self.store.put(KEYS.attempt(item.attempt), item.to_json())

    def stored(self, attempt: int = 0) -> AttemptRecord:
        content = self.store.get(KEYS.attempt(attempt))
        assert content is not None
        return AttemptRecord.from_json(content)

    def metric(self, name: str, **labels: str) -> float:
        return self.metrics.registry.get_sample_value(name, {**CELL.model_dump(), **labels}) or 0.0


def job_with(part: str, **fields: Any) -> Any:
    """A Job with fields in a part of its manifest."""
    manifest = job()
    return {**manifest, part: {**manifest[part], **fields}}


@pytest.fixture
def fixture(stores: Stores) -> Fixture:
    return Fixture(stores)


def test_a_reported_attempt_is_counted_once(fixture: Fixture) -> None:
    fixture.store.put(KEYS.record, score().to_json())
    reported = pod(agent=ended(message=summary(cost_usd=0.25).to_json().decode()))
    for _ in range(3):
        fixture.take([reported])
    assert fixture.ledger.state(KEY).outcome is Outcome.PASSED
    assert fixture.ledger.spent == pytest.approx(0.25)
    assert fixture.metric("opsgym_trials_total", outcome="passed", reason="") == 1
    assert fixture.metric("opsgym_attempts_total", outcome="passed", reason="") == 1
    assert fixture.metric("opsgym_verifiers_total", category="integrity", passed="true") == 1


@pytest.mark.parametrize("broken", [b"{", b"{}", b'{"version": 99}', b"\xff"])
@pytest.mark.parametrize("of_trial", [False, True])
def test_a_record_that_cannot_be_read_costs_its_trial_and_no_other(
    fixture: Fixture, broken: bytes, of_trial: bool
) -> None:
    store = fixture.store
    keys = RunKeys(RUN).trial(CELL, "task-0", 0)
    fixture.store.put(keys.record if of_trial else keys.attempt(0), broken)
    fixture.put_trial(1, Outcome.PASSED)
    reported = summary(outcome=Outcome.PASSED if of_trial else Outcome.INFRA_ERROR)
    fixture.take([pod(agent=ended(message=reported.to_json().decode())), pod(index=1, uid="u1", agent=ended())])
    (first, _), (second, _), _ = fixture.outcomes()
    assert (first, second) == (Outcome.CONFIG_ERROR, Outcome.PASSED)
    assert fixture.ledger.is_settled(KEY)
    assert fixture.store is store  # its client was not thrown away


@pytest.mark.parametrize("outcome", [Outcome.PASSED, Outcome.FAILED, Outcome.CONFIG_ERROR, Outcome.INFRA_ERROR])
def test_a_termination_message_that_the_store_does_not_confirm_is_not_believed(
    fixture: Fixture, outcome: Outcome
) -> None:
    forged = summary(outcome=outcome, cost_usd=1e6, reason="forged")
    fixture.take([pod(agent=ended(message=forged.to_json().decode()))])
    assert fixture.ledger.state(KEY).outcome is None
    assert not fixture.ledger.is_settled(KEY)
    assert fixture.ledger.spent == 0
    assert fixture.metric("opsgym_attempts_total", outcome=outcome.value, reason="forged") == 0


def test_what_the_store_says_of_an_attempt_counts_and_not_what_the_message_says(fixture: Fixture) -> None:
    fixture.store.put(KEYS.record, score(outcome=Outcome.FAILED).to_json())
    forged = summary(outcome=Outcome.PASSED, cost_usd=1e6)
    fixture.take([pod(agent=ended(message=forged.to_json().decode()))])
    assert fixture.ledger.state(KEY).outcome is Outcome.FAILED
    assert fixture.ledger.spent == pytest.approx(0.25)


def test_an_unscored_attempt_is_taken_from_its_record(fixture: Fixture) -> None:
    fixture.put(record(outcome=Outcome.CONFIG_ERROR, reason="no_gold_actions", cost_usd=0.5))
    forged = summary(outcome=Outcome.CONFIG_ERROR, cost_usd=0)
    fixture.take([pod(agent=ended(message=forged.to_json().decode()))])
    assert fixture.ledger.state(KEY).reason == "no_gold_actions"
    assert fixture.ledger.spent == pytest.approx(0.5)


def test_an_oom_killed_agent_leaves_an_infra_error_with_its_spend(fixture: Fixture) -> None:
    fixture.put(record(cost_usd=0.5))
    fixture.take([pod(phase="Failed", agent=ended(137, reason="OOMKilled"))])
    stored = fixture.stored()
    assert (stored.outcome, stored.reason, stored.cost_usd) == (Outcome.INFRA_ERROR, "runner_error", 0.5)
    assert "container agent was OOMKilled" in stored.message
    assert stored.timings.total_s == 10
    assert fixture.ledger.spent == pytest.approx(0.5)
    assert not fixture.ledger.is_settled(KEY)


def test_a_hung_agent_is_an_infra_error_that_says_so_and_is_tried_again(fixture: Fixture) -> None:
    fixture.put(record(cost_usd=0.5))
    fixture.take([pod(phase="Failed", agent=ended(137, f"{HUNG}no heartbeat", reason="Error"))])
    stored = fixture.stored()
    assert (stored.outcome, stored.reason, stored.cost_usd) == (Outcome.INFRA_ERROR, "hung", 0.5)
    assert stored.message.startswith("container agent hung: its heartbeat stood still for a minute")
    assert fixture.ledger.state(KEY).infra_errors == 1
    assert not fixture.ledger.is_settled(KEY)


def test_an_agent_that_was_late_and_then_out_of_memory_did_not_hang(fixture: Fixture) -> None:
    fixture.put(record())
    fixture.take([pod(phase="Failed", agent=ended(137, f"{HUNG}no heartbeat", reason="OOMKilled"))])
    assert "OOMKilled" in fixture.stored().message


def test_a_score_of_an_agent_that_hung_after_it_stands(fixture: Fixture) -> None:
    fixture.put_trial(0, Outcome.PASSED)
    fixture.take([pod(phase="Failed", agent=ended(137, f"{HUNG}no heartbeat", reason="Error"))])
    assert (fixture.ledger.state(KEY).outcome, fixture.ledger.state(KEY).infra_errors) == (Outcome.PASSED, 0)


def test_a_pod_that_lost_the_store_uses_up_no_infra_retry(fixture: Fixture) -> None:
    for attempt in range(5):
        fixture.put(record(attempt=attempt, began=10 + 100 * attempt))
        began, over = 8 + 100 * attempt, 20 + 100 * attempt
        lost = pod(phase="Failed", agent=ended(102, "connection refused", began=began, over=over), uid=f"p{attempt}")
        fixture.take([lost])
    state = fixture.ledger.state(KEY)
    assert (state.reason, state.infra_errors, state.store_losses) == ("store_lost", 0, 5)
    assert not fixture.ledger.is_settled(KEY)


def test_an_oom_killed_database_loses_the_gym(fixture: Fixture) -> None:
    fixture.put(record())
    postgres = {"name": "postgres", "state": {"running": {}}, "lastState": ended(137, reason="OOMKilled")}
    fixture.take([pod(phase="Failed", agent=ended(1), sidecars=[postgres])])
    assert fixture.stored().reason == "gym_lost"
    assert "container postgres was OOMKilled" in fixture.stored().message


def test_a_vanished_pod_is_finalized_from_the_store(fixture: Fixture) -> None:
    fixture.put(record(cost_usd=0.1))
    fixture.take([pod(phase="Running", agent={"running": {"startedAt": "2026-11-20T12:00:08Z"}})])
    assert fixture.stored().outcome is None
    fixture.take([])
    assert fixture.stored().outcome is Outcome.INFRA_ERROR
    assert fixture.ledger.state(KEY).infra_errors == 1


def test_a_suspended_attempt_is_cancelled_and_costs_no_retry(fixture: Fixture) -> None:
    fixture.put(record(cost_usd=0.1))
    running = pod(phase="Running", agent={"running": {"startedAt": "2026-11-20T12:00:08Z"}})
    fixture.take([running])
    fixture.take([], suspended=True)
    assert fixture.stored().outcome is Outcome.CANCELLED
    assert fixture.ledger.state(KEY).infra_errors == 0
    assert fixture.ledger.spent == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("jobs", "outcome"),
    [
        ([job()], Outcome.INFRA_ERROR),
        ([job_with("spec", suspend=True)], Outcome.CANCELLED),
        ([job_with("metadata", deletionTimestamp="2026-11-20T12:00:09Z")], Outcome.CANCELLED),
        ([], Outcome.CANCELLED),
    ],
    ids=["of a Job that goes on", "suspended", "deleted", "gone"],
)
def test_a_pod_that_is_deleted_with_its_job_is_cancelled_and_costs_no_retry(
    fixture: Fixture, jobs: list[Any], outcome: Outcome
) -> None:
    fixture.put(record(cost_usd=0.1))
    deleted = pod(phase="Running", agent={"running": {"startedAt": "2026-11-20T12:00:08Z"}})
    deleted["metadata"]["deletionTimestamp"] = "2026-11-20T12:00:10Z"
    fixture.take([deleted], jobs)
    fixture.take([], jobs)
    assert fixture.stored().outcome is outcome
    assert fixture.ledger.state(KEY).infra_errors == (outcome is Outcome.INFRA_ERROR)


def test_a_pod_that_failed_before_its_agent_started_is_recorded(fixture: Fixture) -> None:
    gym = {"name": "gym-itsm", "state": ended(1, "no such table"), "lastState": {}}
    fixture.take([pod(phase="Failed", sidecars=[gym])])
    assert fixture.stored().outcome is Outcome.INFRA_ERROR
    assert "container gym-itsm exited with code 1: no such table" in fixture.stored().message


def test_the_attempt_of_a_newer_pod_is_left_alone(fixture: Fixture) -> None:
    fixture.put(record(attempt=0, began=10))
    fixture.put(record(attempt=1, began=60))
    old = pod(phase="Failed", agent=ended(1, began=8, over=20), uid="old")
    new = pod(phase="Running", agent={"running": {"startedAt": "2026-11-20T12:00:58Z"}}, uid="new")
    fixture.take([old, new])
    assert fixture.stored(0).outcome is Outcome.INFRA_ERROR
    assert fixture.stored(1).outcome is None


def test_a_report_of_another_trial_is_ignored(fixture: Fixture) -> None:
    fixture.take([pod(agent=ended(message=summary(index=1).to_json().decode()))])
    assert fixture.ledger.state(TrialId(CELL.key, "task-1", 0)).outcome is None
    assert fixture.ledger.state(KEY).outcome is None


def test_an_index_that_ended_unobserved_is_read_from_the_store(fixture: Fixture) -> None:
    fixture.put(record(outcome=Outcome.CONFIG_ERROR, reason="no_gold_actions"))
    done = job(completed="0", failed="1-2", finished=True)
    fixture.take([], [done])
    assert fixture.ledger.state(KEY).outcome is Outcome.CONFIG_ERROR
    assert fixture.ledger.state(TrialId(CELL.key, "task-2", 0)).outcome is Outcome.INFRA_ERROR
    assert fixture.harvester.is_harvested(done, [])


def test_a_job_is_harvested_once_each_pod_is_in_the_ledger(fixture: Fixture) -> None:
    done = job(completed="0-2", finished=True)
    pods = [pod(n, agent=ended(message=summary(n).to_json().decode())) for n in range(3)]
    late = pod(2, phase="Running", agent={"running": {}})
    fixture.take([*pods[:2], late], [done])
    assert not fixture.harvester.is_harvested(done, [*pods[:2], late])
    fixture.take(pods, [done])
    assert fixture.harvester.is_harvested(done, pods)


def test_a_restart_closes_attempts_without_a_pod(fixture: Fixture) -> None:
    fixture.put(record(attempt=0, cost_usd=0.2))
    fixture.begin()
    assert fixture.ledger.spent == pytest.approx(0.2)
    fixture.take([])
    assert fixture.stored().outcome is Outcome.INFRA_ERROR


def test_a_restart_leaves_attempts_open_whose_pod_runs(fixture: Fixture) -> None:
    fixture.put(record())
    fixture.begin()
    fixture.take([pod(phase="Running", agent={"running": {"startedAt": "2026-11-20T12:00:08Z"}})])
    assert fixture.stored().outcome is None


def test_attempts_before_a_restart_are_not_counted_again(stores: Stores) -> None:
    fixture = Fixture(stores)
    fixture.store.put(KEYS.record, score().to_json())
    fixture.put(record(outcome=Outcome.PASSED))
    later = PodHarvester(RUN, "results", fixture.ledger, stores, fixture.metrics, at(100))
    later.load(read_stored_run(fixture.store, RUN))
    assert fixture.ledger.state(KEY).outcome is Outcome.PASSED
    assert fixture.metric("opsgym_trials_total", outcome="passed", reason="") == 0


def test_an_attempt_without_its_score_is_not_scored(fixture: Fixture) -> None:
    fixture.put(record(outcome=Outcome.PASSED))
    fixture.begin()
    assert fixture.ledger.state(KEY).outcome is Outcome.INFRA_ERROR
    assert fixture.ledger.state(KEY).reason == "store_lost"


def test_the_spend_of_attempts_under_way_is_known(fixture: Fixture) -> None:
    fixture.take([pod(phase="Running", agent={"running": {}})])
    fixture.put(record(cost_usd=0.75))
    asyncio.run(fixture.harvester.record_running())
    assert fixture.ledger.spent == pytest.approx(0.75)


def test_a_store_that_fails_loses_nothing(stores: Stores, store_config: StoreConfig, mounted: Any) -> None:
    away = Stores({"results": store_config.model_copy(update={"url": "s3://no-such-bucket"})}, mounted)
    fixture = Fixture(away)
    silent = pod(phase="Failed", agent=ended(1))
    with pytest.raises(StoreError, match="the bucket does not exist"):
        fixture.take([silent])
    fixture.harvester.stores = fixture.stores = stores
    fixture.take([])
    assert fixture.stored().outcome is Outcome.INFRA_ERROR
    away.close()


def test_missing_credentials_name_the_secret(store_config: StoreConfig, tmp_path: Any) -> None:
    stores = Stores({"results": store_config}, tmp_path / "nothing")
    with pytest.raises(StoreError, match="Secret opsgym-results has no access-key-id"):
        stores.get("results")
    stores.close()


def test_rotated_credentials_are_read_after_a_refusal(stores: Stores, mounted: Any) -> None:
    def fail(_: Store) -> None:
        raise StoreError("results", "k", "refused")

    first = stores.get("results")
    with pytest.raises(StoreError):
        asyncio.run(stores.call("results", fail))
    assert stores.get("results") is not first


def test_an_unscored_attempt_is_logged_without_its_message(fixture: Fixture) -> None:
    with capture_logs() as lines:
        fixture.harvester.record(summary(0))
        fixture.harvester.record(summary(1, 2, Outcome.INFRA_ERROR, reason="model_auth", message="MARK"))
    (line,) = lines
    assert "MARK" not in str(line)
    assert line == {
        "event": "attempt not scored",
        "log_level": "info",
        "run": RUN,
        "cell": CELL.key,
        "task": "task-1",
        "trial": 0,
        "attempt": 2,
        "outcome": "infra_error",
        "reason": "model_auth",
    }


def test_the_breaker_goes_by_the_operators_clock(fixture: Fixture) -> None:
    fixture.harvester.now = lambda: at(30)
    report = summary(outcome=Outcome.INFRA_ERROR, reason="model_quota")
    ahead = replace(report, timings=replace(report.timings, started_at=at(3600).isoformat()))
    fixture.put(AttemptRecord.of(RUN, ahead))
    fixture.take([pod(agent=ended(message=ahead.to_json().decode()))])
    now = at(30).timestamp()
    assert fixture.ledger.used_up_quotas(now)[CELL.model].closes_in(now) == 60


SEVERAL = {"nightly-abc-0": replace(JOB_TRIALS, per_pod=3)}
"""One pod plays all three trials."""


def test_a_pod_of_several_trials_is_read_from_the_store(fixture: Fixture) -> None:
    fixture.put_trial(0, Outcome.PASSED)
    fixture.put_trial(1, Outcome.CONFIG_ERROR, reason="no_gold_actions")
    fixture.put_trial(2, Outcome.FAILED)
    reported = pod(agent=ended(message="3 of 3 trials are done; see their records"))
    for _ in range(2):
        fixture.take([reported], trials_by_job=SEVERAL)
    assert fixture.outcomes() == [(Outcome.PASSED, 0), (Outcome.CONFIG_ERROR, 0), (Outcome.FAILED, 0)]
    assert fixture.metric("opsgym_trials_total", outcome="passed", reason="") == 1


def test_a_trial_that_its_first_attempt_has_scored_costs_one_request(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for index in range(3):
        fixture.put_trial(index, Outcome.PASSED)
    requested: list[str] = []

    def counted(name: str) -> Any:
        method = getattr(S3Store, name)

        def call(store: S3Store, key: str) -> Any:
            requested.append(f"{name} {key}")
            return method(store, key)

        return call

    for name in ("get", "keys"):
        monkeypatch.setattr(S3Store, name, counted(name))
    fixture.take([pod(agent=ended(message="3 of 3 trials are done; see their records"))], trials_by_job=SEVERAL)
    assert fixture.metric("opsgym_verifiers_total", category="integrity", passed="true") == 3
    assert sorted(requested) == [f"get {RunKeys(RUN).trial(CELL, f'task-{index}', 0).record}" for index in range(3)]


def test_pods_of_several_trials_do_not_wait_for_one_another(fixture: Fixture, monkeypatch: pytest.MonkeyPatch) -> None:
    refs = tuple(TrialRef(task_id=f"task-{number}", trial=0) for number in range(6))
    for number in range(6):
        fixture.put_trial(number, Outcome.PASSED)
    firsts = {RunKeys(RUN).trial(CELL, f"task-{number}", 0).record for number in (0, 2, 4)}
    met, get = Barrier(len(firsts), timeout=60), S3Store.get

    def meet(store: S3Store, key: str) -> bytes | None:
        if key in firsts:
            met.wait()
        return get(store, key)

    monkeypatch.setattr(S3Store, "get", meet)
    pods = [pod(uid=f"pod-{index}", index=index, agent=ended(message="2 of 2 trials are done")) for index in range(3)]
    fixture.take(pods, trials_by_job={"nightly-abc-0": JobTrials(CELL, refs, 2)})
    assert fixture.ledger.scored == 6


class CountedStore:
    """A store whose requests are counted."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.requests = 0

    def __getattr__(self, name: str) -> Any:
        self.requests += name in ("get", "put", "put_once", "keys")
        return getattr(self._store, name)


@pytest.mark.parametrize("ended_pod", [True, False])
def test_no_call_that_must_be_prompt_asks_a_store_for_all_trials_of_a_pod(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch, ended_pod: bool
) -> None:
    refs = tuple(TrialRef(task_id=f"task-{number}", trial=0) for number in range(40))
    for number in range(40):
        fixture.put_trial(number, None if number == 39 else Outcome.PASSED, **({"began": 12} if number == 39 else {}))
    counts: list[int] = []
    promptly = Stores.call_promptly

    async def call(self: Stores, name: str, operation: Any, *arguments: Any) -> Any:
        def counted(store: Store, *operands: Any) -> Any:
            spy = CountedStore(store)
            try:
                return operation(spy, *operands)
            finally:
                counts.append(spy.requests)

        return await promptly(self, name, counted, *arguments)

    monkeypatch.setattr(Stores, "call_promptly", call)
    several = {"nightly-abc-0": JobTrials(CELL, refs, 40)}
    agent = ended(137, reason="OOMKilled") if ended_pod else {"running": {}}
    fixture.take([pod(phase="Failed" if ended_pod else "Running", agent=agent)], trials_by_job=several)
    if not ended_pod:
        asyncio.run(fixture.harvester.record_running())
    assert fixture.ledger.scored == 39
    assert max(counts) <= 12


def test_rows_of_scored_trials_are_kept_until_their_chunk_takes_them(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opsgym_operator.state.harvest.MOST_ROWS", 2)
    for index in range(3):
        fixture.put_trial(index, Outcome.PASSED)
    fixture.take([pod(agent=ended(message="3 of 3 trials are done; see their records"))], trials_by_job=SEVERAL)
    assert [row.task_id for row in fixture.harvester.take_rows(JOB_TRIALS)] == ["task-1", "task-2"]
    assert fixture.harvester.take_rows(JOB_TRIALS) == []


def test_a_lost_pod_loses_only_the_trial_that_it_was_at(fixture: Fixture) -> None:
    fixture.put_trial(0, Outcome.PASSED)
    fixture.put_trial(1, None, began=12, cost_usd=0.5)
    fixture.take([pod(phase="Failed", agent=ended(137, reason="OOMKilled"))], trials_by_job=SEVERAL)
    assert fixture.outcomes() == [(Outcome.PASSED, 0), (Outcome.INFRA_ERROR, 1), (None, 0)]
    assert fixture.ledger.spent == pytest.approx(0.75)


def test_a_pod_that_began_no_trial_uses_up_an_attempt_of_each_without_a_score(fixture: Fixture) -> None:
    fixture.put_trial(0, Outcome.PASSED, began=-60)
    fixture.take([pod(phase="Failed", agent=ended(103, "no spec"))], trials_by_job=SEVERAL)
    assert fixture.outcomes() == [(Outcome.PASSED, 0), (Outcome.INFRA_ERROR, 1), (Outcome.INFRA_ERROR, 1)]


def test_the_results_of_a_running_pod_are_known_as_they_come(fixture: Fixture) -> None:
    fixture.take([pod(phase="Running", agent={"running": {}})], trials_by_job=SEVERAL)
    fixture.put_trial(0, Outcome.PASSED)
    fixture.put_trial(1, None, cost_usd=0.5)
    for _ in range(2):
        asyncio.run(fixture.harvester.record_running())
    assert fixture.outcomes() == [(Outcome.PASSED, 0), (None, 0), (None, 0)]
    assert fixture.ledger.spent == pytest.approx(0.75)
    assert fixture.metric("opsgym_trials_total", outcome="passed", reason="") == 1


def test_a_vanished_pod_of_several_trials_keeps_the_results_that_it_had(fixture: Fixture) -> None:
    fixture.take([pod(phase="Running", agent={"running": {"startedAt": stamp(8)}})], trials_by_job=SEVERAL)
    fixture.put_trial(0, Outcome.PASSED)
    fixture.put_trial(1, None, began=12)
    fixture.take([], trials_by_job=SEVERAL)
    assert fixture.outcomes() == [(Outcome.PASSED, 0), (Outcome.INFRA_ERROR, 1), (None, 0)]
