"""What the chart's admission policies deny; that an API server takes them is proved in `tests/cluster`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from tests.helm.admission import Manifest, Request, denials
from tests.helm.charts import STORE, rendered
from tests.operator.manifests.material import task

from opsgym_api.kinds.credentials import SECRET_HEADER

WIDE: Mapping[str, Any] = {"clusterWide": True, "stores": [STORE]}
NAMESPACED: Mapping[str, Any] = {
    "namespaces": ["team"],
    "stores": [STORE],
    "admissionPolicy": {"enabled": True},
}
ALLOWED = {"opsgym.dev/evalruns": "allowed"}
OPERATOR = "system:serviceaccount:evals:opsgym-operator"
JOB_CONTROLLER = "system:serviceaccount:kube-system:job-controller"
KEY_HEADER = {"name": "X-Key", "valueFrom": {"secret": "gpt"}}

either = pytest.mark.parametrize("values", [WIDE, NAMESPACED], ids=["cluster-wide", "namespaced"])


def listing(values: Mapping[str, Any], **credentials: Any) -> list[Manifest]:
    """The objects of an installation that lists the Secrets of models."""
    return rendered({**values, "credentials": credentials})


def run(**inline: Any) -> Manifest:
    """An EvalRun with one model by name and one inline."""
    models = [{"name": "a", "ref": "gpt"}, {"name": "b", "inline": {"model": "openai/x", **inline}}]
    return {"kind": "EvalRun", "metadata": {"name": "r"}, "spec": {"models": models}}


def schedule(**inline: Any) -> Manifest:
    return {
        "kind": "EvalSchedule",
        "metadata": {"name": "s"},
        "spec": {"runTemplate": {"spec": run(**inline)["spec"]}, "schedule": "0 1 * * *"},
    }


def evalmodel(**spec: Any) -> Manifest:
    return {"kind": "EvalModel", "metadata": {"name": "m"}, "spec": {"model": "openai/x", **spec}}


def written(document: Manifest, old: Manifest | None = None, labels: Mapping[str, str] = ALLOWED) -> Request:
    """A tenant's request for one of opsgym's kinds."""
    return Request(f"{document['kind'].lower()}s", "tenant", document, old, namespace_labels=labels)


@either
@pytest.mark.parametrize("kind", [run, schedule])
@pytest.mark.parametrize(
    "fields",
    [
        {"credentials": {"secret": "gpt"}},
        {"aws": {"secret": "gpt"}},
        {"endpoints": [{"url": "https://a"}, {"url": "https://mine", "credentials": {"secret": "gpt"}}]},
        {"endpoints": [{"url": "https://mine", "headers": [KEY_HEADER]}]},
    ],
)
def test_an_evalrun_that_names_a_secret_is_denied(values: Mapping[str, Any], kind: Any, fields: Any) -> None:
    message = "an EvalRun may not name Secrets; name an EvalModel that has the credentials in ref"
    assert denials(rendered(values), written(kind(**fields))) == [message]
    open_to = listing(values, allowInline=True, secretNames=["gpt"])
    assert denials(open_to, written(kind(**fields))) == []
    [other] = denials(listing(values, allowInline=True, secretPrefixes=["model-"]), written(kind(**fields)))
    assert other.startswith("a Secret is not among those for models")


@either
def test_runs_and_schedules_without_credentials_are_admitted(values: Mapping[str, Any]) -> None:
    for document in (run(), run(endpoints=[{"url": "http://vllm", "headers": []}]), schedule()):
        assert denials(rendered(values), written(document)) == []


@either
def test_an_evalmodel_that_names_an_unlisted_secret_is_denied(values: Mapping[str, Any]) -> None:
    listed = listing(values, secretNames=["gpt"], secretPrefixes=["model-"])
    for secret, admitted in (("gpt", True), ("model-x", True), ("tls", False), ("opsgym-results", False)):
        for fields in (
            {"credentials": {"secret": secret}},
            {"aws": {"secret": secret}},
            {"endpoints": [{"url": "https://a", "credentials": {"secret": secret}}]},
            {"endpoints": [{"url": "https://a", "headers": [{"name": "X-Key", "valueFrom": {"secret": secret}}]}]},
        ):
            assert (denials(listed, written(evalmodel(**fields))) == []) is admitted, (secret, fields)
    assert denials(rendered(values), written(evalmodel(credentials={"secret": "tls"}))) == []
    assert denials(rendered(values), written(evalmodel(credentials={"secret": "opsgym-results"})))


@either
def test_a_credential_in_a_header_is_denied(values: Mapping[str, Any]) -> None:
    open_header = {"parameters": {"extra_headers": {"X-Title": "evals"}}}
    secret_header = {"parameters": {"temperature": 0, "extra_headers": {"X-Title": "a", "Authorization": "Bearer x"}}}
    assert denials(rendered(values), written(evalmodel(**open_header))) == []
    for kind in (run, schedule, evalmodel):
        [message] = denials(rendered(values), written(kind(**secret_header)))
        assert message.startswith("parameters.extra_headers contains a credential")


def test_headers_are_secret_to_the_policy_and_the_operator_by_the_same_rule() -> None:
    [policy] = [item for item in rendered(WIDE) if item["metadata"]["name"] == "evals-opsgym-credentials"][:1]
    [pattern] = re.findall(r"matches\('([^']+)'\)", str(policy["spec"]["validations"][-1]["expression"]))
    assert pattern == SECRET_HEADER.pattern


@either
def test_what_was_admitted_before_the_policy_can_be_suspended_and_cleaned_up(values: Mapping[str, Any]) -> None:
    old = run(credentials={"secret": "gpt"})
    suspended = {**old, "spec": {**old["spec"], "suspend": True}}
    assert denials(rendered(values), written(suspended, old)) == []
    held = evalmodel(credentials={"secret": "opsgym-results"})
    assert denials(rendered(values), written({**held, "metadata": {"name": "m", "finalizers": []}}, held)) == []
    paused = schedule(credentials={"secret": "gpt"})
    assert denials(rendered(values), written({**paused, "spec": {**paused["spec"], "suspend": True}}, paused)) == []
    assert denials(rendered(values), written(held, evalmodel())) != []


def test_a_cluster_wide_release_serves_namespaces_that_opted_in() -> None:
    [message] = denials(rendered(WIDE), written(run(), labels={}))
    assert message == (
        "namespace team may not have EvalRuns; an administrator allows them with its label opsgym.dev/evalruns=allowed"
    )
    assert denials(rendered(WIDE), written(evalmodel(), labels={})) == [], "the chart's own models come first"
    everywhere = rendered({**WIDE, "admissionPolicy": {"optIn": False}})
    assert denials(everywhere, written(run(), labels={})) == []
    assert denials(rendered(NAMESPACED), written(run(), labels={})) == []


# The operator's objects


def job(account: str = "opsgym-task", **changes: Any) -> Manifest:
    """A Job as the operator creates it."""
    made = task()
    pod = {**made["spec"]["template"]["spec"], "serviceAccountName": account, **changes}
    return {**made, "spec": {**made["spec"], "template": {**made["spec"]["template"], "spec": pod}}}


def by_operator(document: Manifest | None, old: Manifest | None = None, **more: Any) -> Request:
    resource = {"Job": "jobs", "ConfigMap": "configmaps"}[(document or old or {})["kind"]]
    return Request(resource, OPERATOR, document, old, **{"namespace_labels": ALLOWED, **more})


def config_map(labels: Mapping[str, str] | None = None) -> Manifest:
    own = task()["metadata"]["labels"] if labels is None else labels
    return {"kind": "ConfigMap", "metadata": {"name": "c", "labels": dict(own)}, "data": {}}


@pytest.mark.parametrize(("values", "account"), [(WIDE, "default"), (NAMESPACED, "opsgym-task")])
def test_the_operator_writes_and_deletes_its_own_objects(values: Mapping[str, Any], account: str) -> None:
    for document in (job(account), config_map()):
        for request in (by_operator(document), by_operator(document, document), by_operator(None, document)):
            assert denials(rendered(values), request) == [], request.operation


@pytest.mark.parametrize(("values", "account"), [(WIDE, "default"), (NAMESPACED, "opsgym-task")])
def test_the_operator_is_bound_to_labelled_objects_its_pods_account_and_its_namespaces(
    values: Mapping[str, Any], account: str
) -> None:
    manifests, foreign = rendered(values), config_map({})
    labels = "the operator may only write objects with its labels"
    for request in (by_operator(foreign), by_operator(config_map(), foreign), by_operator(None, foreign)):
        assert denials(manifests, request) == [labels]
    for changed in (job("admin"), job(account, automountServiceAccountToken=True)):
        assert denials(manifests, by_operator(changed)) == [
            f"the operator's pods use the ServiceAccount {account}, without its token"
        ]
    privileged = [{"name": "agent", "securityContext": {"allowPrivilegeEscalation": True}}]
    for changed in (job(account, hostNetwork=True), job(account, containers=privileged), job(account, hostPID=True)):
        assert denials(manifests, by_operator(changed)) == [
            "the operator's pods have no part of their node and no way to more privileges"
        ]
    elsewhere = by_operator(job(account), namespace="kube-system", namespace_labels={})
    assert len(denials(manifests, elsewhere)) == 1


RESERVED = "the labels of EvalRuns' objects are reserved for the operator; copy the object without them"
KNOWN = "the labels by which a pod of an EvalRun is known do not change"
OWNED = "a pod of an EvalRun keeps its owner"
CONTROLLERS = (JOB_CONTROLLER, "system:kube-controller-manager")
"""The Job controller, which may share one identity with the other controllers."""
COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"


def run_pod(**metadata: Any) -> Manifest:
    """A pod as the Job controller makes it of the operator's Job."""
    labels = {**job()["spec"]["template"]["metadata"]["labels"], "batch.kubernetes.io/job-completion-index": "1"}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "nightly-abcdef-0", "uid": "1", "controller": True}
    return {"kind": "Pod", "metadata": {"name": "p", "labels": labels, "ownerReferences": [owner], **metadata}}


def unlabelled(document: Manifest, **template: Any) -> Manifest:
    """A workload without the operator's labels, as a user writes it, with metadata of its pods."""
    pods = {**document.get("spec", {}).get("template", {}), "metadata": template}
    return {**document, "metadata": {"name": "x"}, "spec": {**document.get("spec", {}), "template": pods}}


def by(user: str, resource: str, document: Manifest, old: Manifest | None = None) -> Request:
    return Request(resource, user, document, old, namespace_labels=ALLOWED)


@either
@pytest.mark.parametrize("old", [None, {"holderIdentity": "evals/opsgym-operator"}])
def test_only_the_operator_writes_the_lease_of_a_namespace(values: Mapping[str, Any], old: Any) -> None:
    policies = listing(values)

    def lease(name: str) -> Manifest:
        return {"kind": "Lease", "metadata": {"name": name}, "spec": {"holderIdentity": "x"}}

    before = None if old is None else {**lease("opsgym-namespace"), "spec": old}
    assert denials(policies, by("tenant", "leases", lease("opsgym-namespace"), before))
    assert not denials(policies, by(OPERATOR, "leases", lease("opsgym-namespace"), before))
    assert not denials(policies, by("tenant", "leases", lease("own"), before))


@either
def test_nobody_else_creates_objects_with_the_operators_labels(values: Mapping[str, Any]) -> None:
    manifests = rendered(values)
    for resource, document, bare in (
        ("jobs", job(), unlabelled(job())),
        ("configmaps", config_map(), config_map({})),
        ("pods", run_pod(), run_pod(labels={"app": "mine"})),
    ):
        for user in ("tenant", "system:serviceaccount:team:opsgym-task"):
            assert denials(manifests, by(user, resource, document)) == [RESERVED]
            assert RESERVED in denials(manifests, by(user, resource, document, bare))
            assert denials(manifests, by(user, resource, bare)) == []
            touched = by(user, resource, document, document)
            assert denials(manifests, touched) == [], "the scheduler and the Job controller update them"
    for user in CONTROLLERS:
        assert denials(manifests, by(user, "pods", run_pod())) == []
    assert denials(manifests, by(OPERATOR, "pods", run_pod())) == [RESERVED]


@either
def test_nobody_else_creates_what_makes_pods_with_the_operators_labels(values: Mapping[str, Any]) -> None:
    manifests, labels = rendered(values), job()["spec"]["template"]["metadata"]["labels"]
    kinds = ("jobs", "daemonsets", "replicasets", "statefulsets", "replicationcontrollers")
    for resource in kinds:
        plain, forged = unlabelled(job(), labels={"app": "mine"}), unlabelled(job(), labels=labels)
        for user in ("tenant", *CONTROLLERS):
            assert denials(manifests, by(user, resource, forged)) == [RESERVED], resource
            assert denials(manifests, by(user, resource, forged, plain)) == [RESERVED], resource
            assert denials(manifests, by(user, resource, plain, plain)) == []
    without = {"kind": "ReplicationController", "metadata": {"name": "x"}, "spec": {"replicas": 0}}
    assert denials(manifests, by("tenant", "replicationcontrollers", without)) == []


@either
@pytest.mark.parametrize(
    "label",
    [
        "app.kubernetes.io/managed-by",
        "opsgym.dev/run-uid",
        "opsgym.dev/run",
        "batch.kubernetes.io/job-completion-index",
    ],
)
def test_the_labels_by_which_a_pod_is_known_do_not_change(values: Mapping[str, Any], label: str) -> None:
    manifests, old = rendered(values), run_pod()
    relabelled = run_pod(labels={**old["metadata"]["labels"], label: "another"})
    stripped = run_pod(labels={name: value for name, value in old["metadata"]["labels"].items() if name != label})
    for changed in (relabelled, stripped):
        assert denials(manifests, by("tenant", "pods", changed, old)) == [KNOWN]
    noted = run_pod(labels={**old["metadata"]["labels"], "team": "a"}, annotations={"seen": "1"})
    assert denials(manifests, by("tenant", "pods", noted, old)) == []


@either
def test_the_pods_of_a_suspended_job_get_no_labels_of_another_run(values: Mapping[str, Any]) -> None:
    def with_labels(**labels: str) -> Manifest:
        made = job()
        template = made["spec"]["template"]
        metadata = {**template["metadata"], "labels": {**template["metadata"]["labels"], **labels}}
        return {**made, "spec": {**made["spec"], "template": {**template, "metadata": metadata}}}

    manifests = rendered(values)
    assert denials(manifests, by("tenant", "jobs", with_labels(**{"opsgym.dev/run-uid": "9"}), job())) == [KNOWN]
    queued = with_labels(**{"kueue.x-k8s.io/podset": "main"})
    assert denials(manifests, by("system:serviceaccount:kueue-system:kueue", "jobs", queued, job())) == []


@either
def test_a_pod_of_a_run_keeps_its_owner_but_for_the_controllers_of_kubernetes(values: Mapping[str, Any]) -> None:
    manifests, old = rendered(values), run_pod()
    [owner] = old["metadata"]["ownerReferences"]
    another = run_pod(ownerReferences=[{**owner, "name": "nightly-abcdef-1", "uid": "2"}])
    orphan = run_pod()
    del orphan["metadata"]["ownerReferences"]
    for before, after in ((old, another), (old, orphan), (orphan, old)):
        assert denials(manifests, by("tenant", "pods", after, before)) == [OWNED]
        for user in (*CONTROLLERS, COLLECTOR):
            assert denials(manifests, by(user, "pods", after, before)) == []
    unlabelled_pod = {"kind": "Pod", "metadata": {"name": "x", "ownerReferences": [owner]}}
    assert denials(manifests, by("tenant", "pods", {"kind": "Pod", "metadata": {"name": "x"}}, unlabelled_pod)) == []


def test_a_release_for_one_namespace_has_policies_only_if_its_values_ask_for_them() -> None:
    def policies(values: Mapping[str, Any]) -> int:
        return sum(item["kind"].startswith("ValidatingAdmission") for item in rendered(values))

    several = {"stores": [STORE], "namespaces": ["a", "b"]}
    assert policies({"stores": [STORE]}) == policies({"stores": [STORE], "namespaces": ["a"]}) == 0
    assert policies(NAMESPACED) == policies(WIDE) == policies(several) == 8
    for shared in (WIDE, several):
        assert policies({**shared, "admissionPolicy": {"enabled": False}}) == 0


def test_no_model_may_name_the_secret_of_held_out_suites() -> None:
    objects = rendered({**WIDE, "heldOut": {"secret": "quiz"}})
    stealing = written(evalmodel(credentials={"secret": "quiz"}))
    assert denials(objects, stealing) != []
    assert denials(rendered(WIDE), stealing) == []
