"""Containers that hold no key of a store: they read and write through the store gateway."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from devcluster.certificates import Authority
from tests.operator_io.api_server import api_server
from tests.pods.pod import KEY, RUN, Pod, hosted, job_spec, until
from tests.pods.s3 import S3, s3_server
from tests.pods.test_outages import HeldReply
from tests.pods.test_preflight import mount, order
from tests.runner.jobs import ROW
from tests.runner.servers import serving
from tests.runner.stub_model import StubModel, calls, says
from tests.support.store_gateway import PodList, running, token

from opsgym_api.jobs.exit_codes import Exit
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_gateway import ENV_STORE_TOKEN, store_url
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.store.mounted import Stores
from opsgym_operator.config import OperatorConfig
from opsgym_operator.gateway.certificate import ServerCertificate

LONG_AGO = "2000-01-01T00:00:00Z"


@dataclass
class World:
    """A pod, the gateway that it uses, and what is behind the gateway."""

    pod: Pod
    pods: PodList
    config: OperatorConfig
    stores: Stores

    @contextmanager
    def gateway(self, port: int = 0) -> Iterator[int]:
        """Serves while the context is open; yields the port."""
        with running(self.pods, self.config, self.stores, port=port) as url:
            self.pod.location = store_url(url, "results")
            yield int(url.rpartition(":")[2])

    def admit(self, spec: Mapping[str, Any], role: str = "task") -> dict[str, Any]:
        """Lets the API server know the pod of a job spec; the spec."""
        spec = {**spec, "store": "results"}
        self.pods.add(spec, role=role, started=LONG_AGO)
        return spec


@pytest.fixture
def s3() -> Iterator[S3]:
    with s3_server() as server:
        yield server


@pytest.fixture
def world(s3: S3, tmp_path: Path) -> Iterator[World]:
    bucket, keys = f"b-{time.time_ns()}", tmp_path / "stores" / "results"
    s3.make_bucket(bucket)
    keys.mkdir(parents=True)
    (keys / "access-key-id").write_text("id")
    (keys / "secret-access-key").write_text(KEY)
    store = {
        "name": "results",
        "url": f"s3://{bucket}/runs",
        "endpointUrl": s3.url,
        "secret": "key",
        "region": "us-east-1",
    }
    config = OperatorConfig.model_validate(
        {"stores": [store], "defaultStore": "results", "images": {"runner": "r", "domains": "d"}}
    )
    stores, folder = Stores(config.store_by_name, keys.parent), tmp_path / "pod"
    folder.mkdir()
    (folder / "token").write_text(token("pod"))
    with api_server() as api:
        pod = Pod(folder, stores.get("results"), "", {ENV_STORE_TOKEN: str(folder / "token")})
        yield World(pod, PodList(api), config, stores)
    stores.close()


def test_a_preflight_freezes_a_suite_and_a_trial_is_scored_without_a_key(world: World, gym_url: str) -> None:
    mount(world.pod, [ROW])
    with world.gateway():
        spec = world.admit(order(), role="preflight")
        frozen = world.pod.run("preflight", spec, OPSGYM_SUITE=str(world.pod.folder / "suite"))
        assert (frozen.code, frozen.report.problems) == (Exit.DONE, [])
        assert world.pod.store.get(RunKeys(RUN).suite_index) is not None
        world.pods.reviews.clear()
        (world.pod.folder / "token").write_text(token("second"))
        world.pods.add({**job_spec(gym_url), "store": "results"}, "second", started=LONG_AGO)
        ended = world.pod.task(job_spec(gym_url))
    assert (ended.code, ended.summary.outcome) == (Exit.DONE, Outcome.PASSED)
    trial = world.pod.trial()
    assert trial is not None
    assert trial.outcome is Outcome.PASSED
    assert world.pod.store.get(world.pod.keys.transcript) is not None


def test_a_gateway_that_is_killed_and_started_again_loses_nothing(world: World, gym_url: str) -> None:
    world.pod.freeze()
    held = HeldReply(calls(("rename_note", {"id": 1, "text": "done"})))
    replies = StubModel(held, calls(("add_note", {"text": "more"})), says("Both are done."))
    with serving(replies.app) as url:
        spec = world.admit(job_spec(gym_url, model=hosted(url), limits={"taskTimeoutSeconds": 60}))
        with world.gateway() as port:
            started = world.pod.started("task", spec, JOB_COMPLETION_INDEX="0", KEY_0=KEY)
            container = started.__enter__()
            until(lambda: held.requested, "the model is requested")
        try:
            held.released = True
            container.wait_for("store unreachable, retrying")
            with world.gateway(port):
                ended = container.end()
        finally:
            started.__exit__(None, None, None)
    assert (ended.code, ended.summary.outcome) == (Exit.DONE, Outcome.PASSED)
    trial = world.pod.trial()
    assert trial is not None
    assert (trial.outcome, trial.steps) == (Outcome.PASSED, 3)
    assert world.pod.attempt().outcome is Outcome.PASSED


def test_a_pod_reaches_the_gateway_by_https_with_the_ca_that_it_is_given(
    world: World, gym_url: str, tmp_path: Path
) -> None:
    world.pod.freeze()
    authority = Authority(tmp_path / "ca")
    authority.issue_server("tls", "gateway", dns=(), addresses=("127.0.0.1",))
    certificate = ServerCertificate(authority.folder)
    world.admit(job_spec(gym_url))
    with running(world.pods, world.config, world.stores, tls=certificate.context) as url:
        world.pod.location = store_url(url, "results")
        spec = {**job_spec(gym_url), "store": "results"}
        with world.pod.started("task", spec, JOB_COMPLETION_INDEX="0") as distrusting:
            distrusting.wait_for("cannot be reached (ConnectError)")
        assert world.pod.trial() is None
        ended = world.pod.task(spec, SSL_CERT_FILE=str(authority.folder / "ca.crt"))
    assert (ended.code, ended.summary.outcome) == (Exit.DONE, Outcome.PASSED)
    assert world.pod.trial() is not None


def test_a_container_without_its_token_file_does_not_start(world: World, gym_url: str) -> None:
    world.pod.location, world.pod.environment = "http://127.0.0.1:9/stores/results", {}
    ended = world.pod.task(job_spec(gym_url))
    assert ended.code == Exit.NO_JOB_SPEC
    assert ENV_STORE_TOKEN in ended.message.decode()
