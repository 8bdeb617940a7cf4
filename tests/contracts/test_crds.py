"""The CRD schemas and the Python models accept the same documents."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from pydantic import BaseModel, Field, ValidationError
from tests.contracts.api_server import Schema, admitted, refusals

from opsgym_api.base import Document
from opsgym_api.kinds.crd_schema import FOLDER, definitions, main, rendered, structural
from opsgym_api.kinds.evalmodel import EvalModel
from opsgym_api.kinds.evalrun import Condition, EvalRun, EvalRunSpec, EvalRunStatus
from opsgym_api.kinds.evalschedule import EvalSchedule
from opsgym_api.kinds.profiles import Switches

CRDS = {crd["spec"]["names"]["kind"]: crd for crd in definitions()}
SCHEMAS: dict[str, Schema] = {
    kind: crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] for kind, crd in CRDS.items()
}
MODELS: dict[str, type[EvalRun | EvalModel | EvalSchedule]] = {
    "EvalRun": EvalRun,
    "EvalModel": EvalModel,
    "EvalSchedule": EvalSchedule,
}

RUN: dict[str, Any] = {
    "apiVersion": "opsgym.dev/v1alpha1",
    "kind": "EvalRun",
    "metadata": {"name": "nightly"},
    "spec": {"suite": {"builtin": "quickstart"}, "models": [{"name": "gold", "inline": {"model": "replay/gold"}}]},
}
MODEL: dict[str, Any] = {
    "apiVersion": "opsgym.dev/v1alpha1",
    "kind": "EvalModel",
    "metadata": {"name": "gpt"},
    "spec": {
        "model": "openai/gpt-5",
        "endpoints": [{"url": "https://one.example/v1", "credentials": {"env": "ONE_KEY"}}],
        "credentials": {"secret": "openai", "key": "api-key"},
        "parameters": {"temperature": 0, "stop": None, "extra": {"deep": [1, "two"]}},
        "maxConcurrency": 4,
        "prices": {"inputUsd": 1, "outputUsd": 2.5, "cachedInputUsd": 0.25},
        "allowUnpriced": False,
    },
}
EVERYTHING: dict[str, Any] = RUN | {
    "spec": {
        "suite": {
            "path": "tasks",
            "seedPath": "seeds",
            "domains": ["itsm", "csm"],
            "modes": ["oracle", "all_tools"],
            "ids": ["one", "two"],
            "limit": 3,
            "seed": 7,
            "access": "strict",
        },
        "models": [{"name": "best", "ref": "gpt"}, {"name": "own", "inline": MODEL["spec"]}],
        "agents": [
            {"name": "react", "orchestrator": "react", "plan": "none", "maxSteps": 20},
            {
                "name": "planned",
                "orchestrator": "planner_react",
                "plan": "model",
                "planner": "best",
                "prompts": {"planner": "Plan."},
                "toolNames": "qualified",
            },
        ],
        "supportingModels": [{"name": "wise", "ref": "gpt"}],
        "judge": "wise",
        "trials": 3,
        "limits": {"taskTimeoutSeconds": 60, "infraRetries": 0, "pendingSeconds": 30},
        "budget": {"maxUsd": 2},
        "resultStore": "default",
        "gate": {
            "minSuccessRate": 0.5,
            "maxCostUsd": 3,
            "maxInfraErrorRate": 0.1,
            "baseline": "yesterday",
            "lastGood": False,
            "maxRegression": 0.05,
            "confidence": 0.9,
        },
        "notify": ["desk", "pager"],
        "suspend": True,
        "queueName": "team",
        "ttlSecondsAfterFinished": 3600,
    },
    "status": {
        "observedGeneration": 2,
        "phase": "Running",
        "models": "best,own",
        "progress": "1/12",
        "success": "100%",
        "notScored": 0,
        "cost": "$0.10",
        "gate": "INCONCLUSIVE",
        "results": "s3://bucket/runs/team.nightly.1234",
        "startedAt": "2026-01-01T00:00:00Z",
        "finishedAt": "2026-01-01T01:00:00Z",
        "counters": {"passed": 1},
        "conditions": [
            {
                "type": "Accepted",
                "status": "True",
                "reason": "Valid",
                "message": "Every task can be read.",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
                "observedGeneration": 2,
            }
        ],
        "notifications": [
            {
                "id": "5f0c",
                "webhook": "desk",
                "event": "stalled",
                "at": "2026-01-01T00:30:00Z",
                "reason": "SecretMissing",
                "message": "Secret openai is missing",
                "state": "pending",
                "attempts": 1,
                "retryAt": "2026-01-01T00:30:10Z",
            }
        ],
    },
}
ACCEPTED = EVERYTHING["status"]["conditions"][0]
SCHEDULE: dict[str, Any] = {
    "apiVersion": "opsgym.dev/v1alpha1",
    "kind": "EvalSchedule",
    "metadata": {"name": "nightly"},
    "spec": {
        "schedule": "0 3 * * 1-5",
        "timeZone": "Europe/Berlin",
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 600,
        "successfulRunsHistoryLimit": 7,
        "failedRunsHistoryLimit": 0,
        "history": {"records": {"days": 365, "runs": 20}, "transcripts": {"days": 90}, "states": {"runs": 5}},
        "suspend": True,
        "runTemplate": {
            "metadata": {"labels": {"team": "desk"}, "annotations": {"note": "every night"}},
            "spec": EVERYTHING["spec"],
        },
    },
    "status": {
        "observedGeneration": 2,
        "lastScheduleTime": "2026-01-01T02:00:00Z",
        "lastSuccessfulTime": "2026-01-01T02:30:00Z",
        "active": ["nightly-29450040"],
        "activeRuns": 1,
        "conditions": [ACCEPTED],
    },
}
ABSENT = object()


def changed(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with other values at dotted paths; `ABSENT` takes a field away."""
    result: dict[str, Any] = copy.deepcopy(dict(document))
    for path, value in changes.items():
        *above, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        here: Any = result
        for step in above:
            here = here[step]
        if value is ABSENT:
            del here[last]
        else:
            here[last] = value
    return result


def model_refuses(document: Mapping[str, Any]) -> bool:
    try:
        MODELS[document["kind"]].model_validate_json(json.dumps(document), strict=True)
    except ValidationError:
        return True
    return False


def server_refuses(document: Mapping[str, Any]) -> bool:
    return bool(refusals(SCHEMAS[document["kind"]], document))


# Generated files


def test_the_generated_files_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err
    assert sorted(path.name for path in FOLDER.glob("*.yaml")) == sorted(rendered())


def test_a_check_names_each_file_that_is_not_current_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
    (tmp_path / "evalmodels.opsgym.dev.yaml").unlink()
    (tmp_path / "evalruns.opsgym.dev.yaml").write_text("kind: Other\n", encoding="utf-8")
    assert main(["--check"], tmp_path) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"{tmp_path.name}/evalruns.opsgym.dev.yaml is not current; run `make generate`",
        f"{tmp_path.name}/evalmodels.opsgym.dev.yaml is not current; run `make generate`",
    ]
    left = ["evalruns.opsgym.dev.yaml", "evalschedules.opsgym.dev.yaml"]
    assert sorted(path.name for path in tmp_path.iterdir()) == left


def test_a_generated_file_equals_its_definition_without_yaml_aliases() -> None:
    for text, crd in zip(rendered().values(), definitions(), strict=True):
        assert yaml.safe_load(text) == crd
        assert not [token for token in yaml.scan(text) if isinstance(token, yaml.AnchorToken | yaml.AliasToken)]


@pytest.mark.parametrize(
    ("kind", "plural", "short"),
    [("EvalRun", "evalruns", "er"), ("EvalModel", "evalmodels", "em"), ("EvalSchedule", "evalschedules", "esched")],
)
def test_a_kind_has_its_kubectl_names(kind: str, plural: str, short: str) -> None:
    assert CRDS[kind]["metadata"] == {"name": f"{plural}.opsgym.dev"}
    spec = {name: value for name, value in CRDS[kind]["spec"].items() if name != "versions"}
    assert spec == {
        "group": "opsgym.dev",
        "names": {
            "kind": kind,
            "listKind": f"{kind}List",
            "plural": plural,
            "singular": kind.lower(),
            "shortNames": [short],
            "categories": ["opsgym"],
        },
        "scope": "Namespaced",
    }


def test_runs_and_schedules_have_a_status_subresource() -> None:
    subresources = {kind: crd["spec"]["versions"][0].get("subresources") for kind, crd in CRDS.items()}
    assert subresources == {"EvalRun": {"status": {}}, "EvalModel": None, "EvalSchedule": {"status": {}}}


@pytest.mark.parametrize(
    ("document", "cells"),
    [
        (
            changed(EVERYTHING, {"status.conditions": [ACCEPTED | {"type": "Progressing", "reason": "Running"}]}),
            {
                "Models": "best,own",
                "Progress": "1/12",
                "Success": "100%",
                "NotScored": 0,
                "Cost": "$0.10",
                "Gate": "INCONCLUSIVE",
                "Phase": "Running",
                "Reason": "Running",
                "Age": "2026-01-01T00:00:00Z",
            },
        ),
        (MODEL, {"Model": "openai/gpt-5", "MaxConcurrency": 4, "Age": "2026-01-01T00:00:00Z"}),
        (
            SCHEDULE,
            {
                "Schedule": "0 3 * * 1-5",
                "TimeZone": "Europe/Berlin",
                "Suspend": True,
                "Active": 1,
                "LastSchedule": "2026-01-01T02:00:00Z",
                "LastSuccess": "2026-01-01T02:30:00Z",
                "Age": "2026-01-01T00:00:00Z",
            },
        ),
    ],
    ids=["run", "model", "schedule"],
)
def test_kubectl_get_shows_the_columns(document: Mapping[str, Any], cells: Mapping[str, Any]) -> None:
    created = changed(document, {"metadata.creationTimestamp": "2026-01-01T00:00:00Z"})
    shown: dict[str, Any] = {}
    for column in CRDS[document["kind"]]["spec"]["versions"][0]["additionalPrinterColumns"]:
        value: Any = created
        for step in re.findall(r"\.?(\w+)(?:\[\?\(@\.type==\"(\w+)\"\)\])?", column["jsonPath"]):
            name, kind = step
            value = next(item for item in value[name] if item["type"] == kind) if kind else value[name]
        shown[column["name"]] = value
        assert type(value) is {"integer": int, "boolean": bool}.get(column["type"], str)
    assert shown == cells


# Structural schemas


def nodes(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Every schema in a schema, with its path."""
    yield path, schema
    for name, part in schema.get("properties", {}).items():
        yield from nodes(part, f"{path}.{name}")
    for keyword, suffix in (("items", "[]"), ("additionalProperties", "{}")):
        if keyword in schema:
            yield from nodes(schema[keyword], path + suffix)


NODES = {f"{kind}{path}": node for kind, schema in SCHEMAS.items() for path, node in nodes(schema)}
STRUCTURAL = {
    "type", "description", "default", "enum", "format", "pattern", "minLength", "maxLength", "minItems", "maxItems",
    "maxProperties", "minimum", "maximum", "exclusiveMinimum", "properties", "required", "items",
    "additionalProperties", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations",
    "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-int-or-string",
}  # fmt: skip


def structural_problems(node: Schema) -> Iterator[str]:
    """Violations of the rules of a structural schema of Kubernetes."""
    if unknown := set(node) - STRUCTURAL:
        yield f"keywords {sorted(unknown)}"
    kind = node.get("type", "")
    if ("x-kubernetes-int-or-string" in node) == bool(kind):
        yield "a number or a word has no type, and everything else has one"
    if kind and kind not in {"object", "array", "string", "integer", "number", "boolean"}:
        yield f"type {kind}"
    if ("items" in node) != (kind == "array"):
        yield "items"
    if not isinstance(node.get("exclusiveMinimum", True), bool):
        yield "exclusiveMinimum"
    if not set(node.get("required", [])) <= set(node.get("properties", {})):
        yield "required"
    # Without any of these every field is lost; several are refused.
    contents = {"properties", "additionalProperties", "x-kubernetes-preserve-unknown-fields"}
    if kind == "object" and len(contents & set(node)) != 1:
        yield "contents of an object"
    if re.search(r"\(\?|\\[1-9]", node.get("pattern", "")):
        yield "pattern with a look-around"


def test_every_part_of_a_schema_is_structural() -> None:
    assert len(NODES) > 200
    assert {path: problems for path, node in NODES.items() if (problems := list(structural_problems(node)))} == {}


def test_the_server_accepts_every_default() -> None:
    defaults = {path: node for path, node in NODES.items() if "default" in node}
    assert defaults
    refused = [path for path, node in defaults.items() if node["default"] is None or refusals(node, node["default"])]
    assert refused == []


def has_keys(node: Schema) -> bool:
    """True if the items of a keyed list require the keys that the server merges by."""
    items = node.get("items", {})
    match node.get("x-kubernetes-list-type"):
        case "map":
            keys = node["x-kubernetes-list-map-keys"]
            return all(key in items["required"] and items["properties"][key]["type"] == "string" for key in keys)
        case "set":
            return bool(items["type"] == "string")
    return True


def test_items_of_a_keyed_list_have_their_keys() -> None:
    assert any("x-kubernetes-list-type" in node for node in NODES.values())
    assert [path for path, node in NODES.items() if not has_keys(node)] == []


def test_lists_and_names_are_bounded_so_that_rules_stay_cheap() -> None:
    assert [path for path, node in NODES.items() if node.get("type") == "array" and "maxItems" not in node] == []
    names = {path: node for path, node in NODES.items() if path.endswith((".name", ".planner", ".ref"))}
    assert len(names) >= 6
    assert [path for path, node in names.items() if "maxLength" not in node] == []


def test_every_rule_names_fields_of_its_object() -> None:
    rules = [(path, node, rule) for path, node in NODES.items() for rule in node.get("x-kubernetes-validations", [])]
    assert rules
    offenders = []
    for path, node, rule in rules:
        fields = set(re.findall(r"\b(?:self|oldSelf)\.(\w+)", rule["rule"]))
        named = fields | ({rule["fieldPath"].strip(".")} if "fieldPath" in rule else set())
        if not fields or not named <= {*node["properties"], ""}:
            offenders.append((path, rule["rule"]))
    assert offenders == []


def test_free_form_is_allowed_in_model_parameters_only() -> None:
    free = [path for path, node in NODES.items() if node.get("x-kubernetes-preserve-unknown-fields")]
    assert free == [
        "EvalRun.spec.models[].inline.parameters",
        "EvalRun.spec.supportingModels[].inline.parameters",
        "EvalModel.spec.parameters",
        "EvalSchedule.spec.runTemplate.spec.models[].inline.parameters",
        "EvalSchedule.spec.runTemplate.spec.supportingModels[].inline.parameters",
    ]


def test_every_field_is_explained() -> None:
    silent = [path for path, node in NODES.items() if "description" not in node and not path.endswith(("[]", "{}"))]
    assert [path for path in silent if ".metadata" not in path] == []


def test_a_type_without_a_structural_schema_is_refused_when_generating() -> None:
    class Choice(Document):
        field: int | str = 1

    class Multiple(Document):
        field: Annotated[int, Field(multiple_of=5)] = 5

    with pytest.raises(TypeError, match="no choice between types"):
        structural(Choice)
    with pytest.raises(TypeError, match="multipleOf: 5 has no form"):
        structural(Multiple)


def test_a_field_named_like_a_model_gets_none_of_its_rules() -> None:
    class Table(Document):
        gate: str
        suite: int | None = None

    assert structural(Table)["properties"] == {"gate": {"type": "string"}, "suite": {"type": "integer"}}


# Agreement with the models


def runs(cases: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The shortest run with changes to its spec."""
    return {
        name: changed(RUN, {f"spec.{path}": value for path, value in changes.items()})
        for name, changes in cases.items()
    }


def agents(*planners: str, plan: str = "model") -> dict[str, Any]:
    return {"agents": [{"name": f"a{number}", "plan": plan, "planner": name} for number, name in enumerate(planners)]}


GOOD = {
    "the shortest run": RUN,
    "a run that says everything": EVERYTHING,
    "a gate against the last good run": changed(RUN, {"spec.gate": {"lastGood": True, "maxRegression": 0.1}}),
    "a model that says everything": MODEL,
    "the shortest model": changed(MODEL, {"spec": {"model": "replay/gold"}}),
    "a schedule that says everything": SCHEDULE,
    "the shortest schedule": changed(
        SCHEDULE, {"spec": {"schedule": "*/5 0 L * MON#1", "runTemplate": {"spec": RUN["spec"]}}, "status": ABSENT}
    ),
    "conditions": changed(EVERYTHING, {"status.conditions": [ACCEPTED, ACCEPTED | {"type": "kueue.x-k8s.io/Queued"}]}),
} | runs({
    "rows of an object store": {"suite": {"objectStore": {"store": "s", "key": "tasks/"}}},
    "rows of a ConfigMap": {"suite": {"configMap": {"name": "tasks"}}},
    "a gate without baseline": {"gate": {"minSuccessRate": 1}},
    "a gate that looks after each round": {"trials": 4, "gate": {"minSuccessRate": 0.5, "minTrials": 1}},
    "an empty gate": {"gate": {}},
    "a planner": agents("gold"),
    "a planner of two agents": agents("gold", "gold"),
    "a planner that is not evaluated": agents("wise") | {"supportingModels": [{"name": "wise", "ref": "gpt"}]},
    "an orchestrator that plans": {"agents": [{"name": "a", "orchestrator": "planner_react", "planner": "gold"}]},
    "an orchestrator that plans with a human plan": {
        "agents": [{"name": "a", "orchestrator": "planner_react", "plan": "human", "planner": "gold"}]
    },
    "prompts and qualified names": {"agents": [{"name": "a", "prompts": {"system": "s"}, "toolNames": "qualified"}]},
    "an evaluated judge": {"judge": "gold"},
    "a judge that is not evaluated": {"judge": "j", "supportingModels": [{"name": "j", "ref": "gpt"}]},
    "credentials in both places": {"models.0.inline.credentials": {"secret": "s", "env": "E"}},
    "as many combinations as a run may have": {
        "suite.modes": ["oracle", "all_tools"],
        "models": [{"name": f"m{number}", "ref": "gpt"} for number in range(64)],
        "agents": [{"name": f"a{number}"} for number in range(8)],
    },
    "64 models": {"models": [{"name": f"m{number}", "ref": "gpt"} for number in range(64)]},
})  # fmt: skip
BAD = {
    "too many combinations": changed(
        RUN,
        {
            "spec.suite.modes": ["oracle", "all_tools"],
            "spec.models": [{"name": f"m{number}", "ref": "gpt"} for number in range(64)],
            "spec.agents": [{"name": f"a{number}"} for number in range(9)],
        },
    ),
    "no spec": changed(RUN, {"spec": ABSENT}),
    "a name in upper case": changed(RUN, {"metadata.name": "Nightly"}),
    "a name too long": changed(RUN, {"metadata.name": "n" * 64}),
    "a model with credentials nowhere": changed(MODEL, {"spec.credentials": {"key": "k"}}),
    "a model with endpoint credentials nowhere": changed(MODEL, {"spec.endpoints.0.credentials": {}}),
    "a condition twice": changed(EVERYTHING, {"status.conditions": [ACCEPTED, ACCEPTED | {"status": "False"}]}),
    "a time without zone": changed(EVERYTHING, {"status.startedAt": "2026-01-01T00:00:00"}),
    "a schedule's name that leaves no room for the time": changed(SCHEDULE, {"metadata.name": "n" * 53}),
    "a schedule of four fields": changed(SCHEDULE, {"spec.schedule": "0 3 * *"}),
    "a schedule with seconds": changed(SCHEDULE, {"spec.schedule": "0 0 3 * * *"}),
    "a schedule by a name": changed(SCHEDULE, {"spec.schedule": "@daily"}),
    "a schedule of nothing": changed(SCHEDULE, {"spec.runTemplate": ABSENT}),
    "a schedule of a bad run": changed(SCHEDULE, {"spec.runTemplate.spec.suite": {}}),
    "a schedule with a condition twice": changed(SCHEDULE, {"status.conditions": [ACCEPTED, ACCEPTED]}),
    "a history of no time": changed(SCHEDULE, {"spec.history.states": {}}),
    "a history of no days": changed(SCHEDULE, {"spec.history.records.days": 0}),
    "an unknown policy": changed(SCHEDULE, {"spec.concurrencyPolicy": "Queue"}),
    "a time in words": changed(EVERYTHING, {"status.conditions.0.lastTransitionTime": "yesterday"}),
} | runs({
    "no suite": {"suite": ABSENT},
    "no task source": {"suite": {"domains": ["itsm"]}},
    "two task sources": {"suite.path": "tasks"},
    "three task sources": {"suite.path": "tasks", "suite.configMap": {"name": "tasks"}},
    "a mode twice": {"suite.modes": ["oracle", "all_tools", "oracle"]},
    "no models": {"models": []},
    "a model neither named nor written out": {"models": [{"name": "m"}]},
    "a model named and written out": {"models.0.ref": "gpt"},
    "a model name twice": {"models": [{"name": "m", "ref": "a"}, {"name": "m", "ref": "b"}]},
    "65 models": {"models": [{"name": f"m{number}", "ref": "gpt"} for number in range(65)]},
    "credentials without a source": {"models.0.inline.credentials": {}},
    "endpoint credentials without a source": {"models.0.inline.endpoints": [{"url": "http://x", "credentials": {}}]},
    "an agent name twice": {"agents": [{"name": "a"}, {"name": "a", "maxSteps": 3}]},
    "a planner without plan": agents("gold", plan="none"),
    "a planner beside a human plan": agents("gold", plan="human"),
    "a plan without planner": {"agents": [{"name": "a", "plan": "model"}]},
    "an unknown planner": agents("other"),
    "a known and an unknown planner": agents("gold", "other"),
    "an unknown judge": {"judge": "other"},
    "a supporting model of an evaluated one's name": {"supportingModels": [{"name": "gold", "ref": "gpt"}]},
    "a supporting model twice": {"supportingModels": [{"name": "j", "ref": "a"}, {"name": "j", "ref": "b"}]},
    "an orchestrator in upper case": {"agents": [{"name": "a", "orchestrator": "React"}]},
    "a baseline without regression": {"gate": {"baseline": "yesterday"}},
    "a last good run without regression": {"gate": {"lastGood": True}},
    "two ways to name a baseline": {"gate": {"baseline": "yesterday", "lastGood": True, "maxRegression": 0.1}},
    "a regression against no last good run": {"gate": {"lastGood": False, "maxRegression": 0.1}},
    "a confidence of everything": {"gate": {"maxCostUsd": 1, "confidence": 1}},
    "rounds of no trial": {"trials": 4, "gate": {"minSuccessRate": 0.5, "minTrials": 0}},
    "a first round longer than the run": {"trials": 2, "gate": {"minSuccessRate": 0.5, "minTrials": 3}},
    "rounds that decide nothing": {"trials": 4, "gate": {"maxCostUsd": 1, "minTrials": 1}},
    "a webhook twice": {"notify": ["desk", "desk"]},
    "a regression without baseline": {"gate": {"maxRegression": 0.1}},
    "a budget of nothing": {"budget": {"maxUsd": 0}},
})  # fmt: skip


@pytest.mark.parametrize("document", GOOD.values(), ids=GOOD)
def test_the_server_accepts_and_keeps_every_document_that_the_models_accept(document: Mapping[str, Any]) -> None:
    kind = document["kind"]
    read = MODELS[kind].model_validate_json(json.dumps(document), strict=True)
    assert refusals(SCHEMAS[kind], document) == []
    stored = admitted(SCHEMAS[kind], document)
    if "status" not in document and kind != "EvalModel":
        assert stored.pop("status")["observedGeneration"] == -1, "no operator has seen it"
    assert MODELS[kind].model_validate_json(json.dumps(stored), strict=True) == read
    # Nulls are left out where a field may be absent; inside parameters they are the user's.
    dumped = read.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert without_switches(without_nulls(stored)) == without_switches(without_nulls(dumped)), "the same defaults"


def without_switches(value: Any) -> Any:
    """A document without the switches of its agents: the models take their defaults from the profile."""
    if isinstance(value, list):
        return [without_switches(item) for item in value]
    if not isinstance(value, dict):
        return value
    names = {field.alias for field in Switches.model_fields.values()}
    return {name: without_switches(item) for name, item in value.items() if name not in names}


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("document", BAD.values(), ids=BAD)
def test_the_server_refuses_every_document_that_the_models_refuse(document: Mapping[str, Any]) -> None:
    assert model_refuses(document)
    assert server_refuses(document)


def test_a_refusal_names_the_field_and_the_requirement() -> None:
    document = changed(
        EVERYTHING, {"spec.suite.builtin": "q", "spec.gate.baseline": ABSENT, "spec.agents.1.planner": "other"}
    )
    assert refusals(SCHEMAS["EvalRun"], document) == [
        ".spec.agents: a planner must be one of the run's models",
        ".spec.suite: exactly one of builtin, path, objectStore, configMap is required",
        ".spec.gate: maxRegression goes with baseline or lastGood, and they with it",
    ]


def leaves(value: Any, path: str = "") -> Iterator[str]:
    """Dotted path of every field and item; what is free-form is one."""
    if path:
        yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not path.endswith(FREE):
        for name, child in children:
            yield from leaves(child, f"{path}.{name}" if path else str(name))


FREE = (".parameters", ".counters")
# Times are left out: the models also read what the server would not take, and only the operator writes them.
TIMES = ("startedAt", "finishedAt", "lastTransitionTime", "notifications.0.at", "retryAt")
FIELDS = [path for path in leaves(EVERYTHING) if path.startswith(("spec", "status")) and not path.endswith(TIMES)]
ODD_VALUES: list[Any] = [
    ABSENT, "", "x", "Not A Name", "x" * 64, "x" * 201, "x" * 40_000, "none", "True", "https://h/v1", "1", -1, 0, 1, 11,
    1001, 10_001, 0.5, 1.5, -0.5, True, False, [], ["x"], ["x", "x"], ["oracle"] * 2, [1], ["x"] * 65, ["x"] * 5001, {},
]  # fmt: skip


@pytest.mark.parametrize("path", FIELDS)
def test_models_and_server_agree_on_odd_values_everywhere(path: str) -> None:
    for value in ODD_VALUES:
        document = changed(EVERYTHING, {path: value})
        assert server_refuses(document) == model_refuses(document), (path, str(value)[:80])


def test_unknown_fields_are_allowed_in_parameters_only() -> None:
    document = changed(EVERYTHING, {"spec.gate.typo": 1, "spec.models.1.inline.parameters.top_p": 1})
    stored = admitted(SCHEMAS["EvalRun"], document)
    assert "typo" not in stored["spec"]["gate"]
    assert stored["spec"]["models"][1]["inline"]["parameters"] == MODEL["spec"]["parameters"] | {"top_p": 1}


def documents_of(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for model in base.__subclasses__():
        if model.__module__.startswith("opsgym_api."):
            yield model
            yield from documents_of(model)


def test_a_model_with_a_rule_of_its_own_has_a_rule_or_a_list_type_for_the_server() -> None:
    ruled = {model for model in documents_of(Document) if model.__pydantic_decorators__.model_validators}
    twins = {
        model
        for model in documents_of(Document)
        if "x-kubernetes-validations" in (schema := structural(model))
        or any("x-kubernetes-list-type" in field for field in schema["properties"].values())
    }
    assert ruled == twins
    assert len(ruled) == 10
    assert not [model for model in documents_of(Document) if model.__pydantic_decorators__.field_validators]


# What may change


UPDATES: dict[str, tuple[dict[str, Any], str | None]] = {
    "nothing": ({}, None),
    "suspend": ({"suspend": False}, None),
    "no suspend": ({"suspend": ABSENT}, None),
    "a larger budget": ({"budget.maxUsd": 50}, None),
    "no budget": ({"budget": ABSENT}, None),
    "limit": ({"suite.limit": 4}, "suite"),
    "no seed": ({"suite.seed": ABSENT}, "suite"),
    "path": ({"suite.path": "other"}, "suite"),
    "one mode more": ({"suite.modes": ["oracle", "all_tools", "plus_5_tools"]}, "suite"),
    "ref": ({"models.0.ref": "other"}, "models"),
    "a parameter": ({"models.1.inline.parameters.temperature": 1}, "models"),
    "a parameter deep down": ({"models.1.inline.parameters.extra.deep": [1, "three"]}, "models"),
    "a parameter more": ({"models.1.inline.parameters.top_p": 1}, "models"),
    "a price": ({"models.1.inline.prices.inputUsd": 2}, "models"),
    "a model more": ({"models": [*EVERYTHING["spec"]["models"], {"name": "third", "ref": "x"}]}, "models"),
    "steps": ({"agents.0.maxSteps": 21}, "agents"),
    "trials": ({"trials": 4}, "trials"),
    "trials left to the default": ({"trials": ABSENT}, "trials"),
    "retries": ({"limits.infraRetries": 1}, "limits"),
    "store": ({"resultStore": "other"}, "resultStore"),
    "no store": ({"resultStore": ABSENT}, "resultStore"),
    "gate": ({"gate.minSuccessRate": 0.25}, "gate"),
    "no gate": ({"gate": ABSENT}, "gate"),
    "no queue": ({"queueName": ABSENT}, "queueName"),
    "ttl": ({"ttlSecondsAfterFinished": 1}, "ttlSecondsAfterFinished"),
}


def updated(changes: Mapping[str, Any]) -> dict[str, Any]:
    return changed(EVERYTHING, {f"spec.{path}": value for path, value in changes.items()})


@pytest.mark.parametrize(("changes", "refused"), UPDATES.values(), ids=UPDATES)
def test_only_suspend_and_budget_of_a_spec_may_change(changes: Mapping[str, Any], refused: str | None) -> None:
    message = f".spec.{refused}: is immutable, only suspend and budget may change; create another EvalRun"
    assert refusals(SCHEMAS["EvalRun"], updated(changes), old=EVERYTHING) == ([message] if refused else [])


@pytest.mark.parametrize("field", ["resultStore", "gate", "queueName", "ttlSecondsAfterFinished"])
def test_an_optional_field_cannot_be_added_to_an_existing_spec(field: str) -> None:
    [refusal] = refusals(SCHEMAS["EvalRun"], changed(RUN, {f"spec.{field}": EVERYTHING["spec"][field]}), old=RUN)
    assert refusal.startswith(f".spec.{field}: is immutable")


def test_an_explicit_default_equals_an_omitted_field() -> None:
    written_out = changed(RUN, {"spec.trials": 1, "spec.suite.modes": ["oracle"], "spec.agents": [{"name": "react"}]})
    assert refusals(SCHEMAS["EvalRun"], written_out, old=RUN) == []
    assert refusals(SCHEMAS["EvalRun"], RUN, old=written_out) == []


def test_every_field_of_an_evalrun_spec_except_suspend_and_budget_is_immutable() -> None:
    rules = SCHEMAS["EvalRun"]["properties"]["spec"]["x-kubernetes-validations"]
    immutable_fields = {rule["fieldPath"].strip(".") for rule in rules if "oldSelf" in rule["rule"]}
    assert immutable_fields == {field.alias for field in EvalRunSpec.model_fields.values()} - {"suspend", "budget"}


def test_an_evalmodel_spec_is_mutable() -> None:
    assert refusals(SCHEMAS["EvalModel"], changed(MODEL, {"spec.maxConcurrency": 9}), old=MODEL) == []


def test_the_run_template_of_a_schedule_is_mutable() -> None:
    later = changed(SCHEDULE, {"spec.schedule": "0 4 * * *", "spec.runTemplate.spec.trials": 9})
    assert refusals(SCHEMAS["EvalSchedule"], later, old=SCHEDULE) == []


def test_a_written_status_is_valid_for_the_server() -> None:
    status = EvalRunStatus.model_validate(EVERYTHING["status"])
    assert status.conditions == [Condition.model_validate(ACCEPTED)]
    written = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert written == EVERYTHING["status"]
    assert refusals(SCHEMAS["EvalRun"], RUN | {"status": written}, old=RUN) == []


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    "file",
    [*EXAMPLES.glob("schedules/*.yaml"), *EXAMPLES.glob("github-actions/evaluation.yaml")],
    ids=lambda file: file.name,
)
def test_examples_are_valid_for_the_server_and_the_models(file: Path) -> None:
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert refusals(SCHEMAS[document["kind"]], document) == []
    assert not model_refuses(document)


def test_only_generators_of_schemas_read_the_source_of_models() -> None:
    parsed = [
        kind.__name__ for kind in (Document, *MODELS.values()) if kind.model_config.get("use_attribute_docstrings")
    ]
    assert parsed == []
    suite = SCHEMAS["EvalRun"]["properties"]["spec"]["properties"]["suite"]["properties"]
    assert [name for name, schema in suite.items() if not schema.get("description")] == []
