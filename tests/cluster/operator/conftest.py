"""The operator beside the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from devcluster.kube import Kube
from tests.cluster.conftest import S3
from tests.cluster.operator.held_model import HeldModel, held_model
from tests.cluster.operator.world import Operator, operating


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
