"""The version before this one: its charts, and its images of operator and runner, built from the repository's history.

Invariant: nothing of this version is in them; a run of that version is what a user has who upgrades to this one.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from devcluster.places import ROOT

REVISION = "2f08c924cd0e1ea074d13dd9904de8604a6458f5"
"""The commit of the version before this one; a release moves it to the release before."""
TAG = "previous"
IMAGES = ("operator", "runner")
"""Those that read what the other version's operator writes; gym servers read nothing of it."""


@dataclass(frozen=True)
class Version:
    """A version's files and images."""

    tree: Path
    """Its checkout, without history."""

    @property
    def chart(self) -> Path:
        """The chart opsgym."""
        return self.tree / "helm" / "opsgym"

    @property
    def kinds(self) -> Path:
        """The chart opsgym-crds."""
        return self.tree / "helm" / "opsgym-crds"

    def archive(self, image: str) -> Path:
        """The archive of one of `IMAGES`, whose name is `localhost/opsgym-IMAGE:TAG`."""
        return self.tree / ".images" / f"{image}.tar"


def built(folder: Path) -> Version:
    """The version before this one, with its images.

    Args:
        folder: An empty folder.

    Raises:
        RuntimeError: The history does not have it, as in a shallow clone, or an image cannot be built.
    """
    archive = ["git", "-C", str(ROOT), "archive", REVISION]
    history = subprocess.run(archive, check=False, capture_output=True)
    if history.returncode != 0:
        raise RuntimeError(f"commit {REVISION} is not in this clone's history; get it with: git fetch --unshallow")
    subprocess.run(["tar", "--extract", "--directory", str(folder)], input=history.stdout, check=True)
    version = Version(folder)
    only = [part for image in IMAGES for part in ("--only", image)]
    build = [sys.executable, "-m", "tools.image.build", str(folder / ".images"), "--tag", TAG, *only]
    done = subprocess.run(build, cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the images of {REVISION} cannot be built:\n{done.stdout}{done.stderr}")
    return version
