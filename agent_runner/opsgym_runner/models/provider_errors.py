"""What the error answer of a provider is about, by its status and its own fields.

Invariant: a phrase decides alone only where nothing else can: on the first request of a conversation. After an answered
request the position of the error says whose it is (`client`), and what is read here is only the name of the reason.
What an error quotes of the request is cut out before its words are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

TOO_LARGE = 413
"""HTTP status of a request body that is too long for the endpoint."""
_TOO_MANY = 429
_TRANSIENT = frozenset({408, 409, 424, 425, 498, 499})
"""HTTP statuses below 500 of a server, or a server behind it, that has no answer now."""
_QUOTED_WORDS = 4
"""Words in a row that an error has in common with the request and are therefore quoted from it."""


class Subject(Enum):
    """What an error is about."""

    UNAVAILABLE = "the server, which may answer the same request later"
    RATE_LIMIT = "too many requests or tokens in a minute"
    KEY = "the API key, or what it permits"
    QUOTA = "the quota or credit of the account"
    ADDRESS = "an unknown model or path"
    OVERFLOW = "a conversation that exceeds the model's context"
    FILTER = "a conversation that the provider's content filter refuses"
    MODELS_OUTPUT = "what the model wrote, which the server cannot read"
    SERVER = "the server's own state, with a status that blames the request"
    REQUEST = "the request, without saying more"


_CERTAIN = {401: Subject.KEY, 402: Subject.QUOTA}


@dataclass(frozen=True)
class ProviderError:
    """The answer to a request that failed."""

    status: int | None
    """HTTP status; None if there was no HTTP answer."""
    codes: frozenset[str]
    """Codes, types and status names in the body, in lower case."""
    text: str
    """The error's own words."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """With names in lower case."""
    body: Any = None
    """The body as JSON; None if it is not."""
    param: str = ""
    """Part of the request that the error names (`param`), in lower case; empty if it names none."""
    page: bool = False
    """Whether the answer is a web page, which no model's API sends."""


def read_error(status: int | None, headers: Mapping[str, str], error: Any, request: str = "") -> ProviderError:
    """The error in an answer.

    Args:
        status: HTTP status.
        headers: With names in lower case.
        error: The JSON value of the body, or its text.
        request: Text of the request, which the error may quote.
    """
    if isinstance(error, str):
        page = error.lstrip()[:1] == "<"
        return ProviderError(status, frozenset(), "" if page else _own(error, request), headers, page=page)
    texts: list[str] = []
    codes: set[str] = set()
    param = ""
    for part in _parts(error):
        for name, value in part.items():
            if name in _TEXTS and isinstance(value, str):
                texts.append(_own(value, request))
            elif name in _CODES and isinstance(value, str | int) and not isinstance(value, bool):
                codes.add(str(value).lower())
            elif name == "param" and isinstance(value, str):
                param = value.lower()
            elif name == "failed_generation":
                codes.add(name)
    return ProviderError(status, frozenset(codes), "\n".join(texts), headers, error, param)


def subject_of(error: ProviderError) -> Subject:
    """What an error is about, as far as the error itself says it."""
    status = error.status or 0
    if status in _CERTAIN:
        return _CERTAIN[status]
    if error.page and status not in (404, TOO_LARGE):
        return Subject.RATE_LIMIT if status == _TOO_MANY else Subject.UNAVAILABLE
    if status not in (404, _TOO_MANY) and _about_models_output(error):
        return Subject.MODELS_OUTPUT
    if status < 500 and status != 404 and _about_quota(error):
        return Subject.QUOTA
    if status == _TOO_MANY or _is_throttled(error):
        return Subject.RATE_LIMIT
    if status not in (403, 404) and _about_length(error):
        return Subject.OVERFLOW
    if status in _TRANSIENT or status >= 500:
        return Subject.UNAVAILABLE
    if status != 404 and _about_filter(error):
        return Subject.FILTER
    if status not in (403, 404, TOO_LARGE) and _SERVER.search(error.text):
        return Subject.SERVER
    return {403: Subject.KEY, 404: Subject.ADDRESS, TOO_LARGE: Subject.OVERFLOW}.get(status, Subject.REQUEST)


def is_same(first: ProviderError, second: ProviderError) -> bool:
    """Whether two errors are one: status, codes and words agree, numbers and ids aside."""

    def shape(error: ProviderError) -> tuple[Any, ...]:
        return error.status, error.page, re.sub(r"\S*\d\S*", "", error.text)

    return shape(first) == shape(second)


# What an error is about is read from facets that its words must all have, in any order and wording.


def _facet(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)


_INPUT = _facet(
    "context", "prompt", r"\binputs?\b", r"\bmessages?\b", "conversation", "sequence", r"requests?\b",
    "requested tokens", "tokens? count", r"\bbody\b", "payload", "max_model_len", r"\bn_ctx",
    "max_tokens must be at least", "上下文", "输入",
)  # fmt: skip
_LENGTH = _facet(
    "token", "length", r"\blong", "window", r"\bsizes?\b", "characters", r"\blarge", "max_model_len", "长度"
)
_EXCESS = _facet(
    r"exceed", r"\btoo (long|large|many|big)", r"(long|larg|great|bigg)er than", r"\bover\b", "beyond", r"maxim",
    r"\bmax\b", r"\blimit", r"\breduce", "shorten", "truncate", r"(does not|doesn't|cannot|can't) fit", r"must be <",
    "at most", r"(less|fewer|smaller) than", r"\bonly\b", "range of", r"\bgot -\d", r"\bno (room|space)",
    "overflow", "超",
)  # fmt: skip
_OVERFLOW_CODE = _facet(
    r"context.*(length|size|window|exceed|overflow)", r"(prompt|input).*(exceed|too_(long|large))",
    "tokens?_limit_reached", r"(request|payload)_(entity_)?too_(long|large)", r"\b3051\b",
)  # fmt: skip
_PER_MINUTE = _facet(r"per.?min", r"\b[TR]PM\b", "per.?second", "rate limit")
_PER_DAY = _facet(r"per.?(day|month|week)", r"\b[TR]PD\b", "daily", "monthly", "weekly")
_ACCOUNT = _facet(
    "balance", r"credits?\b", "quota", "billing", "recharge", r"top.?up", r"\bbudget\b", r"\bspend(ing)?\b",
    "usage limits?", "arrear", "overdue", "subscription", "prepaid", "余额", "充值", "欠费", "额度",
)  # fmt: skip
_SPENT = _facet(
    "insufficient", "exceed", r"\blow\b", r"\bused\b", "reached", "exhaust", r"\b(run|ran) out", "overdue", "suspend",
    "depleted", r"\bnot enough", r"\bmore\b", r"\bno\b", "expired", "past due", "不足", "用尽", "充值", "欠费",
)  # fmt: skip
_OWNER = _facet(
    r"\byou\b", r"\byour\b", "account", "organi[sz]ation", r"\bplan\b", "billing", "credit", "balance", "您", "账户"
)
_CLOSED = _facet("suspended", r"\bpaused\b", "not active", "inactive", "deactivated")
_QUOTA_CODE = _facet(
    "insufficient_(quota|balance|credit|fund)", "billing", "exceeded_current_quota", "arrear", r"\b1113\b", r"\b1008\b",
    r"(quota|credit|balance|spend\w*).*(exceed|exhaust|insufficient|limit)", "payment",
)  # fmt: skip
_FILTER = (
    _facet("polic", "moderat", "filter", "safety", "guardrail", "inappropriate", "unsafe", "sensitive", "harmful",
           "high risk", "prohibited", "flagged", "审核", "敏感"),
    _facet("content", "prompt", r"\binput", r"\boutput", "response", "request", "message", "text", "内容", "文本"),
    _facet("block", "reject", "refus", "flag", "violat", "trigger", "detect", "contain", "filtered", "inappropriate",
           "unsafe", "not (allowed|permitted)", "prohibited", "违", "敏感"),
)  # fmt: skip
_MODERATED = _facet("moderat", "flagged", "inappropriate", "sensitive", "unsafe", "content (policy|filter)")
_FILTER_CODE = _facet(
    r"content_?(policy|filter|moderation)", "inspection", "moderation", "safety", "sensitive", "invalid_prompt",
    "responsibleai", "prohibited", r"\b1301\b", r"\b102[67]\b",
)  # fmt: skip
_CALL = _facet(
    r"(tool|function).?(call|use)", r"call a (tool|function)", "harmony",
    r"model('s)? (produced|generated|wrote|emitted|output)", "message header", "failed_generation",
    r"\b(start|end) token", r"\bchannel (marker|value)", r"unknown role\W+(?!(system|developer|user|assistant|tool)\b)",
)  # fmt: skip
_UNREAD = _facet(
    "pars(e|ing)", "invalid", "malformed", r"\bfail", "did not match", "unexpected", "not valid", "unable", "could not",
    "decod", "unterminated", "unknown", "validat", r"\bno \w+ value",
)  # fmt: skip
_OUTPUT_CODE = _facet(
    "tool_use_failed", "tool_call.*fail", "output_parse", "failed_generation", "malformed_(function|tool)"
)
_SERVER = _facet(
    "crash", r"\bunloaded\b", r"fail\w* to load", "out of memory", "overloaded", "degraded", "temporar",
    r"(over|at|maximum) capacity", r"timed? ?out", r"internal (server )?error", r"(currently|service) unavailable",
    r"try again (later|in\b)", r"retry (later|shortly)",
)  # fmt: skip
_OF_THE_REQUEST = _facet(
    r"\bmessages?\W*\d", r"^(messages|input|tools|contents)\b", "role '?tool", "preceding", "must be followed"
)


def _says(text: str, *facets: re.Pattern[str]) -> bool:
    return all(facet.search(text) for facet in facets)


def _joined(error: ProviderError) -> str:
    return " ".join(sorted(error.codes))


def _about_models_output(error: ProviderError) -> bool:
    if _OF_THE_REQUEST.search(error.param) or _OF_THE_REQUEST.search(error.text):
        return False
    return bool(_OUTPUT_CODE.search(_joined(error))) or _says(error.text, _CALL, _UNREAD)


def _about_filter(error: ProviderError) -> bool:
    # A key may also be refused by a policy, so 403 needs a word about content.
    of_content = error.status != 403 or _MODERATED.search(error.text)
    return bool(_FILTER_CODE.search(_joined(error))) or bool(of_content and _says(error.text, *_FILTER))


def _about_length(error: ProviderError) -> bool:
    if _PER_MINUTE.search(error.text) or _PER_DAY.search(error.text):
        return False
    return bool(_OVERFLOW_CODE.search(_joined(error))) or _says(error.text, _INPUT, _LENGTH, _EXCESS)


def _is_throttled(error: ProviderError) -> bool:
    return any("throttl" in code for code in error.codes)


def _about_quota(error: ProviderError) -> bool:
    codes = _joined(error)
    if _QUOTA_CODE.search(codes):
        return True
    if _PER_DAY.search(error.text) or _PER_DAY.search(codes):
        return True
    if _PER_MINUTE.search(codes) or _is_throttled(error):  # a minute's quota has the words of a used-up one
        return False
    if _PER_MINUTE.search(error.text):
        return _says(error.text, _facet("request too large", "too large"))  # one request beyond a minute's tokens
    if _says(error.text, _facet("account"), _CLOSED):
        return error.status != 403
    if error.status == _TOO_MANY and not _OWNER.search(error.text):  # not the account's: one of requests
        return False
    return _says(error.text, _ACCOUNT, _SPENT) and not _says(error.text, _LENGTH, _facet("context", "prompt", "window"))


_TEXTS = frozenset(
    {"message", "msg", "error", "error_msg", "detail", "title", "status_msg", "raw", "error_description", "reason"}
)
_CODES = frozenset({"code", "type", "status", "error_code", "__type", "status_code", "quotaid", "quotaId", "reason"})
_NESTED = (
    "error",
    "errors",
    "detail",
    "details",
    "metadata",
    "raw",
    "base_resp",
    "innererror",
    "violations",
    "message",
)
"""Fields of an error that hold more of it."""


def _parts(value: Any, levels: int = 6) -> Iterator[Mapping[str, Any]]:
    """The objects of an error: the body and what its fields of `_NESTED` hold, also where that is JSON in a text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return
    if isinstance(value, list):
        for part in value:
            yield from _parts(part, levels)
    elif isinstance(value, dict) and levels:
        value = {str(name)[:1].lower() + str(name)[1:]: part for name, part in value.items()}
        yield value
        for name in _NESTED:
            if name in value:
                yield from _parts(value[name], levels - 1)


_QUOTED = re.compile(
    r"""\{.*\}|\[.*\]|"[^"]*\s[^"]*"|(?<!\w)'[^']*\s[^']*'(?!\w)|“[^”]*”|(?<!\w)`[^`]*\s[^`]*`(?!\w)""", re.DOTALL
)
_WORD = re.compile(r"\w+")


def _own(text: str, request: str) -> str:
    """The words of an error without what they quote: what is in quotation marks or brackets, or in the request."""
    text = _QUOTED.sub(" ", text)
    if not request:
        return text
    request_words = [word.lower() for word in _WORD.findall(request)]
    known = {tuple(request_words[n : n + _QUOTED_WORDS]) for n in range(len(request_words) - _QUOTED_WORDS + 1)}
    words = list(_WORD.finditer(text))
    quoted: set[int] = set()
    for n in range(len(words) - _QUOTED_WORDS + 1):
        if tuple(word[0].lower() for word in words[n : n + _QUOTED_WORDS]) in known:
            quoted.update(range(n, n + _QUOTED_WORDS))
    for n in sorted(quoted, reverse=True):
        text = text[: words[n].start()] + text[words[n].end() :]
    return text
