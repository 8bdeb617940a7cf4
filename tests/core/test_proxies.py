"""Addresses that are reached without a proxy."""

from __future__ import annotations

from opsgym_core.common.proxies import keep_loopback_direct, proxy_variables


def test_without_a_proxy_nothing_is_set() -> None:
    assert proxy_variables("", "", ["localhost"]) == {}


def test_variables_are_set_in_both_cases() -> None:
    assert proxy_variables("", "http://p:3128", ["localhost", ".svc", "localhost"]) == {
        "HTTPS_PROXY": "http://p:3128",
        "https_proxy": "http://p:3128",
        "NO_PROXY": "localhost,.svc",
        "no_proxy": "localhost,.svc",
    }


def test_loopback_is_added_to_what_either_variable_names() -> None:
    environ = {"NO_PROXY": ".svc, ::1", "no_proxy": "corp.example"}
    keep_loopback_direct(environ)
    expected = ".svc,::1,corp.example,localhost,127.0.0.1"
    assert environ == {"NO_PROXY": expected, "no_proxy": expected}


def test_a_star_needs_nothing_added() -> None:
    environ = {"no_proxy": "*"}
    keep_loopback_direct(environ)
    assert environ == {"no_proxy": "*"}
