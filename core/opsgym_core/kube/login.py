"""Credentials for the API server: the only use of kopf in the core.

Invariant: in a cluster the API server is addressed by IP address, so that nothing here depends on the cluster's DNS.
"""

from __future__ import annotations

import os
from dataclasses import replace

import kopf


def login() -> kopf.ConnectionInfo:
    """Credentials of the pod's service account, or of the current context of the kubeconfig.

    Raises:
        kopf.LoginError: Neither exists.
    """
    settings = kopf.OperatorSettings()
    info = kopf.login_with_service_account(settings=settings)
    if info is not None:
        # By address: an operator that needs the cluster's DNS to start cannot outlive a broken one.
        host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        if not host:
            return info
        return replace(info, server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}")
    info = kopf.login_with_kubeconfig(settings=settings)
    if info is None:
        raise kopf.LoginError("no cluster: run in a pod with a service account, or set KUBECONFIG")
    return info
