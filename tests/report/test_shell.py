"""The HTML file of the page about a run."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

import pytest
from tests.report.pages import RUN, page_of

from opsgym_console.report.shell import SCRIPTS, Embedded, Served, page_html

WEB = files("opsgym_console") / "web" / "report"
VENDOR = WEB / "vendor"


def policy(page: bytes) -> dict[str, str]:
    """The page's content security policy, by directive."""
    directives = re.search(r'Content-Security-Policy" content="([^"]*)"', page.decode())
    assert directives is not None
    return dict(rule.split(" ", 1) for rule in directives[1].replace("&#39;", "'").split("; "))


def hashes(page: bytes, tag: str) -> list[str]:
    """Hashes of the page's own scripts or styles."""
    inside = re.findall(rf"<{tag}>(.*?)</{tag}>", page.decode(), re.DOTALL)
    return ["'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'" for text in inside]


def test_the_chart_library_is_the_one_that_the_readme_names() -> None:
    stated = re.search(r"`sha384-([^`]+)`", (VENDOR / "README.md").read_text())
    assert stated is not None
    digest = hashlib.sha384((VENDOR / "echarts.min.js").read_bytes()).digest()
    assert base64.b64encode(digest).decode() == stated[1]


def test_every_script_of_the_folder_is_in_the_page() -> None:
    assert sorted(SCRIPTS) == sorted(file.name for file in WEB.iterdir() if file.name.endswith(".js"))


@pytest.mark.parametrize(
    ("page", "script", "connect"),
    [
        (Embedded(page_of(details="inline")), "", "'none'"),
        (Embedded(page_of(details="beside")), " 'self'", "'none'"),
        (Served(RUN), "", "'self'"),
    ],
    ids=["inline", "beside", "served"],
)
def test_the_policy_admits_the_pages_own_scripts_and_what_its_source_needs(
    page: Embedded | Served, script: str, connect: str
) -> None:
    content = page_html(page)
    assert policy(content) == {
        "default-src": "'none'",
        "script-src": " ".join(hashes(content, "script")) + script,
        "style-src": hashes(content, "style")[0],
        "style-src-attr": "'unsafe-inline'",
        "img-src": "data:",
        "connect-src": connect,
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_a_served_page_names_its_data_by_a_relative_address() -> None:
    page = page_html(Served("odd name/x?y#z.1")).decode()
    assert '<meta name="opsgym-data" content="../../api/runs/odd%20name%2Fx%3Fy%23z.1/">' in page


def test_a_page_is_the_same_for_the_same_data() -> None:
    assert page_html(Embedded(page_of())) == page_html(Embedded(page_of()))
