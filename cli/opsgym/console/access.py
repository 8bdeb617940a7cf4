"""Who may use the console.

Invariant: without a way to sign in, only this machine's own browser gets in, under a name of this machine; otherwise
nothing but the health check and the sign-in page is shown to somebody who has not proved who they are. Tokens are
compared in constant time and are in no cookie, log line or message.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import time
from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urlsplit

from pydantic import SecretStr

from opsgym_api.errors import InputError, Problem
from opsgym_domains.explore.guard import is_loopback

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

SHORTEST_TOKEN = 16
"""Characters; a shorter one can be guessed."""
SESSION_SECONDS = 12 * 3600
"""A working day."""
MOST_FAILURES = 10
"""Wrong tokens of one address within `FAILURE_SECONDS`; the next are not looked at."""
FAILURE_SECONDS = 60.0
MOST_ADDRESSES = 10_000
"""Addresses whose failures are remembered."""


@dataclass(frozen=True)
class TrustedHeader:
    """A header by which a proxy says who somebody is."""

    name: str
    """Lower case."""
    proxies: Sequence[Network]
    """Where such proxies are; from anywhere else, the header means nothing."""


def trusted_header(name: str, proxies: Sequence[str]) -> TrustedHeader:
    """The header that proxies at these addresses set.

    Args:
        name: Name of the header.
        proxies: Addresses or networks, for instance `10.0.0.0/8`.

    Raises:
        InputError: There is no proxy, or an address is none.
    """
    if not proxies:
        told = "goes with --trust-header: the addresses of the proxies that set it, for instance 10.0.0.0/8"
        raise InputError("opsgym serve", [Problem("--trusted-proxies", told)])
    networks: list[Network] = []
    for text in proxies:
        try:
            networks.append(ipaddress.ip_network(text))
        except ValueError as error:
            raise InputError("opsgym serve", [Problem("--trusted-proxies", f"{error}")]) from None
    return TrustedHeader(name.lower(), networks)


def usable_token(text: str, source: str) -> SecretStr:
    """A token that people sign in with.

    Args:
        text: What the file or the variable holds.
        source: Which file or variable that is.

    Raises:
        InputError: It is too short to be secret, or cannot be a header.
    """
    token = text.strip()
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        told = f"needs at least {SHORTEST_TOKEN} letters and digits without a space; `openssl rand -hex 24` makes one"
        raise InputError(source, [Problem("token", told)])
    return SecretStr(token)


@dataclass(frozen=True)
class Visit:
    """What a request tells of who sent it."""

    peer: str
    """Address at the other end of the connection."""
    host: str
    """Header `Host`."""
    authorization: str = ""
    """Header `Authorization`."""
    session: str = ""
    """The session cookie."""
    trusted: str = ""
    """The header that a proxy sets, if one is trusted."""


@dataclass(frozen=True)
class Refusal:
    """Why somebody does not get in."""

    status: int
    told: str
    """For people."""
    retry_after: float = 0.0
    """Seconds after which another try makes sense."""


@dataclass
class Failures:
    """Wrong tokens by address; addresses that come seldom are forgotten."""

    clock: Callable[[], float] = time.monotonic
    _times: OrderedDict[str, list[float]] = field(default_factory=OrderedDict)

    def add(self, peer: str) -> None:
        """Takes one down."""
        self._times.setdefault(peer, []).append(self.clock())
        self._times[peer] = self._times[peer][-MOST_FAILURES:]
        self._times.move_to_end(peer)
        while len(self._times) > MOST_ADDRESSES:
            self._times.popitem(last=False)

    def wait(self, peer: str) -> float:
        """Seconds until another token of an address is looked at; 0 for now."""
        times = self._times.get(peer, [])
        if len(times) < MOST_FAILURES:
            return 0.0
        return max(0.0, times[0] + FAILURE_SECONDS - self.clock())


class Access:
    """Decides who gets in.

    Args:
        token: What people sign in with; None for no such way.
        header: What a proxy says; None for no such way. With neither, only names of this machine get in.
        now: Seconds since 1970.
        clock: Seconds that only go forward.
    """

    def __init__(
        self,
        token: SecretStr | None = None,
        header: TrustedHeader | None = None,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._token = token
        self.header = header
        self._now = now
        self._failures = Failures(clock)

    @property
    def open(self) -> bool:
        """Whether nobody has to sign in."""
        return self._token is None and self.header is None

    @property
    def takes_token(self) -> bool:
        """Whether people can sign in with a token."""
        return self._token is not None

    def refusal(self, visit: Visit) -> Refusal | None:
        """Why somebody does not get in; None if they do."""
        if self.open:
            # A name that somebody else's DNS points at this machine would make their page look like ours.
            if is_loopback(_name(visit.host)):
                return None
            return Refusal(403, "This console is reached as localhost or 127.0.0.1, from this machine only.")
        if self._by_proxy(visit) or self._by_session(visit):
            return None
        scheme, _, given = visit.authorization.partition(" ")
        if self._token is not None and scheme.lower() == "bearer":
            return self.try_token(visit.peer, given.strip())
        if self._token is None and self.header is not None and not self._from_proxy(visit.peer):
            return Refusal(403, "This console is reached through its sign-in proxy only.")
        return Refusal(401, "Sign in first.")

    def try_token(self, peer: str, given: str) -> Refusal | None:
        """Why a token does not open; None if it does."""
        if (wait := self._failures.wait(peer)) > 0:
            return Refusal(429, f"Too many wrong tokens. Try again in {wait:.0f} s.", wait)
        if self._token is not None and _same(given, self._token.get_secret_value()):
            return None
        self._failures.add(peer)
        return Refusal(401, "This is not the token.")

    def session(self, host: str) -> str:
        """A session cookie's value: until when it holds and a proof, for this host name only."""
        until = str(int(self._now()) + SESSION_SECONDS)
        return f"{until}.{self._proof(until, host)}"

    def _by_session(self, visit: Visit) -> bool:
        until, _, proof = visit.session.partition(".")
        if self._token is None or not (until.isascii() and until.isdigit() and len(until) < 15):
            return False
        return _same(proof, self._proof(until, visit.host)) and self._now() < int(until)

    def _proof(self, until: str, host: str) -> str:
        assert self._token is not None
        message = f"opsgym console session\n{until}\n{host.lower()}".encode(errors="replace")
        made = hmac.new(self._token.get_secret_value().encode(), message, hashlib.sha256).digest()
        return urlsafe_b64encode(made).decode().rstrip("=")

    def _by_proxy(self, visit: Visit) -> bool:
        return self.header is not None and bool(visit.trusted.strip()) and self._from_proxy(visit.peer)

    def _from_proxy(self, peer: str) -> bool:
        address = _address(peer)
        proxies = self.header.proxies if self.header is not None else ()
        return address is not None and any(address in network for network in proxies)


def _name(host: str) -> str:
    """The name in a `Host` header; empty if it has none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _address(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    # A server on `::` sees IPv4 peers so.
    return (address.ipv4_mapped or address) if isinstance(address, ipaddress.IPv6Address) else address


def _same(given: str, wanted: str) -> bool:
    """Whether two texts are equal, in a time that does not tell where they differ."""
    digests = (hashlib.sha256(text.encode(errors="replace")).digest() for text in (given, wanted))
    return hmac.compare_digest(*digests)
