"""The version before this one: its charts, and its images, built from the repository's history.

Invariant: nothing of this version is in them; a run of that version is what a user has who upgrades to this one.
`make soak` runs this module before the tests, which have no way to a package index.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from devcluster.places import ROOT

REVISION = "2f08c924cd0e1ea074d13dd9904de8604a6458f5"
"""The commit of the version before this one; a release moves it to the release before."""
TAG = "previous"
IMAGES = ("operator", "runner", "domains")
"""Those of a release; its preflight and its runner read the rows of its own domains image."""
TREE = ROOT / ".images" / "previous"
"""Its checkout, without history."""
CHART = TREE / "helm" / "opsgym"
KINDS = TREE / "helm" / "opsgym-crds"
UNKNOWN = f"commit {REVISION} is not in this clone's history; get it with: git fetch --unshallow"
_BUILT = TREE / ".built"
"""Names the commit, and its images that are there."""
_CONTENT = " ".join((REVISION, *IMAGES))


def archive(image: str) -> Path:
    """The archive of one of `IMAGES`, whose name is `localhost/opsgym-IMAGE:TAG`."""
    return TREE / ".images" / f"{image}.tar"


def is_built() -> bool:
    """Whether charts and images are there."""
    return _BUILT.exists() and _BUILT.read_text(encoding="utf-8") == _CONTENT


def is_known() -> bool:
    """Whether the history has the version: that of a shallow clone, or of files without history, has not."""
    look = ["git", "-C", str(ROOT), "cat-file", "-e", f"{REVISION}^{{commit}}"]
    return subprocess.run(look, check=False, capture_output=True).returncode == 0


def main() -> int:
    """Builds what is not there yet; the exit code."""
    if is_built():
        return 0
    if not is_known():
        sys.stdout.write(f"{UNKNOWN}; the test of upgrades is skipped\n")
        return 0
    checkout = subprocess.run(["git", "-C", str(ROOT), "archive", REVISION], check=True, capture_output=True)
    shutil.rmtree(TREE, ignore_errors=True)
    TREE.mkdir(parents=True)
    subprocess.run(["tar", "--extract", "--directory", str(TREE)], input=checkout.stdout, check=True)
    sys.stdout.write("Images of the version before this one, for the test of upgrades:\n")
    sys.stdout.flush()
    only = [part for image in IMAGES for part in ("--only", image)]
    build = [sys.executable, "-m", "tools.image.build", str(TREE / ".images"), "--tag", TAG, *only]
    if (code := subprocess.run(build, cwd=TREE, check=False).returncode) == 0:
        _BUILT.write_text(_CONTENT, encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
