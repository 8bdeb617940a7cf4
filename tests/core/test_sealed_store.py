"""What of a run with a held-out suite is in clear, to whom."""

from __future__ import annotations

import gzip
import json
from dataclasses import fields
from pathlib import Path

import pytest
from tests.cli.runs import CELL, put_attempt, put_run, put_trial

from opsgym_api.records.attempt import AttemptRecord, Cell, TrialRecord
from opsgym_api.records.outcomes import ConfigReason, InfraReason, Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.results.compaction import compact
from opsgym_core.results.load import load_record, load_rows
from opsgym_core.store.local import LocalStore
from opsgym_core.store.location import open_store
from opsgym_core.store.sealed import (
    CLEAR_FIELDS,
    ENDPOINT_SAYS,
    MAGIC,
    SEALED_ERROR,
    SEALED_FIELDS,
    SEALED_MESSAGE,
    SealedStore,
    SealError,
    clear_message,
    clear_record,
    is_clear,
    without_seal,
)
from opsgym_runner.recording.seal import AesSeal

KEYS = RunKeys("team.demo.0a1b")
TRIAL = KEYS.trial(Cell(model="m", agent="react", mode="oracle", domain="itsm"), "itsm-core-a", 0)
SEAL = AesSeal("a secret of thirty-two characters")


@pytest.fixture
def store(tmp_path: Path) -> SealedStore:
    return SealedStore(LocalStore(tmp_path), SEAL)


@pytest.mark.parametrize(
    "key",
    [
        *(KEYS.suite_task("itsm-core-a"), KEYS.suite_seed("ab"), KEYS.plan("p", "itsm-core-a")),
        *(TRIAL.transcript, TRIAL.reasoning, TRIAL.state("gym"), TRIAL.difference("gym"), TRIAL.failed_transcript(0)),
        KEYS.judged_trial("j", Cell(model="m", agent="react", mode="oracle", domain="itsm"), "a", 0),
        KEYS.person_labels("p", Cell(model="m", agent="react", mode="oracle", domain="itsm"), "a", 0),
        f"{KEYS.root}something/new.json",
    ],
)
def test_what_tells_of_tasks_is_encrypted_and_only_the_key_opens_it(store: SealedStore, key: str) -> None:
    store.put(key, b"Close incident INC_001 for Nadia")
    stored = store.inner.get(key) or b""
    assert stored.startswith(MAGIC)
    assert b"Nadia" not in stored
    assert store.get(key) == b"Close incident INC_001 for Nadia"
    assert SealedStore(store.inner).get(key) is None
    other = SealedStore(store.inner, AesSeal("another secret of thirty-two chars"))
    with pytest.raises(SealError, match="sealed with another held-out seed, or was changed or moved"):
        other.get(key)


def test_one_content_is_never_encrypted_to_the_same_bytes(store: SealedStore) -> None:
    for number in (0, 1):
        store.put(TRIAL.failed_transcript(number), b"same")
    assert store.inner.get(TRIAL.failed_transcript(0)) != store.inner.get(TRIAL.failed_transcript(1))


@pytest.mark.parametrize(
    "key",
    [
        *(KEYS.run_json, KEYS.control_json, KEYS.gate_json, KEYS.figures_json, KEYS.suite_index, KEYS.probe),
        *(KEYS.pin_json, KEYS.deletion_json),
        *(KEYS.look(1), KEYS.catalogue("ab"), f"{KEYS.report}index.html"),
    ],
)
def test_specs_progress_and_decisions_stay_in_clear(store: SealedStore, key: str) -> None:
    assert is_clear(key)
    store.put(key, b"plain")
    assert store.inner.get(key) == b"plain"


@pytest.mark.parametrize("key", [TRIAL.record, TRIAL.attempt(0)])
def test_a_record_keeps_its_figures_in_clear_and_the_key_reads_all_of_it(store: SealedStore, key: str) -> None:
    whole = {
        "score": 1, "reason": "invalid_row", "message": "row says Nadia", "answer": "Nadia left", "variant": 1234567890,
        "verifiers": [{"index": 0, "name": "closed", "passed": True, "query": "SELECT 'Nadia'", "actual": "Nadia"}],
        "state_differences": {"gym": {"rows": ["Nadia"]}},
    }  # fmt: skip
    assert store.put_once(key, json.dumps(whole).encode())
    assert not store.put_once(key, b"{}")
    stored = json.loads(store.inner.get(key) or b"")
    assert "Nadia" not in json.dumps({name: value for name, value in stored.items() if name != "sealed"})
    assert (stored["score"], stored["variant"], stored["message"]) == (1, 0, SEALED_MESSAGE)
    assert stored["verifiers"] == [{"index": 0, "name": "closed", "passed": True}]
    assert json.loads(store.get(key) or b"") == whole
    assert json.loads(SealedStore(store.inner).get(key) or b"") == stored
    other = SealedStore(store.inner, AesSeal("another secret of thirty-two chars"))
    with pytest.raises(SealError):
        other.get(key)


@pytest.mark.parametrize(
    ("key", "content"),
    [
        (TRIAL.transcript, b"plain"),
        (TRIAL.record, b"not JSON"),
        (TRIAL.record, b"[]"),
        (TRIAL.record, b'{"score": 1}'),
        (TRIAL.record, b'{"score": 1, "sealed": 7}'),
        (TRIAL.record, b'{"score": 1, "sealed": "no base64!"}'),
        (TRIAL.attempt(0), b'{"outcome": null, "sealed": "YWJj"}'),
    ],
)
def test_with_the_key_nothing_is_read_that_it_did_not_seal(store: SealedStore, key: str, content: bytes) -> None:
    store.inner.put(key, content)
    with pytest.raises(SealError):
        store.get(key)


def test_an_attempt_that_the_operator_closed_is_read_with_the_key_too(store: SealedStore) -> None:
    put_run(store, KEYS.run, [PlannedCell(cell=CELL, task_ids=["a"])])
    put_attempt(without_seal(store), KEYS.run, "a", Outcome.INFRA_ERROR, reason=InfraReason.HUNG, message="was killed")
    [cell] = load_rows(store, KEYS.run).cells
    assert [attempt.message for attempt in cell.attempts] == ["was killed"]


@pytest.mark.parametrize(("key", "other"), [(TRIAL.transcript, TRIAL.reasoning), (TRIAL.attempt(0), TRIAL.attempt(1))])
def test_what_was_moved_to_another_key_does_not_open(store: SealedStore, key: str, other: str) -> None:
    store.put(key, b"{}")
    store.inner.put(other, store.inner.get(key) or b"")
    assert store.get(key) == b"{}"
    with pytest.raises(SealError):
        store.get(other)


def test_every_field_of_a_record_is_known_to_tell_of_its_task_or_not_to() -> None:
    names = {part.name for kind in (TrialRecord, AttemptRecord) for part in fields(kind)}
    assert names == CLEAR_FIELDS | SEALED_FIELDS.keys()
    assert not CLEAR_FIELDS & SEALED_FIELDS.keys()
    assert clear_record({"score": 1, "hint": "ask Nadia"}) == {"score": 1}


def test_chunks_repeat_what_is_in_clear_whoever_compacts(store: SealedStore) -> None:
    put_run(store, KEYS.run, [PlannedCell(cell=CELL, task_ids=["a", "b"])])
    put_trial(store, KEYS.run, "a", Outcome.PASSED, variant=1234567890, answer="Nadia left")
    put_attempt(store, KEYS.run, "b", Outcome.CONFIG_ERROR, reason="invalid_row", message="row says Nadia")
    assert compact(store, load_record(store, KEYS.run)) == 2
    (key,) = store.keys(KEYS.chunks)
    text = gzip.decompress(store.inner.get(key) or b"").decode()
    assert SEALED_MESSAGE in text
    assert not [secret for secret in ("1234567890", "Nadia") if secret in text]
    ((row,),) = [cell.trials for cell in load_rows(store, KEYS.run).cells]
    assert (row.task_id, row.score, row.variant) == ("a", 1, 0)


def test_messages_about_accounts_and_servers_stay_and_others_may_quote_a_task() -> None:
    assert clear_message(InfraReason.MODEL_AUTH, "no key") == "no key"
    assert clear_message(InfraReason.STORE_LOST, "no bucket") == "no bucket"
    assert clear_message(InfraReason.GYM_LOST, "tool said Nadia") == SEALED_MESSAGE
    assert clear_message(ConfigReason.INVALID_ROW, "row says Nadia") == SEALED_MESSAGE


def test_of_an_endpoints_error_only_what_opsgym_says_of_it_stays() -> None:
    message = f"model gpt: HTTP 403; {ENDPOINT_SAYS}flagged: Close incident INC_001 for Nadia (next try in 3 s)"
    assert clear_message(InfraReason.MODEL_AUTH, message) == f"model gpt: HTTP 403; {SEALED_ERROR}"


def test_a_store_without_a_key_writes_as_it_is_given(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    store.put(TRIAL.transcript, b"plain")
    assert store.inner.get(TRIAL.transcript) == store.get(TRIAL.transcript) == b"plain"
    assert list(store.keys("runs/")) == [TRIAL.transcript]
    assert list(store.folders("runs")) == ["team.demo.0a1b"]
