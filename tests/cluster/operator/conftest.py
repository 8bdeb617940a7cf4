"""The operator beside the cluster, and the images of its pods on the node."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from devcluster.cluster import Cluster
from devcluster.kube import Kube
from tests.cluster.conftest import S3
from tests.cluster.operator.held_model import HeldModel, held_model
from tests.cluster.operator.world import ROOT, Operator, operating


@pytest.fixture(scope="session")
def task_images(cluster: Cluster) -> None:
    """The images of task pods on the node, as `make images` has built them."""
    for name in ("runner", "domains"):
        archive = ROOT / ".images" / f"{name}.tar"
        if not archive.exists():
            pytest.fail(f"{archive} is missing; `make images` builds it")
        cluster.import_image(archive)


@pytest.fixture
def operator(task_images: None, namespace: str, s3: S3, kube: Kube, tmp_path: Path) -> Iterator[Operator]:
    """An operator that looks after the test's namespace alone."""
    with operating(namespace, s3, tmp_path, kube) as operator:
        yield operator


@pytest.fixture
def model(operator: Operator, kube: Kube) -> Iterator[HeldModel]:
    """A model that pods can reach; after the operator, so that it serves inside the cluster's network."""
    with held_model(kube, operator.namespace) as model:
        yield model
