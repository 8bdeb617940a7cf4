"""Every experiment of the paper runs from its file and gives the table of the paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.cli.world import World
from tests.support.gym import Gym
from tools.paper import __main__ as paper
from tools.paper import pages
from tools.paper.conditions import Condition, Rate, by_category, by_horizon, conditions

from opsgym.exits import Exit
from opsgym_domains import registry
from opsgym_domains.suite_rows import load_suite

PAPER = Path(__file__).parents[2] / "examples" / "paper"
TWO = ("strong", "weak")
MODES = ("oracle", "plus_5_tools", "plus_10_tools", "plus_15_tools", "all_tools")
EXPERIMENTS = {
    "main-table": {(model, "react", "oracle") for model in TWO},
    "tool-overload": set(product(TWO, ("react",), MODES)),
    "plan-conditioning": set(product(TWO, ("no-plan", "human-plan", "model-plan"), ("oracle",))),
    "multi-agent": set(product(TWO, ("react", "planner-react", "decomposing"), ("oracle",))),
    "thinking-budget": {(f"effort-{effort}", "react", "oracle") for effort in ("low", "medium", "high")},
}


def test_every_file_is_an_experiment_listed_in_the_readme() -> None:
    assert {file.stem for file in PAPER.glob("*.yaml")} == set(EXPERIMENTS)
    readme = (PAPER / "README.md").read_text()
    assert all(f"[{name}.yaml]({name}.yaml)" in readme for name in EXPERIMENTS)


@pytest.mark.timeout(600)  # the first of them starts the gym servers of all domains
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "main-table" else [pytest.mark.soak]) for name in EXPERIMENTS]
)
def test_an_experiment_gives_a_row_for_every_condition_and_a_column_for_every_domain(
    name: str, tmp_path: Path, gym_servers: Callable[[str], Gym]
) -> None:
    world = World(tmp_path, {domain: gym_servers(domain).url for domain in registry.domains()})
    domains = {task.domain_name for task in load_suite("opsgym-1150")}
    done = world.inline("run", str(PAPER / f"{name}.yaml"), "--format", "json")
    assert done.returncode == 0, done.stderr
    table = world.inline("leaderboard", name, "--format", "csv")
    assert table.returncode == 0, table.stderr
    rows = list(csv.DictReader(io.StringIO(table.stdout)))
    assert {(row["model"], row["agent"], row["mode"]) for row in rows} == EXPERIMENTS[name]
    for row in rows:
        rate = 0.0 if row["model"] == "weak" else 1.0
        columns = (*(f"success_{domain}" for domain in domains), "mean_over_domains")
        assert {float(row[column]) for column in columns} == {rate}
    cells = world.inline("results", name, "--by", "cell", "--format", "csv")
    _shows_every_rate_with_its_interval(name, conditions(table.stdout, cells.stdout), len(domains))


def _shows_every_rate_with_its_interval(name: str, shown: list[Condition], domains: int) -> None:
    experiment = next(one for one in pages.EXPERIMENTS if one.name == name)
    html = pages.page(experiment, shown)
    assert {(one.model, one.agent, one.mode) for one in shown} == EXPERIMENTS[name]
    assert html.count("<tr>") == 1 + len(shown)
    assert html.count("<small>") == (domains + 1) * len(shown)
    assert html.count("<circle") == (len(shown) if experiment.is_figure else 0)


def test_a_figure_places_rates_and_intervals_and_escapes_names() -> None:
    half = Condition("<a>", "react", "oracle", Rate(0.5, 0.25, 0.75), {"itsm": Rate(0.5, 0.25, 0.75)}, 8, None)
    full = replace(half, mode="all_tools", success=Rate(1.0, 0.75, 1.0), cost_usd=0.25)
    overload = next(one for one in pages.EXPERIMENTS if one.name == "tool-overload")
    svg = ET.fromstring(pages.figure_of(overload, [half, full]))
    first, second = (float(mark.attrib["cy"]) for mark in svg.iter("{http://www.w3.org/2000/svg}circle"))
    bottom, top = pages.HEIGHT - pages.BOTTOM, pages.TOP
    assert (first, second) == ((bottom + top) / 2, top)
    bars = [
        line.attrib for line in svg.iter("{http://www.w3.org/2000/svg}line") if line.attrib["x1"] == line.attrib["x2"]
    ]
    assert [float(bar["y1"]) - float(bar["y2"]) for bar in bars] == [(bottom - top) / 2, (bottom - top) / 4]
    assert "&lt;a&gt;" in pages.page(overload, [half, full])
    assert "<td>–</td>" in pages.page(overload, [half])


def test_the_index_links_every_page_with_its_trials() -> None:
    html = pages.index(dict.fromkeys(pages.EXPERIMENTS, 16))
    assert all(f'href="{name}.html"' in html and f'href="{name}.csv"' in html for name in EXPERIMENTS)
    assert html.count("16 trials with a score") == len(EXPERIMENTS)


def test_an_experiment_that_fails_ends_the_command_with_its_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paper, "FILES", tmp_path / "none")
    assert paper.main(["--out", str(tmp_path / "out")]) == Exit.BAD_INPUT
    assert not (tmp_path / "out" / "index.html").exists()


def test_success_by_horizon_is_drawn_for_each_model_from_the_records_of_the_main_table() -> None:
    part = {"success_rate": 0.5, "success_low": 0.2, "success_high": 0.8, "scored": 4}
    bins = {"<=4": part, "5-8": part, "unknown": part, ">=17": part | {"success_rate": None}}
    shown = by_horizon({"averages": [{"model": name, "agent": "react", "horizons": bins} for name in TWO]})
    assert [(one.model, one.mode) for one in shown] == [(name, label) for name in TWO for label in ("<=4", "5-8")]
    html = pages.page(pages.HORIZON, shown)
    assert "<h1>Figure 4: Success by horizon</h1>" in html
    assert (html.count("<circle"), html.count("<polyline")) == (4, 2)


def test_verifiers_by_category_are_summed_over_the_domains_of_each_model() -> None:
    lines = ["model,domain,category,passed,executed", "m,hr,refusal,1,2", "m,csm,refusal,2,2", "n,csm,integrity,0,1"]
    html = pages.verifiers_page(by_category("\n".join(lines)))
    assert "<h1>Table 7: Verifiers that passed, by category</h1>" in html
    assert "<td>m</td><td>75.0<small>3 of 4</small></td><td>–<small>0 of 0</small></td>" in html


def test_plans_have_their_gain_over_no_plan_of_the_same_model() -> None:
    plain = Condition("m", "no-plan", "oracle", Rate(0.25, 0.1, 0.5), {}, 8, None)
    human = replace(plain, agent="human-plan", success=Rate(0.6, 0.4, 0.8))
    plans = next(one for one in pages.EXPERIMENTS if one.name == "plan-conditioning")
    html = pages.page(plans, [plain, human])
    assert ">points<" in html
    assert "<td>+0.0</td>" in html
    assert "<td>+35.0</td>" in html
