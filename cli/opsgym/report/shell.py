"""The page about a run as one HTML file: style, scripts, chart library and, of a report, the data inside it.

Invariant: whatever a run wrote is data, in base64 or escaped by the template, never markup or script; the page's
content security policy admits the scripts put in here by their hashes and nothing else, and lets nothing be fetched
but what the source of the data needs.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from opsgym.report.model import PageData, TrialDetail

SCRIPTS = (
    "look.js", "dom.js", "format.js", "place.js", "source.js", "run.js", "figures.js", "headline.js", "baseline.js",
    "scores.js", "charts.js", "trials.js", "story.js", "differences.js", "trial.js", "keys.js", "main.js",
)  # fmt: skip
"""Scripts of the page in the order in which they follow each other; they share one scope."""
LIBRARY = "vendor/echarts.min.js"


@dataclass(frozen=True)
class Embedded:
    """A report: its data is in the file."""

    page: PageData
    details: Mapping[int, TrialDetail] = field(default_factory=dict)
    """By row of `page.trials`; only for `page.details` = `inline`."""


@dataclass(frozen=True)
class Served:
    """A page of the console, at `runs/<run>/`; its data comes from `api/runs/<run>/` and changes while it is open."""

    run: str
    """The run's id."""


@dataclass(frozen=True)
class Inline:
    """A text of the package inside the page, and the hash by which the policy admits it."""

    text: Markup
    hash: str

    @classmethod
    def of(cls, text: str) -> Inline:
        """The text of our own file or files."""
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return cls(Markup(text), f"'sha256-{digest}'")  # noqa: S704 - our own file, not anybody's input


def page_html(source: Embedded | Served) -> bytes:
    """The page, as UTF-8.

    Args:
        source: Where its data is.
    """
    data = _embedded(source) if isinstance(source, Embedded) else _served(source)
    page = _template().render(data, policy=_policy(source), style=_style(), script=_script(), library=_library())
    return _utf8(page)


def _embedded(source: Embedded) -> dict[str, str | None]:
    return {
        "title": source.page.run.name,
        "data": _packed(source.page.model_dump()),
        "details": _packed({row: detail.model_dump() for row, detail in source.details.items()}),
        "address": None,
    }


def _served(source: Served) -> dict[str, str | None]:
    address = f"../../api/runs/{quote(source.run, safe='')}/"
    return {"title": source.run, "data": None, "details": None, "address": address}


def detail_file(number: int, details: list[TrialDetail]) -> bytes:
    """A file `trials/<number>.js` beside a page whose details are `beside`: those of consecutive rows."""
    packed = _packed([detail.model_dump() for detail in details])
    return f'opsgymDetails({number}, "{packed}")\n'.encode()


def _packed(value: Any) -> str:
    """JSON, compressed, in letters that mean nothing to HTML and JavaScript."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(_utf8(text), compresslevel=6, mtime=0)).decode()


def _utf8(text: str) -> bytes:
    """A text as UTF-8; half of a surrogate pair, which that cannot hold, becomes a question mark."""
    return text.encode(errors="replace")


def _policy(source: Embedded | Served) -> str:
    scripts = [_script().hash, _library().hash]
    if isinstance(source, Embedded) and source.page.details == "beside":
        scripts.append("'self'")  # trials/<n>.js
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(scripts)}",
            f"style-src {_style().hash}",
            "style-src-attr 'unsafe-inline'",  # the chart library places its drawings by style attributes
            "img-src data:",  # the icon
            "connect-src 'none'" if isinstance(source, Embedded) else "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_web_file("page.html"))


@cache
def _style() -> Inline:
    return Inline.of(_web_file("page.css"))


@cache
def _library() -> Inline:
    return Inline.of(_web_file(LIBRARY))


@cache
def _script() -> Inline:
    """All scripts as one: nothing of them is global but the function that detail files call."""
    return Inline.of('(() => {\n"use strict";\n' + "\n".join(map(_web_file, SCRIPTS)) + "})();\n")


def _web_file(name: str) -> str:
    return files("opsgym.report").joinpath("web").joinpath(name).read_text(encoding="utf-8")
