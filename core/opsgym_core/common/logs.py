"""Logging of every process: one JSON object per line, for opsgym and for libraries.

Invariant: no line contains a credential or the content of an episode: prompts, answers, arguments and results of tools.
Libraries that log such content log only from `WARNING` up, whatever level is configured, and an exception is logged by
type and stack without its message, which may quote content.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import structlog
from structlog.typing import EventDict, ExcInfo, Processor, WrappedLogger

from opsgym_core.common.scrub import known_secrets, mask

ENV_LEVEL = "OPSGYM_LOG_LEVEL"
"""Environment variable with the lowest level to log, one of `LEVELS`."""
ENV_FILE = "OPSGYM_LOG_FILE"
"""Environment variable with a file to log to besides stderr; several processes may share the file."""
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_LONGEST = 4000
"""Maximum characters of one text: container runtimes split lines above 16 KiB, and the parts are not valid JSON."""
_OURS = "opsgym"
_PACKAGES = (
    "opsgym_api", "opsgym_console", "opsgym_core", "opsgym_domains", "opsgym_operator", "opsgym_runner",
)  # fmt: skip
"""Packages whose loggers follow the configured level."""
_LEVELS: Mapping[str, int] = {
    "asyncio": logging.INFO,
    "kopf": logging.INFO,
    "kopf.objects": logging.WARNING,  # logs every object that it handles
    "opentelemetry": logging.CRITICAL + 1,  # repeats errors with tracebacks; opsgym logs lost spans itself
}
"""Lowest level of each library's loggers; `WARNING` for other libraries."""
_LEVELS_AT_DEBUG: Mapping[str, int] = {"httpx": logging.INFO}  # method, address and status of each request
_FOR_MACHINES = ("timestamp", "logger", "run", "cell", "trace_id", "span_id")

log = structlog.get_logger()


def configure_logs(environment: Mapping[str, str]) -> None:
    """Configures logging to stderr, and to a file if the environment names one.

    Args:
        environment: Environment variables; `ENV_LEVEL` (default `INFO`) and `ENV_FILE` are read.

    Raises:
        OSError: The file cannot be written.
    """
    streams: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if path := environment.get(ENV_FILE):
        streams.append(logging.FileHandler(path, mode="a", encoding="utf-8"))
    for handler in streams:
        handler.setFormatter(json_lines())
    level_name = environment.get(ENV_LEVEL) or "INFO"
    send_logs(streams, level_of(level_name))
    if level_name.upper() not in LEVELS:
        log.warning("unknown log level", variable=ENV_LEVEL, value=level_name, known=list(LEVELS), used="INFO")


def file_handler(path: Path) -> logging.Handler:
    """A handler that appends JSON lines to a file.

    Raises:
        OSError: The file cannot be written.
    """
    handler = logging.FileHandler(path, mode="a", encoding="utf-8")
    handler.setFormatter(json_lines())
    return handler


def level_of(name: str) -> int:
    """A level by its case-insensitive name; `INFO` for an unknown name."""
    return int(getattr(logging, name.upper())) if name.upper() in LEVELS else logging.INFO


def send_logs(handlers: Sequence[logging.Handler], level: int) -> None:
    """Sends all log records of this process to the given handlers only.

    Args:
        handlers: The handlers, each with its formatter, see `json_lines`.
        level: Lowest level of opsgym's own loggers.
    """
    levels = {**_LEVELS, **(_LEVELS_AT_DEBUG if level <= logging.DEBUG else {}), _OURS: level}
    for handler in handlers:
        handler.addFilter(_LevelFilter(levels, level))
    root = logging.getLogger()
    root.handlers = list(handlers)
    # Set on the loggers too: libraries check their level before they format a message, some while they are imported.
    root.setLevel(logging.WARNING)
    for name in (*_LEVELS, *_LEVELS_AT_DEBUG, *_PACKAGES, _OURS):
        logging.getLogger(name).setLevel(max(level, levels.get(_configured_logger(name, levels), logging.WARNING)))
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_COMMON,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )


def json_lines() -> logging.Formatter:
    """Formats a record as JSON: `timestamp`, `level`, `logger`, `message`, bound context and fields."""
    renderer = structlog.processors.JSONRenderer(ensure_ascii=False)
    return _formatter(structlog.processors.EventRenamer("message"), renderer)


def text_lines() -> logging.Formatter:
    """Formats a record for a terminal: level, message and fields, without time, logger, run and trace."""

    def without_ids(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        return {name: value for name, value in event.items() if name not in _FOR_MACHINES}

    renderer = structlog.processors.KeyValueRenderer(
        key_order=["level", "event"], drop_missing=True, repr_native_str=False
    )
    return _formatter(without_ids, renderer)


def _formatter(prepare: Processor, renderer: Processor) -> logging.Formatter:
    known = known_secrets()

    def without_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        return {name: _cut(mask(value, known)) for name, value in event.items()}

    meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_COMMON, processors=[meta, _without_message, prepare, without_secrets, renderer]
    )


_COMMON: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(allow={"k8s_ref"}),  # kopf's reference to the object concerned
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


class _LevelFilter(logging.Filter):
    """Applies the configured levels to every logger, including those that set their own level."""

    def __init__(self, levels: Mapping[str, int], level: int) -> None:
        super().__init__()
        self._levels = levels
        self._level = level

    def filter(self, record: logging.LogRecord) -> bool:
        name = _configured_logger(record.name, self._levels)
        return record.levelno >= max(self._level, self._levels.get(name, logging.WARNING))


def _configured_logger(logger: str, levels: Mapping[str, int]) -> str:
    """The nearest logger with a configured level: the logger itself or an ancestor; empty if there is none."""
    while logger and logger not in levels:
        if logger.startswith(f"{_OURS}_"):
            return _OURS
        logger = logger.rpartition(".")[0]
    return logger


def _without_message(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replaces an exception by its type and stack, since its message may quote a request, a row or an answer."""
    info = event.pop("exc_info", None)
    error = _exception(info)
    if error is not None:
        event["exception"] = " <- ".join(_chain(error))
    return event


def _exception(info: BaseException | ExcInfo | bool | None) -> BaseException | None:
    if isinstance(info, tuple):
        return info[1]
    if isinstance(info, BaseException):
        return info
    return sys.exc_info()[1] if info else None


def _chain(error: BaseException) -> list[str]:
    """An exception and its causes, each with its type and stack, innermost call first."""
    lines: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        lines.append(f"{type(error).__module__}.{type(error).__qualname__} at {_calls(error.__traceback__)}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)  # type: ignore[assignment]
    return lines


def _calls(trace: TracebackType | None) -> str:
    frames = reversed(traceback.extract_tb(trace))
    return ", ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames) or "nowhere"


def _cut(value: object) -> object:
    return value[:_LONGEST] + "…" if isinstance(value, str) and len(value) > _LONGEST else value
