"""What surrounds a task pod goes away in mid-episode: its store, its gym server, its Postgres."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.responses import Response
from tests.itsm.seed import SEED, TOKEN
from tests.pods.pod import KEY, Pod, hosted, job_spec, until
from tests.pods.s3 import S3, s3_server
from tests.runner.servers import serving
from tests.runner.stub_model import StubModel, calls, says
from tests.support.gym import gym_server

from opsgym_api.jobs.exit_codes import Exit
from opsgym_api.records.outcomes import Outcome
from opsgym_core.store.location import open_store
from opsgym_core.store.s3 import S3Access


@pytest.fixture
def s3() -> Iterator[S3]:
    with s3_server() as server:
        yield server


@pytest.fixture
def s3_pod(tmp_path: Path, s3: S3) -> Pod:
    """A pod whose store is in the bucket."""
    bucket = f"b-{time.time_ns()}"
    s3.make_bucket(bucket)
    store = open_store(f"s3://{bucket}/runs", S3Access(s3.url, "us-east-1", "id", SecretStr(KEY)))
    return Pod(tmp_path, store, f"s3://{bucket}/runs", s3.access)


@dataclass
class HeldReply:
    """A reply of a model that comes when the test says so."""

    reply: Response
    requested: bool = False
    released: bool = False

    async def __call__(self) -> Response:
        self.requested = True
        while not self.released:  # noqa: ASYNC110 - set by the test's thread
            await asyncio.sleep(0.01)
        return self.reply


def test_a_result_outlives_an_outage_of_the_store(s3_pod: Pod, s3: S3, gym_url: str) -> None:
    s3_pod.freeze()
    held = HeldReply(calls(("rename_note", {"id": 1, "text": "done"})))
    replies = StubModel(held, calls(("add_note", {"text": "more"})), says("Both are done."))
    with serving(replies.app) as url:
        order = job_spec(gym_url, model=hosted(url), limits={"taskTimeoutSeconds": 60})
        with s3_pod.started("task", order, JOB_COMPLETION_INDEX="0", KEY_0=KEY) as running:
            until(lambda: held.requested, "the model is requested")
            s3.down()
            held.released = True
            running.wait_for("store unreachable, retrying")
            s3.up()
            ended = running.end()

    assert (ended.code, ended.summary.outcome) == (Exit.DONE, Outcome.PASSED)
    trial = s3_pod.trial()
    assert trial is not None
    assert (trial.outcome, trial.steps) == (Outcome.PASSED, 3)
    assert s3_pod.attempt().outcome == Outcome.PASSED


def test_a_container_stopped_without_its_store_ends_in_time_with_its_cost_in_the_message(
    s3_pod: Pod, s3: S3, gym_url: str
) -> None:
    s3_pod.freeze()
    held = HeldReply(says("Done."))
    with serving(StubModel(calls(("idle_0", {})), held).app) as url:
        order = job_spec(gym_url, model=hosted(url))
        with s3_pod.started("task", order, JOB_COMPLETION_INDEX="0", KEY_0=KEY) as running:
            until(lambda: held.requested, "the model is requested a second time")
            s3.down()
            held.released = True
            running.wait_for("store unreachable, retrying")
            stopped_at = time.monotonic()
            running.terminate()
            ended = running.end(25)
    s3.up()

    assert time.monotonic() - stopped_at < 20
    assert ended.code == Exit.TERMINATED
    assert ended.summary.cost_usd == pytest.approx(2200 / 1e6)
    assert s3_pod.trial() is None
    assert KEY not in running.log


LOOK = ("find_incident_by_id", {"incident_id": "INC_001"})
DESK = {
    "task_id": "rename-first",
    "user_prompt": "Look at incident INC_001.",
    "selected_tools": [LOOK[0]],
    "gym_servers_config": [
        {"mcp_server_name": "gym-itsm-mcp", "seed_database_file": "desk.sql", "context": {"x-itsm-user-token": TOKEN}}
    ],
    "verifiers": [{"verifier_type": "answer_match", "name": "answers", "validation_config": {"patterns": ["done"]}}],
}


@dataclass
class Desk:
    """A real gym server with its Postgres, which tests take away."""

    port: int
    url: str = ""
    socket_folder: str = ""
    _open: list[Any] = field(default_factory=list)

    def start(self) -> None:
        """Starts both, with nothing in them, at the address at which they were before."""
        server = gym_server("itsm", "--port", str(self.port))
        gym = server.__enter__()
        self._open.append(server)
        self.url, self.socket_folder = gym.url, gym.socket_folder

    def stop(self) -> None:
        """Ends both."""
        while self._open:
            self._open.pop().__exit__(None, None, None)

    def restart(self) -> None:
        """What Kubernetes does with a sidecar that ended."""
        self.stop()
        self.start()

    def kill_postgres(self) -> None:
        """Leaves the gym server without its Postgres, whose container refuses to start over."""
        postmaster = (Path(self.socket_folder) / "data" / "postmaster.pid").read_text().splitlines()[0]
        os.kill(int(postmaster), signal.SIGKILL)


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    desk = Desk(port)
    try:
        desk.start()
        yield desk
    finally:
        desk.stop()


@pytest.mark.xdist_group("task pod at the desk")
@pytest.mark.parametrize("happening", [Desk.restart, Desk.stop, Desk.kill_postgres])
def test_a_gym_or_postgres_lost_during_an_episode_is_an_infra_error(
    pod: Pod, desk: Desk, happening: Callable[[Desk], None]
) -> None:
    if not desk._open:
        desk.start()
    held = HeldReply(calls(LOOK))
    pod.freeze(DESK, SEED)
    with serving(StubModel(calls(LOOK), held, says("All done.")).app) as url:
        order = job_spec("", model=hosted(url), gyms={"itsm": desk.url})
        with pod.started("task", order, JOB_COMPLETION_INDEX="0", KEY_0=KEY) as running:
            until(lambda: held.requested, "the model is requested a second time")
            happening(desk)
            held.released = True
            ended = running.end()

    record = pod.attempt()
    assert (ended.code, record.outcome, record.reason) == (Exit.INFRA_ERROR, Outcome.INFRA_ERROR, "gym_lost")
    assert record.steps == 2
    assert record.cost_usd == pytest.approx(2200 / 1e6)
    assert pod.trial() is None
