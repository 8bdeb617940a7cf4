"""Records the quickstart: docs/images/run.svg, a terminal whose lines arrive as they did, only faster.

Invariant: each line is one that the command printed; tables after the first one are left out. Programs that show no
animation show the end.

    python -m tools.recording
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "run.svg"
COLUMNS, ROWS, LINE, CHARACTER = 112, 18, 17, 7.3
SECONDS = 12.0
"""Length of the recording before it starts again."""
PAUSE = 0.4
"""Share of the recording in which its end is shown."""
_COLOURS = {"passed": "#7ee787", "failed": "#ff9b93"}


def recorded(command: Sequence[str], folder: Path) -> list[tuple[float, str]]:
    """Lines that a command prints, each with the seconds since the start; the first one is the command."""
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "NO_COLOR": "1"}
    started = time.monotonic()
    lines = [(0.0, "$ make run")]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        lines.extend(
            (time.monotonic() - started, line.rstrip().replace(str(folder), "results")) for line in process.stdout
        )
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {lines[-1][1]}")
    return lines


def without_later_tables(lines: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """The lines up to the first table, and those from the last blank line on."""
    blank = [number for number, (_, text) in enumerate(lines) if not text]
    return [*lines[: blank[1]], *lines[blank[-1] :]]


def picture(lines: Sequence[tuple[float, str]]) -> str:
    """The recording as SVG: one column of lines that moves up a line whenever one arrives."""
    total = lines[-1][0] or 1.0
    texts = "".join(
        f'<text y="{LINE * (number + 1)}">{_coloured(_cut(text))}</text>' for number, (_, text) in enumerate(lines)
    )
    moves = "".join(
        f"{100 * (1 - PAUSE) * at / total:.2f}%{{transform:translateY({LINE * (ROWS - number - 1)}px)}}"
        for number, (at, _) in enumerate(lines)
    )
    width, height = round(COLUMNS * CHARACTER) + 24, ROWS * LINE + 24
    end = f"transform:translateY({LINE * (ROWS - len(lines))}px)"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="make run: trials one by one, then scores with intervals">\n'
        f"<style>text{{font:12px monospace;fill:#d7dde5;white-space:pre}}g{{{end};"
        f"animation:lines {SECONDS}s step-end infinite}}"
        f"@keyframes lines{{{moves}100%{{{end}}}}}"
        "@media(prefers-reduced-motion:reduce){g{animation:none}}</style>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="#16202b"/>\n'
        f'<svg x="12" y="10" width="{width - 24}" height="{ROWS * LINE + 4}"><g>{texts}</g></svg>\n</svg>\n'
    )


def _cut(text: str) -> str:
    """A line as far as it fits, without a part of a column."""
    return text if len(text) <= COLUMNS else text[:COLUMNS].rpartition("  ")[0]


def _coloured(text: str) -> str:
    """A line as SVG, with its verdict in colour."""
    safe = escape(text, quote=False)
    for word, colour in _COLOURS.items():
        safe = safe.replace(f"] {word} ", f'] <tspan fill="{colour}">{word}</tspan> ', 1)
    return safe


def main() -> int:
    """Plays the quickstart and writes the picture."""
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(sys.executable).parent / "opsgym")
        command = [program, "run", "examples/quickstart.yaml", "--store", folder]
        lines = recorded(command, Path(folder))
    PICTURE.write_text(picture(without_later_tables(lines)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
