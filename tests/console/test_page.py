"""The console in a browser: the list of runs, the sign-in, and a run that goes on while its page is open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect
from pydantic import SecretStr
from tests.cli.runs import put_attempt
from tests.console.harness import Running, at, client, serving, showing, visiting
from tests.console.sample_runs import fill
from tests.support.sight import faults_seen

from opsgym_api.records.attempt import Cell
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_console.server.access import Access
from opsgym_console.server.sources import StoreSource
from opsgym_core.store.local import LocalStore

TOKEN = "correct-horse-battery-staple"
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def url(store: LocalStore) -> Iterator[str]:
    """A console of a store with several runs."""
    fill(store)
    with showing(store.root) as url:
        yield url


def counted(page: Page) -> None:
    """Waits until every run has its numbers."""
    expect(page.get_by_text("Loading …")).to_have_count(0, timeout=30_000)
    page.locator("main[aria-busy=false]").wait_for()


def serious(page: Page) -> list[tuple[str, str]]:
    """What axe finds that keeps people out."""
    violations: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [
        (fault["id"], node["html"])
        for fault in violations
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_list_is_for_everybody(browser: Browser, url: str, look: str) -> None:
    with visiting(browser, url, color_scheme=look) as visitor:
        visitor.page.goto(url)
        counted(visitor.page)
        assert serious(visitor.page) == []


def test_the_list_on_a_phone_scrolls_one_way(browser: Browser, url: str) -> None:
    with visiting(browser, url, viewport=PHONE) as visitor:
        page = visitor.page
        page.goto(url)
        counted(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert serious(page) == []
        page.get_by_role("link", name="release-check", exact=True).first.click()
        page.wait_for_url("**/runs/release-check.*/")


def test_search_and_choice_narrow_the_list_and_are_in_the_address(browser: Browser, url: str) -> None:
    with visiting(browser, url) as visitor:
        page = visitor.page
        page.goto(url)
        counted(page)
        rows = page.locator("tbody tr")
        whole = rows.count()
        assert whole > 4
        page.keyboard.press("/")
        page.keyboard.type("nightly NO-GO")
        expect(rows).to_have_count(1)
        expect(page.locator("#counted")).to_have_text(f"1 of {whole} runs")
        assert page.url.endswith("?q=nightly+NO-GO")
        page.reload()
        expect(rows).to_have_count(1)
        page.get_by_label("Search").fill("nothing like it")
        expect(page.get_by_text("No run matches the search.")).to_be_visible()
        page.get_by_label("Search").fill("")
        page.get_by_label("State").select_option("running")
        expect(rows).to_have_count(1)
        assert page.url.endswith("?state=running")


def test_a_run_leads_to_its_page_and_to_the_comparison_with_the_one_before(browser: Browser, url: str) -> None:
    with visiting(browser, url) as visitor:
        page = visitor.page
        page.goto(url)
        counted(page)
        row = page.locator("tbody tr").filter(has_text="NO-GO")
        compare = row.get_by_role("link", name="Compare nightly with nightly of", exact=False)
        baseline = (compare.get_attribute("href") or "").partition("?baseline=")[2]
        assert baseline.startswith("nightly.")
        compare.click()
        page.wait_for_url("**?baseline=*")
        expect(page.get_by_role("heading", level=1)).to_contain_text("nightly")
        expect(page.locator("main")).to_contain_text("lost")
        page.get_by_role("link", name="opsgym").first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Runs")


def test_two_runs_are_picked_and_the_newer_is_compared_with_the_older(browser: Browser, url: str) -> None:
    with visiting(browser, url) as visitor:
        page = visitor.page
        page.goto(url)
        counted(page)
        boxes = page.get_by_role("checkbox")
        names = [box.get_attribute("aria-label") or "" for box in boxes.all()]
        boxes.nth(3).check()
        expect(page.locator("#picked")).to_have_text("Pick another run to compare with.")
        boxes.nth(1).check()
        newer, older = (names[at].removeprefix("Pick ") for at in (1, 3))
        expect(page.locator("#picked a")).to_have_text(f"Compare {newer} with {older}")
        boxes.nth(0).check()  # takes the place of the one that was picked first
        newer, older = (names[at].removeprefix("Pick ") for at in (0, 1))
        expect(page.locator("#picked a")).to_have_text(f"Compare {newer} with {older}")
        assert "?baseline=" in (page.locator("#picked a").get_attribute("href") or "")


def test_models_of_one_run_have_a_rate_each(browser: Browser, store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a", "b", models=["gpt", "sonnet"])
    for place, outcome in enumerate([Outcome.PASSED, Outcome.PASSED, Outcome.FAILED, Outcome.PASSED]):
        run.end("ab"[place % 2], place // 2, outcome)
    with showing(store.root) as url, visiting(browser, url) as visitor:
        visitor.page.goto(url)
        counted(visitor.page)
        expect(visitor.page.locator("tbody .agent")).to_have_text(["100.0% gpt", "50.0% sonnet"])
        expect(visitor.page.locator("tbody tr")).not_to_contain_text("75.0%")


def test_runs_are_chosen_by_suite_and_put_in_order(browser: Browser, url: str) -> None:
    with visiting(browser, url) as visitor:
        page = visitor.page
        page.goto(f"{url}/?suite=itsm-core&order=cost")
        counted(page)
        costs = page.locator("td[data-head=Cost]").all_inner_texts()
        assert len(costs) == 4
        assert costs == sorted(costs, key=lambda cost: -float(cost.removeprefix("$")))
        page.get_by_label("Order").select_option("best success first")
        expect(page.get_by_role("region", name="Runs, best success first")).to_be_visible()
        best = page.locator("tbody .agent:first-of-type strong").all_inner_texts()
        assert best == sorted(best, key=lambda rate: -float(rate.removesuffix("%")))
        assert page.url.endswith("?suite=itsm-core&order=best")


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_trends_and_leaderboards_show_finished_runs_at_any_width(browser: Browser, url: str, width: int) -> None:
    with visiting(browser, url, viewport={"width": width, "height": 900}) as visitor:
        page = visitor.page
        page.goto(url)
        counted(page)
        assert faults_seen(page) == []
        page.get_by_role("link", name="Trends").click()
        trend = page.get_by_role("region", name="Trend of schedule nightly, itsm-core")
        expect(trend.locator("tbody tr")).to_have_count(2)  # models
        expect(trend.locator("tbody tr").first.locator("circle")).to_have_count(3)  # the fourth run is in progress
        assert (faults_seen(page), serious(page)) == ([], [])
        page.get_by_role("link", name="Leaderboard").click()
        board = page.get_by_role("region", name="Leaderboard of itsm-core").locator("tbody th")
        expect(board).to_have_count(2)
        assert (faults_seen(page), serious(page)) == ([], [])
        command = page.locator("main section", has_text="gpt-5").locator("code").first.inner_text()
        assert command.startswith("opsgym leaderboard nightly.")


def test_what_a_run_is_called_is_never_markup(browser: Browser, store: LocalStore) -> None:
    hostile = '"><img src=x onerror="alert(1)"><script>alert(2)</script>\u202e'
    run = Running.begin(store, "demo.1", "a", models=["gpt"])
    run.end("a")
    key = RunKeys(run.run).run_json
    content = store.get(key)
    assert content is not None
    import json

    record = json.loads(content)
    cell = {**record["cells"][0]["cell"], "model": hostile}
    record |= {"name": hostile, "schedule": hostile, "spec": {"suite": {"path": hostile}}}
    record["cells"][0]["cell"] = cell
    store.put(key, json.dumps(record).encode())
    put_attempt(store, run.run, "a", None, cell=Cell(**cell), timings=at())
    with showing(store.root) as url, visiting(browser, url) as visitor:
        visitor.page.on("dialog", lambda dialog: visitor.complaints.append(dialog.message))
        visitor.page.goto(url)
        expect(visitor.page.locator("tbody tr a.name")).to_have_text(hostile)
        assert visitor.page.locator("tbody img, tbody script").count() == 0


def test_the_list_changes_while_a_run_goes_on(
    browser: Browser, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opsgym_console.server.run_list.LIVE_SECONDS", 0.1)
    monkeypatch.setattr("opsgym_console.server.run_list.LIST_SECONDS", 0.1)
    run = Running.begin(store, "demo.1", "a", "b", models=["gpt"])
    with showing(store.root) as url, visiting(browser, url) as visitor:
        page = visitor.page
        page.goto(url)
        expect(page.locator("tbody tr")).to_contain_text("0 of 2")
        page.get_by_label("Search").fill("demo")
        run.end("a")
        expect(page.locator("tbody tr")).to_contain_text("1 of 2")
        assert page.evaluate("document.activeElement.id") == "search"
        run.end("b", outcome=Outcome.FAILED)
        expect(page.locator("tbody tr")).to_contain_text("Finished")
        expect(page.locator("tbody tr")).to_contain_text("50.0%")


def test_a_runs_page_changes_while_it_is_open(browser: Browser, store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "first", "second", "third", models=["gpt"])
    run.end("first")
    run.start("second")
    with showing(store.root) as url, visiting(browser, url) as visitor:
        page = visitor.page
        page.goto(f"{url}/runs/{run.run}/")
        main = page.locator("main")
        expect(main).to_contain_text("1 trial running, 1 waiting")
        expect(main).to_contain_text("first")
        loads = len([url for url in visitor.requests if url == page.url])
        run.end("second", outcome=Outcome.FAILED)
        expect(main).to_contain_text("50.0%")
        run.end("third", outcome=Outcome.FAILED)
        expect(main).to_contain_text("33.3%")
        expect(main).not_to_contain_text("waiting")
        assert len([url for url in visitor.requests if url == page.url]) == loads


def test_an_empty_store_says_how_to_begin(browser: Browser, store: LocalStore) -> None:
    with showing(store.root) as url, visiting(browser, url) as visitor:
        visitor.page.goto(url)
        expect(visitor.page.locator("#list")).to_contain_text("opsgym run FILE")
        assert serious(visitor.page) == []


def test_somebody_signs_in_and_comes_to_where_they_wanted(browser: Browser, store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a", models=["gpt"])
    run.end("a")
    access = Access(SecretStr(TOKEN))
    with serving(StoreSource(str(store.root)), access=access) as url, visiting(browser, url) as visitor:
        page = visitor.page
        page.goto(f"{url}/runs/{run.run}/")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert serious(page) == []
        with client(url) as outside:
            assert outside.get("/api/runs").status_code == 401
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"**/runs/{run.run}/")
        expect(page.locator("main")).to_contain_text("100.0%")
        assert page.evaluate("document.cookie") == ""
