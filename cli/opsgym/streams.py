"""The command's output streams: no text, encoding, terminal or closed stream ends a command."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

from opsgym_core.common.foreign import visible


class _VisibleText(io.TextIOWrapper):
    """A stream that is not a terminal, where every control character is one from outside."""

    def write(self, text: str) -> int:
        """Writes a text with its control characters visible."""
        super().write(visible(text))
        return len(text)


def prepare_streams() -> None:
    """Makes standard output and standard error take every text.

    Characters that a stream cannot encode become question marks, and those that drive a terminal become visible; on a
    terminal, what prints text from outside sees to that. A stream that was closed before the start takes everything.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - as long as the process
        elif isinstance(stream, io.TextIOWrapper) and stream.isatty():
            stream.reconfigure(errors="replace")
        elif isinstance(stream, io.TextIOWrapper):
            buffered = name == "stdout"
            encoding = stream.encoding
            setattr(sys, name, _VisibleText(stream.detach(), encoding, "replace", line_buffering=not buffered))
