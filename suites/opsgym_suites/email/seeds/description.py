"""What a company's description holds: people, correspondents and the topics of everyday mail.

Invariant: a text names people, companies and things by slots or by the words of the description, so that variants of
the world replace them everywhere. A company is called as the first label of its host is, with a capital.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Correspondent:
    """A person with a mailbox, of the company or of a partner."""

    address: str
    """The address before the company's host, or a whole one."""
    name: str
    voice: int
    """Number of the way in which the person opens and closes messages."""
    active: bool = True


@dataclass(frozen=True)
class Topic:
    """A kind of conversation that occurs again and again."""

    subject: str
    turns: Sequence[tuple[str, str]]
    """Who writes, and what: `me`, or an address; both with slots."""
    label: str = ""
    """Name of the owner's label; empty for none."""
    file: str = ""
    """Name of the file that is attached to the first message; empty for none."""
    copied: Sequence[str] = ()
    """Addresses that get a copy."""


@dataclass(frozen=True)
class Notice:
    """A message that a machine or a list sends, and no one answers."""

    sender: str
    """Name and address."""
    subject: str
    body: str
    category: str
    """System label of its category."""
    place: str = "INBOX"
    """System label where it usually is: INBOX, SPAM, TRASH, or empty for the archive."""


@dataclass(frozen=True)
class Company:
    """All that a seed is generated from, apart from the messages on which tasks turn."""

    host: str
    """Host of the company's addresses."""
    people: Sequence[Correspondent]
    partners: Sequence[Correspondent]
    owner: str
    """Address of the person whose everyday mail is in the seed."""
    topics: Sequence[Topic]
    notices: Sequence[Notice]
    slots: Mapping[str, Sequence[str]]
    """Values of the slots of texts."""
    labels: Sequence[str]
    """The owner's labels."""
    messages: int
    """Least number of messages of the owner."""
    founded: datetime
    """When accounts and labels were made, and the first everyday mail may be dated."""
    keys: str
    """Start of what keys are derived from, so that two companies' keys differ."""
    colleagues: int = 24
    """Number of everyday conversations that each other colleague has."""
    label_names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Labels of other mailboxes by address."""
