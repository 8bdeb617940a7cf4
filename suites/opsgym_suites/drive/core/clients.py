"""Tasks about what people outside the company see: folders that are shared with them, and files with levels."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.tasks.answer_patterns import apart, number, term
from opsgym_suites.drive.calls import (
    change_revision,
    each,
    inside,
    labels_of,
    named,
    permissions_of,
    remark_on,
    revisions_of,
    set_labels,
    set_role,
    share,
    unshare,
)
from opsgym_suites.drive.core.writing import SECRET, declined, done
from opsgym_suites.drive.seeds.consultancy import HUGO, JUN, MONA, PETER, SYLVIE
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.drafts import Draft


def exchange_folder(world: World) -> Iterator[Draft]:
    """The folder that Calderrail shares with the bridge engineers, where roles hold from above and directly."""
    top = world.file("Bridges:Project Halyard/Exchange")
    access, register, note, crane = (
        world.file(f"Bridges:Project Halyard/Exchange/{name}")
        for name in ("Site access plan.pdf", "Interface register.xlsx", "Temporary works note", "Crane positions.dwg")
    )
    files = (access, register, note, crane)
    calderrail = [
        (top, world.permission(top, SYLVIE)),
        (top, world.permission(top, JUN)),
        (access, world.permission(access, JUN)),
        (register, world.permission(register, SYLVIE)),
    ]
    yield done(
        world,
        "calderrail-leaves-halyard",
        "yusuf.demir",
        "Calderrail is out of Project Halyard. No one of theirs may keep a role in the folder Exchange, neither on"
        " the folder nor on any file in it. Ostrasurvey still needs what it has.",
        (
            "Read the roles on the folder and on every file in it: some hold from above, some are direct (SHR-5).",
            "Remove those of Calderrail where they were given; Mona Abbas of Ostrasurvey keeps hers (ID-4).",
        ),
        each(
            [
                named("Exchange"),
                inside(top),
                permissions_of(top),
                *map(permissions_of, files),
                *[unshare(holder, row) for holder, row in calderrail],
            ]
        ),
        "Sylvie Ferrand and Jun Ito have no role in Exchange any more: two on the folder, and one each on the site"
        " access plan and the interface register are removed. Mona Abbas keeps hers.",
        [term("Ferrand"), term("Ito")],
        mistakes={"removes Ostrasurvey": (unshare(access, world.permission(access, MONA)),)},
    )
    level = world.file("Bridges:Project Corbel/Survey/Level book.pdf")
    survey = world.file("Bridges:Project Corbel/Survey")
    surveyed = world.inside(survey)
    wide = [
        (top, world.permission(top, SYLVIE)),
        (register, world.permission(register, SYLVIE)),
        (level, world.permission(level, MONA)),
    ]
    yield done(
        world,
        "no-writers-outside",
        "priya.raman",
        "People outside have more rights than our policy allows in two folders of the bridge engineers: Exchange"
        " (Halyard) and Survey (Corbel). Please bring every role that is too high down to the highest one that is"
        " allowed, on the folders and the files in them, and take nothing away beyond that. Which ones were they?",
        (
            "Read the roles on both folders and all files in them (LKP-1).",
            "Lower those of outsiders above commenter to commenter, where they were given (SHR-3, SHR-5).",
        ),
        each(
            [
                named("Exchange"),
                inside(top),
                permissions_of(top),
                *map(permissions_of, files),
                named("Survey"),
                inside(survey),
                permissions_of(survey),
                *map(permissions_of, surveyed),
                *[set_role(holder, row, "commenter") for holder, row in wide],
            ]
        ),
        "Three roles were too high and are commenter now: Sylvie Ferrand on Exchange and on the interface register,"
        " and Mona Abbas on the level book.",
        [term("Ferrand"), term("Abbas"), "register", "level"],
        mistakes={"lowers a commenter": (set_role(access, world.permission(access, MONA), "reader"),)},
    )
    yield declined(
        world,
        "note-not-for-northgate",
        "lukas.brandt",
        "please give peter lowell (northgate) reading rights on the temporary works note of halyard. if that isn't"
        " allowed leave the sharing as it is and say what forbids it",
        (named("Temporary works note"), labels_of(note), permissions_of(note)),
        "I did not share the temporary works note: it is labelled confidential, and no one outside the company gets a"
        " role on such a file (SHR-2).",
        ["note", SECRET],
        evidence=(note,),
        mistakes={
            "shares it": (share(world, note, PETER, "reader"),),
            "lowers the label first": (
                set_labels(world, note, sensitivity="internal"),
                share(world, note, PETER, "reader"),
            ),
        },
    )
    yield done(
        world,
        "note-closed-to-calderrail",
        "marta.kowal",
        "The temporary works note in Exchange (Halyard) is confidential, but Calderrail reads it because the folder"
        " is shared. Please keep their access to the other three files there with the role that the folder gives each"
        " of them today (at most what the policy allows outside), so that the note is ours alone. The direct roles"
        " that exist stay if they are not lower."
        " And let the review of the note be due on 1 February 2027.",
        (
            "Read labels and roles of folder and files (LKP-1, SHR-4).",
            (
                "Remove the two roles on the folder, and give them on each of the other files, at most commenter"
                " (SHR-3, SHR-6)."
            ),
            "Set the date of the review on the note (ID-4).",
        ),
        each(
            [
                named("Exchange"),
                inside(top),
                permissions_of(top),
                *map(permissions_of, files),
                *map(labels_of, files),
                unshare(top, world.permission(top, SYLVIE)),
                unshare(top, world.permission(top, JUN)),
                share(world, access, SYLVIE, "commenter"),
                share(world, crane, SYLVIE, "commenter"),
                set_role(register, world.permission(register, SYLVIE), "commenter"),
                share(world, crane, JUN, "reader"),
                share(world, register, JUN, "reader"),
                set_labels(world, note, review_due="2027-02-01"),
            ]
        ),
        "Calderrail has no role on the folder any more, so the temporary works note is closed to it. Sylvie Ferrand"
        " is commenter and Jun Ito reader of the other files; on the site access plan Jun stays commenter.",
        [term("Ferrand"), term("Ito"), "note"],
        evidence=(note,),
        also={
            "shares the register anew": each(
                [
                    named("Exchange"),
                    inside(top),
                    permissions_of(top),
                    *map(permissions_of, files),
                    *map(labels_of, files),
                    share(world, crane, JUN, "reader"),
                    share(world, register, JUN, "reader"),
                    share(world, register, SYLVIE, "commenter"),
                    share(world, access, SYLVIE, "commenter"),
                    share(world, crane, SYLVIE, "commenter"),
                    unshare(top, world.permission(top, JUN)),
                    unshare(top, world.permission(top, SYLVIE)),
                    set_labels(world, note, review_due="2027-02-01"),
                ]
            )
        },
        mistakes={
            "shares the note": (share(world, note, JUN, "reader"),),
            "dates another file": (set_labels(world, crane, review_due="2027-02-01"),),
        },
    )


def survey_files(world: World) -> Iterator[Draft]:
    """Files with levels that decide who outside may see them, one by one."""
    survey = world.file("Bridges:Project Corbel/Survey")
    brief, results, invoice, holes, level = (
        world.file(f"Bridges:Project Corbel/Survey/{name}")
        for name in (
            "Survey brief",
            "Survey results.csv",
            "Survey invoice check",
            "Borehole locations.csv",
            "Level book.pdf",
        )
    )
    look = each(
        [
            named("Survey"),
            inside(survey),
            *map(labels_of, (brief, results, invoice, holes, level)),
            *map(permissions_of, (brief, results, holes, level)),
        ]
    )
    yield done(
        world,
        "survey-for-peter",
        "aoife.brennan",
        "Peter Lowell of Northgate would like to read the files in Survey, that's Project Corbel. Share them one by"
        " one so that Peter can read and no more, skip whatever must not go outside, and tell me what you skipped...",
        (
            "Read labels and roles of the files (LKP-1).",
            "Share the three that are neither shared with Peter yet nor confidential, as reader (SHR-1, SHR-2).",
        ),
        each([look, *[share(world, one, PETER, "reader") for one in (brief, results, holes)]]),
        "Peter Lowell reads the brief, the results and the borehole locations now; the level book was shared with him"
        " before. The invoice check was not shared, because it is confidential.",
        [term("Lowell"), "borehole"],
        undone=["invoice", SECRET],
        evidence=(invoice,),
        mistakes={
            "shares the invoice check": (share(world, invoice, PETER, "reader"),),
            "shares the folder": (share(world, survey, PETER, "reader"),),
        },
    )
    yield done(
        world,
        "hugo-comments-on-boreholes",
        "aoife.brennan",
        "Hugo Leclerc of Ostrasurvey (hugo.leclerc, he has no account with us) has to comment on everything in Survey"
        " (Corbel) that is labelled public or internal. Mona Abbas writes in one of the files: she gets the same role"
        " as Hugo instead, and Hugo gets it there too unless the file has no label."
        " Under the one that is public, put the remark 'Comments by 4 December, please.', and its newest "
        "state is kept forever.",
        (
            "Read labels and roles of the files (LKP-1).",
            "Share the labelled ones with Hugo as commenter (SHR-3) and lower Mona's role (SHR-6).",
            "Comment on the public file and keep its head (ID-4).",
        ),
        each(
            [
                look,
                *[share(world, one, HUGO, "commenter") for one in (brief, results, holes)],
                set_role(level, world.permission(level, MONA), "commenter"),
                revisions_of(holes),
                remark_on(holes, "Comments by 4 December, please."),
                change_revision(world.revisions(holes)[-1], keepForever=True),
            ]
        ),
        "Hugo Leclerc comments on the brief, the results and the borehole locations. Mona Abbas is commenter of the"
        " level book, which has no label and is not shared with Hugo.",
        [term("Leclerc"), term("Abbas"), "borehole"],
        evidence=(invoice, level),
        mistakes={
            "shares the level book": (share(world, level, HUGO, "commenter"),),
            "comments on the brief": (remark_on(brief, "Comments by 4 December, please."),),
        },
    )
    plan = world.file("Tunnels:Project Stollen/Possession plan")
    shifts, agreement, radio, emergency = (
        world.file(f"Tunnels:Project Stollen/Possession plan/{name}")
        for name in ("Night shifts.xlsx", "Track access agreement.pdf", "Radio channels", "Emergency contacts")
    )
    yield done(
        world,
        "possession-plan-by-file",
        "henrik.dahl",
        "Sylvie Ferrand has a role on the whole folder Possession plan (Stollen). Wrong: two of the files must not"
        " leave the house. Take the role on the folder away and give Sylvie the same one on those files that may be"
        " shared."
        " The two that stay in the house are due for review on 7 June 2027, and each gets the remark 'For "
        "colleagues only.'",
        (
            "Read the labels of the files and the role on the folder (LKP-1, SHR-4).",
            "Remove it there and give it on the two internal files (SHR-1, SHR-2).",
            "Label both secret files with the date and comment on them (ID-4).",
        ),
        each(
            [
                named("Possession plan"),
                inside(plan),
                *map(labels_of, (shifts, agreement, radio, emergency)),
                permissions_of(plan),
                unshare(plan, world.permission(plan, SYLVIE)),
                share(world, shifts, SYLVIE, "commenter"),
                share(world, radio, SYLVIE, "commenter"),
                *[set_labels(world, one, review_due="2027-06-07") for one in (agreement, emergency)],
                *[remark_on(one, "For colleagues only.") for one in (agreement, emergency)],
            ]
        ),
        "Sylvie Ferrand has no role on Possession plan any more and is commenter of Night shifts and Radio channels."
        " The track access agreement and the emergency contacts are closed to her.",
        [term("Ferrand"), "shifts", "radio"],
        evidence=(agreement, emergency),
        mistakes={
            "shares the contacts": (share(world, emergency, SYLVIE, "commenter"),),
            "gives more": (share(world, shifts, SYLVIE, "writer"),),
            "comments on the shifts": (remark_on(shifts, "For colleagues only."),),
        },
    )
    yield declined(
        world,
        "agreement-not-for-ito",
        "chiara.conti",
        "Could Jun Ito of Calderrail get the track access agreement in Possession plan, just for reading? He signed"
        " it, after all! If there's a rule against it, don't touch anything and tell me which.",
        (named("Track access agreement"), labels_of(agreement), permissions_of(agreement)),
        "I did not share the track access agreement: it is labelled restricted, and no one outside the company gets a"
        " role on it (SHR-2), and a signature does not change that.",
        ["agreement", SECRET],
        evidence=(agreement,),
        mistakes={
            "shares it": (share(world, agreement, JUN, "reader"),),
            "shares the folder": (share(world, plan, JUN, "reader"),),
        },
    )
    folders = [
        world.file(path)
        for path in (
            "Bridges:Project Halyard/Exchange",
            "Bridges:Project Corbel/Survey",
            "Bridges:Project Lintel/Register",
            "Studio:Press",
        )
    ]
    files = [one for folder in folders for one in world.inside(folder)]
    levels = {one.id: world.labels(one).get("sensitivity") for one in files}
    due = [one for one in files if levels[one.id] in ("internal", "confidential")]
    yield done(
        world,
        "review-dates-of-the-bridges",
        "yusuf.demir",
        "Four folders: Exchange (Halyard), Survey (Corbel), Register (Lintel), Press (Studio). Every file in them"
        " that is labelled internal or confidential gets a date for its review: 1 March 2027 if confidential, 1 June"
        " 2027 if internal. Public ones and those without a level get none. Then the number of files for each of the"
        " two dates.",
        (
            "List the four folders and read the labels of every file (LKP-1).",
            "Set the date on those with one of the two levels, by the level (ID-4).",
        ),
        each(
            [
                *[(named(folder.name), inside(folder)) for folder in folders],
                *map(labels_of, files),
                *[
                    set_labels(
                        world, one, review_due="2027-03-01" if levels[one.id] == "confidential" else "2027-06-01"
                    )
                    for one in due
                ],
            ]
        ),
        f"{sum(levels[one.id] == 'confidential' for one in due)} files are due on 1 March 2027 and"
        f" {sum(levels[one.id] == 'internal' for one in due)} on 1 June 2027.",
        apart(
            (number(sum(levels[one.id] == "confidential" for one in due)), "1 march|march 1|confidential"),
            (number(sum(levels[one.id] == "internal" for one in due)), "1 june|june 1|internal"),
        ),
        evidence=tuple(files),
        mistakes={"dates a public one": (set_labels(world, holes, review_due="2027-06-01"),)},
    )


FAMILIES = (exchange_folder, survey_files)
