"""The company's systems as its tasks look things up: one person by one name in all of them.

Invariant: people are named as HR names them; what another system calls them is read from the cast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, cast
from zoneinfo import ZoneInfo

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.tables import Calendar, Event
from opsgym_domains.csm.tables import User as ServiceUser
from opsgym_domains.hr.tables import User as Employee
from opsgym_domains.itsm.tables import ConfigurationItem
from opsgym_domains.itsm.tables import User as DeskUser
from opsgym_suites.calendar.calls import begins, blocks, create, ends, guest
from opsgym_suites.calendar.seeds.world import Colleague
from opsgym_suites.calendar.seeds.world import World as CalendarWorld
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.world import World as ServiceWorld
from opsgym_suites.hr.seeds.world import World as HrWorld
from opsgym_suites.hybrid.cast import COMPANY, System, person
from opsgym_suites.hybrid.servers import CALENDAR, CSM, HR, ITSM
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World as ItsmWorld
from opsgym_suites.kit.drafts import Person, call, on_gym
from opsgym_suites.kit.suite import Worlds


class Systems:
    """Look-ups in the company's rows of all systems."""

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds
        self.desk = CompanyRecords(cast("ItsmWorld", worlds[ITSM.gym]), COMPANY)
        self.hr = cast("HrWorld", worlds[HR.gym])
        self.service = DeskRecords(cast("ServiceWorld", worlds[CSM.gym]))
        self.calendars = cast("CalendarWorld", worlds[CALENDAR.gym])

    def actors(self, name: str, *gyms: str) -> Mapping[str, Person]:
        """The accounts of a person who asks for something, by gym server in this order."""
        finders: Mapping[str, Callable[[str], Person]] = {
            ITSM.gym: self.at_desk,
            HR.gym: self.in_hr,
            CSM.gym: self.at_service,
            CALENDAR.gym: self.colleague,
        }
        return {gym: finders[gym](name) for gym in gyms}

    def at_desk(self, name: str) -> DeskUser:
        """The account at the service desk."""
        return self.desk.person(person(name).name_in("itsm"))

    def in_hr(self, name: str) -> Employee:
        """The account in HR."""
        return self.hr.user(name)

    def at_service(self, name: str) -> ServiceUser:
        """The account in customer service."""
        return self.service.world.user(person(name).name_in("csm"))

    def colleague(self, name: str) -> Colleague:
        """The account in the calendars."""
        return self.calendars.colleague(local_part(name, "calendar"))

    def primary(self, name: str) -> Calendar:
        """A person's own calendar."""
        return self.calendars.primary(self.colleague(name).user)

    def devices(self, name: str) -> list[ConfigurationItem]:
        """Devices that a person owns."""
        return self.desk.world.all(ConfigurationItem, owner_id=self.at_desk(name).user_id)

    def laptop(self, name: str) -> ConfigurationItem:
        """A person's laptop."""
        return next(row for row in self.devices(name) if row.name.startswith("Laptop"))

    def room(self, name: str) -> Colleague:
        """The account of a room, which is invited to book it."""
        return self.calendars.colleague(f"room.{name.lower()}")


def local_part(name: str, system: System) -> str:
    """What a person's address in a system begins with."""
    return person(name).address_in(system).partition("@")[0]


# --- times -----------------------------------------------------------------------------------------------------------


def instant(time: datetime, zone: str) -> datetime:
    """A wall clock's time in a zone as a point in time."""
    return time.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def is_free(systems: Systems, calendar: Calendar, start: datetime, minutes: int, zone: str) -> bool:
    """Whether nothing that blocks overlaps a time; every event counts in its own zone."""
    first = instant(start, zone)
    last = first + timedelta(minutes=minutes)
    rows = systems.calendars.all(Event, calendar_id=calendar.calendar_id)
    return not any(
        instant(begins(row), str(row.start_timezone)) < last and instant(ends(row), str(row.end_timezone)) > first
        for row in rows
        if blocks(row)
    )


def in_hours(start: datetime, minutes: int, zone: str, other: str, hours: tuple[int, int]) -> bool:
    """Whether a time in a zone lies within hours of the day in another zone."""
    first = instant(start, zone).astimezone(ZoneInfo(other))
    last = first + timedelta(minutes=minutes)
    return first.hour >= hours[0] and (last.hour, last.minute) <= (hours[1], 0) and first.date() == last.date()


def busy(calendars: Sequence[Calendar], first: date, last: date) -> ToolCall:
    """Asks for the busy times of calendars from one day to another, both included, whatever the zone."""
    (made,) = on_gym(
        CALENDAR.gym,
        call(
            "query_freebusy",
            timeMin=f"{first - timedelta(days=1)}T00:00:00Z",
            timeMax=f"{last + timedelta(days=2)}T00:00:00Z",
            items=[{"id": calendar.calendar_id} for calendar in calendars],
        ),
    )
    return made


def meet(
    calendar: Calendar,
    title: str,
    start: datetime,
    minutes: int,
    zone: str,
    guests: Sequence[Colleague],
    **more: Any,
) -> ToolCall:
    """Enters a meeting with guests, of whom some may be rooms."""
    attendees = [guest(one.user) for one in guests]
    (made,) = on_gym(CALENDAR.gym, create(calendar, title, start, minutes, zone, attendees=attendees, **more))
    return made
