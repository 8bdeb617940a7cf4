"""Stores of runs with a held-out suite: the secret seed is in the environment.

Invariant: without the seed only scores of such a run are read, and nothing of it is written.
"""

from __future__ import annotations

from collections.abc import Mapping

from opsgym_api.errors import InputError, Problem
from opsgym_api.records.run import RunRecord, is_held_out
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.planning.held_out import ENV_SEED, seed_of
from opsgym_core.store.base import Store
from opsgym_core.store.objects import read_object
from opsgym_core.store.sealed import SealedStore
from opsgym_runner.recording.seal import AesSeal


def sealing_store(store: Store, environment: Mapping[str, str]) -> Store:
    """A store that opens and seals what belongs to a run of the environment's held-out seed.

    Raises:
        InputError: The seed is not set, or too short.
    """
    return SealedStore(store, AesSeal(seed_of(environment, store.name)))


def store_of_run(store: Store, run: str, environment: Mapping[str, str]) -> Store:
    """The store as a command needs it that reads what agents did in a run, or writes about it.

    Raises:
        InputError: The run has a held-out suite and the seed is not set or too short, or its `run.json` is not valid.
        StoreError: The store cannot be read.
    """
    record = read_object(store, RunKeys(run).run_json, RunRecord)
    if record is None or not is_held_out(record.spec):
        return store
    if not environment.get(ENV_SEED):
        problem = f"has a held-out suite; set {ENV_SEED} to read its tasks and transcripts"
        raise InputError(run, [Problem("", problem)])
    return sealing_store(store, environment)
