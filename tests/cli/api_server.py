"""A stub API server that the real kubectl asks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

GROUP = "/apis/opsgym.dev/v1alpha1"


class ApiServer:
    """Answers kubectl from a table."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, Any]] = {}
        self.paths: list[str] = []
        self.serve_kinds(GROUP)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path, _, query = self.path.partition("?")
                outer.paths.append(path)
                if path.endswith("/log"):
                    parameters = parse_qs(query)
                    path += f"/{parameters['container'][0]}" + ("/previous" if "previous" in parameters else "")
                refused = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404, "reason": "NotFound"}
                code, body = outer.answers.get(path, (404, {**refused, "message": f'"{path}" not found'}))
                text = isinstance(body, str)
                content = body.encode() if text else json.dumps(_selected(body, query)).encode()
                self.send_response(code)
                self.send_header("Content-Type", "text/plain" if text else "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - named by the base class
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def serve_kinds(self, group: str | None) -> None:
        """Answers kubectl's questions about kinds; with None there are none of opsgym's."""
        version = {"groupVersion": "opsgym.dev/v1alpha1", "version": "v1alpha1"}
        entry = {"name": "opsgym.dev", "versions": [version], "preferredVersion": version}
        resource = {
            "name": "evalruns",
            "singularName": "evalrun",
            "namespaced": True,
            "kind": "EvalRun",
            "verbs": ["get"],
        }
        self.answers["/api"] = (200, {"kind": "APIVersions", "versions": ["v1"]})
        core = [
            {
                "name": f"{kind.lower()}s",
                "singularName": kind.lower(),
                "namespaced": True,
                "kind": kind,
                "verbs": ["get", "list"],
            }
            for kind in ("Pod", "ConfigMap")
        ]
        self.answers["/api/v1"] = (200, {"kind": "APIResourceList", "groupVersion": "v1", "resources": core})
        self.answers["/apis"] = (
            200,
            {"kind": "APIGroupList", "apiVersion": "v1", "groups": [entry] if group else []},
        )
        self.answers[GROUP] = (
            200,
            {"kind": "APIResourceList", "groupVersion": "opsgym.dev/v1alpha1", "resources": [resource]},
        )

    def put(self, name: str, status: Mapping[str, Any], namespace: str = "evals", uid: str = "1234") -> None:
        """Has an EvalRun, of generation 1."""
        self.answers[f"{GROUP}/namespaces/{namespace}/evalruns/{name}"] = (
            200,
            {
                "apiVersion": "opsgym.dev/v1alpha1",
                "kind": "EvalRun",
                "metadata": {"name": name, "namespace": namespace, "uid": uid, "generation": 1},
                "status": dict(status),
            },
        )

    def refuse(self, name: str, code: int, reason: str) -> None:
        """Refuses to show an EvalRun."""
        body = {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "code": code,
            "reason": reason,
            "message": "no",
        }
        self.answers[f"{GROUP}/namespaces/evals/evalruns/{name}"] = (code, body)

    def put_objects(self, objects: Sequence[Mapping[str, Any]], namespace: str = "evals") -> None:
        """Has these pods and ConfigMaps, and no others."""
        for kind in ("Pod", "ConfigMap"):
            items = [one for one in objects if one["kind"] == kind]
            listed = {"kind": f"{kind}List", "apiVersion": "v1", "metadata": {}, "items": items}
            self.answers[f"/api/v1/namespaces/{namespace}/{kind.lower()}s"] = (200, listed)
            for one in items:
                self.answers[f"/api/v1/namespaces/{namespace}/{kind.lower()}s/{one['metadata']['name']}"] = (200, one)

    def put_log(self, pod: str, container: str, text: str, namespace: str = "evals") -> None:
        """Has the log of a container; `NAME/previous` for that from before its last start."""
        self.answers[f"/api/v1/namespaces/{namespace}/pods/{pod}/log/{container}"] = (200, text)


def _selected(body: Any, query: str) -> Any:
    """A list reduced to the objects with the label that the query names; anything else as it is."""
    selector = parse_qs(query).get("labelSelector")
    if selector is None or "items" not in body:
        return body
    name, _, value = selector[0].partition("=")
    return {**body, "items": [one for one in body["items"] if one["metadata"].get("labels", {}).get(name) == value]}
