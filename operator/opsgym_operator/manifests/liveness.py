"""The liveness probe of a pod's main container, which compares the container's heartbeat with what it read before.

Invariant: a container is ended only if its heartbeat stood still for a minute. The probe is a shell that starts
no further program. A container without a heartbeat, of an older image or one that has not begun, is left alone.
"""

from __future__ import annotations

from opsgym_api.jobs.heartbeat import HUNG
from opsgym_operator.observe.parse import Manifest

HEARTBEAT_FILE = "/tmp/heartbeat"  # noqa: S108 - a volume of the container's own
_PROBE = """\
[ -e {file} ] || exit 0
beat= seen=
read -r beat < {file}
[ -e {file}.seen ] && read -r seen < {file}.seen
if [ "$beat" = "$seen" ]; then
  echo late > {file}.late
  echo '{hung}no heartbeat for a minute' > {log}
  echo 'no heartbeat since the last probe'
  exit 1
fi
echo "$beat" > {file}.seen
[ -s {file}.late ] && : > {file}.late && : > {log}
exit 0
"""
"""Shell built-ins only. A late container that goes on takes its message back."""


def probe_script(file: str = HEARTBEAT_FILE, log: str = "/dev/termination-log") -> str:
    """The probe's script.

    Args:
        file: File of the heartbeat; the probe keeps its own files beside it.
        log: File of the termination message.
    """
    return _PROBE.format(file=file, log=log, hung=HUNG)


def liveness_probe() -> Manifest:
    """The probe; a pod that ends within a minute costs none."""
    return {
        "exec": {"command": ["sh", "-c", probe_script()]},
        "initialDelaySeconds": 60,
        "periodSeconds": 20,
        "timeoutSeconds": 15,
        "failureThreshold": 3,
        # Enough for a runner that goes on after all to record what was spent.
        "terminationGracePeriodSeconds": 20,
    }
