"""What a cluster refuses, and the message that says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.operator.fleet import CONFIG, START, model

from opsgym_api.errors import Problem
from opsgym_api.kinds.evalmodel import ModelSpec
from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_operator.observe.objects import ObservedNamespace, ObservedRun
from opsgym_operator.plan.accept import accept
from opsgym_operator.plan.desired import ResolvedSpec
from opsgym_operator.plan.status import Reason, RunSummary

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
            "spec.resultStore: unknown store 'elsewhere'; configured stores: results",
        ),
        (
            {"suite": {"objectStore": {"store": "rows", "key": "k"}}},
            Reason.STORE_NOT_FOUND,
            "spec.suite.objectStore.store: unknown store 'rows'; configured stores: results",
        ),
        (
            {"suite": {"path": "tasks"}},
            Reason.NOT_IN_CLUSTER,
            "spec.suite.path: a cluster cannot read local files; use builtin, configMap or objectStore",
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
