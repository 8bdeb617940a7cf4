"""Delivers one notification to a webhook over HTTP.

Invariant: redirects are not followed, since they would carry the signed body to another host; no result contains the
webhook's URL.
"""

from __future__ import annotations

import aiohttp

from opsgym_core.notifications.notification import headers_of
from opsgym_core.notifications.webhook import DeliveryResult, WebhookAddress, WebhookRequest

TIMEOUT_S = 10.0
"""Total timeout of one request; a slow receiver must not delay the others."""


async def deliver(
    session: aiohttp.ClientSession, address: WebhookAddress, request: WebhookRequest, at: int
) -> DeliveryResult:
    """Makes one attempt to deliver a notification.

    Args:
        session: HTTP session that carries the request.
        address: The webhook.
        request: The notification's request.
        at: Time for the signature, in seconds since 1970.
    """
    headers = headers_of(request.id, request.event, request.body, address.secret, at)
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    try:
        async with session.post(
            address.url, data=request.body, headers=headers, timeout=timeout, allow_redirects=False
        ) as response:
            return _result(request, response.status, response.headers.get("Retry-After", ""))
    except TimeoutError:
        return request.result("again", f"it does not answer within {TIMEOUT_S:g} s")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        # Messages of these errors repeat the address.
        return request.result("again", f"it cannot be reached ({type(error).__name__})")


def _result(request: WebhookRequest, status: int, retry_after: str) -> DeliveryResult:
    if 200 <= status < 300:
        return request.result("sent")
    if 300 <= status < 400:
        return request.result("failed", f"it answers with a redirect (HTTP {status}), which is not followed")
    if status in (408, 429) or status >= 500:
        wait = float(retry_after) if retry_after.isdecimal() else 0.0
        return request.result("again", f"it answers HTTP {status}", wait)
    return request.result("failed", f"it refuses the notification (HTTP {status}); check the URL and the format")
