"""Credentials and models of job specs."""

from __future__ import annotations

from tests.operator.manifests.material import MODEL

from opsgym_api.jobs.job_spec import JobAws
from opsgym_api.kinds.evalmodel import ModelSpec
from opsgym_operator.manifests.job_spec import job_model, key_envs


def test_a_repeated_credential_is_one_variable() -> None:
    models = [MODEL, ModelSpec.model_validate({"model": "x/y", "credentials": {"secret": "two", "key": "k"}})]
    assert [(env.name, env.secret, env.key) for env in key_envs(models)] == [
        ("OPSGYM_KEY_0", "openai", "api-key"),
        ("OPSGYM_KEY_1", "two", "k"),
    ]


def test_a_model_without_endpoints_uses_its_key_at_the_provider() -> None:
    keyed = ModelSpec.model_validate({"model": "openai/gpt-5", "credentials": {"secret": "openai"}})
    [endpoint] = job_model("m", keyed, "here", key_envs([keyed])).endpoints
    assert (endpoint.url, endpoint.key_env) == (None, "OPSGYM_KEY_0")
    assert job_model("m", ModelSpec(model="replay/gold"), "here", []).endpoints == []


def test_secret_headers_and_aws_access_are_variables_of_the_pod() -> None:
    gateway = {"url": "https://g", "headers": [{"name": "Ocp-Apim-Subscription-Key", "valueFrom": {"secret": "apim"}}]}
    spec = ModelSpec.model_validate(
        {"model": "bedrock/x", "endpoints": [gateway], "aws": {"secret": "bedrock", "region": "eu-1"}}
    )
    envs = key_envs([spec])
    assert [(env.name, env.secret, env.key) for env in envs] == [
        ("OPSGYM_KEY_0", "bedrock", "access-key-id"),
        ("OPSGYM_KEY_1", "bedrock", "secret-access-key"),
        ("OPSGYM_KEY_2", "apim", "api-key"),
    ]
    model = job_model("m", spec, "here", envs)
    assert model.endpoints[0].header_envs == {"Ocp-Apim-Subscription-Key": "OPSGYM_KEY_2"}
    assert model.aws == JobAws(key_id_env="OPSGYM_KEY_0", secret_env="OPSGYM_KEY_1", region="eu-1")
