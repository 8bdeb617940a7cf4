"""Runs the program of an agent, and ends it with all that it started. Standard library only; run as a script.

Invariant: when this process ends, nothing that the program started runs any more (on Linux also what left its process
group). It ends with the program, when its stdin closes, which is also how the death of the runner shows, or by a
signal. What it says stands in the file descriptor that its first argument names: `{"exit": n}`, negative for a signal,
or `{"error": …}` if the program cannot be started.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

GRACE_S = 2.0
"""Seconds between SIGTERM and SIGKILL."""
_PR_SET_CHILD_SUBREAPER = 36


def main(report: int, command: list[str]) -> int:
    """Runs a program; its working folder and variables are those of this process."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphans of the program become our children
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    try:
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        _say(report, error=f"{command[0]}: {error.strerror or error}")
        return 0
    code = _wait(program, woken)
    if code is None:
        code = _end(program)
    _kill_rest(program.pid)
    _say(report, exit=code)
    return 0


def _wait(program: subprocess.Popen[bytes], woken: int) -> int | None:
    """Exit code of the program; None if it has to end before it does so by itself."""
    while True:
        ready, _, _ = select.select([woken, sys.stdin.fileno()], [], [])
        if woken in ready:
            signals = set(os.read(woken, 1024))
            if signals - {signal.SIGCHLD}:
                return None
        if program.poll() is not None:
            return program.returncode
        if sys.stdin.fileno() in ready and not os.read(sys.stdin.fileno(), 1024):
            return None


def _end(program: subprocess.Popen[bytes]) -> int:
    _signal_group(program.pid, signal.SIGTERM)
    try:
        return program.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        _signal_group(program.pid, signal.SIGKILL)
        return program.wait()


def _kill_rest(group: int) -> None:
    """Kills what is left of the program's group, then every orphan that became a child of this process."""
    _signal_group(group, signal.SIGKILL)
    until = time.monotonic() + 5 * GRACE_S
    while time.monotonic() < until and (children := _children()):
        for child in children:
            _kill(child)
            os.waitpid(child, 0)


def _children() -> list[int]:
    """Children of this process; none where the system does not list them."""
    file = Path(f"/proc/self/task/{os.getpid()}/children")
    try:
        return [int(number) for number in file.read_text().split()]
    except OSError:
        return []


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS refuses where only zombies are left
        os.killpg(group, number)


def _say(report: int, **fields: object) -> None:
    os.write(report, json.dumps(fields).encode())


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
