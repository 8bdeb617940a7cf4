"""Entry point of the runner's containers: `python -m opsgym_runner task` or `preflight`.

Invariant: a container that is told to stop does, also before there is anything to stop: as process 1 it gets no signal
that it has no handler for.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from opsgym_api.orders import Exit

_COMMANDS = ("task", "preflight")


def main(arguments: Sequence[str]) -> int:
    """Does what a container is there for; its exit code, see `opsgym_api.orders.Exit`."""
    signal.signal(signal.SIGTERM, _leave)
    if len(arguments) != 1 or arguments[0] not in _COMMANDS:
        sys.stderr.write(f"expected one of: {', '.join(_COMMANDS)}\n")
        return 2
    try:
        return _run(arguments[0])
    except Exception:  # noqa: BLE001 the outermost layer: a bug here is nothing the trial did
        import structlog

        structlog.get_logger().exception("broke")
        return Exit.INFRA_ERROR


def _run(command: str) -> int:
    if command == "task":
        from opsgym_runner.pod import task

        return task.main(os.environ)
    from opsgym_runner.pod import preflight

    return preflight.main(os.environ)


def _leave(_number: int, _frame: FrameType | None) -> None:
    """Ends the process at once: nothing was begun."""
    os._exit(Exit.TERMINATED)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stderr.flush()
    # Everything that matters is written. Waiting for threads (a half-done import, a store that does not answer) and
    # tearing the interpreter down would only keep the pod, and what it occupies, longer.
    os._exit(code)
