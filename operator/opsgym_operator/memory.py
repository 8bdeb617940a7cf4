"""Settings of the process that bound what libraries take of its memory. docs/design.md has the reasons."""

from __future__ import annotations

import ctypes
from asyncio import sslproto
from contextlib import suppress

TLS_BUFFER = 16 * 1024
"""Bytes that a TLS connection receives at once: a record of the largest size."""
_ARENA_MAX = -8
"""`M_ARENA_MAX` of glibc's `mallopt`."""


def shrink_tls_buffers() -> None:
    """Gives TLS connections that are made later a buffer of `TLS_BUFFER`.

    asyncio's are 256 KiB and written when they are made. Each watch has a connection, and each namespace six watches:
    those of a hundred namespaces would take 154 MB, and take 10.
    """
    sslproto.SSLProtocol.max_size = TLS_BUFFER


def share_arenas() -> None:
    """Lets threads that are started later allocate from one heap, where the C library is glibc.

    It gives each thread of a store a heap of its own, and none can use what another one has freed: 25 MB.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
