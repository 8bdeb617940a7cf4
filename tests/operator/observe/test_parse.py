"""Parsing of objects of the API server."""

from __future__ import annotations

import pytest
from tests.operator_io.material import at, ended, job, pod, stamp

from opsgym_operator.observe.objects import parse_indexes
from opsgym_operator.observe.parse import read_job, read_pod


@pytest.mark.parametrize(
    ("text", "indexes"), [("", set()), ("3", {3}), ("0,2-5,9", {0, 2, 3, 4, 5, 9}), ("7-8", {7, 8})]
)
def test_completion_indexes_are_parsed(text: str, indexes: set[int]) -> None:
    assert parse_indexes(text) == indexes


def test_a_pod_that_waits_on_its_node_says_since_when_and_whether_it_has_network() -> None:
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": stamp(5)}
    sandbox = {"type": "PodReadyToStartContainers", "status": "False"}
    waiting = read_pod(pod(phase="Pending", conditions=[scheduled, sandbox]))
    assert (waiting.starting_since, waiting.sandbox_missing) == (at(5), True)
    running = read_pod(pod(phase="Running", conditions=[scheduled], deletionTimestamp=stamp(9)))
    assert (running.starting_since, running.sandbox_missing, running.delete_by) == (None, False, at(9))


@pytest.mark.parametrize(
    "scheduled",
    [{"status": "True"}, {"status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}],
    ids=["on a node", "without a node"],
)
def test_a_pod_that_is_being_deleted_waits_for_nothing(scheduled: dict[str, str]) -> None:
    # Its sandbox goes first, which looks as if it had never had network and volumes.
    conditions = [
        {"type": "PodScheduled", "lastTransitionTime": stamp(5), **scheduled},
        {"type": "PodReadyToStartContainers", "status": "False"},
    ]
    failing = [{"name": "agent", "state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}}}]
    manifest = pod(phase="Pending", conditions=conditions)
    manifest["status"]["containerStatuses"] = failing
    staying = read_pod(manifest)
    assert staying.container_error is not None
    assert (staying.starting_since or staying.unschedulable_since) == at(5)
    manifest["metadata"]["deletionTimestamp"] = stamp(9)
    leaving = read_pod(manifest)
    assert (leaving.container_error, leaving.starting_since, leaving.unschedulable_since) == (None, None, None)
    assert leaving.delete_by == at(9)


def test_a_job_says_when_its_last_pod_ended() -> None:
    pods = [pod(n, agent=ended(over=20 + n)) for n in range(2)]
    assert read_job(job("0-1"), None, pods, accounted=False).last_pod_at == at(21)
    assert read_job(job(), None, accounted=False).last_pod_at is None
