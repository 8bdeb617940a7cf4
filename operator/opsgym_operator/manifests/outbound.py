"""How the containers that reach stores and models get there: proxies, and the certificates that they trust.

Invariant: a variable that the installation sets itself is not set twice.
"""

from __future__ import annotations

from opsgym_core.common.proxies import CLUSTER, LOOPBACK, proxy_variables
from opsgym_operator.config import OperatorConfig
from opsgym_operator.observe.parse import Manifest
from opsgym_operator.pod_template import PodTemplate

CA_VOLUME = "ca-bundle"
CA_FOLDER = "/etc/opsgym/ca"
CA_FILE = f"{CA_FOLDER}/bundle.crt"
CA_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE")
"""Variables by which OpenSSL's users (httpx, aiohttp, litellm), requests, and boto3 find CA certificates."""


def outbound_env(config: OperatorConfig) -> list[Manifest]:
    """Environment variables of a container that reaches stores and models, with those that the installation adds."""
    added = added_env(config.pods)
    names = {variable["name"] for variable in added}
    proxy = config.proxy
    variables = proxy_variables(proxy.http, proxy.https, (*LOOPBACK, *CLUSTER, *proxy.no_proxy))
    if config.ca_bundle is not None:
        variables |= dict.fromkeys(CA_VARIABLES, CA_FILE)
    own = [{"name": name, "value": value} for name, value in variables.items() if name not in names]
    return [*own, *added]


def added_env(template: PodTemplate) -> list[Manifest]:
    """Environment variables that an installation adds."""
    return [variable.model_dump(by_alias=True, exclude_none=True) for variable in template.env]


def env_from(template: PodTemplate) -> Manifest:
    """`envFrom` of a container; empty if it has none."""
    return {"envFrom": list(template.env_from)} if template.env_from else {}


def added_mounts(template: PodTemplate) -> list[Manifest]:
    """Mounts that an installation adds."""
    return [mount.model_dump(by_alias=True, exclude_none=True) for mount in template.volume_mounts]


def outbound_mounts(config: OperatorConfig) -> list[Manifest]:
    """Mounts of a container that reaches stores and models, with those that the installation adds."""
    own = [{"name": CA_VOLUME, "mountPath": CA_FOLDER, "readOnly": True}] if config.ca_bundle else []
    return [*own, *added_mounts(config.pods)]


def ca_volumes(config: OperatorConfig) -> list[Manifest]:
    """The volume of the CA certificates, if the installation has some."""
    bundle = config.ca_bundle
    if bundle is None:
        return []
    items = {"items": [{"key": bundle.key, "path": "bundle.crt"}]}
    if bundle.secret is not None:
        return [{"name": CA_VOLUME, "secret": {"secretName": bundle.secret, **items}}]
    return [{"name": CA_VOLUME, "configMap": {"name": bundle.config_map, **items}}]
