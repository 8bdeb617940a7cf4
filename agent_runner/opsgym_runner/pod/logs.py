"""The container's log: one JSON object a line on stderr, ours and libraries' alike.

Invariant: no line holds a credential of the environment.
"""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from opsgym_runner.scrub import scrub


def configure_logs() -> None:
    """Sends everything that is logged in this process to stderr: warnings of libraries, and all of ours."""
    common: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    into_json = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=common,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            _scrubbed,
            structlog.processors.JSONRenderer(),
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(into_json)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("opsgym_runner").setLevel(logging.INFO)
    structlog.configure(
        processors=[*common, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=lambda *_: logging.getLogger("opsgym_runner"),
        wrapper_class=structlog.stdlib.BoundLogger,
    )


def _scrubbed(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    return {name: scrub(value, ()) if isinstance(value, str) else value for name, value in event.items()}
