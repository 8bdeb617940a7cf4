"""Streams answers of providers, and gives litellm the whole of each.

Invariant: litellm asks for whole answers and reads whole answers, so that a reply is the same whether it was streamed
or not. A stream that breaks off is a broken connection. The timeout of a streamed request is one of silence: it starts
anew with everything that arrives.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from opsgym_api.kinds.evalmodel import Streaming
from opsgym_runner.job import ModelEndpoint
from opsgym_runner.models.cloud_stream_shapes import BedrockAnswer, FrameError, FrameReader, GeminiAnswer
from opsgym_runner.models.stream_shapes import AnthropicAnswer, ChatAnswer, ResponsesAnswer, StreamedAnswer

STREAMING_HOSTS = {
    "openai/": ".openai.com",
    "azure/": ".azure.com",
    "anthropic/": ".anthropic.com",
    "openrouter/": ".openrouter.ai",
    "deepseek/": ".deepseek.com",
    "dashscope/": ".aliyuncs.com",
    "gemini/": ".googleapis.com",
    "vertex_ai/": ".googleapis.com",
}
"""Hosts of the providers that `stream: auto` streams, by the beginning of the litellm id. Servers that people run
themselves are not among them: vLLM and SGLang read tool calls in a stream by other code than in a whole answer. Nor is
Bedrock, where a stream needs a permission of its own."""

_EVENTS = "text/event-stream"
_FRAMES = "application/vnd.amazon.eventstream"
_WITH_FIELD = {"stream": True}
_WITH_USAGE = {**_WITH_FIELD, "stream_options": {"include_usage": True}}


@dataclass(frozen=True)
class _Api:
    """How an API is asked for a stream, and what it streams."""

    shape: type[StreamedAnswer]
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the body that ask for a stream."""
    path: str = ""
    """End of the path that asks for a stream, with its query; empty if the path is the same."""
    content_type: str = _EVENTS


_CONVERSE = "/converse"
_APIS = {
    "/chat/completions": _Api(ChatAnswer, _WITH_USAGE),
    "/messages": _Api(AnthropicAnswer, _WITH_FIELD),
    "/responses": _Api(ResponsesAnswer, _WITH_FIELD),
    ":generateContent": _Api(GeminiAnswer, path=":streamGenerateContent?alt=sse"),
    _CONVERSE: _Api(BedrockAnswer, path=f"{_CONVERSE}-stream", content_type=_FRAMES),
}
"""APIs by the end of the request's path."""
_OF_THE_STREAM = frozenset({"content-type", "content-length", "content-encoding", "transfer-encoding"})
"""Headers of a stream that a whole answer does not have."""
_STREAM_FIELDS = ("stream", "stream_options")

Send = Callable[[Any, httpx.Request], Awaitable[httpx.Response]]
"""Method of a transport of httpx: sends a request."""

_enabled: ContextVar[bool] = ContextVar("opsgym_streaming", default=False)


def is_streamed(model: str, endpoints: Iterable[ModelEndpoint], stream: Streaming) -> bool:
    """Whether a model's answers are streamed.

    Args:
        model: litellm id.
        endpoints: The model's endpoints.
        stream: The model's setting.
    """
    if stream != "auto":
        return stream == "always"
    host = next((host for prefix, host in STREAMING_HOSTS.items() if model.startswith(prefix)), None)
    hosts = [f".{urlsplit(endpoint.url).hostname}" for endpoint in endpoints if endpoint.url]
    return host is not None and all(name.endswith(host) for name in hosts)


@contextmanager
def streaming(enabled: bool) -> Iterator[None]:
    """Streams the answers to requests inside the block, if enabled."""
    token = _enabled.set(enabled)
    try:
        yield
    finally:
        _enabled.reset(token)


def with_streaming(send: Send) -> Send:
    """A transport's `send` that streams where it is enabled and the API is one of `_APIS`.

    A provider that refuses to stream gets the request once more without (OpenAI does so to organisations that it has
    not verified).
    """

    async def handle(transport: Any, request: httpx.Request) -> httpx.Response:
        end = next((end for end in _APIS if request.url.path.endswith(end)), None)
        if not _enabled.get() or end is None or request.method != "POST":
            return await send(transport, request)
        api = _APIS[end]
        response = await send(transport, _asking_for_a_stream(request, end, api))
        if response.status_code == httpx.codes.BAD_REQUEST and _refuses_streams(await response.aread()):
            return await send(transport, request)
        if not response.headers.get("content-type", "").startswith(api.content_type):
            return response
        return await _whole_answer(response, api)

    return handle


def with_streaming_signed(sign: Callable[..., Any]) -> Callable[..., Any]:
    """The function of litellm that signs requests to Bedrock: it signs the path that a streamed request is sent to."""

    def signed(*arguments: Any, endpoint_url: str, **options: Any) -> Any:
        if _enabled.get() and endpoint_url.endswith(_CONVERSE):
            endpoint_url = endpoint_url.removesuffix(_CONVERSE) + _APIS[_CONVERSE].path
        return sign(*arguments, endpoint_url=endpoint_url, **options)

    return signed


def _asking_for_a_stream(request: httpx.Request, end: str, api: _Api) -> httpx.Request:
    # A body without new fields stays as it is, since its bytes may be signed.
    content = json.dumps({**json.loads(request.content), **api.fields}).encode() if api.fields else request.content
    headers = [(name, value) for name, value in request.headers.multi_items() if name != "content-length"]
    url = _streamed_url(request.url, end, api) if api.path else request.url
    return httpx.Request(request.method, url, headers=headers, content=content, extensions=request.extensions)


def _streamed_url(url: httpx.URL, end: str, api: _Api) -> httpx.URL:
    path, _, query = url.raw_path.decode("ascii").partition("?")
    path = path.removesuffix(end) + api.path
    return url.copy_with(raw_path=(f"{path}{'&' if '?' in path else '?'}{query}" if query else path).encode("ascii"))


def _refuses_streams(content: bytes) -> bool:
    """Whether an error is about the request's fields for streaming, as OpenAI's `param` says."""
    try:
        body = json.loads(content)
    except ValueError:
        return False
    error = body.get("error") if isinstance(body, dict) else None
    return isinstance(error, dict) and error.get("param") in _STREAM_FIELDS


async def _whole_answer(response: httpx.Response, api: _Api) -> httpx.Response:
    """Reads a stream to its end.

    Raises:
        httpx.ReadError: It ended before the answer did, or its bytes are damaged.
        httpx.ReadTimeout: Nothing arrived for the request's timeout.
    """
    answer = api.shape()
    try:
        async for data in _frames(response) if api.content_type == _FRAMES else _events(response):
            answer.read(data)
            if answer.ended:
                break
    finally:
        await response.aclose()
    if not answer.complete:
        raise httpx.ReadError("the stream ended before the answer", request=response.request)
    status, body = answer.whole()
    headers = [(name, value) for name, value in response.headers.multi_items() if name not in _OF_THE_STREAM]
    headers.append(("content-type", "application/json"))
    return httpx.Response(status, headers=headers, content=json.dumps(body).encode(), request=response.request)


async def _events(response: httpx.Response) -> AsyncIterator[str]:
    """Data of each event of a stream; comments, which only keep the connection open, are left out."""
    data: list[str] = []
    async for line in _lines(response):
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []
    if data:
        yield "\n".join(data)


async def _frames(response: httpx.Response) -> AsyncIterator[str]:
    """Data of each event of a stream of AWS."""
    reader = FrameReader()
    async for content in response.aiter_bytes():
        try:
            for data in reader.read(content):
                yield data
        except FrameError:
            raise httpx.ReadError("an event of the stream is damaged", request=response.request) from None


async def _lines(response: httpx.Response) -> AsyncIterator[str]:
    """Lines of a stream. httpx's own reader also splits at characters that JSON may hold, such as U+2028."""
    rest = b""
    async for content in response.aiter_bytes():
        *lines, rest = (rest + content).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")
