"""Who may use the console.

Invariant: without a token and a proxy header, only this machine's own browser is admitted, under a loopback name;
otherwise every request needs the token, a session that began with it, or the header of a trusted proxy. Tokens are
compared in constant time and appear in no cookie, log line or message.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

from pydantic import SecretStr

from opsgym_api.errors import InputError, Problem
from opsgym_core.common.net import is_loopback

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

SHORTEST_TOKEN = 16
"""Characters: too many to guess over HTTP, so wrong tokens need not be counted."""
SESSION_SECONDS = 12 * 3600
"""How long a browser stays signed in: a working day."""


@dataclass(frozen=True)
class TrustedHeader:
    """A header with which a sign-in proxy names the user."""

    name: str
    """Lower case."""
    proxies: Sequence[Network]
    """Addresses of the proxies; the header is ignored in requests from elsewhere."""


def trusted_header(name: str, proxies: Sequence[str]) -> TrustedHeader:
    """The header that proxies at the given addresses set.

    Args:
        name: Name of the header.
        proxies: Addresses or networks, for instance `10.0.0.0/8`.

    Raises:
        InputError: There are no addresses, or one is not valid.
    """
    if not proxies:
        message = "required with --trust-header: addresses of the proxies that set the header, for instance 10.0.0.0/8"
        raise InputError("opsgym serve", [Problem("--trusted-proxies", message)])
    networks: list[Network] = []
    for text in proxies:
        try:
            networks.append(ipaddress.ip_network(text))
        except ValueError as error:
            raise InputError("opsgym serve", [Problem("--trusted-proxies", f"{error}")]) from None
    return TrustedHeader(name.lower(), networks)


def usable_token(text: str, source: str) -> SecretStr:
    """A token for signing in.

    Args:
        text: Content of the file or variable.
        source: Name of the file or variable.

    Raises:
        InputError: The token is too short to be secret, or cannot be sent in a header.
    """
    token = text.strip()
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        message = (
            f"needs at least {SHORTEST_TOKEN} letters and digits without a space; `openssl rand -hex 24` makes one"
        )
        raise InputError(source, [Problem("token", message)])
    return SecretStr(token)


@dataclass(frozen=True)
class RequestIdentity:
    """What a request says about its sender."""

    peer: str
    """Address at the other end of the connection."""
    host: str
    """Header `Host`."""
    authorization: str = ""
    """Header `Authorization`."""
    session_host: str = ""
    """Host under which the sender signed in, from a session cookie with a valid signature; empty without one."""
    proxy_user: str = ""
    """The header that a proxy sets; empty if none is trusted."""


@dataclass(frozen=True)
class Denial:
    """Why a request is not admitted."""

    status: int
    message: str


class Access:
    """Decides which requests are admitted.

    Args:
        token: Token for signing in; None if tokens are not accepted.
        header: Header of a sign-in proxy; None if there is no proxy. With neither, only loopback names are admitted.
    """

    def __init__(self, token: SecretStr | None = None, header: TrustedHeader | None = None) -> None:
        self._token = token
        self.header = header

    @property
    def takes_token(self) -> bool:
        """Whether users can sign in with a token."""
        return self._token is not None

    @property
    def session_key(self) -> str:
        """Key that signs session cookies. It is derived from the token: another token ends all sessions."""
        assert self._token is not None
        token = self._token.get_secret_value().encode()
        return hmac.new(token, b"opsgym console session", hashlib.sha256).hexdigest()

    def authorize(self, identity: RequestIdentity) -> Denial | None:
        """Why a request is not admitted; None if it is."""
        if self._token is None and self.header is None:
            # Another site's DNS can point its own name at this machine, and its page would then read ours.
            if is_loopback(_host_name(identity.host)):
                return None
            return Denial(403, "Open this console as localhost or 127.0.0.1, on the machine where it runs.")
        if self.header is not None and identity.proxy_user.strip() and self._from_proxy(identity.peer):
            return None
        if self._token is not None and identity.session_host and identity.session_host == identity.host.lower():
            return None
        scheme, _, token = identity.authorization.partition(" ")
        if self._token is not None and scheme.lower() == "bearer":
            return None if self.accepts(token.strip()) else Denial(401, "The token is wrong.")
        if self._token is None and not self._from_proxy(identity.peer):
            return Denial(403, "Open this console through its sign-in proxy.")
        return Denial(401, "Sign in first.")

    def accepts(self, token: str) -> bool:
        """Whether a token is the right one."""
        if self._token is None:
            return False
        # Of digests: comparing the texts would reveal whether their lengths are equal.
        given, expected = (
            hashlib.sha256(text.encode(errors="replace")).digest() for text in (token, self._token.get_secret_value())
        )
        return hmac.compare_digest(given, expected)

    def _from_proxy(self, peer: str) -> bool:
        try:
            address = ipaddress.ip_address(peer)
        except ValueError:
            return False
        if isinstance(address, ipaddress.IPv6Address):
            address = address.ipv4_mapped or address  # how a server on `::` sees IPv4 peers
        return any(address in network for network in (self.header.proxies if self.header is not None else ()))


def _host_name(host: str) -> str:
    """The name in a `Host` header; empty if the header is not valid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
