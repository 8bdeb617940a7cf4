"""What the headers of a request say about the page that sent it."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request


def from_another_site(request: Request) -> bool:
    """Whether a page of another site sent a request; browsers say so."""
    # Browsers send the origin `null` from our pages, which send no referrer; newer ones name the site as well.
    site, origin = request.headers.get("sec-fetch-site", "same-origin"), request.headers.get("origin", "null")
    return site != "same-origin" or (origin != "null" and urlsplit(origin).netloc != request.headers.get("host"))
