"""Tasks about employment that ends today, and profiles that requests name by number or private address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, number, term
from opsgym_domains.hr.tables import HrProfile, User
from opsgym_suites.hr.calls import deactivate, find_user, only, read_profile, read_user, update_profile
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.hr.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, full_name
from opsgym_suites.kit.verifiers import answer_says

# --- the contractors of a manager ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EndedContracts:
    """Contractors of a manager whose employment ends today."""

    slug: str
    actor: str
    manager: str
    prompt: str
    access: Access = Access.PUBLISHED


ENDED_CONTRACTS: Mapping[str, Sequence[EndedContracts]] = {
    "hospital": (
        EndedContracts(
            "edmund-loses-his-contractors", "Desmond Achebe", "Edmund Farrow",
            "The frame contract is over: for every contractor of Edmund Farrow who is still with us, today is the last "
            "day. Enter that, and do with the accounts what our rules want on a last day. How many people is it? No "
            "one else in the team is affected.",
        ),
    ),
    "works": (
        EndedContracts(
            "jolanta-loses-her-contractors", "Marisa Contreras", "Jolanta Wozniak",
            "All contractors in the team of Jolanta Wozniak who have not gone before leave today. Please end their "
            "employment, with what has to happen to accounts on the last day, and tell me the number of people. The "
            "employees of the team remain.",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def ended_contracts(world: World, seed: str) -> Iterator[Draft]:
    """Employment ends today for some people of a manager, whose accounts are deactivated [PRO-5]."""
    for scene in ENDED_CONTRACTS[seed]:
        yield _ended_contracts(world, scene)


def _ended_contracts(world: World, scene: EndedContracts) -> Draft:
    acting, manager = world.user(scene.actor), world.user(scene.manager)
    boss = str(world.profile(manager).hr_profile_id)
    people = [one for one in world.people_of(manager) if one.type == "contractor"]
    users = [world.one(User, user_id=one.user_id) for one in people]
    looked = (
        find_user(acting),
        find_user(manager),
        read_profile(manager),
        call("fetch_hr_profiles", manager=boss, type="contractor"),
        *map(read_user, users),
    )
    ended = call("offboard_hr_profiles", manager=boss, type="contractor")
    off = tuple(map(deactivate, users))
    gold = (*looked, ended, *off)
    answer = f"Employment of {len(people)} contractors ends today, and their accounts are deactivated."
    other = next(one for one in world.people_of(manager) if one.type == "part-time")
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                "Look up the manager and the profile of the manager, then the contractors and their accounts.",
                "End the employment of those who have not left before.",
                "Deactivate their accounts (PRO-5).",
            ),
            gold=gold,
            answer=answer,
            verifiers=(answer_says("states_the_number", "The answer states the number [REF-3]", number(len(people))),),
            tools=("offboard_hr_profile", "update_hr_profile", "list_users", "get_cases_assigned_to"),
            access=scene.access,
            mistakes={"ends an employee too": (
                call("offboard_hr_profile", hr_profile_id=str(other.hr_profile_id)),
            )},
            negative_trajectories={
                "ends the whole team": NegativeTrajectory(
                    (*looked, call("offboard_hr_profiles", manager=boss), *off), answer
                ),
                "leaves the accounts": NegativeTrajectory((*looked, ended), answer),
            },
        ),
        rules={"offboard_hr_profiles": "PRO-5", "update_user_details": "PRO-5, USR-2"},
    )  # fmt: skip


# --- people who are named otherwise than by name ---------------------------------------------------------------------


@dataclass(frozen=True)
class Unnamed:
    """Changes for people whom a request names by surname and position, by profile number, and by private address."""

    slug: str
    actor: str
    leaves: str
    """Who leaves today, named by surname and position."""
    moves: str
    """Whose place of work changes, named by the number of the profile."""
    place: str
    writes: str
    """Whose private address changes, named by the old one."""
    address: str
    prompt: str
    access: Access = Access.PUBLISHED


UNNAMED: Mapping[str, Sequence[Unnamed]] = {
    "hospital": (
        Unnamed(
            "three-notes-on-the-desk", "Ingrid Solheim", "Harvey Stubbs", "Arjun Pillai", "Remote", "Celeste Amaro",
            "celeste@newpost.example",
            "Three notes lie on my desk. One: Stubbs, the one in Sales, stops today; please do that with the account "
            "and all. Two: profile {number} works from a Remote place from now on. Three: the private mail address "
            "{old} has become celeste@newpost.example. Who are the three?",
            access=Access.STRICT,
        ),
    ),
    "works": (
        Unnamed(
            "three-slips-from-the-box", "Leopold Adeyemi", "Ralf Steinmetz", "Joaquim Prado", "Remote", "Milena Dragan",
            "milena@neuepost.example",
            "In our box there were three slips. The first: \"Steinmetz of Sales, last day today\"; that needs the "
            "profile and the account. The second: the one with profile {number} is Remote now. The third: private mail "
            "goes to milena@neuepost.example instead of {old}. Enter it all, and name the three people in your answer.",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def unnamed(world: World, seed: str) -> Iterator[Draft]:
    """People are found by surname and position, by number and by address, and their profiles change [LKP-2, PRO-5]."""
    for scene in UNNAMED[seed]:
        yield _unnamed(world, scene)


def _unnamed(world: World, scene: Unnamed) -> Draft:
    acting, leaver = world.user(scene.actor), world.user(scene.leaves)
    profile, moved, written = (world.profile(name) for name in (scene.leaves, scene.moves, scene.writes))
    namesakes = world.all(User, last_name=leaver.last_name)
    others = [_user_of(world, one) for one in (moved, written)]
    looked = (
        find_user(acting),
        call("list_users", last_name_like=leaver.last_name),
        *map(read_profile, namesakes),
        call("fetch_hr_profile_by_number", number=moved.number),
        call("get_hr_profile_by_personal_email", personal_email=written.personal_email),
        *map(read_user, others),
    )
    ended, off = call("offboard_hr_profile", hr_profile_id=str(profile.hr_profile_id)), deactivate(leaver)
    placed = update_profile(moved, location_type=scene.place)
    addressed = update_profile(written, personal_email=scene.address)
    gold = (*looked, ended, off, placed, addressed)
    people = [leaver, *others]
    answer = f"Entered for {', '.join(map(full_name, people))}."
    wrong = next(user for user in namesakes if user is not leaver)
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt.format(number=moved.number, old=written.personal_email),
            plan=(
                "Look up the people of the surname (LKP-2), the profile by number, and the one by private address.",
                "End the employment today and deactivate the account (PRO-5).",
                "Change the other two profiles.",
            ),
            gold=gold,
            answer=answer,
            verifiers=(
                answer_says("names_the_people", "The answer names the people [REF-3]",
                    all_of(term(user.last_name) for user in people)),
            ),
            tools=("get_user_using_name", "offboard_hr_profiles", "fetch_hr_profiles", "get_cases_assigned_to"),
            access=scene.access,
            mistakes={"ends the employment of the namesake": (
                call("offboard_hr_profile", hr_profile_id=str(world.profile(wrong).hr_profile_id)),
            )},
            negative_trajectories={
                "takes the namesake": NegativeTrajectory(
                    (*looked, call("offboard_hr_profile", hr_profile_id=str(world.profile(wrong).hr_profile_id)),
                        deactivate(wrong), placed, addressed),
                    answer,
                ),
                "leaves the account": NegativeTrajectory(only(gold, off), answer),
            },
        ),
        rules={"update_hr_profile": "LKP-2", "offboard_hr_profile": "PRO-5", "update_user_details": "PRO-5"},
    )  # fmt: skip


def _user_of(world: World, profile: HrProfile) -> User:
    return world.one(User, user_id=profile.user_id)


FAMILIES = (ended_contracts, unnamed)
