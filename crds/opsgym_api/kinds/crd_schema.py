"""Generates the CustomResourceDefinitions from the contract models.

Invariant: what a model refuses, the API server refuses too. Types, bounds, patterns and defaults carry over by
themselves; a rule that spans fields has a CEL rule in `_RULES`, or a list type in `_LISTS`, that says the same. The API
server sees two things otherwise: it drops unknown fields (kubectl refuses them first), and takes no null for absent.

    python -m opsgym_api.kinds.crd_schema           writes crds/*.yaml
    python -m opsgym_api.kinds.crd_schema --check   exits 1 and names the files that are not current
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from pydantic import BaseModel

from opsgym_api.described import DescribedSchema
from opsgym_api.kinds.evalmodel import GROUP, VERSION, EvalModel
from opsgym_api.kinds.evalrun import MOST_COMBINATIONS, EvalRun, EvalRunSpec
from opsgym_api.kinds.evalschedule import EvalSchedule
from opsgym_api.kinds.profiles import Switches

Schema: TypeAlias = dict[str, Any]

FOLDER = Path(__file__).resolve().parents[2]
"""Where the generated files lie: `crds/` of the source tree."""

_HEADER = "# Generated from crds/opsgym_api by `make generate`; edit the models instead.\n"

_MUTABLE = ("suspend", "budget")
"""Fields of an EvalRun's spec that may change: they decide when a run spends, not what it measures."""


def _rule(rule: str, message: str, **more: str) -> Mapping[str, str]:
    return {"rule": rule, "message": message, **more}


def _preserved(field: str) -> Mapping[str, str]:
    """The rule that a field neither changes nor comes nor goes."""
    same = f"has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || self.{field} == oldSelf.{field})"
    allowed = " and ".join(_MUTABLE)
    message = f"is immutable, only {allowed} may change; create another EvalRun"
    return _rule(same, message, fieldPath=f".{field}", reason="FieldValueForbidden")


_RULES: Mapping[str, Sequence[Mapping[str, str]]] = {
    "SecretKey": [
        _rule(
            "has(self.secret) || has(self.env)",
            "name a secret (in a cluster), an env variable (on one machine), or both",
        )
    ],
    "Suite": [
        _rule(
            "[has(self.builtin), has(self.path), has(self.objectStore), has(self.configMap)].exists_one(given, given)",
            "exactly one of builtin, path, objectStore, configMap is required",
        ),
        _rule("!has(self.variant) || has(self.builtin)", "variant goes with builtin; other suites have no variants"),
        _rule(
            "!has(self.heldOut) || !self.heldOut || (has(self.builtin) && !has(self.variant))",
            "heldOut goes with builtin and without variant: the secret seed says which one it is",
        ),
    ],
    "ModelSpec": [
        _rule(
            "!has(self.stream) || self.stream != 'always' || !self.model.startsWith('replay/')",
            "stream: always is not supported for replay models; remove it",
        )
    ],
    "ModelEntry": [_rule("has(self.ref) != has(self.inline)", "exactly one of ref and inline is required")],
    "Agent": [
        _rule("self.plan != 'model' || has(self.planner)", "plan: model requires a planner"),
        _rule(
            "!has(self.planner) || self.plan == 'model' || !(self.orchestrator in ['react', 'external'])",
            "a planner goes with plan: model, or with an orchestrator that plans",
        ),
        _rule(
            "has(self.command) && size(self.command) > 0 ? self.orchestrator in ['react', 'external']"
            " : self.orchestrator != 'external'",
            "command goes with orchestrator: external, which may be left out, and with no other",
        ),
        _rule(
            "has(self.command) && size(self.command) > 0 || !(has(self.env) && size(self.env) > 0"
            " || has(self.passEnv) && size(self.passEnv) > 0 || has(self.days) && self.days)",
            "env, passEnv and days go with command",
        ),
    ],
    "Gate": [
        _rule(
            "!has(self.baseline) || !has(self.lastGood) || !self.lastGood",
            "baseline and lastGood are two ways to name the run to compare with; give one",
        ),
        _rule(
            "(has(self.baseline) || (has(self.lastGood) && self.lastGood)) == has(self.maxRegression)",
            "maxRegression goes with baseline or lastGood, and they with it",
        ),
        _rule("!has(self.maxCellRegression) || has(self.maxRegression)", "maxCellRegression goes with maxRegression"),
        _rule(
            "!has(self.bestOf) || self.bestOf == 1 || (has(self.lastGood) && self.lastGood)",
            "bestOf goes with lastGood",
        ),
        _rule(
            "!has(self.minTrials) || has(self.minSuccessRate) || has(self.maxRegression)",
            "minTrials goes with minSuccessRate or maxRegression, which more trials can decide",
        ),
    ],
    "Keep": [_rule("has(self.days) || has(self.runs)", "states no time; give days, runs or both")],
    "EvalRunSpec": [
        _rule(
            "self.agents.all(agent, !has(agent.planner) || agent.planner in self.models.map(model, model.name)"
            " || agent.planner in self.supportingModels.map(model, model.name))",
            "a planner must be one of the run's models",
            fieldPath=".agents",
        ),
        _rule(
            "!has(self.judge) || self.judge in self.models.map(model, model.name)"
            " || self.judge in self.supportingModels.map(model, model.name)",
            "the judge must be one of the run's models",
            fieldPath=".judge",
        ),
        _rule(
            "self.supportingModels.all(model, !(model.name in self.models.map(model, model.name)))",
            "a supporting model's name must not be an evaluated model's",
            fieldPath=".supportingModels",
        ),
        _rule(
            "!has(self.gate) || !has(self.gate.minTrials) || self.gate.minTrials <= self.trials",
            "gate.minTrials is more than trials, which is the most; lower it, or raise trials",
            fieldPath=".gate",
        ),
        _rule(
            f"size(self.models) * size(self.agents) * size(self.suite.modes) <= {MOST_COMBINATIONS}",
            f"models × agents × suite.modes are more than {MOST_COMBINATIONS}; split them into several runs",
        ),
        _rule(
            "!has(self.queuePriorityClass) || has(self.queueName)",
            "queuePriorityClass goes with queueName",
            fieldPath=".queuePriorityClass",
        ),
    ],
}
"""CEL rules by model."""

_FROZEN = [_preserved(field.alias or name) for name, field in EvalRunSpec.model_fields.items() if name not in _MUTABLE]
"""Further rules of an EvalRun's spec; a schedule's template, which has the same fields, may change."""

_SET = {"x-kubernetes-list-type": "set"}

_BY_NAME = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}

_BY_TYPE = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}

_LISTS: Mapping[str, Mapping[str, Schema]] = {
    "Suite": {"modes": _SET},
    "EvalRunSpec": {"models": _BY_NAME, "supportingModels": _BY_NAME, "agents": _BY_NAME, "notify": _SET},
    "EvalRunStatus": {"conditions": _BY_TYPE},
    "EvalScheduleStatus": {"conditions": _BY_TYPE},
}
"""List types by model and field. The API server then refuses items that are twice there."""

_CARRIED = frozenset({
    "type", "description", "default", "enum", "format", "pattern", "required",
    "minLength", "maxLength", "minItems", "maxItems", "maxProperties", "minimum", "maximum",
    "x-kubernetes-int-or-string",
})  # fmt: skip
"""Keywords that mean the same in a structural schema."""

_FIRST = ("description", "type", "default")
"""What a reader wants to see before the rest."""

_SWITCHES = frozenset(field.alias for field in Switches.model_fields.values())
"""Fields without a default of their own: their profile decides."""

_EXCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
"""Bounds that are numbers in JSON Schema, and flags beside the bound in a structural schema."""


def structural(model: type[BaseModel]) -> Schema:
    """A model's schema as the API server takes it.

    Raises:
        TypeError: The model says something for which there is no structural schema.
    """
    schema = model.model_json_schema(by_alias=True, schema_generator=DescribedSchema)
    defs = {**schema.get("$defs", {}), model.__name__: _without(schema, "$defs")}
    return _structural({"$ref": model.__name__}, defs)


def _structural(node: Schema, defs: Mapping[str, Schema]) -> Schema:
    if "anyOf" in node:
        return _structural({**_present(node["anyOf"]), **_without(node, "anyOf")}, defs)
    name = node.get("$ref", "").rpartition("/")[2]
    result: Schema = {}
    for keyword, value in {**defs.get(name, {}), **_without(node, "$ref")}.items():
        result |= _keyword(keyword, value, defs)
    for field, kind in _LISTS.get(name, {}).items():
        result["properties"][field] |= kind
    if name in _RULES:
        result["x-kubernetes-validations"] = [dict(rule) for rule in _RULES[name]]
    return {**{keyword: result[keyword] for keyword in _FIRST if keyword in result}, **result}


def _keyword(keyword: str, value: Any, defs: Mapping[str, Schema]) -> Schema:
    """What one keyword of JSON Schema becomes."""
    if keyword == "default":
        return {} if value is None else {keyword: _without_nulls(_without_switches(value))}
    if keyword in _CARRIED:
        return {keyword: value}
    if keyword in _EXCLUSIVE:
        return {_EXCLUSIVE[keyword]: value, keyword: True}
    if keyword == "properties":
        return {keyword: {name: _structural(schema, defs) for name, schema in value.items()}}
    if keyword == "items":
        return {keyword: _structural(value, defs)}
    if keyword == "additionalProperties":
        return _additional(value, defs)
    if keyword == "const":
        return {"enum": [value]}
    if keyword == "title":
        return {}
    raise TypeError(f"{keyword}: {value!r} has no form in a structural schema; declare the field otherwise")


def _additional(value: Any, defs: Mapping[str, Schema]) -> Schema:
    if value is False:
        return {}
    if value is True:
        return {"x-kubernetes-preserve-unknown-fields": True}
    return {"additionalProperties": _structural(value, defs)}


def _present(choices: Sequence[Schema]) -> Schema:
    """The one thing that an optional field may hold; absence is not null in a cluster."""
    present = [choice for choice in choices if choice.get("type") != "null"]
    if len(present) == 1:
        return present[0]
    if [choice.get("type") for choice in present] == ["integer", "string"] and "const" in present[1]:
        return _number_or_word(*present)
    raise TypeError(f"{choices!r}: a field must have one type; structural schemas know no choice between types")


def _number_or_word(number: Schema, word: Schema) -> Schema:
    """The one choice between types that a structural schema knows. Bounds concern numbers only, a pattern strings."""
    text = {"pattern": f"^{word['const']}$", "maxLength": len(word["const"])}
    return {**_without(number, "type"), "x-kubernetes-int-or-string": True, **text}


def _without(node: Schema, keyword: str) -> Schema:
    return {key: value for key, value in node.items() if key != keyword}


def _without_switches(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_switches(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: item for name, item in value.items() if name not in _SWITCHES}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _crd(model: type[EvalRun | EvalModel | EvalSchedule], *, short: str, columns: Sequence[Schema]) -> Schema:
    """The definition of a kind; it has a status subresource if its model has a status."""
    kind = model.__name__
    plural = f"{kind.lower()}s"
    schema = structural(model)
    properties = schema["properties"]
    properties["apiVersion"] = {"type": "string", "description": f"`{GROUP}/{VERSION}`."}
    properties["kind"] = {"type": "string", "description": f"`{kind}`."}
    # Of metadata a schema may constrain the name only.
    properties["metadata"] = {
        "type": "object",
        "properties": {"name": _without(properties["metadata"]["properties"]["name"], "description")},
    }
    schema["required"] = ["spec"]
    version: Schema = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": list(columns),
        "schema": {"openAPIV3Schema": schema},
    }
    if "status" in properties:
        version["subresources"] = {"status": {}}
        if "observedGeneration" in properties["status"]["properties"]:
            # Until the operator has seen an object, kstatus and Argo CD then take it as in progress, not as done.
            properties["status"]["default"] = {"observedGeneration": -1}
    names = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": plural,
        "singular": kind.lower(),
        "shortNames": [short],
        "categories": ["opsgym"],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"group": GROUP, "names": names, "scope": "Namespaced", "versions": [version]},
    }


def _column(name: str, path: str, kind: str = "string") -> Schema:
    return {"name": name, "type": kind, "jsonPath": path}


_AGE = _column("Age", ".metadata.creationTimestamp", "date")


def definitions() -> list[Schema]:
    """Every CustomResourceDefinition of opsgym."""
    run = _crd(
        EvalRun,
        short="er",
        columns=[
            _column("Models", ".status.models"),
            _column("Progress", ".status.progress"),
            _column("Success", ".status.success"),
            _column("NotScored", ".status.notScored", "integer"),
            _column("Cost", ".status.cost"),
            _column("Gate", ".status.gate"),
            _column("Phase", ".status.phase"),
            _column("Reason", '.status.conditions[?(@.type=="Progressing")].reason'),
            _AGE,
        ],
    )
    model = _crd(
        EvalModel,
        short="em",
        columns=[
            _column("Model", ".spec.model"),
            _column("MaxConcurrency", ".spec.maxConcurrency", "integer"),
            _AGE,
        ],
    )
    run_spec = run["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    run_spec["x-kubernetes-validations"] += [dict(rule) for rule in _FROZEN]
    schedule = _crd(
        EvalSchedule,
        short="esched",
        columns=[
            _column("Schedule", ".spec.schedule"),
            _column("TimeZone", ".spec.timeZone"),
            _column("Suspend", ".spec.suspend", "boolean"),
            _column("Active", ".status.activeRuns", "integer"),
            _column("LastSchedule", ".status.lastScheduleTime", "date"),
            _column("LastSuccess", ".status.lastSuccessfulTime", "date"),
            _AGE,
        ],
    )
    return [run, model, schedule]


class _Dumper(yaml.SafeDumper):
    """Writes shared parts out each time: aliases make a manifest hard to read."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the signature is yaml's
        """Nothing is aliased."""
        return True


def rendered() -> dict[str, str]:
    """The text of each generated file by its name."""
    return {
        f"{crd['metadata']['name']}.yaml": _HEADER
        + yaml.dump(crd, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)
        for crd in definitions()
    }


def stale(folder: Path) -> list[str]:
    """Names of the generated files that a folder lacks, or holds otherwise."""
    return [name for name, text in rendered().items() if not _holds(folder / name, text)]


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def main(arguments: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    """Writes the files or, with `--check`, says which are not current.

    Returns:
        Exit code: 1 if a check found something.
    """
    parser = argparse.ArgumentParser(prog="python -m opsgym_api.kinds.crd_schema", description="Generates crds/*.yaml.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is not current")
    if not parser.parse_args(arguments).check:
        for name, text in rendered().items():
            (folder / name).write_text(text, encoding="utf-8")
        return 0
    names = stale(folder)
    for name in names:
        sys.stderr.write(f"{folder.name}/{name} is not current; run `make generate`\n")
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
