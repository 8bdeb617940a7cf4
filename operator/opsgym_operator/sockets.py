"""Sockets that the operator's processes listen on."""

from __future__ import annotations

import socket


def listening_socket(port: int) -> socket.socket:
    """One socket for IPv4 and, where it is available, IPv6: pods have either or both.

    Args:
        port: Port to listen on; a free one if 0.
    """
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))
