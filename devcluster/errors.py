"""Errors of the development cluster.

Invariant: a `ClusterError` says what is missing or broken and what to do, so that its message suffices without a
traceback.
"""

from __future__ import annotations


class ClusterError(Exception):
    """The cluster cannot be started, reached or stopped."""
