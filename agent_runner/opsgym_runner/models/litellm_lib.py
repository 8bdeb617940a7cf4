"""litellm, imported on first use: the import takes seconds, which commands that call no model must not spend.

Invariant: litellm sends nothing home. Its price map is the bundled one; telemetry and console output are off. Requests
to the loopback address go through no proxy.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from functools import cache
from importlib import import_module
from typing import Any

from opsgym_core.common.proxies import keep_loopback_direct
from opsgym_runner.models.raw_answers import with_reading
from opsgym_runner.models.streaming import with_streaming, with_streaming_signed

_LOADING = threading.Lock()  # configuring it changes the process's warning filters, which only one thread may do


def load_litellm() -> Any:
    """The litellm module, configured once. Concurrent callers wait for the import."""
    with _LOADING:
        return _configured()


def is_loaded() -> bool:
    """Whether litellm has been imported; False during the import."""
    return _configured.cache_info().currsize > 0


@cache
def _configured() -> Any:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # read at import; otherwise it downloads the map from GitHub
    keep_loopback_direct(os.environ)  # replayed models are served on loopback
    requests = logging.getLogger("httpx")
    level = requests.level
    import litellm

    requests.setLevel(level)  # litellm silences it for the whole process
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # its messages quote requests; ours state what failed
    # Every client of litellm sends through this class, whose answers may be streamed (`streaming`) and are read first.
    transport = import_module("litellm.llms.custom_httpx.aiohttp_transport").LiteLLMAiohttpTransport
    transport.handle_async_request = with_reading(with_streaming(transport.handle_async_request))
    signer = import_module("litellm.llms.bedrock.base_aws_llm").BaseAWSLLM
    signer.get_request_headers = with_streaming_signed(signer.get_request_headers)
    # Tool arguments sent as an object instead of a string are handled by the client; the warning would only confuse.
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)
    with warnings.catch_warnings():
        # litellm defers building its models to the first reply, where pydantic warns about them. Built here they cost
        # no episode any time, and a process that turns warnings into errors loses no reply.
        warnings.simplefilter("ignore")
        litellm.ModelResponse()
        # The same for the client of OpenAI-compatible endpoints, which takes half a second to import.
        import_module("openai.resources.chat")
    return litellm
