"""litellm, imported when first needed: it takes seconds, and commands that call no model must not pay for it.

Invariant: it never phones home. The price map is the bundled one, telemetry and its printing are off.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from functools import cache
from importlib import import_module
from typing import Any

_LOADING = threading.Lock()  # configuring it changes the process's warning filters, which only one thread may do


def load_litellm() -> Any:
    """The litellm module, configured once; whoever asks while it is being imported waits."""
    with _LOADING:
        return _configured()


def is_loaded() -> bool:
    """Whether litellm is there already; not while it is being imported."""
    return _configured.cache_info().currsize > 0


@cache
def _configured() -> Any:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # read at import; otherwise it downloads the map from GitHub
    requests = logging.getLogger("httpx")
    heard = requests.level
    import litellm

    requests.setLevel(heard)  # litellm silences it, for everybody
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # its messages quote requests; ours state what failed
    # A model that sends arguments as an object instead of a string is handled here; pydantic need not tell the user.
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)
    with warnings.catch_warnings():
        # litellm defers building its models to the first reply, and pydantic then has things to say about them. Here
        # they cost no episode any time, and a caller who makes errors of warnings loses no reply.
        warnings.simplefilter("ignore")
        litellm.ModelResponse()
        # The same for the client of OpenAI-compatible endpoints, which takes half a second to import.
        import_module("openai.resources.chat")
    return litellm
