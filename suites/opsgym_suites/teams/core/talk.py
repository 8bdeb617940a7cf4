"""Tasks about what people wrote: own posts that are corrected, answers, chats, tags that follow from posts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.tasks.answer_patterns import span, term
from opsgym_domains.teams.tables import ChannelMessage, TagMember, User
from opsgym_suites.kit.drafts import Draft, Solution, call
from opsgym_suites.teams.calls import (
    Script,
    add_chat_tab,
    at_line,
    at_post,
    channels_of,
    chats,
    create_tag,
    find_app,
    find_team,
    find_user,
    find_users,
    give_tag,
    lines_of,
    members_of,
    open_chat,
    post,
    posts_of,
    say,
    set_status,
    tags_of,
    text_of,
    update_tag,
)
from opsgym_suites.teams.core.drafting import done
from opsgym_suites.teams.seeds.world import World, has_text

# --- own posts are corrected -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Correction:
    """Posts of one author: one with a wrong time, one to delete, one to restore."""

    slug: str
    actor: str
    team: str
    channel: str
    wrong: str
    """A part of the post with a wrong time."""
    right: str
    """The whole text that replaces it."""
    says: tuple[str, ...]
    superfluous: str
    deleted_in: str
    """Channel of the post to restore."""
    others: str
    """A part of a post of someone else."""
    prompt: str


CORRECTIONS: Mapping[str, Sequence[Correction]] = {
    "bridges": (
        Correction(
            "karla-corrects-her-posts",
            "karla.winthereik",
            "Harbour Tunnel",
            "Excavation",
            "Shift meeting on Tuesday",
            "Shift meeting on Tuesday at 06:45 in cabin 4!",
            ("06:45", "cabin 4"),
            "(again, sorry)",
            "General",
            "face at 412 m",
            "In Excavation of Harbour Tunnel my post on the shift meeting has the wrong time, it is at 06:45 (the rest"
            " is right)! I also asked for the hours twice there; delete the second one. And the post on the updated"
            " programme, which I deleted in General by mistake, should come back!",
        ),
        Correction(
            "jorn-corrects-his-posts",
            "jorn.elmkvist",
            "Sound Bridge",
            "Deck",
            "lift of section 7",
            "lift of section 7 is on wednesday 05:30, crane 3",
            ("crane 3", "05:30"),
            "who took my radio",
            "Deck",
            "Stays 1 to 20",
            "sound bridge, channel Deck: in my post about the lift of section 7 it must be crane 3, day and 05:30 stay."
            " the one about my radio can be deleted, found it. and bring back my deleted post with the rigging list",
        ),
    ),
    "wards": (
        Correction(
            "tamsin-corrects-her-posts",
            "tamsin.oglethorpe",
            "Patient Records",
            "Cutover",
            "rehearsal is on Friday",
            "Good day, rehearsal is on Friday at 18:00 in room K4. Kind regards, Tamsin",
            ("18:00", "K4"),
            "(sent twice)",
            "General",
            "control room",
            "Good day, my post on the rehearsal in the channel Cutover of Patient Records names the wrong room: please"
            " change it to K4, the time 18:00 remains. My question about the label printers is there twice, so delete"
            " the later one. Lastly, restore my deleted post about the go-live contacts in General.",
        ),
        Correction(
            "viliami-corrects-his-posts",
            "viliami.taufa",
            "Telephony",
            "Pagers",
            "pager test is tuesday",
            "pager test is tuesday 14:30, all wards",
            ("14:30", "all wards"),
            "lost my badge",
            "Pagers",
            "Fire drill!",
            "telephony / Pagers: my pager test post should say 14:30 instead of the old time, nothing else changes."
            " found my badge, so that post can go. and undelete the one with the battery list",
        ),
    ),
}


def corrections(world: World, seed: str) -> Iterator[Draft]:
    """An author's post is changed, another deleted, a third restored."""
    for scene in CORRECTIONS[seed]:
        team = world.team(scene.team)
        channel, place = world.channel(team, scene.channel), world.channel(team, scene.deleted_in)
        wrong, twice = world.post(channel, scene.wrong), world.post(channel, scene.superfluous)
        gone = next(row for row in world.all(type(wrong), channel_id=place.channel_id) if row.deleted_datetime)
        foreign = next(row for row in world.all(type(wrong), team_id=team.team_id) if has_text(row, scene.others))
        reads = [posts_of(channel), *([posts_of(place)] if place is not channel else [])]
        script = Script(find_team(team), channels_of(team), *reads)
        edit = at_post("update_channel_message", wrong, body=text_of(scene.right))
        delete, restore = (
            at_post("soft_delete_channel_message", twice),
            at_post("undo_soft_delete_channel_message", gone),
        )
        script.do(edit, delete, restore)
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Find the team and its channels, and read the posts (LKP-1).",
                "Change the one post, delete the other and restore the third; all are by the author (MSG-2).",
            ),
            answer=f"The post in {scene.channel} is corrected, the other one deleted, and the one in"
            f" {scene.deleted_in} restored.",
            names=(scene.channel,),
            says={scene.right: [term(part) for part in scene.says]},
            mistakes={
                "changes a post of someone else": (
                    at_post("update_channel_message", foreign, body=text_of(scene.right)),
                ),
                "writes a new post as well": (post(channel, scene.right),),
                "deletes the wrong one too": (at_post("soft_delete_channel_message", wrong),),
            },
            also={
                "restores first": Solution((*script.gold[:-3], restore, delete, edit)),
                "keeps other words of the text": Solution(
                    (
                        *script.gold[:-3],
                        at_post("update_channel_message", wrong, body=text_of(f"Correction: {scene.right}")),
                        delete,
                        restore,
                    )
                ),
            },
        )


# --- answers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answered:
    """A question in a channel and the reply of someone who can."""

    slug: str
    team: str
    channel: str
    question: str
    yes: str
    no: str
    old: str
    """The asker's own reaction to the question, which is taken back."""
    words: tuple[str, ...]
    """Patterns of what the message to the helper states."""
    text: str
    prompt: str


ANSWERS: Mapping[str, Sequence[Answered]] = {
    "bridges": (
        Answered(
            "visitors-in-the-shaft",
            "Harbour Tunnel",
            "Excavation",
            "visitors of friday",
            "I can, from 9 to 11",
            "i can not",
            "surprised",
            span(term("9"), term("11")),
            "Thanks for taking the visitors on Friday from 9 to 11.",
            "i asked in Excavation (Harbour Tunnel) who takes the visitors of 20 nov. put a 'like' on the reply of the"
            " one who can, take my 'surprised' off my own question, and thank that person in our chat, with the hours"
            " from the reply",
        ),
        Answered(
            "heaters-for-pier-nine",
            "Sound Bridge",
            "Piers",
            "Who can lend pier 9",
            "I have two in the store",
            "we have none left",
            "surprised",
            (term("two"), term("heaters")),
            "Thank you, we fetch the two heaters today!",
            "Someone has answered my question about heaters in the channel Piers of Sound Bridge! Please react with"
            " 'like' to the reply of the person who has some, remove my 'surprised' from the question, and write"
            " that person"
            " in our chat that we fetch the two heaters today!",
        ),
        Answered(
            "grid-company-comes",
            "Canal Locks",
            "Pump house",
            "when the grid company comes",
            "I will be there",
            "Not me",
            "laugh",
            (term("19 November"),),
            "Thank you for being there on 19 November.",
            "Regarding my question on the grid company in Pump house (Canal Locks): give the reply of the colleague who"
            " will be there a 'like', withdraw my own reaction 'laugh' from the question, and thank the colleague in"
            " our chat; the message should state 19 November.",
        ),
    ),
    "wards": (
        Answered(
            "saturday-in-the-control-room",
            "Patient Records",
            "Cutover",
            "control room on Saturday",
            "from 20:00 to 04:00",
            "sunday yes",
            "surprised",
            span(term("20:00"), term("04:00")),
            "You have the control room from 20:00 to 04:00. Thank you!",
            "Who sits in the control room on Saturday? There are replies to my question in Cutover, team Patient"
            " Records! Like the reply of the one who can ('like'), take back my 'surprised' on the question, and"
            " confirm"
            " the hours from the reply to that person in our chat!",
        ),
        Answered(
            "cablers-on-floor-five",
            "Network Renewal",
            "North block",
            "who lets the cablers",
            "me, 7 to 15",
            "I have lectures",
            "surprised",
            span(term("7"), term("15")),
            "ok, you let the cablers in, 7 to 15",
            "north block channel of Network Renewal, my question about the cablers: set a 'like' on the reply that says"
            " yes, drop my 'surprised' on the question, then tell that person in our chat that its settled, with the"
            " hours of the reply",
        ),
    ),
}


def answers(world: World, seed: str) -> Iterator[Draft]:
    """The reply that helps gets a reaction, the asker's own is taken back, and the helper is thanked."""
    for scene in ANSWERS[seed]:
        team = world.team(scene.team)
        channel = world.channel(team, scene.channel)
        question = world.post(channel, scene.question)
        yes, no = (
            next(row for row in world.replies(question) if has_text(row, text)) for text in (scene.yes, scene.no)
        )
        asker, helper = (world.one(User, user_id=_sender(row)) for row in (question, yes))
        chat = world.chat_of(asker, helper)
        script = Script(find_team(team), channels_of(team), posts_of(channel, replies=True), find_user(helper), chats())
        script.do(call("list_chats", _expand="members"))
        like = at_post("set_channel_message_reaction", yes, reactionType="like")
        withdraw = at_post("unset_channel_message_reaction", question, reactionType=scene.old)
        thanks = say(chat, scene.text)
        script.do(like, withdraw, thanks)
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(str(asker.mail_nickname)),
            prompt=scene.prompt,
            plan=(
                "Read the question with its replies (LKP-1) and find the chat of the two (MSG-3).",
                "React to the reply, take one's own reaction back, and write in the chat what the reply says (MSG-1).",
            ),
            answer=f"{helper.display_name} can; I reacted to the reply and wrote in your chat.",
            names=(str(helper.given_name),),
            says={scene.text: scene.words},
            mistakes={
                "reacts to the other reply too": (at_post("set_channel_message_reaction", no, reactionType="like"),),
                "reacts in another way too": (at_post("set_channel_message_reaction", yes, reactionType="heart"),),
                "thanks in the channel too": (post(channel, scene.text),),
                "makes a group chat": (open_chat([asker, helper], "Thanks"),),
            },
            also={"asks for the existing chat": Solution((*script.gold[:-1], open_chat([asker, helper]), thanks))},
            tools=("create_chat",),
        )


def _sender(message: ChannelMessage) -> str:
    return str(json.loads(str(message.from_json))["user"]["id"])


# --- chats -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tidying:
    """A group chat that its member tidies."""

    slug: str
    actor: str
    topic: str
    pin: str
    """A part of the message to pin."""
    remove: str
    """A part of one's own message to delete; empty for none."""
    edit: tuple[str, str, tuple[str, ...]]
    """A part of an own message, its new text, and what that states; empty for none."""
    renamed: str
    tab: tuple[str, str]
    prompt: str


TIDYINGS: Mapping[str, Sequence[Tidying]] = {
    "bridges": (
        Tidying(
            "tunnel-mornings-are-tidied",
            "oluf.stensgaard",
            "Tunnel mornings",
            "cutter change needs 11 hours",
            "",
            ("meeting room is B12", "meeting room is B14 at 06:45", ("B14", "06:45")),
            "Tunnel mornings, week 47",
            ("Board", "Whiteboard"),
            "chat Tunnel mornings: pin the message that says how many hours the cutter change needs, correct the room"
            " in mine to B14 (time stays 06:45), rename the chat 'Tunnel mornings, week 47' and add a tab 'Board' with"
            " the app Whiteboard",
        ),
        Tidying(
            "lift-chat-is-tidied",
            "jorn.elmkvist",
            "Lift of section 7",
            "We go on Wednesday if",
            "we go on thursday",
            ("wind limit is 9", "wind limit is 8 metres a second", ("8",)),
            "Lift of section 7, Wednesday",
            ("Lifting plan", "Planboard"),
            "in the chat Lift of section 7: delete what i wrote about thursday, set the wind limit in my message to 8"
            " metres, pin pia's message about wednesday, rename it to 'Lift of section 7, Wednesday', and a tab"
            " 'Lifting plan' from Planboard",
        ),
    ),
    "wards": (
        Tidying(
            "cutover-core-is-tidied",
            "mereana.tipene",
            "Cutover core",
            "interfaces stop at 22:15",
            "",
            ("Control room is K5", "Control room is K7! Thanks, Mereana", ("K7",)),
            "Cutover core, final week",
            ("Rota", "Shiftboard"),
            "Please tidy the chat Cutover core! My message names the wrong control room, it is K7. Pin Dunstan's"
            " message"
            " about when the interfaces stop, change the topic to 'Cutover core, final week', and give the chat a tab"
            " 'Rota' that shows Shiftboard!",
        ),
        Tidying(
            "north-block-nights-are-tidied",
            "anselm.drexler",
            "North block nights",
            "outage is 01:30",
            "outage starts at 01:00",
            ("", "", ()),
            "North block, night of 18 November",
            ("Floors", "Wallplan"),
            "north block nights (chat): i wrote two different times for the outage. delete the one with 01:00, pin the"
            " one from 01:30, rename the chat to 'North block, night of 18 November', tab 'Floors' with Wallplan",
        ),
    ),
}


def tidyings(world: World, seed: str) -> Iterator[Draft]:
    """A chat gets a pin, a correct message, another topic and a tab."""
    for scene in TIDYINGS[seed]:
        chat, app = world.chat(scene.topic), world.app(scene.tab[1])
        pin = world.line(chat, scene.pin)
        script = Script(chats(), lines_of(chat), find_app(app))
        writes = [at_line("pin_chat_message", pin)]
        if scene.remove:
            writes.append(at_line("soft_delete_chat_message", world.line(chat, scene.remove)))
        if scene.edit[0]:
            old = world.line(chat, scene.edit[0])
            writes.append(at_line("update_chat_message", old, body=text_of(scene.edit[1])))
        writes += [
            call("update_chat", chatId=chat.chat_id, topic=scene.renamed),
            add_chat_tab(chat, scene.tab[0], app),
        ]
        script.do(*writes)
        *_, foreign = (row for row in world.all(type(pin), chat_id=chat.chat_id) if row is not pin)
        own = " and ".join(["correct"] * bool(scene.edit[0]) + ["delete"] * bool(scene.remove))
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Find the chat and read its messages; look the app up (LKP-1, LKP-3).",
                f"Pin the message; {own} own messages only, as asked (MSG-2); rename the chat and add the tab.",
            ),
            answer=f"The chat is called {scene.renamed} now, has the tab {scene.tab[0]}, and the message is pinned.",
            names=(scene.tab[0],),
            says={scene.edit[1]: [term(word) for word in scene.edit[2]]} if scene.edit[0] else None,
            mistakes={
                "pins another message too": (at_line("pin_chat_message", foreign),),
                "reacts as well": (at_line("set_chat_message_reaction", pin, reactionType="like"),),
                "writes about it": (say(chat, "Tidied."),),
            },
            also={"writes in another order": Solution((*script.gold[: -len(writes)], *reversed(writes)))},
        )


# --- tags that follow from posts -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rota:
    """A post that says who has a duty now, and the tag of the duty."""

    slug: str
    actor: str
    team: str
    announced: str
    """A part of the post."""
    tag: str
    now: tuple[str, ...]
    renamed: str
    status: tuple[str, str]
    """Person whose status message is set, and the text."""
    new: tuple[str, tuple[str, ...], str]
    """A further tag with its people, and one who gets it at last."""
    prompt: str


ROTAS: Mapping[str, Sequence[Rota]] = {
    "bridges": (
        Rota(
            "on-call-changes",
            "asta.rosendal",
            "Safety",
            "the on-call duty is with",
            "On call",
            ("villads.juhlin", "jorn.elmkvist"),
            "On call week 47",
            ("ulla.fogtmann", "Off duty until Monday"),
            ("Drill leaders", ("poul.ravnsborg",), "henrik.ostergren"),
            "Please bring the tags of the team Safety up to date. The tag On call goes to those whom I named in General"
            " last week, and to no one else; call it 'On call week 47'. Ulla Fogtmann gets the status message 'Off duty"
            " until Monday'. Then create the tag 'Drill leaders' for Poul Ravnsborg and Henrik Ostergren.",
        ),
        Rota(
            "night-shift-changes",
            "oluf.stensgaard",
            "Harbour Tunnel",
            "nights from monday",
            "Night shift",
            ("poul.ravnsborg", "rasmus.bakkegaard", "clement.hvidberg"),
            "Night shift B",
            ("frede.mosegaard", "On days, cabin 2"),
            ("Pump watch", ("esben.gadegaard",), "gerda.lindegaard"),
            "tags in harbour tunnel: poul wrote in General who is on nights. set the tag Night shift to exactly these"
            " people and rename it 'Night shift B'. status of Frede Mosegaard: 'On days, cabin 2'. new tag 'Pump watch'"
            " with Esben Gadegaard and Gerda Lindegaard",
        ),
        Rota(
            "inspectors-change",
            "henrik.ostergren",
            "Canal Locks",
            "Inspectors for lock five",
            "Inspectors",
            ("dorthe.flindt", "stine.kirkeby"),
            "Inspectors lock five",
            ("emil.praestholm", "Available for surveys"),
            ("Divers' boat", ("ivalo.petrussen",), "aksel.dyrberg"),
            "The inspectors of Canal Locks have changed, see my post in General. Could you give the tag Inspectors to"
            " the people named there only, with the new name 'Inspectors lock five', set Emil Praestholm's status"
            " message to 'Available for surveys', and create a tag \"Divers' boat\" for Ivalo Petrussen and Aksel"
            " Dyrberg?",
        ),
    ),
    "wards": (
        Rota(
            "early-shift-changes",
            "odile.charpentier",
            "Service Desk",
            "the early shift is",
            "Early shift",
            ("lorcan.devlin", "zubin.daruwala"),
            "Early shift November",
            ("kahu.wiremu", "On leave until 30 November"),
            ("Key holders", ("viliami.taufa",), "hemi.ngata"),
            "Good day, would you update the tags of the Service Desk team? Early shift has to hold precisely the people"
            " from my post in General, under the name 'Early shift November'. The status message of Kahu Wiremu becomes"
            " 'On leave until 30 November'. There should also be a tag 'Key holders' with Viliami Taufa and Hemi"
            " Ngata.",
        ),
        Rota(
            "night-changes-change",
            "anselm.drexler",
            "Network Renewal",
            "night changes from now on",
            "Night changes",
            ("bartek.zielinski", "viliami.taufa"),
            "Night changes, phase 2",
            ("farid.noorzai", "Day shift only"),
            ("Badge carriers", ("zubin.daruwala",), "isidro.valverde"),
            "network renewal: i posted the new people for night changes in General. tag Night changes = those people"
            " only, rename to 'Night changes, phase 2'. Farid Noorzai gets status 'Day shift only'. add tag 'Badge"
            " carriers': Zubin Daruwala, Isidro Valverde",
        ),
    ),
}


def rotas(world: World, seed: str) -> Iterator[Draft]:
    """A tag goes to the people whom a post names, a status is set, and a further tag is created."""
    for scene in ROTAS[seed]:
        team, tag = world.team(scene.team), world.tag(world.team(scene.team), scene.tag)
        general = world.channel(team, "General")
        now = [world.user(name) for name in scene.now]
        idle, late = world.user(scene.status[0]), world.user(scene.new[2])
        first = [world.user(name) for name in scene.new[1]]
        script = Script(find_team(team), call("get_primary_channel", teamId=team.team_id), posts_of(general))
        script.do(tags_of(team), members_of(team), *find_users([*now, idle, *first, late]))
        script.do(update_tag(tag, now, displayName=scene.renamed), set_status(idle, scene.status[1]))
        new = script.do(create_tag(team, scene.new[0], first))
        script.do(call("create_teamwork_tag_member", team_id=team.team_id, tag_id=new, userId=late.user_id))
        old = [world.one(User, user_id=row.userId) for row in world.all(TagMember, tagId=tag.id)]
        at_once = (*script.gold[:-2], create_tag(team, scene.new[0], [*first, late]))
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Read the post in General, the tags and the members of the team (LKP-1).",
                "Replace the people of the tag and rename it, set the status message, create the other tag.",
            ),
            answer=f"{scene.renamed} has {', '.join(str(user.display_name) for user in now)} now;"
            f" {scene.new[0]} is new.",
            names=(scene.renamed, *(str(user.given_name) for user in now)),
            mistakes={
                "keeps who is off duty": (give_tag(tag, next(user for user in old if user not in now)),),
                "sets another status too": (set_status(now[0], scene.status[1]),),
                "creates a third tag": (create_tag(team, "Others", [idle]),),
            },
            also={"creates the tag with both": Solution(at_once)},
            evidence=[world.post(general, scene.announced)],
        )


FAMILIES = (corrections, answers, tidyings, rotas)
