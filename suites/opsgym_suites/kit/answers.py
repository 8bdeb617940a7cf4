"""Patterns for the forms in which answers and messages usually state a figure, a date, a time or a name.

Invariant: a pattern accepts every usual form of its value and no other value: 16 November 2026, November 16 and
2026-11-16 are one date, and the figure 10 is not found in 10:00, 110 or INC-10.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_BETWEEN = r"[\s_-]+"
_BETWEEN_PARTS = re.compile(r"(?:[\s_-](?!(?<=[A-Z]-)\d))+")
"""What stands between the parts of a name, but for the hyphen of a record number."""


def figure(number: int) -> str:
    """Pattern for a number in digits, as a word of its own; thousands may be set apart."""
    digits = f"{number:,}".replace(",", "[ ,.']?")
    return rf"(?<!\w)(?<!\d[.,:/-])(?<!\w-){digits}(?!\w)(?![.,:/-]\d)"


def number(value: int) -> str:
    """Pattern for a number in digits or, up to twelve, in words."""
    word = rf"|\b{_WORDS[value]}\b" if 0 <= value < len(_WORDS) else ""
    return f"(?:{figure(value)}{word})"


def on_date(day: date) -> str:
    """Pattern for a date in the forms that people and servers write; the year may be missing after a month's name."""
    ordinal, month = rf"0?{day.day}(?:st|nd|rd|th)?", rf"{day:%b}(?:{f'{day:%B}'[3:]})?\.?"
    forms = (
        rf"(?<!\d){ordinal}(?:\s+of)?[\s-]+{month}(?!\w)",
        rf"\b{month}\s+(?:the\s+)?{ordinal}(?!\w)",
        rf"(?<!\d){day:%Y-%m-%d}(?!\d)",
        rf"(?<!\d)0?{day.day}[./]0?{day.month}[./]{day.year}",
        rf"(?<!\d)0?{day.month}/0?{day.day}/{day.year}",
        rf"\bthe\s+{day.day}(?:st|nd|rd|th)\b",
    )
    return f"(?:{'|'.join(forms)})"


def at_time(time: datetime) -> str:
    """Pattern for a time of day, of 24 or of 12 hours."""
    minute, half = f"{time:%M}", "a" if time.hour < 12 else "p"
    short = rf"(?:[:.]{minute})?" if time.minute == 0 else rf"[:.]{minute}"
    forms = (
        rf"(?<![\d:.])0?{time.hour}[:.]{minute}(?::00)?(?![\d])(?!:\d)(?!\s*[ap]\.?m\b)",
        rf"(?<![\d:.])0?{time.hour}\s?[hu]\s?{minute}\b",
        rf"(?<![\d:.])0?{time.hour % 12 or 12}{short}(?::00)?\s*{half}\.?m\b",
    )
    return f"(?:{'|'.join(forms)})"


def term(name: str) -> str:
    """Pattern for a value of an enumeration or a name: as a word of its own, with blanks or hyphens for underscores.

    The hyphen of a record number, for instance `INC-004197`, stays: variants know the number by it.
    """
    words = (re.escape(word).replace(r"\-", "-") for word in _BETWEEN_PARTS.split(name))
    return rf"(?<!\w){_BETWEEN.join(words)}(?!\w)"


_NEGATIONS = (
    r"no|nobody"
    r"|not|cannot|\w+n['’]t|neither|nor|never|nothing|none|without"
)
_REFUSALS = (
    r"unable|impossible|declin\w*|refus\w*|reject\w*|den(?:y|ied|ies)|forbid\w*|forbade|prohibit\w*|disallow\w*"
    r"|prevent\w*|refrain\w*|ignor\w*|disregard\w*|block\w*|against"
)
_AS_BEFORE = (
    r"un(?:changed|touched|altered|modified|done)|stay(?:s|ed|ing)?|remain(?:s|ed|ing)?|left|leav(?:e|es|ing)|kept"
    r"|keep(?:s|ing)?|still|stands? as|held (?:off|back)"
)
NOT_DONE = rf"\b(?:{_NEGATIONS}|{_REFUSALS}|{_AS_BEFORE})\b"
"""Pattern for the words in which answers say that something was not done: by a negation, by a refusal, or by what is as
before. Whether the answer claims the opposite is judged by `CLAIMS_WORK`.
"""
_CHANGED = (
    "closed resolved moved changed updated created added removed deleted assigned sent shared granted renamed approved "
    "published cancelled canceled booked invited transferred escalated reopened marked forwarded linked registered "
    "posted trashed restored rescheduled scheduled completed lifted gave handed archived labelled labeled disabled "
    "enabled"
).replace(" ", "|")
_NOT_BEFORE = r"(?!\W+(?:[\w'’-]+\W+){0,3}(?:no|not|nothing|neither|none|nor)\b)"
CLAIMS_WORK = (
    r"^\W*(?:all |it(?:'|’| i)s )?(?:done|completed|finished)\b(?! nothing)"
    rf"|(?<!if )(?<!that )\bI(?:['’]ve| have)?(?: now| just| also)? (?:{_CHANGED})\b{_NOT_BEFORE}"
    r"|\beverything (?:is|has been|was) (?:done|changed|completed)\b"
)
"""Pattern for an answer that claims a change."""
CLAIMS_NO_WORK = (
    r"\bI(?:['’]ve| have)? (?:did|done|changed) (?:none|nothing)\b(?! (?:else|more|further|other|beyond|besides))"
    r"|\bI (?:have not|haven['’]t|did not|didn['’]t) (?:do|done|change|changed)"
    r" (?:anything|any of (?:it|this|that|what))\b"
    r"(?! (?:else|more|further|other|beyond|besides))"
)
"""Pattern for an answer that denies all work."""
INACTIVE = r"\b(inactive|deactivated|disabled|closed|not active|no longer active)\b"
"""Pattern for what answers say of an account that cannot be used."""


def only_for(*roles: str) -> str:
    """Pattern for a reason that says that something is reserved to users with one of these roles."""
    role = rf"\b(?:{'|'.join(roles)})s?\b"
    reserved = r"\b(?:only|needs?|takes?|requires?|has to|have to|must|may|can|reserved|limited|restricted|right)\b"
    return f"(?:{reserved}[^.]*{role}|{role}[^.]*{reserved})"


def without(pattern: str, at_most: int | None = None) -> str:
    """Pattern for a text in which another pattern is not found, of a number of characters at most."""
    length = "" if at_most is None else rf"(?=.{{0,{at_most}}}\Z)"
    return rf"(?s)\A{length}(?!.*(?:{pattern}))"


def all_of(patterns: Iterable[str]) -> str:
    """Pattern for a text in which each of these is found, in any order."""
    return "(?s)^" + "".join(f"(?=.*(?:{pattern}))" for pattern in patterns)
