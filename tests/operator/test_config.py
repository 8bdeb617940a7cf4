"""The operator's configuration is read strictly."""

from __future__ import annotations

import pytest

from opsgym_api.errors import InputError
from opsgym_operator.config import OperatorConfig, parse_config

GOOD = """
stores:
  - name: results
    url: s3://bucket/prefix
    endpointUrl: http://s3.opsgym.svc:7070
    region: us-east-1
    secret: opsgym-results
  - {name: archive, url: s3://other}
defaultStore: results
images: {runner: runner:1, domains: domains:1, pullPolicy: Never, pullSecrets: [registry]}
gyms: {csm: {image: csm:1, port: 8005}}
pods:
  resources:
    agent: {requests: {cpu: 100m}, limits: {memory: 1Gi}}
  nodeSelector: {pool: evals}
  tolerations: [{key: evals, operator: Exists, effect: NoSchedule}]
  priorityClassName: low
  serviceAccountName: opsgym-task
  databaseMegabytes: 512
tracing:
  endpoint: http://collector.o.svc:4318
  headersSecret: {name: collector, key: otlp}
  samplingRatio: 0.5
  captureContent: true
logLevel: DEBUG
watchNamespaces: [team]
"""


def test_everything_that_can_be_said_is_read() -> None:
    config = parse_config(GOOD, "config.yaml")
    assert config.store_by_name["results"].endpoint_url == "http://s3.opsgym.svc:7070"
    assert config.store_by_name["archive"].secret is None
    assert config.gyms["csm"].port == 8005
    assert config.pods.resources.agent.requests == {"cpu": "100m"}
    assert config.pods.resources.gym.limits, "containers that are not mentioned keep their defaults"
    assert config.tracing is not None
    assert (config.tracing.sampling_ratio, config.tracing.capture_content, config.log_level) == (0.5, True, "DEBUG")
    assert OperatorConfig.model_validate_json(config.model_dump_json(by_alias=True)) == config


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "defaultStore: results",
            "defaultStore: nowhere",
            "defaultStore: 'nowhere' is not a store; configured: results, archive",
        ),
        ("name: archive", "name: results", "stores: names must be unique; repeated: results"),
        ("url: s3://other", "url: https://other", "stores[1].url (line 8): 'https://other' does not match"),
        (
            "databaseMegabytes: 512",
            "databaseMegabytes: '512'",
            "pods.databaseMegabytes (line 19): must be a valid integer",
        ),
        ("runner: runner:1, ", "", "images.runner (line 10): is required"),
        (
            "nodeSelector",
            "nodeSelektor",
            "pods.nodeSelektor (line 15): is not a field here; did you mean nodeSelector?",
        ),
        ("pullPolicy: Never", "pullPolicy: never", "images.pullPolicy (line 10): 'never' is not allowed; allowed: "),
        ("port: 8005", "port: 0", "gyms.csm.port (line 11): must be greater than or equal to 1"),
        ("stores:", "stores: &x", "is not YAML"),
        (GOOD, "", "must hold one YAML document, has 0"),
        (GOOD, "[]", "must be"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(old: str, new: str, problem: str) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new)
    if "&x" in new:
        text += "  bad: [\n"
    with pytest.raises(InputError) as caught:
        parse_config(text, "config.yaml")
    assert problem in str(caught.value)
    assert str(caught.value).startswith("config.yaml: ")
