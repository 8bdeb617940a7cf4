"""Reads a written report as the scripts of its page do."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opsgym_console.report.model import PageData, TrialDetail


@dataclass(frozen=True)
class Report:
    """A report in a folder."""

    folder: Path
    html: str
    page: PageData
    inside: dict[int, TrialDetail]
    """Details inside the page, by row."""

    def row(self, task_id: str, trial: int = 0, cell: int = 0) -> int:
        """The row of a trial."""
        columns = self.page.trials
        rows = zip(columns.cell, columns.task, columns.trial, strict=True)
        return list(rows).index((cell, [task.id for task in self.page.tasks].index(task_id), trial))

    def detail(self, row: int) -> TrialDetail:
        """The detail of a row, wherever the page finds it."""
        if self.page.details == "inline":
            return self.inside[row]
        number, place = divmod(row, self.page.details_per_file)
        return details_in((self.folder / "trials" / f"{number}.js").read_text(), number)[place]

    def transcript(self, row: int) -> list[str]:
        """Texts of a trial's transcript, shared ones in their place."""
        return [
            entry.event.content if entry.text is None else self.page.texts[entry.text]
            for entry in self.detail(row).transcript
        ]


def read_report(folder: Path) -> Report:
    """The report in a folder."""
    return read_html((folder / "index.html").read_text(encoding="utf-8"), folder)


def read_html(html: str, folder: Path) -> Report:
    """The report whose page has this HTML."""
    page = PageData.model_validate(_embedded(html, "page-data"))
    inside = _embedded(html, "details-data") or {}
    return Report(folder, html, page, {int(row): TrialDetail.model_validate(one) for row, one in inside.items()})


def details_in(script: str, number: int) -> list[TrialDetail]:
    """Details in a file beside a page."""
    match = re.fullmatch(r'opsgymDetails\((\d+), "([A-Za-z0-9+/=]*)"\)\n', script)
    assert match is not None
    assert int(match[1]) == number
    return [TrialDetail.model_validate(detail) for detail in _unpacked(match[2])]


def _embedded(html: str, name: str) -> Any:
    data = re.findall(rf'<script type="application/octet-stream" id="{name}">([A-Za-z0-9+/=]*)</script>', html)
    return _unpacked(data[0]) if data else None


def _unpacked(text: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(text)))
