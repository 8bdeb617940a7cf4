"""Admission of requests, from what they say about their sender."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import SecretStr

from opsgym_api.errors import InputError
from opsgym_console.server.access import Access, RequestIdentity, trusted_header, usable_token

TOKEN = "correct-horse-battery-staple"
REMOTE = RequestIdentity(peer="192.0.2.7", host="console.example:8080")


@pytest.fixture
def access() -> Access:
    return Access(SecretStr(TOKEN))


def _status(access: Access, identity: RequestIdentity) -> int:
    denial = access.authorize(identity)
    return 200 if denial is None else denial.status


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:8080", "LOCALHOST"])
def test_without_sign_in_loopback_names_are_admitted(host: str) -> None:
    assert Access().authorize(RequestIdentity("127.0.0.1", host)) is None


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.nip.io", "10.0.0.1", "[", "a b"],
)
def test_without_sign_in_other_names_are_denied(host: str) -> None:
    assert _status(Access(), RequestIdentity("127.0.0.1", host)) == 403


def test_only_the_exact_token_is_admitted(access: Access) -> None:
    assert _status(access, replace(REMOTE, authorization=f"Bearer {TOKEN}")) == 200
    assert _status(access, replace(REMOTE, authorization=f"bearer  {TOKEN} ")) == 200
    for wrong in (TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "", "é" * 20):
        assert _status(access, replace(REMOTE, authorization=f"Bearer {wrong}")) == 401, wrong
    assert _status(access, replace(REMOTE, authorization=f"Basic {TOKEN}")) == 401
    assert _status(access, REMOTE) == 401
    assert _status(access, RequestIdentity("127.0.0.1", "localhost")) == 401


def test_a_session_is_valid_for_the_host_under_which_it_began(access: Access) -> None:
    assert _status(access, replace(REMOTE, session_host="console.example:8080")) == 200
    assert _status(access, replace(REMOTE, host="CONSOLE.example:8080", session_host="console.example:8080")) == 200
    assert _status(access, replace(REMOTE, host="other.example:8080", session_host="console.example:8080")) == 401
    assert _status(access, replace(REMOTE, host="", session_host="")) == 401


def test_sessions_mean_nothing_without_a_token() -> None:
    access = Access(header=trusted_header("X-Forwarded-User", ["10.0.0.1"]))
    assert _status(access, replace(REMOTE, session_host=REMOTE.host)) == 403


def test_the_session_key_depends_on_the_token_and_does_not_reveal_it(access: Access) -> None:
    assert access.session_key == Access(SecretStr(TOKEN)).session_key
    assert access.session_key != Access(SecretStr("a-token-that-came-after-it")).session_key
    assert TOKEN not in access.session_key


def test_a_proxy_header_is_trusted_from_the_proxy_only() -> None:
    access = Access(header=trusted_header("X-Forwarded-User", ["10.0.0.0/8", "2001:db8::/32"]))
    for peer in ("10.1.2.3", "2001:db8::1", "::ffff:10.1.2.3"):
        assert _status(access, RequestIdentity(peer, "x", proxy_user="ann")) == 200, peer
        assert _status(access, RequestIdentity(peer, "x", proxy_user=" ")) == 401, peer
    for peer in ("192.0.2.7", "127.0.0.1", "::ffff:192.0.2.7", "", "testclient"):
        assert _status(access, RequestIdentity(peer, "x", proxy_user="ann")) == 403, peer
    assert _status(access, RequestIdentity("192.0.2.7", "x", authorization=f"Bearer {TOKEN}")) == 403


def test_a_token_is_accepted_beside_a_proxy() -> None:
    access = Access(SecretStr(TOKEN), trusted_header("X-Forwarded-User", ["10.0.0.1"]))
    assert _status(access, replace(REMOTE, authorization=f"Bearer {TOKEN}")) == 200
    assert _status(access, replace(REMOTE, peer="10.0.0.1", proxy_user="ann")) == 200
    assert _status(access, replace(REMOTE, proxy_user="ann")) == 401


@pytest.mark.parametrize(
    "text", ["", "short", "fifteen-letters", "two words cannot be a header", "umläute-sind-kein-header"]
)
def test_a_token_that_is_too_short_or_not_a_header_value_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"token-file: token: needs at least 16") as caught:
        usable_token(text, "token-file")
    assert not text or text not in str(caught.value)


def test_a_token_is_never_shown(access: Access) -> None:
    assert usable_token(f"{TOKEN}\n", "file").get_secret_value() == TOKEN
    assert TOKEN not in repr(usable_token(TOKEN, "file"))
    assert TOKEN not in repr(vars(access))


@pytest.mark.parametrize(
    ("proxies", "message"), [([], "required with"), (["10.0.0.0/33"], "10.0.0.0/33"), (["proxy.svc"], "proxy.svc")]
)
def test_a_header_without_valid_addresses_is_refused(proxies: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        trusted_header("X-Forwarded-User", proxies)
