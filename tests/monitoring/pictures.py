"""Draws the dashboards of docs/monitoring.md.

Invariant: a picture shows what the dashboard's own queries give in a real Prometheus, and is the same each time.

    python -m tests.monitoring.pictures     writes docs/images/dashboard-*.png
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import sync_playwright
from tests.explore.visitor import FLAGS, chromium
from tests.helm.charts import ROOT
from tests.monitoring.boards import FILES, View, load
from tests.monitoring.drawing import WIDTH, page
from tests.monitoring.night import night

HOURS = {"run": 3.0, "operator": 12.0}
"""Length of the time range where it is not the whole day."""


def main() -> int:
    """Writes the pictures; the exit code."""
    with tempfile.TemporaryDirectory() as folder, night(Path(folder)) as (server, view):
        pages = {path.stem: page(load(path), server, _part(view, path.stem)) for path in FILES}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        tab = browser.new_page(viewport={"width": WIDTH + 40, "height": 400})
        for name, content in pages.items():
            tab.set_content(content)
            tab.screenshot(path=ROOT / "docs" / "images" / f"dashboard-{name}.png", full_page=True)
        browser.close()
    return 0


def _part(view: View, name: str) -> View:
    """The last hours of a view, with points as far apart as a screen shows them."""
    hours = HOURS.get(name, 24.0)
    return replace(view, start=view.end - 3600 * hours, step=max(view.step, 3600 * hours / 240))


if __name__ == "__main__":
    sys.exit(main())
