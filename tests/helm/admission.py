"""Evaluates ValidatingAdmissionPolicies as an API server does: match conditions, variables, validations.

Resource rules and namespace selectors are compared by name; cost limits are not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import celpy
from celpy.adapter import json_to_cel
from celpy.celtypes import MapType, StringType
from celpy.evaluation import CELEvalError

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """A request that admission policies see."""

    resource: str
    user: str
    object: Manifest | None = None
    old: Manifest | None = None
    namespace: str = "team"
    namespace_labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def operation(self) -> str:
        """CREATE, UPDATE or DELETE."""
        if self.object is None:
            return "DELETE"
        return "CREATE" if self.old is None else "UPDATE"

    @property
    def context(self) -> dict[str, Any]:
        """Variables of expressions."""
        labels = {"kubernetes.io/metadata.name": self.namespace, **self.namespace_labels}
        metadata = {"name": self.namespace, "labels": labels}
        request = {
            "operation": self.operation,
            "userInfo": {"username": self.user},
            "resource": {"resource": self.resource},
        }
        return {
            "object": json_to_cel(self.object),
            "oldObject": json_to_cel(self.old),
            "request": json_to_cel(request),
            "namespaceObject": json_to_cel({"metadata": metadata}),
        }


def denials(manifests: list[Manifest], request: Request) -> list[str]:
    """Messages of the policies that deny a request; empty if it is admitted."""
    policies = {item["metadata"]["name"]: item for item in manifests if item["kind"] == "ValidatingAdmissionPolicy"}
    bindings = [item["spec"] for item in manifests if item["kind"] == "ValidatingAdmissionPolicyBinding"]
    assert {binding["policyName"] for binding in bindings} == policies.keys()
    return [
        message
        for binding in bindings
        if binding["validationActions"] == ["Deny"] and _selects(binding.get("matchResources", {}), request)
        for message in _denials(policies[binding["policyName"]]["spec"], request)
    ]


def _selects(resources: Manifest, request: Request) -> bool:
    labels = {"kubernetes.io/metadata.name": request.namespace, **request.namespace_labels}
    selector = resources.get("namespaceSelector", {})
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items()) and all(
        rule["operator"] == "In" and labels.get(rule["key"]) in rule["values"]
        for rule in selector.get("matchExpressions", [])
    )


def _denials(policy: Manifest, request: Request) -> list[str]:
    rules = policy["matchConstraints"]["resourceRules"]
    if not any(request.resource in rule["resources"] and request.operation in rule["operations"] for rule in rules):
        return []
    context = request.context
    if not all(_value(condition["expression"], context) for condition in policy.get("matchConditions", [])):
        return []
    variables = MapType({})
    context["variables"] = variables
    for variable in policy.get("variables", []):
        # An API server evaluates variables when an expression uses them; one that fails is absent here.
        with suppress(CELEvalError):
            variables[StringType(variable["name"])] = _value(variable["expression"], context)
    return [
        rule.get("message") or str(_value(rule["messageExpression"], context))
        for rule in policy["validations"]
        if not _value(rule["expression"], context)
    ]


def _value(expression: str, context: Mapping[str, Any]) -> Any:
    return _program(expression).evaluate(dict(context))


@cache
def _program(expression: str) -> celpy.Runner:
    environment = celpy.Environment()
    return environment.program(environment.compile(expression))
