"""What can go wrong with the test cluster, in words for the person who runs the tests.

Invariant: a `ClusterError` says what is missing or broken and what to do; nobody has to read a traceback.
"""

from __future__ import annotations


class ClusterError(Exception):
    """The cluster cannot be started, reached or stopped."""
