"""Writes the tool names of every domain for programs without the domains: the runner's image has none.

python -m tools.tool_names           writes the file
python -m tools.tool_names --check   exits 1 if it is not current
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tools.generated import sync

from opsgym_domains import registry

ROOT = Path(__file__).resolve().parents[1]
FILE = Path("agent_runner/opsgym_runner/gyms/tool_names.json")


def expected() -> dict[Path, str]:
    """Expected content of the file, by its path."""
    names = {domain: sorted(registry.load(domain).toolbox.tools) for domain in registry.domains()}
    return {FILE: json.dumps(names, indent=1) + "\n"}


def main(root: Path, *, check: bool) -> int:
    """Writes the file, or reports that it is not current; returns the exit code."""
    return sync(root, expected(), [root / FILE], check=check)


if __name__ == "__main__":
    sys.exit(main(ROOT, check="--check" in sys.argv[1:]))
