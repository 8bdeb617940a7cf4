"""The heartbeat of a pod's main container, and the kubelet's probe of it: the real script in a real shell."""

from __future__ import annotations

import asyncio
import faulthandler
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.pods.pod import Pod

from opsgym_api.jobs.heartbeat import ENV_HEARTBEAT, HUNG
from opsgym_operator.manifests.liveness import probe_script
from opsgym_runner.pod import heartbeat
from opsgym_runner.pod.heartbeat import Heartbeat


@dataclass
class Container:
    """The files of a container that the kubelet probes."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "heartbeat"

    @property
    def message(self) -> str:
        log = self.folder / "termination-log"
        return log.read_text() if log.exists() else ""

    def heartbeat(self) -> Heartbeat:
        return Heartbeat({ENV_HEARTBEAT: str(self.file)})

    def probe(self) -> int:
        """Exit code of one probe, which must run no program beside the shell."""
        script = probe_script(str(self.file), str(self.folder / "termination-log"))
        ended = subprocess.run(["/bin/sh", "-c", script], check=False, env={"PATH": ""}, capture_output=True, text=True)
        assert not ended.stderr
        return ended.returncode


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    yield Container(tmp_path)
    faulthandler.cancel_dump_traceback_later()


def test_a_container_that_makes_progress_passes_every_probe(container: Container) -> None:
    beats = container.heartbeat()
    codes = []
    for _ in range(3):
        beats.beat()
        codes.append(container.probe())
    assert (codes, container.message) == ([0, 0, 0], "")


def test_a_container_that_stands_still_fails_and_leaves_the_cause(container: Container) -> None:
    container.heartbeat().beat()
    assert [container.probe() for _ in range(3)] == [0, 1, 1]
    assert container.message.startswith(HUNG)


def test_a_container_that_goes_on_takes_the_cause_back(container: Container) -> None:
    beats = container.heartbeat()
    beats.beat()
    assert [container.probe(), container.probe()] == [0, 1]
    beats.beat()
    assert (container.probe(), container.message) == (0, "")


def test_a_termination_message_of_the_container_stays(container: Container) -> None:
    (container.folder / "termination-log").write_text("done")
    beats = container.heartbeat()
    for _ in range(2):
        beats.beat()
        assert container.probe() == 0
    assert container.message == "done"


def test_a_container_without_a_heartbeat_is_left_alone(container: Container) -> None:
    assert [container.probe(), container.probe()] == [0, 0], "an older image, or a container that has just started"


def test_a_restarted_process_counts_as_progress(container: Container) -> None:
    container.heartbeat().beat()
    assert container.probe() == 0
    container.file.write_text("1-1\n")
    assert container.probe() == 0


def test_an_event_loop_that_is_blocked_does_not_beat(container: Container, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "BEAT_S", 0.001)

    async def work() -> tuple[str, str]:
        await asyncio.sleep(0.01)
        before = container.file.read_text()
        time.sleep(0.05)  # noqa: ASYNC251 - what is tested
        return before, container.file.read_text()

    before, after = asyncio.run(container.heartbeat().during(work()))
    assert before == after


def test_waiting_is_progress(container: Container, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "BEAT_S", 0.001)

    async def work() -> None:
        seen: set[str] = set()
        while len(seen) < 10:
            await asyncio.sleep(0.001)
            seen.add(container.file.read_text())

    asyncio.run(container.heartbeat().during(work()))


@pytest.mark.parametrize("command", ["task", "preflight"])
def test_a_container_beats_before_anything_can_hang(pod: Pod, command: str) -> None:
    file = pod.folder / "heartbeat"
    pod.run(command, None, **{ENV_HEARTBEAT: str(file)})
    assert file.exists()


def test_without_a_file_there_is_no_heartbeat(pod: Pod) -> None:
    before = set(pod.folder.iterdir())
    Heartbeat({}).beat()
    assert set(pod.folder.iterdir()) == before
