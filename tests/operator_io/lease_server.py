"""Leases on a stub of the API server, which accepts a change only of the version that it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.operator_io.api_server import ApiServer

LEADER = ("release", "opsgym-operator")


class LeaseServer:
    """The Leases of a cluster, by namespace and name."""

    def __init__(self, server: ApiServer, *leases: tuple[str, str]) -> None:
        self.server = server
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        self._version = 0
        self.away = False
        """Whether the API server refuses every request with 503."""
        for namespace in {namespace for namespace, _ in leases}:
            path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
            server.answer("POST", path, 0, self._create)
        for lease in leases:
            path = f"/apis/coordination.k8s.io/v1/namespaces/{lease[0]}/leases/{lease[1]}"
            server.answer("GET", path, 0, lambda _, lease=lease: self._get(lease))
            server.answer("PATCH", path, 0, lambda change, lease=lease: self._patch(lease, change))

    def holder(self, lease: tuple[str, str] = LEADER) -> str:
        """Identity of a Lease's holder; empty without one."""
        return str(self.objects.get(lease, {}).get("spec", {}).get("holderIdentity") or "")

    def take(self, lease: tuple[str, str], holder: str) -> None:
        """Lets another process take a Lease."""
        spec = self.objects.get(lease, {}).get("spec", {"leaseDurationSeconds": 60})
        transitions = spec.get("leaseTransitions", 0) + 1
        self._store(lease, {**spec, "holderIdentity": holder, "leaseTransitions": transitions})

    def _store(self, lease: tuple[str, str], spec: Mapping[str, Any]) -> dict[str, Any]:
        self._version += 1
        metadata = {"namespace": lease[0], "name": lease[1], "resourceVersion": str(self._version)}
        self.objects[lease] = {"metadata": metadata, "spec": dict(spec)}
        return self.objects[lease]

    def _get(self, lease: tuple[str, str]) -> tuple[int, Any]:
        if self.away:
            return 503, {"message": "the server is away"}
        return (200, self.objects[lease]) if lease in self.objects else (404, {"message": "not found"})

    def _create(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        lease = body["metadata"]["namespace"], body["metadata"]["name"]
        if self.away:
            return 503, {"message": "the server is away"}
        return (409, {"message": "exists"}) if lease in self.objects else (201, self._store(lease, body["spec"]))

    def _patch(self, lease: tuple[str, str], change: Mapping[str, Any]) -> tuple[int, Any]:
        if self.away:
            return 503, {"message": "the server is away"}
        if lease not in self.objects:
            return 404, {"message": "not found"}
        if change["metadata"]["resourceVersion"] != self.objects[lease]["metadata"]["resourceVersion"]:
            return 409, {"message": "the object has been modified"}
        return 200, self._store(lease, {**self.objects[lease]["spec"], **change["spec"]})
