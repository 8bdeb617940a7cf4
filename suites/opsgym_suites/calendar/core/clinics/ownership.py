"""A calendar changes hands: who takes it over is in the answers to a talk, and the order of the rules matters."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, term
from opsgym_suites.calendar.calls import (
    LIST,
    around,
    begins,
    cancel,
    describe,
    find_person,
    move,
    rules_of,
    set_role,
    share,
    unshare,
)
from opsgym_suites.calendar.core.clinics.days import on
from opsgym_suites.calendar.seeds.world import ClinicsWorld
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory
from opsgym_suites.kit.verifiers import answer_says

TALK = "Who takes over"


def calendars_change_hands(world: ClinicsWorld) -> Iterator[Draft]:
    """The guest who accepted becomes owner, the owner becomes a reader, and a leaver's rule goes."""
    yield _handed_over(
        world,
        slug="amber-changes-hands",
        actor="gwen.abbott",
        calendar="Trial Amber",
        newcomer="lars.haugen@dovremed.example",
        own_event="Grant report",
        prompt=(
            "I step back from Trial Amber. Two people were asked to the talk Who takes over on 29 March; the one who "
            "accepted shall own the calendar, the one who declined reads from now on. Hugo Marsh has left, take him "
            "out. lars.haugen@dovremed.example reads along, new. My Grant report (the hour itself, not its draft) "
            'comes into my own calendar, the description names the new owner: "Home dialysis at night. Owner:" and '
            "first and last name. When all that stands, I want to be a reader there and no more. Who is it?"
        ),
        text="Home dialysis at night. Owner: {}",
    )
    yield _handed_over(
        world,
        slug="cobalt-changes-hands",
        actor="paula.soto",
        calendar="Trial Cobalt",
        newcomer="matias.vidal",
        own_event="Letter to the sponsor",
        prompt=(
            "trial cobalt gets a new owner. see who said yes to 'Who takes over' (29 march, in that calendar): owner. "
            "who said no: reader, like me, i want to be reader at the end as well. hugo marsh is gone, so is his rule. "
            "matias vidal is new, reader. my Letter to the sponsor moves to my own calendar (its draft stays). "
            'description -> "New membrane. Owner: " + first and last name of the new one. name the person pls'
        ),
        text="New membrane. Owner: {}",
    )
    yield _handed_over(
        world,
        slug="software-changes-hands",
        actor="rohan.patil",
        calendar="Software",
        newcomer="kiran.s.joshi",
        own_event="Licence review",
        prompt=(
            "From April on I no longer run the Software calendar. It passes to the one of the two guests who accepted "
            "Who takes over (29 March); the other may just read. The rule of Hugo Marsh, who is not with us any more, "
            "has to disappear. Kiran Joshi, the trainer, begins to read it. The Licence review is mine and goes into "
            "my personal calendar, but leave the draft of it. Write as the description: Releases and maintenance. "
            "Owner: and the full name behind it. At last I keep nothing above reading myself. Tell me who it became."
        ),
        text="Releases and maintenance. Owner: {}",
    )
    yield _handed_over(
        world,
        slug="training-changes-hands",
        actor="sneha.gokhale",
        calendar="Training",
        newcomer="mere.tamihana@kaurilab.example",
        own_event="Course fees",
        prompt=(
            "Would you arrange my leave from the Training calendar? Of those invited to Who takes over, 29 March, one "
            "agreed: that person becomes the owner, the one who declined keeps reading rights. Hugo Marsh does not "
            "work here any longer and must not be on it. mere.tamihana@kaurilab.example should be able to read it, "
            "which is new. Course fees belongs into my own calendar (not the draft). As description please: Courses "
            "for nurses and technicians. Owner: followed by the name. I myself end as a reader. To whom did it go?"
        ),
        text="Courses for nurses and technicians. Owner: {}",
    )


def _handed_over(
    world: ClinicsWorld, *, slug: str, actor: str, calendar: str, newcomer: str, own_event: str, prompt: str, text: str
) -> Draft:
    acting, home, talk = world.colleague(actor), world.calendar(calendar), world.event(calendar, TALK)
    answers = {row.responseStatus: user for row, user in world.guests(talk)}
    successor, other = answers["accepted"], answers["declined"]
    leaver, new = world.person("hugo.marsh"), world.person(newcomer)
    event, draft_event = world.event(calendar, own_event), world.event(calendar, f"{own_event}, draft")
    own, taken, lowered = (world.rule(calendar, user) for user in (acting.user, successor, other))
    gone = world.rule(calendar, leaver)
    looked = (
        LIST,
        around(home, begins(talk).date()),
        around(home, begins(event).date()),
        *map(find_person, (successor, other, new)),
        rules_of(home),
    )
    steps_back = set_role(own, "reader")
    works = (
        set_role(taken, "owner"),
        set_role(lowered, "reader"),
        unshare(gone),
        share(home, new, "reader"),
        move(event, world.primary(acting.user)),
        describe(home, text.format(successor.name)),
    )
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            "Read the talk: one guest accepted and one declined. Look up the people and the rules of the calendar.",
            "Give the new owner the role first: a calendar always has one (PRC-2); change rules that exist (SHR-3).",
            "Delete the leaver's rule (SHR-2), add the newcomer with the lowest role (SHR-1).",
            "Move the one event, change the description, and only then lower one's own role.",
        ),
        gold=(*looked, *works, steps_back),
        answer=f"{calendar} belongs to {successor.name} now; {other.name}, {new.name} and you read it.",
        access=Access.STRICT,
        verifiers=(
            answer_says("names_the_owner", "The answer names the new owner [REF-3]", all_of([term(successor.name)])),
        ),
        tools=("update_acl_rule", "get_acl_rule", "update_calendar", "patch_event", "get_event"),
        mistakes={
            "cancels an absence": (cancel(world.event(world.primary(acting.user).summary, "Away")),),
        },
        negative_trajectories={
            "steps back first": NegativeTrajectory((*looked, steps_back, *works), "It is done.", "PRC-2"),
            "makes an owner of who declined": NegativeTrajectory(
                (*looked, set_role(lowered, "owner"), *works[2:], steps_back), f"{other.name} owns it now."
            ),
            "moves the draft instead": NegativeTrajectory(
                (*looked, *works[:4], move(draft_event, world.primary(acting.user)), works[5], steps_back),
                f"{successor.name} owns it now.",
            ),
        },
    )
    assert begins(event) > on("04-01")
    return with_verifiers(world, draft, rules={"patch_acl_rule": "PRC-2, SHR-1, SHR-3", "move_event": "ID-4"})
