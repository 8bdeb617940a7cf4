"""Output of a command while it runs trials.

Invariant: once the reader has closed the pipe, the command ends as by SIGTERM, since what it prints is no longer read.
"""

from __future__ import annotations

import os
import signal
from typing import TextIO

from opsgym_core.common.foreign import visible


def write_line(out: TextIO, text: str) -> None:
    """Writes a line at once."""
    try:
        out.write(f"{visible(text)}\n")
        out.flush()
    except BrokenPipeError:
        # Python flushes the stream again when it exits, which would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        signal.raise_signal(signal.SIGTERM)
