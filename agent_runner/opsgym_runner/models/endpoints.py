"""The endpoints of a model, load-balanced. All episodes that use the model share them.

Invariant: no episode sends a request to an endpoint before the time that its `Retry-After` named. An endpoint that
failed without `Retry-After` is only avoided while another is available.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from opsgym_runner.clock import Clock
from opsgym_runner.job import ModelEndpoint


@dataclass(frozen=True)
class Delay:
    """What requests to one address wait for at one moment."""

    url: str
    throttled: int
    """Requests that were answered with HTTP 429 so far."""
    paused_s: float
    """Seconds before which no request is sent there; 0 if it may be called."""
    oldest_s: float
    """Seconds for which the oldest request there has no answer; 0 if none is in flight."""


@dataclass
class Endpoint:
    """One address and its state."""

    address: ModelEndpoint
    begun: list[float] = field(default_factory=list[float])
    """Monotonic times at which the requests in flight were sent, oldest first."""
    throttled: int = 0
    """Requests that were answered with HTTP 429."""
    avoid_until: float = 0.0
    """Monotonic time until which other endpoints are preferred."""
    closed_until: float = 0.0
    """Monotonic time before which the endpoint must not be called (`Retry-After`)."""
    answered: bool = False
    """Whether it has answered a request with a reply."""

    @contextmanager
    def busy(self, now: float) -> Iterator[ModelEndpoint]:
        """Counts a request as in flight inside the block, which begins at a monotonic time."""
        self.begun.append(now)
        try:
            yield self.address
        finally:
            self.begun.remove(now)


def shown_url(address: ModelEndpoint) -> str:
    """Where an endpoint is, for messages: its URL without credentials and query."""
    if address.url is None:
        return "the provider's endpoint"
    url = httpx.URL(address.url)
    return str(url.copy_with(userinfo=b"", query=None))


def address_in(environment: Mapping[str, str], model: str) -> str | None:
    """The address that a variable gives the models of a provider, as litellm reads it; None if none does.

    Args:
        environment: Environment variables.
        model: litellm id; one without a provider is OpenAI's.
    """
    provider = model.split("/", 1)[0] if "/" in model else "openai"
    names = (f"{provider.upper()}_BASE_URL", f"{provider.upper()}_API_BASE")
    return next((environment[name].strip() for name in names if environment.get(name, "").strip()), None)


class EndpointPool:
    """Chooses endpoints: available ones first, then the one with the fewest requests in flight."""

    def __init__(self, addresses: Sequence[ModelEndpoint], clock: Clock) -> None:
        self._endpoints = [Endpoint(address) for address in addresses or (ModelEndpoint(),)]
        self._clock = clock
        self._silent_since: float | None = None
        self._answered = False
        self.has_called = False
        """Whether the model has called a tool."""

    def answered(self) -> None:
        """Records that the model answered a request."""
        self._answered = True

    def has_answered(self, address: ModelEndpoint) -> bool:
        """Whether the endpoint of that address has answered a request with a reply."""
        return any(endpoint.answered for endpoint in self._endpoints if endpoint.address == address)

    @property
    def silent_s(self) -> float:
        """Seconds since the first failed request, if no request was ever answered; otherwise 0."""
        if self._answered or self._silent_since is None:
            return 0.0
        return self._clock.monotonic() - self._silent_since

    @property
    def delays(self) -> list[Delay]:
        """What requests to each endpoint wait for now."""
        now = self._clock.monotonic()
        return [
            Delay(
                shown_url(one.address),
                one.throttled,
                max(0.0, one.closed_until - now, one.avoid_until - now),
                now - one.begun[0] if one.begun else 0.0,
            )
            for one in self._endpoints
        ]

    def pick(self) -> Endpoint:
        """The endpoint for the next request."""
        now = self._clock.monotonic()
        return min(self._endpoints, key=lambda e: (max(e.closed_until - now, 0), e.avoid_until > now, len(e.begun)))

    def failed(self, endpoint: Endpoint, pause_s: float, *, retry_after: bool) -> None:
        """Records a failed request.

        Args:
            endpoint: Endpoint of the request.
            pause_s: Seconds for which the endpoint should get no request.
            retry_after: Whether the endpoint itself named that time.
        """
        now = self._clock.monotonic()
        self._silent_since = now if self._silent_since is None else self._silent_since
        until = now + pause_s
        endpoint.avoid_until = max(endpoint.avoid_until, until)
        if retry_after:
            endpoint.closed_until = max(endpoint.closed_until, until)

    def wait_s(self, backoff_s: float) -> float:
        """Seconds until the next request may be sent; 0 if an endpoint is available.

        Args:
            backoff_s: Backoff after the caller's own latest failure; 0 if its call has not failed.
        """
        now = self._clock.monotonic()
        if any(e.avoid_until <= now and e.closed_until <= now for e in self._endpoints):
            return 0.0
        return max(backoff_s, min(e.closed_until - now for e in self._endpoints), 0.0)
