"""An OpenTelemetry collector on real HTTP: takes spans by OTLP and keeps them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.runner.servers import serving


@dataclass(frozen=True)
class Received:
    """A span as it arrived."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: int
    failed: bool
    attributes: Mapping[str, Any]
    events: Sequence[tuple[str, Mapping[str, Any]]]
    resource: Mapping[str, Any]

    def events_named(self, name: str) -> list[Mapping[str, Any]]:
        """Attributes of its events of one name."""
        return [attributes for event, attributes in self.events if event == name]


@dataclass
class Collector:
    """What came, and how it answers."""

    status: int = 200
    """Answers with this code."""
    hangs: bool = False
    """Answers nothing until it is closed."""
    url: str = ""
    _began: list[tuple[int, Received]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    _closing: threading.Event = field(default_factory=threading.Event)

    @classmethod
    @contextmanager
    def serving(cls, **fields: Any) -> Iterator[Collector]:
        """Serves one."""
        collector = cls(**fields)
        app = Starlette(routes=[Route("/v1/traces", collector._take, methods=["POST"])])
        with serving(app) as url:
            collector.url = url
            try:
                yield collector
            finally:
                collector._closing.set()

    async def _take(self, request: Request) -> Response:
        body = await request.body()
        while self.hangs and not self._closing.is_set():  # noqa: ASYNC110 - set by a thread
            await asyncio.sleep(0.01)
        self.headers.append(dict(request.headers))
        self.bodies.append(body)
        if self.status == 200:
            self._began += received(body)
            self._began.sort(key=lambda pair: pair[0])
        return Response(status_code=self.status)

    @property
    def spans(self) -> list[Received]:
        """What came, in the order in which it began."""
        return [span for _, span in self._began]

    def root(self) -> Received:
        """The only span that is in no other."""
        (root,) = [span for span in self.spans if not span.parent_id]
        return root

    def named(self, beginning: str) -> list[Received]:
        """Spans whose name begins so, as they began."""
        return [span for span in self.spans if span.name.startswith(beginning)]

    def children(self, parent: Received) -> list[str]:
        """Names of the spans directly in one, in their order."""
        return [span.name for span in self.spans if span.parent_id == parent.span_id]

    def content(self) -> str:
        """Everything that arrived, as text."""
        return b"\n".join(self.bodies).decode(errors="replace")


def received(body: bytes) -> list[tuple[int, Received]]:
    """Spans of a request, each with the time at which it began."""
    message = ExportTraceServiceRequest.FromString(body)
    return [
        (span.start_time_unix_nano, _span(span, _values(batch.resource.attributes)))
        for batch in message.resource_spans
        for scope in batch.scope_spans
        for span in scope.spans
    ]


def _span(span: ProtoSpan, resource: Mapping[str, Any]) -> Received:
    return Received(
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        kind=span.kind,
        failed=span.status.code == Status.STATUS_CODE_ERROR,
        attributes=_values(span.attributes),
        events=[(event.name, _values(event.attributes)) for event in span.events],
        resource=resource,
    )


def _values(pairs: Sequence[KeyValue]) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(part) for part in value.array_value.values]
    return getattr(value, kind) if kind else None
