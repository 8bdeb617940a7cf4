"""A cluster leaves nothing behind, however its owner ends.

These tests start clusters of their own, beside the one that the other tests share.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from devcluster.cluster import Cluster
from devcluster.places import PROGRAMS, ROOT
from devcluster.processes import until

OWNED = "import os; from devcluster import cluster; cluster.up(owner=os.getpid()); print('up', flush=True); input()"
POD = ("run", "sleeper", "--image=localhost/busybox:1", "--image-pull-policy=Never", "--command", "--", "sleep", "1000")


@dataclass(frozen=True)
class Place:
    """A cache folder of its own, so that a cluster there has nothing in common with the shared one."""

    cache: Path

    @property
    def state(self) -> Path:
        return self.cache / "cluster"

    @property
    def environment(self) -> dict[str, str]:
        usual = {name: value for name, value in os.environ.items() if name != "PYTEST_XDIST_WORKER"}
        return {**usual, "OPSGYM_CACHE": str(self.cache), "PYTHONPATH": str(ROOT)}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, env=self.environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
        )

    def kubectl(self, *arguments: str) -> str:
        command = [str(self.state / "enter"), "kubectl", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout

    def start_pod(self) -> None:
        assert until(lambda: "default" in self.kubectl("get", "serviceaccounts"), 30)
        self.kubectl(*POD)
        self.kubectl("wait", "--for=condition=Ready", "pod/sleeper", "--timeout=60s")

    def left(self) -> dict[str, list[str]]:
        """What of the cluster is still there; its log folder may be."""
        group = subprocess.run(
            [sys.executable, "-c", "from devcluster import places; print(places.GROUP)"],
            env=self.environment, cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip
        left = {
            "processes": [path.parent.name for path in Path("/proc").glob("[0-9]*/cmdline") if self._concerns(path)],
            # Other clusters' groups come and go meanwhile, which `glob` does not take.
            "groups": [folder for folder, within, _ in os.walk("/sys/fs/cgroup") if group in within],
            "mounts": [
                line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(self.cache) in line
            ],
            "files": [path.name for path in self.state.glob("*") if path.name != "log"],
        }
        return {kind: items for kind, items in left.items() if items}

    def _concerns(self, path: Path) -> bool:
        try:
            return str(self.cache) in path.read_text() or str(self.cache) in (path.parent / "environ").read_text()
        except OSError:  # it has just ended
            return False


@pytest.fixture
def place(cluster: Cluster) -> Iterator[Place]:
    # Paths of sockets may have 107 characters at most, fewer than pytest's temporary folders leave.
    made = Place(Path(tempfile.mkdtemp(prefix="opsgym-")))
    (made.cache / "bin").symlink_to(PROGRAMS)
    try:
        yield made
    finally:
        made.run("-m", "devcluster.down")
        shutil.rmtree(made.cache)


def settings() -> dict[str, str]:
    names = ("vm/overcommit_memory", "kernel/panic", "kernel/panic_on_oops")
    return {name: (Path("/proc/sys") / name).read_text() for name in names}


def test_a_cluster_that_is_taken_down_leaves_its_logs_and_nothing_else(place: Place) -> None:
    before = settings()
    started = place.run("-m", "devcluster.up")
    assert "ready" in started.stdout, started.stderr
    place.start_pod()
    assert set(place.left()) == {"processes", "groups", "files"}
    again = place.run("-m", "devcluster.up")
    assert "runs already" in again.stdout
    assert place.run("-m", "devcluster.down").returncode == 0
    assert place.left() == {}
    assert (place.state / "log" / "audit.jsonl").exists()
    assert settings() == before


def test_a_killed_test_run_leaves_no_cluster(place: Place) -> None:
    command = [sys.executable, "-c", OWNED]
    with subprocess.Popen(
        command, env=place.environment, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "up\n"
        place.start_pod()
        owner.send_signal(signal.SIGKILL)
    assert until(lambda: place.left() == {}, 30), place.left()


def test_what_a_dead_cluster_left_is_removed_by_the_next(place: Place) -> None:
    assert place.run("-m", "devcluster.up").returncode == 0
    place.start_pod()
    record = "import json, sys; print(json.load(open(sys.argv[1]))['pid'])"
    init = int(place.run("-c", record, str(place.state / "processes" / "init.json")).stdout)
    os.kill(init, signal.SIGKILL)
    assert until(lambda: "processes" not in place.left(), 30), place.left()
    assert place.run("-m", "devcluster.up").returncode == 0
    assert "sleeper" not in place.kubectl("get", "pods")


def test_what_killed_test_runs_left_is_removed_before_the_tests_but_for_its_logs(place: Place) -> None:
    left = place.cache / "cluster-gw7"
    for file in (left / "s3" / "bucket" / "object", left / "log" / "etcd.log"):
        file.parent.mkdir(parents=True)
        file.write_text("")
    assert place.run("-m", "devcluster.up").returncode == 0
    assert place.run("-m", "devcluster.prepare").returncode == 0
    assert [path.name for path in left.iterdir()] == ["log"]
    assert "node1" in place.kubectl("get", "nodes")  # a cluster that runs stays
