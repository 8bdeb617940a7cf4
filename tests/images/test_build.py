"""What the image build makes of builders that fail."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from tests.images.built import ROOT

PASSING = "Error: sealing memfd copy: Device or resource busy"


def builder(folder: Path, failures: int, message: str) -> tuple[Any, Path]:
    """A builder that fails so often with a message, and the file where it counts its calls."""
    program, calls = folder / "builder", folder / "calls"
    program.write_text(
        f'#!/bin/sh\necho "$@" >>{calls}\n[ "$(wc -l <{calls})" -gt {failures} ] || {{ echo "{message}"; exit 125; }}\n'
    )
    program.chmod(0o755)
    calls.touch()
    return runpy.run_path(str(ROOT / "tools" / "image" / "build.py"))["Builder"](str(program)), calls


def test_a_builder_that_could_not_start_itself_is_started_again(tmp_path: Path) -> None:
    busy, calls = builder(tmp_path, 2, PASSING)
    busy.build(tmp_path, "localhost/x:1")
    assert len(calls.read_text().splitlines()) == 3


@pytest.mark.parametrize(("failures", "message", "tries"), [(9, PASSING, 3), (1, "no space left on device", 1)])
def test_a_build_that_fails_says_why(tmp_path: Path, failures: int, message: str, tries: int) -> None:
    broken, calls = builder(tmp_path, failures, message)
    with pytest.raises(Exception, match=rf"(?s){message}.*failed \(exit code 125\)"):
        broken.build(tmp_path, "localhost/x:1")
    assert len(calls.read_text().splitlines()) == tries
