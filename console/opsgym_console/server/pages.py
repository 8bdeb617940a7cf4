"""The console's own pages: list of runs, sign-in and messages.

Invariant: text written by a run never becomes markup, and every link is relative, so that the console works under any
path prefix of a proxy.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

_SHARED = ("base.css", "dom.js", "format.js", "theme.js")
"""Files of `opsgym_core.web` that the console's own pages use."""
TITLES = {401: "Sign in", 403: "Not allowed", 404: "Not found", 503: "Not available"}
"""Titles of messages by HTTP status."""
RELOAD_SECONDS = 5
"""Interval at which the page of a waiting run reloads itself."""


def runs() -> str:
    """The list of runs; its script requests the rows."""
    return _render("runs.html", up="")


def label() -> str:
    """The page on which people label failed trials; its script requests them."""
    return _render("label.html", up="../")


def sign_in(problem: str = "") -> str:
    """The page with the sign-in form.

    Args:
        problem: Why the last sign-in failed; empty if there was none.
    """
    return _render("sign-in.html", up="", problem=problem)


def message(path: str, status: int, text: str) -> str:
    """A page with a message instead of content.

    Args:
        path: Path of the request.
        status: HTTP status.
        text: The message.
    """
    title = TITLES.get(status, "Something went wrong")
    return _render("message.html", up=up(path), title=title, text=text, reload_seconds=0)


def waiting(path: str, name: str, text: str) -> str:
    """A page about a run that has written nothing yet; it reloads itself.

    Args:
        path: Path of the request.
        name: Name of the run.
        text: Status of the run.
    """
    return _render("message.html", up=up(path), title=name, text=text, reload_seconds=RELOAD_SECONDS)


def up(path: str) -> str:
    """The relative link from a path to the root: empty, or one or more `../`."""
    return "../" * (path.count("/") - 1)


def static(name: str) -> bytes | None:
    """A style sheet or script; None if there is no such file."""
    return _static().get(name)


@cache
def _static() -> dict[str, bytes]:
    own = (file for file in _folder().iterdir() if file.name.endswith((".css", ".js")))
    shared = (files("opsgym_core").joinpath("web").joinpath(name) for name in _SHARED)
    return {file.name: file.read_bytes() for file in (*own, *shared)}


def _render(name: str, **values: Any) -> str:
    return _environment().get_template(name).render(**values)


@cache
def _environment() -> Environment:
    loader = FunctionLoader(lambda name: _folder().joinpath(name).read_text(encoding="utf-8"))
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)


def _folder() -> Traversable:
    return files("opsgym_console").joinpath("web").joinpath("runs")
