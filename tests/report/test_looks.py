"""How a page about a run looks to everybody: hostile texts, screen readers, phones, dark rooms."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from tests.report.pages import PROMPTS, detail_of, page_of
from tests.report.reader import PATIENCE_MS, Reader, place_of, reading, written
from tests.support.sight import faults_seen

from opsgym_console.report.model import PageData, TaskView

pytestmark = pytest.mark.xdist_group("report page")

TAKES = "document.title = 'taken'"
HOSTILE = f'</script></pre><script>{TAKES}</script><img src=x onerror="{TAKES}">{{a|b}}\ud800'
SHOWN = HOSTILE.replace("\ud800", "?")
KEPT = {"details", "verdict"}
"""Fields that only take words of ours."""


def spoilt(value: Any, field: str = "") -> Any:
    """The same with something hostile in every text and in every name that a run gives."""
    if isinstance(value, dict):
        named = field in {"fail_reasons", "not_scored", "horizons", "tags", "categories"}
        return {name + HOSTILE if named else name: spoilt(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [spoilt(item, field) for item in value]
    return value + HOSTILE if isinstance(value, str) and field not in KEPT else value


def test_hostile_text_is_read_and_not_run(browser: Browser, tmp_path: Path) -> None:
    clean = page_of(texts=PROMPTS)
    page = PageData.model_validate(spoilt(clean.model_dump()))
    story = detail_of(clean, clean.trials.outcome.index(1), HOSTILE)
    with reading(browser, written(tmp_path, page, {0: story})) as reader:
        reader.see_everything()
        for chart in reader.page.locator(".chart").all():
            chart.hover()  # tooltips
        reader.unfold()
        shown = reader.page.locator("#overview").inner_text()
        assert shown.count(SHOWN) > 100
        reader.open("#/trials")
        reader.page.locator("#rows td.task a").first.click()
        trial = reader.trial()
        reader.unfold()
        assert trial.inner_text().count(SHOWN) > 20
        assert reader.page.title().endswith("opsgym")
        assert reader.page.locator("img, script[src], body :is(iframe, object, embed)").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_shut_out(browser: Browser, tmp_path: Path, scheme: Any) -> None:
    run = page_of(models=2, modes=2, tasks=3, texts=PROMPTS)  # small: the checker takes its time
    row = run.trials.outcome.index(1)
    with reading(browser, written(tmp_path, run, {row: detail_of(run, row)}), color_scheme=scheme) as reader:
        reader.see_everything()
        reader.unfold()
        assert reader.faults() == []
        reader.page.keyboard.press("?")
        assert reader.faults("#keys") == []
        reader.page.keyboard.press("Escape")
        reader.open(place_of(run, row))
        reader.trial()
        reader.unfold()
        assert reader.faults() == []


def test_a_phone_shows_it_without_scrolling_sideways(browser: Browser, address: str, run: PageData) -> None:
    with reading(browser, address, viewport={"width": 390, "height": 800}, has_touch=True) as reader:
        reader.see_everything()
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390
        reader.open(place_of(run, run.trials.outcome.index(1)))
        reader.trial()
        reader.unfold()
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_it_follows_the_readers_light_or_dark_until_they_choose(browser: Browser, address: str) -> None:
    with reading(browser, address) as reader:
        body, black, white = reader.page.locator("body"), "rgb(13, 17, 23)", "rgb(255, 255, 255)"
        expect(body).to_have_css("background-color", white)
        reader.page.emulate_media(color_scheme="dark")  # then every chart is drawn anew
        expect(body).to_have_css("background-color", black, timeout=PATIENCE_MS)
        reader.page.emulate_media(color_scheme="light")
        expect(body).to_have_css("background-color", white, timeout=PATIENCE_MS)
        chart = reader.page.locator("[data-chart=horizon]")
        chart.scroll_into_view_if_needed()
        chart.and_(reader.page.locator("[data-drawn]")).wait_for()
        before = chart.inner_html()
        reader.page.get_by_role("button", name="Dark").click()
        expect(body).to_have_css("background-color", black, timeout=PATIENCE_MS)
        assert chart.inner_html() != before
        reader.open(anew=True)
        expect(body).to_have_css("background-color", black)
        expect(reader.page.get_by_role("button", name="Light")).to_be_visible()


def test_sections_without_data_are_left_out(browser: Browser, tmp_path: Path) -> None:
    page = page_of(models=1, modes=1, tasks=3, details="none", gate=None, budget_usd=None)
    untagged = replace(page.total, tags={})
    left_out = {"baseline": None, "failure_modes": None, "variants": None}
    bare = page.model_copy(update={**left_out, "total": untagged, "agents": page.agents[:1]})
    with reading(browser, written(tmp_path, bare)) as reader:
        assert reader.page.locator("#overview > section > h2:visible").all_inner_texts() == [
            "Scores",
            "Tasks by model",
            "Success by domain and model",
            "Success by horizon",
            "Verifiers by category",
            "Trials",
        ]
        assert reader.page.locator("#sections a").all_inner_texts() == [
            "Summary", "Scores", "Tasks", "Domains", "Horizon", "Verifiers", "Trials",
        ]  # fmt: skip
        assert_no_detail(reader, bare)


def test_a_spreadsheet_takes_no_text_of_a_run_for_a_formula(browser: Browser, tmp_path: Path) -> None:
    page = page_of(models=1, modes=1, tasks=2, details="none")
    tasks = [TaskView(id='=HYPERLINK("http://x", "y")'), TaskView(id="plain, with a comma")]
    with reading(browser, written(tmp_path, page.model_copy(update={"tasks": tasks}))) as reader:
        with reader.page.expect_download() as download:
            reader.page.get_by_role("button", name="Download as CSV").click()
        lines = list(csv.DictReader(download.value.path().read_text().splitlines()))
        assert {line["task_id"] for line in lines} == {"'" + tasks[0].id, tasks[1].id}


def assert_no_detail(reader: Reader, page: PageData) -> None:
    """A page without details says how to get them."""
    reader.open(place_of(page, 0))
    expect(reader.trial().locator(".warning")).to_contain_text(
        f"opsgym report {page.run.id} --transcripts beside --out DIR"
    )


def test_a_run_of_which_nothing_has_ended_is_shown(browser: Browser, tmp_path: Path) -> None:
    page = page_of(models=1, modes=1, tasks=0, details="none")
    with reading(browser, written(tmp_path, page)) as reader:
        expect(reader.page.get_by_text("No trial has ended yet.")).to_be_visible()
        expect(reader.page.locator(".cards .value").first).to_have_text("–")


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_no_word_is_broken_no_text_lies_over_another_and_nothing_is_past_the_edge(
    browser: Browser, address: str, run: PageData, width: int
) -> None:
    with reading(browser, address, viewport={"width": width, "height": 900}) as reader:
        reader.see_everything()
        assert faults_seen(reader.page) == []
        if width > 1000:  # a phone scrolls tables
            wider = "all => all.filter(one => one.scrollWidth > one.clientWidth + 4).map(one => one.ariaLabel)"
            assert reader.page.locator("#overview .wide").evaluate_all(wider) == []
        reader.open(place_of(run, run.trials.outcome.index(1)))
        reader.trial()
        reader.unfold()
        assert faults_seen(reader.page) == []


def test_a_table_says_once_what_all_its_rows_share(browser: Browser, tmp_path: Path) -> None:
    with reading(browser, written(tmp_path, page_of(models=2, modes=1, tasks=3))) as reader:
        scores = reader.page.locator("#at-scores")
        expect(scores.get_by_text(re.compile("^In all rows: agent react, mode oracle")).first).to_be_visible()
        heads = scores.get_by_role("region", name="Scores by cell").locator("thead th").all_inner_texts()
        assert heads[:3] == ["model", "domain", "success (95% interval)"]


def test_a_printed_page_has_its_charts_and_no_table_is_cut_off(browser: Browser, tmp_path: Path) -> None:
    with reading(browser, written(tmp_path, page_of())) as reader:
        reader.page.wait_for_function("window.echarts")
        charts = reader.page.locator("#overview .chart")
        assert charts.and_(reader.page.locator("[data-drawn]")).count() < charts.count(), "others are out of sight"
        reader.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        reader.page.emulate_media(media="print")
        reader.page.set_viewport_size({"width": 1031, "height": 700})  # A4, landscape, within margins
        assert faults_seen(reader.page) == []
        assert charts.and_(reader.page.locator("[data-drawn]")).count() == charts.count()
        for chart in charts.all():
            assert chart.locator("svg path").count() > 1
        shown = reader.page.locator("#overview table:visible, #overview svg:visible")
        past_the_edge = "all => all.filter(one => one.getBoundingClientRect().right > innerWidth + 1)"
        assert shown.evaluate_all(f"{past_the_edge}.map(one => one.outerHTML.slice(0, 80))") == []
        assert reader.page.evaluate("document.documentElement.scrollWidth <= innerWidth + 2"), "charts round up"
