"""Which tools a model is shown."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runner.jobs import make_task

from opsgym_api.kinds.evalrun import Mode
from opsgym_api.tasks.task import ToolCall
from opsgym_runner.gyms.catalogue import Catalogue, ServerTools, ToolRef, build_catalogue, names_of


def tool(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "description": f"About {name}.", "inputSchema": {"type": "object"}, **fields}


NAMES = ["add_note", *(f"other_{number:02}" for number in range(30)), "rename_note"]
OFFERS = [ServerTools("notes", [tool(name) for name in NAMES])]


def shown(mode: Mode, **fields: Any) -> Catalogue:
    return build_catalogue(OFFERS, make_task(**fields), mode)


def test_oracle_shows_the_selected_tools_in_the_servers_order() -> None:
    assert shown(Mode.ORACLE, selected_tools=["rename_note", "add_note"]).names == ["add_note", "rename_note"]


def test_no_selection_shows_all_tools() -> None:
    assert shown(Mode.ORACLE, selected_tools=None).names == NAMES
    assert shown(Mode.PLUS_5, selected_tools=[]).names == NAMES


def test_all_tools_shows_every_unrestricted_tool() -> None:
    assert shown(Mode.ALL, restricted_tools=["add_note"]).names == NAMES[1:]


def test_larger_sets_of_distractors_hold_the_smaller_ones() -> None:
    sets = [set(shown(mode).names) for mode in (Mode.ORACLE, Mode.PLUS_5, Mode.PLUS_10, Mode.PLUS_15, Mode.ALL)]

    assert [len(names) for names in sets] == [2, 7, 12, 17, 32]
    assert all(smaller < larger for smaller, larger in itertools.pairwise(sets))


def test_distractors_differ_by_task_and_not_by_run() -> None:
    one, again, other = shown(Mode.PLUS_5), shown(Mode.PLUS_5), shown(Mode.PLUS_5, task_id="another")

    assert one.names == again.names != other.names


def test_a_restricted_tool_is_neither_shown_nor_counted_among_distractors() -> None:
    restricted = [name for name in shown(Mode.PLUS_5).names if name.startswith("other")]

    again = shown(Mode.PLUS_5, restricted_tools=[*restricted, "add_note"])

    assert len(again.names) == 6
    assert not {*restricted, "add_note"} & set(again.names)


MODES = (Mode.ORACLE, Mode.PLUS_5, Mode.PLUS_10, Mode.PLUS_15, Mode.ALL)
SOME_NAMES = st.sets(st.sampled_from(NAMES), min_size=1)


@given(SOME_NAMES, st.sets(st.sampled_from(NAMES)), st.from_regex(r"[a-z0-9_]{1,20}", fullmatch=True))
def test_sets_of_distractors_are_nested_and_of_their_size_whatever_is_selected_and_restricted(
    selected: set[str], restricted: set[str], task_id: str
) -> None:
    row = {"task_id": f"t{task_id}", "selected_tools": sorted(selected), "restricted_tools": sorted(restricted)}
    sets = [set(shown(mode, **row).names) for mode in MODES]

    own, others = selected - restricted, len(set(NAMES) - selected - restricted)
    assert sets[0] == own
    assert sets[-1] == set(NAMES) - restricted
    assert all(smaller <= larger for smaller, larger in itertools.pairwise(sets))
    assert [len(names) - len(own) for names in sets[:4]] == [min(count, others) for count in (0, 5, 10, 15)]


def test_a_mode_with_tools_in_the_row_shows_exactly_those() -> None:
    own = {"plus_5_tools": ["add_note", "other_03", "rename_note"]}

    shown_tools = shown(Mode.PLUS_5, mode_tools=own, restricted_tools=["other_07"])
    assert shown_tools.names == ["add_note", "other_03", "rename_note"]
    assert shown(Mode.PLUS_5, mode_tools=own, restricted_tools=["other_03"]).names == ["add_note", "rename_note"]
    assert shown(Mode.PLUS_5, mode_tools={"plus_5_tools": ["fly"]}).missing == ("fly",)
    assert shown(Mode.PLUS_10, mode_tools=own).names == shown(Mode.PLUS_10).names


def test_the_first_server_that_offers_a_name_gets_its_calls() -> None:
    offers = [
        ServerTools("first", [tool("add_note", description="first")]),
        ServerTools("second", [tool("add_note"), tool("fly")]),
    ]

    catalogue = build_catalogue(offers, make_task(selected_tools=None), Mode.ALL)

    assert catalogue.refs == {"add_note": ToolRef("first", "add_note"), "fly": ToolRef("second", "fly")}
    assert catalogue.tools[0]["function"]["description"] == "first"


# Qualified names

MAIL = ServerTools("gym-email-mcp", [tool("create_label", description="Of mail."), tool("send")], "email")
DRIVE = ServerTools("gym-google-drive-mcp", [tool("create_label", description="Of files."), tool("upload")], "drive")


def qualified(*offers: ServerTools, mode: Mode = Mode.ALL, **fields: Any) -> Catalogue:
    return build_catalogue(offers, make_task(**{"selected_tools": None} | fields), mode, "qualified")


def test_names_that_several_gyms_have_are_qualified_and_others_are_not() -> None:
    catalogue = qualified(MAIL, DRIVE)

    assert catalogue.refs == {
        "email_create_label": ToolRef("gym-email-mcp", "create_label"),
        "send": ToolRef("gym-email-mcp", "send"),
        "drive_create_label": ToolRef("gym-google-drive-mcp", "create_label"),
        "upload": ToolRef("gym-google-drive-mcp", "upload"),
    }
    functions = [tool["function"] for tool in catalogue.tools]
    assert [(function["name"], function["description"]) for function in functions[::2]] == [
        ("email_create_label", "Of mail."),
        ("drive_create_label", "Of files."),
    ]
    assert (catalogue.own_name("email_create_label"), catalogue.own_name("fly")) == ("create_label", "fly")


def test_selecting_or_restricting_a_name_means_the_tools_of_all_gyms() -> None:
    both = ["email_create_label", "drive_create_label"]

    assert qualified(MAIL, DRIVE, mode=Mode.ORACLE, selected_tools=["create_label"]).names == both
    assert qualified(MAIL, DRIVE, restricted_tools=["create_label"]).names == ["send", "upload"]
    assert qualified(MAIL, DRIVE, selected_tools=["create_label"]).missing == ()


def test_without_shared_names_qualified_is_as_published() -> None:
    assert qualified(MAIL) == build_catalogue([MAIL], make_task(selected_tools=None), Mode.ALL)


def test_qualified_names_fit_providers_and_stay_apart() -> None:
    long = "x" * 60
    first, second = (
        ServerTools("a", [tool(long), tool("b_t"), tool("t")], "b"),
        ServerTools("c", [tool(long), tool("t")], "ümlaut"),
    )
    third = ServerTools("d", [tool("t")], "b")

    names = qualified(first, second, third).names

    assert len(set(names)) == 6
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)
    assert names == qualified(first, second, third).names
    assert [name for name in names if name in ("b_t", "_mlaut_t")] == ["b_t", "_mlaut_t"]


def test_qualified_distractors_count_each_tool_and_are_nested() -> None:
    twice = [
        ServerTools("a", [tool(name) for name in NAMES], "a"),
        ServerTools("b", [tool(name) for name in NAMES], "b"),
    ]
    sets = [set(qualified(*twice, mode=mode, selected_tools=["add_note"]).names) for mode in MODES]

    assert [len(names) for names in sets] == [2, 7, 12, 17, 64]
    assert all(smaller < larger for smaller, larger in itertools.pairwise(sets))


def test_selected_tools_that_no_server_offers_are_named_once() -> None:
    assert shown(Mode.ORACLE, selected_tools=["fly", "add_note", "fly"]).missing == ("fly",)


def test_the_digest_changes_with_what_the_model_reads() -> None:
    def digest(**fields: Any) -> str:
        return build_catalogue([ServerTools("g", [tool("add_note", **fields)])], make_task(), Mode.ALL).digest

    assert digest() == digest(annotations={"readOnlyHint": True})
    assert len({digest(), digest(description="Else."), digest(inputSchema={"type": "object", "properties": {}})}) == 3


def test_a_schema_reaches_the_model_unchanged_and_a_missing_one_takes_no_arguments() -> None:
    schema = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "x-extra": 1}
    offers = [ServerTools("g", [tool("add_note", inputSchema=schema), {"name": "rename_note"}])]

    functions = [t["function"] for t in build_catalogue(offers, make_task(), Mode.ORACLE).tools]

    assert functions == [
        {"name": "add_note", "description": "About add_note.", "parameters": schema},
        {"name": "rename_note", "description": "", "parameters": {"type": "object", "properties": {}}},
    ]


@pytest.mark.parametrize("tool_names", ["published", "qualified"])
def test_every_tool_is_shown_under_a_name_that_providers_take(tool_names: Any) -> None:
    names = ["notes/rename.v2", "add note", "add_note", "筆記", "メモ", "t" * 80, "t" * 79, "notes_rename_v2"]
    servers = [ServerTools("notes", [tool(name) for name in names])]

    catalogue = build_catalogue(servers, make_task(selected_tools=names), Mode.ORACLE, tool_names)

    assert len(set(catalogue.names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in catalogue.names)
    assert [ref.name for ref in catalogue.refs.values()] == names
    assert {"add_note", "notes_rename_v2"} <= {shown for shown, ref in catalogue.refs.items() if shown == ref.name}
    assert [catalogue.own_name(shown) for shown in catalogue.names] == names
    for name in names:
        shown = next(
            shown for shown in names_of(ToolCall(name=name, arguments={}), ["notes"]) if shown in catalogue.refs
        )
        assert catalogue.own_name(shown) == name
