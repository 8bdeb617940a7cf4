"""Tasks about webinars, town halls and calls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opsgym_api.tasks.answer_patterns import term
from opsgym_domains.teams.tables import CallRecord, User
from opsgym_suites.kit.drafts import Draft, Solution, call
from opsgym_suites.teams.calls import (
    Script,
    at_webinar,
    cancel_town_hall,
    channels_of,
    chats,
    find_team,
    find_user,
    find_users,
    open_chat,
    place_call,
    plan_event,
    post,
    posts_of,
    route,
    say,
    town_halls,
    webinars,
)
from opsgym_suites.teams.core.drafting import done
from opsgym_suites.teams.seeds.world import World

# --- webinars --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Season:
    """Webinars that are published, cancelled and created."""

    slug: str
    actor: str
    publish: tuple[str, ...]
    cancel: tuple[str, ...]
    other: str
    """A webinar that must stay as it is."""
    new: tuple[str, str, str, str]
    """Name, text, start and end of a new webinar."""
    helpers: tuple[str, ...]
    published: bool
    """Whether the new one is published too."""
    team: str
    prompt: str


SEASONS: Mapping[str, Sequence[Season]] = {
    "bridges": (
        Season(
            "model-webinars-go-out",
            "ditte.skovlund",
            ("Reading a model",),
            ("Reading a model, part two",),
            "Winter concrete",
            ("Clashes without tears", "Clash reports for site people", "2026-12-10T13:00:00", "2026-12-10T14:00:00"),
            ("yrsa.bredahl", "zenia.holmskov"),
            True,
            "BIM Studio",
            "Of my two webinars on reading a model the first may be published, the second ('Reading a model, part two')"
            " is cancelled. In its place create 'Clashes without tears' (text: Clash reports for site people) for the"
            " organisation on 10 December 2026 from 13:00 to 14:00 UTC, with Yrsa Bredahl and Zenia Holmskov as"
            " co-organisers, and publish it as well. Then announce the new one by its name in General of BIM Studio.",
        ),
        Season(
            "contracts-webinar-goes-out",
            "kjeld.munkholm",
            ("Frame contracts explained",),
            (),
            "Reading a model",
            ("Steel prices in winter", "What to order when", "2026-11-30T08:30:00", "2026-11-30T09:15:00"),
            ("stine.kirkeby",),
            False,
            "Procurement",
            "Please publish my webinar on frame contracts. A second one, 'Steel prices in winter' with the text 'What"
            " to order when', should be planned for 30 November 2026, 08:30 to 09:15 UTC, for the organisation, with"
            " Stine Kirkeby as co-organiser. That one is not to be published yet. Write both names in General of"
            " Procurement.",
        ),
    ),
    "wards": (
        Season(
            "record-webinars-go-out",
            "brigid.halloran",
            ("Your first day on the record", "Your second day on the record"),
            (),
            "Phishing in the wards",
            ("Your first week on the record", "What to do when stuck", "2026-12-01T21:00:00", "2026-12-01T22:00:00"),
            ("aroha.kingi", "saoirse.keating"),
            True,
            "Training",
            "My two webinars about the first and the second day on the record are ready, publish them! A third"
            " one comes"
            " along: 'Your first week on the record', text 'What to do when stuck', 1 December 2026 from 21:00 to 22:00"
            " UTC, for the organisation, co-organisers Aroha Kingi and Saoirse Keating. Publish that too, and post its"
            " name in General of Training!",
        ),
        Season(
            "phishing-webinar-is-replaced",
            "rosalba.quintero",
            (),
            ("Phishing in the wards",),
            "Your first day on the record",
            ("Calls that are not from us", "False calls of support", "2026-11-25T22:00:00", "2026-11-25T22:45:00"),
            ("isidro.valverde", "ysolde.marchbanks"),
            False,
            "Security Watch",
            "Cancel my webinar on phishing. Instead plan 'Calls that are not from us' with the text 'False calls of"
            " support' on 25 November 2026, 22:00 to 22:45 UTC, audience the organisation; Isidro Valverde and Ysolde"
            " Marchbanks organise it with me. Leave it as a draft. Tell Security Watch in General what is cancelled and"
            " what comes instead, by name.",
        ),
    ),
}


def seasons(world: World, seed: str) -> Iterator[Draft]:
    """Webinars are published, cancelled and created, and a team hears of it."""
    for scene in SEASONS[seed]:
        name, text, start, end = scene.new
        helpers, team = [world.user(one) for one in scene.helpers], world.team(scene.team)
        rows = {one: world.webinar(one) for one in (*scene.publish, *scene.cancel, scene.other)}
        script = Script(webinars())
        script.do(*(at_webinar("get_virtual_event_webinar", rows[one]) for one in (*scene.publish, *scene.cancel)))
        script.do(*find_users(helpers), find_team(team), call("get_primary_channel", teamId=team.team_id))
        script.do(*(at_webinar("publish_virtual_event_webinar", rows[one]) for one in scene.publish))
        script.do(*(at_webinar("cancel_virtual_event_webinar", rows[one]) for one in scene.cancel))
        key = script.do(plan_event("webinar", name, text, start, end, helpers))
        if scene.published:
            script.do(at_webinar("publish_virtual_event_webinar", key))
        steps = ["publish (EVT-2)"] * bool(scene.publish) + ["cancel (EVT-3)"] * bool(scene.cancel)
        new = "create the new one with its zone (EVT-1)" + " and publish it" * scene.published
        gone = f" It replaces {', '.join(scene.cancel)}." if scene.cancel else ""
        also = f" Published: {', '.join(scene.publish)}." if scene.publish else ""
        script.do(post(world.channel(team, "General"), f"New webinar: {name}.{gone}{also}"))
        stated = [name, *(scene.publish if scene.team == "Procurement" else ())]
        stated += scene.cancel if scene.team == "Security Watch" else ()
        early = ("2026-11-25T08:00:00", "2026-11-25T09:00:00")
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "List the webinars and read those that are meant (LKP-1); look the co-organisers up.",
                f"As asked, {' and '.join(steps)}; {new}, tell the team.",
            ),
            answer=f"{name} is {'published' if scene.published else 'a draft'}.{gone}{also}",
            names=(name,),
            says={"New webinar": [term(one) for one in stated]},
            mistakes={
                "cancels another one": (at_webinar("cancel_virtual_event_webinar", rows[scene.other]),),
                "plans a second one": (plan_event("webinar", f"{name} again", text, *early, helpers),),
                **(
                    {}
                    if scene.published
                    else {"publishes the draft": (at_webinar("publish_virtual_event_webinar", key),)}
                ),
            },
            tools=("list_virtual_event_townhalls", "create_virtual_event_townhall"),
        )


# --- town halls ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hall:
    """A town hall that is cancelled, and another one by invitation."""

    slug: str
    actor: str
    cancel: str
    other: str
    new: tuple[str, str, str, str]
    invited: tuple[str, ...]
    helper: str
    prompt: str


HALLS: Mapping[str, Sequence[Hall]] = {
    "bridges": (
        Hall(
            "safety-day-becomes-small",
            "asta.rosendal",
            "Safety day",
            "Results of the third quarter",
            ("Safety hour of the owners", "Falls of this year", "2026-12-04T09:00:00", "2026-12-04T10:00:00"),
            ("oluf.stensgaard", "pia.vestergren", "viggo.hjorth"),
            "ulla.fogtmann",
            "Good morning, the town hall on safety day is to be cancelled. Please create another town hall in"
            " its place,"
            " by invitation only: 'Safety hour of the owners', text 'Falls of this year', 4 December 2026, 09:00 to"
            " 10:00 UTC, for the organisation. Invited are Oluf Stensgaard, Pia Vestergren and Viggo Hjorth; Ulla"
            " Fogtmann organises it with me. Then write to Ulla in a chat of the two of us that it begins at 09:00.",
        ),
        Hall(
            "quarter-results-are-moved",
            "lisbet.agerskov",
            "Results of the third quarter",
            "Owners meet the board",
            ("Third quarter, for managers", "Figures", "2026-11-23T12:00:00", "2026-11-23T13:00:00"),
            ("torben.fabricius", "ditte.skovlund", "asta.rosendal", "kjeld.munkholm"),
            "nanna.ibsgaard",
            "Change of plan! Cancel the town hall with the results of the third quarter. Set up a new one, by"
            " invitation"
            " only, called 'Third quarter, for managers' (text: Figures), on 23 November 2026 from 12:00 to 13:00 UTC,"
            " audience organisation. Invite Torben Fabricius, Ditte Skovlund, Asta Rosendal and Kjeld Munkholm, make"
            " Nanna Ibsgaard co-organiser, and tell Nanna in our chat that it starts at 12:00!",
        ),
    ),
    "wards": (
        Hall(
            "pager-day-becomes-small",
            "tevita.fonoti",
            "Pager day",
            "Record cutover, last questions",
            ("Pager hour", "Spare batteries", "2026-12-02T20:00:00", "2026-12-02T20:30:00"),
            ("odile.charpentier", "nikau.parata"),
            "kahu.wiremu",
            "No pager day after all, please cancel that town hall! We do a small one, invitation only: 'Pager hour',"
            " text 'Spare batteries', on 2 December 2026, 20:00 to 20:30 UTC, for the organisation. Odile Charpentier"
            " and Nikau Parata are invited, Kahu Wiremu is co-organiser. Kahu and I have no chat yet; open one and say"
            " that it begins at 20:00!",
        ),
    ),
}


def halls(world: World, seed: str) -> Iterator[Draft]:
    """A town hall is cancelled and one by invitation takes its place."""
    for scene in HALLS[seed]:
        name, text, start, end = scene.new
        invited, helper = [world.user(one) for one in scene.invited], world.user(scene.helper)
        actor = world.person(scene.actor)
        event = plan_event(
            "townhall",
            name,
            text,
            start,
            end,
            [helper],
            isInviteOnly=True,
            invitedAttendees=[{"id": user.user_id} for user in invited],
        )
        script = Script(town_halls(), *find_users([*invited, helper]), find_user(actor.user), chats())
        script.do(cancel_town_hall(world.town_hall(scene.cancel)), event)
        chat = script.do(open_chat([actor.user, helper]))
        notice = f"{name} begins at {start[11:16]} UTC."
        script.do(say(chat, notice))
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=actor,
            prompt=scene.prompt,
            plan=(
                "List the town halls and look the people up (LKP-1).",
                "Cancel the one (EVT-3), create the other as a draft (EVT-1, EVT-2), write in the chat (MSG-3).",
            ),
            answer=f"{scene.cancel} is cancelled, {name} is planned, and {helper.display_name} knows.",
            names=(scene.cancel, name),
            says={notice: [term(start[11:16])]},
            mistakes={
                "cancels another one": (cancel_town_hall(world.town_hall(scene.other)),),
                "makes a webinar too": (plan_event("webinar", name, text, start, end, [helper]),),
                "tells an invited person too": (say(world.chat("Admins") if seed == "bridges" else chat, "Done."),),
            },
            tools=("publish_virtual_event_webinar", "create_virtual_event_webinar"),
        )


# --- calls -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drill:
    """A post that says whom an application calls."""

    slug: str
    actor: str
    team: str
    channel: str
    announced: str
    service: str
    subject: str
    called: tuple[str, ...]
    first: str
    """Whom the others hear."""
    prompt: str


DRILLS: Mapping[str, Sequence[Drill]] = {
    "bridges": (
        Drill(
            "alarm-drill-is-called",
            "asta.rosendal",
            "Safety",
            "Drills",
            "Alarm drill this week",
            "site.dispatcher",
            "Drill week 47",
            ("ulla.fogtmann", "villads.juhlin", "henrik.ostergren"),
            "ulla.fogtmann",
            "Please place the alarm call that I described last week in Drills of the Safety team, exactly as it says"
            " there; the callback is https://nordspan.example/callback, the media are hosted by the service. In"
            " the call"
            " the other two hear Ulla Fogtmann (multicast). Then post in Drills who was called.",
        ),
    ),
    "wards": (
        Drill(
            "fire-drill-is-called",
            "tevita.fonoti",
            "Telephony",
            "Switchboard",
            "Fire drill!",
            "ward.pager",
            "Fire drill",
            ("viliami.taufa", "kahu.wiremu", "hinemoa.rewi"),
            "viliami.taufa",
            "Fire drill now! Everything about the call is in my post in Switchboard, team Telephony: who calls, whom,"
            " sound and subject. Media are hosted by the service, callback https://kauriuh.example/callback. The other"
            " two should hear Viliami Taufa, so route it as multicast. Post in Switchboard who was called!",
        ),
    ),
}


def drills(world: World, seed: str) -> Iterator[Draft]:
    """An application calls the people whom a post names, and who hears whom is decided."""
    for scene in DRILLS[seed]:
        team = world.team(scene.team)
        channel, service = world.channel(team, scene.channel), world.user(scene.service)
        people, first = [world.user(name) for name in scene.called], world.user(scene.first)
        host = str(world.person(scene.actor).email).partition("@")[2]
        script = Script(find_team(team), channels_of(team), posts_of(channel), *find_users([service, *people]))
        key = script.do(place_call(service, people, scene.subject, host))
        others = [user for user in people if user is not first]
        script.do(route(key, "multicast", [first], others))
        text = f"{scene.subject}: called {', '.join(str(user.display_name) for user in people)}."
        script.do(post(channel, text))
        more = next(user for user in world.all(User) if user not in people and user.account_enabled)
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Read the post and look up who is called (LKP-1).",
                "Place the call to these people only (EVT-4), route it, and post who was called (MSG-1).",
            ),
            answer=f"{scene.subject}: {', '.join(str(user.display_name) for user in people)} were called.",
            names=tuple(str(user.given_name) for user in people),
            says={text: [term(str(user.given_name)) for user in people]},
            mistakes={
                "calls one more": (place_call(service, [more], scene.subject, host),),
                "routes one of them too": (route(key, "oneToOne", [first], others[:1]),),
                "posts twice": (post(channel, text),),
            },
            evidence=[world.post(channel, scene.announced)],
        )


@dataclass(frozen=True)
class Missed:
    """A person who asks what a call was, and tells another."""

    slug: str
    call: int
    """Number of the call, the newest first."""
    prompt: str
    """With slots for the date and the start of the call."""


MISSED: Mapping[str, Sequence[Missed]] = {
    "bridges": (
        Missed(
            "who-was-in-the-call",
            5,
            "I have forgotten who was in the call of {date} that began at {start} UTC. Please look it up with its"
            " sessions, open a group chat named 'Follow-up {date}' of everybody who took part in it, and write"
            " there how"
            " many minutes it lasted.",
        ),
        Missed(
            "long-call-is-followed-up",
            8,
            "the call on {date}, {start} utc: find the participants (sessions too), make a group chat 'Notes {date}'"
            " with all of them and say in it how many minutes we talked",
        ),
    ),
    "wards": (
        Missed(
            "call-of-the-night",
            5,
            "Can you find the call of {date}, start {start} UTC, with its sessions? All who were in it should get a"
            " group chat called 'Call of {date}', and the first message there says how many minutes the call took!",
        ),
    ),
}


def missed(world: World, seed: str) -> Iterator[Draft]:
    """The participants of a call get a group chat that states how long it was."""
    records = sorted(world.all(CallRecord), key=lambda row: row.start_date_time, reverse=True)  # type: ignore[arg-type, return-value]
    for scene in MISSED[seed]:
        record = records[scene.call]
        people = [world.one(User, user_id=one["user"]["id"]) for one in json.loads(str(record.participants))]
        start, end = record.start_date_time, record.end_date_time
        assert start is not None
        assert end is not None
        minutes = int((end - start).total_seconds() // 60)
        date = f"{start.day} {start:%B %Y}"
        prompt = scene.prompt.format(date=date, start=f"{start:%H:%M}")
        topic = prompt.split("'")[1]
        actor = world.person(str(people[0].mail_nickname))
        since: dict[str, Any] = {"_filter": f"startDateTime ge {start:%Y-%m-%d}T00:00:00Z"}
        script = Script(call("list_call_records", **since), call("get_call_record", id=record.id))
        script.do(call("list_call_sessions", id=record.id), *find_users(people))
        chat = script.do(open_chat(people, topic))
        text = f"The call took {minutes} minutes."
        script.do(say(chat, text))
        other = next(user for user in world.all(User) if user not in people and user.account_enabled)
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=actor,
            prompt=prompt,
            plan=(
                "Find the call by its start, with participants and sessions (LKP-1).",
                "Open the chat with all of them, and state the length (MSG-1).",
            ),
            answer=f"{topic} has {', '.join(str(user.display_name) for user in people)}; the call took {minutes}"
            " minutes.",
            names=tuple(str(user.given_name) for user in people),
            says={text: [rf"\b{minutes}\b"]},
            mistakes={
                "opens a second chat": (open_chat([actor.user, other], f"{topic} 2"),),
                "writes a second message": (say(chat, "Sorry, that was wrong."),),
            },
            also={"looks the sessions up first": Solution((script.gold[2], *script.gold[:2], *script.gold[3:]))},
            tools=("create_call", "list_chats"),
            evidence=[("id", record.id)],
        )


FAMILIES = (seasons, halls, drills, missed)
