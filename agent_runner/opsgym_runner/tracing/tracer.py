"""Spans of episodes, sent to an OpenTelemetry collector if the environment names one.

Invariant: tracing does not change an episode. Switched off, it imports nothing and costs one variable lookup; a
collector that is unreachable, slow or refusing delays the end of the process by at most `FLUSH_S`. A span belongs to
the episode in whose context it was started, however many run at once, and no attribute contains a credential.
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

from opsgym_core.common.scrub import known_secrets, mask

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer

FLUSH_S = 2.0
"""Maximum seconds for sending the remaining spans when the process ends."""
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""Variables of which at least one must be set for spans to be sent."""
ENV_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""Variable that turns on content capture: prompts, answers, arguments and results."""
SCHEMA = "https://opentelemetry.io/schemas/1.43.0"
"""The semantic conventions that names and values of attributes follow."""
_PROTOCOL = "http/protobuf"
_NO_HEADERS: Mapping[str, str] = {}

Value: TypeAlias = str | bool | int | float | Sequence[Any] | Mapping[str, Any] | None
Attributes: TypeAlias = Mapping[str, Value]
"""Attributes by name. None values are left out; nested values are sent as JSON."""

log = structlog.get_logger()


class Span(Protocol):
    """One traced operation of an episode."""

    recording: bool
    """Whether the span is sent; attributes that are costly to compute are left out otherwise."""
    content: bool
    """Whether content capture is on."""

    def set(self, attributes: Attributes) -> None:
        """Adds attributes."""
        ...

    def event(self, name: str, attributes: Attributes) -> None:
        """Adds an event with the current time."""
        ...

    def fail(self, kind: str) -> None:
        """Marks the operation as failed.

        Args:
            kind: Error type. Never an error message, which may quote the conversation.
        """
        ...


class _NoSpan:
    """The span used while nothing is traced."""

    recording = False
    content = False

    def set(self, attributes: Attributes) -> None:
        pass

    def event(self, name: str, attributes: Attributes) -> None:
        pass

    def fail(self, kind: str) -> None:
        pass


_NO_SPAN = _NoSpan()


@dataclass(frozen=True)
class _Trace:
    """State shared by the spans of an episode."""

    tracer: Tracer
    inherited: Attributes
    secrets: Sequence[str]
    """Values that are masked in attributes."""
    content: bool


class _RecordedSpan:
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
        return {name: _flat(mask(value, self.trace.secrets)) for name, value in attributes.items() if value is not None}


def _flat(value: Any) -> Any:
    nested = isinstance(value, dict) or (isinstance(value, list) and any(isinstance(part, dict) for part in value))
    return json.dumps(value, ensure_ascii=False) if nested else value


_CURRENT: ContextVar[_RecordedSpan | None] = ContextVar("opsgym_span", default=None)


@contextmanager
def span(name: str, *, client: bool = False) -> Iterator[Span]:
    """Traces the block as an operation of the current episode.

    Args:
        name: Name of the span.
        client: Whether the operation is a request to another process.
    """
    parent = _CURRENT.get()
    if parent is None:
        yield _NO_SPAN
        return
    with _started(parent.trace, name, parent, client=client) as started:
        yield started


def trace_headers() -> Mapping[str, str]:
    """W3C Trace Context headers of the current span; empty while nothing is traced."""
    current = _CURRENT.get()
    if current is None:
        return _NO_HEADERS
    context = current.span.get_span_context()
    return {"traceparent": f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"}


@contextmanager
def _started(trace: _Trace, name: str, parent: _RecordedSpan | None, *, client: bool = False) -> Iterator[Span]:
    """A span around the block; log lines inside carry its ids."""
    from opentelemetry.context import Context
    from opentelemetry.trace import SpanKind, set_span_in_context

    context = Context() if parent is None else set_span_in_context(parent.span, Context())
    otel_span = trace.tracer.start_span(name, context, SpanKind.CLIENT if client else SpanKind.INTERNAL)
    if not otel_span.is_recording():
        yield _NO_SPAN
        return
    recorded = _RecordedSpan(trace, otel_span)
    ids = otel_span.get_span_context()
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
        otel_span.end()


class Tracing:
    """Traces the episodes of a process; without a collector it does nothing.

    Args:
        provider: OpenTelemetry's provider; None without a collector.
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
        """Traces the block as an episode; spans started inside are its children.

        Args:
            name: Name of the span.
            inherited: Attributes of this span and all its children.
            secrets: Values masked in attributes, besides the secrets of the environment.
        """
        if self._tracer is None:
            yield _NO_SPAN
            return
        trace = _Trace(self._tracer, inherited, known_secrets(secrets), self._content)
        with _started(trace, name, None) as started:
            yield started

    def __enter__(self) -> Self:
        """Returns the tracing."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Sends the remaining spans; see `close`."""
        self.close()

    def close(self, within_s: float = FLUSH_S) -> None:
        """Sends the remaining spans and ends tracing; no episode may start afterwards.

        Args:
            within_s: Maximum seconds to wait.
        """
        if self._provider is None:
            return
        ending = threading.Thread(target=self._provider.shutdown, daemon=True)
        ending.start()
        ending.join(within_s)
        if ending.is_alive():
            log.warning("spans lost", collector=_collector(), problem=f"not accepted within {within_s:g} s")


def start_tracing(environment: Mapping[str, str] | None = None) -> Tracing:
    """Starts tracing if the environment names a collector.

    OpenTelemetry's SDK reads its own settings (headers, sampler, resource, limits) from the process's environment.

    Args:
        environment: Variables that turn on tracing and content capture; the process's own if None.
    """
    variables = os.environ if environment is None else environment
    off = variables.get("OTEL_SDK_DISABLED", "").lower() == "true" or variables.get("OTEL_TRACES_EXPORTER") == "none"
    if off or not any(variables.get(name) for name in ENDPOINTS):
        return Tracing()
    try:
        return Tracing(_provider(), content=variables.get(ENV_CONTENT, "").lower() == "true")
    except Exception as error:  # noqa: BLE001 a setting that the SDK rejects must not prevent episodes
        log.warning("tracing disabled", problem=f"{type(error).__name__}: {error}", advice="check the variables OTEL_*")
        return Tracing()


def _provider() -> TracerProvider:
    # Imported here: the import takes 0.1 s, which only traced processes must spend.
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
    provider.add_span_processor(BatchSpanProcessor(_logging(OTLPSpanExporter())))
    return provider


def _logging(exporter: SpanExporter) -> SpanExporter:
    """An exporter that never raises and logs once that spans are lost."""
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class LoggingExporter(SpanExporter):
        logged = False

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            try:
                result = exporter.export(spans)
            except Exception:  # noqa: BLE001 no fault of a collector may fail an episode
                result = SpanExportResult.FAILURE
            if result is not SpanExportResult.SUCCESS and not self.logged:
                self.logged = True
                log.warning("spans lost", collector=_collector(), problem="it does not answer or refuses them")
            return result

        def shutdown(self) -> None:
            exporter.shutdown()

    return LoggingExporter()


def _collector() -> str:
    """Host and port of the collector; the full URL may contain a password."""
    address = urlsplit(next(filter(None, map(os.environ.get, ENDPOINTS)), ""))
    return address.netloc.rpartition("@")[2] or "unknown"
