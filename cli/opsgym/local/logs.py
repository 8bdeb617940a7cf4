"""Log output of a local run: warnings are shown with the progress, all lines go to a log file if one is given.

Invariant: no log line goes to stdout or breaks the live table. Gym servers write to the same log file.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opsgym.local.display import Display
from opsgym_api.errors import InputError, Problem
from opsgym_core.common.logs import ENV_FILE, ENV_LEVEL, file_handler, level_of, send_logs, text_lines


@contextmanager
def logging_to(display: Display, file: Path | None) -> Iterator[None]:
    """Configures the log of this process, and of the gym servers that it starts, while the context is open.

    Args:
        display: Shows warnings and errors.
        file: File to which lines of `OPSGYM_LOG_LEVEL` and above are appended as JSON; None writes no file.

    Raises:
        InputError: The file cannot be written.
    """
    root = logging.getLogger()
    before, variable = root.handlers, os.environ.get(ENV_FILE)
    handlers: list[logging.Handler] = [_DisplayHandler(display)]
    if file is not None:
        handlers.append(_file_handler(file))
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


def _file_handler(file: Path) -> logging.Handler:
    try:
        return file_handler(file)
    except OSError as error:
        raise InputError("--log-file", [Problem("", f"{file} cannot be written: {error.strerror}")]) from None


class _DisplayHandler(logging.Handler):
    """Shows warnings and errors as messages of the display."""

    def __init__(self, display: Display) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(text_lines())
        self._display = display

    def emit(self, record: logging.LogRecord) -> None:
        self._display.note(self.format(record))
