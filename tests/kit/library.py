"""A domain with organisations, roles and rules, to test access `strict` without any real domain."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Any

from sqlalchemy import ForeignKey, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from opsgym_domains.kit.access import AccessRules, Rulebook
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.filters import contains
from opsgym_domains.kit.gym import Actor, Gym
from opsgym_domains.kit.schema import Row, Str20, Str32, new_metadata, varchar
from opsgym_domains.kit.signatures import Arg
from opsgym_domains.kit.tools import Toolbox


class LibraryRow(Row):
    __abstract__ = True
    metadata = new_metadata()


class House(LibraryRow):
    __tablename__ = "house"

    org_id: Mapped[Str32] = mapped_column(primary_key=True)


class Allowance(LibraryRow):
    __tablename__ = "allowance"

    allowance_id: Mapped[Str32] = mapped_column(primary_key=True)
    role: Mapped[Str20]
    action: Mapped[Str20]


class Clerk(LibraryRow):
    __tablename__ = "clerk"

    clerk_id: Mapped[Str32] = mapped_column(primary_key=True)
    role: Mapped[Str20]
    active: Mapped[bool]
    org_id: Mapped[str] = mapped_column(varchar(32), ForeignKey("house.org_id"))


class Book(LibraryRow):
    __tablename__ = "book"
    id_prefix = "BOOK_"

    book_id: Mapped[Str32] = mapped_column(primary_key=True)
    title: Mapped[Str20]
    keeper: Mapped[str | None] = mapped_column(varchar(32), ForeignKey("clerk.clerk_id"))
    org_id: Mapped[str] = mapped_column(varchar(32), ForeignKey("house.org_id"))


class Loan(LibraryRow):
    """Has no organisation of its own."""

    __tablename__ = "loan"
    id_prefix = "LOAN_"

    loan_id: Mapped[Str32] = mapped_column(primary_key=True)
    book_id: Mapped[str] = mapped_column(varchar(32), ForeignKey("book.book_id", ondelete="CASCADE"))


class Shift(LibraryRow):
    """Identified by two columns; has no organisation of its own."""

    __tablename__ = "shift"

    clerk_id: Mapped[str] = mapped_column(
        varchar(32), ForeignKey("clerk.clerk_id", ondelete="CASCADE"), primary_key=True
    )
    day: Mapped[int] = mapped_column(primary_key=True)
    desk: Mapped[Str20]


TOOLBOX, RULEBOOK = Toolbox(), Rulebook()
tool = TOOLBOX.tool

Text = Annotated[str, Arg("Anything")]


@tool()
async def get_book(gym: Gym, book_id: Text) -> Book:
    """By id."""
    return await gym.fetch(Book, book_id)


@tool()
async def find_book(gym: Gym, title: Text) -> Book:
    """By title."""
    return await gym.fetch_by(Book, title=title)


@tool()
async def list_books(gym: Gym, title: Text = "") -> Sequence[Book]:
    """By part of the title."""
    return await gym.all(Book, contains(Book.title, title))


@tool()
async def count_books(gym: Gym) -> dict[str, int]:
    """By keeper."""
    return await gym.count_by(Book.keeper, [])


@tool()
async def list_loans(gym: Gym) -> Sequence[Loan]:
    """All."""
    return await gym.all(Loan)


@tool()
async def get_shift(gym: Gym, clerk_id: Text, day: Annotated[int, Arg("Day of the week")]) -> Shift:
    """By clerk and day."""
    return await gym.fetch(Shift, (clerk_id, day))


@tool()
async def count_shifts(gym: Gym) -> dict[str, int]:
    """By desk."""
    return await gym.count_by(Shift.desk)


@tool(changes=Shift)
async def change_shift(gym: Gym, clerk_id: Text, day: Annotated[int, Arg("Day of the week")], desk: Text) -> Shift:
    """To another desk."""
    return await gym.change(Shift, (clerk_id, day), {"desk": desk})


@tool(writes=True)
async def add_book(gym: Gym, title: Text, keeper: Text) -> Book:
    """New."""
    await gym.refuse_duplicate(Book, "DUPLICATE_TITLE", title=title)
    return await gym.insert(Book(title=title, keeper=keeper, org_id=gym.actor.org_id))


@tool(writes=True)
async def change_book(
    gym: Gym, book_id: Text, column: Text, value: Annotated[str, Arg("New value of the column")]
) -> Book:
    """One column."""
    return await gym.update(await gym.fetch(Book, book_id), {column: value})


@tool(writes=True)
async def drop_book(gym: Gym, book_id: Text) -> int:
    """For good."""
    return len(await gym.remove(Book, {"book_id": book_id}))


@tool(writes=True)
async def lend(gym: Gym, book_id: Text) -> Loan:
    """Without asking whether there is such a book."""
    return await gym.insert(Loan(book_id=book_id))


@RULEBOOK.on_write(Book, "B-1", "SHOUTING")
async def titles_are_quiet(_gym: Gym, after: Book, before: Book | None) -> str | None:
    changed = before is None or before.title != after.title
    return "write the title in lower case" if changed and after.title.isupper() else None


@RULEBOOK.on_write(Book, "B-2", "ONE_BOOK_EACH")
async def a_clerk_keeps_one_book(gym: Gym, after: Book, _before: Book | None) -> str | None:
    others = await gym.all(Book, Book.keeper == after.keeper, Book.book_id != after.book_id)
    return f"find another keeper than {after.keeper}" if others else None


@RULEBOOK.on_delete(Book, "B-3", "STILL_LENT")
async def lent_books_stay(gym: Gym, row: Book) -> str | None:
    return "wait until it is back" if await gym.exists(Loan, book_id=row.book_id) else None


async def actions(session: AsyncSession, actor: Actor, resource: str) -> Collection[str]:
    assert resource == "books"
    return (await session.scalars(select(Allowance.action).where(Allowance.role == actor.role))).all()


async def identify(session: AsyncSession, clerk_id: str | None) -> Actor:
    clerk: Any = await session.get(Clerk, clerk_id or "c1")
    if clerk is None:
        raise ToolError("UNAUTHORIZED", "nobody")
    return Actor(clerk.clerk_id, clerk.org_id, clerk.role, active=clerk.active, anonymous=clerk_id is None)


SEED = """
INSERT INTO house VALUES ('north'), ('south');
INSERT INTO allowance VALUES ('1', 'head', 'crud'), ('2', 'guest', 'read');
INSERT INTO clerk VALUES ('c1', 'head', 1, 'north'), ('c2', 'guest', 1, 'north'), ('c3', 'head', 0, 'north'),
  ('c4', 'stranger', 1, 'north'), ('s1', 'head', 1, 'south');
INSERT INTO book VALUES ('BOOK_001', 'old', 'c1', 'north'), ('BOOK_002', 'LOUD', 'c2', 'north'),
  ('BOOK_003', 'far', 's1', 'south');
INSERT INTO loan VALUES ('LOAN_001', 'BOOK_001'), ('LOAN_002', 'BOOK_003');
INSERT INTO shift VALUES ('c1', 1, 'front'), ('c1', 2, 'back'), ('s1', 1, 'front');
"""

DOMAIN = Domain(
    name="library",
    service="library-api",
    metadata=LibraryRow.metadata,
    toolbox=TOOLBOX,
    identity_header="x-clerk",
    identify=identify,
    seeds={"branches": lambda: SEED},
    access=AccessRules(
        resources=dict.fromkeys(TOOLBOX.tools, "books"),
        actions=actions,
        rulebook=RULEBOOK,
        identity_rule="A-1",
        permission_rule="A-2",
    ),
)
