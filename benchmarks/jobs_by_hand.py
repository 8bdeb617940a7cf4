"""The operator's Jobs without the operator: what a script with `kubectl` makes of them.

Invariant: each Job has the size, the parallelism and the pods of one that the operator made, and as many run at once.
One that has ended is deleted with its pods, and the next takes its place, as the operator does it.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from devcluster.kube import Kube, Manifest

LABELS = {"fleet": "by-hand"}
SELECTOR = "fleet=by-hand"
POLL_S = 0.5


@dataclass(frozen=True)
class Template:
    """A task Job of the operator, and its ConfigMap."""

    job: Manifest
    config_map: Manifest

    @property
    def parallelism(self) -> int:
        """Pods at once."""
        return int(self.job["spec"]["parallelism"])

    def manifests(self, name: str) -> list[Manifest]:
        """A Job of the same pods, and its ConfigMap, without what makes them the operator's."""
        namespace, spec = self.job["metadata"]["namespace"], self.job["spec"]
        metadata = {"name": name, "namespace": namespace, "labels": LABELS}
        content = json.loads(self.config_map["data"]["job.json"])
        refs = [{"task_id": f"{name}-{number}", "trial": 0} for number in range(len(content["trials"]))]
        text = json.dumps({**content, "run": f"{namespace}.by-hand", "trials": refs})
        pod = copy.deepcopy(spec["template"]["spec"])
        for volume in pod["volumes"]:
            if volume["name"] == "job-spec":
                volume["configMap"]["name"] = name
        copied = ("backoffLimitPerIndex", "podReplacementPolicy", "podFailurePolicy", "completions", "parallelism")
        job = {
            **{field: spec[field] for field in copied},
            "completionMode": "Indexed",
            "template": {"metadata": {"labels": LABELS}, "spec": pod},
        }
        return [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"job.json": text}},
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": job},
        ]


def run_jobs(kube: Kube, template: Template, at_once: int, done: Callable[[], bool], seconds: float) -> None:
    """Keeps a number of Jobs running until something holds, and removes them.

    Raises:
        TimeoutError: It did not come to hold in time.
    """
    deadline, created = time.monotonic() + seconds, 0
    namespace = template.job["metadata"]["namespace"]
    live: set[str] = set()
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError(f"the Jobs by hand are not done after {seconds:.0f} s")
        while len(live) < at_once:
            name = f"by-hand-{created}"
            for manifest in template.manifests(name):
                kube.create(manifest)
            live.add(name)
            created += 1
        time.sleep(POLL_S)
        for job in kube.list("Job", namespace, SELECTOR):
            name = job["metadata"]["name"]
            if "completionTime" in job.get("status", {}) and name in live:
                live.remove(name)
                _delete(kube, namespace, name)
    for name in live:
        _delete(kube, namespace, name)


def _delete(kube: Kube, namespace: str, name: str) -> None:
    for kind in ("Job", "ConfigMap"):
        kube.delete(kind, name, namespace)
