"""Host names and addresses. Invariant: nothing here resolves a name, so no answer depends on DNS."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Whether a host name or address refers to this machine only: `localhost`, 127.0.0.0/8 or ::1."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
