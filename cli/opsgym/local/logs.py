"""Where log lines of a local run go: warnings among the progress, everything to a file if the user names one.

Invariant: none goes to stdout, and none through the live table. Gym servers write to the same file.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opsgym.local.progress import Progress
from opsgym_api.errors import InputError, Problem
from opsgym_api.logs import ENV_FILE, ENV_LEVEL, file_handler, level_of, send_logs, text_lines


@contextmanager
def logging_to(progress: Progress, file: Path | None) -> Iterator[None]:
    """Sends the log of this process, and of gym servers that it starts, where the user wants it.

    Args:
        progress: Shows warnings and errors.
        file: Gets every line as JSON, from the level up that `OPSGYM_LOG_LEVEL` names; none if None.

    Raises:
        InputError: The file cannot be written.
    """
    root = logging.getLogger()
    before, variable = root.handlers, os.environ.get(ENV_FILE)
    handlers: list[logging.Handler] = [_Notes(progress)]
    if file is not None:
        handlers.append(_opened(file))
        os.environ[ENV_FILE] = str(file.absolute())
    send_logs(handlers, logging.WARNING if file is None else level_of(os.environ.get(ENV_LEVEL) or "INFO"))
    try:
        yield
    finally:
        root.handlers = before
        for handler in handlers:
            handler.close()
        os.environ.pop(ENV_FILE, None)
        if variable is not None:
            os.environ[ENV_FILE] = variable


def _opened(file: Path) -> logging.Handler:
    try:
        return file_handler(file)
    except OSError as error:
        raise InputError("--log-file", [Problem("", f"{file} cannot be written: {error.strerror}")]) from None


class _Notes(logging.Handler):
    """Shows warnings and errors as sentences of the progress."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(text_lines())
        self._progress = progress

    def emit(self, record: logging.LogRecord) -> None:
        self._progress.note(self.format(record))
