"""Records of every version that was ever written stay readable; those of a newer one are named as such.

`v<version>/` is written once by `python -m tools.sample_records` and never changed.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tools.sample_records import CELL, DIGEST, RUN
from tools.sample_records import write as write_samples

from opsgym_api.errors import InputError
from opsgym_api.records.attempt import AttemptRecord, TrialRecord
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlanRecord, RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import CatalogueRecord
from opsgym_api.records.version import RECORD_VERSION
from opsgym_core.results.compaction import read_chunk
from opsgym_core.results.load import list_runs, load_rows, load_run
from opsgym_core.results.score import summarise
from opsgym_core.results.transcripts import read_reasoning, read_transcript
from opsgym_core.store.local import LocalStore
from opsgym_core.store.objects import read_object

FOLDER = Path(__file__).parent
KEYS = RunKeys(RUN)
TRIAL = KEYS.trial(CELL, "first", 0)
every_version = pytest.mark.parametrize("version", range(1, RECORD_VERSION + 1))


def stored(version: int) -> LocalStore:
    return LocalStore(FOLDER / f"v{version}")


@every_version
def test_runs_and_their_scores_are_read(version: int) -> None:
    store = stored(version)

    total = summarise(load_rows(store, RUN)).total

    assert [run.name for run in list_runs(store).runs] == ["nightly"]
    assert (total.total, total.scored, total.passed) == (2, 2, 0)
    assert total.cost_usd == pytest.approx(0.12)
    assert (total.usage.prompt_tokens, total.finish_reasons.length) == (6300, 3)
    assert load_run(store, RUN).unreadable == ()


@every_version
def test_the_record_of_a_scored_trial_is_read(version: int) -> None:
    record = read_object(stored(version), TRIAL.record, TrialRecord)

    assert record is not None
    assert (record.outcome, record.score, record.published_score, record.profile) == (Outcome.FAILED, 0, 1, "published")
    assert (record.versions.catalogue_digest, record.versions.model_snapshot) == (DIGEST, "gpt-2026-01-05")
    assert [(result.name, result.expected, result.actual) for result in record.verifiers] == [("state", "2", 2)]
    assert record.state_differences["gym-itsm-mcp"].tables[0].rows[0].after == {"state": 2}


@every_version
def test_attempts_are_read(version: int) -> None:
    attempts = [read_object(stored(version), TRIAL.attempt(number), AttemptRecord) for number in (0, 1)]

    assert [(one.outcome, one.reason, one.cost_usd) for one in attempts if one] == [
        (Outcome.INFRA_ERROR, "gym_lost", 0.04), (Outcome.FAILED, "verifiers", 0.04),
    ]  # fmt: skip


@every_version
def test_transcript_reasoning_and_catalogue_are_read(version: int) -> None:
    store = stored(version)

    transcript = read_transcript(store, TRIAL.transcript)

    assert transcript is not None
    assert [event.kind for event in transcript.events] == ["system", "user", "assistant", "tool", "note"]
    reply, call = transcript.events[2:4]
    assert reply.call is not None
    assert (reply.call.model, reply.call.request_id, reply.refused_calls[0].raw) == (
        "gpt-2026-01-05",
        "req_1",
        '{"id": ',
    )
    assert (call.tool_name, call.gym, call.is_error) == ("get_incident", "gym-itsm-mcp", True)
    assert read_reasoning(store, TRIAL.reasoning)[2].text == "Look first."
    catalogue = read_object(store, KEYS.catalogue(transcript.catalogue_digest), CatalogueRecord)
    assert catalogue is not None
    assert [tool["function"]["name"] for tool in catalogue.tools] == transcript.tools


@every_version
def test_chunk_gate_and_plan_are_read(version: int) -> None:
    store = stored(version)

    (chunk,) = store.keys(KEYS.chunks)

    assert [trial.task_id for cell in read_chunk(store, chunk) for trial in cell.trials] == ["second"]
    assert (gate := read_object(store, KEYS.gate_json, GateRecord)) is not None
    assert (gate.verdict, gate.regression) == ("NO-GO", 0.25)
    assert (plan := read_object(store, KEYS.plan("planner", "first"), PlanRecord)) is not None
    assert plan.text == "1. Look."


def test_the_current_version_has_its_sample(tmp_path: Path) -> None:
    write_samples(LocalStore(tmp_path))
    kinds = {key.rpartition("/")[2] for key in LocalStore(tmp_path).keys(KEYS.root) if "/chunks/" not in key}

    assert kinds == {key.rpartition("/")[2] for key in stored(RECORD_VERSION).keys(KEYS.root) if "/chunks/" not in key}


# Records of a newer version


Rewrite = Callable[[bytes], bytes]


def newer(content: bytes) -> bytes:
    """The record as a later version might write it: a field that this one requires is gone."""
    record: dict[str, Any] = json.loads(content)
    record.pop("task_id", None)
    return json.dumps({**record, "version": RECORD_VERSION + 1}).encode()


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    shutil.copytree(FOLDER / f"v{RECORD_VERSION}", tmp_path / "store")
    return LocalStore(tmp_path / "store")


def rewritten(store: LocalStore, key: str, how: Rewrite = newer) -> None:
    content = store.get(key)
    assert content is not None
    store.put(key, how(content))


def test_a_newer_trial_record_is_unreadable_and_costs_only_its_trial(store: LocalStore) -> None:
    rewritten(store, TRIAL.record)

    total = summarise(load_rows(store, RUN)).total

    assert (total.total, total.scored, dict(total.not_scored)) == (2, 1, {"config_error/unreadable_record": 1})
    (problem,) = load_run(store, RUN).unreadable
    assert f"{TRIAL.record}: was written by a newer opsgym (record version 2; this one reads up to 1)" in problem


def test_a_newer_run_is_listed_as_unreadable(store: LocalStore) -> None:
    rewritten(store, KEYS.run_json)

    listed = list_runs(store)

    assert list(listed.runs) == []
    assert "was written by a newer opsgym" in str(listed.unreadable[RUN])


@pytest.mark.parametrize("key", [TRIAL.transcript, TRIAL.reasoning])
def test_a_newer_transcript_or_reasoning_is_named(store: LocalStore, key: str) -> None:
    rewritten(store, key, lambda content: zstandard.compress(newer(zstandard.decompress(content))))
    read: Callable[[LocalStore, str], object] = read_transcript if key == TRIAL.transcript else read_reasoning

    with pytest.raises(InputError, match="was written by a newer opsgym"):
        read(store, key)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (KEYS.catalogue(DIGEST), CatalogueRecord), (KEYS.gate_json, GateRecord), (TRIAL.attempt(0), AttemptRecord),
        (KEYS.plan("planner", "first"), PlanRecord), (KEYS.run_json, RunRecord),
    ],
)  # fmt: skip
def test_every_other_newer_record_is_named(store: LocalStore, key: str, kind: type[Any]) -> None:
    rewritten(store, key)

    with pytest.raises(InputError, match="was written by a newer opsgym"):
        read_object(store, key, kind)


def test_a_newer_chunk_is_passed_over_for_the_records_that_it_repeats(store: LocalStore) -> None:
    (chunk,) = store.keys(KEYS.chunks)
    rewritten(store, chunk, lambda content: gzip.compress(newer(gzip.decompress(content))))

    assert summarise(load_rows(store, RUN)).total.scored == 2
    with pytest.raises(InputError, match="newer opsgym"):
        read_chunk(store, chunk)


def test_fields_that_a_later_version_adds_are_ignored(store: LocalStore) -> None:
    rewritten(store, TRIAL.record, lambda content: json.dumps({**json.loads(content), "mood": "fine"}).encode())

    assert summarise(load_rows(store, RUN)).total.scored == 2
