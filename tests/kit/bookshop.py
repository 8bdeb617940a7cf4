"""A domain of three tables and eleven tools, on which every rule of the kit is proved without any real domain.

Invariant: the tables cover both kinds of keys (prefixed and counted), both orders of lists, both answers to an update
that changes nothing, and every type of column that arguments can set.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypedDict, Unpack

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.filters import matching
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Actor, Gym
from opsgym_domains.kit.schema import Money, Row, Str20, Str32, Str40, new_metadata, says, varchar
from opsgym_domains.kit.signatures import Arg
from opsgym_domains.kit.tools import Toolbox

Genre = Literal["novel", "poetry", "field-guide"]
HEADER = "x-author-token"


class ShopRow(Row):
    __abstract__ = True
    metadata = new_metadata()


class Author(ShopRow):
    __tablename__ = "author"
    __table_args__ = (UniqueConstraint("name", info={"code": "DUPLICATE_AUTHOR"}),)
    id_prefix = "AUTHOR_"

    author_id: Mapped[Str32] = mapped_column(primary_key=True)
    name: Mapped[Str20]
    token: Mapped[Str32]


class Book(ShopRow):
    """Listed newest first; an update that changes nothing is refused."""

    __tablename__ = "book"
    __table_args__ = (
        CheckConstraint("pages > 0", name="pages", info={"code": "NO_PAGES", "rule": "a book has pages"}),
    )
    id_prefix, created, updated = "BOOK_", "added_on", "changed_on"

    book_id: Mapped[Str32] = mapped_column(primary_key=True)
    title: Mapped[Str40] = says("Title", searched=True)
    genre: Mapped[Str20 | None] = says("Genre", choices=Genre)
    author: Mapped[str] = says("Who wrote it", varchar(32), ForeignKey("author.author_id"))
    editor: Mapped[str | None] = mapped_column(varchar(32), ForeignKey("author.author_id"))
    pages: Mapped[int | None]
    price: Mapped[Money | None]
    in_print: Mapped[bool]
    printed: Mapped[date | None]
    notes: Mapped[Str20 | None]
    added_on: Mapped[datetime | None]
    changed_on: Mapped[datetime | None]


class Review(ShopRow):
    """Listed by key; an update that changes nothing moves the time of update."""

    __tablename__ = "review"
    newest_first = no_op_is_refused = False
    created, updated = "written_on", "changed_on"

    review_id: Mapped[int] = mapped_column(primary_key=True)
    book_id: Mapped[str] = mapped_column(varchar(32), ForeignKey("book.book_id", ondelete="CASCADE"))
    stars: Mapped[int]
    written_on: Mapped[datetime | None]
    changed_on: Mapped[datetime | None]


TOOLBOX = Toolbox()
tool = TOOLBOX.tool


class BookFilters(TypedDict, total=False):
    title: Annotated[str | None, Arg("Part of the title")]
    notes: Annotated[str | None, Arg("Part of the notes")]
    genre: Annotated[Genre | None, Arg("Genre")]
    writer: Annotated[str | None, Arg("Author id")]
    pages: Annotated[int | None, Arg("Number of pages")]
    price: Annotated[Decimal | None, Arg("Price")]
    in_print: Annotated[bool | None, Arg("Whether it is in print")]
    printed: Annotated[str | None, Arg("Day of printing")]
    created_after: Annotated[str | None, Arg("Added then or later")]
    created_before: Annotated[str | None, Arg("Added then or earlier")]


class BookFields(TypedDict, total=False):
    genre: Annotated[Genre | None, Arg("novel, poetry or field-guide", enum_shown=False)]
    editor: Annotated[str | None, Arg("Author id")]
    pages: Annotated[int | None, Arg("Number of pages", minimum=-5)]
    price: Annotated[Decimal | None, Arg("Price")]
    printed: Annotated[str | None, Arg("Day of printing")]
    notes: Annotated[str | None, Arg("Notes")]
    isbn_form: Annotated[str | None, Arg("Form of a number", pattern="^[0-9]{3}$", code="INVALID_ISBN")]
    contact: Annotated[str | None, Arg("Email address", format="email")]


class BookChanges(BookFields, total=False):
    title: Annotated[str | None, Arg("Title", max_length=60)]
    author: Annotated[str | None, Arg("Author id")]
    in_print: Annotated[bool | None, Arg("Whether it is in print")]


class ReviewFields(TypedDict, total=False):
    stars: Annotated[int, Arg("1 to 5")]


class SeriesDetails(TypedDict, total=False):
    genre: Annotated[Genre | None, Arg("Genre")]
    notes: Annotated[str | None, Arg("Notes")]


class NamedSeries(SeriesDetails):
    title: Annotated[str, Arg("Title")]


def columns(fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in ("isbn_form", "contact")}


@tool()
async def list_books(gym: Gym, **filters: Unpack[BookFilters]) -> Sequence[Book]:
    """Lists books."""
    return await gym.all(Book, *matching(Book, filters, partial=("title", "notes"), renamed={"writer": "author"}))


@tool()
async def get_book(gym: Gym, book_id: Annotated[str, Arg("Book id")]) -> Book:
    """Returns a book."""
    return await gym.fetch(Book, book_id)


@tool()
async def count_books(
    gym: Gym, genres: Annotated[list[Genre] | None, Arg("Genres to count", null=False)] = None
) -> dict[str, int]:
    """Counts books by genre."""
    return await gym.count_by(Book.genre, genres or [])


@tool(adds=Book, closed=True)
async def add_book(
    gym: Gym,
    title: Annotated[str, Arg("Title", min_length=1, max_length=60)],
    author: Annotated[str, Arg("Author id")],
    **fields: Unpack[BookFields],
) -> Book:
    """Adds a book."""
    return await gym.insert(Book(**{"in_print": True, **columns(fields)}, title=title, author=author))


@tool(changes=Book)
async def update_book(gym: Gym, book_id: Annotated[str, Arg("Book id")], **fields: Unpack[BookChanges]) -> Book:
    """Changes a book."""
    given = changes(columns(fields))
    return await gym.update(await gym.fetch(Book, book_id), given)


@tool(removes=Book, any_of=("title", "genre", "writer", "created_before"))
async def remove_books(gym: Gym, **filters: Unpack[BookFilters]) -> dict[str, int]:
    """Removes books."""
    removed = await gym.remove(Book, {"author" if name == "writer" else name: value for name, value in filters.items()})
    return {"deleted": len(removed)}


@tool(adds=Book)
async def add_series(gym: Gym, details: Annotated[NamedSeries, Arg("Series")]) -> Book:
    """Adds the first book of a series."""
    return await gym.insert(Book(**{"genre": "novel", **details}, author="AUTHOR_001", in_print=False))


@tool(removes=Author)
async def remove_author(gym: Gym, author_id: Annotated[str, Arg("Author id")]) -> dict[str, int]:
    """Removes an author."""
    return {"deleted": await gym.delete([await gym.fetch(Author, author_id)])}


@tool()
async def list_reviews(gym: Gym) -> Sequence[Review]:
    """Lists reviews."""
    return await gym.all(Review)


@tool(adds=Review)
async def add_review(
    gym: Gym, book_id: Annotated[str, Arg("Book id")], stars: Annotated[int, Arg("1 to 5", minimum=1)]
) -> Review:
    """Adds a review."""
    return await gym.insert(Review(book_id=book_id, stars=stars))


@tool(changes=Review)
async def update_review(
    gym: Gym, review_id: Annotated[int, Arg("Review id")], **fields: Unpack[ReviewFields]
) -> Review:
    """Changes a review."""
    given = changes(fields)
    return await gym.update(await gym.fetch(Review, review_id), given)


async def identify(session: AsyncSession, token: str | None) -> Actor:
    if token is None:
        return Actor("AUTHOR_001", anonymous=True)
    author = await session.scalar(select(Author.author_id).where(Author.token == token))
    if author is None:
        raise ToolError("UNAUTHORIZED", "unknown token")
    return Actor(author)


NOW = "2026-03-01T12:00:00"
SEED = """
INSERT INTO author VALUES ('AUTHOR_001', 'Ada', 'a1'), ('AUTHOR_002', 'Bo', 'b2'), ('AUTHOR_005', 'Cy', 'c5');
INSERT INTO book VALUES
 ('BOOK_001', 'Rain', 'novel', 'AUTHOR_001', NULL, 120, 9.50, 1, '2024-01-31', NULL, '2025-01-03 08:00:00', NULL),
 ('BOOK_002', '100% Rain', 'poetry', 'AUTHOR_002', 'AUTHOR_001', 40, NULL, 0, NULL, 'signed', '2025-01-01 08:00:00', NULL),
 ('BOOK_007', 'Moss_and Fern', 'field-guide', 'AUTHOR_001', NULL, 120, 25, 1, '2024-06-01', 'Signed', '2025-01-02 08:00:00', NULL),
 ('BOOK_004', 'brain', NULL, 'AUTHOR_002', 'AUTHOR_002', NULL, 9.50, 1, '2024-01-31', 'used', '2025-01-02 08:00:00', NULL);
INSERT INTO review VALUES
 (1, 'BOOK_001', 5, '2025-02-02 08:00:00', NULL), (3, 'BOOK_001', 2, '2025-02-01 08:00:00', NULL),
 (9, 'BOOK_002', 4, '2025-02-03 08:00:00', NULL);
DELETE FROM review WHERE review_id = 9;
"""  # noqa: E501 - one row a line

DOMAIN = Domain(
    name="bookshop",
    service="bookshop-api",
    metadata=ShopRow.metadata,
    toolbox=TOOLBOX,
    identity_header=HEADER,
    identify=identify,
    seeds={"shop": lambda: SEED},
)
