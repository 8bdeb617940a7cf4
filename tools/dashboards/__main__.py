"""Writes the Grafana dashboards of the chart.

Invariant: the JSON files of `helm/opsgym/monitoring/dashboards` are what the modules of this folder say, so
nobody edits them by hand, and Grafana's schema types have checked every field.

    python -m tools.dashboards           writes the files
    python -m tools.dashboards --check   exits 1 and names the files that are not current
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from tools.dashboards import fleet, one_run, operator_health

FOLDER = Path("helm/opsgym/monitoring/dashboards")
DASHBOARDS = {"fleet": fleet.dashboard, "run": one_run.dashboard, "operator": operator_health.dashboard}


def wanted() -> dict[Path, str]:
    """The text of each file, by its path below the root."""
    return {
        FOLDER / f"{name}.json": json.dumps(make().build(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"
        for name, make in DASHBOARDS.items()
    }


def main(root: Path, *, check: bool) -> int:
    """Writes the files, or says which are not current; the exit code."""
    files = wanted()
    stray = [path for path in (root / FOLDER).glob("*.json") if path.relative_to(root) not in files]
    stale = {path: text for path, text in files.items() if not _holds(root / path, text)}
    if check:
        for path in (*stale, *(path.relative_to(root) for path in stray)):
            sys.stderr.write(f"{path} is not current; run `make generate`\n")
        return 1 if stale or stray else 0
    for path, text in stale.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    for path in stray:
        path.unlink()
    return 0


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main(Path.cwd(), check="--check" in sys.argv[1:]))
