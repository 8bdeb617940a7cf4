"""The page about a run as one HTML file: styles, scripts, chart library and, for a report, the data.

Invariant: everything that a run wrote is data, in base64 or escaped by the template, never markup or script. The
page's content security policy admits only the scripts embedded here, by their hashes, and only the requests that the
source of the data needs.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from opsgym_console.report.model import PageData, TrialDetail

SHARED = ("theme.js", "dom.js", "format.js")
"""Scripts of `opsgym_core.web`."""
SCRIPTS = (
    "address.js", "source.js", "run.js", "figures.js", "headline.js", "baseline.js", "scores.js", "charts.js",
    "grid.js", "trials.js", "transcript.js", "differences.js", "trial.js", "keys.js", "main.js",
)  # fmt: skip
"""Scripts of the page after the shared ones, in order; all share one scope."""
LIBRARY = "vendor/echarts.min.js"
_EXPORT = re.compile(r"^export ", re.MULTILINE)


@dataclass(frozen=True)
class Embedded:
    """A report, with its data in the file."""

    page: PageData
    details: Mapping[int, TrialDetail] = field(default_factory=dict)
    """By row of `page.trials`; only for `page.details` = `inline`."""


@dataclass(frozen=True)
class Served:
    """A page of the console, at `runs/<run>/`; it requests its data from `api/runs/<run>/`."""

    run: str
    """The run's id."""


@dataclass(frozen=True)
class Inline:
    """A style or script embedded in the page, and the hash by which the policy admits it."""

    text: Markup
    hash: str

    @classmethod
    def of(cls, text: str) -> Inline:
        """Embeds a text of this package."""
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return cls(Markup(text), f"'sha256-{digest}'")  # noqa: S704 - a file of this package, not input


def page_html(source: Embedded | Served) -> bytes:
    """The page, as UTF-8.

    Args:
        source: Where the data is.
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
    """The file `trials/<number>.js`: details of consecutive rows, for a page whose details are `beside`."""
    packed = _packed([detail.model_dump() for detail in details])
    return f'opsgymDetails({number}, "{packed}")\n'.encode()


def _packed(value: Any) -> str:
    """Compressed JSON in base64, which neither HTML nor JavaScript interprets."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(_utf8(text), compresslevel=6, mtime=0)).decode()


def _utf8(text: str) -> bytes:
    """A text as UTF-8; lone surrogates, which UTF-8 cannot hold, become question marks."""
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
    return environment.from_string(_own_file("report.html"))


@cache
def _style() -> Inline:
    return Inline.of(_shared_file("base.css") + _own_file("report.css"))


@cache
def _library() -> Inline:
    return Inline.of(_own_file(LIBRARY))


@cache
def _script() -> Inline:
    """All scripts as one; only the function that detail files call is global."""
    # A file opened from disk cannot import modules: the shared ones are embedded without their `export`.
    shared = (_EXPORT.sub("", _shared_file(name)) for name in SHARED)
    return Inline.of('(() => {\n"use strict";\n' + "\n".join((*shared, *map(_own_file, SCRIPTS))) + "})();\n")


def _shared_file(name: str) -> str:
    return files("opsgym_core").joinpath("web").joinpath(name).read_text(encoding="utf-8")


def _own_file(name: str) -> str:
    return files("opsgym_console").joinpath("web").joinpath("report").joinpath(name).read_text(encoding="utf-8")
