"""Faults that a glance at a page shows: broken words, texts over each other, content past the edge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

LONGEST_WORD = 24
"""Letters of a word that must stay whole; ids and addresses are longer and may be broken."""

_FAULTS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def faults_seen(page: Page) -> Sequence[str]:
    """Broken words, texts that lie over each other, and a page that scrolls sideways; at most 20."""
    faults: list[str] = page.evaluate(_FAULTS, LONGEST_WORD)
    return faults
