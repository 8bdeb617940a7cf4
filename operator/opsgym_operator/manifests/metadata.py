"""Metadata of the objects of a run. Invariant: each object is owned by its EvalRun, so deleting that deletes it."""

from __future__ import annotations

from opsgym_api.kinds.evalmodel import API_VERSION
from opsgym_operator.observe.labels import (
    LABEL_MANAGED_BY,
    LABEL_PART_OF,
    LABEL_RUN,
    LABEL_RUN_UID,
    MANAGER,
    PART_OF,
)
from opsgym_operator.observe.objects import ObservedRun
from opsgym_operator.observe.parse import Manifest


def metadata(run: ObservedRun, name: str, labels: Manifest) -> Manifest:
    """Metadata of an object of a run."""
    return {
        "name": name,
        "namespace": run.namespace,
        "labels": run_labels(run) | labels,
        "ownerReferences": [owner_reference("EvalRun", run.name, run.uid)],
    }


def run_labels(run: ObservedRun) -> Manifest:
    """Labels of every object of a run, its pods included."""
    return {LABEL_MANAGED_BY: MANAGER, LABEL_PART_OF: PART_OF, LABEL_RUN: run.name, LABEL_RUN_UID: run.uid}


def owner_reference(kind: str, name: str, uid: str) -> Manifest:
    """The controlling owner of an object."""
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
