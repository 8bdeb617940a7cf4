"""The company's systems as tasks across them see them: the accounts of a person, and who is free when.

Invariant: people are named as HR names them; the account in each system is found by the name or the address that the
system has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import cast
from zoneinfo import ZoneInfo

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.event_times import as_utc
from opsgym_domains.calendar.tables import Calendar, Event
from opsgym_domains.calendar.tables import User as CalendarUser
from opsgym_domains.csm.tables import User as CsmUser
from opsgym_domains.hr.tables import User as HrUser
from opsgym_domains.itsm.tables import ConfigurationItem
from opsgym_domains.itsm.tables import User as ItsmUser
from opsgym_suites.calendar.calls import blocks, events_of, guest, on, patch
from opsgym_suites.calendar.seeds.world import Colleague
from opsgym_suites.calendar.seeds.world import World as CalendarWorld
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.world import World as CsmWorld
from opsgym_suites.drive.seeds.world import Person as FileOwner
from opsgym_suites.email.seeds.world import Person as MailboxOwner
from opsgym_suites.hr.seeds.world import World as HrWorld
from opsgym_suites.hybrid.cast import COMPANY, person
from opsgym_suites.hybrid.seeds.drive import FenmoorWorld as DriveWorld
from opsgym_suites.hybrid.seeds.email import FenmoorWorld as EmailWorld
from opsgym_suites.hybrid.seeds.teams import FenmoorWorld as TeamsWorld
from opsgym_suites.hybrid.servers import CALENDAR, CSM, DRIVE, EMAIL, HR, ITSM, TEAMS
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World as ItsmWorld
from opsgym_suites.kit.drafts import Person, call
from opsgym_suites.kit.suite import GymServer, Worlds
from opsgym_suites.teams.seeds.world import Actor as TeamMember

LONDON, NEW_YORK, SYDNEY = "Europe/London", "America/New_York", "Australia/Sydney"
NOW, OVERNIGHT, MORNING = on("11-16 10:00"), on("11-16 21:00"), on("11-17 09:00")
"""When tasks begin, when rows change between two days, and when the second day begins, in UTC."""
ELSEWHERE_ALLOWED = "elsewhere-allowed"
"""Tag of requests that one system forbids although another one allows them, or seems to."""
STEP = timedelta(minutes=30)
"""Meetings start at full or at half hours."""


@dataclass(frozen=True)
class Systems:
    """Look-ups in the seeds of the company's systems."""

    worlds: Worlds

    @cached_property
    def desk(self) -> CompanyRecords:
        """The service desk."""
        return CompanyRecords(cast("ItsmWorld", self.worlds[ITSM.gym]), COMPANY)

    @cached_property
    def customers(self) -> DeskRecords:
        """The customer service desk."""
        return DeskRecords(cast("CsmWorld", self.worlds[CSM.gym]))

    @property
    def hr(self) -> HrWorld:
        """The HR department."""
        return cast("HrWorld", self.worlds[HR.gym])

    @property
    def calendars(self) -> CalendarWorld:
        """The calendars."""
        return cast("CalendarWorld", self.worlds[CALENDAR.gym])

    @property
    def mail(self) -> EmailWorld:
        """The mailboxes."""
        return cast("EmailWorld", self.worlds[EMAIL.gym])

    @property
    def files(self) -> DriveWorld:
        """The files."""
        return cast("DriveWorld", self.worlds[DRIVE.gym])

    @property
    def teams(self) -> TeamsWorld:
        """The teams, channels and chats."""
        return cast("TeamsWorld", self.worlds[TEAMS.gym])

    # --- accounts ----------------------------------------------------------------------------------------------------

    def at_desk(self, name: str) -> ItsmUser:
        """A person at the service desk."""
        return self.desk.person(person(name).name_in("itsm"))

    def at_customers(self, name: str) -> CsmUser:
        """A person at the customer service desk."""
        return self.customers.world.user(person(name).name_in("csm"))

    def in_hr(self, name: str) -> HrUser:
        """A person in HR."""
        return self.hr.user(name)

    def in_calendars(self, name: str) -> CalendarUser:
        """A person in the calendars; a room by the address before the company's domain."""
        return self.calendars.person(name if name.startswith("room.") else person(name).address_in("calendar"))

    def colleague(self, name: str) -> Colleague:
        """A person in the calendars, with what the calendars know of the person."""
        return self.calendars.colleague(person(name).address_in("calendar").partition("@")[0])

    def booked_as(self, room: str) -> Colleague:
        """The account of a room, which is invited to book it."""
        return self.calendars.colleague(f"room.{room.lower()}")

    def devices(self, name: str) -> list[ConfigurationItem]:
        """Devices that a person owns, as the service desk has them."""
        return self.desk.world.all(ConfigurationItem, owner_id=self.at_desk(name).user_id)

    def laptop(self, name: str) -> ConfigurationItem:
        """A person's laptop."""
        return next(row for row in self.devices(name) if row.name.startswith("Laptop"))

    def actors(self, name: str, *servers: GymServer) -> dict[str, Person]:
        """The acting user of each of a task's gym servers, in their order."""
        return {server.gym: self._account(name, server) for server in servers}

    def _account(self, name: str, server: GymServer) -> Person:
        accounts: dict[str, Callable[[], Person]] = {
            CALENDAR.gym: lambda: self.colleague(name),
            CSM.gym: lambda: self.at_customers(name),
            HR.gym: lambda: self.in_hr(name),
            ITSM.gym: lambda: self.at_desk(name),
            EMAIL.gym: lambda: MailboxOwner(self.mail.mailbox(name)),
            DRIVE.gym: lambda: FileOwner(self.files.account(name)),
            TEAMS.gym: lambda: TeamMember(self.teams.account(name)),
        }
        return accounts[server.gym]()

    # --- calendars ---------------------------------------------------------------------------------------------------

    def own(self, name: str) -> Calendar:
        """The primary calendar of a person, or the calendar of a room."""
        return self.calendars.primary(self.in_calendars(name)) if not name.startswith("room.") else self.room(name)

    def room(self, name: str) -> Calendar:
        """The calendar of a room, by the address before the company's domain."""
        return self.calendars.calendar(f"Room {name.removeprefix('room.').capitalize()}")

    def guests(self, names: Iterable[str]) -> list[dict[str, object]]:
        """Guests as an argument."""
        return [guest(self.in_calendars(name)) for name in names]

    def meeting(self, key: str) -> Event:
        """A meeting of the seed, by its key."""
        return self.calendars.fixture(Event, key)

    def day_of(self, calendar: str, text: str) -> ToolCall:
        """Lists the events of a calendar, named by its title, on a day, for instance `11-17`."""
        return events_of(self.calendars.calendar(calendar), on(text).date())

    def with_guests(self, event: Event, names: Sequence[str]) -> ToolCall:
        """Replaces the guests of an event; those who stay keep their answers."""
        answers = {user.user_id: row.responseStatus for row, user in self.calendars.guests(event)}
        people = [self.in_calendars(name) for name in names]
        given = [{"responseStatus": answers[one.user_id]} if one.user_id in answers else {} for one in people]
        return patch(event, attendees=[{"email": one.email, **more} for one, more in zip(people, given, strict=True)])

    def busy(self, names: Sequence[str], first: date, last: date | None = None) -> ToolCall:
        """Asks when people and rooms are busy, from a day to another."""
        return call(
            "query_freebusy",
            timeMin=f"{first}T00:00:00Z",
            timeMax=f"{(last or first) + timedelta(days=1)}T00:00:00Z",
            items=[{"id": self.own(name).calendar_id} for name in names],
        )

    def is_free(self, name: str, start: datetime, minutes: int, without: Event | None = None) -> bool:
        """Whether nothing in a person's own calendar overlaps a time in UTC."""
        return self.calendar_is_free(self.own(name), start, minutes, without)

    def calendar_is_free(self, calendar: Calendar, start: datetime, minutes: int, without: Event | None = None) -> bool:
        """Whether nothing in a calendar overlaps a time in UTC, but for an event."""
        end = start + timedelta(minutes=minutes)
        return not any(
            blocks(row)
            and row is not without
            and utc(row.start_datetime, row.start_timezone) < end
            and utc(row.end_datetime, row.end_timezone) > start
            for row in self.calendars.all(Event, calendar_id=calendar.calendar_id)
        )

    def first_free(self, names: Sequence[str], start: datetime, minutes: int, last: datetime) -> datetime:
        """The first full or half hour from a time on, both in UTC, at which all are free; it ends by the last time.

        Raises:
            LookupError: There is none.
        """
        while start + timedelta(minutes=minutes) <= last:
            if all(self.is_free(name, start, minutes) for name in names):
                return start
            start += STEP
        raise LookupError(f"{', '.join(names)} have no common time until {last}")


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them, for instance `A, B and C`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def utc(text: str, zone: str | None) -> datetime:
    """A stored time of an event, in UTC without a zone."""
    return as_utc(text, zone).replace(tzinfo=None)


def wall(time: datetime, zone: str) -> datetime:
    """What the clocks of a zone show at a time in UTC."""
    return time.replace(tzinfo=ZoneInfo("UTC")).astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def in_utc(time: datetime, zone: str) -> datetime:
    """The time in UTC at which the clocks of a zone show a time."""
    return time.replace(tzinfo=ZoneInfo(zone)).astimezone(ZoneInfo("UTC")).replace(tzinfo=None)
