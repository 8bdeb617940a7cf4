"""Plays the programs of pods on simulated nodes: what they write to the store and report when they end.

Invariant: a simulated pod writes what a real one writes, in the same order: of each of its trials the attempt and the
scored trial, then its termination message. Only the episodes are missing.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from datetime import UTC, datetime

import httpx
from devcluster.kube import Kube, KubeError, Manifest
from devcluster.kwok import END
from devcluster.places import ADMIN

from benchmarks.large_run import attempt_of, random_trial
from opsgym_api.records.attempt import AttemptRecord, TrialId
from opsgym_api.records.job_spec import JobSpec, PreflightReport, PreflightSpec, TrialRef, trials_at
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.suite import SuiteEntry, SuiteIndex
from opsgym_core.store.base import Store
from opsgym_runner.pod.message import fitted_report, fitted_summary, message_limit, summary_of

THREADS = 16
"""Pods that are played at the same time: most of it is waiting for the store and the API server."""
RUNNING = {"fieldSelector": "status.phase=Running"}
INDEX = "batch.kubernetes.io/job-completion-index"
JOB = "batch.kubernetes.io/job-name"
SPEC_VOLUME = "job-spec"


@dataclass
class Played:
    """What has been played so far."""

    pods: int = 0
    jobs: set[str] = field(default_factory=set)
    """Task Jobs of which a pod has ended."""
    problems: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, job: str) -> None:
        """Counts a pod."""
        with self.lock:
            self.pods += 1
            self.jobs.add(job)


class Player:
    """Plays running pods.

    Args:
        kube: The API.
        store: The result store of all runs.
        entries: Rows of the suite that preflights freeze.
    """

    def __init__(self, kube: Kube, store: Store, entries: Sequence[SuiteEntry]) -> None:
        self.played = Played()
        self._kube = kube
        self._store = store
        self._index = SuiteIndex(entries=list(entries)).model_dump_json().encode()
        self._specs: dict[tuple[str, str], JobSpec] = {}

    def play(self, pod: Manifest) -> None:
        """Ends a pod."""
        metadata = pod["metadata"]
        try:
            message = self._work(pod)
            change = {"metadata": {"annotations": {END: message.decode()}}}
            self._kube.patch("Pod", metadata["name"], metadata["namespace"], change)
        except KubeError as error:
            if error.code != 404:  # deleted meanwhile, with its run
                self.played.problems.append(str(error))
            return
        self.played.note(f"{metadata['namespace']}/{metadata['labels'][JOB]}")

    def note_fault(self, played: Future[None]) -> None:
        """Counts what went wrong otherwise: a pod that never ends would only show as a run that hangs."""
        if not played.cancelled() and (error := played.exception()) is not None:
            self.played.problems.append(f"{type(error).__name__}: {error}")

    def _work(self, pod: Manifest) -> bytes:
        labels, size = pod["metadata"]["labels"], message_limit(_containers(pod))
        if labels.get("opsgym.dev/role") == "preflight":
            preflight = PreflightSpec.model_validate_json(self._text(pod))
            self._store.put(RunKeys(preflight.run).suite_index, self._index)
            return fitted_report(PreflightReport(tasks=self._index.count(b"task_id")), size)
        spec = self._spec(pod)
        refs = trials_at(spec.trials, spec.trials_per_pod, int(labels[INDEX]))
        attempts = [self._score(spec, ref) for ref in refs]
        if len(attempts) == 1:
            return fitted_summary(summary_of(attempts[0]), size)
        return f"{len(refs)} of {len(refs)} trials are done; see their records".encode()

    def _score(self, spec: JobSpec, ref: TrialRef) -> AttemptRecord:
        trial = TrialId(spec.cell.key, ref.task_id, ref.trial)
        record = random_trial(spec.run, trial, spec.cell, random.Random(f"{spec.run} {trial}"))
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record = replaced(record, timings=replaced(record.timings, started_at=now))
        attempt, keys = attempt_of(record), RunKeys(spec.run).trial(spec.cell, ref.task_id, ref.trial)
        self._store.put(keys.attempt(0), attempt.to_json())
        self._store.put_once(keys.record, record.to_json())
        return attempt

    def _spec(self, pod: Manifest) -> JobSpec:
        key = (pod["metadata"]["namespace"], pod["metadata"]["labels"][JOB])
        if key not in self._specs:
            self._specs[key] = JobSpec.model_validate_json(self._text(pod))
        return self._specs[key]

    def _text(self, pod: Manifest) -> str:
        volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
        name = volumes[SPEC_VOLUME]["configMap"]["name"]
        return str(self._kube.get("ConfigMap", name, pod["metadata"]["namespace"])["data"]["job.json"])


@contextmanager
def playing(store: Store, entries: Sequence[SuiteEntry]) -> Iterator[Played]:
    """Plays all pods that run on simulated nodes while the context is open."""
    ended = threading.Event()
    with Kube(ADMIN) as kube, Kube(ADMIN) as watcher, ThreadPoolExecutor(THREADS) as pool:
        player = Player(kube, store, entries)

        def watch() -> None:
            begun: set[str] = set()
            while not ended.is_set():
                try:
                    for event in watcher.watch("/api/v1/pods", "0", RUNNING):
                        if ended.is_set():
                            return
                        pod = event["object"]
                        if event["type"] == "DELETED":  # it no longer runs
                            begun.discard(pod["metadata"]["uid"])
                        elif (
                            event["type"] in ("ADDED", "MODIFIED")
                            and _is_new(pod)
                            and pod["metadata"]["uid"] not in begun
                        ):
                            begun.add(pod["metadata"]["uid"])
                            pool.submit(player.play, pod).add_done_callback(player.note_fault)
                except (KubeError, httpx.HTTPError, OSError) as error:
                    if not ended.is_set():  # the connection is closed at the end, which ends the watch
                        player.played.problems.append(f"watch: {error}")

        thread = threading.Thread(target=watch, name="player", daemon=True)
        thread.start()
        try:
            yield player.played
        finally:
            ended.set()
            watcher.close()
            thread.join(5)


def _is_new(pod: Manifest) -> bool:
    return pod["spec"].get("nodeName", "").startswith("simulated-") and END not in pod["metadata"].get(
        "annotations", {}
    )


def _containers(pod: Manifest) -> int:
    return len(pod["spec"]["containers"]) + len(pod["spec"].get("initContainers", ()))
