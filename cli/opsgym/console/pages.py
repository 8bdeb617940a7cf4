"""The console's own pages: the list of runs, the sign-in, and messages.

Invariant: what a run wrote never becomes markup, and every link is relative, so that the console works below any path
of a proxy.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

_SHARED = ("page.css", "look.js", "dom.js", "format.js")
"""Parts of the page about a run: the console's own pages look alike and write numbers alike."""
TITLES = {401: "Sign in", 403: "Not for you", 404: "Not found", 429: "Wait a moment", 503: "Not reachable now"}


def runs() -> str:
    """The list of runs; its script fills it in."""
    return _rendered("runs.html", up="")


def sign_in(problem: str = "") -> str:
    """The page on which a token is typed in."""
    return _rendered("sign-in.html", up="", problem=problem)


def message(path: str, status: int, told: str) -> str:
    """A page that says why there is nothing to see.

    Args:
        path: Path of the request, to know how far up the list of runs is.
        status: HTTP status.
        told: For people.
    """
    return _rendered("message.html", up=up(path), title=TITLES.get(status, "Something went wrong"), told=told, again=0)


def waiting(path: str, name: str, told: str) -> str:
    """A page about a run that has written nothing yet; it loads itself again.

    Args:
        path: Path of the request.
        name: The run's name.
        told: How it stands.
    """
    return _rendered("message.html", up=up(path), title=name, told=told, again=5)


def up(path: str) -> str:
    """The relative way from a path to the top: nothing, or some `../`."""
    return "../" * (path.count("/") - 1)


def static(name: str) -> bytes | None:
    """A style sheet or script; None if there is no such file."""
    return _static().get(name)


@cache
def _static() -> dict[str, bytes]:
    own = (file for file in files("opsgym.console").joinpath("web").iterdir() if file.name.endswith((".css", ".js")))
    shared = (files("opsgym.report").joinpath("web").joinpath(name) for name in _SHARED)
    return {file.name: file.read_bytes() for file in (*own, *shared)}


def _rendered(name: str, **values: Any) -> str:
    return _environment().get_template(name).render(**values)


@cache
def _environment() -> Environment:
    def load(name: str) -> str:
        return files("opsgym.console").joinpath("web").joinpath(name).read_text(encoding="utf-8")

    return Environment(loader=FunctionLoader(load), autoescape=True, undefined=StrictUndefined, trim_blocks=True)
