"""Resolves a pod's job spec, the frozen suite and the credentials of the environment into a `Job`.

Invariant: a missing or invalid input raises `NotScored` with a message that names the object to fix.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from opsgym_api.jobs.job_spec import JobModel, JobSpec, TrialRef
from opsgym_api.kinds.evalrun import Mode
from opsgym_api.records.outcomes import ConfigReason, InfraReason
from opsgym_core.results.frozen_suite import FrozenSuiteError, read_frozen
from opsgym_core.store.base import Store
from opsgym_runner.errors import config_error, infra_error
from opsgym_runner.job import AwsCredentials, Job, ModelEndpoint, ResolvedModel
from opsgym_runner.models.checks import SCRIPTED_REPLAYS
from opsgym_runner.models.credentials import unusable_because, usable
from opsgym_runner.models.prices import REPLAY, known_prices
from opsgym_runner.pod.job_spec import recordings_folder


def resolve_job(spec: JobSpec, ref: TrialRef, attempt: int, store: Store, environment: Mapping[str, str]) -> Job:
    """Resolves the job of one attempt.

    Args:
        spec: The pod's job spec.
        ref: The pod's trial.
        attempt: Number of the attempt.
        store: The result store.
        environment: Environment variables with credentials and folders.

    Raises:
        NotScored: The row, a seed or a key is missing or cannot be used.
        StoreError: The store cannot be read.
    """
    try:
        task, seeds = read_frozen(store, spec.run, ref.task_id)
    except FrozenSuiteError as error:
        if isinstance(error.reason, InfraReason):
            raise infra_error(error.reason, str(error)) from None
        raise config_error(error.reason, str(error)) from None
    return Job(
        run=spec.run,
        cell=spec.cell,
        task=task,
        trial=ref.trial,
        attempt=attempt,
        model=resolved_model(spec.model, environment),
        agent=spec.agent,
        mode=_mode(spec.cell.mode),
        limits=spec.limits,
        access=spec.access,
        gyms=spec.gyms,
        seeds=seeds,
        resources=spec.resources,
        planner=resolved_model(spec.planner, environment) if spec.planner else None,
        judge=resolved_model(spec.judge, environment) if spec.judge else None,
    )


def resolved_model(model: JobModel, environment: Mapping[str, str]) -> ResolvedModel:
    """Resolves a model's credentials and the path of its recording.

    Raises:
        NotScored: A key is empty, or no request can carry it.
    """
    endpoints = tuple(
        ModelEndpoint(
            endpoint.url,
            _key(endpoint.key_env, model, environment),
            tuple(
                (name, _secret(variable, model, environment, header=True))
                for name, variable in endpoint.header_envs.items()
            ),
        )
        for endpoint in model.endpoints
    )
    return ResolvedModel(
        name=model.name,
        model=with_recording_path(model.model, recordings_folder(environment)),
        endpoints=endpoints or (ModelEndpoint(),),
        parameters=model.parameters,
        stream=model.stream,
        max_concurrency=model.max_concurrency,
        prices=model.prices or known_prices(model.model),
        aws=_aws(model, environment),
    )


def with_recording_path(model: str, folder: Path) -> str:
    """The model id with the path of a mounted recording; other ids are returned unchanged.

    Args:
        model: litellm id, or `replay/<ConfigMap>/<key>`.
        folder: Folder of the mounted recordings.
    """
    if not model.startswith(REPLAY) or model in SCRIPTED_REPLAYS:
        return model
    return f"{REPLAY}{folder / model.removeprefix(REPLAY)}"


def _key(variable: str | None, model: JobModel, environment: Mapping[str, str]) -> SecretStr | None:
    return None if variable is None else _secret(variable, model, environment)


def _aws(model: JobModel, environment: Mapping[str, str]) -> AwsCredentials | None:
    if model.aws is None:
        return None
    key_id = _secret(model.aws.key_id_env, model, environment).get_secret_value()
    return AwsCredentials(key_id, _secret(model.aws.secret_env, model, environment), model.aws.region)


def _secret(variable: str, model: JobModel, environment: Mapping[str, str], *, header: bool = False) -> SecretStr:
    value = usable(environment.get(variable, ""))
    problem = unusable_because(value, header=header)
    if problem is not None:
        declared = model.origin or f"model {model.name}"
        message = f"the key of model {model.name} {problem}; check the Secret that {declared} names in its credentials"
        raise infra_error(InfraReason.MODEL_AUTH, message)
    return SecretStr(value)


def _mode(name: str) -> Mode:
    try:
        return Mode(name)
    except ValueError:
        raise config_error(ConfigReason.UNSUPPORTED, f"unknown mode {name!r}; known: {', '.join(Mode)}") from None
