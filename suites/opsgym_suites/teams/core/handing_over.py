"""Teams that get another owner, and answers to a question from which several things follow.

Invariant: who is meant and what time was given stands in a post or a reply; roles and channels say what is left to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import span, term
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.teams.calls import (
    Script,
    add_tab,
    admit,
    cancel_town_hall,
    channels_of,
    chats,
    create_channel,
    create_tag,
    find_app,
    find_team,
    find_users,
    leave,
    members_of,
    post,
    posts_of,
    say,
    set_role,
    set_status,
    tags_of,
    town_halls,
    update_tag,
)
from opsgym_suites.teams.core.drafting import done
from opsgym_suites.teams.seeds.world import World

# --- a team gets another owner ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Handover:
    """A team whose owner hands it over and stays as a member."""

    slug: str
    actor: str
    team: str
    heir: str
    private: str
    """Private channel that the heir joins as an owner; empty if there is none to join."""
    event: str
    """Town hall of the former owner that is canceled; empty without one."""
    post: str
    """Part of the post in General that names the people of the tag."""
    tag: str
    people: tuple[str, ...]
    chat: str
    until: str
    """When the status message expires, in UTC."""
    status: str
    prompt: str
    access: Access = Access.STRICT


HANDOVERS: Mapping[str, Sequence[Handover]] = {
    "bridges": (
        Handover(
            "henrik-leads-the-locks",
            "viggo.hjorth",
            "Canal Locks",
            "henrik.ostergren",
            "Handover papers",
            "",
            "Inspectors for lock five",
            "Inspectors",
            ("dorthe.flindt", "stine.kirkeby"),
            "Lock five",
            "2026-12-02T16:00:00",
            "Canal Locks is led by Henrik Ostergren",
            "I hand Canal Locks over. Henrik Ostergren is to be an owner of the team, should he not be one, and joins"
            " its private channel Handover papers as an owner too; I stay as a simple member of the team. Give the"
            " tag Inspectors to the people whom he named in General for lock five, only them. Write in General and in"
            " the chat Lock five that Henrik leads Canal Locks now, and set my status message to 'Canal Locks is led by"
            " Henrik Ostergren' until 2 December 2026, 16:00 UTC.",
        ),
        Handover(
            "ulla-leads-safety",
            "asta.rosendal",
            "Safety",
            "ulla.fogtmann",
            "",
            "Safety day",
            "the on-call duty is with",
            "On call",
            ("villads.juhlin", "jorn.elmkvist"),
            "Safety advisers",
            "2026-12-18T15:00:00",
            "Ask Ulla Fogtmann about Safety",
            "Good day, from today Ulla Fogtmann runs the team Safety. She becomes its owner, I remain as a member. My"
            " town hall on the safety day does not take place under these circumstances. The tag On call belongs to"
            " those whom I named in General, to no one else. Kindly write to the chat Safety advisers and in General"
            " that Ulla leads Safety, and give me the status message 'Ask Ulla Fogtmann about Safety' until 18 December"
            " 2026, 15:00 UTC.",
            Access.PUBLISHED,
        ),
    ),
    "wards": (
        Handover(
            "bartek-leads-the-network",
            "anselm.drexler",
            "Network Renewal",
            "bartek.zielinski",
            "Quotes",
            "",
            "night changes from now on",
            "Night changes",
            ("bartek.zielinski", "viliami.taufa"),
            "North block nights",
            "2026-11-30T20:00:00",
            "Bartek Zielinski leads Network Renewal",
            "bartek zielinski takes network renewal over from me. make him owner of the team and of the private channel"
            " Quotes, he is not in there yet, and me a plain member of the team. tag Night changes = the people from my"
            " post in General. tell General and the chat North block nights that Bartek leads Network Renewal. my"
            " status: 'Bartek Zielinski leads Network Renewal', till 30 november 2026 20:00 UTC",
        ),
        Handover(
            "lorcan-leads-the-desk",
            "odile.charpentier",
            "Service Desk",
            "lorcan.devlin",
            "",
            "",
            "the early shift is",
            "Early shift",
            ("lorcan.devlin", "zubin.daruwala"),
            "Desk",
            "2026-12-04T18:00:00",
            "Lorcan Devlin leads the Service Desk",
            "Good day, Lorcan Devlin leads the Service Desk from now on: please make him an owner of the team and me a"
            " member, Hemi stays as he is. I should also like the tag Early shift to hold the people from my post in"
            " General and no others. Kindly announce in General and in the chat Desk that Lorcan leads the desk. My"
            " status message shall read 'Lorcan Devlin leads the Service Desk' until 4 December 2026, 18:00 UTC.",
        ),
    ),
}


def handovers(world: World, seed: str) -> Iterator[Draft]:
    """The heir becomes owner before the former owner is one no more; what only owners may do comes first [TEA-1]."""
    for scene in HANDOVERS[seed]:
        yield _handover(world, scene)


def _handover(world: World, scene: Handover) -> Draft:
    team, actor, heir = world.team(scene.team), world.person(scene.actor), world.user(scene.heir)
    general, chat = world.channel(team, "General"), world.chat(scene.chat)
    people, tag = [world.user(name) for name in scene.people], world.tag(team, scene.tag)
    own_seat, (seat,) = (
        world.membership(team, actor.user),
        (one for one in world.members(team) if one["userId"] == heir.user_id),
    )
    script = Script(find_team(team), members_of(team), channels_of(team), posts_of(general), tags_of(team), chats())
    script.do(*find_users([actor.user, heir, *people]), *([town_halls()] if scene.event else []))
    if "owner" not in seat["roles"]:
        script.do(set_role(team, seat["id"], "owner"))
    if scene.private:
        script.do(admit(world.channel(team, scene.private), heir, "owner"))
    if scene.event:
        script.do(cancel_town_hall(world.town_hall(scene.event)))
    text = f"{heir.display_name} leads {scene.team} from now on."
    tagged = update_tag(tag, people)
    script.do(tagged, post(general, text), say(chat, text))
    script.do(set_status(actor.user, scene.status, scene.until))
    early = tuple(script.gold)
    demoted = set_role(team, own_seat, "member")
    script.do(demoted)
    lookups = early[: next(place for place, made in enumerate(early) if made.name == "update_teamwork_tag")]
    reads = tuple(made for made in lookups if made.name.startswith("list"))
    first_out = (*reads, demoted, *(made for made in early if made not in reads))
    one_more = set_role(team, world.membership(team, people[-1]), "owner")
    answer = (
        f"{heir.display_name} owns {scene.team}; you are a member. The tag {scene.tag} is with "
        f"{' and '.join(str(user.given_name) for user in people)}."
    )
    wrong = {
        "leaves the tag": NegativeTrajectory(tuple(made for made in script.gold if made is not tagged), answer),
        "leaves the team": NegativeTrajectory((*early, leave(team, own_seat)), answer),
        "makes one more owner": NegativeTrajectory((*early, one_more, demoted), answer),
    }
    if scene.access is Access.STRICT and sum("owner" in one["roles"] for one in world.members(team)) == 1:
        wrong["steps down first"] = NegativeTrajectory(first_out, answer, "PRC-1")
    given = str(heir.given_name)
    as_owner, last = ("TEA-1, PRC-9", "PRC-1") if scene.access is Access.STRICT else ("TEA-1", "TEA-1")
    return done(
        world,
        script,
        slug=scene.slug,
        actor=actor,
        prompt=scene.prompt,
        plan=(
            "Find the team, its members, the private channel with its members, and the post that names the people.",
            f"Make the heir an owner where that is missing; as an owner still, see to channel and tag ({as_owner}).",
            f"Announce it in General and in the chat (MSG-1), set the status message, and step down last ({last}).",
        ),
        answer=answer,
        names=(scene.team, given, scene.tag),
        says={text: [term(given)]},
        mistakes={
            "announces it twice": (post(general, text),),
            "sets the heir's status": (set_status(heir, scene.status),),
        },
        negative=wrong,
        tools=("remove_team_member", "add_team_member", "update_team", "create_teamwork_tag"),
        access=scene.access,
        evidence=[world.post(general, scene.post)],
    )


# --- a question with an answer ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Volunteer:
    """A question that one of several people answers with yes; what follows is for that person."""

    slug: str
    actor: str
    team: str
    channel: str
    question: str
    volunteer: str
    others: tuple[str, ...]
    private: str
    purpose: str
    tab: tuple[str, str]
    tag: str
    hours: str
    """Time that the volunteer gave, as the messages state it."""
    patterns: tuple[str, ...]
    old_tag: str
    helper: str
    """Who has the old tag from now on."""
    prompt: str


VOLUNTEERS: Mapping[str, Volunteer] = {
    "bridges": Volunteer(
        "the-guide-of-the-visitors",
        "oluf.stensgaard",
        "Harbour Tunnel",
        "Excavation",
        "who can take the visitors",
        "laust.overby",
        ("poul.ravnsborg", "sofie.dalgaard"),
        "Visitors",
        "Tour through the shaft",
        ("Tour plan", "Planboard"),
        "Guides",
        "9 to 11",
        span(r"\b0?9\b", r"\b11\b"),
        "First aiders",
        "ulla.fogtmann",
        "someone in Excavation (harbour tunnel) said yes to my visitors of friday. private channel 'Visitors' ('Tour"
        " through the shaft'), i own it, that person is in it, no one else. tab 'Tour plan' there with Planboard. a"
        " post there: who guides, and from when to when. tag 'Guides' for the guide; First aiders is only Ulla Fogtmann"
        " that week, so change the tag. and thank the guide in our chat, with the hours, not in a new chat",
    ),
    "wards": Volunteer(
        "the-watch-of-saturday-night",
        "mereana.tipene",
        "Patient Records",
        "Cutover",
        "Who can sit in the control room",
        "chandra.iyer",
        ("dunstan.pryor", "jorunn.aasen"),
        "Control room",
        "Saturday night of the cutover",
        ("Watch", "Cutover Checklist"),
        "Night watch",
        "20:00 to 04:00",
        span(r"(?:\b20(?:[:.]00)?\b|\b8 ?p\.?m)", r"\b0?4(?:[:.]00)?\b"),
        "Cutover crew",
        "dunstan.pryor",
        "There is a yes to my question about the control room in Cutover, team Patient Records! Please create a private"
        " channel 'Control room' ('Saturday night of the cutover'): I own it, and the one who can is the only other"
        " member. It needs a tab 'Watch' with the app Cutover Checklist and a post that says who sits there and for"
        " which hours. That person gets a new tag 'Night watch', and Cutover crew is left to Dunstan Pryor alone. Send"
        " my thanks with the hours in the chat that we two have!",
    ),
}


def volunteers(world: World, seed: str) -> Iterator[Draft]:
    """A private channel, a tab, tags and messages for the one who said yes, with the hours of the reply [MSG-1]."""
    yield _volunteer(world, VOLUNTEERS[seed])


def _volunteer(world: World, scene: Volunteer) -> Draft:
    team, actor, guide = world.team(scene.team), world.person(scene.actor), world.user(scene.volunteer)
    channel, app, old = world.channel(team, scene.channel), world.app(scene.tab[1]), world.tag(team, scene.old_tag)
    question, chat, helper = (
        world.post(channel, scene.question),
        world.chat_of(actor.user, guide),
        world.user(scene.helper),
    )
    wrong, given = world.user(scene.others[0]), str(guide.given_name)
    script = Script(find_team(team), channels_of(team), posts_of(channel, replies=True), members_of(team))
    script.do(*find_users([actor.user, guide, helper]), find_app(app), tags_of(team), chats())
    key = script.do(
        create_channel(team, scene.private, scene.purpose, "private", [(actor.user, "owner"), (guide, "member")])
    )
    made = (team.team_id, key)
    script.do(add_tab(made, scene.tab[0], app))
    script.do(post(made, f"{guide.display_name} is there from {scene.hours}."))
    script.do(create_tag(team, scene.tag, [guide]), update_tag(old, [helper]))
    script.do(say(chat, f"Thank you, {given}: {scene.hours}."))
    return done(
        world,
        script,
        slug=scene.slug,
        actor=actor,
        prompt=scene.prompt,
        plan=(
            "Find the question with its replies: who says yes, and for which hours?",
            "Create the private channel with that person (TEA-3), its tab (LKP-3), and the post (MSG-1).",
            "Create the tag, change the other one, and write in the chat that exists (MSG-3).",
        ),
        answer=f"{guide.display_name} is in the private channel {scene.private} and has the tag {scene.tag}.",
        names=(given, scene.private),
        says={
            "is there from": [term(given), *scene.patterns],
            "Thank you": scene.patterns,
        },
        mistakes={
            "gives the tag to another one too": (create_tag(team, f"{scene.tag} 2", [wrong]),),
            "posts it for all": (post(channel, f"{guide.display_name} is there from {scene.hours}."),),
            "sends it twice": (say(chat, f"Thank you, {given}: {scene.hours}."),),
        },
        tools=("create_chat", "add_channel_member", "create_teamwork_tag_member", "set_channel_message_reaction"),
        access=Access.STRICT if scene.team == "Harbour Tunnel" else Access.PUBLISHED,
        negative={
            "thanks no one": NegativeTrajectory(script.gold[:-1], f"{guide.display_name} has {scene.tag}."),
            "only asks the directory": NegativeTrajectory((find_team(team), call("list_users")), "It is done."),
        },
        evidence=[question],
    )


FAMILIES = (handovers, volunteers)
