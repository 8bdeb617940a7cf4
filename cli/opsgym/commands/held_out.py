"""Stores of runs with a held-out suite: the secret seed is in the environment.

Invariant: without the seed such a run is read as far as it is in clear, and nothing of it is written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import click

from opsgym_api.records.run import is_held_out
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.planning.held_out import ENV_SEED, seed_of
from opsgym_core.store.base import Store
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

    A run with a held-out suite is sealed; if the environment has no seed, the user is warned.

    Raises:
        InputError: The seed is too short.
        StoreError: The store cannot be read.
    """
    content = store.get(RunKeys(run).run_json)
    if content is None or not is_held_out(json.loads(content)["spec"]):
        return store
    if not environment.get(ENV_SEED):
        click.echo(f"warning: {run} has a held-out suite; set {ENV_SEED} to read its tasks and transcripts", err=True)
        return store
    return sealing_store(store, environment)
