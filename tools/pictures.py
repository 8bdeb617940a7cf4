"""Takes the pictures of README and docs from real runs of today: `make pictures`.

Invariant: nothing in them is made up. Two runs of the built-in suite are played, compared and judged, and a tool is
called by hand on a real server.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright
from tools.chromium import FLAGS, ROOT, chromium

from opsgym.exits import Exit

IMAGES = ROOT / "docs" / "images"
LAPTOP: ViewportSize = {"width": 1280, "height": 1000}
PHONE: ViewportSize = {"width": 390, "height": 1000}
FAILED = "#/trial/mixed_react_oracle_itsm/itsm-qs-001-triage-dock-printer/0"
GATE = {"baseline": "last-night", "minSuccessRate": 0.6, "maxRegression": 0.1}


def main() -> None:
    """Plays the runs and takes every picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        os.chdir(folder)  # pages show the store's path
        _play("last-night", {"model": "replay/flaky"})
        _play("tonight", _recorded(), gate=GATE)
        _opsgym("report", "tonight", "--out", "report")
        report = Path("report", "index.html").absolute().as_uri()
        _take(browser, report, "report", viewport=LAPTOP)
        _take(browser, report, "report-dark", viewport=LAPTOP, color_scheme="dark")
        _take(browser, report, "report-phone", viewport=PHONE)
        _take(browser, report + FAILED, "report-trial", viewport=LAPTOP | {"height": 1300})
        with _served("serve", "--port", "0") as console:
            _take(browser, console, "console", viewport=LAPTOP | {"height": 520})
        with _served("gym", "explore", "itsm") as explore:
            _take_call(browser, explore)
        browser.close()


def _recorded() -> dict[str, Any]:
    """The recorded model of the quickstart example."""
    example = yaml.safe_load((ROOT / "examples" / "quickstart.yaml").read_text(encoding="utf-8"))
    model: dict[str, Any] = next(one["inline"] for one in example["spec"]["models"] if one["name"] == "mixed")
    recording = ROOT / "examples" / model["model"].removeprefix("replay/")
    return {**model, "model": f"replay/{recording}"}


def _play(name: str, mixed: dict[str, Any], **spec: Any) -> None:
    gold = {"name": "gold", "inline": {"model": "replay/gold"}}
    models = [gold, {"name": "mixed", "inline": mixed}]
    suite = {"builtin": "quickstart"}
    document = {
        "apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "metadata": {"name": name},
        "spec": {"suite": suite, "models": models, "budget": {"maxUsd": 1}, **spec},
    }  # fmt: skip
    Path(f"{name}.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    _opsgym("run", f"{name}.yaml")


def _opsgym(*arguments: str) -> None:
    """Runs the command; a gate may say no, or that it cannot tell."""
    done = subprocess.run([sys.executable, "-m", "opsgym.main", *arguments], stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (Exit.OK, Exit.NO_GO, Exit.INCONCLUSIVE):
        sys.exit(f"opsgym {arguments[0]} ended with exit code {done.returncode}")


@contextmanager
def _served(*arguments: str) -> Iterator[str]:
    """A server of the command; the URL that it prints."""
    command = [sys.executable, "-m", "opsgym.main", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield next(word for line in process.stdout for word in line.split() if word.startswith("http://"))
    finally:
        process.terminate()
        process.wait()


def _take(browser: Browser, url: str, name: str, **options: Any) -> None:
    page = browser.new_page(**options)
    page.goto(url)
    page.locator("main[aria-busy=false]").wait_for()
    page.locator("#trial[aria-busy=true]").wait_for(state="detached")
    expect(page.get_by_text("Loading …")).to_have_count(0, timeout=30_000)
    page.evaluate("document.fonts.ready")
    _keep(page, name)


def _take_call(browser: Browser, url: str) -> None:
    """The explore page after a call by hand."""
    page = browser.new_page(viewport=LAPTOP)
    page.goto(f"{url}#/tools/find_incident_by_number")
    page.get_by_label("number").fill("INC-004197")
    page.get_by_role("button", name="Call", exact=True).click()
    page.get_by_role("region", name="Result").locator(".summary").wait_for()
    _keep(page, "explore")


def _keep(page: Page, name: str) -> None:
    page.screenshot(path=IMAGES / f"{name}.png")
    page.close()


if __name__ == "__main__":
    main()
