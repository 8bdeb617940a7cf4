"""A page as a program: its blocks are files and commands, and what it shows of a command's output is compared.

Invariant: a block of a language with a `title` is a file; in a block of `console` each line that begins with `$` is a
command, and the lines below it stand in its output in this order. `…` stands for any text, and on a line of its own for
any lines. A command ends with exit code 0, or with the one that its comment names.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
DEADLINE_S = 600
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXIT_CODE = re.compile(r"# exit code (\d+)")


@dataclass(frozen=True)
class File:
    """A file that the reader writes."""

    path: str
    content: str


@dataclass(frozen=True)
class Command:
    """A command that the reader enters."""

    line: str
    shown: tuple[str, ...]
    """Lines that the page shows of its output."""

    @property
    def exit_code(self) -> int:
        """The exit code that the page names."""
        named = EXIT_CODE.search(self.line)
        return int(named[1]) if named else 0

    def missing(self, output: str) -> str | None:
        """The first line shown that the output does not have after the line before; None if it has all."""
        lines = iter(_words(output.splitlines()))
        for expected in _words(self.shown):
            pattern = re.compile(".*".join(re.escape(part.strip()) for part in expected.split("…")))
            if expected != "…" and not any(pattern.fullmatch(line) for line in lines):
                return expected
        return None


def follow(page: Path, folder: Path, environment: Mapping[str, str]) -> None:
    """Does what a page says, in a folder; fails at the first command that ends or prints otherwise."""
    for step in steps(page):
        if isinstance(step, File):
            (folder / step.path).parent.mkdir(parents=True, exist_ok=True)
            (folder / step.path).write_text(step.content)
        else:
            _enter(step, folder, environment)


def _enter(command: Command, folder: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-c", command.line],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    entered = f"$ {command.line}\n{done.stdout}"
    assert done.returncode == command.exit_code, entered
    assert command.missing(done.stdout) is None, f"{entered}\nmisses: {command.missing(done.stdout)}"


def steps(page: Path) -> list[File | Command]:
    """What a reader of a page does, in order."""
    return [step for block in BLOCK.findall(page.read_text(encoding="utf-8")) for step in _steps_of(*block)]


def _steps_of(language: str, title: str, text: str) -> Iterator[File | Command]:
    if title:
        yield File(title, text)
    elif language == "console":
        for entry in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, *shown = entry.splitlines()
            yield Command(line, tuple(shown))


def _words(lines: tuple[str, ...] | list[str]) -> list[str]:
    """The lines with one blank between words, as columns have as many as their widest cell needs."""
    return [" ".join(line.split()) for line in lines]
