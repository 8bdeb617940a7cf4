"""Runs the built-in quickstart suite in the cluster and tells whether every trial was scored.

Invariant: what it creates, it deletes, however it ends. Only the standard library is used: the operator's image
promises no more than Python.

    python quickstart.py NAMESPACE
"""

from __future__ import annotations

import json
import os
import signal
import ssl
import sys
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path
from typing import Any

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
DEADLINE_SECONDS = 840
"""A minute less than the pod's own, so that there is time to tell what happened."""
POLL_SECONDS = 2.0


def main(namespace: str) -> int:
    """Creates the run, waits for its end, deletes it; the exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    name = f"helm-test-{uuid.uuid4().hex[:6]}"
    runs = f"/apis/opsgym.dev/v1alpha1/namespaces/{namespace}/evalruns"
    call("POST", runs, evalrun(name))
    try:
        return watched(f"{runs}/{name}")
    finally:
        call("DELETE", f"{runs}/{name}")


def evalrun(name: str) -> dict[str, Any]:
    """Every task of the quickstart once, by a model that plays each task's reference solution."""
    return {
        "apiVersion": "opsgym.dev/v1alpha1",
        "kind": "EvalRun",
        "metadata": {"name": name},
        "spec": {
            "suite": {"builtin": "quickstart"},
            "models": [{"name": "gold", "inline": {"model": "replay/gold", "maxConcurrency": 4}}],
            # No sample reaches 1, so that every task passed is seen in the counters.
            "gate": {"minSuccessRate": 0.8},
        },
    }


def watched(path: str) -> int:
    """Prints the run's progress whenever it changes; 0 once every trial has passed and the gate says GO."""
    end = time.monotonic() + DEADLINE_SECONDS
    told = ""
    while time.monotonic() < end:
        status = call("GET", path).get("status", {})
        conditions = {condition["type"]: condition for condition in status.get("conditions", [])}
        line = story(status, conditions)
        if line != told:
            print(line, flush=True)  # noqa: T201 - what a person reads in the pod's log
            told = line
        ends = [conditions.get(kind, {}).get("status", "Unknown") for kind in ("Succeeded", "GatePassed")]
        if ends[0] != "Unknown":
            counters = status["counters"]
            return int(ends != ["True", "True"] or counters["passed"] != counters["total"])
        time.sleep(POLL_SECONDS)
    print(f"not finished after {DEADLINE_SECONDS} s", flush=True)  # noqa: T201 - as above
    return 1


def story(status: dict[str, Any], conditions: dict[str, dict[str, Any]]) -> str:
    """A line about a run: where it stands, and what each condition says."""
    parts = [f"{status.get('phase', 'not seen by the operator yet')} {status.get('progress', '')}".strip()]
    for kind, condition in sorted(conditions.items()):
        parts.append(f"{kind}={condition['status']} ({condition.get('message') or condition['reason']})")
    return "; ".join(parts)


def call(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """What the API server answers.

    Raises:
        SystemExit: It refuses.
    """
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    address = f"[{host}]" if ":" in host else host
    request = urllib.request.Request(
        f"https://{address}:{port}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {(ACCOUNT / 'token').read_text()}", "Content-Type": "application/json"},
    )
    context = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
    try:
        with urllib.request.urlopen(request, context=context, timeout=30) as answer:  # noqa: S310 - always https
            result: dict[str, Any] = json.load(answer)
            return result
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{method} {path}: HTTP {error.code}: {error.read().decode(errors='replace')}") from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
