"""Tasks over several days: rights, roles, rules and facts change in the night between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import NOT_DONE, term
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Amendment, Event
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.teams.graph import dumped
from opsgym_domains.teams.people import as_sender
from opsgym_domains.teams.tables import ChannelMessage, Team, User, UserPermission
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, on_day
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.teams.calls import (
    Script,
    at_line,
    at_webinar,
    channels_of,
    chats,
    create_channel,
    create_tag,
    create_team,
    find_team,
    find_user,
    find_users,
    give_tag,
    join,
    leave,
    lines_of,
    members_of,
    place_call,
    plan_event,
    post,
    posts_of,
    say,
    tags_of,
    webinars,
)
from opsgym_suites.teams.core.drafting import done
from opsgym_suites.teams.seeds.world import Actor, World

NO_RIGHT = r"\bpermissions?\b|\brights?\b|\bnot allowed\b|\bno access\b|ID-2"


def night(world: World) -> datetime:
    """When what changes over night changes."""
    return world.now + timedelta(hours=11)


def second_day(world: World, message: str) -> tuple[Day, ...]:
    """The second day of a task."""
    return (Day(message=message, begins_at=(world.now + timedelta(hours=22)).isoformat()),)


def grant(event: ScenarioEvent[Any], world: World, actor: Actor, permission: str) -> ScenarioEvent[Any]:
    """A user gets a permission."""
    row = UserPermission(
        org_id=world.org,
        user_id=actor.user_id,
        permission_id=f"{permission}:delegated",
        resource_scope="organization",
    )
    return event.add(row)


def revoke(event: ScenarioEvent[Any], world: World, actor: Actor, permission: str) -> ScenarioEvent[Any]:
    """A user has a permission no longer, but one that allows nothing instead."""
    row = world.one(UserPermission, user_id=actor.user_id, permission_id=f"{permission}:delegated")
    return event.change(row, permission_id="Presence.Read:delegated")


def _task(
    world: World,
    script: Script,
    event: ScenarioEvent[Any] | None,
    message: str,
    *,
    more: Sequence[Event] = (),
    access: Access = Access.STRICT,
    **fields: Any,
) -> Draft:
    """A task of two days with what changes in the night."""
    events = (*([event.happens_at(night(world))] if event is not None else []), *more)
    return done(world, script, event=event, events=events, days=second_day(world, message), access=access, **fields)


# --- a right that comes ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Granted:
    """A request that is refused on the first day and carried out on the second."""

    slug: str
    actor: str
    permission: str
    people: tuple[str, ...]
    prompt: str
    message: str
    what: str
    """What is done in the end, as the answer calls it."""


GRANTED: Mapping[str, Sequence[Granted]] = {
    "bridges": (
        Granted(
            "nanna-may-plan-webinars",
            "nanna.ibsgaard",
            "VirtualEvent.ReadWrite",
            ("clement.hvidberg", "torben.fabricius"),
            "Please plan the webinar 'Pictures from the sites' (text: How to send us photos) for the organisation on 27"
            " November 2026, 10:00 to 10:30 UTC, with Clement Hvidberg and Torben Fabricius as co-organisers! If"
            " I lack a"
            " right for it, tell me, I shall ask IT tonight!",
            "Good morning, IT says that I have the right now! Plan it as described, please, and publish it!",
            "Pictures from the sites",
        ),
        Granted(
            "rasmus-may-create-teams",
            "rasmus.bakkegaard",
            "Team.Create",
            ("emil.praestholm", "poul.ravnsborg"),
            "make a private team 'Shaft Survey' ('Weekly survey of the shafts'), me as owner, Emil Praestholm and Poul"
            " Ravnsborg as members. if i am not allowed to: say so, then i ask inge",
            "inge gave me the right last night. create the team now",
            "Shaft Survey",
        ),
    ),
    "wards": (
        Granted(
            "hinemoa-may-place-calls",
            "hinemoa.rewi",
            "Calls.Initiate.All",
            ("marama.tautahi", "giselle.lamoureux"),
            "For the bed drill the Ward Pager should call Marama Tautahi and Giselle Lamoureux, sound only,"
            " subject 'Bed"
            " drill', callback https://kauriuh.example/callback, media hosted by the service! If my account cannot do"
            " that, tell me what it lacks!",
            "Telephony has changed my rights, so please place the call now!",
            "Bed drill",
        ),
        Granted(
            "saoirse-may-plan-webinars",
            "saoirse.keating",
            "VirtualEvent.ReadWrite",
            ("aroha.kingi", "hinemoa.rewi"),
            "Could you set up the webinar 'Charts at night' (text: For the night staff) for the organisation on"
            " 2 December"
            " 2026 from 09:00 to 09:45 UTC, co-organisers Aroha Kingi and Hinemoa Rewi! In case I have no right"
            " to do so,"
            " leave it and say it!",
            "Brigid got me the right! Please set the webinar up now and publish it!",
            "Charts at night",
        ),
    ),
}


def granted(world: World, seed: str) -> Iterator[Draft]:
    """A right is missing on the first day and there on the second."""
    for scene in GRANTED[seed]:
        actor, people = world.person(scene.actor), [world.user(name) for name in scene.people]
        event = grant(ScenarioEvent(world), world, actor, scene.permission)
        requested = _requested(world, scene, actor, people)
        script = Script()
        script.day = 1
        script.do(*_looks(world, scene), *find_users(people))
        place = script.refused(requested)
        script.day = 2
        script.do(*_looks(world, scene))
        key = script.do(requested)
        if requested.name == "create_virtual_event_webinar":
            script.do(at_webinar("publish_virtual_event_webinar", key))
        first = f"I could not do it: your account has no permission for {scene.what}."
        answer = f"{scene.what} is done, with {' and '.join(str(user.given_name) for user in people)}."
        early = [made for made in script.gold if made.day == 1]
        yield _task(
            world,
            script,
            event,
            scene.message,
            slug=scene.slug,
            actor=actor,
            prompt=scene.prompt,
            plan=(
                "Look the people up and try it; report the permission that is missing (REF-1).",
                "On the second day try again, and do the rest of the request.",
            ),
            answer=answer,
            names=(scene.what,),
            verifiers=(answer_says("admits_the_first_day", "The first answer says so [REF-1]", NO_RIGHT, day=1),),
            day_answers=(first,),
            refused={place: "ID-2"},
            mistakes={"does it twice": on_day(2, requested)},
            negative={
                "does not try again": NegativeTrajectory((*early,), f"{scene.what} is not possible.", "ID-2"),
                "claims success on the first day": NegativeTrajectory(
                    script.gold, answer, "ID-2", (f"{scene.what} is done.",)
                ),
            },
        )


def _looks(world: World, scene: Granted) -> list[ToolCall]:
    if scene.permission == "Team.Create":
        return [call("list_teams")]
    if scene.permission == "Calls.Initiate.All":
        return [find_user(world.user("ward.pager"))]
    return [webinars()]


def _requested(world: World, scene: Granted, actor: Actor, people: Sequence[User]) -> ToolCall:
    """The call that is refused at first."""
    if scene.permission == "Team.Create":
        return create_team(scene.what, "Weekly survey of the shafts", {"owner": [actor.user], "member": people})
    if scene.permission == "Calls.Initiate.All":
        return place_call(world.user("ward.pager"), people, scene.what, "kauriuh.example")
    text, day, start, end = {
        "Pictures from the sites": ("How to send us photos", "2026-11-27", "10:00", "10:30"),
        "Charts at night": ("For the night staff", "2026-12-02", "09:00", "09:45"),
    }[scene.what]
    return plan_event("webinar", scene.what, text, f"{day}T{start}:00", f"{day}T{end}:00", people)


# --- a right or role that goes ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lost:
    """Work on two days, of which the second day's is refused in part."""

    slug: str
    actor: str
    team: str
    first: tuple[str, ...]
    """Who joins on the first day."""
    second: str
    """Who cannot join on the second."""
    role: str
    """New role of the acting user; empty where a permission goes."""
    prompt: str
    message: str


LOST: Mapping[str, Sequence[Lost]] = {
    "bridges": (
        Lost(
            "esben-is-no-owner-any-more",
            "esben.gadegaard",
            "Harbour Tunnel",
            ("jannik.toftlund", "dorthe.flindt"),
            "aksel.dyrberg",
            "member",
            "add Jannik Toftlund and Dorthe Flindt to Harbour Tunnel as members, and post in General that they are in,"
            " with names",
            "now Aksel Dyrberg too, same team. and post it in General. cant you add him? then post nothing and tell me"
            " why",
        ),
        Lost(
            "kjeld-may-not-add-people-any-more",
            "kjeld.munkholm",
            "Procurement",
            ("karla.winthereik", "laust.overby"),
            "henrik.ostergren",
            "",
            "Please let Karla Winthereik and Laust Overby into Procurement, as members, and say so in General with both"
            " names.",
            "Henrik Ostergren should join Procurement today, with a post in General. If it is refused, post"
            " nothing, and"
            " tell me the reason.",
        ),
    ),
    "wards": (
        Lost(
            "fatuma-is-no-owner-any-more",
            "fatuma.abdirahman",
            "Patient Records",
            ("ravindu.perera", "lorcan.devlin"),
            "kahu.wiremu",
            "member",
            "Good morning, please add Ravindu Perera and Lorcan Devlin to Patient Records as members and welcome"
            " the two"
            " by name in General.",
            "Kahu Wiremu is to join Patient Records as well, with a welcome in General. Should that be refused,"
            " write no"
            " welcome, and explain it to me.",
        ),
        Lost(
            "declan-may-not-add-people-any-more",
            "declan.moriarty",
            "Imaging",
            ("pania.rangi", "giselle.lamoureux"),
            "hinemoa.rewi",
            "",
            "imaging gets two new members, Pania Rangi and Giselle Lamoureux. add them, then a post in General"
            " with both"
            " names",
            "add Hinemoa Rewi too + post in General. if you cannot: no post, just the reason",
        ),
    ),
}


def lost(world: World, seed: str) -> Iterator[Draft]:
    """What was possible on the first day is refused on the second."""
    for scene in LOST[seed]:
        team, actor, late = world.team(scene.team), world.person(scene.actor), world.user(scene.second)
        people, general = [world.user(name) for name in scene.first], world.channel(team, "General")
        event: ScenarioEvent[Any] = ScenarioEvent(world)
        script = Script()
        script.day = 1
        script.do(find_team(team), members_of(team), *find_users(people))
        script.do(call("get_primary_channel", teamId=team.team_id), *(join(team, user) for user in people))
        text = f"New in {scene.team}: {' and '.join(str(user.display_name) for user in people)}."
        script.do(post(general, text))
        if scene.role:
            demote(event, world, team, actor.user)
        else:
            revoke(event, world, actor, "TeamMember.ReadWrite.All")
        script.day = 2
        script.do(find_user(late))
        place = script.refused(join(team, late))
        rule = "PRC-2" if scene.role else "ID-2"
        why = r"\bowners?\b|PRC-2" if scene.role else NO_RIGHT
        answer = f"{late.display_name} was not added and nothing was posted: " + (
            "only owners change a team, and you do not own it any more." if scene.role else "you have no permission."
        )
        day_one = [made for made in script.gold if made.day == 1]
        yield _task(
            world,
            script,
            event,
            scene.message,
            slug=scene.slug,
            actor=actor,
            prompt=scene.prompt,
            plan=(
                "Add the two and name them in General (TEA-2, MSG-1).",
                "On the second day see why the call is refused, and report it (REF-1).",
            ),
            answer=answer,
            verifiers=(
                answer_says("says_it_was_not_done", "The answer says that nothing was done [REF-1]", NOT_DONE),
                answer_says("says_why", "The answer gives the reason [REF-1]", why),
            ),
            day_answers=(f"{' and '.join(str(user.given_name) for user in people)} are in {scene.team}.",),
            says={text: [term(str(user.given_name)) for user in people]},
            refused={place: rule},
            mistakes={"posts it all the same": on_day(2, post(general, f"{late.display_name} is in."))},
            negative={
                "claims to have added the third": NegativeTrajectory(script.gold, "It is done.", rule),
                "adds one only on the first day": NegativeTrajectory(
                    (*day_one[:-2], day_one[-1], *script.gold[len(day_one) :]), answer, rule
                ),
            },
        )


def demote(event: ScenarioEvent[Any], world: World, team: Team, user: User) -> None:
    """A member of a team is not its owner any more, also where others have joined meanwhile."""
    (membership,) = (one for one in world.members(team) if one["userId"] == user.user_id)
    before, after = dumped(membership), dumped({**membership, "roles": ["member"]})
    members, key = f"replace(members, {_quoted(before)}, {_quoted(after)})", _quoted(team.team_id)
    statement = f"UPDATE teams SET members = {members} WHERE team_id = {key}"  # noqa: S608 - our own rows
    event.statements.append(statement)
    changed: Team = event.after.one(Team, team_id=team.team_id)
    changed.members = str(changed.members).replace(before, after)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# --- a rule that changes ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Amended:
    """A request that a new rule forbids in part on the second day."""

    slug: str
    actor: str
    team: str
    guest: str
    member: str
    second: str
    rule: str
    text: str
    prompt: str
    message: str


AMENDED: Mapping[str, Sequence[Amended]] = {
    "bridges": (
        Amended(
            "no-more-guests-in-locks",
            "viggo.hjorth",
            "Canal Locks",
            "priya.raghunathan",
            "karla.winthereik",
            "marlon.vercauteren",
            "TEA-2",
            "Give the lowest role that the request needs. From now on no guest joins a team; guests who are in"
            " one stay.",
            "Please add Karla Winthereik as a member and Priya Raghunathan as a guest to Canal Locks, and give"
            " Karla the"
            " tag Inspectors.",
            "Please add Marlon Vercauteren as a guest and Laust Overby as a member. What the rules do not allow"
            " any more"
            " you leave out and name.",
        ),
        Amended(
            "no-more-guests-in-the-bridge",
            "pia.vestergren",
            "Sound Bridge",
            "sander.hoekema",
            "emil.praestholm",
            "ottilie.brandstatter",
            "TEA-2",
            "Give the lowest role that the request needs. Guests join a team only by a decision of the board, which you"
            " cannot obtain: add none.",
            "Two people join Sound Bridge: Emil Praestholm as a member and Sander Hoekema as a guest! Emil also"
            " gets the"
            " tag Lifting crew!",
            "Two more, Ottilie Brandstatter as a guest and Laust Overby as a member! If a rule is against one of them,"
            " leave that one out and tell me!",
        ),
    ),
    "wards": (
        Amended(
            "no-more-guests-in-imaging",
            "declan.moriarty",
            "Imaging",
            "takumi.hoshino",
            "giselle.lamoureux",
            "vesna.jurkovic",
            "TEA-2",
            "Give the lowest role that the request needs. Until the cutover is over no guest is added to any team.",
            "into Imaging: Giselle Lamoureux as member, Takumi Hoshino as guest. giselle gets the tag On call imaging",
            "also Vesna Jurkovic as guest and Oriel Penhallow as member. if something of that is no longer"
            " allowed leave"
            " it out and tell me what",
        ),
    ),
}


def amended(world: World, seed: str) -> Iterator[Draft]:
    """Guests join on the first day, and may not on the second."""
    for scene in AMENDED[seed]:
        team = world.team(scene.team)
        member, guest, refused = (world.user(name) for name in (scene.member, scene.guest, scene.second))
        fourth = world.user("laust.overby" if seed == "bridges" else "oriel.penhallow")
        tag = world.tag(
            team, {"Canal Locks": "Inspectors", "Sound Bridge": "Lifting crew"}.get(scene.team, "On call imaging")
        )
        script = Script()
        script.day = 1
        script.do(find_team(team), members_of(team), tags_of(team), *find_users([member, guest]))
        script.do(join(team, member), join(team, guest, "guest"), give_tag(tag, member))
        script.day = 2
        script.do(*find_users([refused, fourth]), members_of(team), join(team, fourth))
        yield _task(
            world,
            script,
            None,
            scene.message,
            more=(Event(at=night(world).isoformat(), amend=Amendment(rule=scene.rule, text=scene.text)),),
            access=Access.PUBLISHED,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Add the two with their roles and give the tag (TEA-2).",
                "On the second day the rule has changed: add the member only, and name the guest (REF-2).",
            ),
            answer=f"{fourth.display_name} is in {scene.team}. {refused.display_name} was not added: no guest joins a"
            " team any more.",
            names=(str(refused.given_name),),
            verifiers=(answer_says("says_what_was_left_out", "The answer says what was left out [REF-2]", NOT_DONE),),
            day_answers=(f"{member.given_name} and {guest.given_name} are in {scene.team}.",),
            mistakes={
                "adds the guest too": on_day(2, join(team, refused, "guest")),
                "adds the guest as a member": on_day(2, join(team, refused)),
            },
            negative={
                "removes the earlier guest": NegativeTrajectory(
                    (*script.gold[:-1],), f"{refused.display_name} was not added."
                )
            },
        )


# --- second thoughts -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Thoughts:
    """What is taken back on the second day."""

    slug: str
    actor: str
    topic: str
    liked: str
    removed: str
    text: str
    words: tuple[str, ...]
    prompt: str
    message: str


THOUGHTS: Mapping[str, Sequence[Thoughts]] = {
    "bridges": (
        Thoughts(
            "stine-has-second-thoughts",
            "stine.kirkeby",
            "Buyers",
            "Steel goes up",
            "Then I order 60 tonnes",
            "I order 60 tonnes on 18 November.",
            ("60", "18 November"),
            "In our chat Buyers react with 'laugh' to Kjeld's message about steel, please, and delete mine about the"
            " tonnes; I am not sure yet.",
            "Now I am sure. Restore my message in Buyers, take my 'laugh' back and give that message of Kjeld's"
            " a 'like'"
            " instead. Then write that I order 60 tonnes on 18 November.",
        ),
    ),
    "wards": (
        Thoughts(
            "saoirse-has-second-thoughts",
            "saoirse.keating",
            "Trainers",
            "Room T1 is ours",
            "I take the night staff",
            "I take the night staff on 23 November!",
            ("23 November",),
            "In the chat Trainers, please react with 'surprised' to Brigid's message about room T1, and delete mine on"
            " the night staff, I may be away!",
            "I am not away! Bring my message in Trainers back, replace my 'surprised' on Brigid's message by a 'heart',"
            " and write there that I take the night staff on 23 November!",
        ),
    ),
}


def thoughts(world: World, seed: str) -> Iterator[Draft]:
    """A reaction and a deletion of the first day are taken back on the second."""
    for scene in THOUGHTS[seed]:
        chat, (old, new) = (
            world.chat(scene.topic),
            {"Buyers": ("laugh", "like")}.get(scene.topic, ("surprised", "heart")),
        )
        liked, own = world.line(chat, scene.liked), world.line(chat, scene.removed)
        script = Script()
        script.day = 1
        script.do(chats(), lines_of(chat), at_line("set_chat_message_reaction", liked, reactionType=old))
        script.do(at_line("soft_delete_chat_message", own))
        script.day = 2
        script.do(lines_of(chat), at_line("undo_soft_delete_chat_message", own))
        script.do(at_line("unset_chat_message_reaction", liked, reactionType=old))
        script.do(at_line("set_chat_message_reaction", liked, reactionType=new), say(chat, scene.text))
        first = [made for made in script.gold if made.day == 1]
        yield _task(
            world,
            script,
            None,
            scene.message,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Read the chat, react and delete one's own message.",
                "On the second day restore it, change the reaction and write the message (MSG-1, MSG-2).",
            ),
            answer=f"Your message in {scene.topic} is back, the reaction is a {new}, and the message is sent.",
            names=(scene.topic,),
            day_answers=(f"I reacted in {scene.topic} and deleted your message.",),
            says={scene.text: [term(word) for word in scene.words]},
            mistakes={"deletes it again": on_day(2, at_line("soft_delete_chat_message", own))},
            negative={
                "forgets the second day": NegativeTrajectory((*first,), "It is done."),
                "keeps both reactions": NegativeTrajectory(
                    tuple(made for made in script.gold if made.name != "unset_chat_message_reaction"), "It is done."
                ),
            },
        )


# --- news of the night -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class News:
    """A private channel whose people a post of the night changes."""

    slug: str
    actor: str
    team: str
    name: str
    first: tuple[str, ...]
    author: str
    announced: str
    """The post of the night."""
    replaced: str
    """Who joins the channel on the second day."""
    tag: tuple[str, tuple[str, ...]]
    prompt: str
    message: str


NEWS: Mapping[str, Sequence[News]] = {
    "bridges": (
        News(
            "water-group-gets-another-member",
            "oluf.stensgaard",
            "Harbour Tunnel",
            "Water inflow",
            ("laust.overby", "rasmus.bakkegaard"),
            "laust.overby",
            "I am at the north shaft all week, Emil Praestholm takes my place in the water group.",
            "emil.praestholm",
            ("Water group", ("emil.praestholm", "rasmus.bakkegaard")),
            "private channel 'Water inflow' in Harbour Tunnel: me as owner, laust overby and rasmus bakkegaard in it."
            " post there that we meet on tuesday at 07:00",
            "someone of the water group is replaced, it was posted in General last night. let the new one into 'Water"
            " inflow' (no one leaves), greet him there by name, and create the tag 'Water group' for the two who do it"
            " now",
        ),
        News(
            "lift-group-gets-another-member",
            "pia.vestergren",
            "Sound Bridge",
            "Lift control",
            ("jorn.elmkvist", "villads.juhlin"),
            "villads.juhlin",
            "ill until monday, mikkeline tranberg does lift control for me",
            "mikkeline.tranberg",
            ("Lift control", ("mikkeline.tranberg", "jorn.elmkvist")),
            "Please create the private channel 'Lift control' in Sound Bridge with me as owner and Jorn Elmkvist and"
            " Villads Juhlin as members! Then post there that we meet on Tuesday at 07:00!",
            "One of the two is replaced, says a post of last night in General! The new person joins 'Lift control'"
            " (no one is removed), gets a greeting by name there, and the tag 'Lift control' is created for the two who"
            " are in charge now!",
        ),
    ),
    "wards": (
        News(
            "label-group-gets-another-member",
            "mereana.tipene",
            "Patient Records",
            "Labels",
            ("aroha.kingi", "nerida.cawthorn"),
            "nerida.cawthorn",
            "Good day, I am in court until Friday; Elowen Trethewey stands in for me with the labels. Kind"
            " regards, Nerida",
            "elowen.trethewey",
            ("Label group", ("elowen.trethewey", "aroha.kingi")),
            "We need a private channel 'Labels' in Patient Records! I own it, Aroha Kingi and Nerida Cawthorn are"
            " members. Post there that we meet on Tuesday at 07:00!",
            "One of the two has a stand-in, look at last night's post in General! Add that person to 'Labels',"
            " everybody"
            " stays, say hello there by name, and make a tag 'Label group' for the two who do the labels now!",
        ),
        News(
            "outage-group-gets-another-member",
            "anselm.drexler",
            "Network Renewal",
            "Outages",
            ("bartek.zielinski", "farid.noorzai"),
            "farid.noorzai",
            "My child is ill, Viliami Taufa covers the outages for me this week.",
            "viliami.taufa",
            ("Outage group", ("bartek.zielinski", "viliami.taufa")),
            "create private channel 'Outages' in Network Renewal, i own it, members Bartek Zielinski and Farid Noorzai."
            " post there: we meet on tuesday at 07:00",
            "one of them is covered by someone else, see the post of last night in General. add that person to"
            " 'Outages' (no one leaves), greet by name there, tag 'Outage group' for the two on duty now",
        ),
    ),
}


def news(world: World, seed: str) -> Iterator[Draft]:
    """A post of the night says who joins a channel of the first day."""
    for scene in NEWS[seed]:
        team, actor, new = world.team(scene.team), world.person(scene.actor), world.user(scene.replaced)
        people, general = [world.user(name) for name in scene.first], world.channel(team, "General")
        event: ScenarioEvent[Any] = ScenarioEvent(world)
        event.add(arrived(team, general.channel_id, world.user(scene.author), scene.announced, night(world)))
        script = Script()
        script.day = 1
        script.do(find_team(team), channels_of(team), members_of(team), *find_users(people))
        seats = [(actor.user, "owner"), *((user, "member") for user in people)]
        channel = script.do(create_channel(team, scene.name, kind="private", members=seats))
        script.do(post((team.team_id, channel), "We meet on Tuesday at 07:00."))
        script.day = 2
        script.do(posts_of(general), find_user(new), tags_of(team))
        bound = f"https://graph.microsoft.com/v1.0/users('{new.user_id}')"
        script.do(call("add_channel_member", teamId=team.team_id, channelId=channel, user_odata_bind=bound))
        text = f"Welcome {new.display_name}."
        script.do(post((team.team_id, channel), text))
        on_duty = [world.user(name) for name in scene.tag[1]]
        script.do(create_tag(team, scene.tag[0], on_duty))
        first = [made for made in script.gold if made.day == 1]
        gone = next(user for user in people if user not in on_duty)
        answer = f"{new.display_name} is in {scene.name} now, and the tag {scene.tag[0]} is created."
        yield _task(
            world,
            script,
            event,
            scene.message,
            slug=scene.slug,
            actor=actor,
            prompt=scene.prompt,
            plan=(
                "Create the private channel with its members (TEA-3) and post in it.",
                "On the second day read who is replaced, add the new person, greet and create the tag.",
            ),
            answer=answer,
            names=(str(new.given_name), scene.name),
            day_answers=(f"{scene.name} is created in {scene.team}.",),
            says={text: [term(str(new.given_name))], "We meet": ["07:00"]},
            mistakes={
                "adds one more": on_day(
                    2,
                    call(
                        "add_channel_member",
                        teamId=team.team_id,
                        channelId=channel,
                        user_odata_bind=f"https://graph.microsoft.com/v1.0/users('{world.members(team)[0]['userId']}')",
                    ),
                )
                if world.members(team)[0]["userId"] != actor.user_id
                else on_day(2, post(general, text)),
                "removes who is replaced from the team": on_day(2, leave(team, world.membership(team, gone))),
            },
            negative={
                "tags the people of the first day": NegativeTrajectory(
                    (*script.gold[:-1], *on_day(2, create_tag(team, scene.tag[0], people))), answer
                ),
                "forgets the second day": NegativeTrajectory((*first,), answer),
            },
        )


def arrived(team: Team, channel: str, author: User, text: str, time: datetime) -> ChannelMessage:
    """A post that is written without the agent."""
    key = str(int((time - datetime(1970, 1, 1)).total_seconds() * 1000))  # noqa: DTZ001 - as stored
    return ChannelMessage(
        message_id=key,
        channel_id=channel,
        team_id=team.team_id,
        etag=key,
        message_type="message",
        created_datetime=time,
        last_modified_datetime=time,
        importance="normal",
        locale="en-us",
        from_json=dumped(as_sender(author.user_id, author.display_name)),
        body_json=dumped({"contentType": "text", "content": text}),
        attachments_json="[]",
        mentions_json="[]",
        reactions_json="[]",
        message_history_json="[]",
    )


FAMILIES = (granted, lost, amended, thoughts, news)
