"""Every panel shows data of a real run in a real Prometheus, and Grafana's own types know every field."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.cog.runtime import UnknownDataquery, panelcfg_config
from grafana_foundation_sdk.models.dashboard import Dashboard, RowPanel
from tests.helm.charts import ROOT
from tests.monitoring.boards import FILES, Board, Panel, View, load, numbers, panels
from tests.monitoring.watched import RULES, Watched, watched
from tests.support.prometheus import Prometheus

BOARDS = {path.stem: load(path) for path in FILES}
PANELS = [(name, panel) for name, board in BOARDS.items() for panel in panels(board)]
VARIABLES = [
    (name, variable)
    for name, board in BOARDS.items()
    for variable in board["templating"]["list"]
    if variable["type"] == "query"
]

pytestmark = pytest.mark.xdist_group("dashboards")
"""One process looks at one run; the run takes longer than all the looking."""

every_board = pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS.keys())


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A real run and an operator, with the Prometheus that scraped them."""
    with watched(tmp_path_factory.mktemp("watched")) as scraped:
        yield scraped


@every_board
def test_every_query_of_a_board_returns_finite_numbers(board: Board, seen: Watched) -> None:
    assert all(panel["targets"] for panel in panels(board))
    faulty = {
        f"{panel['title']}: {target['expr']}": values
        for panel in panels(board)
        for target in panel["targets"]
        if not (values := _values(seen, target)) or not all(math.isfinite(value) for value in values)
    }
    assert faulty == {}


def _values(seen: Watched, target: dict[str, Any]) -> list[float]:
    return [value for series in seen.operator.answers(seen.prometheus, target) for value in numbers(series)]


def test_every_variable_has_values(seen: Watched) -> None:
    empty = [
        f"{name}: {variable['name']}"
        for name, variable in VARIABLES
        if not seen.operator.values_of(seen.prometheus, variable)
    ]
    assert empty == []


def test_variables_lead_from_a_namespace_to_its_runs(seen: Watched) -> None:
    (runs,) = (variable for name, variable in VARIABLES if (name, variable["name"]) == ("run", "run"))
    assert seen.operator.values_of(seen.prometheus, runs) == {"nightly", "waiting"}
    assert seen.local.values_of(seen.prometheus, runs) == {"demo"}


def _panel(name: str, title: str) -> Panel:
    (panel,) = (panel for board, panel in PANELS if (board, panel["title"]) == (name, title))
    return panel


def _value(seen: Watched, view: View, name: str, title: str) -> float:
    (target,) = _panel(name, title)["targets"]
    (series,) = view.answers(seen.prometheus, target)
    (value,) = numbers(series)
    return value


def _count(seen: Watched, *outcomes: str, model: str = "") -> int:
    return sum(attempt.outcome in outcomes and model in {"", attempt.cell.model} for attempt in seen.attempts)


def test_cells_of_a_run_show_what_its_records_hold(seen: Watched) -> None:
    success, scored, pending, every = _panel("run", "Success by cell")["targets"]
    rates = {
        series["metric"]["model"]: numbers(series)[0] for series in seen.operator.answers(seen.prometheus, success)
    }
    for model in ("held", "shaky"):
        passed, failed = (_count(seen, outcome, model=model) for outcome in ("passed", "failed"))
        assert passed
        assert failed
        assert rates[model] == pytest.approx(passed / (passed + failed))
    assert "gone" not in rates
    sums = [
        sum(numbers(series)[0] for series in seen.operator.answers(seen.prometheus, target))
        for target in (scored, pending, every)
    ]
    assert sums == [_count(seen, "passed", "failed"), 0, len(seen.attempts)]


def test_the_overview_shows_what_the_records_hold(seen: Watched) -> None:
    # Local and operator's counters tell of the same trials, but for the last one of the local run.
    lost = _value(seen, seen.operator, "fleet", "Infra errors")
    assert lost == pytest.approx(_count(seen, "infra_error") / len(seen.attempts), abs=0.05)
    success = _value(seen, seen.operator, "fleet", "Success")
    assert success == pytest.approx(_count(seen, "passed") / _count(seen, "passed", "failed"), abs=0.05)


def test_the_overview_counts_a_stalled_run_and_a_failed_gate(seen: Watched) -> None:
    assert _value(seen, seen.operator, "fleet", "Needs a look") == 2 + _down(seen)


def _down(seen: Watched) -> int:
    """Operators that Prometheus cannot scrape: the endpoint of the finished local run belongs to none."""
    return len(seen.prometheus.query('up{job=~".*opsgym.*operator"} == 0', seen.operator.end))


def test_a_run_on_this_machine_is_shown_live(seen: Watched) -> None:
    assert _value(seen, seen.local, "run", "State") == 0
    assert _value(seen, seen.local, "run", "Progress") == pytest.approx((_count(seen, "passed", "failed") - 1) / 18)
    assert _value(seen, seen.local, "run", "Not scored") == _count(seen, "infra_error")
    assert _value(seen, seen.operator, "run", "State") == 1
    assert _value(seen, seen.operator, "run", "Gate") == 3


RECORDS = [
    rule["record"]
    for path in RULES
    for group in yaml.safe_load(path.read_text())["groups"]
    for rule in group["rules"]
    if "record" in rule
]


def _has_numbers(record: str, server: Prometheus) -> bool:
    return bool(server.query(record))


def test_every_recording_rule_yields_finite_numbers_for_a_real_run(seen: Watched) -> None:
    for record in RECORDS:
        seen.prometheus.until(partial(_has_numbers, record), record)
    infinite = [
        record
        for record in RECORDS
        if not all(math.isfinite(numbers(series)[0]) for series in seen.prometheus.query(record))
    ]
    assert infinite == []


def test_prometheus_raises_the_alerts_that_a_real_run_is_due(seen: Watched) -> None:
    def states(alert: str) -> dict[str, str]:
        alerts = seen.prometheus.query(f'ALERTS{{alertname="{alert}"}}')
        return {series["metric"]["run"]: series["metric"]["alertstate"] for series in alerts}

    seen.prometheus.until(lambda _: states("OpsgymGateFailed") == {"nightly": "firing"}, "the gate's alert")
    assert states("OpsgymSuccessDropped") == {"nightly": "firing"}
    assert states("OpsgymRunStalled") == {"waiting": "pending"}
    assert states("OpsgymBudgetNear") == {}


@every_board
def test_grafana_sdk_types_accept_every_field(board: Board) -> None:
    register_default_plugins()
    read = Dashboard.from_json(json.loads(json.dumps(board)))
    assert json.loads(json.dumps(read, cls=JSONEncoder)) == board
    for panel in read.panels or ():
        if not isinstance(panel, RowPanel):
            assert panelcfg_config(panel.type_val) is not None, panel.type_val
            assert not [target for target in panel.targets or () if isinstance(target, UnknownDataquery)]


@every_board
def test_dashboards_keep_their_uid_and_link_to_each_other(board: Board) -> None:
    assert board["uid"].startswith("opsgym-")
    assert board["tags"] == ["opsgym"]
    assert [link["tags"] for link in board["links"]] == [["opsgym"]]
    assert "id" not in board


@every_board
def test_every_panel_has_a_description_a_unit_and_the_selected_datasource(board: Board) -> None:
    faulty = [
        panel["title"]
        for panel in panels(board)
        if not panel["description"].endswith(".")
        or panel["datasource"] != {"type": "prometheus", "uid": "${datasource}"}
        or not any(_units(panel))
    ]
    assert faulty == []


def _units(panel: Panel) -> list[str | None]:
    units = [panel["fieldConfig"]["defaults"].get("unit")]
    units += [
        option["value"]
        for override in panel["fieldConfig"]["overrides"]
        for option in override["properties"]
        if option["id"] == "unit"
    ]
    return units


@every_board
def test_panels_fill_the_grid_without_overlap(board: Board) -> None:
    taken: dict[tuple[int, int], str] = {}
    for panel in board["panels"]:
        place = panel["gridPos"]
        for x in range(place.get("x", 0), place.get("x", 0) + place["w"]):
            for y in range(place.get("y", 0), place.get("y", 0) + place["h"]):
                assert (x, y) not in taken, (panel["title"], taken[x, y])
                taken[x, y] = panel["title"]
    height = 1 + max(y for _, y in taken)
    assert len(taken) == 24 * height


def _generate(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.dashboards", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)


def test_committed_dashboards_are_current() -> None:
    done = _generate(ROOT, "--check")
    assert done.returncode == 0, done.stderr


def test_an_edited_dashboard_is_named_and_regenerated(tmp_path: Path) -> None:
    folder = Path("helm/opsgym/monitoring/dashboards")
    shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copytree(ROOT / "tools" / "dashboards", tmp_path / "tools" / "dashboards")
    shutil.copy(ROOT / "tools" / "generated.py", tmp_path / "tools")
    edited = tmp_path / folder / "run.json"
    edited.write_text(edited.read_text().replace("One run", "A run"))
    (tmp_path / folder / "gone.json").write_text("{}\n")
    done = _generate(tmp_path, "--check")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"{folder}/run.json is not current; run `make generate`",
        f"{folder}/gone.json is not current; run `make generate`",
    ]
    assert _generate(tmp_path).returncode == 0
    assert edited.read_text() == (ROOT / folder / "run.json").read_text()
    assert not (tmp_path / folder / "gone.json").exists()
