"""Exit codes of the runner's containers. Kubernetes counts 100 to 109 as a failed attempt that may be repeated."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a pod's main container ends. Kubernetes counts 100 to 109 as a try that failed."""

    DONE = 0
    """A final record, or a report, is written, whatever it says."""
    INFRA_ERROR = 101
    """The attempt ended as `infra_error`; another may succeed."""
    STORE_LOST = 102
    """The store could not be read or written."""
    NO_JOB_SPEC = 103
    """The job spec, the store's address or the index cannot be used; the termination message is plain text."""
    TERMINATED = 104
    """Stopped by a signal, or the run is suspended; the attempt record says what was spent."""
