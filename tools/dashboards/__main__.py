"""Writes the Grafana dashboards of the chart.

Invariant: the modules of this folder are the only source of the JSON files in `helm/opsgym/monitoring/dashboards`, and
Grafana's schema types have checked every field.

    python -m tools.dashboards           writes the files
    python -m tools.dashboards --check   exits 1 and names the files that are not current
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from tools.dashboards import fleet, one_run, operator_health
from tools.generated import sync

FOLDER = Path("helm/opsgym/monitoring/dashboards")
DASHBOARDS = {"fleet": fleet.dashboard, "run": one_run.dashboard, "operator": operator_health.dashboard}


def expected() -> dict[Path, str]:
    """Expected content of each file, by path relative to the root."""
    return {
        FOLDER / f"{name}.json": json.dumps(make().build(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"
        for name, make in DASHBOARDS.items()
    }


def main(root: Path, *, check: bool) -> int:
    """Writes the files, or reports those that are not current; returns the exit code."""
    return sync(root, expected(), (root / FOLDER).glob("*.json"), check=check)


if __name__ == "__main__":
    sys.exit(main(Path.cwd(), check="--check" in sys.argv[1:]))
