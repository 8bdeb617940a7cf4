"""Servers and clients where a pod has no IPv4 address but loopback: a network namespace of the kernel's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
from tests.helm.charts import ROOT
from tests.platforms.ipv6_pod import ADDRESS

SET_UP = f"ip link set lo up && ip -6 addr add {ADDRESS}/128 dev lo nodad"


def _may_unshare() -> bool:
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return False
    done = subprocess.run(["unshare", "--net", "sh", "-c", SET_UP], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.skipif(not _may_unshare(), reason="needs root, unshare, ip and a kernel with IPv6")
def test_a_pod_with_an_ipv6_address_only_serves_and_reaches_everything() -> None:
    command = f"{SET_UP} && exec {sys.executable} -m tests.platforms.ipv6_pod"
    environment = {name: value for name, value in os.environ.items() if "PROXY" not in name.upper()}
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "operator": "ok",
        "console": [ADDRESS, "127.0.0.1"],
        "store": "stored",
        "model": "reached",
    }
