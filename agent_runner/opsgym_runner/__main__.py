"""Entry point of the runner's containers: `python -m opsgym_runner task` or `preflight`.

Invariant: SIGTERM ends the container at any time, also before the attempt starts: process 1 ignores signals for which
it has not installed a handler.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from opsgym_api.jobs.exit_codes import Exit
from opsgym_runner.pod.heartbeat import Heartbeat

_COMMANDS = ("task", "preflight")


def main(arguments: Sequence[str]) -> int:
    """Runs the container's command and returns its exit code; see `opsgym_api.jobs.exit_codes.Exit`."""
    signal.signal(signal.SIGTERM, _exit_on_sigterm)
    if len(arguments) != 1 or arguments[0] not in _COMMANDS:
        sys.stderr.write(f"expected one of: {', '.join(_COMMANDS)}\n")
        return 2
    Heartbeat(os.environ).beat()  # before the imports, which read many files
    try:
        return _run(arguments[0])
    except Exception:  # noqa: BLE001 the outermost layer: a bug here must not count against the trial
        import structlog

        structlog.get_logger().exception("container failed unexpectedly")
        return Exit.INFRA_ERROR


def _run(command: str) -> int:
    gc.disable()  # what is imported stays: looking for garbage meanwhile would take a sixth of the time
    if command == "task":
        from opsgym_runner.pod.task import main as container
    else:
        from opsgym_runner.pod.preflight import main as container
    gc.freeze()
    gc.enable()
    return container(os.environ)


def _exit_on_sigterm(_number: int, _frame: FrameType | None) -> None:
    """Ends the process at once; nothing has been started yet."""
    os._exit(Exit.TERMINATED)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stderr.flush()
    # Every result is written. Waiting for threads (an unfinished import, a store that does not answer) and for the
    # interpreter's teardown would only keep the pod and its resources longer.
    os._exit(code)
