"""Who may have a record: requests for files and cases that mail, labels, shared drives and HR decide differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.event import Amendment
from opsgym_api.tasks.event import Event as Happening
from opsgym_api.tasks.task import ToolCall
from opsgym_suites.csm import calls as service
from opsgym_suites.drive.calls import (
    accept,
    copy,
    find_drive,
    labels_of,
    named,
    new_key,
    permissions_of,
    requests_for,
    set_labels,
    share,
    unshare,
)
from opsgym_suites.drive.calls import set_role as set_file_role
from opsgym_suites.email.calls import answer, read_thread, search, send
from opsgym_suites.hr import calls as hr
from opsgym_suites.hybrid.core.jobs import (
    Job,
    in_csm,
    in_drive,
    in_hr,
    in_mail,
    in_teams,
    written,
)
from opsgym_suites.hybrid.servers import CSM, DRIVE, EMAIL, HR, TEAMS
from opsgym_suites.hybrid.systems import MORNING, NOW, OVERNIGHT, Systems
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.hybrid import event_on
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.teams.calls import channels_of, find_team, post, posts_of


def records_requests(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about who gets a record."""
    systems = Systems(worlds)
    for scene in (_inside, _outside, _rotas):
        for job in scene(systems):
            yield written(systems, job)


def _granted(systems: Systems, key: str, role: str) -> tuple[ToolCall, ...]:
    """The permissions of a document with a role, taken away."""
    file = systems.files.document(key)
    rows = [row for row in systems.files.permissions(file) if row.role == role and row.email_address]
    return in_drive(*(unshare(file, row) for row in rows))


# --- within the company ----------------------------------------------------------------------------------------------


def _inside(systems: Systems) -> Iterator[Job]:
    """A role that the request itself lowers; a list that a former colleague still reads."""
    mail, files, teams = systems.mail, systems.files, systems.teams
    duncan = mail.mailbox("Duncan Iredale")
    parts, counting = files.document("spare-parts"), files.document("stock-taking")
    (request,) = files.proposals(parts)
    wish = mail.message("stock-taking", "Duncan Iredale")
    house, channel = teams.team("Sydney House"), teams.room("Sydney House:Stock-taking")
    looked = (
        *in_drive(named("Spare parts of Sydney"), requests_for(parts), permissions_of(parts), named("Stock-taking 28")),
        *in_mail(search(duncan, "from:orla.keating"), read_thread(wish, mail)),
        *in_teams(find_team(house), channels_of(house), posts_of(channel, replies=True)),
    )
    comment = in_drive(
        call("create_comments", fileId=counting.id, content="Thora Vance counts seals, Marnie Stroud starters.")
    )
    others = (
        *in_mail(answer(mail, duncan, wish, "You read the spare parts now, as your request says.")),
        *in_teams(
            post(channel, "Orla Keating reads the spare parts, as her request says; who counts is in the sheet.")
        ),
    )
    yield Job(
        "role-for-the-stock-taking",
        "Duncan Iredale",
        (DRIVE, EMAIL, TEAMS),
        "Orla waits for a role on Spare parts of Sydney. Decide her request with the least that, by her own words "
        "in it, is enough. Then comment on the sheet Stock-taking 28 November which part each person counts, as "
        "the channel Stock-taking of Sydney House has it, with full names. Orla gets an answer to her mail about "
        "the stock-taking that names her role, and the channel a post that names her and the role. Which one is it?",
        (
            "Read the request with its message, Orla's mail, and the channel with its replies.",
            "Accept it as reader (DRIVE-REQ-1), comment on the sheet, answer the mail, and post.",
        ),
        (*looked, *in_drive(accept(request, "reader")), *comment, *others),
        "Orla Keating is a reader of Spare parts of Sydney; the sheet has a comment on Thora Vance and Marnie Stroud.",
        (r"\bread(s|er|ing|er's)?\b",),
        ("create_permission", "update_permission", "create_replies"),
        {"shares the sheet with her": in_drive(share(files, counting, "orla.keating", "reader"))},
        {
            "gives what she asks for": ((*looked, *in_drive(accept(request, "writer")), *comment, *others), "Reader."),
            "mixes up the parts": (
                (
                    *looked,
                    *in_drive(
                        accept(request, "reader"),
                        call("create_comments", fileId=counting.id, content="Orla Keating counts seals, Thora too."),
                    ),
                    *others,
                ),
                "She is a reader.",
            ),
        },
        evidence=(request,),
        in_mails={"spare": (r"\bread(s|er|ing)?\b",)},
        in_posts={"spare": (r"\borla\b", r"\bread(s|er|ing)?\b")},
        in_comments={
            "counts": (r"\bthora\b[^.;\n]*\bseals?\b", r"\bmarnie\b[^.;\n]*\bstarters?\b"),
        },
    )
    marguerite = mail.mailbox("Marguerite Sloane")
    prices = files.document("price-list")
    leave = mail.message("parental-amato", "Marguerite Sloane")
    team, draft_channel = teams.team("Sales"), teams.room("Sales:Price list 2027")
    kester, fitch = systems.in_hr("Kester Dunne"), systems.in_hr("Lorne Fitch")
    read_all = (
        *in_drive(named("Price list 2027"), labels_of(prices), permissions_of(prices)),
        *in_hr(hr.find_user(kester), hr.read_profile(kester), hr.find_user(fitch)),
        *in_mail(search(marguerite, "from:giselle.amato"), read_thread(leave, mail)),
        *in_teams(find_team(team), channels_of(team)),
    )
    fitch_off = _granted(systems, "price-list", "reader")
    raised = in_drive(set_labels(files, prices, sensitivity="restricted"))
    heir, kester_box = (mail.mailbox(name).primary_email for name in ("Ingram Tully", "Kester Dunne"))

    def noted(address: str) -> tuple[ToolCall, ...]:
        return in_mail(send(mail, marguerite, [address], "Price list", "Lorne Fitch could read it; it is restricted."))

    posted = in_teams(post(draft_channel, "The price list of 2027 is restricted from today."))
    kester_writes = next(row for row in files.permissions(prices) if row.role == "writer")
    yield Job(
        "price-list-stays-inside",
        "Marguerite Sloane",
        (HR, DRIVE, EMAIL, TEAMS),
        "Price list 2027 is for my people in HR and no one else. Look who has a role of their own on it: those who "
        "report to me keep it, anyone else is taken off. If one of those has an address outside of the company, "
        "set the label of the list to restricted, post in Sales, channel Price list 2027, that it is restricted "
        "now (no names there), and write a mail 'Price list' to the colleague who owns the quotes while Giselle is "
        "away, by what I agreed to in her mail: it names who could read it. Whom did you take off, and who got the "
        "mail?",
        (
            "Read permissions and label; see in HR who reports to the acting user, and who has left.",
            "Take the outsider off, and raise the sensitivity.",
            "Post without a name, and write to the one whom the thread about the leave names.",
        ),
        (*read_all, *fitch_off, *raised, *posted, *noted(heir)),
        "Lorne Fitch is off the list, which is restricted; Kester Dunne keeps his role. Ingram Tully has the mail.",
        (term("Fitch"), term("Tully")),
        ("create_permission", "update_files", "list_revisions"),
        {"takes Kester off": in_drive(unshare(prices, kester_writes))},
        {
            "writes to who has the mailbox": (
                (*read_all, *fitch_off, *raised, *posted, *noted(kester_box)), "Lorne Fitch; not Tully, but Kester."
            ),
            "leaves the label": ((*read_all, *fitch_off, *posted, *noted(heir)), "Fitch is off, Tully has a mail."),
        },
        in_mails={"Fitch": (r"\bfitch\b",)},
        in_posts={"price list": (r"\brestricted\b", r"^(?!.*(fitch|lorne))")},
        evidence=(kester,),
        access=Access.STRICT,
    )  # fmt: skip


# --- outside of the company ------------------------------------------------------------------------------------------

_SHR_3 = (
    "Other files may be shared outside with the role `reader` only; outsiders who comment already keep that role. A "
    "link for everybody is never found by searches."
)


def _outside(systems: Systems) -> Iterator[Job]:
    """A drive for the company alone, of which a customer gets a copy; a role that a new rule lowers."""
    mail, files, teams = systems.mail, systems.files, systems.teams
    desk = systems.customers
    ashdown, duncan = desk.world.case("ashdown-charts"), mail.mailbox("Duncan Iredale")
    contact = desk.user_of(desk.contact_of(ashdown))
    account = desk.account_of(ashdown)
    renewal, drive = files.document("ashdown-renewal"), files.drive("Customers")
    looked = (
        *in_csm(service.find_case(ashdown), service.find_account(account), service.find_contacts(account)),
        *in_csm(call("list_users", user_id=contact.user_id)),
        *in_drive(find_drive("Contracts"), named("Renewal 2027"), labels_of(renewal), permissions_of(renewal)),
        *in_drive(find_drive("Customers"), permissions_of(drive)),
    )
    copied = in_drive(copy(renewal, "Renewal 2027 for Ashdown", drive))

    def opened(role: str) -> tuple[ToolCall, ...]:
        return in_drive(
            call("create_permission", fileId=new_key(1), role=role, type="user", emailAddress=contact.email)
        )

    ended = _granted(systems, "ashdown-renewal", "reader")
    mailed = in_mail(send(mail, duncan, [contact.email], "Your renewal", "You find Renewal 2027 for Ashdown on Drive."))
    logged = in_csm(service.conversation(ashdown, systems.at_customers("Duncan Iredale"), "email"))
    yield Job(
        "copy-off-the-closed-drive",
        "Duncan Iredale",
        (CSM, DRIVE, EMAIL),
        "Contracts is a drive for our own users, and yet an outsider has a role on Ashdown's Renewal 2027. End it. "
        f"Should customer service know that address as the contact of {ashdown.number}, then that person gets a "
        "copy instead: 'Renewal 2027 for Ashdown' at the top of the shared drive Customers, on the copy alone, "
        "with the most that we allow outside; a mail 'Your renewal' that names the copy; and that mail on record "
        "at the case, as an interaction of yours that is handled. Is the address unknown there, only end the role. "
        "What was it?",
        (
            "Read the case, its contact and address, and permissions and labels of the file.",
            "The address is the contact's: copy the file, share the copy as commenter (DRIVE-SHR-3), end the old role.",
            "Write the mail, and record the interaction.",
        ),
        (*looked, *copied, *opened("commenter"), *ended, *mailed, *logged),
        f"It was {contact.first_name} {contact.last_name}, the contact of {ashdown.number}, who comments on the "
        "copy Renewal 2027 for Ashdown now and has a mail.",
        (term(contact.last_name), r"\bcop(y|ied)\b"),
        ("update_permission", "update_drives", "update_case"),
        {"shares the drive": in_drive(share(files, drive, contact.email, "commenter"))},
        {
            "lets the contact write": (
                (*looked, *copied, *opened("writer"), *ended, *mailed, *logged), f"{contact.last_name}, by a copy."
            ),
            "keeps the old role": (
                (*looked, *copied, *opened("commenter"), *mailed, *logged), f"{contact.last_name}, by a copy."
            ),
        },
        evidence=(ashdown, renewal),
        in_mails={"Renewal": (r"\brenewal 2027 for ashdown\b",)},
    )  # fmt: skip
    kelder, winona = desk.world.case("kelder-charts"), mail.mailbox("Winona Tabor")
    brand = desk.user_of(desk.contact_of(kelder))
    manual = files.document("hudson-manual")
    team, channel = teams.team("Customer Desk"), teams.room("Customer Desk:Kelder Water")
    read_all = (
        *in_csm(service.find_case(kelder), service.find_contacts(desk.account_of(kelder))),
        *in_csm(call("list_users", user_id=brand.user_id)),
        *in_drive(named("Manual F40"), labels_of(manual), permissions_of(manual)),
        *in_teams(find_team(team), channels_of(team)),
    )

    def given(role: str) -> tuple[ToolCall, ...]:
        return in_drive(share(files, manual, brand.email, role))

    rest = (
        *in_mail(send(mail, winona, [brand.email], "Manual F40", "You find Manual F40.pdf on Drive.")),
        *in_teams(post(channel, f"{brand.first_name} {brand.last_name} has Manual F40.pdf as a reader.")),
        *in_csm(service.conversation(kelder, systems.at_customers("Winona Tabor"), "email")),
    )
    before = next(row for row in files.permissions(manual) if row.role == "commenter")
    yield Job(
        "as-much-as-outsiders-may-have",
        "Winona Tabor",
        (CSM, DRIVE, EMAIL, TEAMS),
        f"the contact of {kelder.number} should get our Manual F40 on drive: a role of their own on the file, the "
        "highest that our rules let outsiders have at the moment you give it. mail them, subject 'Manual F40', that "
        "it's there, and log that at the case as a handled email interaction of mine. post in Customer Desk / "
        "Kelder Water who has "
        "it and with which role. all other roles stay. which role was it?".replace(
            "all other roles stay", "all other roles stay"
        ),
        (
            "Read the case, its contact and address, and labels and permissions of the manual.",
            "A rule changes meanwhile: outsiders are readers from now on (DRIVE-SHR-3); what was shared stays.",
            "Write the mail, post the role, and record the interaction.",
        ),
        (*read_all, *given("reader"), *rest),
        f"{brand.first_name} {brand.last_name} is a reader of Manual F40.pdf, which is all that the rule allows by "
        "now.",
        (r"\breader?s?\b|\bread\b",),
        ("update_permission", "copy_files", "update_case"),
        {"lowers the other contact": in_drive(set_file_role(manual, before, "reader"))},
        {
            "follows the old rule": ((*read_all, *given("commenter"), *rest), "As commenter, not reader."),
            "logs nothing": ((*read_all, *given("reader"), *rest[:2]), "As a reader."),
        },
        happenings=(Happening(after_step=FIRST_LOOK, amend=Amendment(rule="DRIVE-SHR-3", text=_SHR_3)),),
        in_posts={"Manual": (r"\breader?s?\b|\breads?\b", term(brand.last_name))},
        in_mails={"Manual": (r"\bmanual\b",)},
        evidence=(kelder,),
    )


# --- a role that goes with a case ------------------------------------------------------------------------------------


def _rotas(systems: Systems) -> Iterator[Job]:
    """The assignee of a case writes in the rota; over night the case is given away, is solved, or stays."""
    case = systems.customers.world.case("warragul-hot")
    number = case.number
    yield _rota(
        systems,
        "rota-follows-the-case",
        then="Marnie Stroud",
        prompt=f"Who works on {number} may write in my Rota this week. Give that colleague the role on the file, "
        "put a line into Sydney House, General, who it is, and send that person a mail 'Rota' saying so. The name, "
        "please?",
        message=f"The role goes with the case. See who has {number} now. Another one: the former colleague loses "
        "the role that you gave, the new one gets it, and General gets a new line. The case is solved or closed: "
        "the role only ends, and General gets a line that it has. Neither: leave all of it. Tell me how it stands.",
    )
    yield _rota(
        systems,
        "rota-role-ends-with-the-case",
        then="",
        prompt=f"rota for this week: the person with {number} has to be able to change it. only the file, only that "
        "person. say it in General of Sydney House (full name) and in a mail to them, subject 'Rota'. who is it?",
        message=f"good morning, {number} again. another person on it -> role of yesterday away, new person gets it, "
        "line in General. solved/closed -> role of yesterday away and a line in General saying that it is over. "
        "same person still at work -> nothing. which of the three?",
    )
    yield _rota(
        systems,
        "rota-role-lasts",
        then="Bram Halloway",
        prompt=f"Please allow the colleague who is working on {number} to edit the Rota that I keep. Announce the "
        "full name in the General channel of Sydney House, and write that colleague a mail with the subject "
        "'Rota'. Whom does it concern?",
        message=f"Would you check {number} once more? If it has changed hands, move the editing role to the new "
        "assignee and announce that in General. If it is solved or closed, take the role back and announce that. "
        "If nothing of the kind has happened, change nothing, and just report who can edit the Rota because of it.",
    )


def _rota(systems: Systems, slug: str, then: str, prompt: str, message: str) -> Job:
    """`then` has the case on the second day; empty if it is solved."""
    mail, files, teams, desk = systems.mail, systems.files, systems.teams, systems.customers
    actor, holder, twin = "Linnea Storrs", "Bram Halloway", "Bram Hallowell"
    case, rota = desk.world.case("warragul-hot"), files.document("rota")
    house, channel = teams.team("Sydney House"), teams.room("Sydney House:General")

    def writer(name: str) -> tuple[ToolCall, ...]:
        return in_drive(share(files, rota, files.account(name).email, "writer"))

    def line(text: str) -> tuple[ToolCall, ...]:
        return in_teams(post(channel, text))

    def mailed(name: str) -> tuple[ToolCall, ...]:
        to = mail.mailbox(name).primary_email
        return in_mail(send(mail, mail.mailbox(actor), [to], "Rota", "You may write in the rota."))

    asks = in_csm(service.find_case(case), call("list_users", user_id=case.assigned_to))
    looked = (
        *asks,
        *in_drive(named("Rota"), permissions_of(rota)),
        *in_teams(find_team(house), channels_of(house)),
    )
    first = (*looked, *writer(holder), *line(f"{holder} writes in the rota this week."), *mailed(holder))
    ended = in_drive(call("delete_permission", fileId=rota.id, permissionId=new_key(1)))
    changes: ScenarioEvent[Any] = ScenarioEvent(desk.world, MORNING - NOW)
    happens = then != holder
    again = in_csm(service.find_case(case))
    if not then:
        changes.change(case, state="resolved")
        done, result = (*ended, *line(f"{holder} does not write in the rota any more.")), f"solved: {holder} is off"
    elif happens:
        changes.change(case, assigned_to=systems.at_customers(then).user_id)
        again = (*again, *in_csm(call("list_users", user_id=systems.at_customers(then).user_id)))
        done, result = (*ended, *writer(then), *line(f"{then} writes in the rota now.")), f"with {then}, who writes now"
    else:
        done, result = (), f"with {holder} as before, who writes in the rota"
    taken_back = (*ended, *line("It is over."))
    days_of_first = [made.model_copy(update={"day": 1}) for made in first]
    days_of_again = [made.model_copy(update={"day": 2}) for made in again]
    wrong = () if happens else tuple(made.model_copy(update={"day": 2}) for made in taken_back)
    patterns: dict[str, tuple[str, ...]] = {f"{holder} writes": (rf"\b{holder}\b",)}
    if then and happens:
        patterns[f"{then} writes"] = (rf"\b{then}\b",)
    return Job(
        slug,
        actor,
        (CSM, DRIVE, EMAIL, TEAMS),
        prompt,
        (
            "Read the case and its assignee, who has a near namesake; share the file with that one, and announce it.",
            "On the next day read the case again, and do what follows from who has it, and from its state.",
        ),
        first,
        f"{case.number} is {result}.",
        (r"\b(resolved|solved|closed|over|ended|off)\b" if not then else rf"\b{then.partition(' ')[0]}\b",),
        ("update_permission", "update_case", "update_files"),
        {"takes another role": in_drive(unshare(rota, files.permission(rota, "juno.castle")))},
        {
            "takes the namesake": (
                tuple(
                    made.model_copy(update={"day": 1})
                    for made in (*looked, *writer(twin), *line(f"{twin} writes in it."), *mailed(twin))
                ),
                f"{twin}; {result}.",
            ),
            "does not look at what changed": ((*days_of_first, *days_of_again, *wrong), f"It is {result}."),
        },
        in_posts=patterns,
        happenings=(event_on(CSM.gym, changes.happens_at(OVERNIGHT)),) if happens else (),
        changes={CSM.gym: changes} if happens else {},
        day_two=(message, (*again, *done)),
        first_answer=f"{holder} has {case.number} and writes in the rota.",
        first_says=(r"\bhalloway\b",),
        evidence=(case,),
    )
