"""Which addresses are reached directly where the environment names a proxy.

Invariant: requests to the loopback address never go through a proxy. Clients read the variables in lower and in upper
case, differently, so both are always set.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names and addresses of the own machine or pod."""
CLUSTER = (".svc", ".cluster.local")
"""Endings of the names of a cluster's Services."""
NO_PROXY = ("NO_PROXY", "no_proxy")


def proxy_variables(http: str, https: str, direct: Iterable[str]) -> dict[str, str]:
    """Environment variables that send requests through proxies.

    Args:
        http: Proxy for `http://` addresses; none if empty.
        https: Proxy for `https://` addresses; none if empty.
        direct: Hosts, or endings of names, that are reached directly.
    """
    if not http and not https:
        return {}
    values = {"HTTP_PROXY": http, "HTTPS_PROXY": https, "NO_PROXY": ",".join(dict.fromkeys(direct))}
    set_values = {name: value for name, value in values.items() if value}
    return set_values | {name.lower(): value for name, value in set_values.items()}


def keep_loopback_direct(environ: MutableMapping[str, str]) -> None:
    """Adds the loopback addresses to those that are reached directly."""
    named = [host.strip() for name in NO_PROXY for host in environ.get(name, "").split(",")]
    if "*" in named:
        return
    for name in NO_PROXY:
        environ[name] = ",".join(dict.fromkeys(filter(None, [*named, *LOOPBACK])))
