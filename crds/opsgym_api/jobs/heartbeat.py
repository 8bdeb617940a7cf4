"""The heartbeat of a pod's main container: a file whose number grows while the container makes progress.

The container writes it; a liveness probe that starts no interpreter compares it with what it read before.
"""

from __future__ import annotations

ENV_HEARTBEAT = "OPSGYM_HEARTBEAT"
"""Environment variable: file of the heartbeat; the container writes none if it is unset."""
HUNG = "hung: "
"""Beginning of the termination message of a container that the kubelet ends because its heartbeat has stopped."""
