"""The cluster that these tests share, and what each test gets of it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import boto3
import pytest
from botocore.config import Config
from devcluster import cluster as clusters
from devcluster import sandbox
from devcluster.cluster import Cluster
from devcluster.errors import ClusterError
from devcluster.kube import Kube, KubeError
from devcluster.places import ADMIN, ROOT, S3_ACCESS_KEY, S3_BUCKET, S3_REGION, S3_SECRET_KEY, S3_URL
from types_boto3_s3 import S3Client


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Shows beside a failure what happened in the test's namespace, which is gone afterwards."""
    report = yield
    namespace = getattr(item, "funcargs", {}).get("namespace")
    if report.when == "call" and report.failed and namespace is not None:
        used = Cluster()
        for what in (("get", "pods", "-o", "wide"), ("events",)):
            report.sections.append((f"kubectl {what[0]}", used.kubectl("-n", namespace, *what).stdout))
        report.sections.append(("logs of the cluster", str(used.logs)))
    return report


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A running cluster; the tests of this process are inside its network from now on.

    One that `make cluster-up` has started is used as it is and stays; otherwise one is started for this test run. With
    `-n` each process has its own.
    """
    try:
        clusters.check_machine()
    except ClusterError as error:
        if "CI" in os.environ:
            raise
        pytest.skip(str(error))
    if clusters.owner() is not None:
        pytest.fail("another test run uses the cluster; wait for it, or set OPSGYM_CACHE to another folder")
    running = clusters.running()
    used = running or clusters.up(owner=os.getpid())
    try:
        with sandbox.network():
            yield used
    finally:
        if running is None:
            clusters.down()


@pytest.fixture(scope="session")
def task_images(cluster: Cluster) -> None:
    """The images of task pods on the node, as `make images` has built them."""
    for name in ("runner", "domains"):
        archive = ROOT / ".images" / f"{name}.tar"
        if not archive.exists():
            pytest.fail(f"{archive} is missing; `make images` builds it")
        cluster.import_image(archive)


@pytest.fixture
def kube(cluster: Cluster) -> Iterator[Kube]:
    """The API, with an administrator's rights."""
    with Kube(ADMIN) as client:
        yield client


@pytest.fixture
def namespace(kube: Kube) -> Iterator[str]:
    """A new namespace that allows only pods of the strictest Pod Security Standard."""
    with new_namespace(kube) as name:
        yield name


@contextmanager
def new_namespace(kube: Kube) -> Iterator[str]:
    """A namespace that allows only pods of the strictest Pod Security Standard, while the context is open."""
    name = f"t-{secrets.token_hex(3)}"
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    try:
        kube.wait("ServiceAccount", "default", name, lambda _: True)
        yield name
    finally:
        remove_namespace(kube, name)


def remove_namespace(kube: Kube, namespace: str) -> None:
    """Deletes a namespace, without waiting for its end.

    Finalizers of our kinds are removed: the operator that would do so is gone, and the namespace would stay for ever.
    """
    kube.delete("Namespace", namespace)
    for kind in ("EvalRun", "EvalModel", "EvalSchedule"):
        try:
            names = [item["metadata"]["name"] for item in kube.list(kind, namespace)]
            for name in names:
                kube.patch(kind, name, namespace, {"metadata": {"finalizers": None}})
        except KubeError as error:
            if error.code != 404:  # the kind is not defined, or the object has just gone
                raise


@dataclass(frozen=True)
class S3:
    """A store of one test.

    Attributes:
        url: Where, with a prefix of the test's own.
        secret: Name of the Secret in the test's namespace that holds the credentials.
        client: Access to all of the server.
    """

    url: str
    secret: str
    client: S3Client
    endpoint_url: str = S3_URL
    region: str = S3_REGION
    access_key_id: str = S3_ACCESS_KEY
    secret_access_key: str = S3_SECRET_KEY


@pytest.fixture
def s3(kube: Kube, namespace: str) -> S3:
    """A place in the S3 server, and a Secret with the credentials in the test's namespace."""
    data = {"access-key-id": S3_ACCESS_KEY, "secret-access-key": S3_SECRET_KEY}
    metadata = {"name": "opsgym-results", "namespace": namespace}
    kube.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data})
    return S3(f"s3://{S3_BUCKET}/{namespace}", "opsgym-results", s3_client())


def s3_client() -> S3Client:
    """Access to all of the S3 server."""
    return boto3.client(
        "s3",
        endpoint_url=S3_URL,
        region_name=S3_REGION,
        aws_access_key_id=S3_ACCESS_KEY,
        aws_secret_access_key=S3_SECRET_KEY,
        config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
    )
