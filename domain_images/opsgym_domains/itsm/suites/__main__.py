"""Writes the generated files: the suites and, in a checkout, the recording that the examples replay."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from opsgym_domains.itsm.suites.books import QUICKSTART, SUITES
from opsgym_domains.itsm.suites.recording import recording

EXAMPLES = Path(__file__).parents[4] / "examples"
"""The checkout's folder; an installed package has none."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of `python -m opsgym_domains.itsm.suites`; the process's exit code."""
    parser = argparse.ArgumentParser(prog="opsgym_domains.itsm.suites", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not current")
    options = parser.parse_args(arguments)
    stale = {path: text for path, text in generated().items() if _content(path) != text}
    if options.check:
        for path in stale:
            sys.stderr.write(f"{path} is not current; `make generate` writes it\n")
        return 1 if stale else 0
    for path, text in stale.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {path}\n")
    return 0


def generated() -> dict[Path, str]:
    """What each generated file should hold."""
    drafts = {suite.name: suite.drafts(suite.world()) for suite in SUITES}
    files = {
        Path(__file__).with_name(f"{suite.name}.json"): json.dumps(
            suite.rows(drafts[suite.name]), indent=1, ensure_ascii=False
        )
        + "\n"
        for suite in SUITES
    }
    if EXAMPLES.is_dir():
        played = recording(QUICKSTART, drafts[QUICKSTART.name])
        lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in played)
        files[EXAMPLES / "recordings" / "mixed.jsonl"] = "".join(lines)
    return files


def _content(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
