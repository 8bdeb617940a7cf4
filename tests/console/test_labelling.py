"""People label failed trials in a browser: blind, once for each person and trial, by keyboard and on a phone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, expect
from tests.cli.runs import put_run, put_transcript, put_trial
from tests.console.harness import cells, serving, visiting

from opsgym.commands.held_out import store_of_run
from opsgym.main import invoke
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.transcript import TranscriptEvent
from opsgym_console.analysis.failures import Mode
from opsgym_console.analysis.failures.labels import people, read_person
from opsgym_console.analysis.failures.sampling import labelling_order
from opsgym_console.server.labelling import Labelling, LabellingOptions
from opsgym_console.server.sources import StoreSource
from opsgym_core.planning.held_out import ENV_SEED
from opsgym_core.results.load import load_rows
from opsgym_core.store.local import LocalStore
from opsgym_core.store.sealed import SealedStore
from opsgym_runner.recording.seal import AesSeal

RUN = "demo.0123456789ab"
TASKS = [f"t{number}" for number in range(8)]
HOSTILE = "<img src=x onerror=alert(1)> I cannot do that."
SECRET = "a secret of thirty-two characters"
SENT = {"content-type": "application/json"}


@pytest.fixture
def url(store: LocalStore) -> Iterator[str]:
    """A console on which six of twelve failed trials are to be labelled: 8 of one model, 4 of another."""
    plan = cells(*TASKS)
    put_run(store, RUN, plan)
    for place, cell in enumerate(plan):
        for task_id in TASKS[: 8 - 4 * place]:
            put_trial(store, RUN, task_id, Outcome.FAILED, cell.cell, answer=HOSTILE)
            event = TranscriptEvent(kind="assistant", content=HOSTILE, step=1)
            put_transcript(store, RUN, task_id, event, cell=cell.cell)
        put_trial(store, RUN, TASKS[-1] if place else "passed", Outcome.PASSED, cell.cell)
    source = StoreSource(str(store.root))
    with serving(source, labelling=Labelling(source, LabellingOptions(RUN, 6))) as url:
        yield url


def send(url: str, **fields: object) -> httpx.Response:
    body = {"person": "ada", "position": 0, "modes": [], **fields}
    return httpx.post(f"{url}/api/label", json=body)


def test_the_sample_has_each_cells_share_and_depends_on_the_run_alone(store: LocalStore, url: str) -> None:
    order = labelling_order(load_rows(store, RUN))
    assert len(order) == 12
    assert order == labelling_order(load_rows(store, RUN))
    for size in (3, 6, 9, 12):
        assert [sum(cell.model == model for cell, _, _ in order[:size]) for model in ("gpt", "sonnet")] == [
            size * 2 // 3,
            size // 3,
        ]


def test_a_person_labels_by_keyboard_and_goes_on_where_they_stopped(
    browser: Browser, url: str, store: LocalStore
) -> None:
    with visiting(browser, url) as visitor:
        page = visitor.page
        page.goto(f"{url}/label/")
        page.keyboard.type("ada")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Trial 1 of 6")).to_be_focused()
        expect(page.get_by_text(HOSTILE).first).to_be_visible()
        page.keyboard.press("1")
        page.keyboard.press("4")
        page.keyboard.press("4")
        page.keyboard.press("s")
        expect(page.get_by_role("heading", name="Trial 2 of 6")).to_be_focused()
        page.keyboard.press("s")
        expect(page.get_by_role("heading", name="Trial 3 of 6")).to_be_focused()
        page.reload()
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_text("ada: 2 of 6 trials labelled.")).to_be_visible()
        page.get_by_label("looping").check()
        page.get_by_label("Remark").fill("seen 1 twice")
        page.get_by_role("button", name="Store").click()
        expect(page.get_by_role("heading", name="Trial 4 of 6")).to_be_visible()
    labels = read_person(store, RUN, "ada")
    assert sorted(one.modes for one in labels) == [[], ["looping"], ["wrong_refusal"]]
    assert [one.remark for one in labels if one.modes == ["looping"]] == ["seen 1 twice"]


def test_the_page_works_on_a_phone_and_for_everybody(browser: Browser, url: str) -> None:
    with visiting(browser, url, viewport={"width": 390, "height": 844}) as visitor:
        page = visitor.page
        page.goto(f"{url}/label/")
        page.get_by_label("Your name").fill("bo")
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_role("heading", name="Trial 1 of 6")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        violations = Axe().run(page).response["violations"]
        assert [fault["id"] for fault in violations if fault["impact"] in {"serious", "critical"}] == []


def test_a_trial_is_shown_without_model_findings_and_other_peoples_labels(url: str) -> None:
    assert send(url, person="bo", modes=["looping"], remark="mine").status_code == 201
    shown = httpx.get(f"{url}/api/label/trials/0").text
    assert set(json.loads(shown)) == {"feasible", "ended_by", "answer", "verifiers", "events"}
    assert [word for word in ("gpt", "sonnet", "react", "looping", "mine", "wrong_refusal") if word in shown] == []
    overview = httpx.get(f"{url}/api/label?person=ada").json()
    assert (overview["trials"], overview["labelled"], len(overview["modes"])) == (6, [], len(Mode))


def test_a_label_is_never_changed(url: str, store: LocalStore) -> None:
    assert send(url, modes=["looping"]).status_code == 201
    second = send(url, modes=[])
    assert (second.status_code, second.json()["detail"]) == (
        409,
        "You have labelled this trial before; labels are not changed.",
    )
    assert send(url, person="bo").status_code == 201
    assert [one.modes for one in read_person(store, RUN, "ada")] == [["looping"]]


@pytest.mark.parametrize(
    "fields",
    [
        {"person": "../../x"},
        {"person": ""},
        {"person": "Ada"},
        {"position": 6},
        {"position": -1},
        {"position": "0"},
        {"modes": ["laziness"]},
        {"modes": "looping"},
        {"remark": "x" * 3_000},
        {"remark": "x" * 30_000},
        {"cell": "other"},
    ],
)
def test_labels_that_are_not_valid_are_refused_and_nothing_is_stored(
    url: str, store: LocalStore, fields: dict[str, object]
) -> None:
    assert send(url, **fields).status_code == 400
    assert people(store, RUN) == []


def test_another_site_cannot_label(url: str, store: LocalStore) -> None:
    body = json.dumps({"person": "ada", "position": 0, "modes": []})
    for headers in ({**SENT, "origin": "https://other.example"}, {**SENT, "sec-fetch-site": "cross-site"}, {}):
        assert httpx.post(f"{url}/api/label", content=body, headers=headers).status_code == 403
    assert people(store, RUN) == []


@pytest.mark.parametrize("position", ["6", "x", "-1", "9" * 30])
def test_a_trial_outside_the_sample_is_not_shown(url: str, position: str) -> None:
    assert httpx.get(f"{url}/api/label/trials/{position}").status_code == 404


def test_a_console_that_only_shows_runs_has_no_page_for_labels(tmp_path: Path) -> None:
    with serving(StoreSource(str(tmp_path))) as url:
        assert httpx.get(f"{url}/label/").status_code == 404
        assert send(url).status_code in {404, 405}


def test_labels_of_a_run_with_a_held_out_suite_are_sealed(store: LocalStore) -> None:
    sealed = SealedStore(store, AesSeal(SECRET))
    suite = {"builtin": "quickstart", "heldOut": True}
    put_run(sealed, RUN, cells("t0"), spec={"suite": suite})
    cell = cells("t0")[0].cell
    put_trial(sealed, RUN, "t0", Outcome.FAILED, cell, answer="Nadia left")
    put_transcript(sealed, RUN, "t0", TranscriptEvent(kind="assistant", content="Nadia left", step=1), cell=cell)
    opened = partial(store_of_run, run=RUN, environment={ENV_SEED: SECRET})
    source = StoreSource(str(store.root), opened)
    with serving(source, labelling=Labelling(source, LabellingOptions(RUN, 6, opened))) as url:
        assert httpx.get(f"{url}/api/label/trials/0").json()["answer"] == "Nadia left"
        assert send(url, remark="Nadia is in the answer").status_code == 201
    (labels,) = read_person(sealed, RUN, "ada")
    assert labels.remark == "Nadia is in the answer"
    assert not [key for key in store.keys("") if b"Nadia" in (store.get(key) or b"")]


def test_a_run_with_a_held_out_suite_is_not_labelled_without_the_seed(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    put_run(store, RUN, cells("t0"), spec={"suite": {"builtin": "quickstart", "heldOut": True}})
    assert invoke(["failures", "label", RUN, "--store", str(store.root), "--port", "0"]) == 2
    assert f"has a held-out suite; set {ENV_SEED} to read its tasks and transcripts" in capsys.readouterr().err


def test_the_command_prints_the_address_of_the_page(url: str, store: LocalStore) -> None:
    arguments = ["failures", "label", "demo", "--store", str(store.root), "--port", "0", "--sample", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "opsgym.main", *arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith(f"Label failed trials of {RUN} at http://127.0.0.1:"), line
            address = line.partition(" at ")[2].split(" ")[0]
            assert httpx.get(address).status_code == 200
            assert httpx.get(f"{address.removesuffix('label/')}api/label?person=ada").json()["trials"] == 2
        finally:
            process.terminate()
