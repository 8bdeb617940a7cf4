"""Programs of the system's packages: installed where that may be done, named where it may not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from devcluster import packages, sandbox
from devcluster.errors import ClusterError

APT_GET = """#!/bin/sh
echo "$@" >> {log}
cat {policy} >> {log}
[ "$1" != {failing} ]
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has no program but `etcd`, and where nothing says whether services may start."""
    programs = tmp_path / "bin"
    programs.mkdir()
    write_program(programs / "etcd", "#!/bin/sh\n")
    for tool in ("sh", "cat"):
        (programs / tool).symlink_to(shutil.which(tool) or tool)
    monkeypatch.setattr(packages, "FOLDERS", (str(programs),))
    monkeypatch.setattr(packages, "POLICY", tmp_path / "policy-rc.d")
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return tmp_path


def write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def give_apt_get(machine: Path, failing: str = "nothing") -> Path:
    log = machine / "log"
    text = APT_GET.format(log=log, policy=machine / "policy-rc.d", failing=failing)
    write_program(machine / "bin" / "apt-get", text)
    return log


def test_what_is_missing_is_installed_and_no_service_starts(machine: Path) -> None:
    log = give_apt_get(machine)
    packages.ensure()
    update, *_, install = [line for line in log.read_text().splitlines() if line.startswith(("update", "install"))]
    assert update == "update -qq"
    names = install.split()[4:]
    assert "containerd" in names
    assert "etcd-server" not in names  # it is there
    assert len(names) == len(set(names))
    assert log.read_text().count("exit 101") == 2
    assert not (machine / "policy-rc.d").exists()


def test_a_machine_s_own_word_on_services_stays(machine: Path) -> None:
    (machine / "policy-rc.d").write_text("#!/bin/sh\nexit 0\n")
    give_apt_get(machine)
    packages.ensure()
    assert (machine / "policy-rc.d").read_text() == "#!/bin/sh\nexit 0\n"


def test_a_failing_installation_says_which_step_failed(machine: Path) -> None:
    give_apt_get(machine, failing="install")
    with pytest.raises(ClusterError, match=r"apt-get install failed with exit code 1"):
        packages.ensure()
    assert not (machine / "policy-rc.d").exists()


@pytest.mark.parametrize("root", [True, False])
def test_where_nothing_may_be_installed_the_packages_are_named(
    machine: Path, monkeypatch: pytest.MonkeyPatch, root: bool
) -> None:
    if not root:
        give_apt_get(machine)
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ClusterError, match=r"packages: .*busybox-static .*containerd .*runc"):
        packages.ensure()


def test_a_cache_that_the_cluster_cannot_use_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "STATE", Path("/var/lib/someone/cluster"))
    with pytest.raises(ClusterError, match=r"below /var/lib; set OPSGYM_CACHE"):
        sandbox.create()
    monkeypatch.setattr(sandbox, "CONTAINERD", Path("/" + "long/" * 30))
    with pytest.raises(ClusterError, match="too long"):
        sandbox.create()
