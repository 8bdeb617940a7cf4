"""ConfigMaps with the specs of Jobs, as whole manifests."""

from __future__ import annotations

import json

from tests.operator.fleet import CONFIG
from tests.operator.manifests.material import LABELS, OWNER, RUN, new_job, resources

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import Access, Agent, Limits
from opsgym_operator.manifests.configmaps import job_spec_config_map
from opsgym_operator.manifests.job_spec import job_spec
from opsgym_operator.observe.labels import TASK


def test_a_job_spec_config_map_whole() -> None:
    config_map = job_spec_config_map(RUN, "nightly-abcdef-0", TASK, job_spec(RUN, new_job(), CONFIG))
    content = config_map.pop("data")
    assert config_map == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "nightly-abcdef-0",
            "namespace": "team",
            "labels": LABELS | {"opsgym.dev/role": "task"},
            "ownerReferences": [OWNER],
        },
        "immutable": True,
    }
    assert json.loads(content["job.json"]) == {
        "version": 1,
        "run": "team.nightly.1234",
        "store": "results",
        "cell": {"model": "gpt", "agent": "react", "mode": "oracle", "domain": "hybrid"},
        "model": {
            "name": "gpt",
            "model": "openai/gpt-5",
            "origin": "EvalModel gpt-5: spec",
            "endpoints": [
                {"url": "https://one/v1", "key_env": "OPSGYM_KEY_0", "header_envs": {}},
                {"url": "https://two/v1", "key_env": "OPSGYM_KEY_1", "header_envs": {}},
            ],
            "parameters": {},
            "stream": "auto",
            "max_concurrency": 4,
            "prices": Prices(input_usd=1, output_usd=2).model_dump(),
            "allow_unpriced": False,
            "aws": None,
        },
        "planner": None,
        "judge": None,
        "agent": Agent(name="react").model_dump(),
        "limits": Limits().model_dump(),
        "access": Access.PUBLISHED.value,
        "held_out": False,
        "gyms": {"itsm": "http://127.0.0.1:8801", "csm": "http://127.0.0.1:8802"},
        "admin_token_files": {"itsm": "/etc/opsgym/admin/gym-itsm", "csm": "/etc/opsgym/admin/gym-csm"},
        "trials": [{"task_id": "a", "trial": 0}, {"task_id": "b", "trial": 0}, {"task_id": "a", "trial": 1}],
        "trials_per_pod": 1,
        "resources": {
            "postgres": resources("postgres"),
            "gym-itsm": resources("gym"),
            "gym-csm": resources("gym"),
            "agent": resources("agent"),
        },
    }
