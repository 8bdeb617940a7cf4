"""Meetings with papers: guests whom other systems name, an agenda on Drive, and an announcement where it may be read.

Invariant: a meeting takes the first full hour that its row allows; who may open the agenda follows from Drive's roles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from opsgym_api.tasks.answer_patterns import at_time, on_date, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.tables import Calendar
from opsgym_domains.drive.tables import File, SharedDrive
from opsgym_suites.calendar.calls import LIST, find_person, on
from opsgym_suites.drive.calls import find_drive, inside, named, new_key, permissions_of
from opsgym_suites.email.calls import send
from opsgym_suites.hr import calls as hr
from opsgym_suites.hybrid.core.calendars import busy, first_hour, meet
from opsgym_suites.hybrid.core.jobs import (
    Calls,
    Job,
    in_calendar,
    in_drive,
    in_hr,
    in_mail,
    in_teams,
    written,
)
from opsgym_suites.hybrid.servers import CALENDAR, DRIVE, EMAIL, HR, TEAMS
from opsgym_suites.hybrid.systems import LONDON, NEW_YORK, Systems, listed
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.teams.calls import (
    channels_of,
    chats,
    find_team,
    key_of_result,
    lines_of,
    open_chat,
    post,
    posts_of,
    say,
    town_halls,
)

DOCUMENT = "application/vnd.google-apps.document"


def boards(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about meetings with papers."""
    systems = Systems(worlds)
    for scene in (_audit_round, _results, _circle):
        for job in scene(systems):
            yield written(systems, job)


@dataclass(frozen=True)
class Board:
    """A meeting with a paper, at the first full hour that suits."""

    systems: Systems
    actor: str
    people: Sequence[str]
    title: str
    minutes: int
    days: tuple[str, str]
    hours: tuple[int, int]
    zone: str
    room: str
    paper: str
    """Name of the paper."""
    place: File | SharedDrive | None = None
    """Folder of the paper; the top of the acting user's own files if None."""
    home: str = ""
    """Title of the calendar that it goes into; the actor's own if empty."""
    role: str = "reader"
    readers: Sequence[str] = ()
    """Who gets the role on the paper."""
    elsewhere: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def calendars(self) -> list[Calendar]:
        """Calendars of everybody and of the room."""
        rooms = [self.systems.calendars.calendar(f"Room {self.room}")] if self.room else []
        return [*(self.systems.own(name) for name in (self.actor, *self.people)), *rooms]

    @cached_property
    def start(self) -> datetime:
        """When it begins."""
        days = (on(self.days[0]).date(), on(self.days[1]).date())
        return first_hour(self.systems, self.calendars, days, self.hours, self.minutes, self.zone, self.elsewhere)

    @property
    def when(self) -> list[str]:
        """Patterns of day and hour."""
        return [on_date(self.start), at_time(self.start)]

    @property
    def in_words(self) -> str:
        """Day and hour in words."""
        return f"{self.start.day} {self.start:%B} at {self.start:%H:%M}"

    @property
    def looks(self) -> Calls:
        """Looks for people and for busy times."""
        people = [self.systems.colleague(name) for name in self.people]
        days = (on(self.days[0]).date(), on(self.days[1]).date())
        return (*in_calendar(LIST, *(find_person(one.user) for one in people)), busy(self.calendars, *days))

    def meeting(self, start: datetime, people: Sequence[str] = (), room: str | None = None) -> tuple[ToolCall, ...]:
        """Enters it."""
        booked = self.room if room is None else room
        guests = [self.systems.colleague(name) for name in people or self.people]
        rooms = [self.systems.booked_as(booked)] if booked else []
        home = self.systems.calendars.calendar(self.home) if self.home else self.systems.own(self.actor)
        return (meet(home, self.title, start, self.minutes, self.zone, [*guests, *rooms], **self.more),)

    def filed(self, readers: Sequence[str] | None = None) -> tuple[ToolCall, ...]:
        """Creates the paper and shares it."""
        parents = {"parents": [self.place.id]} if self.place else {}
        return in_drive(
            call("create_file", name=self.paper, mimeType=DOCUMENT, **parents),
            *(self.opened(name) for name in (self.readers if readers is None else readers)),
        )

    def opened(self, name: str) -> ToolCall:
        """Gives a person the role on the paper."""
        address = self.systems.files.account(name).email
        return call("create_permission", fileId=new_key(1), role=self.role, type="user", emailAddress=address)

    def mailed(self, people: Sequence[str] = (), start: datetime | None = None) -> tuple[ToolCall, ...]:
        """Writes to the guests when it is."""
        mail, time = self.systems.mail, start or self.start
        to = [mail.mailbox(name).primary_email for name in people or self.people]
        text = f"We meet on {time.day} {time:%B} at {time:%H:%M}."
        return in_mail(send(mail, mail.mailbox(self.actor), to, self.title, text))


# --- guests whom a chat, HR or a circle names ------------------------------------------------------------------------


def _audit_round(systems: Systems) -> Iterator[Job]:
    """The chat about the audit still has a leaver, who must not read of it."""
    files, teams = systems.files, systems.teams
    actor, people = "Osric Bellamy", ("Perpetua Lyle", "Sunniva Hale")
    old = teams.chat("Audit")
    folder = files.file("@osric.bellamy:Audit")
    board = Board(
        systems, actor, people, "Round on the audit", 60, ("11-23", "11-26"), (9, 17), LONDON, "Weir",
        "Points of the audit", folder, role="commenter", readers=people,
    )  # fmt: skip
    everybody = ("Perpetua Lyle", "Sunniva Hale", "Sefton Grady")
    read_all = (
        *in_teams(chats(), lines_of(old)),
        *in_hr(*(hr.find_user(systems.in_hr(one)) for one in everybody)),
        *board.looks,
        *in_drive(named("Audit"), inside(folder)),
    )
    fresh = open_chat([teams.account(name) for name in (actor, *people)], "Round on the audit")
    written_in = in_teams(fresh, say(key_of_result(fresh, 0), f"We meet on {board.in_words} in Room Weir."))
    done = (*board.meeting(board.start), *board.filed(), *board.mailed())
    yield Job(
        "audit-round-without-the-leaver",
        actor,
        (TEAMS, HR, CALENDAR, DRIVE, EMAIL),
        "Those in our chat Audit who still work here by HR, and I, need an hour before the auditors come: 'Round "
        "on the audit', in my calendar with Room Weir, Monday 23 to Thursday 26 November, first full hour between "
        "9:00 and 17:00 at which we and the room are free. An empty document 'Points of the audit' goes into my "
        "Drive folder Audit; they comment on it, each by a role of their own on the document. They also get one "
        "mail, subject 'Round on the audit', with day and hour. In Teams the appointment belongs into a chat in "
        "which only we sit; if Audit has someone who is gone, make a group 'Round on the audit' for it instead. "
        "When is it, and who is not in it?",
        (
            "Read the members of the chat, and in HR which of them have an active account.",
            "Find the first hour that suits; enter it, make the document, share it, write the mail.",
            "The chat has a leaver: announce it in a new one.",
        ),
        (*read_all, *done, *written_in),
        f"Round on the audit is on {board.in_words} in Room Weir with Perpetua Lyle and Sunniva Hale, who comment on "
        "Points of the audit. Sefton Grady has left, so the day stands in a new chat.",
        (*board.when, term("Grady")),
        ("patch_event", "update_chat", "list_files_labels"),
        {"invites the leaver too": board.mailed(("Sefton Grady",))},
        {
            "says it in the old chat": (
                (*read_all, *done, *in_teams(say(old, f"We meet on {board.in_words}."))),
                f"On {board.in_words}, without Sefton Grady.",
            ),
            "shares the folder": (
                (
                    *read_all,
                    *board.meeting(board.start),
                    *board.filed(()),
                    *in_drive(*(
                        call("create_permission", fileId=folder.id, role="commenter", type="user",
                            emailAddress=files.account(name).email) for name in people
                    )),
                    *board.mailed(),
                    *written_in,
                ),
                f"On {board.in_words}, without Sefton Grady.",
            ),
        },
        evidence=(systems.in_hr("Sefton Grady"),),
        in_mails={"": board.when},
        in_posts={"": board.when},
    )  # fmt: skip


def _results(systems: Systems) -> Iterator[Job]:
    """Managers who report to the head of the company; one who reports to her has another position."""
    actor, hall = "Honora Quill", systems.teams.town_hall("Results of the year")
    people = ("Aurelio Banks", "Sunniva Hale", "Tobiah Mercer", "Wendell Achebe", "Marguerite Sloane")
    profile = systems.hr.profile(actor)
    board = Board(
        systems, actor, people, "Before the results", 45, ("11-17", "11-19"), (14, 18), LONDON, "Sluice",
        "Figures for the talk", readers=people, elsewhere={NEW_YORK: (9, 17)},
    )  # fmt: skip
    user = systems.in_hr(actor)
    read_all = (
        *in_teams(town_halls()),
        *in_hr(hr.find_user(user), hr.read_profile(user)),
        *in_hr(call("fetch_hr_profiles", manager=str(profile.hr_profile_id), position="Manager")),
        *in_hr(*(hr.read_user(systems.in_hr(name)) for name in people)),
        *board.looks,
    )
    clerk = (*people, "Lavender Crewe")
    yield Job(
        "managers-before-the-town-hall",
        actor,
        (HR, TEAMS, CALENDAR, DRIVE, EMAIL),
        "I should like to go through the figures with those managers who report to me in HR, before the town hall "
        "Results of the year: at the latest on the day before it, from tomorrow on. 45 minutes called 'Before the "
        "results' in my calendar and Room Sluice, the first full hour that is free for all of us and for the room, "
        "not before nine in New York and over by six in London. Please make an empty document 'Figures for the "
        "talk' among my own files, which each of them may read, and send them all one message with that title of "
        "the meeting as its subject, saying day and hour in London. When do we meet?",
        (
            "Read when the town hall is, and the managers who report to the acting user.",
            "Take the first hour before it that suits all calendars, the room and both zones.",
            "Enter it, make the document, share it with each of them, and write to them.",
        ),
        (*read_all, *board.meeting(board.start), *board.filed(), *board.mailed()),
        f"Before the results is on {board.in_words} in London, in Room Sluice, with your five managers: "
        f"{listed(people)}. All of them read Figures for the talk.",
        board.when,
        ("list_events", "create_virtual_event_townhall", "get_user_profile"),
        {"enters it on the day itself": board.meeting(on("11-20 14:00"))},
        {
            "invites who has another position": (
                (*read_all, *board.meeting(board.start, clerk), *board.filed(clerk), *board.mailed(clerk)),
                f"On {board.in_words}.",
            ),
            "takes an hour that is night in New York": (
                (*read_all, *board.meeting(on("11-17 09:00")), *board.filed(), *board.mailed(start=on("11-17 09:00"))),
                "On 17 November at 09:00.",
            ),
        },
        evidence=(profile, hall),
        in_mails={"": board.when},
    )


def _circle(systems: Systems) -> Iterator[Job]:
    """HR's circle is smaller than the private channel of its name and than the group of the shared drive."""
    files, teams = systems.files, systems.teams
    actor, other = "Aurelio Banks", "Hamish Corrie"
    case, criteria = systems.hr.case("grievance-rowe"), systems.hr.criteria("Relations circle")
    channel = teams.room("People:Relations")
    chat = teams.chat_of(teams.account(actor), teams.account(other))
    board = Board(
        systems, actor, (other,), "Talk", 30, ("11-17", "11-20"), (8, 11), LONDON, "", "Points of the talk",
        role="commenter", readers=(other,), more={"visibility": "private"}, elsewhere={"Australia/Sydney": (7, 21)},
    )  # fmt: skip
    team = teams.team("People")
    read_all = (
        *in_hr(hr.find_case(case), hr.find_criteria("Relations circle")),
        *in_hr(*map(hr.read_user, systems.hr.users_of(criteria))),
        *in_teams(find_team(team), channels_of(team), posts_of(channel, replies=True), chats(), lines_of(chat)),
        *in_drive(find_drive("People"), permissions_of(files.drive("People"))),
        *board.looks,
    )  # fmt: skip
    done = (*board.meeting(board.start), *board.filed(), *board.mailed())
    line = in_teams(say(chat, f"Talk on {board.in_words}."))
    shown = in_teams(post(channel, f"Talk on {board.in_words}."))
    yield Job(
        "talk-that-the-channel-must-not-read",
        actor,
        (HR, TEAMS, CALENDAR, DRIVE, EMAIL),
        f"About {case.number}: I need half an hour with the others who may see it by HR's criteria, London time, "
        "between 8:00 and 11:00 from tomorrow to Friday 20 November, and no one should sit there after 21:00 of "
        "their own clock. First full hour, no room. Title 'Talk', my calendar, private. Make an empty document "
        "'Points of the talk' which only we two can open (commenting is enough), wherever on Drive that is so. "
        "Announce day and hour in Teams where exactly the people of the circle read it: the channel Relations if "
        "it has no one else, otherwise the chat that we have. And a mail 'Talk' with the time. Where did you "
        "announce it, and when is it?",
        (
            "Read the case, its criteria, and who is in the channel and on the shared drive.",
            "The channel has someone who is not in the circle: use the chat, and a file among one's own (HR-CNF-2).",
            "Find the first hour that suits both zones; enter it as private, and write the mail.",
        ),
        (*read_all, *done, *line),
        f"In your chat with Hamish Corrie, as Casper Onslow reads the channel Relations. We talk on {board.in_words}.",
        (r"\bchat\b", *board.when),
        ("create_chat", "update_hr_case", "add_channel_member"),
        {"puts the document on the shared drive": in_drive(
            call("create_file", name="Points of the talk", mimeType=DOCUMENT, parents=[files.drive("People").id])
        )},
        {
            "posts it in the channel": ((*read_all, *done, *shown), f"In the channel, not the chat, {board.in_words}."),
            "enters it for everybody": (
                (*read_all, *replace(board, more={}).meeting(board.start), *done[1:], *line), f"Chat, {board.in_words}."
            ),
        },
        evidence=(criteria,),
        in_mails={"": board.when},
        in_posts={"": board.when},
    )  # fmt: skip
