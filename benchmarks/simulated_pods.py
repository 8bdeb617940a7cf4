"""Plays the programs of pods on simulated nodes: what they write to the store and report when they end.

Invariant: a simulated pod writes what a real one writes, in the same order and over the same time: of each of its
trials, when it ends, the attempt and the scored trial, then its termination message. Only the episodes are missing.
"""

from __future__ import annotations

import heapq
import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from datetime import UTC, datetime, timedelta

import httpx
from devcluster.kube import Kube, KubeError, Manifest
from devcluster.kwok import END
from devcluster.places import ADMIN

from benchmarks.large_run import attempt_of, random_trial
from opsgym_api.jobs.job_spec import JobSpec, PreflightReport, PreflightSpec, TrialRef, trials_at
from opsgym_api.records.attempt import AttemptRecord, TrialId
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.suite import SuiteEntry, SuiteIndex
from opsgym_core.store.base import Store
from opsgym_runner.pod.message import fitted_report, fitted_summary, message_limit, summary_of

THREADS = 16
"""Records and ends that are written at the same time: most of it is waiting for the store and the API server."""
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


class _Agenda:
    """Calls at their time, in threads of a pool. Thousands of pods last for minutes and need no thread meanwhile.

    Args:
        pool: The threads.
        ended: Called with each call that has ended.
    """

    def __init__(self, pool: ThreadPoolExecutor, ended: Callable[[Future[None]], None]) -> None:
        self._pool = pool
        self._ended = ended
        self._calls: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._closed = False

    def at(self, when: float, call: Callable[[], None]) -> None:
        """Calls something at a time of the monotonic clock."""
        with self._changed:
            heapq.heappush(self._calls, (when, next(self._numbers), call))
            self._changed.notify()

    def run(self) -> None:
        """Makes the calls until it is closed."""
        with self._changed:
            while not self._closed:
                left = self._calls[0][0] - time.monotonic() if self._calls else None
                if left is not None and left <= 0:
                    self._pool.submit(heapq.heappop(self._calls)[2]).add_done_callback(self._ended)
                else:
                    self._changed.wait(left)

    def close(self) -> None:
        """Makes no further call."""
        with self._changed:
            self._closed = True
            self._changed.notify()


@dataclass
class _Episodes:
    """What a pod plays in turn."""

    pod: Manifest
    spec: JobSpec
    refs: Sequence[TrialRef]
    began: float
    """When the first trial began, by the monotonic clock."""
    attempts: list[AttemptRecord] = field(default_factory=list)
    """Those that have ended."""


class Player:
    """Plays running pods.

    Args:
        kube: The API.
        store: The result store of all runs.
        entries: Rows of the suite that preflights freeze.
        trial_s: Seconds that a trial lasts.
    """

    def __init__(self, kube: Kube, store: Store, entries: Sequence[SuiteEntry], trial_s: float) -> None:
        self.played = Played()
        self._kube = kube
        self._store = store
        self._index = SuiteIndex(entries=list(entries)).model_dump_json().encode()
        self._trial_s = trial_s
        self._specs: dict[tuple[str, str], JobSpec] = {}
        self._running: set[str] = set()
        """Uids of pods that have begun and are not gone."""

    def note_change(self, event: Manifest, agenda: _Agenda) -> None:
        """Begins to play a pod that runs, unless it has begun, and plays it no further when it is gone."""
        pod = event["object"]
        uid = pod.get("metadata", {}).get("uid", "")
        if event["type"] == "DELETED":
            self._running.discard(uid)
        elif event["type"] in ("ADDED", "MODIFIED") and uid not in self._running and _is_new(pod):
            self._running.add(uid)
            agenda.at(0.0, lambda: self._begin(pod, agenda))

    def note_fault(self, played: Future[None]) -> None:
        """Counts what went wrong otherwise: a pod that never ends would only show as a run that hangs."""
        if not played.cancelled() and (error := played.exception()) is not None:
            self.played.problems.append(f"{type(error).__name__}: {error}")

    def _begin(self, pod: Manifest, agenda: _Agenda) -> None:
        labels = pod["metadata"]["labels"]
        try:
            if labels.get("opsgym.dev/role") == "preflight":
                self._end(pod, self._preflight(pod))
                return
            spec = self._spec(pod)
        except KubeError as error:
            self._note_refusal(error)
            return
        refs = trials_at(spec.trials, spec.trials_per_pod, int(labels[INDEX]))
        episodes = _Episodes(pod, spec, refs, time.monotonic())
        agenda.at(episodes.began + self._trial_s, lambda: self._end_trial(episodes, agenda))

    def _preflight(self, pod: Manifest) -> bytes:
        preflight = PreflightSpec.model_validate_json(self._text(pod))
        self._store.put(RunKeys(preflight.run).suite_index, self._index)
        return fitted_report(PreflightReport(tasks=self._index.count(b"task_id")), message_limit(_containers(pod)))

    def _end_trial(self, episodes: _Episodes, agenda: _Agenda) -> None:
        """Ends the trial that a pod is at, and the pod after its last one."""
        pod, refs, attempts = episodes.pod, episodes.refs, episodes.attempts
        if pod["metadata"]["uid"] not in self._running:
            return
        attempts.append(self._score(episodes.spec, refs[len(attempts)]))
        if len(attempts) < len(refs):
            # By the pod's begin, so that delays do not add up.
            due = episodes.began + (len(attempts) + 1) * self._trial_s
            agenda.at(due, lambda: self._end_trial(episodes, agenda))
        elif len(refs) == 1:
            self._end(pod, fitted_summary(summary_of(attempts[0]), message_limit(_containers(pod))))
        else:
            self._end(pod, f"{len(refs)} of {len(refs)} trials are done; see their records".encode())

    def _end(self, pod: Manifest, message: bytes) -> None:
        metadata = pod["metadata"]
        change = {"metadata": {"annotations": {END: message.decode()}}}
        try:
            _repeated(lambda: self._kube.patch("Pod", metadata["name"], metadata["namespace"], change))
        except KubeError as error:
            self._note_refusal(error)
        else:
            self.played.note(f"{metadata['namespace']}/{metadata['labels'][JOB]}")

    def _note_refusal(self, error: KubeError) -> None:
        if error.code != 404:  # deleted meanwhile, with its run
            self.played.problems.append(str(error))

    def _score(self, spec: JobSpec, ref: TrialRef) -> AttemptRecord:
        trial = TrialId(spec.cell.key, ref.task_id, ref.trial)
        record = random_trial(spec.run, trial, spec.cell, random.Random(f"{spec.run} {trial}"))
        began = (datetime.now(UTC) - timedelta(seconds=self._trial_s)).isoformat(timespec="milliseconds")
        timings = replaced(record.timings, started_at=began.replace("+00:00", "Z"), total_s=self._trial_s)
        record = replaced(record, timings=timings)
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
        content = _repeated(lambda: self._kube.get("ConfigMap", name, pod["metadata"]["namespace"]))
        return str(content["data"]["job.json"])


@contextmanager
def playing(store: Store, entries: Sequence[SuiteEntry], trial_s: float) -> Iterator[Played]:
    """Plays all pods that run on simulated nodes while the context is open.

    Args:
        store: The result store of all runs.
        entries: Rows of the suite that preflights freeze.
        trial_s: Seconds that a trial lasts.
    """
    ended = threading.Event()
    with Kube(ADMIN) as kube, Kube(ADMIN) as watcher, ThreadPoolExecutor(THREADS) as pool:
        player = Player(kube, store, entries, trial_s)
        agenda = _Agenda(pool, player.note_fault)

        def watch() -> None:
            while not ended.is_set():
                try:
                    for event in watcher.watch("/api/v1/pods", "0", RUNNING):
                        if ended.is_set():
                            return
                        player.note_change(event, agenda)
                except (KubeError, httpx.HTTPError, OSError) as error:
                    if not ended.is_set():  # the connection is closed at the end, which ends the watch
                        player.played.problems.append(f"watch: {error}")

        threads = [threading.Thread(target=run, name="player", daemon=True) for run in (watch, agenda.run)]
        for thread in threads:
            thread.start()
        try:
            yield player.played
        finally:
            ended.set()
            agenda.close()
            watcher.close()
            for thread in threads:
                thread.join(5)


def _repeated(request: Callable[[], Manifest]) -> Manifest:
    """What a request gives that may be sent twice; a node repeats one whose connection breaks, too."""
    try:
        return request()
    except httpx.TransportError:
        return request()


def _is_new(pod: Manifest) -> bool:
    return pod["spec"].get("nodeName", "").startswith("simulated-") and END not in pod["metadata"].get(
        "annotations", {}
    )


def _containers(pod: Manifest) -> int:
    return len(pod["spec"]["containers"]) + len(pod["spec"].get("initContainers", ()))
