"""When a process counts as ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from devcluster.processes import Process, until

ENDS_ITS_FIRST_THREAD = """
import ctypes, socket, threading
socket.create_server(("127.0.0.1", 0))
threading.Thread(target=threading.Event().wait).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def test_a_process_lives_while_one_of_its_threads_does() -> None:
    with subprocess.Popen([sys.executable, "-c", ENDS_ITS_FIRST_THREAD]) as started:
        try:
            stat = Path(f"/proc/{started.pid}/stat")
            assert until(lambda: ") Z" in stat.read_text(), 30)
            process = Process.of(started.pid)
            assert process is not None
            assert process.alive
            process.end()
            assert Process.of(started.pid) is None
        finally:
            started.kill()
