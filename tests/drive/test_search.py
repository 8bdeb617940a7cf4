"""Drive's search language: 120 searches and what they find, and texts that are not searches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from tests.drive.conftest import made
from tests.drive.seed import SEED, TEXT, TOKEN, file, insert
from tests.support.gym import Gym, GymDatabase

from opsgym_domains.drive.query import Condition, Joined, Not, parse
from opsgym_domains.drive.search import FILE_TERMS
from opsgym_domains.drive.words import words_of

MORE = insert(
    "permissions",
    {"id": "p-deck-lea", "role": "writer", "type": "user", "file_id": "f-deck", "user_id": "u-lea"},
) + insert(
    "file_labels",
    {"id": "fl-8", "file_id": "f-budget", "label_id": "l-prio", "value_number": 2},
) + insert(
    "file_labels",
    {"id": "fl-9", "file_id": "f-budget", "label_id": "l-note", "value_string": "See the annex"},
)  # fmt: skip
ALL = (
    "plans plan budget notes held kept secret open trash left ben shared out link doc deck clients client lab spare "
    "inner deep rule"
)


def without(names: str) -> str:
    """All files but some, by the end of their ids."""
    return " ".join(name for name in ALL.split() if name not in names.split())


IN_ROOT = "plans held kept secret open trash out link doc spare"
DRIVES = "deck clients client lab rule"
SEARCHES: dict[str, str] = {
    # names: a word that begins with the text, in any case
    "name contains 'plan'": "plans plan link",
    "name contains 'Plan'": "plans plan link",
    "name contains 'PLANS'": "plans",
    "name contains 'lan'": "",
    "name contains 'project pl'": "plan",
    "name contains 'Project  Plan'": "plan",
    "name contains 'Plan Project'": "",
    "name contains 'notes'": "notes trash",
    "name contains 'Meeting Notes'": "notes",
    "name contains 'meeting_no'": "notes",
    "name contains '.pdf'": "held kept open",
    "name contains 'docx'": "plan left",
    "name contains '2026'": "budget",
    "name contains '20'": "budget kept",
    "name contains ''": ALL,
    "name contains 'Ben\\'s'": "ben",
    "name contains '%'": ALL,
    "name contains 'no such name'": "",
    "name = 'Plans'": "plans",
    "name = 'plans'": "",
    "name = 'Ben\\'s diary.txt'": "ben",
    "name = 'Plan'": "",
    "name != 'Plans'": without("plans"),
    "not name = 'Plans'": without("plans"),
    # types
    "mimeType = 'application/pdf'": "held kept open",
    "mimeType='application/pdf'": "held kept open",
    "mimeType != 'application/pdf'": without("held kept open"),
    "mimeType contains 'text/'": "notes trash ben client lab deep rule",
    "mimeType contains 'google-apps'": "plans budget shared out link doc deck clients spare inner",
    "mimeType = 'application/vnd.google-apps.folder'": "plans out clients spare inner",
    "mimeType = 'application/vnd.google-apps.shortcut'": "link",
    "shortcutDetails.targetId = 'f-plan'": "link",
    "shortcutDetails.targetId != 'f-plan'": without("link"),
    "not shortcutDetails.targetId = 'f-plan'": without("link"),
    # texts: whole words of name, description and content
    "fullText contains 'harbour'": "plan",
    "fullText contains 'harb'": "",
    "fullText contains 'milestone'": "plan",
    "fullText contains 'milestones'": "plan",
    "fullText contains 'user guide'": "plan",
    "fullText contains 'guide user'": "plan",
    "fullText contains '\"user guide\"'": "plan",
    "fullText contains '\"guide user\"'": "",
    "fullText contains 'budget'": "plan budget",
    "fullText contains 'first'": "doc",
    "fullText contains 'FIRST TRY'": "doc",
    "fullText contains 'budget alpha'": "plan",
    "fullText contains 'diary'": "ben",
    # times
    "modifiedTime > '2026-04-01T00:00:00Z'": "deck clients client lab spare inner deep rule",
    "modifiedTime > '2026-04-01T09:00:00'": "clients client lab spare inner deep rule",
    "modifiedTime >= '2026-04-01T09:00:00'": "deck clients client lab spare inner deep rule",
    "modifiedTime = '2026-04-01T09:00:00'": "deck",
    "modifiedTime = '2026-04-01T11:00:00+02:00'": "deck",
    "modifiedTime != '2026-04-01T09:00:00'": without("deck"),
    "modifiedTime < '2026-03-01'": "plans",
    "modifiedTime <= '2026-03-01T09:00:00.000Z'": "plans plan",
    "modifiedTime <= '2026-03-01t09:00:00.000z'": "plans plan",
    "createdTime < '2026-03-01T08:00:00Z'": "plans",
    "createdTime <= '2026-03-01T08:00:00Z'": "plans plan",
    "viewedByMeTime > '2026-01-01'": "budget",
    "viewedByMeTime < '2026-01-01'": "",
    "not viewedByMeTime > '2026-01-01'": without("budget"),
    "modifiedTime > '2026-03-01' and modifiedTime < '2026-03-03'": "plan budget",
    # flags
    "starred = true": "budget",
    "starred = false": without("budget"),
    "starred != true": without("budget"),
    "starred": "budget",
    "not starred": without("budget"),
    "trashed = true": "trash",
    "trashed=false": without("trash"),
    "trashed != false": "trash",
    "trashed": "trash",
    "starred = 'true'": "budget",
    # folders
    "'f-plans' in parents": "plan budget notes",
    "'f-clients' in parents": "client",
    "'f-spare' in parents": "inner",
    "'root' in parents": IN_ROOT,
    "'d-sales' in parents": "deck clients",
    "'d-lab' in parents": "lab",
    "'f-none' in parents": "",
    "not 'f-plans' in parents": without("plan budget notes"),
    "'f-plans' in parents and mimeType contains 'text'": "notes",
    # people
    "'me' in owners": without("left ben shared " + DRIVES),
    "'ann@acme.test' in owners": without("left ben shared " + DRIVES),
    "'BEN@acme.test' in owners": "ben shared",
    "'zoe@other.test' in owners": "",
    "'cleo@acme.test' in owners": "left",
    "'cleo@acme.test' in writers": "left",
    "'cleo@acme.test' in readers": "left",
    "'ben@acme.test' in writers": "ben shared deck clients client",
    "'ben@acme.test' in readers": "plans plan budget notes ben shared deck clients client",
    "'lea@acme.test' in writers": "deck",
    "'zoe@other.test' in readers": "out",
    "'team@acme.test' in writers": "doc",
    "'dana@acme.test' in writers": "lab",
    "'me' in writers": without("ben"),
    "'me' in readers": without("ben"),
    "sharedWithMe": "left shared doc",
    "sharedWithMe = true": "left shared doc",
    "sharedWithMe = false": without("left shared doc"),
    "sharedWithMe and name contains 'road'": "shared",
    "not sharedWithMe and 'ben@acme.test' in owners": "ben",
    # properties, labels, visibility
    "properties has { key='phase' and value='two' }": "plan",
    "properties has {key = 'team' and value = 'harbour'}": "plan",
    "properties has { key='phase' and value='one' }": "",
    "appProperties has { key='team' and value='harbour' }": "",
    "not properties has { key='phase' and value='two' }": without("plan"),
    "'labels/l-sens' in labels": "plan secret doc",
    "'l-hold' in labels": "held",
    "labels/l-sens.sensitivity = 'internal'": "plan doc",
    "labels/sensitivity.l-sens='confidential'": "secret",
    "labels/l-sens.sensitivity != 'internal'": without("plan doc"),
    "labels/l-sens.sensitivity IS NOT NULL": "plan secret doc",
    "labels/l-sens.sensitivity is null": without("plan secret doc"),
    "labels/l-hold.legal_hold = true": "held",
    "labels/l-hold.legal_hold != true": without("held"),
    "labels/l-keep.retention_until < '2030-01-02'": "kept",
    "labels/l-keep.retention_until > '2030-01-01'": "",
    "labels/l-prio.priority >= 2": "budget",
    "labels/l-prio.priority < 2.5": "budget",
    "labels/l-prio.priority > -1": "budget",
    "labels/l-prio.value IS NULL": without("budget"),
    "labels/l-note.note = 'See the annex'": "budget",
    "labels/l-note.note STARTS WITH 'see THE'": "budget",
    "labels/l-note.note STARTS WITH 'annex'": "",
    "labels/l-note.note contains 'annex'": "budget",
    "not labels/l-note.note IS NOT NULL and starred": "",
    "visibility = 'anyoneCanFind'": "open",
    "visibility = 'anyoneWithLink'": "",
    "visibility = 'domainWithLink'": "spare inner deep lab",
    "visibility = 'domainCanFind'": "",
    "visibility = 'limited'": without("open spare inner deep lab"),
    "visibility != 'limited'": "open spare inner deep lab",
    # joined: from left to right, not binds tighter, brackets first
    "starred = true or trashed = true": "budget trash",
    "starred = true and trashed = true": "",
    "starred = true or trashed = true and name contains 'notes'": "trash",
    "starred = true or (trashed = true and name contains 'notes')": "budget trash",
    "name contains 'notes' and trashed = true or starred = true": "budget trash",
    "not (starred = true or trashed = true) and mimeType contains 'text'": "notes ben client lab deep rule",
    "not not starred": "budget",
    "((name = 'Plans'))": "plans",
    "starred = false and trashed = false and 'f-plans' in parents": "plan notes",
    "name contains 'sales' or name contains 'clients'": "deck clients",
    "createdTime > '2026-04-06T07:00:00-01:00'": "deep rule",
    "  name   =   'Plans'  AND NOT trashed = true ": "plans",
}


@pytest.fixture(scope="module")
def drive(gym_servers: Callable[[str], Gym]) -> Iterator[GymDatabase]:
    """Files of Ann and others, in access published."""
    gym = gym_servers("drive")
    database = gym.database(SEED + MORE, **{"x-gdrive-user-token": TOKEN})
    yield database
    gym.drop(database)


def searched(database: GymDatabase, q: str, **arguments: object) -> list[str]:
    """Ends of the ids of the files that a search finds, or the refusal."""
    outcome = database.call("list_files", q=q, corpora="allDrives", pageSize=1000, **arguments)
    return [outcome.text] if outcome.is_error else [one["id"].removeprefix("f-") for one in outcome.data["files"]]


def test_a_search_finds_the_files_that_meet_it(drive: GymDatabase) -> None:
    assert len(SEARCHES) >= 120
    problems = {
        q: sorted(ids) for q, names in SEARCHES.items() if sorted(ids := searched(drive, q)) != sorted(names.split())
    }
    assert problems == {}


INVALID = {
    "name": "character 5: name has no operator",
    "name contains": "character 14",
    "name contains plan": "character 15: the value of name needs single quotes",
    "name contains 'plan": "is not a term, an operator or a quoted text",
    'name = "Plans"': "is not a term, an operator or a quoted text",
    "title = 'Plans'": "'title' is not a term; terms: name",
    "name > 'a'": "name has no operator '>'; operators: contains, =, !=",
    "fullText = 'a'": "operators: contains",
    "starred = 'yes'": "starred is true or false",
    "modifiedTime > 'yesterday'": "'yesterday' is not a time",
    "modifiedTime contains '2026'": "modifiedTime has no operator",
    "parents in 'f-plans'": "write 'value' in parents",
    "parents = 'f-plans'": "write 'value' in parents",
    "'f-plans' in name": "name has no operator",
    "'f-plans'": "needs in after it",
    "(name = 'a'": "expected a closing bracket",
    "name = 'a')": "expected and, or, or the end",
    "name = 'a' name = 'b'": "expected and, or, or the end",
    "name = 'a' and": "is not a term",
    "and name = 'a'": "'and' is not a term",
    "properties has 'a'": "expected {",
    "properties has { key='a' }": "expected and",
    "properties = 'a'": "operators: has",
    "visibility = 'hidden'": "visibility is one of anyoneCanFind",
    "labels/l-none.none = 'a'": "'labels/l-none.none' is not a term",
    "labels/l-sens.level = 'internal'": "'labels/l-sens.level' is not a term",
    "labels/l-sens.sensitivity = 'secret'": "is one of public, internal",
    "labels/l-sens.sensitivity < 'internal'": "operators: =, !=, is null, is not null",
    "labels/l-sens.sensitivity is 'internal'": "has no operator 'is'",
    "labels/l-note.note != 'a'": "operators: contains, starts with, =",
    "labels/l-keep.retention_until < 'soon'": "'soon' is not a date",
    "labels/l-prio.priority = 'high'": "is a number, not 'high'",
    "name is null": "name has no operator 'is'",
    "name starts with 'a'": "name has no operator 'starts'",
    "name = 'a'; DROP TABLE files": "is not a term, an operator or a quoted text",
    "not " * 40 + "starred": "within each other",
    " or ".join(["starred"] * 101): "more than 100 conditions",
}


def test_a_text_that_is_no_search_is_refused_with_the_place_of_the_fault(drive: GymDatabase) -> None:
    problems = {}
    for q, says in INVALID.items():
        outcome = drive.call("list_files", q=q)
        if not outcome.is_error or outcome.codes != ["INVALID_QUERY"] or says not in outcome.text:
            problems[q[:60]] = outcome.text[:300]
    assert problems == {}


def test_and_and_or_are_read_from_left_to_right() -> None:
    starred, trashed = Condition("starred", "=", True), Condition("trashed", "=", True)
    tree = parse("starred or trashed and not starred", FILE_TERMS)
    assert tree == Joined("and", Joined("or", starred, trashed), Not(starred))


def test_lists_are_sorted_by_their_keys(drive: GymDatabase) -> None:
    q = "'f-plans' in parents"
    assert searched(drive, q) == ["notes", "budget", "plan"]
    assert searched(drive, q, orderBy="name") == ["budget", "notes", "plan"]
    assert searched(drive, q, orderBy="name desc") == ["plan", "notes", "budget"]
    assert searched(drive, q, orderBy="starred,name") == ["budget", "notes", "plan"]
    assert searched(drive, "name contains 'plan'", orderBy="folder,name") == ["plans", "link", "plan"]
    assert drive.call("list_files", orderBy="size").codes == ["INVALID_ORDER"]


def test_a_search_sees_neither_case_nor_accents_in_any_alphabet(gym_servers: Callable[[str], Gym]) -> None:
    names = ("Übersicht", "Café menu", "АФИНЫ план", "ＦＵＬＬ width", "“Quoted” – dash")
    rows = insert("files", *(file(f"f-{number}", name, TEXT, "06-01") for number, name in enumerate(names)))
    with made(gym_servers("drive"), "published", rows) as database:
        searches = {"name contains 'UBER'": ["0"], "name contains 'cafe M'": ["1"], "fullText contains 'афины'": ["2"],
                    "name contains 'full'": ["3"], "name contains 'quoted dash'": ["4"]}  # fmt: skip
        assert {q: searched(database, q) for q in searches} == searches


def test_postgres_and_the_search_find_the_same_words_in_a_text(drive: GymDatabase) -> None:
    everything = " x".join(chr(one) for one in range(32, 0x600))
    texts = (
        "",
        "  ",
        "Project_Plan.docx",
        "İSTANBUL",
        "\x85a\x1fb\u1680c",
        "'\\\"; --",
        everything,
        "日本語 ノート",
        "😀 ok",
    )
    problems = []
    for text in texts:
        query = "SELECT drive_words('{}') AS words".format(text.replace("'", "''"))
        body = {"query": query, "dialect": "postgres"}
        answer = drive.client.post("/api/sql-runner", json=body, headers={"x-database-id": drive.id})
        if answer.json()["data"] != [{"words": f" {' '.join(words_of(text))} "}]:
            problems.append((text[:40], answer.text[:200]))
    assert problems == []


def test_words_that_are_too_long_for_the_index_are_compared_in_full(gym_servers: Callable[[str], Gym]) -> None:
    rows = insert("files", file("f-a", "w" * 600 + "a", TEXT, "06-01"), file("f-b", "w" * 3000 + "é", TEXT, "06-01"))
    with made(gym_servers("drive"), "published", rows) as database:
        assert searched(database, f"name contains '{'w' * 600}'", orderBy="name") == ["a", "b"]
        assert searched(database, f"name contains '{'w' * 600}A'") == ["a"]
        assert searched(database, f"fullText contains '{'w' * 3000}e'") == ["b"]


def test_numbers_in_names_and_times_that_are_missing_have_their_place(gym_servers: Callable[[str], Gym]) -> None:
    names = ("Part 10", "Part 9", "Part 9b", "part 100000000000000000001", "Part 2")
    rows = insert("files", *(file(f"f-{number}", name, TEXT, "06-01") for number, name in enumerate(names)))
    with made(gym_servers("drive"), "published", rows) as database:
        parts, all_files = "name contains 'part' and mimeType = 'text/plain'", "starred or name = 'Plans'"
        assert searched(database, parts, orderBy="name_natural") == ["4", "1", "2", "0", "3"]
        assert searched(database, all_files, orderBy="viewedByMeTime desc") == ["budget", "plans"]
        assert searched(database, all_files, orderBy="viewedByMeTime") == ["plans", "budget"]
        for key in ("createdTime", "modifiedByMeTime", "quotaBytesUsed", "recency", "sharedWithMeTime"):
            assert len(searched(database, all_files, orderBy=f"{key},folder desc")) == 2, key


def test_pages_follow_each_other_until_the_last(drive: GymDatabase) -> None:
    first = drive.call("list_files", corpora="allDrives", pageSize=20).data
    second = drive.call("list_files", corpora="allDrives", pageSize=20, pageToken=first["nextPageToken"]).data
    assert len(first["files"]) == 20
    assert len({one["id"] for one in first["files"] + second["files"]}) == len(ALL.split())
    assert "nextPageToken" not in second
    assert drive.call("list_files", pageToken="next").codes == ["INVALID_PAGE_TOKEN"]


def test_items_of_shared_drives_are_listed_only_where_they_are_asked_for(drive: GymDatabase) -> None:
    def listed(**arguments: object) -> set[str]:
        return {one["id"].removeprefix("f-") for one in drive.call("list_files", **arguments).data["files"]}

    everything = set(ALL.split())
    assert listed() == everything - set(DRIVES.split())
    assert listed(includeItemsFromAllDrives=True) == everything
    assert listed(driveId="d-sales") == {"deck", "clients", "client"}
    assert listed(corpora="drive", driveId="d-lab") == {"lab"}
    assert listed(corpora="domain") == {"open"}
    assert drive.call("list_files", corpora="drive").codes == ["DRIVE_ID_REQUIRED"]
    assert drive.call("list_files", corpora="everything").codes == ["INVALID_CORPORA"]


def test_shared_drives_are_searched_by_name_time_and_members(drive: GymDatabase) -> None:
    searches = {
        "name contains 'shelf'": ["d-empty", "d-none"],
        "hidden = true": ["d-empty"],
        "memberCount > 1": ["d-sales", "d-lab"],
        "organizerCount >= 2": ["d-lab"],
        "createdTime > '2027-01-01T00:00:00'": [],
        "name = 'Club' or hidden": ["d-club", "d-empty"],
        "orgUnitId = 'north'": [],
        "orgUnitId != 'north' and name contains 'shelf'": ["d-empty", "d-none"],
    }
    answers = {q: [one["id"] for one in drive.call("list_drives", q=q).data["drives"]] for q in searches}
    assert answers == searches
    assert drive.call("list_drives", q="starred").codes == ["INVALID_QUERY"]


def test_the_results_of_a_search_are_json_as_the_api_has_it(drive: GymDatabase) -> None:
    (plan,) = drive.call("list_files", q="name = 'Project Plan.docx'", includeItemsFromAllDrives=True).data["files"]
    assert json.dumps(plan["owners"][0]["emailAddress"]) == '"ann@acme.test"'
    assert plan["properties"] == {"phase": "two", "team": "harbour"}
    assert (plan["parents"], plan["size"], plan["modifiedTime"]) == (["f-plans"], "1000", "2026-03-01T09:00:00.000Z")
