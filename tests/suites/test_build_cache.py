"""A domain's suites are built again exactly if something that they are made of has changed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from opsgym_suites.__main__ import NAMES, ROOT, main
from opsgym_suites.kit.build_cache import BuildCache
from opsgym_suites.kit.data_files import write
from opsgym_suites.kit.suite import HYBRID

SUITES, PACKAGES = "suites/opsgym_suites", "domain_images/opsgym_domains"
TASK = "suites/tasks/hr/works/a-task.yaml"
ROWS = f"{PACKAGES}/hr/data/hr-core.jsonl.zst"


@pytest.fixture
def cache(tmp_path: Path) -> BuildCache:
    """A checkout with two domains of which one is built."""
    for file in (
        f"{SUITES}/kit/suite.py", f"{SUITES}/hr/core.py", TASK, f"{SUITES}/itsm/core.py",
        f"{PACKAGES}/kit/tools.py", f"{PACKAGES}/hr/policy.md", f"{PACKAGES}/itsm/policy.md", f"{PACKAGES}/includes.py",
        "crds/opsgym_api/tasks/task.py", "core/opsgym_core/planning/held_out.py", "suites/editions/2027-03.txt",
        "uv.lock", ROWS, f"{PACKAGES}/itsm/data/itsm-core.jsonl.zst",
    ):  # fmt: skip
        write(tmp_path / file, "before\n")
    made = BuildCache(tmp_path, ("hr", "itsm"))
    made.save("hr", made.sources("hr"), [tmp_path / ROWS], [("hr-1", "words", None)])
    return made


def test_an_unchanged_domain_is_not_built_again(cache: BuildCache) -> None:
    entry = cache.fresh("hr", cache.sources("hr"))
    assert entry is not None
    assert entry.facts == [["hr-1", "words", None]]
    assert cache.fresh("itsm", cache.sources("itsm")) is None


@pytest.mark.parametrize(
    "file",
    [
        f"{SUITES}/kit/suite.py", f"{SUITES}/hr/core.py", TASK, f"{SUITES}/hr/new.py",
        f"{PACKAGES}/kit/tools.py", f"{PACKAGES}/hr/policy.md", f"{PACKAGES}/includes.py", "uv.lock", ROWS,
        f"{PACKAGES}/hr/data/editions/hr-core@2026-12.txt", "crds/opsgym_api/tasks/task.py",
        "core/opsgym_core/planning/held_out.py", "suites/editions/2027-03.txt",
    ],
)  # fmt: skip
def test_a_changed_or_new_source_or_a_changed_file_is_built_again(cache: BuildCache, file: str) -> None:
    write(cache.root / file, "after\n")
    assert cache.fresh("hr", cache.sources("hr")) is None


@pytest.mark.parametrize(
    "file",
    [
        f"{SUITES}/itsm/core.py",
        f"{PACKAGES}/itsm/policy.md",
        f"{PACKAGES}/itsm/data/itsm-core.jsonl.zst",
        f"{SUITES}/hr/__pycache__/core.pyc",
    ],
)
def test_what_another_domain_is_made_of_does_not_matter(cache: BuildCache, file: str) -> None:
    write(cache.root / file, "after\n")
    assert cache.fresh("hr", cache.sources("hr")) is not None
    if SUITES in file and "itsm" in file:
        assert cache.sources("hr", ["itsm"]) != cache.sources("hr")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.unlink(),
        lambda file: file.write_text("{"),
        lambda file: file.write_text(json.dumps({"sources": "of an older release"})),
    ],
)
def test_a_missing_or_unreadable_entry_means_that_a_domain_is_built(
    cache: BuildCache, spoil: Callable[[Path], object]
) -> None:
    spoil(cache.root / ".tools" / "suites" / "hr.json")
    assert cache.fresh("hr", cache.sources("hr")) is None


def test_a_removed_source_is_a_change(cache: BuildCache) -> None:
    (cache.root / TASK).unlink()
    assert cache.fresh("hr", cache.sources("hr")) is None


@pytest.mark.parametrize("name", ["hr", HYBRID])
def test_every_module_that_building_a_domain_loads_is_a_source(name: str) -> None:
    program = (
        "import sys\n"
        "from opsgym_suites.__main__ import authored\n"
        f"assert sum(len(each.suites) for each in authored({name!r})) == 1\n"
        "sys.stdout.write('\\n'.join(str(module.__file__) for module in list(sys.modules.values()) "
        "if getattr(module, '__file__', None)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {path for line in done.stdout.splitlines() if (path := Path(line)).is_relative_to(ROOT)}
    own = {path for path in loaded if ".venv" not in path.parts}
    assert len(own) > 50
    cache = BuildCache(ROOT, NAMES)
    others = set() if name == HYBRID else {other for other in NAMES if other != name}
    assert own - set(cache.files(others)) == set()


def test_an_unknown_domain_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["payroll"])
    assert "unknown domain 'payroll'; domains with suites: calendar, csm," in capsys.readouterr().err
