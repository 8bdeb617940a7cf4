"""A task pod's main container: from its job spec to its exit code, termination message and stored objects."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from starlette.responses import Response
from tests.pods.pod import CELL, KEY, RUN, Ended, Pod, hosted, job_spec, model, until
from tests.runner.jobs import ROW
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym
from tests.runner.stub_model import StubModel, calls, refuses, says

from opsgym_api.jobs.exit_codes import Exit
from opsgym_api.jobs.job_spec import MESSAGE_BYTES, JobSpec
from opsgym_api.records.attempt import AttemptRecord, Timings
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.suite import FrozenTask
from opsgym_core.store.local import LocalStore
from opsgym_core.store.sealed import SEALED_ERROR, SEALED_MESSAGE, SealedStore
from opsgym_domains.kit.admin_token import AdminToken, new_token
from opsgym_runner.pod.message import summary_of
from opsgym_runner.pod.retrying_store import RetryingStore
from opsgym_runner.pod.task import MOST_CUT_OFF, TaskPod
from opsgym_runner.recording.seal import AesSeal
from opsgym_runner.tracing.tracer import Tracing

NOWHERE = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("spec", "environment", "message"),
    [
        (None, {}, "OPSGYM_JOB_SPEC: {folder}/job_spec.json cannot be read: No such file or directory"),
        ("{", {}, "OPSGYM_JOB_SPEC: {folder}/job_spec.json: invalid JSON"),
        ("{}", {}, "OPSGYM_JOB_SPEC: {folder}/job_spec.json: run: is required"),
        (job_spec(NOWHERE, trials=[]), {}, "trials: must have at least 1 items, found 0"),
        (job_spec(NOWHERE, version=2), {}, "is of version 2, this runner reads 1; use images of one release"),
        (job_spec(NOWHERE), {"OPSGYM_JOB_SPEC": ""}, "the environment variable OPSGYM_JOB_SPEC is not set"),
        (job_spec(NOWHERE), {"JOB_COMPLETION_INDEX": ""}, "the environment variable JOB_COMPLETION_INDEX is not set"),
        (job_spec(NOWHERE), {"JOB_COMPLETION_INDEX": "1"}, "is '1'; the job spec has pods 0 to 0"),
        (job_spec(NOWHERE), {"JOB_COMPLETION_INDEX": "-1"}, "is '-1'; the job spec has pods 0 to 0"),
        (job_spec(NOWHERE), {"JOB_COMPLETION_INDEX": "first"}, "is 'first'; the job spec has pods 0 to 0"),
        (job_spec(NOWHERE), {"OPSGYM_STORE": ""}, "the environment variable OPSGYM_STORE is not set"),
        (
            job_spec(NOWHERE, admin_token_files={"notes": "/took/it"}),
            {},
            "admin token of gym notes: /took/it cannot be read: No such file or directory",
        ),
        (job_spec(NOWHERE, admin_token_files={"notes": "/dev/null"}), {}, "gym notes: /dev/null is empty"),
        (job_spec(NOWHERE), {"OPSGYM_STORE": "gs://x"}, "OPSGYM_STORE: gs://x: store: unknown kind of store gs://"),
    ],
)
def test_an_unusable_job_spec_is_named_and_nothing_is_started(
    pod: Pod, spec: Any, environment: dict[str, str], message: str
) -> None:
    ended = pod.task(spec, **environment)

    assert ended.code == Exit.NO_JOB_SPEC
    assert message.format(folder=pod.folder) in ended.message.decode()
    assert ended.log[-1]["error"] == ended.message.decode()
    assert list(pod.store.keys("")) == []


@pytest.mark.parametrize(
    ("row", "seed", "fields", "code", "outcome", "message"),
    [
        (
            None,
            None,
            {},
            Exit.STORE_LOST,
            "infra_error/store_lost",
            "object runs/team.demo.0a1b/suite/tasks/rename-first.json is missing",
        ),
        ({"task_id": "rename-first"}, "", {}, Exit.DONE, "config_error/invalid_row", "user_prompt: is required"),
        (ROW, None, {}, Exit.DONE, "config_error/seed_not_found", "gym server notes: "),
        (ROW, "", {"gyms": {}}, Exit.DONE, "config_error/unknown_gym", "'notes'; known: none"),
        (
            ROW,
            "",
            {"model": hosted(NOWHERE)},
            Exit.INFRA_ERROR,
            "infra_error/model_auth",
            "the key of model m is empty",
        ),
        (ROW, "", {"model": model("replay/took/it.jsonl")}, Exit.DONE, "config_error/no_recording", "/took/it.jsonl"),
        (ROW, "", {}, Exit.INFRA_ERROR, "infra_error/gym_lost", "gym notes at http://127.0.0.1:9 cannot be reached"),
    ],
)
def test_the_reason_for_an_unscored_attempt_is_recorded_with_its_exit_code(
    pod: Pod, row: Any, seed: str | None, fields: dict[str, Any], code: Exit, outcome: str, message: str
) -> None:
    if row is not None:
        pod.freeze(row, seed)

    ended = pod.task(job_spec(NOWHERE, **fields))

    record = pod.attempt()
    assert (ended.code, f"{record.outcome}/{record.reason}") == (code, outcome)
    assert message in record.message
    assert ended.summary == summary_of(record)


def test_a_scored_trials_record_contains_the_job_specs_fields(pod: Pod, gym_url: str) -> None:
    pod.freeze()
    resources = {"agent": {"requests": {"cpu": "250m"}, "limits": {"memory": "512Mi"}}}

    ended = pod.task(job_spec(gym_url, resources=resources))

    assert (ended.code, ended.summary.outcome, ended.summary.steps) == (Exit.DONE, Outcome.PASSED, 3)
    trial = pod.trial()
    assert trial is not None
    assert (trial.outcome, trial.attempt, trial.resources) == (Outcome.PASSED, 0, resources)
    assert ended.summary.timings.total_s > 0
    bound = ("run", "cell", "task", "trial", "attempt")
    assert [ended.log[-1][name] for name in bound] == [RUN, "m_react_oracle_notes", "rename-first", 0, 0]


def test_an_episode_uses_the_admin_token_of_its_gym_and_writes_it_nowhere(pod: Pod, gym: StubGym) -> None:
    pod.freeze()
    token, file = new_token(), pod.folder / "token"
    file.write_text(token)

    with serving(AdminToken(gym.app, token)) as url:
        spec = job_spec(url, admin_token_files={"notes": str(file)})
        ended = pod.task(spec, OPSGYM_LOG_LEVEL="DEBUG")

    assert (ended.code, ended.summary.outcome) == (Exit.DONE, Outcome.PASSED)
    assert token.encode() not in pod.everything()


def test_a_replay_model_does_not_import_litellm(pod: Pod, gym_url: str) -> None:
    pod.freeze()
    (pod.folder / "litellm.py").write_text("raise RuntimeError('litellm was imported')")

    ended = pod.task(job_spec(gym_url), PYTHONPATH=str(pod.folder))

    assert (ended.code, ended.summary.outcome) == (Exit.DONE, Outcome.PASSED)


def test_a_scored_trial_is_never_scored_again(pod: Pod, gym: StubGym, gym_url: str) -> None:
    pod.freeze()
    first = pod.task(job_spec(gym_url))

    again = pod.task(job_spec(gym_url, model=model("replay/noop")))

    assert again.code == Exit.DONE
    assert {**again.summary.to_dict(), "timings": None} == {**first.summary.to_dict(), "timings": None}
    assert len(gym.seeds) == 1
    assert list(pod.store.keys(pod.keys.attempts)) == [pod.keys.attempt(0)]


def test_a_score_of_a_newer_opsgym_is_named_and_not_paid_for_again(pod: Pod, gym: StubGym, gym_url: str) -> None:
    pod.freeze()
    pod.task(job_spec(gym_url))
    content = pod.store.get(pod.keys.record)
    assert content is not None
    pod.store.put(pod.keys.record, json.dumps({**json.loads(content), "version": 99}).encode())

    again = pod.task(job_spec(gym_url))

    assert again.code == Exit.DONE
    assert (again.summary.outcome, again.summary.reason) == (Outcome.CONFIG_ERROR, "unreadable_record")
    assert "was written by a newer opsgym (record version 99" in again.summary.message
    assert pod.keys.record in again.summary.message
    assert len(gym.seeds) == 1


def test_a_trial_that_is_cut_off_again_and_again_is_not_paid_for_without_end(
    pod: Pod, gym: StubGym, gym_url: str
) -> None:
    pod.freeze()

    def put_cut_off(number: int, cost_usd: float) -> None:
        record = AttemptRecord(
            run=RUN,
            cell=CELL,
            task_id="rename-first",
            trial=0,
            attempt=number,
            outcome=Outcome.CANCELLED,
            cost_usd=cost_usd,
            timings=Timings(started_at="2026-11-22T12:00:00Z"),
        )
        pod.store.put(pod.keys.attempt(number), record.to_json())

    for number in range(MOST_CUT_OFF):
        put_cut_off(number, 0.5)

    refused = pod.task(job_spec(gym_url))

    assert (refused.code, refused.summary.outcome) == (Exit.INFRA_ERROR, Outcome.INFRA_ERROR)
    assert "10 attempts were cut off after they had spent something" in refused.summary.message
    assert gym.seeds == []
    put_cut_off(0, 0.0)

    assert pod.task(job_spec(gym_url)).summary.outcome is Outcome.PASSED, "an attempt that has cost nothing counts"


def test_the_next_attempt_follows_the_highest_number_in_the_store(pod: Pod) -> None:
    for key in (pod.keys.attempt(2), pod.keys.attempt(10), pod.keys.failed_transcript(11)):
        pod.store.put(key, b"{}")

    ended = pod.task(job_spec(NOWHERE))

    assert ended.summary.attempt == 12
    assert pod.attempt(12).outcome == Outcome.INFRA_ERROR


@pytest.mark.parametrize(
    ("control", "code", "outcome"),
    [
        ({"start": False, "reason": "budget"}, Exit.DONE, "budget_skipped/budget"),
        ({"start": False, "proceed": False, "reason": "suspended"}, Exit.TERMINATED, "cancelled/suspended"),
    ],
)
def test_a_closed_gate_prevents_the_episode(
    pod: Pod, gym: StubGym, gym_url: str, control: dict[str, Any], code: Exit, outcome: str
) -> None:
    pod.freeze()
    pod.control(**control)

    ended = pod.task(job_spec(gym_url))

    assert (ended.code, f"{ended.summary.outcome}/{ended.summary.reason}") == (code, outcome)
    assert gym.seeds == []


@pytest.mark.parametrize(
    "gate", [{"start": False, "reason": "breaker"}, {"stopped": ["m"]}], ids=["breaker", "quota of its model"]
)
def test_an_attempt_waits_while_a_circuit_breaker_stops_it(
    pod: Pod, gym: StubGym, gym_url: str, gate: dict[str, Any]
) -> None:
    pod.freeze()
    pod.control(**gate)

    seeds_while_closed: list[int] = []

    class Reopening(LocalStore):
        """Opens the gate after three reads."""

        def get(self, key: str) -> bytes | None:
            if key == RunKeys(RUN).control_json:
                seeds_while_closed.append(len(gym.seeds))
                if len(seeds_while_closed) == 3:
                    pod.control()
            return super().get(key)

    pod.store = Reopening(pod.location)
    ended = run_in_process(pod, job_spec(gym_url))

    assert seeds_while_closed[:3] == [0, 0, 0]
    assert (ended.code, ended.summary.outcome) == (Exit.DONE, Outcome.PASSED)
    assert list(pod.store.keys(pod.keys.attempts)) == [pod.keys.attempt(0)]


def test_an_attempt_does_not_wait_for_the_quota_of_another_model(pod: Pod, gym: StubGym, gym_url: str) -> None:
    pod.freeze()
    pod.control(stopped=["another"])

    ended = run_in_process(pod, job_spec(gym_url))

    assert (ended.code, ended.summary.outcome) == (Exit.DONE, Outcome.PASSED)


def test_a_container_stopped_during_an_episode_records_its_cost(pod: Pod, gym: StubGym, gym_url: str) -> None:
    pod.freeze()
    requests: list[int] = []

    async def hang() -> Response:
        requests.append(1)
        await asyncio.sleep(600)
        raise AssertionError

    with serving(StubModel(calls(("idle_0", {})), hang).app) as url:
        spec = job_spec(gym_url, model=hosted(url))
        with pod.started("task", spec, JOB_COMPLETION_INDEX="0", KEY_0=KEY) as running:
            until(lambda: bool(requests), "the model is called a second time")
            stopped_at = time.monotonic()
            running.terminate()
            ended = running.end(20)

    assert time.monotonic() - stopped_at < 10
    record = pod.attempt()
    assert (ended.code, record.outcome, record.steps) == (Exit.TERMINATED, Outcome.CANCELLED, 1)
    assert record.cost_usd == pytest.approx(1100 / 1e6)
    assert ended.summary.cost_usd == record.cost_usd
    assert pod.trial() is None
    assert len(gym.deleted) == 1


def test_a_container_stopped_before_its_attempt_ends_at_once(pod: Pod) -> None:
    dead = {"AWS_ENDPOINT_URL_S3": NOWHERE, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": KEY}
    dead |= {"AWS_REGION": "us-east-1", "OPSGYM_STORE": "s3://results", "JOB_COMPLETION_INDEX": "0"}

    with pod.started("task", job_spec(NOWHERE), **dead) as running:
        running.wait_for("store unreachable, retrying")
        running.terminate()
        ended = running.end(20)

    assert ended.code == Exit.TERMINATED
    assert KEY not in running.log


def test_no_key_is_in_anything_that_is_written(pod: Pod, gym_url: str) -> None:
    pod.freeze()
    answer = refuses(401, f"Incorrect API key provided: {KEY}. Authorization: Bearer {KEY}")

    with serving(StubModel(answer).app) as url:
        ended = pod.task(job_spec(gym_url, model=hosted(url)), KEY_0=KEY)

    assert (ended.code, ended.summary.reason) == (Exit.INFRA_ERROR, "model_auth")
    assert "[secret]" in ended.summary.message
    assert KEY.encode() not in pod.everything()


JUDGED = {
    "verifier_type": "response_check",
    "validation_config": {"sql_query": "SELECT count(*) AS notes FROM notes", "comparison_prompt": "Is it reported?"},
}


def test_planner_and_judge_use_their_own_keys_and_are_counted_separately(pod: Pod, gym_url: str) -> None:
    pod.freeze({**ROW, "verifiers": [*ROW["verifiers"], JUDGED]})
    planner, judge = StubModel(says("1. Rename it.")), StubModel(says('{"mark": 8, "reason": "It is reported."}'))
    keys = {"KEY_1": "sk-of-the-planner-1", "KEY_2": "sk-of-the-judge-22"}
    with serving(planner.app) as planner_url, serving(judge.app) as judge_url:
        spec = job_spec(
            gym_url,
            agent={"name": "react", "plan": "model", "planner": "sage"},
            planner=hosted(planner_url, name="sage")
            | {"endpoints": [{"url": f"{planner_url}/v1", "key_env": "KEY_1"}]},
            judge=hosted(judge_url, name="jury") | {"endpoints": [{"url": f"{judge_url}/v1", "key_env": "KEY_2"}]},
        )
        ended = pod.task(spec, **keys)

    assert (ended.code, ended.summary.outcome) == (Exit.DONE, Outcome.PASSED)
    record = pod.trial()
    assert record is not None
    assert (planner.keys, judge.keys) == ([f"Bearer {keys['KEY_1']}"], [f"Bearer {keys['KEY_2']}"])
    assert (record.planner_usage.model_calls, record.judge_usage.model_calls, record.steps) == (1, 1, 3)
    assert record.usage.model_calls == 4
    assert record.cost_usd == pytest.approx(0.0022)
    assert record.judge_cost_usd == pytest.approx(0.0011)
    assert ended.summary.cost_usd == record.cost_usd
    written = pod.everything()
    assert not [key for key in keys.values() if key.encode() in written]


def test_the_message_of_a_pod_with_many_containers_is_valid_json(pod: Pod, gym_url: str) -> None:
    answer = refuses(400, "ไม่ " * 5000)
    pod.freeze()
    gyms = {"notes": gym_url, **{f"d{number}": gym_url for number in range(6)}}

    with serving(StubModel(answer).app) as url:
        ended = pod.task(job_spec(gym_url, model=hosted(url), gyms=gyms), KEY_0=KEY)

    assert ended.code == Exit.INFRA_ERROR
    assert len(ended.message) <= 12 * 1024 // 9 < MESSAGE_BYTES
    assert ended.summary.message.endswith("…")
    assert json.loads(ended.message)["reason"] == "model_refused_request"


def run_in_process(
    pod: Pod, spec: dict[str, Any], admin_tokens: Mapping[str, str] = MappingProxyType({}), **environment: str
) -> Ended:
    """Runs a task container's attempt inside the test's process, reading the gate before every step."""
    log_file = pod.folder / "termination-log"
    job_spec = JobSpec.model_validate(spec)
    stopping = threading.Event()
    task_pod = TaskPod(
        job_spec,
        job_spec.trials,
        RetryingStore(pod.store, stopping),
        stopping,
        {"OPSGYM_TERMINATION_LOG": str(log_file), **environment},
        Tracing(),
        admin_tokens,
        gate_read_every_s=0,
        breaker_poll_s=0,
    )
    code = asyncio.run(task_pod.run())
    return Ended(code, log_file.read_bytes(), [])


def test_a_budget_that_is_spent_during_an_episode_ends_it_between_steps(pod: Pod, gym_url: str) -> None:
    pod.freeze()

    async def close_the_gate() -> Response:
        pod.control(start=False, proceed=False, reason="budget")
        return calls(("idle_0", {}))

    with serving(StubModel(close_the_gate, says("No.")).app) as url:
        ended = run_in_process(pod, job_spec(gym_url, model=hosted(url)), KEY_0=KEY)

    assert (ended.code, ended.summary.outcome, ended.summary.steps) == (Exit.DONE, Outcome.BUDGET_SKIPPED, 1)


def several(*refs: tuple[str, int]) -> dict[str, Any]:
    """Fields of a job spec whose only pod plays several trials."""
    trials = [{"task_id": task_id, "trial": trial} for task_id, trial in refs]
    return {"trials": trials, "trials_per_pod": len(trials)}


def outcomes(pod: Pod, *refs: tuple[str, int]) -> list[list[str]]:
    """Outcomes of the attempts at trials, with their reasons."""
    ended = []
    for task_id, trial in refs:
        keys = RunKeys(RUN).trial(CELL, task_id, trial)
        contents = [pod.store.get(key) or b"" for key in sorted(pod.store.keys(keys.attempts)) if key.endswith(".json")]
        records = [AttemptRecord.from_json(content) for content in contents]
        ended.append([f"{record.outcome}/{record.reason}" for record in records])
    return ended


TRIALS = (("rename-first", 0), ("broken", 0), ("rename-first", 1))


def test_a_pod_plays_its_trials_in_turn_and_one_that_cannot_run_stops_no_other(
    pod: Pod, gym: StubGym, gym_url: str
) -> None:
    pod.freeze()
    broken = FrozenTask(row={"task_id": "broken"}, seeds={})
    pod.store.put(RunKeys(RUN).suite_task("broken"), broken.model_dump_json().encode())

    ended = run_in_process(pod, job_spec(gym_url, **several(*TRIALS)))

    assert (ended.code, ended.message) == (Exit.DONE, b"3 of 3 trials are done; see their records")
    assert outcomes(pod, *TRIALS) == [["passed/"], ["config_error/invalid_row"], ["passed/"]]
    assert len(gym.seeds) == 2


def test_a_pod_that_is_tried_again_plays_only_what_is_left(pod: Pod, gym: StubGym, gym_url: str) -> None:
    pod.freeze()
    broken = FrozenTask(row={"task_id": "broken"}, seeds={})
    pod.store.put(RunKeys(RUN).suite_task("broken"), broken.model_dump_json().encode())
    gym.broken = {"add_note": Response(status_code=502)}
    first = run_in_process(pod, job_spec(gym_url, **several(("broken", 0), ("rename-first", 0))))
    gym.broken = {}

    again = run_in_process(pod, job_spec(gym_url, **several(("broken", 0), ("rename-first", 0), ("rename-first", 1))))

    assert (first.code, again.code) == (Exit.INFRA_ERROR, Exit.DONE)
    assert outcomes(pod, *TRIALS) == [["infra_error/gym_lost", "passed/"], ["config_error/invalid_row"], ["passed/"]]


def test_a_pod_whose_gyms_cannot_be_replaced_ends_and_the_rest_is_not_touched(pod: Pod, gym: StubGym) -> None:
    pod.freeze()
    refs = (("rename-first", 0), ("rename-first", 1), ("rename-first", 2))

    with serving(gym.app) as url:  # which has no endpoint for it
        ended = run_in_process(pod, job_spec(url, **several(*refs)), {url: "token"})

    assert (ended.code, ended.message) == (Exit.INFRA_ERROR, b"1 of 3 trials are done; see their records")
    assert outcomes(pod, *refs) == [["passed/"], ["infra_error/gym_lost"], []]


SEED_VARIABLE = "OPSGYM_HELD_OUT_SEED"
SECRET = "a secret of thirty-two characters"


@pytest.fixture
def sealed(pod: Pod) -> Pod:
    """The pod, with the held-out seed that its store is sealed with."""
    pod.environment[SEED_VARIABLE] = SECRET
    return replace(pod, store=SealedStore(pod.store, AesSeal(SECRET)))


def test_the_message_of_a_held_out_trial_quotes_no_task(pod: Pod, sealed: Pod) -> None:
    secret = {**ROW, "gym_servers_config": [{"mcp_server_name": "Nadia's notes"}]}
    frozen = FrozenTask(row=secret, seeds={})
    sealed.store.put(RunKeys(RUN).suite_task("rename-first"), frozen.model_dump_json().encode())

    ended = sealed.task(job_spec(NOWHERE, held_out=True))

    assert (ended.code, ended.summary.outcome) == (Exit.DONE, Outcome.CONFIG_ERROR)
    assert ended.summary.message == SEALED_MESSAGE
    assert b"Nadia" not in pod.everything()
    assert "Nadia" in sealed.attempt().message


def test_a_provider_that_quotes_the_prompt_of_a_held_out_task_is_quoted_nowhere(
    pod: Pod, sealed: Pod, gym_url: str
) -> None:
    sealed.freeze()
    quote = ROW["user_prompt"][:30]
    refusal = refuses(403, f"the key may not send this: {quote}")
    with serving(StubModel(refusal).app) as url:
        ended = sealed.task(job_spec(gym_url, model=hosted(url), held_out=True), KEY_0=KEY)

    assert (ended.code, ended.summary.reason) == (Exit.INFRA_ERROR, "model_auth")
    assert ended.summary.message == f"model m: HTTP 403; {SEALED_ERROR}"
    assert quote.encode() not in pod.everything()
    assert pod.attempt().message == ended.summary.message
    assert quote in sealed.attempt().message


def test_a_held_out_trial_does_not_start_without_the_seed(pod: Pod, sealed: Pod) -> None:
    sealed.freeze()
    before = pod.everything()

    ended = pod.task(job_spec(NOWHERE, held_out=True), **{SEED_VARIABLE: ""})

    assert ended.code == Exit.NO_JOB_SPEC
    assert f"{SEED_VARIABLE} is not set" in ended.message.decode()
    assert list(pod.store.keys(pod.keys.attempts)) == []
    assert before in pod.everything()


@pytest.mark.parametrize("scored", [False, True])
def test_a_trial_of_another_held_out_seed_is_a_config_error_and_not_tried_again(
    pod: Pod, sealed: Pod, scored: bool
) -> None:
    sealed.freeze()
    if scored:
        sealed.store.put(pod.keys.record, b"{}")

    ended = pod.task(job_spec(NOWHERE, held_out=True), **{SEED_VARIABLE: "another secret of thirty-two chars"})

    assert (ended.code, ended.summary.outcome) == (Exit.DONE, Outcome.CONFIG_ERROR)
    assert ended.summary.reason == "held_out_seed"
    assert "it is sealed with another held-out seed" in ended.summary.message
    assert pod.attempt().message == ended.summary.message
    assert "store unreachable, retrying" not in json.dumps(ended.log)
