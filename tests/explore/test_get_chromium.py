"""`make test` finds a Chromium, brings one, or says what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.explore.visitor import ROOT

APT_GET = """#!/bin/sh
echo "$@" >> {log}
[ "$1" = install ] && printf '#!/bin/sh\\n' > {chromium} && {chmod} +x {chromium}
exit {code}
"""


def bring(link: Path, path: Path) -> subprocess.CompletedProcess[str]:
    """Runs the script where only the programs of a folder are installed."""
    command: list[str | Path] = [sys.executable, ROOT / "tools" / "get_chromium.py", link]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": str(path)})


def install(folder: Path, name: str, text: str = "#!/bin/sh\n") -> Path:
    """Puts a program into a folder."""
    program = folder / name
    program.write_text(text)
    program.chmod(0o755)
    return program


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("name", ["chromium", "google-chrome"])
def test_an_installed_chromium_is_used(tmp_path: Path, programs: Path, name: str) -> None:
    installed = install(programs, name)
    link = tmp_path / "tools" / "chromium"
    for _ in range(2):
        assert bring(link, programs).returncode == 0
        assert link.resolve() == installed


def test_no_chromium_and_no_way_to_get_one_is_reported(tmp_path: Path, programs: Path) -> None:
    done = bring(tmp_path / "chromium", programs)
    assert done.returncode == 1
    assert "apt-get install chromium" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "chromium").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may install packages")
@pytest.mark.parametrize("code", [0, 100])
def test_debians_package_is_installed_without_a_chromium(tmp_path: Path, programs: Path, code: int) -> None:
    log, chromium = tmp_path / "log", programs / "chromium"
    install(programs, "apt-get", APT_GET.format(log=log, chromium=chromium, chmod="/bin/chmod", code=code))
    done = bring(tmp_path / "link", programs)
    if code:
        assert done.returncode == 1
        assert "apt-get update failed with exit code 100" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "link").resolve() == chromium
        update, packages = log.read_text().splitlines()
        assert update.startswith("update")
        assert "chromium-headless-shell" in packages.split()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may install packages")
@pytest.mark.parametrize(("code", "used"), [(0, "chromium-headless-shell"), (100, "chromium")])
def test_the_headless_shell_is_preferred_to_an_installed_chromium(
    tmp_path: Path, programs: Path, code: int, used: str
) -> None:
    install(programs, "chromium")
    shell = programs / used
    install(programs, "apt-get", APT_GET.format(log=tmp_path / "log", chromium=shell, chmod="/bin/chmod", code=code))
    assert bring(tmp_path / "link", programs).returncode == 0
    assert (tmp_path / "link").resolve() == programs / used
