"""Resolves the models of a local run: endpoints, keys from the environment, recordings, prices.

Invariant: every resolved model can be called, and its cost is known unless the user set `allowUnpriced`. Anything that
is missing is reported before the run starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import SecretStr

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.credentials import secret_parameters
from opsgym_api.kinds.evalmodel import Endpoint, ModelSpec, Prices, SecretKey
from opsgym_core.planning.documents import Documents, resolve_models
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models.checks import (
    SCRIPTED_REPLAYS,
    KnownPrices,
    MissingKey,
    required_key,
    unknown_price,
)
from opsgym_runner.models.credentials import unusable_because, usable
from opsgym_runner.models.endpoints import address_in
from opsgym_runner.models.prices import REPLAY, reports_cost
from opsgym_runner.replay.flaky import flaky_problems


class ModelResolver:
    """Resolves models and collects all of their problems.

    Args:
        folder: Folder that relative paths start from.
        environment: Environment variables, which hold credentials.
        known_prices: Returns the known prices of a model; None if they are unknown.
        missing_key: Returns the variable of the API key that a hosted model needs and that is not set, if any.
    """

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        known_prices: KnownPrices,
        missing_key: MissingKey,
    ) -> None:
        self._folder = folder
        self._environment = environment
        self._known_prices = known_prices
        self._missing_key = missing_key
        self._problems: list[Problem] = []

    def resolve(self, source: str, documents: Documents) -> dict[str, ResolvedModel]:
        """Resolves the models of a run, by name.

        Args:
            source: Name of the document in error messages.
            documents: The run and its models.

        Raises:
            InputError: A credential, a recording or a price is missing.
        """
        specs = resolve_models(documents.run, documents.models)
        evaluated = {entry.name for entry in documents.run.spec.models}
        models = {
            name: self._model(f"{'models' if name in evaluated else 'supportingModels'}[{name}]", name, spec)
            for name, spec in specs.items()
        }
        if self._problems:
            raise InputError(source, self._problems)
        return models

    def resolve_one(self, source: str, name: str, spec: ModelSpec) -> ResolvedModel:
        """Resolves one model that no run names.

        Args:
            source: Name of the document in error messages.
            name: Name of the model.
            spec: The model.

        Raises:
            InputError: A credential, a recording or a price is missing.
        """
        model = self._model("spec", name, spec)
        if self._problems:
            raise InputError(source, self._problems)
        return model

    def _model(self, path: str, name: str, spec: ModelSpec) -> ResolvedModel:
        for parameter in secret_parameters(spec.parameters):
            advice = (
                "credentials do not belong in a document; name a variable in credentials.env, "
                "or for a header in endpoints[].headers"
            )
            self._problems.append(Problem(f"{path}.parameters.{parameter}", advice))
        for problem in flaky_problems(spec.model, spec.parameters):
            self._problems.append(Problem(f"{path}.parameters.{problem.path}".rstrip("."), problem.message))
        endpoints = tuple(self._endpoints(path, spec))
        if spec.model.startswith(REPLAY):
            model, prices = self._recording(path, spec.model), spec.prices
        else:
            self._require_key(path, spec, endpoints)
            model, prices = spec.model, self._prices(path, spec)
        return ResolvedModel(
            name=name,
            model=model,
            endpoints=endpoints,
            parameters=spec.parameters,
            stream=spec.stream,
            max_concurrency=spec.max_concurrency,
            prices=prices,
        )

    def _endpoints(self, path: str, spec: ModelSpec) -> Iterator[ModelEndpoint]:
        shared = self._key(f"{path}.credentials", spec.credentials)
        if not spec.endpoints:
            yield ModelEndpoint(address_in(self._environment, spec.model), shared)
        for index, endpoint in enumerate(spec.endpoints):
            own = self._key(f"{path}.endpoints[{index}].credentials", endpoint.credentials)
            headers = self._headers(f"{path}.endpoints[{index}].headers", endpoint)
            yield ModelEndpoint(endpoint.url, own or shared, tuple(headers))

    def _headers(self, path: str, endpoint: Endpoint) -> Iterator[tuple[str, SecretStr]]:
        for position, header in enumerate(endpoint.headers):
            value = self._key(f"{path}[{position}].valueFrom", header.value_from, header=True)
            if value is not None:
                yield header.name, value

    def _key(self, path: str, reference: SecretKey | None, *, header: bool = False) -> SecretStr | None:
        if reference is None:
            return None
        if reference.env is None:
            advice = f"the Secret {reference.secret!r} is only available in a cluster; add env: VARIABLE for local mode"
            self._problems.append(Problem(path, advice))
            return None
        value = usable(self._environment.get(reference.env, ""))
        problem = unusable_because(value, header=header) if value else "is not set"
        if problem is not None:
            self._problems.append(Problem(f"{path}.env", f"the environment variable {reference.env} {problem}"))
            return None
        return SecretStr(value)

    def _recording(self, path: str, model: str) -> str:
        if model in SCRIPTED_REPLAYS:
            return model
        file = (self._folder / model.removeprefix(REPLAY)).resolve()
        if not file.is_file():
            expected = "expected replay/gold, replay/noop, replay/flaky, or replay/FILE with a recording"
            self._problems.append(Problem(f"{path}.model", f"{model!r}: {expected}; the file {file} does not exist"))
        return f"{REPLAY}{file}"

    def _require_key(self, path: str, spec: ModelSpec, endpoints: tuple[ModelEndpoint, ...]) -> None:
        """Refuses a hosted model whose provider requires a key that is not given."""
        if spec.credentials is not None:
            return  # _key has reported its problem, if it has one
        variable = required_key(spec.model, endpoints, self._missing_key)
        if variable is not None:
            advice = f"set the environment variable {variable}, or name another one in credentials.env"
            self._problems.append(Problem(path, f"{spec.model} needs an API key: {advice}"))

    def _prices(self, path: str, spec: ModelSpec) -> Prices | None:
        prices = spec.prices or self._known_prices(spec.model)
        if prices is None and not spec.allow_unpriced and not reports_cost(spec.model):
            self._problems.append(Problem(path, unknown_price(spec.model)))
        return prices
