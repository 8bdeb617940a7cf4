"""Spans of episodes, sent to an OpenTelemetry collector where the environment names one.

Invariant: tracing changes nothing that an episode does. Switched off it imports nothing and costs a look at a variable;
a collector that is away, slow or refuses costs the end of a process at most `FLUSH_S`. A span belongs to the episode in
whose context it began, however many run at once, and none of its attributes holds a credential.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.metadata import version
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias
from urllib.parse import urlsplit

import structlog

from opsgym_api.scrub import known_secrets, masked

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer

FLUSH_S = 2.0
"""Seconds that spans have to reach the collector when the process ends."""
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""Variables of which one has to be set for spans to be sent."""
ENV_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""Variable that has prompts, answers, arguments and results sent too."""
SCHEMA = "https://opentelemetry.io/schemas/1.43.0"
"""The semantic conventions that names and values of attributes follow."""
_PROTOCOL = "http/protobuf"
_NO_HEADERS: Mapping[str, str] = {}

Value: TypeAlias = str | bool | int | float | Sequence[Any] | Mapping[str, Any] | None
Attributes: TypeAlias = Mapping[str, Value]
"""Attributes by name; those that are None are left out, those of several levels are sent as JSON."""

log = structlog.get_logger()


class Span(Protocol):
    """What an episode tells of one of its parts."""

    recording: bool
    """Whether anybody listens: attributes that take work to make are made only then."""
    content: bool
    """Whether prompts, answers, arguments and results are wanted."""

    def set(self, attributes: Attributes) -> None:
        """Adds attributes."""
        ...

    def event(self, name: str, attributes: Attributes) -> None:
        """Adds something that happened just now."""
        ...

    def fail(self, kind: str) -> None:
        """Says that this part failed, and in which way; not with which words, which may quote."""
        ...


class _Silent:
    """The span where nothing is traced."""

    recording = False
    content = False

    def set(self, attributes: Attributes) -> None:
        pass

    def event(self, name: str, attributes: Attributes) -> None:
        pass

    def fail(self, kind: str) -> None:
        pass


_SILENT = _Silent()


@dataclass(frozen=True)
class _Trace:
    """What the spans of an episode share."""

    tracer: Tracer
    inherited: Attributes
    known: Sequence[str]
    """Secrets."""
    content: bool


class _Recorded:
    """A span that is sent."""

    recording = True

    def __init__(self, trace: _Trace, span: OtelSpan) -> None:
        self.trace = trace
        self.span = span
        self.content = trace.content
        self.failed = False
        self.set(trace.inherited)

    def set(self, attributes: Attributes) -> None:
        self.span.set_attributes(self._clean(attributes))

    def event(self, name: str, attributes: Attributes) -> None:
        self.span.add_event(name, self._clean(attributes))

    def fail(self, kind: str) -> None:
        from opentelemetry.trace import StatusCode

        self.failed = True
        self.set({"error.type": kind})
        self.span.set_status(StatusCode.ERROR)

    def _clean(self, attributes: Attributes) -> dict[str, Any]:
        return {name: _flat(masked(value, self.trace.known)) for name, value in attributes.items() if value is not None}


def _flat(value: Any) -> Any:
    nested = isinstance(value, dict) or (isinstance(value, list) and any(isinstance(part, dict) for part in value))
    return json.dumps(value, ensure_ascii=False) if nested else value


_CURRENT: ContextVar[_Recorded | None] = ContextVar("opsgym_span", default=None)


@contextmanager
def span(name: str, *, client: bool = False) -> Iterator[Span]:
    """A part of the episode that is under way.

    Args:
        name: What it is called.
        client: Whether it asks somebody else, and waits for the answer.
    """
    parent = _CURRENT.get()
    if parent is None:
        yield _SILENT
        return
    with _begun(parent.trace, name, parent, client=client) as begun:
        yield begun


def trace_headers() -> Mapping[str, str]:
    """Headers by which whoever is asked learns which span asks (W3C Trace Context); none where nothing is traced."""
    current = _CURRENT.get()
    if current is None:
        return _NO_HEADERS
    context = current.span.get_span_context()
    return {"traceparent": f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"}


@contextmanager
def _begun(trace: _Trace, name: str, parent: _Recorded | None, *, client: bool = False) -> Iterator[Span]:
    """A span for as long as the block lasts; log lines inside carry its ids."""
    from opentelemetry.context import Context
    from opentelemetry.trace import SpanKind, set_span_in_context

    context = Context() if parent is None else set_span_in_context(parent.span, Context())
    begun = trace.tracer.start_span(name, context, SpanKind.CLIENT if client else SpanKind.INTERNAL)
    if not begun.is_recording():
        yield _SILENT
        return
    recorded = _Recorded(trace, begun)
    ids = begun.get_span_context()
    token = _CURRENT.set(recorded)
    try:
        with structlog.contextvars.bound_contextvars(trace_id=f"{ids.trace_id:032x}", span_id=f"{ids.span_id:016x}"):
            yield recorded
    except BaseException as error:
        if not recorded.failed:
            recorded.fail(str(getattr(error, "reason", "") or type(error).__qualname__))
        raise
    finally:
        _CURRENT.reset(token)
        begun.end()


class Tracing:
    """Where the spans of a process go. Without a collector every episode is silent.

    Args:
        provider: What makes and sends spans; None without a collector.
        content: Whether prompts, answers, arguments and results are sent.
    """

    def __init__(self, provider: TracerProvider | None = None, *, content: bool = False) -> None:
        self._provider = provider
        self._content = content
        self._tracer: Tracer | None = None
        if provider is not None:
            self._tracer = provider.get_tracer("opsgym_runner", version("opsgym-runner"), schema_url=SCHEMA)

    @contextmanager
    def episode(self, name: str, inherited: Attributes, secrets: Sequence[str]) -> Iterator[Span]:
        """The span of an episode, in which all its parts are.

        Args:
            name: What it is called.
            inherited: Attributes that each of its parts has too.
            secrets: Values that no attribute may hold, besides those of the environment.
        """
        if self._tracer is None:
            yield _SILENT
            return
        with _begun(_Trace(self._tracer, inherited, known_secrets(secrets), self._content), name, None) as begun:
            yield begun

    def __enter__(self) -> Self:
        """Nothing is sent yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """See `close`."""
        self.close()

    def close(self, within_s: float = FLUSH_S) -> None:
        """Sends what is not sent yet, for so many seconds at most. No episode may begin any more."""
        if self._provider is None:
            return
        ending = threading.Thread(target=self._provider.shutdown, daemon=True)
        ending.start()
        ending.join(within_s)
        if ending.is_alive():
            log.warning("spans are lost", collector=_collector(), problem=f"not taken within {within_s:g} s")


def start_tracing(environment: Mapping[str, str] | None = None) -> Tracing:
    """Begins to send spans if the environment names a collector.

    What OpenTelemetry's SDK knows of by itself (headers, sampler, resource, limits) it reads from the process's
    environment.

    Args:
        environment: Says whether, and whether with content; the process's own if None.
    """
    given = os.environ if environment is None else environment
    off = given.get("OTEL_SDK_DISABLED", "").lower() == "true" or given.get("OTEL_TRACES_EXPORTER") == "none"
    if off or not any(given.get(name) for name in ENDPOINTS):
        return Tracing()
    try:
        return Tracing(_provider(), content=given.get(ENV_CONTENT, "").lower() == "true")
    except Exception as error:  # noqa: BLE001 a variable that the SDK cannot read must not keep an episode from running
        log.warning("nothing is traced", problem=f"{type(error).__name__}: {error}", advice="see the variables OTEL_*")
        return Tracing()


def _provider() -> TracerProvider:
    # Imported here: it takes a tenth of a second, which only those pay who want spans.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    protocols = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    protocol = next(filter(None, map(os.environ.get, protocols)), _PROTOCOL)
    if protocol != _PROTOCOL:
        raise ValueError(f"spans are sent by {_PROTOCOL}, not {protocol}")
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    own = {"service.version": version("opsgym-runner")} | ({} if named else {"service.name": "opsgym-runner"})
    provider = TracerProvider(resource=Resource.create(own), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(_telling(OTLPSpanExporter())))
    return provider


def _telling(exporter: SpanExporter) -> SpanExporter:
    """An exporter that says once that spans are lost, and never fails."""
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class Telling(SpanExporter):
        told = False

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            try:
                result = exporter.export(spans)
            except Exception:  # noqa: BLE001 whatever is wrong with a collector is nobody's failure
                result = SpanExportResult.FAILURE
            if result is not SpanExportResult.SUCCESS and not self.told:
                self.told = True
                log.warning("spans are lost", collector=_collector(), problem="it does not answer, or refuses them")
            return result

        def shutdown(self) -> None:
            exporter.shutdown()

    return Telling()


def _collector() -> str:
    """Host and port of the collector; its address may hold a password."""
    address = urlsplit(next(filter(None, map(os.environ.get, ENDPOINTS)), ""))
    return address.netloc.rpartition("@")[2] or "unknown"
