"""Each rule of a desk refuses the write it is about, accepts the corrected one, and leaves old violations alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from opsgym_domains.kit import desk
from opsgym_domains.kit.access import Rulebook
from opsgym_domains.kit.clock import Clock
from opsgym_domains.kit.database import Origin
from opsgym_domains.kit.databases import Databases
from opsgym_domains.kit.embedded import EmbeddedPostgres
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Actor, Gym
from opsgym_domains.kit.postgres_server import PostgresServer
from opsgym_domains.kit.schema import Row, Str20, Str32, new_metadata

pytestmark = pytest.mark.anyio

NOW = datetime.fromisoformat("2026-03-06T12:00:00")
WORKERS = frozenset({"agent", "manager"})


class DeskRow(Row):
    __abstract__ = True
    metadata = new_metadata()


class Person(DeskRow):
    __tablename__ = "person"

    user_id: Mapped[Str32] = mapped_column(primary_key=True)
    email: Mapped[Str32]
    role: Mapped[Str20]
    active: Mapped[bool]


class Team(DeskRow):
    __tablename__ = "team"

    group_id: Mapped[Str32] = mapped_column(primary_key=True)
    name: Mapped[Str20]
    active: Mapped[bool]


class Member(DeskRow):
    __tablename__ = "member"

    member_id: Mapped[Str32] = mapped_column(primary_key=True)
    user_id: Mapped[Str32]
    group_id: Mapped[Str32]


class Ticket(DeskRow):
    __tablename__ = "ticket"

    ticket_id: Mapped[Str32] = mapped_column(primary_key=True)
    number: Mapped[Str20]
    state: Mapped[Str20]
    team: Mapped[Str32 | None]
    assignee: Mapped[Str32 | None]
    email: Mapped[Str32 | None]
    notes: Mapped[Str20 | None]
    resolved: Mapped[datetime | None]
    changed: Mapped[datetime | None]
    breached: Mapped[bool]


SEED = """
INSERT INTO person VALUES ('ada', 'ada@desk', 'agent', 1), ('bo', 'bo@desk', 'agent', 1), ('cy', 'cy@desk', 'agent', 0),
  ('di', 'di@desk', 'reporter', 1);
INSERT INTO team VALUES ('net', 'Network', 1), ('old', 'Past', 0);
INSERT INTO member VALUES ('m1', 'ada', 'net');
"""
TICKET: dict[str, Any] = {"ticket_id": "t1", "number": "T-1", "state": "new", "breached": False}


@pytest.fixture
async def session(postgres: EmbeddedPostgres) -> AsyncIterator[AsyncSession]:
    databases = Databases(PostgresServer(str(postgres.socket_folder)), "desk", DeskRow.metadata, {"desk": lambda: SEED})
    await databases.start()
    database = await databases.create("desk", Origin(builtin="desk"))
    async with database.transaction(writes=True) as opened:
        yield opened
    await databases.drop("desk")
    await databases.stop()


async def refusal(
    session: AsyncSession, check: Any, before: dict[str, Any] | None, role: str = "agent", **after: Any
) -> str | None:
    """Why a rule refuses to make a ticket of the state before one with the given values."""
    clock = Clock()
    clock.set(NOW)
    gym = Gym(session, DeskRow.metadata, Actor("ada", role=role), clock)
    old = None if before is None else Ticket(**(TICKET | before))
    rulebook = Rulebook()
    rulebook.declare("R-1", "REFUSED", check, Ticket)
    try:
        await rulebook.check_write(gym, Ticket(**(TICKET | (before or {}) | after)), old)
    except ToolError as error:
        return f"{error.code} {error.message}"
    return None


ACTIVE = desk.refers_to_active("team", Team, "choose an active one")
NAMED = desk.refers_to_active("team", Team, "choose an active one", named="name")
ELIGIBLE = desk.user_is_eligible("assignee", Person, WORKERS, "assign another", named="email")
MEMBER = desk.assignee_is_member("assignee", "team", Member)
GROUPED = desk.assignee_is_member("assignee", "team", Member, group_needed=True)
RECIPIENT = desk.recipient_is_active("email", Person)
ORDERED = desk.in_order("resolved", "changed", equal=False)
UNBROKEN = desk.in_order("resolved", "changed", equal=True)
FOLLOWS = desk.follows("state", {"new": ["open"], "open": ["resolved", "canceled"]}, first=("new", "open"))
FINAL = desk.is_final("state", {"closed"}, "open another", named="number")
BEGUN = desk.begun_if_assigned("assignee", "state", begun="open")
NEEDS = desk.needs("state", "resolved", "notes", "email")
CLOSES = desk.closes_after("state", ("resolved", "changed"), timedelta(days=3), ("notes",))
STAYS = desk.flag_stays("breached", "SLA is breached")
ADMINS = desk.only_roles_set({"admin", "manager"}, "state", {"approved"}, "leave it open")
WRITERS = desk.only_roles_write({"admin"})
READY = {"state": "resolved", "notes": "x"}
LONG_AGO, JUST_NOW = NOW - timedelta(days=3), NOW - timedelta(days=2)


@pytest.mark.parametrize(
    ("check", "before", "after", "says"),
    [
        (ACTIVE, None, {"team": "old"}, "team old is inactive; choose an active one"),
        (NAMED, {}, {"team": "old"}, "team Past is inactive"),
        (ELIGIBLE, None, {"assignee": "di"}, "di@desk has role reporter; assign another"),
        (ELIGIBLE, {}, {"assignee": "cy"}, "cy@desk has role agent and is inactive; assign another"),
        (MEMBER, {}, {"assignee": "bo", "team": "net"}, "user bo is not a member of group net; give assignee a member"),
        (MEMBER, {"assignee": "ada", "team": "net"}, {"team": "old"}, "user ada is not a member of group old"),
        (GROUPED, {}, {"assignee": "ada"}, "the record has no group; set team in the same call"),
        (RECIPIENT, None, {"email": "cy@desk"}, "no active user has the address cy@desk"),
        (ORDERED, None, {"resolved": NOW, "changed": NOW}, "changed 2026-03-06 must be after resolved"),
        (UNBROKEN, {"resolved": NOW}, {"changed": JUST_NOW}, "changed 2026-03-04 must not be before resolved"),
        (FOLLOWS, None, {"state": "resolved"}, "a new ticket must have state new or open"),
        (FOLLOWS, {}, {"state": "resolved"}, "new cannot be changed to resolved; allowed: open"),
        (FOLLOWS, {"state": "canceled"}, {"state": "new"}, "canceled cannot be changed to new; canceled is final"),
        (FINAL, {"state": "closed"}, {"notes": "x"}, "T-1 is closed and cannot be changed; open another"),
        (BEGUN, None, {"assignee": "ada"}, "a ticket with an assignee cannot be new; set state open in the same call"),
        (NEEDS, {}, {"state": "resolved", "notes": "x"}, "state resolved also needs email; give it in the same call"),
        (NEEDS, {"state": "resolved", "notes": "x", "email": "y"}, {"notes": None}, "also needs notes"),
        (CLOSES, {"state": "open"}, {"state": "closed", "notes": "x"}, "only a resolved ticket can be closed"),
        (CLOSES, None, {"state": "closed", "notes": "x"}, "only a resolved ticket can be closed"),
        (CLOSES, {"state": "resolved"}, {"state": "closed"}, "state closed also needs notes"),
        (CLOSES, READY | {"resolved": JUST_NOW}, {"state": "closed"},
         "waited since 2026-03-04 12:00:00 and can be closed from 2026-03-07 12:00:00"),
        (CLOSES, READY | {"changed": JUST_NOW}, {"state": "closed"}, "can be closed from 2026-03-07 12:00:00"),
        (STAYS, {"breached": True}, {"breached": False}, "the SLA is breached; do not reset breached"),
        (ADMINS, {}, {"state": "approved"}, "only an admin or a manager may set state approved; leave it open"),
        (WRITERS, {}, {"notes": "x"}, "only an admin may create or change a ticket"),
    ],
)  # fmt: skip
async def test_a_rule_refuses_what_it_is_about(
    session: AsyncSession, check: Any, before: dict[str, Any] | None, after: dict[str, Any], says: str
) -> None:
    assert says in (await refusal(session, check, before, **after) or "")


@pytest.mark.parametrize(
    ("check", "before", "after"),
    [
        (ACTIVE, {}, {"team": "net"}),
        (ACTIVE, {}, {"team": None}),
        (ACTIVE, {"team": "old"}, {"notes": "x"}),
        (ELIGIBLE, None, {"assignee": "ada"}),
        (ELIGIBLE, {"assignee": "cy"}, {"notes": "x"}),
        (MEMBER, None, {"assignee": "ada", "team": "net"}),
        (MEMBER, None, {"assignee": "ada"}),
        (MEMBER, {"assignee": "bo", "team": "net"}, {"notes": "x"}),
        (GROUPED, {"assignee": "ada"}, {"notes": "x"}),
        (RECIPIENT, None, {"email": "bo@desk"}),
        (RECIPIENT, {"email": "cy@desk"}, {"notes": "x"}),
        (ORDERED, None, {"resolved": JUST_NOW, "changed": NOW}),
        (ORDERED, {"changed": NOW}, {"resolved": None}),
        (ORDERED, {"resolved": NOW, "changed": NOW}, {"notes": "x"}),
        (UNBROKEN, None, {"resolved": NOW, "changed": NOW}),
        (FOLLOWS, None, {"state": "open"}),
        (FOLLOWS, {"state": "lost"}, {"notes": "x"}),
        (FINAL, {"state": "open"}, {"state": "closed"}),
        (BEGUN, {"assignee": "ada"}, {"notes": "x"}),
        (BEGUN, {}, {"assignee": "ada", "state": "open"}),
        (NEEDS, {}, {"state": "resolved", "notes": "x", "email": "y"}),
        (NEEDS, {"state": "resolved"}, {"team": "net"}),
        (CLOSES, READY | {"resolved": LONG_AGO, "changed": JUST_NOW}, {"state": "closed"}),
        (CLOSES, READY, {"state": "closed"}),
        (CLOSES, {"state": "closed"}, {"notes": "x"}),
        (STAYS, {"breached": False}, {"breached": True}),
        (ADMINS, {"state": "approved"}, {"notes": "x"}),
    ],
)
async def test_a_rule_accepts_the_corrected_write_and_an_old_violation(
    session: AsyncSession, check: Any, before: dict[str, Any] | None, after: dict[str, Any]
) -> None:
    assert await refusal(session, check, before, **after) is None


async def test_roles_that_a_rule_names_may_write(session: AsyncSession) -> None:
    assert await refusal(session, ADMINS, {}, role="manager", state="approved") is None
    assert await refusal(session, WRITERS, {}, role="admin", notes="x") is None


async def test_a_flagged_row_cannot_be_deleted(session: AsyncSession) -> None:
    rulebook, gym = Rulebook(), Gym(session, DeskRow.metadata, Actor("ada"), Clock())
    rulebook.on_delete(Ticket, "R-2", "ON_RECORD")(desk.flagged_rows_stay("breached", "SLA is breached"))
    await rulebook.check_delete(gym, Ticket(**TICKET))
    with pytest.raises(ToolError, match="rule R-2: ticket t1: the SLA is breached and stays on record"):
        await rulebook.check_delete(gym, Ticket(**(TICKET | {"breached": True})))
