"""Definition of a domain: everything that the kit needs to serve it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import MetaData
from sqlalchemy.ext.asyncio import AsyncSession

from opsgym_api.records.state_difference import StateDifference
from opsgym_domains.kit.access import AccessRules, Scope
from opsgym_domains.kit.arguments import checked
from opsgym_domains.kit.gym import Actor, Gym
from opsgym_domains.kit.passing import Deadline, pass_time
from opsgym_domains.kit.response_style import ENVELOPED, ResponseStyle
from opsgym_domains.kit.tools import Tool, Toolbox

Identify = Callable[[AsyncSession, str | None], Awaitable[Actor]]
"""Finds the acting user by the value of the identity header, None if the call has no such header.

Raises:
    Unidentified: No user matches the value.
"""


Expire = Callable[[Gym, datetime, datetime], Awaitable[None]]
"""Does what time does between two times and no `Deadline` can state, such as deletions."""
Meaning = Callable[[StateDifference], StateDifference]
"""Marks rows of a whole difference that change nothing in meaning, and states what rows mean where columns do not."""
Accept = Callable[[Tool, Mapping[str, Any]], dict[str, Any]]
"""Checks the arguments of a call, and returns those that the tool's function receives.

Raises:
    ToolError, InvalidArguments: Arguments are missing or invalid.
"""


def checked_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Checks arguments by the tool's schema."""
    return checked(tool.parameters, arguments, tool.input_schema, nulls=tool.nulls)


@dataclass(frozen=True)
class Timeline:
    """Rows with a start and an end, which the explore page shows week by week."""

    table: str
    key: str
    """Column with the table's primary key."""
    query: str
    """Query in SQLite's dialect for the entries: `key`, `list_key` and `list_name` of the list that an entry is in,
    `title`, `starts` and `ends` (`2026-10-28 09:00:00`, by the wall clock), `zone` and `note`; `title`, `zone` and
    `note` may be null."""


@dataclass(frozen=True)
class SearchTool:
    """A tool that lists threads of a mailbox, and the names of its arguments and results."""

    name: str
    mailbox: str
    text: str
    """Argument with the search."""
    labels: str
    """Argument with a list of labels."""
    size: str
    page: str
    """Argument with the token of a page."""
    threads: str
    """Field of the result with the threads, each with an `id`."""
    next_page: str
    """Field of the result with the token of the next page."""


@dataclass(frozen=True)
class Mail:
    """Mailboxes with labels and threads, which the explore page shows as an inbox.

    Queries are in Postgres' dialect; times are `2026-10-28 09:00`.
    """

    table: str
    """Table of the messages, and `key`, its primary key."""
    key: str
    mailboxes: str
    """Query for `key`, the mailbox' address, `name`, and `identity`, the value of its owner's identity header."""
    labels: str
    """Query for the labels: `mailbox`, `key`, `name`, and `n` and `unread`, numbers of threads."""
    first_label: str
    """Label that is shown first."""
    threads: str
    """Query for the threads: `key`, `title`, `people`, `snippet`, `time` of the newest message, `n`, the number of
    messages, and `unread`."""
    messages: str
    """Query for the messages: `thread`, `key`, `time`, `sender`, `recipients`, `labels`, `text` and `files`."""
    search: SearchTool


@dataclass(frozen=True)
class Story:
    """Records that the explore page shows with what belongs to them in order of time, for instance cases with tasks.

    Queries are in SQLite's dialect.
    """

    name: str
    """What the records are, in the plural."""
    table: str
    key: str
    """Column with the table's primary key."""
    records: str
    """Query for the records, in the order of their list: `key`, `number`, `title`, `state`, `note` and `open`, whether
    work on the record goes on; `note` may be null."""
    facts: str
    """Query for what is known of records: `record` (key), `place` in the order, `name` and `value`; facts whose value
    is null are left out."""
    entries: str
    """Query for what belongs to records: `record`, `at` (`2026-10-28 09:00:00`), `place` among those of the same time,
    `kind`, `title`, `state`, `note`, and `table`, `column` and `key` of the row; `state` and `note` may be null."""


@dataclass(frozen=True)
class FileSearch:
    """A tool that searches files, and the names of its arguments and results."""

    name: str
    text: str
    """Argument with the search."""
    example: str
    """Begin of a search, which the page shows in the empty box."""
    given: Mapping[str, Any]
    """Other arguments of the call."""
    files: str
    """Field of the result with the files, each with an `id`."""


@dataclass(frozen=True)
class Files:
    """Files in folders, which the explore page shows as a file browser.

    Queries are in Postgres' dialect; times are `2026-10-28 09:00`.
    """

    table: str
    """Table of the files, and `key`, its primary key."""
    key: str
    places: str
    """Query for what holds files at its top level, for instance shared drives: `key`, `name` and `kind`."""
    files: str
    """Query for files and folders in the order of their lists: `key`, `name`, `place`, `parent` (the folder; null at
    the top level), `folder`, whether it is one, `kind`, `people`, `time`, `labels` (one a line), `shared`, whether
    others reach it, and `trashed`."""
    facts: str
    """Query for what is known of files: `file` (key), `place` in the order, `name` and `value`; facts whose value is
    null are left out."""
    access: str
    """Query for who reaches files and places, in the order of their lists: `file` (key of a file or a place), `who`,
    `note`, `role`, `gone` (the account was deleted), `table`, `column` and `key` of the row, and where the role holds
    from: `folder` and `folder_name`, `drive` and `drive_name` of a place, none of them for a role on the file."""
    search: FileSearch


@dataclass(frozen=True)
class Conversations:
    """Channels of teams, and chats, which the explore page shows with their messages.

    Queries are in SQLite's dialect; times are `2026-10-28 09:00:00`. A place is a team, a channel or a chat: `table`,
    `column` and `key` of its row.
    """

    places: str
    """Query for the places in the order of their list: `section`, the heading that they are under, `table`, `column`,
    `key`, `of` (key of a channel's team; null for teams and chats), `name`, `kind`, `people`, `state` and
    `has_messages` (0 for a place that only groups others, as a team does); `people` and `state` may be null."""
    facts: str
    """Query for what is known of places: `table` and `key`, `place` in the order, `name` and `value`; facts whose value
    is null are left out."""
    messages: str
    """Query for the messages: `table` and `place` (key of the place), `row_table`, `row_column` and `key` of the row,
    `reply_to` (key of the post that a reply is to; null for a post), `time`, `sender`, `title`, `text`,
    `reactions` (one a line), `pinned`, and `edited` and `deleted`, times or null."""


@dataclass(frozen=True)
class Domain:
    """A domain's tables, tools, identity and built-in seeds."""

    name: str
    service: str
    """Service name in the answer of `/health`."""
    metadata: MetaData
    toolbox: Toolbox
    identity_header: str
    identify: Identify
    response_style: ResponseStyle = ENVELOPED
    """Format of results and refusals."""
    accept: Accept = checked_arguments
    """Checks the arguments of a call."""
    lists_results: bool = False
    """Whether the tool list contains result schemas (`outputSchema`)."""
    query_limit: int | None = None
    """LIMIT of sql-runner queries without a LIMIT; None for no limit."""
    seeds: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    """Readers of seed scripts in SQLite's dialect, by name; the explore page loads the first one by default."""
    policy: Callable[[], str] | None = None
    """Reads the policy that agents must follow (Markdown); None if there is none."""
    actors: str = ""
    """Query in SQLite's dialect for the users that may act, shown on the explore page: `name`, `note` and `identity`,
    the value of the identity header."""
    timeline: Timeline | None = None
    """Rows that the explore page shows week by week; None if there are none."""
    mail: Mail | None = None
    """Mailboxes that the explore page shows as an inbox; None if there are none."""
    story: Story | None = None
    """Records that the explore page shows with their story; None if there are none."""
    files: Files | None = None
    """Files that the explore page shows in a file browser; None if there are none."""
    conversations: Conversations | None = None
    """Channels and chats that the explore page shows with their messages; None if there are none."""
    scope: Scope | None = None
    """Conditions of the rows of a table that the acting user sees in every access, for a server that keeps users apart
    as published; None if every user sees all rows in access `published`."""
    deadlines: Sequence[Deadline] = ()
    """What time does to the rows by itself."""
    expire: Expire | None = None
    """What time does beyond the deadlines; None if nothing."""
    meaning: Meaning | None = None
    """What whole differences mean, for verification; None if every row means itself."""
    access: AccessRules | None = None
    """Rules of access `strict`; None if the domain supports only `published`."""

    def __post_init__(self) -> None:
        """Refuses access rules that do not cover exactly the domain's tools."""
        if self.access is not None and (mismatch := set(self.access.resources) ^ set(self.toolbox.tools)):
            raise ValueError(f"access rules and tools of {self.name} differ: {', '.join(sorted(mismatch))}")

    async def passes(self, gym: Gym, before: datetime, after: datetime) -> None:
        """Does what time does between two times of a database's clock, in the transaction that moves the clock."""
        await pass_time(self.deadlines, gym, before, after)
        if self.expire is not None and after > before:
            await self.expire(gym, before, after)
