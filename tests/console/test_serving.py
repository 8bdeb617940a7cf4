"""Where the console listens."""

from __future__ import annotations

import socket

import pytest

from opsgym_api.errors import InputError
from opsgym_console.server.serving import listening_socket


def connects(family: socket.AddressFamily, address: str, port: int) -> bool:
    with socket.socket(family) as client:
        client.settimeout(5)
        return client.connect_ex((address, port)) == 0


def test_all_addresses_are_those_of_ipv4_and_ipv6() -> None:
    with listening_socket("::", 0) as listener:
        port = listener.getsockname()[1]
        assert connects(socket.AF_INET, "127.0.0.1", port)
        assert connects(socket.AF_INET6, "::1", port) or not socket.has_dualstack_ipv6()


def test_all_addresses_are_those_of_ipv4_on_a_machine_without_ipv6(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda: False)
    with listening_socket("::", 0) as listener:
        assert listener.family is socket.AF_INET
        assert connects(socket.AF_INET, "127.0.0.1", listener.getsockname()[1])


def test_an_address_of_another_machine_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"cannot listen on 192\.0\.2\.1:0: .*name another --host or --port"):
        listening_socket("192.0.2.1", 0)
