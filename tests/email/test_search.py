"""Searches of a mailbox in Gmail's search language, each with the messages that it must show.

Sources: "Refine searches in Gmail" (support.google.com/mail/answer/7190) and "Searching for messages" of the Gmail API.
Where these leave something open, docs/fidelity-unknown.md states the choice.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.email.search_mailbox import SEARCH_SEED
from tests.email.seed import HEADERS, NOW
from tests.support.gym import Gym, GymDatabase

from opsgym_domains.email.query import All, Any, Near, Not, Operator, Text, parse

VISIBLE = "budget answer lunch draft merger news invoice paris osaka party social sale dinner movie"
"""Messages that are neither in spam nor in trash."""
INBOX = "budget lunch news invoice paris osaka social sale dinner movie"


def but(*keys: str) -> str:
    """All visible messages except some."""
    return " ".join(key for key in VISIBLE.split() if key not in keys)


SEARCHES = (
    # --- words: every word must be in a header or in the text, in any case
    ("budget", "budget answer", "a word of subject or text"),
    ("BUDGET", "budget answer", "case does not count"),
    ("budg", "", "a part of a word is not the word"),
    ("budget friday", "budget", "all words"),
    ("friday budget", "budget", "in any order"),
    ("budget nonsense", "", "a word that is missing"),
    ("noon", "lunch", "a word of the text alone"),
    ("ben", "budget answer lunch merger social", "words of From, To and Subject; Bcc is searched by bcc:"),
    ("north.test", but("news"), "a domain is a phrase of its words"),
    ("ben@north.test", "budget answer lunch merger", "an address"),
    ("4711", "invoice", "a number"),
    ("1,250.00", "invoice", "a number with separators"),
    ("50%", "sale", "signs do not count"),
    ("", VISIBLE, "no search: all but spam and trash"),
    ("+budget", "budget answer", "plus: this word exactly"),
    ("prize", "", "messages in spam are left out"),
    ("date", "", "messages in trash are left out"),
    ("re", "answer", "a word of two letters"),
    # --- phrases
    ('"due on friday"', "budget", "words in this order"),
    ('"friday on due"', "", "another order"),
    ('"dinner and movie tonight"', "dinner", "the phrase of Gmail's help"),
    ('"budget 2026"', "budget answer", "a phrase of the subject"),
    ('"lunch at noon" menu', "lunch", "a phrase and a word"),
    ('"budget', "budget answer", "an open quotation mark ends with the text"),
    ('""', VISIBLE, "an empty phrase is ignored"),
    ('"2026 the budget"', "", "a phrase does not span headers and text"),
    # --- from, to, cc, bcc
    ("from:ben", "budget merger", "a part of the address that is a word"),
    ("from:ben@north.test", "budget merger", "the address"),
    ("from:cole", "budget", "the name"),
    ('from:"ben cole"', "budget", "the name as a phrase"),
    ("from:(ben cole)", "budget", "all words in brackets"),
    ("FROM:Ben", "budget merger", "operators in any case"),
    ("from: ben", "budget merger", "a space after the colon"),
    ("from:north.test", "budget answer draft merger party", "the domain of the sender"),
    ("from:me", "answer draft party", "me is the owner of the mailbox"),
    ("to:ben", "answer lunch party", "recipients in To, Cc and Bcc"),
    ("to:me", but("answer", "draft", "news", "party"), "me as recipient"),
    ("to:members@list.test", "news", "an address of a list"),
    ("to:dan@else.test", "lunch", "a recipient in Cc"),
    ("cc:dan", "lunch", "Cc"),
    ("cc:ben", "", "a recipient in To is not in Cc"),
    ("bcc:ben", "party", "Bcc"),
    ("bcc:eve", "", "a recipient in To is not in Bcc"),
    ("from:nobody", "", "no such sender"),
    ("from:dan to:ann", "dinner movie", "two operators"),
    ("from:spam.test", "", "a sender in spam"),
    ("from:émile", "paris", "a name with an accent"),
    ("from:emile", "paris", "the same without the accent"),
    # --- subject
    ("subject:budget", "budget answer", "a word of the subject"),
    ("subject:friday", "", "a word of the text"),
    ("subject:(wants connect)", "social", "several words of the subject"),
    ('subject:"wants to connect"', "social", "a phrase of the subject"),
    ("subject:{lunch movie}", "lunch movie", "one of several words"),
    ("subject:(lunch OR movie)", "lunch movie", "OR in the value"),
    ("subject:confidential", "merger", "brackets in a subject do not count"),
    ("subject:budget from:me", "answer", "with a sender"),
    ("subject:movie tickets", "", "the operator is of the first word alone: no subject has movie and a text tickets"),
    # --- label
    ("label:home", "merger", "a label of the user's"),
    ("label:Home", "merger", "in any case"),
    ("label:work-plans", "budget", "a slash as a hyphen"),
    ("label:work/plans", "budget", "a slash"),
    ('label:"to do"', "merger", "a name with a space"),
    ("label:to-do", "merger", "a space as a hyphen"),
    ("label:work", "", "the parent label is another label"),
    ("label:inbox", INBOX, "a system label"),
    ("label:unread", "budget invoice sale", "a system label that is a state"),
    ("label:important", "budget", "important"),
    ("label:spam", "spam", "naming spam shows it"),
    ("label:none", "", "no such label"),
    ("-label:inbox", "answer draft merger party", "without a label"),
    ("label:home label:to-do", "merger", "both labels"),
    # --- in, is
    ("in:inbox", INBOX, "the inbox"),
    ("in:sent", "answer party", "sent messages"),
    ("in:drafts", "draft", "drafts"),
    ("in:draft", "draft", "drafts, in the singular"),
    ("in:spam", "spam", "spam"),
    ("in:trash", "trash", "trash"),
    ("in:bin", "trash", "trash by its other name"),
    ("in:anywhere", f"{VISIBLE} spam trash", "everything"),
    ("in:archive", "merger", "neither in inbox nor sent nor a draft"),
    ("in:home", "merger", "a label as a place"),
    ("in:nowhere", "", "no such place"),
    ("in:anywhere prize", "spam", "everything with a word"),
    ("in:trash old", "trash", "a word in the trash"),
    ("-in:inbox", "answer draft merger party", "not in a place; that does not show spam and trash"),
    ("-in:spam", VISIBLE, "without spam: trash is left out all the same"),
    ("{in:trash in:sent}", "trash answer party", "trash or sent, and no spam"),
    ("is:unread", "budget invoice sale", "unread"),
    ("is:read", but("budget", "invoice", "sale"), "read"),
    ("is:starred", "lunch", "starred"),
    ("is:important", "budget", "important"),
    ("is:sent", "answer party", "sent"),
    ("is:purple", "", "no such state"),
    ("is:unread -is:important", "invoice sale", "unread and not important"),
    # --- has, filename, size
    ("has:attachment", "lunch invoice", "with a file"),
    ("-has:attachment", but("lunch", "invoice"), "without a file"),
    ("has:userlabels", "budget merger", "with a label of the user's"),
    ("has:nouserlabels", but("budget", "merger"), "without one"),
    ("has:yellow-star", "lunch", "with a star"),
    ("has:wings", "", "no such property"),
    ("filename:pdf", "lunch invoice", "the type of a file, in any case"),
    ("filename:menu.pdf", "lunch", "the name of a file"),
    ("filename:docx", "invoice", "the second file"),
    ("filename:xlsx", "", "no such file"),
    ("filename:(menu.pdf OR terms.docx)", "lunch invoice", "one of two names"),
    ("larger:10M", "invoice", "larger than 10 MB"),
    ("larger:1M", "lunch invoice", "larger than 1 MB"),
    ("smaller:1K", but("lunch", "invoice"), "smaller than 1 KB"),
    ("size:2000000", "lunch invoice", "at least so many bytes"),
    ("larger:2000000", "invoice", "more than so many bytes"),
    ("larger:1M smaller:10M", "lunch", "between two sizes"),
    ("larger:much", "", "no size"),
    # --- category
    ("category:promotions", "sale", "promotions"),
    ("category:social", "social", "social"),
    ("category:updates", "invoice", "updates"),
    ("category:forums", "news", "forums"),
    ("category:primary", "", "no message has the label of the primary category"),
    ("category:{social promotions}", "social sale", "one of two categories"),
    # --- dates: days of UTC; the clock stands at 2 March 2026, 12:00
    ("after:2026/03/01", "news sale dinner", "from the beginning of a day on"),
    ("after:2026/3/1", "news sale dinner", "without zeros"),
    ("after:2026-03-01", "news sale dinner", "with hyphens"),
    ("after:03/01/2026", "news sale dinner", "month, day, year"),
    ("newer:2026/03/01", "news sale dinner", "newer is after"),
    ("before:2025/12/25", "merger social movie", "up to the end of the day before"),
    ("before:2025/12/24", "social movie", "a message of the day itself is not before it"),
    ("older:2025/12/25", "merger social movie", "older is before"),
    ("after:2026/02/09 before:2026/02/10", "paris", "a day"),
    ("after:2026/02/10 before:2026/02/11", "invoice", "midnight is the first instant of a day"),
    ("after:1770681600", "invoice budget answer lunch draft news osaka party sale dinner", "seconds since 1970"),
    ("before:1770681600", "merger paris social movie", "before an exact instant, in any time zone"),
    ("after:1770678000 before:1770681600", "paris", "10 February in Berlin begins an hour before that of UTC"),
    ("after:2024/02/29 before:2024/03/01", "movie", "a leap day"),
    ("after:2026/02/30", "", "no date"),
    ("after:yesterday", "", "no date either"),
    ("newer_than:1d", "sale dinner", "less than 24 hours old"),
    ("newer_than:2d", "news party sale dinner", "days"),
    ("newer_than:1w", "budget answer draft news party sale dinner", "7 days"),
    ("in:spam newer_than:1w", "spam", "a week is not its 5 working days"),
    ("newer_than:1m", "budget answer lunch draft news invoice paris osaka party sale dinner", "30 days"),
    ("older_than:1y", "social movie", "365 days"),
    ("older_than:2m", "merger social movie", "60 days"),
    ("older_than:10d newer_than:20d", "osaka", "from noon on 10 February to noon on 20 February"),
    ("older_than:soon", "", "no age"),
    # --- list, delivered to, message id
    ("list:news.list.test", "news", "a mailing list"),
    ("list:week", "news", "a word of the list's name"),
    ("deliveredto:ann+news@north.test", "news", "the address of delivery"),
    ("rfc822msgid:b1@mail.test", "budget", "a Message-ID"),
    ("rfc822msgid:<b2@mail.test>", "answer", "with its brackets"),
    ("rfc822msgid:b9@mail.test", "", "no such Message-ID"),
    # --- OR, braces, minus, parentheses
    ("lunch OR budget", "lunch budget answer", "OR"),
    ("lunch or budget", "", "small letters make a word"),
    ("from:dan OR from:cat", "dinner movie lunch", "OR of operators"),
    ("{from:dan from:cat}", "dinner movie lunch", "braces"),
    ("dinner -movie", "", "both words are in all of these"),
    ("movie -tickets", "dinner movie", "without a word"),
    ("dinner from:dan OR from:store.test", "dinner movie sale", "OR binds tighter than side by side"),
    ("(dinner from:dan) OR lunch", "dinner movie lunch", "a group in OR"),
    ("-(from:dan OR from:cat) in:inbox", "budget news invoice paris osaka social sale", "a group is left out"),
    ("-{from:dan from:cat} in:inbox", "budget news invoice paris osaka social sale", "braces are left out"),
    ("lunch OR movie OR noon", "lunch dinner movie sale", "several OR"),
    ("from:dan AND subject:movie", "movie", "AND is what side by side is"),
    ("-from:me", but("answer", "draft", "party"), "not from the owner"),
    ('-"budget 2026"', but("budget", "answer"), "without a phrase"),
    ("--budget", "budget answer", "twice not"),
    # --- AROUND
    ("holiday AROUND 10 vacation", "news", "words near each other"),
    ("vacation AROUND 10 holiday", "news", "in any order"),
    ("holiday AROUND 3 vacation", "", "too far apart"),
    ('"secret AROUND 25 birthday"', "party", "in quotation marks in this order"),
    ('"birthday AROUND 25 secret"', "", "in the other order"),
    ("holiday AROUND vacation", "", "without a number AROUND is a word"),
    # --- letters beyond ASCII
    ("réunion", "paris", "accents"),
    ("REUNION", "paris", "without accents and in capitals"),
    ("ärger", "paris", "another case of a letter beyond ASCII"),
    ("köln", "paris", "an umlaut"),
    ("rien", "paris", "quotation marks of another language"),
    ("café", "paris", "the subject"),
    ("議事録", "osaka", "Japanese, by whole runs of characters"),
    ("東京", "osaka", "after a full-width comma"),
    # --- what is not search language
    (":", VISIBLE, "a sign alone is ignored"),
    ("-", VISIBLE, "a minus alone"),
    ("OR", VISIBLE, "OR alone"),
    ("budget OR", "budget answer", "OR at the end"),
    ("OR budget", "budget answer", "OR at the beginning"),
    ("()", VISIBLE, "empty brackets"),
    ("(budget", "budget answer", "a bracket that stays open"),
    ("budget)", "budget answer", "a bracket that was never opened"),
    ("{budget lunch", "budget answer lunch", "an open brace"),
    ("from:", VISIBLE, "an operator without a value"),
    ("nonsense:budget", "", "no operator: the words nonsense and budget side by side"),
    ("12:30", "", "a time of day is words"),
    ("http://store.test/x", "", "an address of the web is words"),
    ("budget \\ friday", "budget", "a backslash is a sign"),
    ("budget & friday | !", "budget", "operators of Postgres are signs, and | is OR"),
    ("budget:*", "budget answer", "a wildcard is a sign"),
    ("%budget_", "budget answer", "so are wildcards of SQL"),
    ("budget'; DROP TABLE messages; --", "", "and quotation marks of SQL"),
)


@pytest.fixture(scope="module")
def mailbox(email: Gym) -> Iterator[GymDatabase]:
    database = email.database(SEARCH_SEED, **HEADERS)
    database.set_clock(NOW)
    yield database
    email.drop(database)


def shown(database: GymDatabase, tool: str, **arguments: object) -> list[str]:
    key = "messages" if tool == "list_messages" else "threads"
    return [one["id"] for one in database.call(tool, userId="me", **arguments).data.get(key, [])]


def test_each_search_shows_the_messages_that_gmail_documents(mailbox: GymDatabase) -> None:
    assert len(SEARCHES) >= 150
    assert len({search for search, _, _ in SEARCHES}) == len(SEARCHES)
    differing = [
        f"{search!r} ({why}): {sorted(got)} instead of {sorted(expected.split())}"
        for search, expected, why in SEARCHES
        if sorted(got := shown(mailbox, "list_messages", q=search)) != sorted(expected.split())
    ]
    assert differing == []


def test_threads_are_those_of_the_messages_that_a_search_shows(mailbox: GymDatabase) -> None:
    searches = [search for search, _, _ in SEARCHES][::10]
    assert [
        search
        for search in searches
        if shown(mailbox, "list_threads", q=search) != [f"t-{key}" for key in shown(mailbox, "list_messages", q=search)]
    ] == []


def test_results_begin_with_the_newest_message(mailbox: GymDatabase) -> None:
    assert shown(mailbox, "list_messages", q="in:inbox")[:4] == ["sale", "dinner", "news", "budget"]


def test_spam_and_trash_are_shown_on_request(mailbox: GymDatabase) -> None:
    everything = {*VISIBLE.split(), "spam", "trash"}
    assert set(shown(mailbox, "list_messages", includeSpamTrash=True)) == everything
    assert shown(mailbox, "list_messages", labelIds=["TRASH"]) == ["trash"]
    assert shown(mailbox, "list_messages", labelIds=["INBOX", "UNREAD"], q="-from:ben") == ["sale", "invoice"]


def test_pages_contain_each_message_once(mailbox: GymDatabase) -> None:
    keys: list[str] = []
    token = None
    while token is not None or not keys:
        page = mailbox.call("list_messages", userId="me", maxResults=5, **({"pageToken": token} if token else {})).data
        keys += [message["id"] for message in page["messages"]]
        assert page["resultSizeEstimate"] == len(VISIBLE.split())
        token = page.get("nextPageToken")
    assert sorted(keys) == sorted(VISIBLE.split())


def test_a_page_after_the_last_is_empty_and_a_made_up_token_refused(mailbox: GymDatabase) -> None:
    beyond = mailbox.call("list_messages", userId="me", pageToken="OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk=").data
    assert beyond == {"resultSizeEstimate": len(VISIBLE.split())}
    assert mailbox.call("list_messages", userId="me", pageToken="next").code == "INVALID_PAGE_TOKEN"


def test_a_search_that_is_too_long_is_refused(mailbox: GymDatabase) -> None:
    assert mailbox.call("list_messages", userId="me", q="x" * 2001).code == "QUERY_TOO_LONG"
    assert shown(mailbox, "list_messages", q="(" * 1999 + "x") == []
    for text in ("-" * 1999 + "x", "from:" * 399 + "x", "{" * 1999, "a AROUND 50 b " * 140, "x OR " * 390):
        assert not mailbox.call("list_messages", userId="me", q=text).is_error, text


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a b OR c", All((Text("a"), Any((Text("b"), Text("c")))))),
        ("-from:a", Not(Operator("from", "a"))),
        ("from:(a OR -b)", Any((Operator("from", "a"), Not(Operator("from", "b"))))),
        ('"a AROUND 3 b"', Near("a", "b", 3, is_ordered=True)),
        ("a AROUND 999 b", Near("a", "b", 50)),
        ("x:y", Text("x:y")),
        ("", All(())),
    ],
)
def test_a_search_is_read_as_a_tree(text: str, tree: object) -> None:
    assert parse(text) == tree
