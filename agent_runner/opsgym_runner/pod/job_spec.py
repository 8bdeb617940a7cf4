"""Reads a pod's inputs: its job spec, the position of its trial, its stores.

Invariant: an unusable input raises `UnusableJobSpec`, which names the variable and file, before anything else happens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import SecretStr, ValidationError

from opsgym_api.base import Stored
from opsgym_api.errors import InputError
from opsgym_api.jobs.job_spec import (
    ENV_INDEX,
    ENV_JOB_SPEC,
    ENV_RECORDINGS,
    ENV_STORE,
    ENV_SUITE_STORE,
    JOB_SPEC_VERSION,
    RECORDINGS,
    STORE_ENV_PREFIX,
    SUITE_ENV_PREFIX,
    JobSpec,
    PreflightSpec,
    TrialRef,
    pods_for,
    trials_at,
)
from opsgym_api.records.store_gateway import ENV_STORE_TOKEN
from opsgym_api.validation import problems_of
from opsgym_core.planning.held_out import seed_of
from opsgym_core.store.base import Store
from opsgym_core.store.location import open_store
from opsgym_core.store.s3 import S3Access
from opsgym_core.store.sealed import SealedStore
from opsgym_runner.pod.gateway_store import GatewayStore
from opsgym_runner.recording.seal import AesSeal

Spec = TypeVar("Spec", JobSpec, PreflightSpec)


class UnusableJobSpec(Exception):
    """The pod cannot start; the message names the variable or file and what is wrong."""


def read_job_spec(environment: Mapping[str, str], kind: type[Spec]) -> Spec:
    """Reads the pod's job spec.

    Args:
        environment: Environment variables.
        kind: Type of the expected job spec.

    Raises:
        UnusableJobSpec: The job spec is missing, invalid, or of a newer version.
    """
    path = Path(_required(environment, ENV_JOB_SPEC))
    try:
        # A run keeps its images when the operator is upgraded, so the operator may write fields that are newer.
        spec = kind.model_validate_json(path.read_bytes(), extra="ignore")
    except OSError as error:
        raise UnusableJobSpec(f"{ENV_JOB_SPEC}: {path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise UnusableJobSpec(f"{ENV_JOB_SPEC}: {path}: {_first_problem(error, kind)}") from None
    if spec.version > JOB_SPEC_VERSION:
        known = f"this runner reads {JOB_SPEC_VERSION}; use images of one release"
        raise UnusableJobSpec(f"{ENV_JOB_SPEC}: {path} is of version {spec.version}, {known}")
    return spec


def _first_problem(error: ValidationError, kind: type[Stored]) -> str:
    return str(problems_of(error, model=kind)[0])


def trials_of(spec: JobSpec, environment: Mapping[str, str]) -> Sequence[TrialRef]:
    """The pod's trials, in the order in which it plays them.

    Raises:
        UnusableJobSpec: The completion index is not a number, or not one of the job spec.
    """
    index = _required(environment, ENV_INDEX)
    pods = pods_for(len(spec.trials), spec.trials_per_pod)
    if not index.isascii() or not index.isdigit() or int(index) >= pods:
        raise UnusableJobSpec(f"{ENV_INDEX} is {index!r}; the job spec has pods 0 to {pods - 1}")
    return trials_at(spec.trials, spec.trials_per_pod, int(index))


def result_store(environment: Mapping[str, str], *, held_out: bool) -> Store:
    """The result store; of a run with a held-out suite, what is written of tasks is sealed.

    Raises:
        UnusableJobSpec: Its URL is missing or invalid, or the suite is held out and the seed is missing or too short.
    """
    store = _opened(ENV_STORE, environment, STORE_ENV_PREFIX)
    if not held_out:
        return store
    try:
        return SealedStore(store, AesSeal(seed_of(environment, "pod")))
    except InputError as error:
        raise UnusableJobSpec(str(error)) from None


def suite_store(environment: Mapping[str, str]) -> Store:
    """The store of the suite's rows.

    Raises:
        UnusableJobSpec: Its URL is missing or invalid.
    """
    return _opened(ENV_SUITE_STORE, environment, SUITE_ENV_PREFIX)


def admin_tokens(spec: JobSpec) -> dict[str, str]:
    """Tokens of the gym servers' admin endpoints by base URL. The servers write them before they are ready.

    Raises:
        UnusableJobSpec: A file cannot be read or is empty.
    """
    return {spec.gyms[domain]: _admin_token(domain, Path(file)) for domain, file in spec.admin_token_files.items()}


def _admin_token(domain: str, file: Path) -> str:
    try:
        token = file.read_text(encoding="ascii").strip()
    except OSError as error:
        raise UnusableJobSpec(f"admin token of gym {domain}: {file} cannot be read: {error.strerror}") from None
    if not token:
        raise UnusableJobSpec(f"admin token of gym {domain}: {file} is empty")
    return token


def recordings_folder(environment: Mapping[str, str]) -> Path:
    """Folder in which ConfigMaps with recordings are mounted, each under its name."""
    return Path(environment.get(ENV_RECORDINGS) or RECORDINGS)


def _opened(variable: str, environment: Mapping[str, str], prefix: str) -> Store:
    location = _required(environment, variable)
    if location.startswith(("http://", "https://")):
        # A gateway passes on what is sealed; `open_store` does not.
        return SealedStore(GatewayStore(location, Path(_required(environment, ENV_STORE_TOKEN))))
    secret = environment.get(f"{prefix}AWS_SECRET_ACCESS_KEY")
    access = S3Access(
        endpoint_url=environment.get(f"{prefix}AWS_ENDPOINT_URL_S3") or None,
        region=environment.get(f"{prefix}AWS_REGION") or None,
        access_key_id=environment.get(f"{prefix}AWS_ACCESS_KEY_ID") or None,
        secret_access_key=SecretStr(secret) if secret else None,
    )
    try:
        return open_store(location, access)
    except InputError as error:
        raise UnusableJobSpec(f"{variable}: {error}") from None


def _required(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "")
    if not value:
        raise UnusableJobSpec(f"the environment variable {name} is not set")
    return value
