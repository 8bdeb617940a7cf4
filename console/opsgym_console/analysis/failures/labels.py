"""Reads labels of failed trials from a run's store, and stores those of people.

Invariant: an object that cannot be read costs that object.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from opsgym_api.errors import InputError
from opsgym_api.records.failure_labels import JudgedTrial, PersonLabels
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.store.base import Store
from opsgym_core.store.objects import READERS, read_object

T = TypeVar("T")
PERSON = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
"""A person's name in the store."""


def judges(store: Store, run: str) -> list[str]:
    """The judges that have labelled trials of a run.

    Raises:
        StoreError: The store cannot be read.
    """
    return list(store.folders(RunKeys(run).judges))


def people(store: Store, run: str) -> list[str]:
    """The people who have labelled trials of a run.

    Raises:
        StoreError: The store cannot be read.
    """
    return list(store.folders(RunKeys(run).people))


def read_judged(store: Store, run: str, judge: str) -> list[JudgedTrial]:
    """A judge's labels of a run.

    Raises:
        StoreError: The store cannot be read.
    """
    return _read_all(store, f"{RunKeys(run).judges}{judge}/", JudgedTrial)


def read_person(store: Store, run: str, person: str) -> list[PersonLabels]:
    """A person's labels of a run.

    Raises:
        StoreError: The store cannot be read.
    """
    return _read_all(store, f"{RunKeys(run).people}{person}/", PersonLabels)


def put_person(store: Store, run: str, labels: PersonLabels) -> bool:
    """Stores a person's labels of a trial; returns False if the person has labelled it before.

    Raises:
        StoreError: The store cannot be written.
    """
    key = RunKeys(run).person_labels(labels.person, labels.cell, labels.task_id, labels.trial)
    return store.put_once(key, labels.model_dump_json().encode())


def _read_all(store: Store, prefix: str, kind: type[T]) -> list[T]:
    with ThreadPoolExecutor(READERS) as pool:
        read = pool.map(partial(_read, store, kind), store.keys(prefix))
        return [one for one in read if one is not None]


def _read(store: Store, kind: type[T], key: str) -> T | None:
    try:
        return read_object(store, key, kind)
    except InputError:
        return None
