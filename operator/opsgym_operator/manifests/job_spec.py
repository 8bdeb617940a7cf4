"""The specs that pods read (`JobSpec`, `PreflightSpec`), and the Secrets that their credentials come from.

Invariant: a spec names credentials by environment variable. The value reaches the container from its Secret, never
through an object that the operator writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from opsgym_api.jobs.job_spec import JobAws, JobEndpoint, JobModel, JobSpec, PreflightSpec
from opsgym_api.kinds.credentials import AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, named_credentials
from opsgym_api.kinds.evalmodel import AwsAccess, ModelSpec, SecretKey
from opsgym_api.kinds.evalrun import Agent, EvalRunSpec
from opsgym_api.records.attempt import Cell
from opsgym_operator.config import OperatorConfig
from opsgym_operator.observe.labels import label_of
from opsgym_operator.observe.objects import ObservedRun
from opsgym_operator.plan.desired import PreflightJob, ResolvedSpec, TaskJob
from opsgym_operator.plan.run.accept import REPLAY, model_origins
from opsgym_operator.pod_template import Resources

ADMIN_FOLDER = "/etc/opsgym/admin"
"""Where containers of a pod see the volume with the tokens of the gym servers' admin endpoints."""
FIRST_GYM_PORT = 8801
"""Port of a pod's first gym server; the others count on from it."""


@dataclass(frozen=True)
class ModelRoles:
    """Names of the models of an episode, by role."""

    model: str
    """The model that is evaluated."""
    planner: str | None = None
    """The model that plans, if another one does."""
    judge: str | None = None
    """The model that judges answers, if one does."""

    @property
    def names(self) -> list[str]:
        """The models that have a role."""
        return [name for name in (self.model, self.planner, self.judge) if name is not None]


@dataclass(frozen=True)
class KeyEnv:
    """An environment variable that takes its value from a Secret."""

    name: str
    secret: str
    key: str


def model_roles_of(spec: EvalRunSpec, cell: Cell) -> ModelRoles:
    """The models that the episodes of a cell use."""
    return ModelRoles(model=cell.model, planner=_agent_of(spec, cell).planner, judge=spec.judge)


def models_of(job: TaskJob | PreflightJob) -> list[ModelSpec]:
    """The models that a Job's pods use: for a task by role, for a preflight all models of the run."""
    models = job.resolved.models
    if isinstance(job, PreflightJob):
        return list(models.values())
    return [models[name] for name in model_roles_of(job.resolved.spec, job.cell).names]


def key_envs(models: Iterable[ModelSpec]) -> list[KeyEnv]:
    """A variable for each distinct credential that the models name, in the order in which they name them."""
    secret_keys = dict.fromkeys(
        (credentials.secret, credentials.key)
        for model in models
        for _, credentials in named_credentials(model)
        if credentials.secret is not None
    )
    return [KeyEnv(f"OPSGYM_KEY_{number}", secret, key) for number, (secret, key) in enumerate(secret_keys)]


def recordings(models: Iterable[ModelSpec]) -> list[str]:
    """Names of the ConfigMaps that hold recordings of the models, without repetitions."""
    paths = (model.model.removeprefix(REPLAY) for model in models if model.model.startswith(REPLAY))
    return list(dict.fromkeys(path.partition("/")[0] for path in paths if "/" in path))


def job_model(name: str, model: ModelSpec, origin: str, envs: Sequence[KeyEnv]) -> JobModel:
    """A model as a pod reaches it.

    Args:
        name: Name in the run.
        model: Its specification.
        origin: Object and field that declare it.
        envs: Credentials of the pod.
    """
    variables = {(env.secret, env.key): env.name for env in envs}

    def key_env(own: SecretKey | None) -> str | None:
        credentials = own or model.credentials
        return variables.get((credentials.secret or "", credentials.key)) if credentials else None

    endpoints = [
        JobEndpoint(
            url=endpoint.url,
            key_env=key_env(endpoint.credentials),
            header_envs={
                header.name: variables[header.value_from.secret or "", header.value_from.key]
                for header in endpoint.headers
            },
        )
        for endpoint in model.endpoints
    ]
    if not endpoints and model.credentials is not None:
        endpoints = [JobEndpoint(key_env=key_env(None))]
    return JobModel(
        name=name,
        model=model.model,
        origin=origin,
        endpoints=endpoints,
        parameters=model.parameters,
        stream=model.stream,
        max_concurrency=model.max_concurrency,
        prices=model.prices,
        allow_unpriced=model.allow_unpriced,
        aws=_job_aws(model.aws, variables) if model.aws is not None else None,
    )


def _job_aws(aws: AwsAccess, variables: Mapping[tuple[str, str], str]) -> JobAws:
    return JobAws(
        key_id_env=variables[aws.secret, AWS_ACCESS_KEY_ID],
        secret_env=variables[aws.secret, AWS_SECRET_ACCESS_KEY],
        region=aws.region,
    )


def job_spec(run: ObservedRun, job: TaskJob, config: OperatorConfig) -> JobSpec:
    """What the pods of a task Job run."""
    spec, roles = job.resolved.spec, model_roles_of(job.resolved.spec, job.cell)
    models = _job_models(run, job.resolved, roles.names, key_envs(models_of(job)))
    return JobSpec(
        run=run.id,
        store=job.resolved.store.name,
        cell=job.cell,
        model=models[roles.model],
        planner=models[roles.planner] if roles.planner is not None else None,
        judge=models[roles.judge] if roles.judge is not None else None,
        agent=_agent_of(spec, job.cell),
        limits=spec.limits,
        access=spec.suite.access,
        held_out=spec.suite.held_out,
        gyms={domain: f"http://127.0.0.1:{port}" for domain, port in gym_ports(job.gyms, config).items()},
        admin_token_files={domain: admin_token_file(domain) for domain in own_gyms(job.gyms, config)},
        trials=list(job.trials),
        trials_per_pod=job.per_pod,
        resources=resources_of(job.gyms, config),
    )


def preflight_spec(run: ObservedRun, job: PreflightJob) -> PreflightSpec:
    """What a run's preflight checks."""
    resolved = job.resolved
    models = _job_models(run, resolved, list(resolved.models), key_envs(models_of(job)))
    return PreflightSpec(
        run=run.id,
        store=resolved.store.name,
        suite=resolved.spec.suite,
        models=list(models.values()),
        evaluated=[model.name for model in resolved.spec.models],
        agents=resolved.spec.agents,
        budget=resolved.spec.budget is not None,
    )


def _job_models(
    run: ObservedRun, resolved: ResolvedSpec, names: Iterable[str], envs: Sequence[KeyEnv]
) -> Mapping[str, JobModel]:
    origins = model_origins(run.name, resolved.spec)
    return {name: job_model(name, resolved.models[name], origins[name], envs) for name in names}


def _agent_of(spec: EvalRunSpec, cell: Cell) -> Agent:
    return next(agent for agent in spec.agents if agent.name == cell.agent)


def gym_ports(gyms: Sequence[str], config: OperatorConfig) -> dict[str, int]:
    """Port of each gym server of a pod, by domain."""
    return {
        domain: config.gyms[domain].port if domain in config.gyms else FIRST_GYM_PORT + number
        for number, domain in enumerate(gyms)
    }


def own_gyms(gyms: Sequence[str], config: OperatorConfig) -> list[str]:
    """The domains that opsgym's own servers serve; the installation has set no other image for them."""
    return [domain for domain in gyms if domain not in config.gyms]


def admin_token_file(domain: str) -> str:
    """File of the token that a server of ours writes for its admin endpoints, and the agent's container reads."""
    return f"{ADMIN_FOLDER}/{gym_container(domain)}"


def gym_container(domain: str) -> str:
    """Name of the container that serves a domain."""
    return label_of(f"gym-{domain}")


def resources_of(gyms: Sequence[str], config: OperatorConfig) -> dict[str, dict[str, dict[str, str]]]:
    """Requests and limits by container, in the order in which the containers start."""
    resources, domains = config.pods.resources, config.pods.domains
    own = {domain: domains[domain].resources for domain in gyms if domain in domains}
    containers: dict[str, Resources] = {}
    if own_gyms(gyms, config):
        containers["postgres"] = _updated(resources.postgres, (other.postgres for other in own.values()))
    for domain in gyms:
        containers[gym_container(domain)] = _updated(resources.gym, [own[domain].gym] if domain in own else [])
    containers["agent"] = _updated(resources.agent, (other.agent for other in own.values()))
    return {name: resources.model_dump() for name, resources in containers.items()}


def _updated(resources: Resources, others: Iterable[Resources]) -> Resources:
    return reduce(Resources.updated, others, resources)
