"""Who a pod is: from its token as the API server reviewed it, the pod, its Job and the Job's ConfigMap.

Invariant: nothing that a request says is believed. The namespace is the token's; the run is the EvalRun that owns the
Job that owns the pod; the trials are those of the operator's ConfigMap at the pod's completion index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from opsgym_api.jobs.job_spec import JobSpec, PreflightSpec, trials_at
from opsgym_core.kube.client import Manifest
from opsgym_operator.config import OperatorConfig
from opsgym_operator.gateway.access import Denied, PodAccess, SuiteAccess
from opsgym_operator.observe.labels import (
    JOB_SPEC_KEY,
    LABEL_INDEX,
    LABEL_MANAGED_BY,
    LABEL_RUN_UID,
    MANAGER,
    PREFLIGHT,
    TASK,
    role_of,
)
from opsgym_operator.observe.parse import controller_of, label

Spec = TypeVar("Spec", JobSpec, PreflightSpec)

_EXTRA = "authentication.kubernetes.io/"
_ACCOUNT = "system:serviceaccount:"


class Unauthenticated(Exception):
    """A token does not identify a pod to this gateway; the message says why."""


@dataclass(frozen=True)
class TokenPod:
    """The pod that a token was issued to."""

    namespace: str
    name: str
    uid: str


def token_pod(review: Manifest, audience: str, account: str) -> TokenPod:
    """The pod that a reviewed token is bound to.

    Args:
        review: Status of the TokenReview.
        audience: Audience that the token must be for.
        account: Name of the ServiceAccount of the pods of runs.

    Raises:
        Unauthenticated: The token is not valid, or not one of such a pod.
    """
    if review.get("authenticated") is not True or audience not in (review.get("audiences") or ()):
        raise Unauthenticated("the token has expired, or is not for this store gateway")
    user = review.get("user") or {}
    namespace, _, name = str(user.get("username", "")).removeprefix(_ACCOUNT).partition(":")
    extra = user.get("extra") or {}
    pod, uid = (next(iter(extra.get(f"{_EXTRA}{field}") or ()), "") for field in ("pod-name", "pod-uid"))
    if not (str(user.get("username", "")).startswith(_ACCOUNT) and name == account and namespace and pod and uid):
        raise Unauthenticated(f"the token is not bound to a pod with the ServiceAccount {account}")
    return TokenPod(namespace, str(pod), str(uid))


def require_running(pod: Manifest | None, identity: TokenPod) -> Manifest:
    """The pod of a token, if it has not ended.

    Raises:
        Denied: The pod is gone or has ended.
    """
    if pod is None or pod["metadata"]["uid"] != identity.uid:
        raise Denied(f"pod {identity.name} is gone")
    if pod["status"].get("phase") not in ("Pending", "Running"):
        raise Denied(f"pod {identity.name} has ended")
    return pod


def job_of(pod: Manifest) -> str:
    """Name of the Job that controls a pod.

    Raises:
        Denied: None does.
    """
    name = controller_of(pod, "Job").get("name")
    if not name or not _is_labelled(pod):
        raise Denied(f"pod {pod['metadata']['name']} belongs to no EvalRun")
    return str(name)


def access_of(
    pod: Manifest, job: Manifest | None, config_map: Manifest | None, namespace: str, config: OperatorConfig
) -> PodAccess:
    """What the rights of a pod depend on.

    Args:
        pod: The pod.
        job: The Job of the name that the pod's owner reference has.
        config_map: The ConfigMap of that name.
        namespace: Namespace of the pod.
        config: The installation's configuration.

    Raises:
        Denied: The pod belongs to no run, or its run may not use its store.
    """
    name, uid = str(pod["metadata"]["name"]), controller_of(pod, "Job").get("uid")
    if job is None or config_map is None or job["metadata"]["uid"] != uid or not _is_labelled(job):
        raise Denied(f"the Job of pod {name} is gone")
    run = controller_of(job, "EvalRun")
    owner = controller_of(config_map, "EvalRun")
    if not run or run.get("uid") != owner.get("uid") or not _is_labelled(config_map):
        raise Denied(f"pod {name} belongs to no EvalRun")
    role = role_of(str(job["metadata"]["name"]), str(run["name"]))
    run_id, started_at = f"{namespace}.{run['name']}.{run['uid']}", str(pod["status"].get("startTime", ""))
    content = (config_map.get("data") or {}).get(JOB_SPEC_KEY, "")
    if role == TASK:
        access = _task_access(_spec(content, JobSpec, name), run_id, started_at, label(pod, LABEL_INDEX))
    elif role == PREFLIGHT:
        access = _preflight_access(_spec(content, PreflightSpec, name), run_id, started_at, namespace, config)
    else:
        raise Denied(f"pod {name} belongs to no EvalRun")
    if access is None or access.store not in config.stores_of(namespace):
        raise Denied(f"the job spec of pod {name} is not one of run {run_id}, or its store is not for the namespace")
    return access


def _task_access(spec: JobSpec, run: str, started_at: str, index: str) -> PodAccess | None:
    trials = trials_at(spec.trials, spec.trials_per_pod, int(index)) if index.isdecimal() else ()
    if spec.run != run or not trials:
        return None
    return PodAccess(run, spec.store, started_at, spec.cell, tuple(trials))


def _preflight_access(
    spec: PreflightSpec, run: str, started_at: str, namespace: str, config: OperatorConfig
) -> PodAccess | None:
    if spec.run != run:
        return None
    return PodAccess(run, spec.store, started_at, suite=_suite_access(spec, namespace, config))


def _suite_access(spec: PreflightSpec, namespace: str, config: OperatorConfig) -> SuiteAccess | None:
    """Where a suite in an object store is read: in the file's folder, since rows name files beside it."""
    source = spec.suite.object_store
    store = config.stores_of(namespace).get(source.store) if source is not None else None
    if source is None or store is None or not config.may_read_suite(store, source.key, namespace):
        return None
    whole = config.may_read_suite(store, source.folder, namespace)
    return SuiteAccess(store.name, source.folder, source.folder if whole else source.key)


def _spec(content: str, kind: type[Spec], pod: str) -> Spec:
    try:
        return kind.model_validate_json(content, extra="ignore")
    except ValidationError:
        raise Denied(f"the job spec of pod {pod} cannot be read") from None


def _is_labelled(item: Manifest) -> bool:
    """Whether an object has the labels that the admission policy reserves for the operator."""
    return label(item, LABEL_MANAGED_BY) == MANAGER and bool(label(item, LABEL_RUN_UID))
