"""First process in the cluster's namespaces: `unshare … python3 init.py STATE COVERED…`.

Invariant: when it ends, the kernel ends everything that runs in these namespaces and undoes every mount and network
device made in them. It does nothing but hold them and bury the dead.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

SETTINGS = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)
"""Kernel settings that the kubelet writes. They belong to the whole machine, so it is given copies of the files."""


def main() -> None:
    """Prepares the mounts, says that they are ready, then waits for ever."""
    state, covered = Path(sys.argv[1]), sys.argv[2:]
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    # Volumes that are mounted for pods must reach containers made later. Nothing reaches the machine: the namespace was
    # made with slave mounts.
    mount("--make-rshared", "/")
    for folder in covered:
        mount("-t", "tmpfs", "tmpfs", folder)
    etcd = state / "etcd"
    etcd.mkdir(mode=0o700, exist_ok=True)
    # Debian's etcd has no option to skip fsync; in memory it costs nothing.
    mount("-t", "tmpfs", "-o", "mode=700", "tmpfs", str(etcd))
    Path("/run/netns").mkdir()
    for setting in SETTINGS:
        shield(Path("/proc/sys") / setting)
    (state / "ready").touch()
    while True:
        signal.sigwait([signal.SIGCHLD])
        bury()


def mount(*arguments: str) -> None:
    """Calls mount."""
    subprocess.run(["mount", *arguments], check=True)


def shield(setting: Path) -> None:
    """Puts a copy in place of a file of the kernel."""
    if setting.exists():
        copy = Path("/run") / setting.name
        copy.write_text(setting.read_text())
        mount("--bind", str(copy), str(setting))


def bury() -> None:
    """Waits for every process that has ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


if __name__ == "__main__":
    main()
