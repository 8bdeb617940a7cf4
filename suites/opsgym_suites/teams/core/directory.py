"""Tasks about accounts, groups, tabs, files, guests and settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opsgym_domains.teams.tables import FilesFolder
from opsgym_suites.kit.drafts import Draft, Solution, call
from opsgym_suites.teams.calls import (
    Script,
    add_owner,
    add_tab,
    at_tab,
    channels_of,
    create_group,
    create_user,
    find_app,
    find_group,
    find_team,
    find_users,
    in_channel,
    join,
    join_all,
    leave,
    members_of,
    post,
    set_role,
    tabs_of,
    update_user,
)
from opsgym_suites.teams.core.drafting import done
from opsgym_suites.teams.seeds.world import World

# --- people who join -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Joiner:
    """A person who joins."""

    slug: str
    actor: str
    name: str
    title: str
    department: str
    like: str
    """A colleague whose teams the new person joins."""
    moved: tuple[str, Mapping[str, Any]]
    """A colleague whose account is changed, with the values."""
    group: tuple[str, tuple[str, ...]]
    """A new group for mail with its members; the new person owns it."""
    prompt: str


JOINERS: Mapping[str, Sequence[Joiner]] = {
    "bridges": (
        Joiner(
            "a-buyer-joins",
            "inge.lassen",
            "Thyra Nygaard",
            "Buyer",
            "Procurement",
            "troels.kirkegaard",
            ("troels.kirkegaard", {"jobTitle": "Senior buyer"}),
            ("Hire of machines", ("troels.kirkegaard", "stine.kirkeby")),
            "We welcome Thyra Nygaard (thyra.nygaard@nordspan.example, mail nickname thyra.nygaard), Buyer in"
            " Procurement. Please create her account, enabled, with a password that she changes at the first sign-in,"
            " and add her as a member to every team that Troels Kirkegaard is in. Troels becomes Senior buyer in the"
            " directory. Then create the mail group 'Hire of machines' (nickname hireofmachines, mail enabled, no"
            " security group, type Unified), owned by Thyra, with the members Troels Kirkegaard and Stine Kirkeby.",
        ),
        Joiner(
            "a-modeller-joins",
            "bastian.kruse",
            "Halfdan Ryberg",
            "BIM coordinator",
            "Design",
            "yrsa.bredahl",
            ("yrsa.bredahl", {"officeLocation": "Svendborg 4.20"}),
            ("Model keepers", ("yrsa.bredahl", "zenia.holmskov")),
            "new colleague: Halfdan Ryberg, halfdan.ryberg@nordspan.example (nickname halfdan.ryberg), BIM coordinator,"
            " department Design. make the account, active, password to be changed at first login. member in all teams"
            " where Yrsa Bredahl is. yrsas office is now 'Svendborg 4.20'. unified mail group 'Model keepers', nickname"
            " modelkeepers, mail on, security off, owner Halfdan, members Yrsa and Zenia Holmskov",
        ),
    ),
    "wards": (
        Joiner(
            "an-analyst-joins",
            "hemi.ngata",
            "Ingrith Solheim",
            "Service desk analyst",
            "Digital services",
            "lorcan.devlin",
            ("lorcan.devlin", {"jobTitle": "Senior service desk analyst"}),
            ("Desk alumni", ("lorcan.devlin", "kahu.wiremu")),
            "Please make an enabled account for Ingrith Solheim, who starts as Service desk analyst in Digital"
            " services:"
            " ingrith.solheim@kauriuh.example, nickname ingrith.solheim, password to be changed when signing in first."
            " She joins the teams of Lorcan Devlin as a member, and Lorcan's title becomes 'Senior service desk"
            " analyst'. She also owns a new Unified mail group 'Desk alumni' (nickname deskalumni, mail enabled,"
            " security not) whose members are Lorcan and Kahu Wiremu.",
        ),
        Joiner(
            "a-trainer-joins",
            "odile.charpentier",
            "Beatrix Holloway",
            "Trainer",
            "Training",
            "saoirse.keating",
            ("saoirse.keating", {"department": "Training and support"}),
            ("Floor support", ("saoirse.keating", "aroha.kingi")),
            "Good day, Beatrix Holloway starts as Trainer in Training. Would you create the account"
            " beatrix.holloway@kauriuh.example (nickname beatrix.holloway, enabled, new password at the first sign-in)"
            " and make Beatrix a member of each team to which Saoirse Keating belongs? Saoirse's department is to read"
            " 'Training and support'. Finally a mail group of type Unified, 'Floor support' with the nickname"
            " floorsupport, mail enabled, not a security group, owner Beatrix, members Saoirse and Aroha Kingi.",
        ),
    ),
}


def joiners(world: World, seed: str) -> Iterator[Draft]:
    """An account is made, joins the teams of a colleague, and owns a group."""
    for scene in JOINERS[seed]:
        actor, like, moved = world.person(scene.actor), world.user(scene.like), world.user(scene.moved[0])
        people = [world.user(name) for name in scene.group[1]]
        host = actor.email.partition("@")[2]
        script = Script(*find_users([like, *people]), call("list_users", _filter=f"displayName eq '{scene.name}'"))
        script.do(call("list_teams"), *(members_of(team) for team in world.teams_of(like)))
        script.do(call("list_groups", _search=f'"displayName:{scene.group[0]}"'))
        key = script.do(create_user(host, scene.name, scene.title, scene.department))
        new = type(like)(user_id=key)
        teams = world.teams_of(like)
        script.do(*(join(team, new) for team in teams), update_user(moved, **scene.moved[1]))
        script.do(create_group(scene.group[0], [new], people))
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=actor,
            prompt=scene.prompt,
            plan=(
                "Look up the colleagues, their teams and the group's name (LKP-1).",
                "Create the account, add it to each team as a member (TEA-2), change the colleague, create the group.",
            ),
            answer=f"{scene.name} has an account and is in {', '.join(str(team.display_name) for team in teams)};"
            f" {scene.group[0]} is created.",
            names=(scene.name, scene.group[0]),
            mistakes={
                "makes the new person an owner": (
                    join(world.team("IT Help" if seed == "bridges" else "Imaging"), new),
                ),
                "creates a second account": (create_user(host, f"{scene.name} Two", scene.title, scene.department),),
                "changes more of the colleague": (update_user(moved, mobilePhone="+45 555 2222"),),
            },
            tools=("update_group", "add_group_owner", "delete_user"),
        )


# --- tabs and files --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tabs:
    """Tabs of a channel that are put in order."""

    slug: str
    actor: str
    team: str
    channel: str
    gone: str
    renamed: tuple[str, str]
    new: tuple[str, str]
    target: str
    """Channel whose address and folder are posted."""
    prompt: str


TABS: Mapping[str, Sequence[Tabs]] = {
    "bridges": (
        Tabs(
            "deck-tabs-are-put-in-order",
            "pia.vestergren",
            "Sound Bridge",
            "Deck",
            "Old lifts",
            ("Lifts", "Lifts 2027"),
            ("Deck checks", "Formwork Checklists"),
            "Cable works",
            "The tabs of Deck in Sound Bridge need a hand! Remove 'Old lifts', rename 'Lifts' to 'Lifts 2027', and add"
            " 'Deck checks' with our Formwork Checklists, which should be installed in the team already. Cable"
            " works gets"
            " an e-mail address; post that address and the link of its files folder in Cable works!",
        ),
        Tabs(
            "tunnel-tabs-are-put-in-order",
            "esben.gadegaard",
            "Harbour Tunnel",
            "Excavation",
            "Model",
            ("Daily log", "Shift log"),
            ("Tides", "Tide Tables"),
            "Segment casting",
            "Excavation in harbour tunnel: tab 'Model' away, 'Daily log' -> 'Shift log', new tab 'Tides' (app Tide"
            " Tables, check its installed). channel Segment casting needs a mail address, post address + link to its"
            " files folder there",
        ),
    ),
    "wards": (
        Tabs(
            "south-block-tabs-are-put-in-order",
            "anselm.drexler",
            "Network Renewal",
            "South block",
            "Floors old",
            ("Floors", "Floors and risers"),
            ("Risers", "Wallplan"),
            "North block",
            "south block of Network Renewal: remove tab 'Floors old', rename 'Floors' to 'Floors and risers', add"
            " 'Risers' showing Wallplan (look that it is installed). give the channel North block a mail address and"
            " post there the address and the link of the files folder",
        ),
    ),
}


def tabs(world: World, seed: str) -> Iterator[Draft]:
    """Tabs are removed, renamed and added; a channel gets an address, which is posted with the folder's link."""
    for scene in TABS[seed]:
        team, app = world.team(scene.team), world.app(scene.new[1])
        channel, target = world.channel(team, scene.channel), world.channel(team, scene.target)
        folder = world.one(FilesFolder, channel_id=target.channel_id)
        slug = scene.target.lower().replace(" ", "-")
        address = f"{slug}.{team.team_id[:8]}@{world.org}.teams.ms"
        old, renamed_tab = world.tab(channel, scene.gone), world.tab(channel, scene.renamed[0])
        script = Script(find_team(team), channels_of(team), tabs_of(channel), find_app(app))
        script.do(call("list_installed_apps", teamId=team.team_id, _expand="teamsApp"))
        script.do(in_channel("get_files_folder", target))
        script.do(
            at_tab("delete_channel_tab", old), at_tab("update_channel_tab", renamed_tab, displayName=scene.renamed[1])
        )
        script.do(add_tab(channel, scene.new[0], app), in_channel("provision_channel_email", target))
        text = f"Mail to this channel: {address}. Files: {folder.web_url}"
        script.do(post(target, text))
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Read the tabs of the channel, the apps of the team and the files folder (LKP-1, LKP-3).",
                "Remove, rename and add the tabs, provide the address, and post address and link.",
            ),
            answer=f"The tabs are in order: {scene.renamed[1]} and {scene.new[0]}. {scene.target} has the address"
            f" {address}.",
            names=(scene.renamed[1], scene.new[0]),
            says={"Mail to this channel": [address.replace(".", r"\."), str(folder.web_url).rsplit("/", 1)[-1]]},
            mistakes={
                "removes the other tab too": (at_tab("delete_channel_tab", renamed_tab),),
                "gives the other channel an address": (in_channel("provision_channel_email", channel),),
                "adds the tab twice": (add_tab(channel, scene.new[0], app),),
            },
            tools=("add_tab_to_chat", "update_channel"),
        )


# --- guests and settings ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Guests:
    """Guests whose company has finished, and settings of the team."""

    slug: str
    actor: str
    team: str
    company: str
    guests: tuple[str, ...]
    promoted: str
    joining: tuple[str, ...]
    settings: Mapping[str, Mapping[str, bool]]
    renamed: str
    group: str
    """Group that gets the promoted person as owner; empty for none."""
    prompt: str


GUESTS: Mapping[str, Sequence[Guests]] = {
    "bridges": (
        Guests(
            "deltabore-has-finished",
            "oluf.stensgaard",
            "Harbour Tunnel",
            "Deltabore",
            ("marlon.vercauteren", "ottilie.brandstatter"),
            "karla.winthereik",
            ("dorthe.flindt", "jannik.toftlund", "troels.kirkegaard"),
            {"memberSettings": {"allowAddRemoveApps": False}},
            "The tunnel under the inner harbour, phase two",
            "Harbour Tunnel",
            "deltabore is done: take all guests of that company out of Harbour Tunnel (only that team). karla"
            " winthereik becomes owner of the team and of its group. add Dorthe Flindt, Jannik Toftlund and Troels"
            " Kirkegaard as members. members may no longer add or remove apps. description: 'The tunnel under the inner"
            " harbour, phase two'",
        ),
        Guests(
            "quayline-has-finished",
            "pia.vestergren",
            "Sound Bridge",
            "Quayline Consulting",
            ("priya.raghunathan",),
            "mikkeline.tranberg",
            ("emil.praestholm", "sofie.dalgaard"),
            {"memberSettings": {"allowCreatePrivateChannels": False}},
            "The road bridge over the sound, deck stage",
            "Sound Bridge",
            "Quayline Consulting leaves Sound Bridge, so remove its people from that team! Mikkeline Tranberg"
            " becomes an"
            " owner, of the team's group as well. New members: Emil Praestholm and the Sofie Dalgaard who is a"
            " structural engineer. Members may not create private channels any more, and the description becomes 'The"
            " road bridge over the sound, deck stage'!",
        ),
    ),
    "wards": (
        Guests(
            "netlumen-has-finished",
            "anselm.drexler",
            "Network Renewal",
            "Netlumen",
            ("takumi.hoshino", "vesna.jurkovic"),
            "farid.noorzai",
            ("kahu.wiremu", "lorcan.devlin"),
            {"memberSettings": {"allowDeleteChannels": False}, "messagingSettings": {"allowTeamMentions": False}},
            "Switches and wireless in all buildings, own staff",
            "Network Renewal",
            "netlumen is finished. remove their guests from Network Renewal, only there. Farid Noorzai becomes owner of"
            " the team and its group. add Kahu Wiremu and Lorcan Devlin. settings: members may not delete channels, no"
            " mentions of the whole team. description 'Switches and wireless in all buildings, own staff'",
        ),
        Guests(
            "radiora-has-finished",
            "declan.moriarty",
            "Imaging",
            "Radiora",
            ("leopold.anzinger", "mirela.stanescu"),
            "ravindu.perera",
            ("pania.rangi", "chandra.iyer"),
            {"memberSettings": {"allowAddRemoveApps": False}},
            "Scanners, archive and viewers, run by us",
            "Imaging",
            "radiora has delivered, so its guests leave the team Imaging. make Ravindu Perera an owner of the"
            " team and of"
            " the group behind it, let Pania Rangi in and the Chandra Iyer who looks after databases. members must not"
            " add or remove apps. new description: 'Scanners, archive and viewers, run by us'",
        ),
    ),
}


def guests(world: World, seed: str) -> Iterator[Draft]:
    """Guests leave, a member becomes owner, others join, and settings change."""
    for scene in GUESTS[seed]:
        team, promoted = world.team(scene.team), world.user(scene.promoted)
        leaving = [world.user(name) for name in scene.guests]
        joining = [world.user(name) for name in scene.joining]
        script = Script(find_team(team), members_of(team), call("list_users", _filter="userType eq 'Guest'"))
        script.do(*find_users([*joining, promoted]), find_group(world.group(scene.group)))
        script.do(*(leave(team, world.membership(team, user)) for user in leaving))
        script.do(set_role(team, world.membership(team, promoted), "owner"), join_all(team, joining))
        script.do(add_owner(world.group(scene.group), promoted))
        script.do(call("update_team", teamId=team.team_id, description=scene.renamed, **scene.settings))
        one_by_one = [made for made in script.gold if made.name != "add_team_members_in_bulk"]
        other = next(
            one for one in world.members(team) if one["roles"] == ["member"] and one["userId"] != promoted.user_id
        )
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Read the members and find out who is of that company (LKP-1, LKP-2).",
                "Remove the guests, give the roles (TEA-1, TEA-2), and change the settings that are named.",
            ),
            answer=f"{', '.join(str(user.display_name) for user in leaving)} left {scene.team};"
            f" {promoted.display_name} owns it too.",
            names=(scene.team, *(str(user.given_name) for user in leaving), str(promoted.given_name)),
            mistakes={
                "removes a member too": (leave(team, other["id"]),),
                "makes another owner": (set_role(team, other["id"], "owner"),),
                "deletes an account": (call("delete_user", userId=leaving[0].user_id),),
            },
            also={
                "adds them one by one": Solution((*one_by_one, *(join(team, user) for user in joining))),
            },
            tools=("add_team_member", "delete_user", "get_user"),
        )


FAMILIES = (joiners, tabs, guests)
