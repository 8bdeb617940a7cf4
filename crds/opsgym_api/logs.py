"""Logs of every process: one JSON object a line, ours and libraries' alike.

Invariant: no line holds a credential, or what was said in an episode: prompts, answers, arguments and results of tools.
Libraries that quote such things are heard from `WARNING` up only, whatever level is asked for, and an exception is told
by its kind and place, since its words may quote.
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

from opsgym_api.scrub import known_secrets, masked

ENV_LEVEL = "OPSGYM_LOG_LEVEL"
"""Variable with the lowest level that is logged: one of `LEVELS`."""
ENV_FILE = "OPSGYM_LOG_FILE"
"""Variable with a file to which lines go besides stderr; several processes may share it."""
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_LONGEST = 4000
"""Characters of one text in a line: container runtimes cut lines of 16 KiB into pieces, which are no JSON."""
_OURS = "opsgym"
_HEARD: Mapping[str, int] = {
    "asyncio": logging.INFO,
    "kopf": logging.INFO,
    "kopf.objects": logging.WARNING,  # tells of every object it looks at
    "opentelemetry": logging.CRITICAL + 1,  # repeats itself, with tracebacks; ours say that spans are lost
}
"""The lowest level at which a library is heard; of others, `WARNING`."""
_HEARD_AT_DEBUG: Mapping[str, int] = {"httpx": logging.INFO}  # method, address and status of each request
_FOR_MACHINES = ("timestamp", "logger", "run", "cell", "trace_id", "span_id")

log = structlog.get_logger()


def configure_logs(environment: Mapping[str, str]) -> None:
    """Sends the log of this process to stderr, and to the file that the environment names.

    Args:
        environment: May hold `ENV_LEVEL`, `INFO` by default, and `ENV_FILE`.

    Raises:
        OSError: The file cannot be written.
    """
    streams: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if path := environment.get(ENV_FILE):
        streams.append(logging.FileHandler(path, mode="a", encoding="utf-8"))
    for handler in streams:
        handler.setFormatter(json_lines())
    asked = environment.get(ENV_LEVEL) or "INFO"
    send_logs(streams, level_of(asked))
    if asked.upper() not in LEVELS:
        log.warning("unknown log level", variable=ENV_LEVEL, found=asked, known=list(LEVELS), used="INFO")


def file_handler(path: Path) -> logging.Handler:
    """Writes JSON lines at the end of a file.

    Raises:
        OSError: The file cannot be written.
    """
    handler = logging.FileHandler(path, mode="a", encoding="utf-8")
    handler.setFormatter(json_lines())
    return handler


def level_of(name: str) -> int:
    """A level by its name in any case; `INFO` for one that is not known."""
    return int(getattr(logging, name.upper())) if name.upper() in LEVELS else logging.INFO


def send_logs(handlers: Sequence[logging.Handler], level: int) -> None:
    """Sends everything that is logged in this process to handlers, and nowhere else.

    Args:
        handlers: Where it goes; each with its formatter, see `json_lines`.
        level: Lowest level of our own lines.
    """
    heard = {**_HEARD, **(_HEARD_AT_DEBUG if level <= logging.DEBUG else {}), _OURS: level}
    for handler in handlers:
        handler.addFilter(_Heard(heard, level))
    root = logging.getLogger()
    root.handlers = list(handlers)
    # Libraries ask whether they are heard before they make what they would say, and some while they are imported.
    root.setLevel(logging.WARNING)
    for name in (*_HEARD, *_HEARD_AT_DEBUG, "opsgym_api", "opsgym_domains", "opsgym_operator", "opsgym_runner", _OURS):
        logging.getLogger(name).setLevel(max(level, heard.get(_known(name, heard), logging.WARNING)))
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
    """Makes a JSON object of a line: `timestamp`, `level`, `logger`, `message`, what is bound, and what it tells."""
    renderer = structlog.processors.JSONRenderer(ensure_ascii=False)
    return _formatter(structlog.processors.EventRenamer("message"), renderer)


def text_lines() -> logging.Formatter:
    """Makes a line for a person who watches: level, message and what it tells, not whose it is or when."""

    def without_ids(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        return {name: value for name, value in event.items() if name not in _FOR_MACHINES}

    renderer = structlog.processors.KeyValueRenderer(
        key_order=["level", "event"], drop_missing=True, repr_native_str=False
    )
    return _formatter(without_ids, renderer)


def _formatter(shaped: Processor, renderer: Processor) -> logging.Formatter:
    known = known_secrets()

    def without_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        return {name: _cut(masked(value, known)) for name, value in event.items()}

    meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_COMMON, processors=[meta, _placed, shaped, without_secrets, renderer]
    )


_COMMON: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(allow={"k8s_ref"}),  # of kopf: which object it speaks of
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


class _Heard(logging.Filter):
    """Lets through what may be heard, also of loggers that set levels of their own."""

    def __init__(self, heard: Mapping[str, int], level: int) -> None:
        super().__init__()
        self._heard = heard
        self._level = level

    def filter(self, record: logging.LogRecord) -> bool:
        name = _known(record.name, self._heard)
        return record.levelno >= max(self._level, self._heard.get(name, logging.WARNING))


def _known(logger: str, heard: Mapping[str, int]) -> str:
    """The nearest name above a logger that something is known of; empty if nothing is."""
    while logger and logger not in heard:
        if logger.startswith(f"{_OURS}_"):
            return _OURS
        logger = logger.rpartition(".")[0]
    return logger


def _placed(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Tells an exception by its kind and place: its words may quote a request, a row or an answer."""
    found = event.pop("exc_info", None)
    error = _exception(found)
    if error is not None:
        event["exception"] = " <- ".join(_chain(error))
    return event


def _exception(found: BaseException | ExcInfo | bool | None) -> BaseException | None:
    if isinstance(found, tuple):
        return found[1]
    if isinstance(found, BaseException):
        return found
    return sys.exc_info()[1] if found else None


def _chain(error: BaseException) -> list[str]:
    """An exception and what it came of, each with the calls it passed through, innermost first."""
    told: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        told.append(f"{type(error).__module__}.{type(error).__qualname__} at {_calls(error.__traceback__)}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)  # type: ignore[assignment]
    return told


def _calls(trace: TracebackType | None) -> str:
    frames = reversed(traceback.extract_tb(trace))
    return ", ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames) or "nowhere"


def _cut(value: object) -> object:
    return value[:_LONGEST] + "…" if isinstance(value, str) and len(value) > _LONGEST else value
