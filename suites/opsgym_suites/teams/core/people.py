"""Tasks about teams and the people in them: new teams, people who leave, channels whose work is over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.tasks.answer_patterns import term
from opsgym_domains.teams.tables import Team, User
from opsgym_suites.kit.drafts import Draft, Solution, call
from opsgym_suites.teams.calls import (
    Script,
    add_owner,
    add_tab,
    channels_of,
    create_channel,
    create_tag,
    create_team,
    find_app,
    find_group,
    find_team,
    find_users,
    in_channel,
    join,
    leave,
    members_of,
    post,
    posts_of,
    set_role,
    update_user,
)
from opsgym_suites.teams.core.drafting import done
from opsgym_suites.teams.seeds.world import World

# --- a new team ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NewTeam:
    """A team to create."""

    slug: str
    actor: str
    name: str
    text: str
    second: str
    """The other owner."""
    members: tuple[str, ...]
    guest: str
    channel: str
    private: str
    tab: tuple[str, str]
    tag: tuple[str, tuple[str, ...]]
    prompt: str


NEW_TEAMS: Mapping[str, Sequence[NewTeam]] = {
    "bridges": (
        NewTeam(
            "team-for-the-ferry-berth",
            "oluf.stensgaard",
            "Ferry Berth",
            "Berth of the night ferry",
            "esben.gadegaard",
            ("emil.praestholm", "laust.overby", "frede.mosegaard"),
            "marlon.vercauteren",
            "Piling",
            "Costs",
            ("Piles", "Planboard"),
            ("Survey", ("emil.praestholm", "laust.overby")),
            "new private team please: 'Ferry Berth', described as 'Berth of the night ferry'. owners me and Esben"
            " Gadegaard, members Emil Praestholm, Laust Overby, Frede Mosegaard, and Marlon Vercauteren of Deltabore as"
            " guest. a channel 'Piling' for all with a tab 'Piles' that shows Planboard, and a private one, 'Costs',"
            " with me as owner and Esben. tag 'Survey' for Emil and Laust. then welcome the three members by name in"
            " 'Piling'",
        ),
        NewTeam(
            "team-for-lock-six",
            "viggo.hjorth",
            "Lock Six Study",
            "Whether a sixth lock pays",
            "henrik.ostergren",
            ("dorthe.flindt", "ivalo.petrussen", "birthe.norup"),
            "sander.hoekema",
            "Variants",
            "Land prices",
            ("Sketches", "Whiteboard"),
            ("Readers", ("dorthe.flindt", "birthe.norup")),
            "Would you set up a team 'Lock Six Study' for us, private, with the description 'Whether a sixth lock"
            " pays'? Henrik Ostergren and I own it. Dorthe Flindt, Ivalo Petrussen and Birthe Norup are members; Sander"
            " Hoekema of Quayline Consulting joins as a guest. I need a standard channel 'Variants' having a tab"
            " 'Sketches' with the app Whiteboard, and a private channel 'Land prices' for me (owner) and Henrik. Dorthe"
            " and Birthe get the tag 'Readers'. Please greet the members by name in 'Variants'.",
        ),
    ),
    "wards": (
        NewTeam(
            "team-for-the-blood-bank",
            "fatuma.abdirahman",
            "Blood Bank System",
            "Choice of the new blood bank system",
            "mereana.tipene",
            ("pania.rangi", "dunstan.pryor", "nerida.cawthorn"),
            "mirela.stanescu",
            "Demos",
            "Scores",
            ("Agenda", "Wallplan"),
            ("Scorers", ("pania.rangi", "nerida.cawthorn")),
            "Good morning. Please create the private team 'Blood Bank System' ('Choice of the new blood bank system')"
            " with Mereana Tipene and me as owners, Pania Rangi, Dunstan Pryor and Nerida Cawthorn as members and"
            " Mirela Stanescu from Radiora as a guest. It needs the channel 'Demos' for everyone, with a tab 'Agenda'"
            " showing Wallplan, the private channel 'Scores' (I own it, Mereana is in it), and the tag 'Scorers' for"
            " Pania and Nerida. A welcome in 'Demos' should name the three members.",
        ),
        NewTeam(
            "team-for-the-lift-phones",
            "tevita.fonoti",
            "Lift Phones",
            "Emergency phones in the lifts",
            "anselm.drexler",
            ("viliami.taufa", "bartek.zielinski", "kahu.wiremu"),
            "vesna.jurkovic",
            "Shafts",
            "Invoices",
            ("Rounds", "Shiftboard"),
            ("Riders", ("viliami.taufa", "kahu.wiremu")),
            "We need a team for the phones in our lifts! Call it 'Lift Phones', description 'Emergency phones in the"
            " lifts', private. Owners are Anselm Drexler and me, members Viliami Taufa, Bartek Zielinski, Kahu Wiremu,"
            " guest Vesna Jurkovic (Netlumen). One open channel 'Shafts' with the tab 'Rounds' from Shiftboard, one"
            " private channel 'Invoices', I am its owner and Anselm is a member. Viliami and Kahu carry the tag"
            " 'Riders'. And say hello to the three members in 'Shafts', with names!",
        ),
    ),
}


def new_teams(world: World, seed: str) -> Iterator[Draft]:
    """A team is created with people, channels, a tab, a tag and a welcome."""
    for scene in NEW_TEAMS[seed]:
        script, team, channel = _new_team(world, scene)
        members = [world.user(name) for name in scene.members]
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Look up the people and the app (LKP-1, LKP-3).",
                "Create the team with each role as asked (TEA-1, TEA-2), then its channels (TEA-3).",
                "Add the tab and the tag, and write the welcome with the names (MSG-1).",
            ),
            answer=f"The team {scene.name} is set up with the channels {scene.channel} and {scene.private}.",
            names=(scene.name, scene.channel, scene.private),
            says={"Welcome": [term(str(user.given_name)) for user in members]},
            mistakes={
                "creates a second team": (create_team(f"{scene.name} 2", "", {"owner": members}),),
                "adds a further member": (join(team, world.all(User)[0]),),
                "posts once more": (post((team, channel), "Hello"),),
            },
            also={"adds the others afterwards": Solution(_new_team(world, scene, at_once=False)[0].gold)},
            tools=("add_team_member", "add_channel_member", "create_group", "provision_channel_email"),
        )


def _new_team(world: World, scene: NewTeam, *, at_once: bool = True) -> tuple[Script, str, str]:
    """The solution, with the keys of the team and the open channel; people may join one by one."""
    actor, second, guest = (world.user(name) for name in (scene.actor, scene.second, scene.guest))
    members, app = [world.user(name) for name in scene.members], world.app(scene.tab[1])
    roles = {"owner": [actor, second], **({"member": members, "guest": [guest]} if at_once else {})}
    script = Script(*find_users([actor, second, *members, guest]), find_app(app), call("list_teams"))
    team = script.do(create_team(scene.name, scene.text, roles))
    if not at_once:
        script.do(*(join(team, user) for user in members), join(team, guest, "guest"))
    channel = script.do(create_channel(team, scene.channel))
    script.do(create_channel(team, scene.private, kind="private", members=[(actor, "owner"), (second, "member")]))
    script.do(add_tab((team, channel), scene.tab[0], app))
    script.do(create_tag(team, scene.tag[0], [world.user(name) for name in scene.tag[1]]))
    names = ", ".join(str(user.display_name) for user in members)
    script.do(post((team, channel), f"Welcome {names}. This is {scene.name}."))
    return script, team, channel


# --- people who leave ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Leaver:
    """A person who leaves the organisation."""

    slug: str
    actor: str
    leaver: str
    heirs: Mapping[str, str]
    """Who becomes owner, by team."""
    group: tuple[str, str] | None
    """Group that gets another owner."""
    prompt: str


LEAVERS: Mapping[str, Sequence[Leaver]] = {
    "bridges": (
        Leaver(
            "karla-leaves",
            "inge.lassen",
            "karla.winthereik",
            {"Airport Link Bid": "stine.kirkeby"},
            ("Estimating", "stine.kirkeby"),
            "Karla Winthereik leaves the company today. Please look through all our teams and take her out of every one"
            " that she is in. Where she is the only owner, Stine Kirkeby becomes owner first; Stine also becomes an"
            " owner of the mail group Estimating. At the end disable Karla's account, but do not delete it. Which teams"
            " was she in?",
        ),
        Leaver(
            "jorn-changes-company",
            "bastian.kruse",
            "jorn.elmkvist",
            {},
            ("Crane drivers", "frede.mosegaard"),
            "jorn elmkvist goes to a competitor. check every team and remove him wherever he is a member, give the"
            " group Crane drivers to Frede Mosegaard as further owner, then block his account (not delete). list me the"
            " teams",
        ),
    ),
    "wards": (
        Leaver(
            "tamsin-leaves",
            "hemi.ngata",
            "tamsin.oglethorpe",
            {"Wireless Tender": "elowen.trethewey"},
            ("Change board", "nerida.cawthorn"),
            "Today is the last day of Tamsin Oglethorpe. She has to go from all teams, please check each of them. A"
            " team that would lose its last owner gets Elowen Trethewey as owner before. Nerida Cawthorn takes the"
            " group Change board as an owner. Then disable the account of Tamsin, deletion follows next year. I would"
            " like to have the names of the teams.",
        ),
        Leaver(
            "zubin-finishes-his-internship",
            "odile.charpentier",
            "zubin.daruwala",
            {},
            None,
            "Good day, the internship of Zubin Daruwala is over. Please remove him from each team he belongs to; you"
            " will have to look into all of them. His account is to be disabled and to stay in the directory. Kindly"
            " name the teams in your answer.",
        ),
    ),
}


def leavers(world: World, seed: str) -> Iterator[Draft]:
    """A person is taken out of all teams; teams and a group keep an owner; the account is disabled."""
    for scene in LEAVERS[seed]:
        leaver = world.user(scene.leaver)
        heirs = {team: world.user(name) for team, name in scene.heirs.items()}
        people = [leaver, *heirs.values(), *([world.user(scene.group[1])] if scene.group else [])]
        script = Script(*find_users(people), call("list_teams"), *(members_of(team) for team in world.all(Team)))
        if scene.group:
            script.do(find_group(world.group(scene.group[0])))
        teams = world.teams_of(leaver)
        for team in teams:
            if team.display_name in heirs:
                heir = heirs[team.display_name]
                script.do(set_role(team, world.membership(team, heir), "owner"))
            script.do(leave(team, world.membership(team, leaver)))
        if scene.group:
            script.do(add_owner(world.group(scene.group[0]), world.user(scene.group[1])))
        script.do(update_user(leaver, accountEnabled=False))
        names = [team.display_name for team in teams]
        other = next(user for user in world.all(User) if user.user_id != leaver.user_id and user.account_enabled)
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Look up the person and the members of every team (LKP-1).",
                "Where the person is the only owner, make another one first (TEA-1); then remove the person.",
                "Add the owner of the group and disable the account, without deleting it (ID-4).",
            ),
            answer=f"{leaver.display_name} was removed from {', '.join(names)}, and the account is disabled.",
            names=names,
            mistakes={
                "deletes the account": (call("delete_user", userId=leaver.user_id),),
                "disables another account": (update_user(other, accountEnabled=False),),
                "makes an owner of another team": (set_role(teams[0], world.members(teams[0])[-1]["id"], "owner"),),
            },
            tools=("delete_team", "update_group", "get_user"),
        )


# --- channels whose work is over -------------------------------------------------------------------------------------

FINISHED = "finished"


@dataclass(frozen=True)
class Closing:
    """Channels of a team to look through."""

    slug: str
    actor: str
    team: str
    finished: tuple[str, ...]
    others: tuple[str, ...]
    prompt: str


CLOSINGS: Mapping[str, Sequence[Closing]] = {
    "bridges": (
        Closing(
            "tunnel-channels-are-archived",
            "oluf.stensgaard",
            "Harbour Tunnel",
            ("Dredging", "Portal north"),
            ("Excavation", "Segment casting"),
            "go through the open standard channels of Harbour Tunnel (not General). where the latest posts say the work"
            " of the channel is finished: archive. a pause is not the end. then one post in General that names the"
            " archived ones",
        ),
        Closing(
            "bridge-channels-are-archived",
            "pia.vestergren",
            "Sound Bridge",
            ("Temporary road",),
            ("Piers", "Deck", "Cable works"),
            "Time to tidy Sound Bridge! Which of its standard channels besides General are done, by their own latest"
            " posts? Archive those (only where someone wrote that the work is finished), and tell the team in General"
            " which ones they were.",
        ),
        Closing(
            "lock-channels-are-archived",
            "viggo.hjorth",
            "Canal Locks",
            ("Fish ladder",),
            ("Gates", "Pump house", "Snag list"),
            "Please read the latest posts in the standard channels of Canal Locks, General left out, and archive each"
            " channel whose people report that their work is finished. Announce the archived channels by name in"
            " General.",
        ),
    ),
    "wards": (
        Closing(
            "record-channels-are-archived",
            "mereana.tipene",
            "Patient Records",
            ("Maternity pilot",),
            ("Cutover", "Data migration", "Pharmacy pilot"),
            "Can you clear up the channels of Patient Records? If the latest posts of an open standard channel say its"
            " work is finished, archive it; a pause does not count, and General stays out of this. Then write in"
            " General which you archived!",
        ),
        Closing(
            "network-channels-are-archived",
            "anselm.drexler",
            "Network Renewal",
            ("Car park", "Wireless survey"),
            ("North block", "South block"),
            "network renewal has too many channels. archive the standard ones (never General) where the last posts say"
            " the work is finished, leave the rest, and post in General which are archived",
        ),
        Closing(
            "imaging-channels-are-archived",
            "declan.moriarty",
            "Imaging",
            ("Viewer upgrade",),
            ("Archive", "Scanner two"),
            "in Imaging, check the standard channels apart from General: is the work finished according to the newest"
            " posts? if so archive the channel. then name what you archived in a post in General",
        ),
    ),
}


def closings(world: World, seed: str) -> Iterator[Draft]:
    """Channels whose posts say that the work is finished are archived and announced."""
    for scene in CLOSINGS[seed]:
        team = world.team(scene.team)
        rows = {name: world.channel(team, name) for name in (*scene.finished, *scene.others)}
        general = world.channel(team, "General")
        script = Script(find_team(team), channels_of(team), *(posts_of(row) for row in rows.values()))
        script.do(*(in_channel("archive_channel", rows[name]) for name in scene.finished))
        text = f"These channels are archived, since their work is finished: {', '.join(scene.finished)}."
        script.do(post(general, text))
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Find the team and its channels, and read the newest posts of each (LKP-1).",
                "Archive those whose work is over (TEA-4), and name them in General (MSG-1).",
            ),
            answer=f"Archived in {scene.team}: {', '.join(scene.finished)}.",
            names=scene.finished,
            says={"archived": [term(name) for name in scene.finished]},
            mistakes={
                "archives one that pauses": (in_channel("archive_channel", rows[scene.others[0]]),),
                "renames one": (in_channel("update_channel", rows[scene.others[0]], displayName="Old"),),
                "announces it elsewhere too": (post(rows[scene.others[0]], text),),
            },
            tools=("get_primary_channel", "list_all_channels", "delete_channel_tab"),
            evidence=[world.post(rows[name], FINISHED) for name in scene.finished],
        )


FAMILIES = (new_teams, leavers, closings)
