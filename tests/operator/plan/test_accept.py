"""What a cluster refuses, and the message that says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.operator.fleet import CONFIG, START, Fleet, entry, model

from opsgym_api.errors import Problem
from opsgym_api.kinds.evalmodel import ModelSpec
from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_core.store.mounted import StoreConfig
from opsgym_operator.config import (
    CredentialsConfig,
    NotificationsConfig,
    OperatorConfig,
    PodsConfig,
    WebhookConfig,
)
from opsgym_operator.observe.objects import ObservedNamespace, ObservedRun, StoredState
from opsgym_operator.plan.desired import ResolvedSpec
from opsgym_operator.plan.run.accept import accept
from opsgym_operator.plan.status.status import Reason, RunSummary
from opsgym_operator.pod_template import PodProfile

GPT = model("gpt", credentials={"secret": "openai"})
SPEC: dict[str, Any] = {"suite": {"builtin": "quickstart"}, "models": [{"name": "best", "ref": "gpt"}]}
NAMESPACE = ObservedNamespace(models={"gpt": GPT}, broken_models={"odd": "spec.model: is required"})


def run(**fields: Any) -> ObservedRun:
    return ObservedRun("nightly", "u", "team", 1, START, EvalRunSpec.model_validate(SPEC | fields))


def refusal(namespace: ObservedNamespace = NAMESPACE, **fields: Any) -> RunSummary:
    summary = accept(run(**fields), namespace, CONFIG)
    assert isinstance(summary, RunSummary)
    return summary


def test_an_accepted_run_has_its_models_and_its_store() -> None:
    inline = {"model": "replay/tapes/mixed.jsonl"}
    resolved = accept(run(models=[*SPEC["models"], {"name": "own", "inline": inline}]), NAMESPACE, CONFIG)
    assert isinstance(resolved, ResolvedSpec)
    assert resolved.models == {"best": GPT.spec, "own": ModelSpec.model_validate(inline)}
    assert resolved.store.name == "results"


def test_supporting_models_are_resolved_and_refused_like_evaluated_models() -> None:
    resolved = accept(run(supportingModels=[{"name": "planner", "ref": "gpt"}]), NAMESPACE, CONFIG)
    assert isinstance(resolved, ResolvedSpec)
    assert resolved.models == {"best": GPT.spec, "planner": GPT.spec}
    assert refusal(supportingModels=[{"name": "planner", "ref": "other"}]).message.startswith(
        "spec.supportingModels[0].ref: unknown EvalModel 'other'"
    )
    on_one_machine = {"model": "openai/x", "credentials": {"env": "KEY"}}
    message = refusal(supportingModels=[{"name": "judge", "inline": on_one_machine}]).message
    assert message.startswith("EvalRun nightly: spec.supportingModels[0].inline.credentials: secret is missing")


def inline(**fields: Any) -> list[dict[str, Any]]:
    return [{"name": "own", "inline": {"model": "openai/gpt-5"} | fields}]


@pytest.mark.parametrize(
    ("fields", "reason", "message"),
    [
        (
            {"models": [{"name": "m", "ref": "other"}]},
            Reason.MODEL_NOT_FOUND,
            "spec.models[0].ref: unknown EvalModel 'other'; EvalModels of the namespace: gpt",
        ),
        (
            {"models": [*SPEC["models"], {"name": "m", "ref": "odd"}]},
            Reason.MODEL_INVALID,
            "spec.models[1].ref: EvalModel odd is invalid: spec.model: is required",
        ),
        (
            {"resultStore": "elsewhere"},
            Reason.STORE_NOT_FOUND,
            "spec.resultStore: unknown store 'elsewhere'; stores of the namespace: results",
        ),
        (
            {"suite": {"objectStore": {"store": "rows", "key": "k"}}},
            Reason.STORE_NOT_FOUND,
            "spec.suite.objectStore.store: unknown store 'rows'; stores of the namespace: results",
        ),
        (
            {"suite": {"path": "tasks"}},
            Reason.NOT_IN_CLUSTER,
            "spec.suite.path: a cluster cannot read local files; use builtin, configMap or objectStore",
        ),
        (
            {"agents": [{"name": "react"}, {"name": "mine", "command": ["./agent.sh"]}]},
            Reason.NOT_IN_CLUSTER,
            ("spec.agents[1].command: a cluster runs no programs as agents; "
            "play the run on one machine (opsgym run), or name an orchestrator"),
        ),
        (
            {"suite": {"builtin": "q", "seedPath": "seeds"}},
            Reason.NOT_IN_CLUSTER,
            ("spec.suite.seedPath: a cluster cannot read local files; "
            "put the seeds beside the rows, as further keys of the ConfigMap or of the store"),
        ),
        (
            {"models": inline(credentials={"env": "KEY"})},
            Reason.NOT_IN_CLUSTER,
            ("EvalRun nightly: spec.models[0].inline.credentials: secret is missing; "
            "in a cluster credentials come from a Secret"),
        ),
        (
            {"models": inline(endpoints=[{"url": "http://h"}, {"url": "http://i", "credentials": {"env": "KEY"}}])},
            Reason.NOT_IN_CLUSTER,
            ("EvalRun nightly: spec.models[0].inline.endpoints[1].credentials: secret is missing; "
            "in a cluster credentials come from a Secret"),
        ),
        *(
            (
                {"models": inline(model=name)},
                Reason.NOT_IN_CLUSTER,
                (f"EvalRun nightly: spec.models[0].inline.model: {name!r} is not a recording that a pod can read; "
                "in a cluster the form is replay/CONFIGMAP/KEY"),
            )
            for name in ("replay/mixed.jsonl", "replay/a/b/c.jsonl", "replay/../x", "replay//x", "replay/Tapes/x")
        ),
        (
            {"queueName": "team-a"},
            Reason.QUEUE_NOT_FOUND,
            "spec.queueName: queue 'team-a' requires Kueue, which is not installed; install it or omit the field",
        ),
    ],
)  # fmt: skip
def test_a_spec_that_cannot_run_in_a_cluster_is_refused_with_the_field_to_fix(
    fields: dict[str, Any], reason: Reason, message: str
) -> None:
    assert refusal(**fields) == RunSummary(reason, message)


def test_an_unknown_queue_is_refused_with_the_known_queues() -> None:
    summary = refusal(replace(NAMESPACE, queues=frozenset({"b", "a"})), queueName="c")
    assert summary.message == "spec.queueName: unknown LocalQueue 'c'; LocalQueues of the namespace: a, b"
    assert (
        "LocalQueues of the namespace: none" in refusal(replace(NAMESPACE, queues=frozenset()), queueName="c").message
    )
    assert isinstance(accept(run(queueName="a"), replace(NAMESPACE, queues=frozenset({"a"})), CONFIG), ResolvedSpec)


def test_an_unknown_priority_class_is_refused_with_the_known_ones() -> None:
    known = replace(NAMESPACE, queues=frozenset({"a"}), priority_classes=frozenset({"urgent", "nightly"}))
    summary = refusal(known, queueName="a", queuePriorityClass="soon")
    assert summary == RunSummary(
        Reason.PRIORITY_CLASS_NOT_FOUND,
        "spec.queuePriorityClass: unknown WorkloadPriorityClass 'soon'; those of the cluster: nightly, urgent",
    )
    unreadable = replace(known, priority_classes=None)
    for fields, namespace in (("urgent", known), ("soon", unreadable)):
        accepted = accept(run(queueName="a", queuePriorityClass=fields), namespace, CONFIG)
        assert isinstance(accepted, ResolvedSpec)


def test_all_problems_of_a_spec_are_reported_at_once() -> None:
    message = refusal(suite={"path": "x"}, models=[{"name": "m", "ref": "n"}], resultStore="s").message
    assert [part.partition(":")[0] for part in message.split("; ")][:1] == ["spec.resultStore"]
    assert "spec.suite.path" in message
    assert "spec.models[0].ref" in message


def test_an_invalid_spec_is_reported_with_its_problems() -> None:
    broken = replace(run(), spec=None, problems=(Problem("spec.trials", "must be positive"), Problem("spec.x", "bad")))
    assert accept(broken, NAMESPACE, CONFIG) == RunSummary(
        Reason.INVALID_SPEC, "spec.trials: must be positive; spec.x: bad"
    )


# Credentials


def listed(**fields: Any) -> OperatorConfig:
    """An installation that lists the Secrets of models."""
    return CONFIG.model_copy(update={"credentials": CredentialsConfig.model_validate(fields)})


def credentials_refusal(config: OperatorConfig, namespace: ObservedNamespace = NAMESPACE, **fields: Any) -> str:
    summary = accept(run(**fields), namespace, config)
    assert isinstance(summary, RunSummary)
    assert summary.reason is Reason.CREDENTIALS_NOT_ALLOWED
    return summary.message


KEY_HEADER = {"name": "X-Key", "valueFrom": {"secret": "tls"}}


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("credentials", {"credentials": {"secret": "tls"}}),
        ("aws", {"aws": {"secret": "tls"}}),
        ("endpoints[0].credentials", {"endpoints": [{"url": "https://mine", "credentials": {"secret": "tls"}}]}),
        ("endpoints[0].headers[0].valueFrom", {"endpoints": [{"url": "https://mine", "headers": [KEY_HEADER]}]}),
    ],
)
def test_the_author_of_an_evalrun_cannot_send_a_secret_away(field: str, fields: dict[str, Any]) -> None:
    message = credentials_refusal(CONFIG, models=inline(**fields))
    where = f"EvalRun nightly: spec.models[0].inline.{field}: "
    assert message == f"{where}an EvalRun may not name Secrets here; name an EvalModel that has the credentials in ref"
    allowing = listed(allowInline=True, secretPrefixes=["model-"])
    assert credentials_refusal(allowing, models=inline(**fields)) == (
        f"{where}Secret 'tls' is not among those for models; allowed are model-…; "
        "the administrator extends credentials.secretNames or secretPrefixes"
    )
    own = listed(allowInline=True, secretNames=["tls"])
    assert isinstance(accept(run(models=inline(**fields)), NAMESPACE, own), ResolvedSpec)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"models": inline(credentials={"secret": "tls"})}, Reason.CREDENTIALS_NOT_ALLOWED),
        ({"suite": {"objectStore": {"store": "results", "key": "suites/finance/"}}}, Reason.SUITE_NOT_ALLOWED),
        ({"suite": {"builtin": "quickstart", "heldOut": True}}, Reason.SUITE_NOT_ALLOWED),
        ({"pods": {"profile": "gpu"}}, Reason.POD_PROFILE_NOT_FOUND),
        ({"pods": {"labels": {"network": "open"}}}, Reason.PODS_NOT_ALLOWED),
    ],
)
def test_a_run_that_is_not_allowed_is_stalled_and_gets_no_object(fields: dict[str, Any], reason: Reason) -> None:
    fleet = Fleet()
    fleet.models["gpt"] = GPT
    refused = fleet.apply("nightly", EvalRunSpec.model_validate(SPEC | fields), [entry("t0")])
    fleet.plan()
    assert refused.condition("Accepted") == f"False {reason}"
    assert refused.condition("Stalled") == f"True {reason}"
    assert (fleet.jobs, refused.preflights, refused.config_maps) == ({}, {}, set())


def test_a_secret_of_the_installation_is_no_models() -> None:
    webhooks = NotificationsConfig(webhooks=[WebhookConfig(name="desk", secret="hook")])
    config = CONFIG.model_copy(update={"notifications": webhooks, "held_out_secret": "quiz"})
    for secret, use in (
        ("opsgym-results", "store results"),
        ("hook", "webhook desk"),
        ("quiz", "held-out suites"),
    ):
        namespace = ObservedNamespace(models={"gpt": model("gpt", credentials={"secret": secret})})
        assert credentials_refusal(config, namespace) == (
            f"EvalModel gpt: spec.credentials: Secret {secret!r} is for {use}; put a model's key into its own"
        )


def test_an_evalmodel_uses_listed_secrets_only() -> None:
    assert isinstance(accept(run(), NAMESPACE, listed(secretNames=["openai"])), ResolvedSpec)
    assert isinstance(accept(run(), NAMESPACE, listed(secretPrefixes=["open"])), ResolvedSpec)
    assert "Secret 'openai' is not among those for models" in credentials_refusal(listed(secretNames=["open"]))


def test_the_models_of_a_frozen_run_are_checked_too_since_they_come_from_the_store() -> None:
    forged = ModelSpec.model_validate({"model": "openai/x", "credentials": {"secret": "opsgym-results"}})
    stored = replace(run(), stored=stored_state({"best": forged}))
    summary = accept(stored, NAMESPACE, CONFIG)
    assert isinstance(summary, RunSummary)
    assert summary.reason is Reason.CREDENTIALS_NOT_ALLOWED


def test_a_frozen_run_whose_held_out_seed_is_gone_is_refused_instead_of_failing_each_trial() -> None:
    held_out = run(suite={"builtin": "quickstart", "heldOut": True})
    stored = replace(held_out, stored=stored_state({"best": GPT.spec}))
    assert isinstance(accept(stored, NAMESPACE, CONFIG.model_copy(update={"held_out_secret": "quiz"})), ResolvedSpec)
    summary = accept(stored, NAMESPACE, CONFIG)
    assert isinstance(summary, RunSummary)
    assert summary.reason is Reason.SUITE_NOT_ALLOWED
    assert "this installation has no held-out seed" in summary.message


def stored_state(models: dict[str, ModelSpec]) -> StoredState:
    fleet = Fleet()
    fleet.models["gpt"] = GPT
    fleet.apply("nightly", run().spec or pytest.fail("no spec"), [entry("t0")])
    fleet.plan()
    [observed] = fleet.observed().runs
    assert observed.stored is not None
    assert observed.stored.record is not None
    frozen = [{"name": name, "inline": spec.model_dump(mode="json")} for name, spec in models.items()]
    record = observed.stored.record
    return replace(observed.stored, record=record.model_copy(update={"spec": {**record.spec, "models": frozen}}))


@pytest.mark.parametrize(
    ("parameters", "path"),
    [
        ({"extra_headers": {"Authorization": "x"}}, "extra_headers.Authorization"),
        ({"extra_headers": {"Ocp-Apim-Subscription-Key": "x"}}, "extra_headers.Ocp-Apim-Subscription-Key"),
        ({"extra_headers": {"X-Custom": "Bearer x"}}, "extra_headers.X-Custom"),
        ({"extra_body": [{"headers": {"cookie": "x"}}]}, "extra_body[0].headers.cookie"),
        ({"extra_body": {"deep": {"api_key": "x"}}}, "extra_body.deep.api_key"),
    ],
)
def test_a_credential_in_the_parameters_is_refused_at_any_depth(parameters: dict[str, Any], path: str) -> None:
    assert credentials_refusal(CONFIG, models=inline(parameters=parameters)) == (
        f"EvalRun nightly: spec.models[0].inline.parameters.{path}: credentials do not belong in a document; "
        "name a Secret in credentials or endpoints[].headers"
    )


def test_parameters_and_headers_without_credentials_are_taken() -> None:
    harmless = {"max_tokens": 5, "prompt_cache_key": "k", "extra_headers": {"X-Title": "evals", "HTTP-Referer": "x"}}
    assert isinstance(accept(run(models=inline(parameters=harmless)), NAMESPACE, CONFIG), ResolvedSpec)


def test_inline_credentials_need_a_list_of_secrets() -> None:
    with pytest.raises(ValueError, match="allowInline requires secretNames or secretPrefixes"):
        CredentialsConfig(allow_inline=True)


# Stores of several namespaces


def shared(**fields: Any) -> OperatorConfig:
    """An installation with a store for some namespaces beside the usual one."""
    other = StoreConfig.model_validate({"name": "other", "url": "s3://other"} | fields)
    return CONFIG.model_copy(update={"stores": [*CONFIG.stores, other]})


def test_a_store_of_other_namespaces_is_unknown() -> None:
    config = shared(namespaces=["finance"])
    summary = accept(run(resultStore="other"), NAMESPACE, config)
    assert summary == RunSummary(
        Reason.STORE_NOT_FOUND, "spec.resultStore: unknown store 'other'; stores of the namespace: results"
    )
    assert isinstance(accept(run(resultStore="other"), NAMESPACE, shared(namespaces=["team"])), ResolvedSpec)
    elsewhere = config.model_copy(update={"default_store": "other"})
    assert accept(run(), NAMESPACE, elsewhere) == RunSummary(
        Reason.STORE_NOT_FOUND,
        "spec.resultStore: the namespace may not use the default store; name one of its stores: results",
    )


@pytest.mark.parametrize(
    ("key", "readable"),
    [
        ("suites/team/office/", True),
        ("suites/team-b/office/", False),
        ("suites/common/tasks.json", True),
        ("suites/finance/", False),
        ("runs/team.nightly.1/suite/tasks/", True),
        ("runs/team-b.nightly.1/suite/tasks/", False),
        ("suites/team/../finance/tasks.json", False),
        ("tasks/", False),
    ],
)
def test_a_suite_of_a_shared_store_belongs_to_a_namespace_unless_it_is_shared(key: str, readable: bool) -> None:
    suite = {"objectStore": {"store": "other", "key": key}}
    resolved = accept(run(suite=suite), NAMESPACE, shared(sharedSuites=["suites/common/"]))
    assert isinstance(resolved, ResolvedSpec) is readable
    if isinstance(resolved, RunSummary):
        assert resolved.reason is Reason.SUITE_NOT_ALLOWED
        assert "put it below suites/team/, or have its prefix added to the store's sharedSuites" in resolved.message
    assert isinstance(accept(run(suite=suite), NAMESPACE, shared(namespaces=["team"])), ResolvedSpec)


def with_pods(profiles: dict[str, Any], **pods: Any) -> OperatorConfig:
    """An installation with pod profiles."""
    return CONFIG.model_copy(
        update={
            "pod_profiles": {name: PodProfile.model_validate(profile) for name, profile in profiles.items()},
            "pods": PodsConfig.model_validate(pods),
        }
    )


def test_a_profile_of_other_namespaces_is_unknown() -> None:
    config = with_pods({"gpu": {"namespaces": ["finance"]}, "large": {}, "own": {"namespaces": ["team"]}})
    for name in ("gpu", "gigantic"):
        assert accept(run(pods={"profile": name}), NAMESPACE, config) == RunSummary(
            Reason.POD_PROFILE_NOT_FOUND,
            f"spec.pods.profile: unknown pod profile {name!r}; profiles of the namespace: large, own",
        )
    for name in ("large", "own"):
        assert isinstance(accept(run(pods={"profile": name}), NAMESPACE, config), ResolvedSpec)


@pytest.mark.parametrize("field", ["labels", "annotations"])
def test_a_run_sets_labels_and_annotations_that_the_installation_allows_and_no_others(field: str) -> None:
    config = with_pods({}, allowedLabels=["team", "cost.example/"], allowedAnnotations=["team", "cost.example/"])
    allowed = {"team": "a", "cost.example/centre": "7"}
    assert isinstance(accept(run(pods={field: allowed}), NAMESPACE, config), ResolvedSpec)
    for key in ("teams", "cost.example", "other.example/x"):
        assert accept(run(pods={field: {**allowed, key: "x"}}), NAMESPACE, config) == RunSummary(
            Reason.PODS_NOT_ALLOWED,
            f"spec.pods.{field}: {key}: runs may not set this here; allowed keys: team, cost.example/…",
        )
    none = accept(run(pods={field: {"team": "a"}}), NAMESPACE, CONFIG)
    assert isinstance(none, RunSummary)
    assert none.message.endswith("allowed keys: none")


@pytest.mark.parametrize("key", ["opsgym.dev/run", "app.kubernetes.io/managed-by", "job-name"])
def test_labels_by_which_pods_are_recognised_cannot_be_allowed(key: str) -> None:
    config = with_pods({}, allowedLabels=[key, f"{key.partition('/')[0]}/"])
    summary = accept(run(pods={"labels": {key: "x"}}), NAMESPACE, config)
    assert isinstance(summary, RunSummary)
    assert summary.reason is Reason.PODS_NOT_ALLOWED
