"""`kubectl opsgym status`, `why` and `logs`: the real kubectl asks a stub API server, whose pods the operator made."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.api_server import ApiServer
from tests.cli.runs import CELL, put_attempt, put_run
from tests.operator.fleet import CONFIG
from tests.operator.manifests.material import RUN as OBSERVED
from tests.operator.manifests.material import SPEC, new_job

from opsgym.clusterruns import pods as pods_module
from opsgym.clusterruns.advice import ADVICE, RUNBOOK, TRIAL_ADVICE
from opsgym.main import invoke
from opsgym_api.records.outcomes import ConfigReason, FailReason, InfraReason, Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_core.store.local import LocalStore
from opsgym_operator.manifests.jobs import manifests_of
from opsgym_operator.observe import labels
from opsgym_operator.plan.status.status import Reason

ROOT = Path(__file__).resolve().parents[2]
RUN = "evals.nightly.1234"
TRIALS = ("a/0", "b/0", "a/1")
"""Of the Job that `new_job` makes, by completion index."""
SINCE = "2026-01-01T00:00:00Z"
CALM = {"Valid", "PreflightRunning", "Starting", "Running", "Complete", "GatePassed", "NotFinished"}
"""Reasons of conditions that ask for nothing."""


def condition(kind: str, status: str, reason: str, message: str = "") -> Mapping[str, Any]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": SINCE}


def running(**fields: Any) -> Mapping[str, Any]:
    conditions = [condition("Accepted", "True", "Valid"), condition("Progressing", "True", "Running")]
    return {"phase": "Running", "progress": "1/3", "conditions": conditions, "observedGeneration": 1, **fields}


def job_objects() -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The ConfigMap and the Job of three trials, as the operator creates them."""
    spec = SPEC.model_copy(update={"agents": [SPEC.agents[0].model_copy(update={"name": CELL.agent})]})
    job = new_job(gyms=("itsm",), spec=spec, cell=CELL.model_copy(update={"model": "gpt"}))
    config_map, made = manifests_of(replace(OBSERVED, namespace="evals"), job, CONFIG)
    return config_map, made


def pod(index: int, status: Mapping[str, Any], *, node: str = "n1", owner: str = "", **metadata: Any) -> dict[str, Any]:
    """The pod that the Job controller makes of the Job for an index."""
    job = job_objects()[1]
    template = job["spec"]["template"]
    name = job["metadata"]["name"]
    own = {"apiVersion": "batch/v1", "kind": "Job", "name": owner or name, "uid": "j", "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{owner or name}-{index}-x",
            "namespace": "evals",
            "creationTimestamp": f"2026-01-01T00:0{index}:00Z",
            "labels": {**template["metadata"]["labels"], labels.LABEL_INDEX: str(index)},
            "ownerReferences": [own],
            **metadata,
        },
        "spec": {**template["spec"], "nodeName": node},
        "status": status,
    }


def containers(**states: Mapping[str, Any]) -> dict[str, Any]:
    """Status of a pod whose containers are in these states; `gym_itsm` is `gym-itsm`."""
    statuses = [{"name": name.replace("_", "-"), "restartCount": 0, **state} for name, state in states.items()]
    return {
        "initContainerStatuses": [one for one in statuses if one["name"] != "agent"],
        "containerStatuses": [one for one in statuses if one["name"] == "agent"],
    }


UP: Mapping[str, Any] = {"state": {"running": {}}}
RUNS = {"phase": "Running", **containers(postgres=UP, gym_itsm=UP, agent=UP)}
PULLS = {
    "phase": "Pending",
    **containers(
        postgres={"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}},
        agent={"state": {"waiting": {"reason": "PodInitializing"}}},
    ),
}
FAILED = {"phase": "Failed", **containers(agent={"state": {"terminated": {"exitCode": 101, "reason": "Error"}}})}


@pytest.fixture
def store(home: Path) -> LocalStore:
    """The run's store."""
    opened = LocalStore(home / "bucket")
    cell = CELL.model_copy(update={"model": "gpt"})
    put_run(opened, RUN, [PlannedCell(cell=cell, task_ids=["a", "b"])], trials=2)
    return opened


def attempt(store: LocalStore, task_id: str, outcome: Outcome | None, **fields: Any) -> None:
    put_attempt(store, RUN, task_id, outcome, cell=CELL.model_copy(update={"model": "gpt"}), **fields)


def put(api: ApiServer, status: Mapping[str, Any], pods: Sequence[Mapping[str, Any]], home: Path | None = None) -> None:
    """Has the run, with its store if its folder is given."""
    results = {"results": f"{home}/bucket/runs/{RUN}"} if home else {}
    api.put("nightly", {**status, **results})
    api.put_objects([job_objects()[0], *pods])


def output(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    """What `kubectl opsgym` prints on stdout and stderr."""
    assert invoke(list(arguments), "kubectl opsgym") == code
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_a_status_shows_conditions_and_pods_with_those_first_that_need_a_look(
    api: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    put(api, running(), [pod(0, RUNS), pod(1, PULLS), pod(2, FAILED)])
    out, _ = output(capsys, "status", "nightly")
    lines = out.splitlines()
    assert lines[:3] == [
        "evals/nightly: Running, 1/3 scored",
        f"Accepted=True Valid (since {SINCE})",
        f"Progressing=True Running (since {SINCE})",
    ]
    shown = [re.split(r"\s{2,}", line.strip()) for line in lines if re.match(r"\s*nightly-abcdef-0-\d-x\s", line)]
    assert [(row[1], row[2], row[3]) for row in shown] == [
        ("gpt/react/oracle/itsm", "a/1", "failed"),
        ("gpt/react/oracle/itsm", "b/0", "cannot start"),
        ("gpt/react/oracle/itsm", "a/0", "running"),
    ]
    assert "nightly-abcdef-0-2-x: agent: ended with exit code 101 (infra_error)" in lines
    assert "nightly-abcdef-0-1-x: postgres: ImagePullBackOff: no such image" in lines


def test_pods_of_others_with_copied_labels_are_left_out(api: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    put(api, running(), [pod(0, RUNS, owner="foreign"), pod(1, RUNS, ownerReferences=[])])
    assert "no pods" in output(capsys, "status", "nightly")[0]


def test_a_pod_without_a_node_says_what_the_scheduler_says(api: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    waits = {"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}
    put(api, running(), [pod(0, {"phase": "Pending", "conditions": [waits]}, node="")])
    out, _ = output(capsys, "status", "nightly")
    assert "waits for a node" in out
    assert "nightly-abcdef-0-0-x: 0/3 nodes are available" in out


def test_why_names_the_cause_the_act_and_the_runbook(api: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    stalled = [
        condition("Accepted", "True", "Valid"),
        condition("Progressing", "False", "SecretMissing", "Secret openai is missing"),
        condition("Stalled", "True", "SecretMissing", "Secret openai is missing"),
        condition("Succeeded", "Unknown", "NotFinished"),
    ]
    put(api, running(phase="Stalled", conditions=stalled), [])
    assert output(capsys, "why", "nightly")[0].splitlines()[1:] == [
        "Stalled=True SecretMissing: Secret openai is missing",
        f"  do: {ADVICE['SecretMissing']}",
        "  runbook: docs/on-call.md#secretmissing",
    ]


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ({}, "the operator has not seen it: check that it runs, and that it watches this namespace"),
        (running(observedGeneration=0), "the operator has not seen the latest change of the spec yet"),
        (running(), "nothing is wrong"),
        (
            running(conditions=[condition("Stalled", "True", "ReasonOfTomorrow", "do this")]),
            "Stalled=True ReasonOfTomorrow: do this",
        ),
        (
            running(conditions=[condition("Progressing", "True", "WaitingForModel", "all slots of gpt are taken")]),
            "  runbook: docs/on-call.md#waitingformodel",
        ),
    ],
    ids=["unseen", "outdated", "running", "newer reason", "waiting"],
)
def test_why_explains_runs_in_every_state(
    api: ApiServer, status: Mapping[str, Any], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    put(api, status, [])
    assert any(one.startswith(line) for one in output(capsys, "why", "nightly")[0].splitlines())


def test_a_trial_is_shown_with_its_pod_and_its_attempts(
    api: ApiServer, home: Path, store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    attempt(store, "b", Outcome.INFRA_ERROR, reason="gym_lost", message="the gym server was lost")
    attempt(store, "b", None, attempt=1)
    put(api, running(), [pod(0, RUNS), pod(1, RUNS)], home)
    out, _ = output(capsys, "status", "nightly", "b")
    assert "gpt/react/oracle/itsm b/0" in out
    assert "nightly-abcdef-0-1-x" in out
    assert "nightly-abcdef-0-0-x" not in out
    assert re.search(r"0 +infra_error +gym_lost", out)
    assert re.search(r"1 +not ended", out)
    assert "attempt 0: the gym server was lost" in out


@pytest.mark.parametrize(
    ("outcome", "reason", "pods", "lines"),
    [
        (Outcome.PASSED, "", [], ["passed in attempt 0: a result of the agent, not a fault of the cluster"]),
        (
            Outcome.FAILED,
            "verifiers",
            [],
            [
                "failed (verifiers) in attempt 0: a result of the agent, not a fault of the cluster",
                "  do: read the evidence: kubectl opsgym failures nightly --namespace evals --trial b/0",
            ],
        ),
        (
            Outcome.INFRA_ERROR,
            "gym_lost",
            [pod(1, RUNS)],
            [
                "attempt 0 ended as infra_error, gym_lost: words",
                f"  do: {TRIAL_ADVICE['gym_lost']}",
                "  runbook: docs/monitoring.md#opsgyminfraerrorratehigh",
                "pod nightly-abcdef-0-1-x: running",
                "  do: read its log: kubectl opsgym logs nightly --namespace evals b/0",
            ],
        ),
        (None, "", [], ["no attempt has started", "the run:", "  nothing is wrong"]),
    ],
    ids=["passed", "failed", "retried", "pending"],
)
def test_why_says_what_to_do_next_for_a_trial(
    api: ApiServer,
    home: Path,
    store: LocalStore,
    outcome: Outcome | None,
    reason: str,
    pods: Sequence[Mapping[str, Any]],
    lines: Sequence[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    if outcome is not None:
        attempt(store, "b", outcome, reason=reason, message="words")
    put(api, running(), pods, home)
    assert output(capsys, "why", "nightly", "b/0")[0].splitlines()[1:] == list(lines)


def test_a_trial_whose_store_cannot_be_read_is_shown_by_its_pod(
    api: ApiServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    put(api, running(results=f"s3://bucket/runs/{RUN}"), [pod(0, RUNS), pod(1, RUNS)])
    out, err = output(capsys, "status", "nightly", "b/0")
    assert "nightly-abcdef-0-1-x" in out
    assert err.startswith("warning: attempts are not shown: s3://bucket")
    assert "kubectl port-forward" in err
    assert "b/7: is in no pod now" in output(capsys, "why", "nightly", "b/7", code=2)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nightly", "c"], "TRIAL: unknown task 'c'; tasks of the run: a, b"),
        (["nightly", "a/2"], "TRIAL: no trial 2; the run has trials 0 to 1 of each task"),
        (["nightly", "a", "--cell", "x"], "--cell: task a: 'x' does not run the task; cells: gpt/react/oracle/itsm"),
        (["gone"], "EvalRun gone: does not exist"),
        (["Not/A_Name"], "Not/A_Name: is not a valid name of an EvalRun"),
    ],
)
@pytest.mark.parametrize("command", ["status", "why", "logs"])
def test_a_run_or_trial_that_does_not_exist_is_refused(
    api: ApiServer,
    home: Path,
    store: LocalStore,
    command: str,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    put(api, running(), [pod(0, RUNS)], home)
    assert message in output(capsys, command, *arguments, code=2)[1]


def test_logs_are_those_of_every_container_of_the_trials_pod(
    api: ApiServer, home: Path, store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    restarted = {**UP, "restartCount": 1}
    put(api, running(), [pod(1, {"phase": "Running", **containers(postgres=UP, gym_itsm=restarted)})], home)
    name = "nightly-abcdef-0-1-x"
    api.put_log(name, "postgres", "database is up\n")
    api.put_log(name, "gym-itsm/previous", "out of memory\n")
    api.put_log(name, "gym-itsm", "one\n\x1b[2Jtwo\n")
    out, err = output(capsys, "logs", "nightly", "b/0")
    assert out.splitlines() == ["postgres: database is up", "gym-itsm: one", "gym-itsm: ␛[2Jtwo"]
    assert err.splitlines()[1:] == ["agent: has not started"]
    assert err.startswith(f"pod {name} (b/0): running")
    previous = output(capsys, "logs", "nightly", "b/0", "--previous", "--container", "gym-itsm")[0]
    assert previous == "gym-itsm: out of memory\n"


def test_a_log_that_is_followed_is_the_agents(api: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    put(api, running(), [pod(0, RUNS)])
    api.put_log("nightly-abcdef-0-0-x", "agent", "step 1\nstep 2\n")
    assert output(capsys, "logs", "nightly", "--follow")[0].splitlines() == ["agent: step 1", "agent: step 2"]


@pytest.mark.parametrize(
    ("pods", "arguments", "message"),
    [
        ([], [], "nightly: has no pod: none was started, or it has ended and is gone"),
        ([pod(0, RUNS)], ["-c", "gym"], "unknown container 'gym'; it has postgres, gym-itsm, agent"),
    ],
)
def test_logs_that_do_not_exist_are_refused(
    api: ApiServer,
    pods: Sequence[Mapping[str, Any]],
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    put(api, running(), pods)
    assert message in output(capsys, "logs", "nightly", *arguments, code=2)[1]


def test_a_user_who_may_not_read_pods_is_shown_the_role(api: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    put(api, running(), [])
    refused = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": "Forbidden"}
    api.answers["/api/v1/namespaces/evals/pods"] = (403, {**refused, "message": "no"})
    assert "ask for the role `view` in that namespace" in output(capsys, "status", "nightly", code=1)[1]


def test_labels_and_keys_are_those_of_the_operator() -> None:
    used = (pods_module.RUN_UID, pods_module.ROLE, pods_module.INDEX, pods_module.JOB_SPEC_KEY)
    assert used == (labels.LABEL_RUN_UID, labels.LABEL_ROLE, labels.LABEL_INDEX, labels.JOB_SPEC_KEY)


def test_every_reason_that_asks_for_an_act_has_advice_in_the_runbook() -> None:
    assert set(ADVICE) == {reason.value for reason in Reason} - CALM
    page = (ROOT / RUNBOOK).read_text(encoding="utf-8")
    rows = re.findall(r'^\| <a id="(\w+)"></a>`(\w+)` \| (.+) \|$', page, re.MULTILINE)
    assert {name: advice for _, name, advice in rows} == ADVICE
    assert [anchor for anchor, _, _ in rows] == [name.lower() for _, name, _ in rows]


def test_every_reason_of_a_trial_has_advice() -> None:
    assert set(TRIAL_ADVICE) == {reason.value for kind in (FailReason, InfraReason, ConfigReason) for reason in kind}


def test_each_reason_of_a_condition_links_its_entry_in_the_runbook() -> None:
    page = (ROOT / "docs" / "operator.md").read_text(encoding="utf-8")
    links = re.findall(r"\[`(\w+)`\]\(on-call\.md#(\w+)\)", page)
    assert dict(links) == {name: name.lower() for name in ADVICE}


def test_every_label_of_the_operator_is_documented() -> None:
    page = (ROOT / RUNBOOK).read_text(encoding="utf-8")
    names = [value for name, value in vars(labels).items() if name.startswith(("LABEL_", "ANNOTATION_"))]
    assert [name for name in names if f"`{name}`" not in page] == []
