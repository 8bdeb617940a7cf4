"""Containers as a restricted cluster runs them: a read-only root file system, a user without capabilities.

Invariant: a container ends with the block that started it, and leaves no mount behind.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.images.built import BuiltImage

RUNC = "runc"


@dataclass(frozen=True)
class Unpacked:
    """An image's files in a folder."""

    image: BuiltImage
    root: Path

    def python(self, code: str) -> subprocess.CompletedProcess[str]:
        """Runs Python code to its end."""
        return self.run("-c", code, entry=("python",))

    def run(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        with self.started(*arguments, **options) as container:
            out, err = container.process.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, container.process.returncode, out, err)

    @contextmanager
    def started(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        volumes: Mapping[str, Path] | None = None,
        entry: Sequence[str] = (),
        user: str = "",
    ) -> Iterator[Container]:
        """A running container; ended at the end of the block.

        Args:
            arguments: What the image's entry point is given.
            env: Environment beside the image's own.
            volumes: Folders by their place in the container.
            entry: Entry point instead of the image's own.
            user: User and group (`UID:GID`) instead of the image's own.
        """
        with tempfile.TemporaryDirectory() as bundle:
            config = self.image.config["config"] | ({"User": user} if user else {})
            given = [f"{name}={value}" for name, value in (env or {}).items()]
            spec = _spec(config, self.root, [*(entry or config["Entrypoint"]), *arguments], given, volumes or {})
            Path(bundle, "config.json").write_text(json.dumps(spec), encoding="utf-8")
            name = f"opsgym-test-{uuid.uuid4().hex[:8]}"
            command = [RUNC, "--root", f"{bundle}/state", "run", "--bundle", bundle, name]
            with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                try:
                    yield Container(process, name, [RUNC, "--root", f"{bundle}/state"])
                finally:
                    subprocess.run([RUNC, "--root", f"{bundle}/state", "delete", "--force", name], check=False)


@dataclass(frozen=True)
class Container:
    """A running container."""

    process: subprocess.Popen[str]
    name: str
    runc: Sequence[str] = field(repr=False)

    def execute(self, *command: str) -> int:
        """Runs a command in it, as a probe does; its exit code."""
        done = subprocess.run([*self.runc, "exec", self.name, *command], check=False, capture_output=True, timeout=60)
        return done.returncode

    def stop(self, signal: str) -> None:
        """Sends a signal to its first process."""
        subprocess.run([*self.runc, "kill", self.name, signal], check=True)


def _spec(
    config: Mapping[str, Any], root: Path, arguments: Sequence[str], env: Sequence[str], volumes: Mapping[str, Path]
) -> dict[str, Any]:
    """The OCI runtime's description of a container; the network is the machine's own."""
    user, group = map(int, config["User"].split(":"))
    memory = {"type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=1777"]}
    bound = [
        {"destination": place, "type": "bind", "source": str(folder), "options": ["rbind", "rw"]}
        for place, folder in volumes.items()
    ]
    return {
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": user, "gid": group},
            "args": arguments,
            "env": [*config["Env"], *env],
            "cwd": config["WorkingDir"],
            "capabilities": {"bounding": [], "effective": [], "permitted": []},
            "noNewPrivileges": True,
        },
        "root": {"path": str(root), "readonly": True},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
            {"destination": "/tmp", **memory},
            *bound,
        ],
        "linux": {"namespaces": [{"type": name} for name in ("pid", "ipc", "uts", "mount")]},
    }
