"""Pods that play several trials in turn: each is scored once, and a lost pod loses only the trial that it was at."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from devcluster.kube import Kube
from tests.cluster.faults import kill_in_container
from tests.cluster.operator.held_model import HeldModel
from tests.cluster.operator.world import Operator, evalrun

from opsgym_api.records.outcomes import Outcome

pytestmark = pytest.mark.timeout(900)

TRIALS = 5


def test_a_pod_that_is_killed_in_the_middle_loses_only_the_trial_that_it_was_at(
    operator: Operator, model: HeldModel, kube: Kube
) -> None:
    model.hold(after=2)
    models: list[Any] = [{"name": "held", "inline": model.inline(maxConcurrency=1)}]
    suite = {"builtin": "quickstart", "limit": TRIALS}
    kube.create(evalrun(operator.namespace, "r", suite=suite, models=models, trialsPerPod=TRIALS))
    operator.wait(lambda: model.requests == 3, "has not begun its third trial", 300)
    (pod,) = operator.pods("r")
    before = operator.results("r")
    assert len(before.trials) == 2, "results are in the store while the pod goes on"
    (job,) = kube.list("Job", operator.namespace, "opsgym.dev/role=task")
    assert job["spec"]["completions"] == 1

    kill_in_container(kube, operator.namespace, pod["metadata"]["name"], "agent", "opsgym_runner")
    model.release()
    run = operator.await_end("r", 400)

    assert run["status"]["progress"] == f"{TRIALS}/{TRIALS}"
    after = operator.results("r")
    assert all(trial in after.trials for trial in before.trials), "scores are put once"
    assert len({trial.task_id for trial in after.trials}) == len(after.trials) == TRIALS
    attempts = Counter(attempt.task_id for attempt in after.attempts)
    assert sorted(attempts.values()) == [1, 1, 1, 1, 2]
    (lost,) = [attempt for attempt in after.attempts if attempt.outcome is Outcome.INFRA_ERROR]
    assert attempts[lost.task_id] == 2
    assert lost.task_id not in {trial.task_id for trial in before.trials}
    counted = operator.metrics()
    assert (counted["opsgym_trials_total"], counted["opsgym_attempts_total"]) == (TRIALS, TRIALS + 1)
