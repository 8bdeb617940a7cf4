"""Runs the built-in quickstart suite in the cluster; succeeds if every trial passes.

Invariant: the EvalRun is deleted however the script ends.

    python quickstart.py NAMESPACE
"""

from __future__ import annotations

import signal
import sys
import time
import uuid
from typing import Any

from cluster_api import call

DEADLINE_SECONDS = 840
"""One minute less than the pod's deadline, so that the script can report the state."""
POLL_SECONDS = 2.0


def main(namespace: str) -> int:
    """Creates the EvalRun, waits until it finishes, and deletes it; returns the exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    name = f"helm-test-{uuid.uuid4().hex[:6]}"
    runs = f"/apis/opsgym.dev/v1alpha1/namespaces/{namespace}/evalruns"
    call("POST", runs, evalrun(name))
    try:
        return watch(f"{runs}/{name}")
    finally:
        call("DELETE", f"{runs}/{name}")


def evalrun(name: str) -> dict[str, Any]:
    """An EvalRun of every quickstart task, with a model that replays the reference solutions."""
    return {
        "apiVersion": "opsgym.dev/v1alpha1",
        "kind": "EvalRun",
        "metadata": {"name": name},
        "spec": {
            "suite": {"builtin": "quickstart"},
            "models": [{"name": "gold", "inline": {"model": "replay/gold", "maxConcurrency": 4}}],
            "trialsPerPod": 5,  # starting pods takes longer than these trials
            # A confidence interval never reaches 1; the counters show whether every task passed.
            "gate": {"minSuccessRate": 0.8},
        },
    }


def watch(path: str) -> int:
    """Prints the status when it changes; returns 0 if every trial passes and the gate says GO, else 1."""
    end = time.monotonic() + DEADLINE_SECONDS
    printed = ""
    while time.monotonic() < end:
        status = call("GET", path).get("status", {})
        conditions = {condition["type"]: condition for condition in status.get("conditions", [])}
        line = summary(status, conditions)
        if line != printed:
            print(line, flush=True)  # noqa: T201 - the pod's log
            printed = line
        ends = [conditions.get(kind, {}).get("status", "Unknown") for kind in ("Succeeded", "GatePassed")]
        if ends[0] != "Unknown":
            counters = status["counters"]
            return int(ends != ["True", "True"] or counters["passed"] != counters["total"])
        time.sleep(POLL_SECONDS)
    print(f"not finished after {DEADLINE_SECONDS} s", flush=True)  # noqa: T201 - the pod's log
    return 1


def summary(status: dict[str, Any], conditions: dict[str, dict[str, Any]]) -> str:
    """One line: phase, progress and every condition of the run."""
    parts = [f"{status.get('phase', 'not observed by the operator yet')} {status.get('progress', '')}".strip()]
    for kind, condition in sorted(conditions.items()):
        parts.append(f"{kind}={condition['status']} ({condition.get('message') or condition['reason']})")
    return "; ".join(parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
