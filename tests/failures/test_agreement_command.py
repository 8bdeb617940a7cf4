"""`opsgym failures agreement`: what people's labels in a store measure, and what they do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.runs import CELL, put_run, put_transcript, put_trial
from tests.failures.trials import FIND, REQUEST, call

from opsgym.main import invoke
from opsgym_api.records.attempt import Usage
from opsgym_api.records.failure_labels import CitedLabel, JudgedTrial, PersonLabels
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import TranscriptEvent
from opsgym_console.analysis.failures.labels import put_person
from opsgym_core.store.local import LocalStore

RUN = "demo.0123456789ab"
TASKS = [f"t{number}" for number in range(12)]
WHEN = "2026-01-01T00:00:00Z"


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    """A run of twelve failed trials; the first six loop."""
    store = LocalStore(tmp_path / "results")
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=TASKS)])
    for number, task_id in enumerate(TASKS):
        put_trial(store, RUN, task_id, Outcome.FAILED)
        write = call("update_incident", {"number": "INC-000012"}, {})
        calls = [FIND] * 4 if number < 6 else [FIND]
        put_transcript(store, RUN, task_id, TranscriptEvent(kind="user", content=REQUEST), *calls, write)
    return store


def label(store: LocalStore, person: str, task_id: str, *modes: str) -> bool:
    labels = PersonLabels(person=person, cell=CELL, task_id=task_id, trial=0, modes=list(modes), labelled_at=WHEN)
    return put_person(store, RUN, labels)


def agreement(store: LocalStore, *options: str) -> int:
    return invoke(["failures", "agreement", "demo", "--store", store.name, *options])


def test_a_run_that_no_person_labelled_claims_nothing(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert agreement(store) == 0
    assert capsys.readouterr().out.startswith(f"no person has labelled a trial of {RUN}: `opsgym failures label demo`")


def test_people_rules_and_judges_are_compared_by_mode(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    for number, task_id in enumerate(TASKS):
        for person in ("ada", "bo"):
            modes = ["looping"] if number < 6 else ["incorrect_id"] * (person == "ada")
            label(store, person, task_id, *modes)
    cited = CitedLabel(mode="looping", step=1, verifier=0, reason="again")
    judged = JudgedTrial(
        judge="gpt-1", model="x/gpt", cell=CELL, task_id="t0", trial=0, labels=[cited], dropped={}, usage=Usage(),
        cost_usd=0.1, judged_at=WHEN,
    )  # fmt: skip
    store.put(RunKeys(RUN).judged_trial("gpt-1", CELL, "t0", 0), judged.model_dump_json().encode())
    assert agreement(store, "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    rows = {(row["mode"], row["compared"]): row for row in document["rows"]}
    assert (rows["looping", "people"]["kappa"], rows["looping", "people"]["remark"]) == (1.0, "")
    rules = rows["looping", "rules"]
    assert (rules["kappa"], rules["trials"], rules["share"], rules["corrected"]) == (1.0, 12, 0.5, 0.5)
    assert rules["corrected_interval"][0] < 0.5 < rules["corrected_interval"][1]
    assert (rows["looping", "gpt-1"]["trials"], rows["looping", "gpt-1"]["kappa"]) == (1, None)
    assert rows["looping", "gpt-1"]["remark"] == "share: not to be published"
    assert rows["incorrect_id", "people"]["remark"] == "not to be published"
    assert rows["incorrect_id", "rules"]["remark"] == "not to be published"
    assert agreement(store) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["looping", "people", "1.00"] in [line[:3] for line in lines]


def test_one_person_measures_no_agreement(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    for number, task_id in enumerate(TASKS):
        label(store, "ada", task_id, *["looping"] * (number < 6))
    assert agreement(store, "--format", "json") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["remark"] for row in rows if row["mode"] == "looping"} == {"not to be published"}


def test_a_label_is_put_once_for_each_person_and_trial(store: LocalStore) -> None:
    assert label(store, "ada", "t0", "looping")
    assert not label(store, "ada", "t0")
    assert label(store, "bo", "t0")
