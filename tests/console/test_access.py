"""Who gets in: decided from what a request tells, with times and tokens of the test's own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from pydantic import SecretStr

from opsgym.console.access import (
    FAILURE_SECONDS,
    MOST_FAILURES,
    SESSION_SECONDS,
    Access,
    Visit,
    trusted_header,
    usable_token,
)
from opsgym_api.errors import InputError

TOKEN = "correct-horse-battery-staple"
ELSEWHERE = Visit(peer="192.0.2.7", host="console.example:8080")


@dataclass
class Clock:
    """A time that a test sets."""

    time: float = 1_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(clock: Clock) -> Access:
    return Access(SecretStr(TOKEN), now=clock, clock=clock)


def _status(access: Access, visit: Visit) -> int:
    refusal = access.refusal(visit)
    return 200 if refusal is None else refusal.status


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:8080", "LOCALHOST"])
def test_without_sign_in_names_of_this_machine_get_in(host: str) -> None:
    assert Access().refusal(Visit("127.0.0.1", host)) is None


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.nip.io", "10.0.0.1", "[", "a b"],
)
def test_without_sign_in_another_name_for_this_machine_does_not(host: str) -> None:
    assert _status(Access(), Visit("127.0.0.1", host)) == 403


def test_the_token_gets_in_and_nothing_like_it(access: Access) -> None:
    assert _status(access, replace(ELSEWHERE, authorization=f"Bearer {TOKEN}")) == 200
    assert _status(access, replace(ELSEWHERE, authorization=f"bearer  {TOKEN} ")) == 200
    for wrong in (TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "", "é" * 20):
        assert _status(access, replace(ELSEWHERE, authorization=f"Bearer {wrong}")) == 401, wrong
    assert _status(access, replace(ELSEWHERE, authorization=f"Basic {TOKEN}")) == 401
    assert _status(access, ELSEWHERE) == 401
    assert _status(access, Visit("127.0.0.1", "localhost")) == 401


def test_after_too_many_wrong_tokens_none_is_looked_at_for_a_while(access: Access, clock: Clock) -> None:
    for _ in range(MOST_FAILURES):
        assert access.try_token("192.0.2.7", "wrong") is not None
    refusal = access.try_token("192.0.2.7", TOKEN)
    assert refusal is not None
    assert (refusal.status, refusal.retry_after) == (429, FAILURE_SECONDS)
    assert access.try_token("192.0.2.8", TOKEN) is None
    clock.time += FAILURE_SECONDS + 1
    assert access.try_token("192.0.2.7", TOKEN) is None


def test_who_has_signed_in_stays_in_while_somebody_guesses(access: Access) -> None:
    session = access.session(ELSEWHERE.host)
    for _ in range(2 * MOST_FAILURES):
        access.try_token(ELSEWHERE.peer, "wrong")
    assert _status(access, replace(ELSEWHERE, session=session)) == 200


def test_a_session_ends_after_a_working_day(access: Access, clock: Clock) -> None:
    visit = replace(ELSEWHERE, session=access.session(ELSEWHERE.host))
    clock.time += SESSION_SECONDS - 1
    assert _status(access, visit) == 200
    clock.time += 2
    assert _status(access, visit) == 401


def test_a_session_is_no_token_and_holds_under_one_name_and_one_token_only(access: Access, clock: Clock) -> None:
    session = access.session(ELSEWHERE.host)
    assert TOKEN not in session
    assert _status(access, Visit(ELSEWHERE.peer, "other.example:8080", session=session)) == 401
    another = Access(SecretStr("a-token-that-came-after-it"), now=clock, clock=clock)
    assert _status(another, replace(ELSEWHERE, session=session)) == 401
    assert _status(access, replace(ELSEWHERE, authorization=f"Bearer {session}")) == 401


@pytest.mark.parametrize("session", ["", ".", "9999999999", "9999999999.", "x.y", "-1.x", "²²²²²²²²²².x", "9" * 5000])
def test_a_session_that_was_made_up_does_not_get_in(access: Access, session: str) -> None:
    assert _status(access, replace(ELSEWHERE, session=session)) == 401


def test_a_later_end_written_into_a_session_spoils_it(access: Access) -> None:
    until, _, proof = access.session(ELSEWHERE.host).partition(".")
    assert _status(access, replace(ELSEWHERE, session=f"{int(until) + 1}.{proof}")) == 401


def test_a_proxys_header_counts_from_the_proxy_only() -> None:
    access = Access(header=trusted_header("X-Forwarded-User", ["10.0.0.0/8", "2001:db8::/32"]))
    for peer in ("10.1.2.3", "2001:db8::1", "::ffff:10.1.2.3"):
        assert _status(access, Visit(peer, "x", trusted="ann")) == 200, peer
        assert _status(access, Visit(peer, "x", trusted=" ")) == 401, peer
    for peer in ("192.0.2.7", "127.0.0.1", "::ffff:192.0.2.7", "", "testclient"):
        assert _status(access, Visit(peer, "x", trusted="ann")) == 403, peer
    assert _status(access, Visit("192.0.2.7", "x", authorization=f"Bearer {TOKEN}")) == 403


def test_a_token_opens_beside_a_proxy() -> None:
    access = Access(SecretStr(TOKEN), trusted_header("X-Forwarded-User", ["10.0.0.1"]))
    assert _status(access, replace(ELSEWHERE, authorization=f"Bearer {TOKEN}")) == 200
    assert _status(access, replace(ELSEWHERE, peer="10.0.0.1", trusted="ann")) == 200
    assert _status(access, replace(ELSEWHERE, trusted="ann")) == 401


@pytest.mark.parametrize(
    "text", ["", "short", "fifteen-letters", "two words are no header at all", "umläute-sind-kein-header"]
)
def test_a_token_that_is_no_secret_or_no_header_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"token-file: token: needs at least 16") as caught:
        usable_token(text, "token-file")
    assert not text or text not in str(caught.value)


def test_a_token_is_never_shown(access: Access) -> None:
    assert usable_token(f"{TOKEN}\n", "file").get_secret_value() == TOKEN
    assert TOKEN not in repr(usable_token(TOKEN, "file"))
    assert TOKEN not in repr(vars(access))


@pytest.mark.parametrize(
    ("proxies", "told"), [([], "goes with"), (["10.0.0.0/33"], "10.0.0.0/33"), (["proxy.svc"], "proxy.svc")]
)
def test_a_header_without_good_addresses_is_refused(proxies: list[str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        trusted_header("X-Forwarded-User", proxies)
