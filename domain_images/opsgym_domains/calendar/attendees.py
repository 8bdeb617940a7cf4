"""Attendees of events: their accounts and their rows.

Invariant: an attendee has an account. An address without one gets a new account, as on the published server.
"""

from __future__ import annotations

from collections.abc import Sequence

from opsgym_domains.calendar.event_bodies import EMAIL, Guest, ImportedGuest, ImportedOrganizer
from opsgym_domains.calendar.tables import Attendee, User
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

LOCALE, ZONE = "en", "UTC"
"""Locale and zone of an account that is made for an address."""


async def accounts_of(gym: Gym, guests: Sequence[Guest]) -> list[User]:
    """Accounts of attendees, made where there is none.

    Raises:
        ToolError: An address is missing or has another form.
    """
    return [await _account(gym, guest.email) for guest in guests]


async def _account(gym: Gym, email: str | None) -> User:
    if not email:
        raise ToolError("EMAIL_REQUIRED", "Email address is required for all attendees", "attendees")
    user = await gym.find(User, email=email)
    if user is not None:
        return user
    if not EMAIL.match(email):
        raise ToolError("INVALID_EMAIL", f"Invalid email format: {email}", "attendees")
    return await gym.insert(
        User(
            email=email,
            name=email.split("@")[0],
            locale=LOCALE,
            timezone=ZONE,
            is_active=True,
            is_verified=False,
            static_token=str(await gym.next_id(User)),
        )
    )


async def add_attendees(gym: Gym, event_ids: Sequence[str], guests: Sequence[Guest]) -> None:
    """Adds the attendees of new events; the same person may be there twice.

    Raises:
        ToolError: An address is missing or has another form.
    """
    accounts = await accounts_of(gym, guests)
    await gym.insert_all(
        [_attendee(key, user, guest) for key in event_ids for guest, user in zip(guests, accounts, strict=True)]
    )


async def replace_attendees(gym: Gym, event_id: str, guests: Sequence[Guest], *, nulls: bool) -> None:
    """Replaces the attendees of an event; of two entries for one person the last one counts.

    Args:
        gym: The call.
        event_id: The event.
        guests: The new attendees.
        nulls: Whether a null is stored as it is; otherwise it counts as not given.

    Raises:
        ToolError: An address is missing or has another form, or a null is not allowed.
    """
    users = await accounts_of(gym, guests)
    await remove_attendees(gym, event_id)
    entries = {user.user_id: (user, guest) for user, guest in zip(users, guests, strict=True)}
    for user, guest in entries.values():
        row = _attendee(event_id, user, guest)
        if nulls:
            _refuse_nulls(guest)
            row.additionalGuests = guest.additional_guests
        await gym.insert(row)


def _refuse_nulls(guest: Guest) -> None:
    for name in ("response_status", "optional", "resource"):
        if getattr(guest, name) is None:
            raise ToolError("NULL_NOT_ALLOWED", f"attendees: {name} must not be null", "attendees")


async def remove_attendees(gym: Gym, event_id: str) -> None:
    """Removes all attendees of an event."""
    await gym.delete(await gym.all(Attendee, Attendee.event_id == event_id))


def _attendee(event_id: str, user: User, guest: Guest | ImportedGuest) -> Attendee:
    return Attendee(
        event_id=event_id,
        user_id=user.user_id,
        displayName=guest.display_name,
        optional=guest.optional or False,
        resource=guest.resource or False,
        responseStatus=guest.response_status or "needsAction",
        comment=guest.comment,
        additionalGuests=guest.additional_guests or 0,
    )


# --- import ----------------------------------------------------------------------------------------------------------


async def known_accounts(gym: Gym, guests: Sequence[ImportedGuest]) -> list[User]:
    """Accounts of the attendees of an imported event.

    Raises:
        ToolError: An address has no account.
    """
    return [await _known_account(gym, guest) for guest in guests]


async def _known_account(gym: Gym, guest: ImportedGuest) -> User:
    user = await gym.find(User, email=guest.email)
    if user is None:
        message = (
            f"Attendee email '{guest.email}' not found in database. "
            "All attendee emails must be valid and present in the system."
        )
        raise ToolError("UNKNOWN_ATTENDEE", message, "attendees")
    return user


async def import_attendees(
    gym: Gym, event_id: str, guests: Sequence[ImportedGuest], users: Sequence[User], organizer: ImportedOrganizer | None
) -> None:
    """Adds the attendees of an imported event; the organizer among them has the organizer's name if none is given."""
    for guest, user in zip(guests, users, strict=True):
        row = _attendee(event_id, user, guest)
        if organizer is not None and guest.email == organizer.email:
            row.displayName = guest.display_name or organizer.display_name
        await gym.insert(row)


async def organizer_account(gym: Gym, organizer: ImportedOrganizer) -> User:
    """The account of an imported event's organizer.

    Raises:
        ToolError: The address has no account, or the name is not the account's.
    """
    user = await gym.find(User, email=organizer.email)
    if user is None:
        raise ToolError("UNKNOWN_ORGANIZER", "Organizer email does not exist", "organizer")
    if user.name != organizer.display_name:
        raise ToolError("UNKNOWN_ORGANIZER", "Please enter valid name in the organizer displayName", "organizer")
    return user
