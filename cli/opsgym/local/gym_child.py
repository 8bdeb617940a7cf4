"""Entry point of a gym server that belongs to a local run.

Invariant: the server never outlives the run. Its stdin is a pipe whose write end only the run's process holds, so the
pipe closes when that process ends, however it ends.
"""

from __future__ import annotations

import os
import signal
import sys
import threading


def main() -> int:
    """Serves as `python -m opsgym_domains.serve` does, until SIGTERM or until stdin closes.

    The first line of stdin is the token that admin endpoints require.
    """
    admin_token = _read_line(sys.stdin.fileno())
    if not admin_token:
        return 0  # the run ended meanwhile
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    from opsgym_domains.serve import main as serve

    return serve(sys.argv[1:], admin_token)


def _read_line(descriptor: int) -> str:
    """The next line, read byte by byte: a buffer would keep what follows from the thread that waits for the end."""
    line = b""
    while (byte := os.read(descriptor, 1)) not in (b"", b"\n"):
        line += byte
    return line.decode()


def _stop_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
