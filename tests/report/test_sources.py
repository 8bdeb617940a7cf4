"""Where a page about a run has its data from: files beside it, or a console, live."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from tests.report.console import PREFIX, Console, serving
from tests.report.pages import PROMPTS, detail_of, page_of
from tests.report.reader import Reader, place_of, reading, written

from opsgym_console.report.model import PageData, TrialColumns
from opsgym_console.report.shell import detail_file

pytestmark = pytest.mark.xdist_group("report page")


def write_beside(folder: Path, page: PageData) -> str:
    """Writes a page with its details beside it; its address."""
    each, rows = page.details_per_file, range(len(page.trials.cell))
    (folder / "trials").mkdir()
    for number, first in enumerate(rows[::each]):
        details = [detail_of(page, row) for row in rows[first : first + each]]
        (folder / "trials" / f"{number}.js").write_bytes(detail_file(number, details))
    return written(folder, page)


def test_details_beside_the_page_are_read_from_disk_when_a_trial_is_opened(browser: Browser, tmp_path: Path) -> None:
    page = page_of(1, 1, 3, details="beside", texts=PROMPTS)
    with reading(browser, write_beside(tmp_path, page)) as reader:
        for row in (0, 1, 5):
            reader.open(place_of(page, row))
            expect(reader.trial().locator("h1")).to_have_text(page.tasks[page.trials.task[row]].id)
            expect(reader.trial().locator(".story > li")).to_have_count(11)
        read = [url.rpartition("/")[2] for url in reader.requests if "/trials/" in url]
        assert read == ["0.js", "2.js"]


def test_a_page_without_its_folder_says_what_is_missing(browser: Browser, tmp_path: Path) -> None:
    page = page_of(1, 1, 3, details="beside")
    with reading(browser, written(tmp_path, page)) as reader:
        reader.open(place_of(page, 0))
        expect(reader.trial().get_by_role("alert")).to_contain_text("The folder “trials” must be beside this page")
        assert all("ERR_FILE_NOT_FOUND" in complaint for complaint in reader.complaints)
        reader.complaints.clear()


# --- live ------------------------------------------------------------------------------------------------------------


def until(page: PageData, rows: int, offset: int = 0, **run: Any) -> PageData:
    """The page as it is after so many trials, with those from an offset on."""
    columns = {name: values[offset:rows] for name, values in page.trials.model_dump(exclude={"offset"}).items()}
    now = page.run.model_copy(update={"live": True, "phase": "Running", **run})
    return page.model_copy(update={"run": now, "trials": TrialColumns(offset=offset, **columns)})


def live_run() -> PageData:
    return page_of(2, 2, 12, details="server")


def watch(browser: Browser, then: Callable[[Reader, Console, PageData], None], rows: int = 40) -> None:
    """Opens the page of a run of which so many trials have ended."""
    page = live_run()
    console = Console(until(page, rows))
    for row in range(len(page.trials.cell)):
        detail = detail_of(page, row, shared=False)
        console.details[detail.cell.key, detail.task_id, detail.trial] = detail
    with serving(console), reading(browser, console.address) as reader:
        expect(reader.page.locator(".live")).to_be_visible()
        console.await_listener()
        then(reader, console, page)
        reader.page.goto("about:blank")


def test_trials_that_end_are_added_without_moving_the_reader(browser: Browser) -> None:
    def then(reader: Reader, console: Console, page: PageData) -> None:
        search = reader.page.get_by_label("Search")
        search.fill("task")
        before = search.bounding_box()
        console.say("page", until(page, 60, 40).model_dump())
        expect(reader.page.locator("#counted")).to_have_text("60 trials")
        assert search.input_value() == "task"
        expect(search).to_be_focused()
        assert search.bounding_box() == before
        console.say("page", until(page, 50, 45).model_dump())  # the console knows better: rows from 45 on are others
        expect(reader.page.locator("#counted")).to_have_text("50 trials")

    watch(browser, then)


def test_what_is_unfolded_and_focused_outlives_an_update(browser: Browser) -> None:
    def then(reader: Reader, console: Console, page: PageData) -> None:
        fold = reader.page.locator("details[data-key=numbers-horizon]")
        fold.locator("summary").click()
        link = reader.page.locator("#rows td.task a").nth(2)
        link.focus()
        link_target = link.get_attribute("href")
        console.say("page", until(page, 90, 40).model_dump())
        expect(reader.page.locator("#counted")).to_have_text("90 trials")
        expect(fold).to_have_attribute("open", "")
        assert reader.page.evaluate("document.activeElement.getAttribute('href')") == link_target

    watch(browser, then)


def test_a_trial_is_fetched_and_stays_open_while_others_end(browser: Browser) -> None:
    def then(reader: Reader, console: Console, page: PageData) -> None:
        reader.open(place_of(page, 3))
        expect(reader.trial().locator(".story > li")).to_have_count(11)
        expect(reader.trial().locator(".story > li").nth(1)).to_contain_text(PROMPTS[1])
        console.say("page", until(page, 90, 40).model_dump())
        reader.page.locator("#trial").get_by_role("link", name="All trials").click()
        expect(reader.page.locator("#counted")).to_have_text("90 trials")
        requests = [url for url in reader.requests if "/trials/" in url]
        assert [url.partition(PREFIX)[2] for url in requests] == [
            f"/api/runs/{page.run.id}/trials/{page.cells[0].cell.key}/task-0003/0"
        ]

    watch(browser, then)


def test_a_trial_that_has_not_ended_is_said_not_to_have(browser: Browser) -> None:
    def then(reader: Reader, console: Console, page: PageData) -> None:
        reader.open("#/trial/a_b_c_d/task-0001/0")
        expect(reader.trial().get_by_text("or has not ended yet")).to_be_visible()
        assert all("404" in complaint for complaint in reader.complaints)
        reader.complaints.clear()

    watch(browser, then)


def test_the_page_tells_when_the_run_ends_and_when_it_is_gone(browser: Browser) -> None:
    def then(reader: Reader, console: Console, page: PageData) -> None:
        live = reader.page.locator(".live")
        expect(live).to_contain_text("Running")
        console.say("page", until(page, 96, 40, live=False, phase="Succeeded", message="").model_dump())
        expect(live).to_contain_text("Finished")
        console.say("gone", {})
        expect(live).to_contain_text("has been deleted")

    watch(browser, then)


def test_a_page_whose_connection_was_lost_comes_back(browser: Browser) -> None:
    def then(reader: Reader, console: Console, page: PageData) -> None:
        console.hang_up()
        console.await_listener()
        expect(reader.page.locator(".live")).to_contain_text("Running")
        console.say("page", until(page, 60, 40).model_dump())
        expect(reader.page.locator("#counted")).to_have_text("60 trials")

    watch(browser, then)
