"""Tasks in which something changes while the agent works, and long ones in which much has to be looked through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_domains.teams.tables import ChannelTab, Team
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent
from opsgym_suites.teams.calls import (
    Script,
    admit,
    channels_of,
    find_group,
    find_team,
    find_user,
    in_channel,
    join,
    members_of,
    post,
    posts_of,
    tabs_of,
)
from opsgym_suites.teams.core.drafting import done
from opsgym_suites.teams.seeds.world import World

# --- a channel is archived meanwhile ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Closed:
    """A channel that is archived before the agent posts in it."""

    slug: str
    actor: str
    team: str
    channel: str
    other: str
    text: str
    words: tuple[str, ...]
    prompt: str


CLOSED: Mapping[str, Sequence[Closed]] = {
    "bridges": (
        Closed(
            "piers-closes-meanwhile",
            "mikkeline.tranberg",
            "Sound Bridge",
            "Piers",
            "Deck",
            "Cube tests of pier 9 passed with 41 MPa.",
            ("pier 9", "41"),
            "The cube tests of pier 9 have passed with 41 MPa. Please post that in Piers of Sound Bridge. If Piers has"
            " been archived in the meantime, Deck is the right place. Nowhere else, and tell me where it stands.",
        ),
        Closed(
            "gates-closes-meanwhile",
            "dorthe.flindt",
            "Canal Locks",
            "Gates",
            "Pump house",
            "Paint of gate four arrives on 23 November.",
            ("gate four", "23 November"),
            "Would you post in Gates, team Canal Locks, that the paint of gate four arrives on 23 November? They are"
            " closing channels today; if Gates is archived already, take Pump house, and say which one it was.",
        ),
    ),
    "wards": (
        Closed(
            "north-block-closes-meanwhile",
            "farid.noorzai",
            "Network Renewal",
            "North block",
            "South block",
            "Floor five is patched, 48 ports are free.",
            ("48", "ports"),
            "Floor five is patched and 48 ports are free: please post this in North block of Network Renewal."
            " Should that"
            " channel be archived by now, post it in South block, and let me know where.",
        ),
        Closed(
            "pharmacy-pilot-closes-meanwhile",
            "pania.rangi",
            "Patient Records",
            "Pharmacy pilot",
            "Cutover",
            "The drug list has 612 entries now.",
            ("612", "drug list"),
            "Post in Pharmacy pilot (Patient Records) that the drug list has 612 entries now. In case the channel got"
            " archived meanwhile it goes to Cutover. Tell me where you posted.",
        ),
    ),
}


def closed(world: World, seed: str) -> Iterator[Draft]:
    """The channel is archived after the first look, so the post goes to another one."""
    for scene in CLOSED[seed]:
        team = world.team(scene.team)
        channel, other = world.channel(team, scene.channel), world.channel(team, scene.other)
        event: ScenarioEvent[Any] = ScenarioEvent(world)
        event.change(channel, is_archived=True)
        script = Script(find_team(team), channels_of(team), posts_of(channel))
        place = script.refused(post(channel, scene.text))
        script.do(channels_of(team), posts_of(other), post(other, scene.text))
        answer = f"{scene.channel} is archived, so I posted it in {scene.other}."
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Find the channel and try to post in it (LKP-1).",
                "Learn from the refusal that it is archived (PRC-7), and post in the other one (MSG-1).",
            ),
            answer=answer,
            names=(scene.other,),
            says={scene.text: [term(word) for word in scene.words]},
            mistakes={"posts it in General too": (post(world.channel(team, "General"), scene.text),)},
            negative={
                "gives up": NegativeTrajectory(script.gold[: place + 1], f"{scene.channel} is archived.", "PRC-7"),
                "claims the first channel": NegativeTrajectory(
                    script.gold[: place + 1], f"It is posted in {scene.channel}.", "PRC-7"
                ),
            },
            refused={place: "PRC-7"},
            access=Access.STRICT,
            event=event,
            events=(event.happens_after(FIRST_LOOK),),
        )


# --- an account is disabled meanwhile --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Blocked:
    """A person whose account is disabled before the agent adds it."""

    slug: str
    actor: str
    team: str
    first: str
    second: str
    """Who joins instead."""
    channel: str
    """Private channel that the person joins too."""
    prompt: str


BLOCKED: Mapping[str, Sequence[Blocked]] = {
    "bridges": (
        Blocked(
            "frede-is-blocked-meanwhile",
            "asta.rosendal",
            "Safety",
            "frede.mosegaard",
            "karla.winthereik",
            "Incidents",
            "Please add Frede Mosegaard to the team Safety as a member, and then to its private channel"
            " Incidents. IT is"
            " blocking accounts this morning: in case his is disabled, Karla Winthereik takes his place in both. Please"
            " name in General of Safety who has joined.",
        ),
    ),
    "wards": (
        Blocked(
            "oriel-is-blocked-meanwhile",
            "declan.moriarty",
            "Imaging",
            "oriel.penhallow",
            "elowen.trethewey",
            "Dose reports",
            "add Oriel Penhallow to Imaging, then to the private channel Dose reports there. if the account"
            " turns out to"
            " be disabled take Elowen Trethewey for both instead. post in General of Imaging who joined",
        ),
    ),
}


def blocked(world: World, seed: str) -> Iterator[Draft]:
    """The account of one person is disabled after the first look, so another one joins."""
    for scene in BLOCKED[seed]:
        team, first, second = world.team(scene.team), world.user(scene.first), world.user(scene.second)
        channel, general = world.channel(team, scene.channel), world.channel(team, "General")
        event: ScenarioEvent[Any] = ScenarioEvent(world)
        event.change(first, account_enabled=False)
        script = Script(find_team(team), members_of(team), channels_of(team), find_user(first))
        place = script.refused(join(team, first))
        script.do(find_user(second), join(team, second), admit(channel, second))
        text = f"{second.display_name} has joined."
        script.do(post(general, text))
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Look the first person up and try to add the account (LKP-1).",
                "It is disabled (PRC-4): add the other person to team and channel, and post the name (MSG-1).",
            ),
            answer=f"{first.given_name}'s account is disabled, so {second.display_name} has joined.",
            names=(str(second.given_name),),
            says={text: [term(str(second.given_name))]},
            mistakes={"posts it in the private channel too": (post(channel, text),)},
            negative={
                "gives up": NegativeTrajectory(script.gold[: place + 1], "The account is disabled.", "PRC-4"),
                "forgets the channel": NegativeTrajectory(
                    (*script.gold[:-2], script.gold[-1]), f"{second.display_name} has joined.", "PRC-4"
                ),
            },
            refused={place: "PRC-4"},
            access=Access.STRICT,
            event=event,
            events=(event.happens_after(FIRST_LOOK),),
        )


# --- much to look through --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clearing:
    """What an administrator clears away at the end of the year."""

    slug: str
    actor: str
    team: str
    """Team that is deleted."""
    account: str
    """Disabled account that is deleted, unless a team still has it."""
    group: tuple[str, str]
    """Group and its new description."""
    described: str
    """New description of the channel that stays."""
    incoming: tuple[str, str]
    """Team and the shared channel that reaches it."""
    prompt: str


CLEARINGS: Mapping[str, Sequence[Clearing]] = {
    "bridges": (
        Clearing(
            "old-things-are-cleared",
            "inge.lassen",
            "Summer Party",
            "kaj.bisgaard",
            ("Crane drivers", "Drivers of all cranes"),
            "Clashes by month",
            ("Sound Bridge", "Marine works"),
            "Please clear up before the audit. The team Summer Party can be deleted. The disabled account of Kaj"
            " Bisgaard"
            " is to be deleted too, provided that no team lists him any more, so look at the members of all teams. The"
            " group Crane drivers gets the description 'Drivers of all cranes'. Then archive every empty-handed channel"
            " of BIM Studio except General: that is a channel without any tab; the other one is described as"
            " 'Clashes by"
            " month' from now on. At last tell me which channels of other teams reach Sound Bridge.",
        ),
    ),
    "wards": (
        Clearing(
            "old-teams-and-accounts-go",
            "odile.charpentier",
            "Open Day 2026",
            "gareth.llewellyn",
            ("Pager holders", "Holders of a pager, all shifts"),
            "Dates, rooms, tests",
            ("Imaging", "Interfaces"),
            "Good day, a few things for the end of the year. Delete the team Open Day 2026. Delete also the disabled"
            " account of Gareth Llewellyn, but only if he is in none of our teams; please check the members of"
            " each. The"
            " description of the group Pager holders becomes 'Holders of a pager, all shifts'. In the team Training the"
            " channels without a tab are archived, General excepted, and the one with a tab is described as"
            " 'Dates, rooms,"
            " tests'. And which channels of other teams are shared with Imaging?",
        ),
    ),
}


def clearings(world: World, seed: str) -> Iterator[Draft]:
    """Teams, accounts and channels are looked through, and what is old goes."""
    for scene in CLEARINGS[seed]:
        gone, account = world.team(scene.team), world.user(scene.account)
        group, receiving = world.group(scene.group[0]), world.team(scene.incoming[0])
        studio = world.team("BIM Studio" if seed == "bridges" else "Training")
        rows = [row for row in world.channels(studio) if row.display_name != "General"]
        empty = [row for row in rows if not _has_tab(world, row.channel_id)]
        script = Script(find_user(account), call("list_teams"), *(members_of(team) for team in world.all(Team)))
        script.do(find_group(group), channels_of(studio), *(tabs_of(row) for row in rows), channels_of(gone))
        script.do(call("list_all_channels", teamId=receiving.team_id))
        script.do(call("delete_team", teamId=gone.team_id), call("delete_user", userId=account.user_id))
        script.do(call("update_group", groupId=group.group_id, description=scene.group[1]))
        script.do(*(in_channel("archive_channel", row) for row in empty))
        with_tab = next(row for row in rows if row not in empty)
        script.do(in_channel("update_channel", with_tab, description=scene.described))
        names = [str(row.display_name) for row in empty]
        other = world.user("jannik.toftlund" if seed == "bridges" else "lorcan.devlin")
        yield done(
            world,
            script,
            slug=scene.slug,
            actor=world.person(scene.actor),
            prompt=scene.prompt,
            plan=(
                "Look up the account, the members of every team, the group, and the tabs of the channels (LKP-1).",
                "Delete what is named, change the group, archive the channels without a tab (TEA-4).",
                "Read the channels that are shared with the team, and name them.",
            ),
            answer=f"{scene.team} and {account.display_name} are deleted, {', '.join(names)} archived. The channel"
            f" {scene.incoming[1]} reaches {scene.incoming[0]}.",
            names=(scene.team, str(account.surname), scene.incoming[1], *names),
            mistakes={
                "archives one with a tab": (in_channel("archive_channel", with_tab),),
                "deletes another account": (call("delete_user", userId=other.user_id),),
                "deletes another team": (call("delete_team", teamId=receiving.team_id),),
            },
            tools=("update_user", "get_user", "list_installed_apps"),
        )


def _has_tab(world: World, channel: str) -> bool:
    return bool(world.all(ChannelTab, channel_id=channel))


FAMILIES = (closed, blocked, clearings)
