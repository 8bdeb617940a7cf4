"""The page as a person uses it, in a real browser on a real server."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from tests.explore.visitor import Visitor, require_first_seed_shown, visiting
from tests.support.gym import Gym
from tests.support.sight import faults_seen

from opsgym.taskbuild.files import task_files
from opsgym_api.tasks.task import ToolCall
from opsgym_api.tasks.verifiers import Comparison, Verifier
from opsgym_domains import registry
from opsgym_runner.verification.comparison import holds
from opsgym_runner.verification.verifiers import value_of

VIEWS = [
    ("tables",),
    ("tables", "incident"),
    ("tools",),
    ("tools", "create_incident"),
    ("tools", "get_incidents_by_priority"),
    ("policy",),
    ("sql",),
    ("clock",),
    ("record",),
]
POLICY = (registry.load("itsm").policy or str)()
RULES = dict(re.findall(r"^- \*\*([A-Z]+-\d+)\*\*((?:.*\n)+?)(?=- |#|$)", POLICY, re.MULTILINE))
"""Texts of the policy's rules, by their names."""
HOSTILE = "<img src=x onerror=\"alert('broken in')\"><script>alert(1)</script>"


def arguments(**given: Any) -> str:
    return json.dumps(given)


# --- tables ----------------------------------------------------------------------------------------------------------


def test_all_tables_are_listed_with_their_row_counts(visitor: Visitor) -> None:
    main = visitor.visit("tables")
    shown = {
        row.locator("th").inner_text(): row.locator("td.number").inner_text() for row in main.locator("tbody tr").all()
    }
    names = registry.load("itsm").metadata.tables
    assert shown == {name: str(visitor.database.value(f'SELECT COUNT(*) FROM "{name}"')) for name in names}


def test_a_filter_narrows_the_rows_in_any_column(visitor: Visitor) -> None:
    visitor.visit("tables", "incident")
    visitor.page.get_by_label("Filter").fill("dOcKing")
    expected = visitor.database.rows("SELECT number FROM incident WHERE short_description LIKE '%docking%'")
    visitor.counted(f"{len(expected)} rows")
    assert visitor.cells("number") == [row["number"] for row in expected]


@pytest.mark.parametrize("text", ["%", "_", "\\", "'", '"'])
def test_special_characters_of_sql_are_searched_as_they_are(visitor: Visitor, text: str) -> None:
    created = visitor.database.call("create_incident", caller_id="USER_010", short_description=f"odd {text} sign")
    visitor.visit("tables", "incident", filter=f"odd {text} s")
    visitor.counted("1 row")
    assert visitor.cells("incident_id") == [created.data["incident_id"]]


def test_rows_are_sorted_both_ways_and_paged(visitor: Visitor) -> None:
    visitor.visit("tables", "incident")
    head = visitor.page.get_by_role("columnheader", name="number")
    total = visitor.database.value("SELECT COUNT(*) FROM incident")
    in_order = [row["number"] for row in visitor.database.rows("SELECT number FROM incident ORDER BY number, rowid")]
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert visitor.cells("number") == in_order[:50]
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    visitor.page.get_by_role("button", name="Next").click()
    visitor.counted(f"{total} rows, page 2 of {-(-total // 50)}")
    assert visitor.cells("number") == in_order[::-1][50:100]


def test_a_reference_leads_to_the_row_it_names_and_back(visitor: Visitor) -> None:
    visitor.visit("tables", "incident", "row", incident_id="INC_010")
    caller = visitor.database.value("SELECT caller_id FROM incident WHERE incident_id = 'INC_010'")
    main = visitor.follow(caller)
    expect(visitor.page.locator("h1")).to_have_text(f"{caller} users")
    name = visitor.database.value(f"SELECT user_name FROM users WHERE user_id = '{caller}'")
    expect(main.get_by_role("row", name="user_name")).to_contain_text(name)
    visitor.follow("incident.caller_id")
    count = visitor.database.value(f"SELECT COUNT(*) FROM incident WHERE caller_id = '{caller}'")
    visitor.counted(f"{count} rows")
    assert set(visitor.cells("caller_id")) == {caller}
    assert "INC_010" in visitor.cells("incident_id")


def test_a_row_with_a_key_of_several_columns_can_be_opened(visitor: Visitor) -> None:
    visitor.visit("tables", "user_role")
    (first,) = visitor.database.rows("SELECT * FROM user_role ORDER BY rowid LIMIT 1")
    key = f"{first['user_id']} {first['role_id']} {first['org_id']}"
    visitor.follow(f"Open {key}")
    expect(visitor.page.locator("h1")).to_have_text(f"{key} user_role")


def test_a_tables_columns_keys_and_rules_are_shown(visitor: Visitor) -> None:
    main = visitor.visit("tables", "users")
    main.get_by_text("13 columns, keys and rules").click()
    columns = main.get_by_role("region", name="Columns of users")
    expect(columns.get_by_role("row", name="user_id")).to_contain_text("VARCHAR(32)not nullprimary key")
    expect(columns.get_by_role("row", name="org_id")).to_contain_text("→ organization.org_id")
    expect(main.get_by_text("unique: phone")).to_be_visible()
    expect(main.get_by_role("listitem").filter(has_text="incident.caller_id")).to_be_visible()


# --- tools -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_no_word_is_broken_and_no_text_lies_over_another(visitor: Visitor, width: int) -> None:
    visitor.page.set_viewport_size({"width": width, "height": 800})
    seen = {}
    for view in VIEWS:
        visitor.visit(*view)
        seen[view] = faults_seen(visitor.page)
    assert {view: faults for view, faults in seen.items() if faults} == {}


def test_tools_are_found_by_words_of_name_and_description(visitor: Visitor) -> None:
    visitor.visit("tools")
    box = visitor.page.get_by_label("Search tools")
    box.fill("count priorit")
    shown = visitor.page.locator(".tool-list li:visible a").all_inner_texts()
    tools = registry.load("itsm").toolbox.tools.values()
    assert shown == [
        tool.name
        for tool in tools
        if all(word in f"{tool.name} {tool.description}".lower() for word in ("count", "priorit"))
    ]
    assert shown
    box.press("Enter")
    expect(visitor.page.locator("h1")).to_have_text(shown[0])
    expect(box).to_have_value("count priorit")


def test_a_read_tool_shows_what_an_agent_would_get_and_the_time_it_took(visitor: Visitor) -> None:
    visitor.open_tool("find_incident_by_id")
    visitor.page.get_by_label("incident_id").fill("INC_010")
    result = visitor.call()
    expect(result.locator(".summary")).to_have_text(re.compile(r"^Succeeded in \d+(\.\d)? ms $"))
    shown = json.loads(result.locator("pre").inner_text())
    assert shown == visitor.database.call("find_incident_by_id", incident_id="INC_010").data


def test_a_writing_tool_makes_a_row_that_the_tables_show(visitor: Visitor) -> None:
    visitor.open_tool("create_incident")
    visitor.page.get_by_label("Acting user").select_option("Beatriz Fontes (manager, Halden Freight)")
    visitor.page.get_by_label("caller_id").fill("USER_010")
    visitor.page.get_by_label("short_description").fill("Zebra scanner is silent")
    visitor.page.get_by_label("impact").select_option("high")
    with visitor.page.expect_request(re.compile("/mcp$")) as called:
        result = visitor.call()
    made = json.loads(result.locator("pre").inner_text())
    assert made["impact"] == "high"
    actor = visitor.database.value("SELECT static_token FROM users WHERE first_name = 'Beatriz'")
    assert called.value.headers["x-itsm-user-token"] == actor
    visitor.page.get_by_role("navigation").get_by_role("link", name="Tables").click()
    visitor.follow("incident")
    visitor.page.get_by_label("Filter").fill("zebra")
    visitor.counted("1 row")
    assert visitor.cells("incident_id") == [made["incident_id"]]


@pytest.mark.parametrize(
    ("tool", "given", "code"),
    [
        ("find_incident_by_id", {"incident_id": "INC_999999"}, "INCIDENT_NOT_FOUND"),
        ("create_incident", {"caller_id": "USER_010"}, "MISSING_FIELD"),
        ("create_incident", {"caller_id": "USER_010", "short_description": 5}, "INVALID_TYPE"),
    ],
)
def test_a_refused_call_shows_its_code_and_changes_nothing(
    visitor: Visitor, tool: str, given: dict[str, Any], code: str
) -> None:
    before = visitor.database.digest()
    visitor.open_tool(tool, json.dumps(given))
    result = visitor.call()
    expect(result.locator(".summary")).to_contain_text("Refused")
    expect(result.locator(".summary code")).to_have_text([code])
    assert visitor.database.digest() == before


def test_arguments_can_be_written_as_json_and_go_back_to_the_form(visitor: Visitor) -> None:
    visitor.open_tool("create_incident")
    visitor.page.get_by_role("button", name="JSON", exact=True).click()
    given = {"caller_id": "USER_010", "short_description": "By JSON", "urgency": "low", "assigned_to": None}
    visitor.page.get_by_label("Arguments as JSON").fill(json.dumps(given))
    visitor.page.get_by_role("button", name="Form", exact=True).click()
    expect(visitor.page.get_by_label("short_description")).to_have_value("By JSON")
    expect(visitor.page.get_by_label("assigned_to")).to_be_disabled()
    visitor.call()
    assert visitor.database.value("SELECT urgency FROM incident WHERE short_description = 'By JSON'") == "low"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "must be a JSON object"),
        ('{"no_such_argument": 1}', "The form cannot represent these"),
        ('{"worknotes": ""}', "The form cannot represent these"),
    ],
)
def test_arguments_that_the_form_cannot_hold_stay_json(visitor: Visitor, text: str, message: str) -> None:
    visitor.open_tool("create_incident")
    visitor.page.get_by_role("button", name="JSON", exact=True).click()
    area = visitor.page.get_by_label("Arguments as JSON")
    area.fill(text)
    visitor.page.get_by_role("button", name="Form", exact=True).click()
    expect(visitor.page.get_by_role("alert")).to_contain_text(message)
    expect(area).to_have_value(text)


def test_invalid_json_is_reported_instead_of_sent(visitor: Visitor) -> None:
    visitor.open_tool("create_incident")
    visitor.page.get_by_role("button", name="JSON", exact=True).click()
    visitor.page.get_by_label("Arguments as JSON").fill("{oops")
    visitor.requested.clear()
    visitor.page.get_by_role("button", name="Call", exact=True).click()
    expect(visitor.page.get_by_role("alert")).to_contain_text("The arguments are not JSON")
    assert visitor.requested == []


def test_calls_are_recorded_as_a_task_file(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.page
    (incident,) = visitor.database.rows("SELECT incident_id FROM incident WHERE number = 'INC-004197'")
    calls = [
        ("find_incident_by_number", {"number": "INC-004197"}),
        ("update_incident", {"incident_id": incident["incident_id"], "short_description": 'Label "4": printer'}),
    ]
    visitor.visit("record")
    page.get_by_role("button", name="Reset the database and record").click()
    page.get_by_label("Task id").fill("name-printer")
    page.get_by_label("Request").fill('Please name INC-004197:\nLabel "4": printer')
    page.get_by_label("Answer").fill("INC-004197 is named.")
    for tool, given in [calls[0], *calls]:
        visitor.open_tool(tool, json.dumps(given))
        page.get_by_label("Acting user").select_option("Beatriz Fontes (manager, Halden Freight)")
        visitor.call()
    page.get_by_role("link", name="3 calls recorded").click()
    page.get_by_role("button", name="Remove call 1, find_incident_by_number").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download task file").click()
    download.value.save_as(tmp_path / download.value.suggested_filename)
    ((path, file),) = task_files(tmp_path)
    assert (path.name, file.id, file.world) == ("name-printer.yaml", "name-printer", "itsm/quickstart")
    assert (file.actor, file.answer) == ("Beatriz Fontes", "INC-004197 is named.")
    assert file.request == 'Please name INC-004197:\nLabel "4": printer'
    assert [(step.tool, step.arguments) for step in file.solution] == calls


def test_a_call_is_copied_as_a_gold_action(visitor: Visitor) -> None:
    visitor.open_tool("list_incidents", arguments(status="new", priority="low"))
    visitor.page.get_by_role("button", name="Copy as gold action").click()
    expect(visitor.page.get_by_text("Copied.")).to_be_visible()
    action = ToolCall.model_validate_json(visitor.copied())
    assert action == ToolCall(name="list_incidents", arguments={"status": "new", "priority": "low"})


def test_the_form_of_every_tool_holds_every_kind_of_argument(visitor: Visitor) -> None:
    visitor.visit("tools")
    tools: list[dict[str, Any]] = [
        {"name": tool.name, "schema": tool.input_schema, "given": example(tool.input_schema)}
        for tool in registry.load("itsm").toolbox.tools.values()
    ]
    read = visitor.page.evaluate(
        """async (tools) => {
            const { objectForm } = await import("/explore/form.js");
            return tools.map(({ name, schema, given }) => {
                const form = objectForm(schema);
                const blank = form.read();
                form.write(given);
                return [name, blank, form.read()];
            });
        }""",
        tools,
    )
    for tool, (name, _blank, filled) in zip(tools, read, strict=True):
        assert (name, filled) == (tool["name"], tool["given"])
    required_objects = [name for name, blank, _filled in read if blank]
    assert required_objects == [
        tool["name"]
        for tool in tools
        if any(
            part["type"] == "object"
            for name, part in tool["schema"]["properties"].items()
            if name in tool["schema"]["required"]
        )
    ]


def example(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An argument of every name that a schema knows."""
    return {name: example_value(part) for name, part in schema["properties"].items()}


def example_value(schema: Mapping[str, Any]) -> Any:
    kind = schema["type"][0] if isinstance(schema["type"], list) else schema["type"]
    if "properties" in schema:
        return example(schema)
    if "enum" in schema:
        return schema["enum"][-1]
    values = {"string": "some text", "integer": 7, "number": 2.5, "boolean": False, "object": {"a": [1]}}
    return [example_value(schema["items"])] if kind == "array" else values[kind]


# --- policy, SQL, clock, reset ---------------------------------------------------------------------------------------


def test_a_rule_has_an_address_of_its_own(visitor: Visitor) -> None:
    *_others, last = RULES
    visitor.visit("policy", last)
    rule = visitor.page.locator(f"#rule-{last}")
    expect(rule).to_be_in_viewport()
    expect(rule).to_be_focused()
    assert visitor.page.title().startswith(f"Policy {last}")


def test_a_rule_that_names_another_leads_to_it(visitor: Visitor) -> None:
    names = ((rule, named) for rule, text in RULES.items() for named in RULES if re.search(rf"\b{named}\b", text))
    rule, named = next(names)
    main = visitor.visit("policy")
    visitor.follow(named, within=main.locator(f"#rule-{rule}"))
    expect(visitor.page.locator(f"#rule-{named}")).to_be_focused()


def test_the_whole_policy_is_shown_without_its_marks(visitor: Visitor) -> None:
    shown = visitor.visit("policy").inner_text()
    expected = re.findall(r"\w+", POLICY)
    assert re.findall(r"\w+", shown) == expected
    assert "**" not in shown
    assert "`" not in shown


def test_a_strict_database_shows_its_access_and_the_enforced_rules(browser: Browser, gym: Gym) -> None:
    with visiting(browser, gym, access="strict") as visitor:
        visitor.visit("policy", "PRC-6")
        expect(visitor.page.locator("#rule-PRC-6")).to_be_focused()
        expect(visitor.page.locator("#rule-INC-1")).to_be_attached()
        expect(visitor.page.locator("#database")).to_have_text(f"database {visitor.database.id}, access strict")
        main = visitor.visit("tools", "list_incidents")
        main.get_by_role("button", name="Call", exact=True).click()
        expect(main.get_by_label("Result", exact=True)).to_contain_text("ACTING_USER_REQUIRED")


@pytest.mark.parametrize(
    ("dialect", "query"),
    [
        ("sqlite", "SELECT COUNT(*) FROM incident WHERE status = 'new'"),
        ("sqlite", "SELECT status, priority FROM incident WHERE incident_id = 'INC_010'"),
        ("sqlite", "SELECT status, COUNT(*) AS n FROM incident GROUP BY status"),
        ("sqlite", "SELECT status FROM incident WHERE incident_id = 'nothing'"),
        ("postgres", "SELECT COUNT(*)::int AS n FROM incident WHERE status ILIKE 'NEW'"),
    ],
)
def test_a_query_is_copied_as_a_verifier_that_passes(visitor: Visitor, dialect: str, query: str) -> None:
    visitor.visit("sql")
    visitor.page.get_by_label("Dialect").select_option(dialect)
    area = visitor.page.get_by_label("Read-only query")
    area.fill(query)
    area.press("Control+Enter")
    visitor.page.get_by_role("button", name="Copy as verifier").click()
    expect(visitor.page.get_by_text("Copied.")).to_be_visible()
    verifier = Verifier.model_validate_json(visitor.copied())
    assert (verifier.dialect, verifier.database_state.query) == (dialect, query)
    actual = value_of(visitor.database.rows(query, dialect=dialect))
    assert holds(actual, verifier.database_state.expected_value, Comparison.EQUALS)


@pytest.mark.parametrize("query", ["SELEC", "DELETE FROM incident", ""])
def test_a_query_that_cannot_be_run_says_why(visitor: Visitor, query: str) -> None:
    visitor.expects_refusals = True
    before = visitor.database.digest()
    visitor.visit("sql")
    visitor.page.get_by_label("Read-only query").fill(query)
    visitor.page.get_by_role("button", name="Run").click()
    expect(visitor.page.get_by_role("alert")).to_have_text(re.compile("syntax error|read-only|required"))
    assert visitor.database.digest() == before


def test_the_clock_is_set_advanced_and_released(visitor: Visitor) -> None:
    main = visitor.visit("clock")
    expect(main.get_by_role("status")).to_have_text("2026-11-16 10:00:00 UTC · clock is set")
    main.get_by_label("Time (UTC)").fill("2026-03-01T09:30:00")
    main.get_by_role("button", name="Set").click()
    expect(main.get_by_role("status")).to_have_text("2026-03-01 09:30:00 UTC · clock is set")
    main.get_by_label("Move forward by").fill("1.5")
    main.get_by_label("Unit").select_option("days")
    main.get_by_role("button", name="Move").click()
    expect(main.get_by_role("status")).to_contain_text("2026-03-02 21:30:00")
    assert visitor.database.value("SELECT datetime('now')") == "2026-03-02 21:30:00"
    main.get_by_role("button", name="Back to real time").click()
    expect(main.get_by_role("status")).to_contain_text("real time")


def test_reset_asks_for_confirmation_and_restores_the_seed(visitor: Visitor) -> None:
    seeded = visitor.database.digest()
    visitor.database.call("create_incident", caller_id="USER_010", short_description="To be forgotten")
    visitor.visit("tables", "incident", filter="To be forgotten")
    visitor.counted("1 row")
    visitor.page.get_by_role("button", name="Reset").click()
    visitor.page.get_by_role("button", name="Keep").click()
    assert visitor.database.digest() != seeded
    visitor.page.get_by_role("button", name="Reset").click()
    visitor.page.get_by_role("dialog").get_by_role("button", name="Reset").click()
    visitor.counted("0 rows")
    assert visitor.database.digest() == seeded


# --- everywhere ------------------------------------------------------------------------------------------------------


def test_every_view_has_an_address(visitor: Visitor) -> None:
    visitor.visit("tables", "incident")
    visitor.page.get_by_label("Filter").fill("account")
    visitor.page.get_by_role("columnheader", name="number").get_by_role("button").click()
    visitor.page.wait_for_url(re.compile("filter=account.*sort=number"))
    shown = visitor.cells("number")
    visitor.open_tool("find_incident_by_id")
    visitor.page.get_by_label("incident_id").fill("INC_010")
    visitor.call()
    link = visitor.page.url
    visitor.visit("tables", "incident", filter="account", sort="number")
    assert visitor.cells("number") == shown
    visitor.page.goto("about:blank")
    visitor.page.goto(link)
    visitor.settled()
    expect(visitor.page.get_by_label("incident_id")).to_have_value("INC_010")


def test_markup_in_rows_is_shown_as_text_everywhere(visitor: Visitor) -> None:
    made = visitor.database.call("create_incident", caller_id="USER_010", short_description=HOSTILE).data["incident_id"]
    places: list[tuple[tuple[str, ...], dict[str, str]]] = [
        (("tables", "incident"), {"filter": "<img"}),
        (("tables", "incident", "row"), {"incident_id": made}),
        (("sql",), {"query": f"SELECT short_description AS '<b>' FROM incident WHERE incident_id = '{made}'"}),
    ]
    for path, query in places:
        main = visitor.visit(*path, **query)
        expect(main.get_by_text(HOSTILE, exact=True).first).to_be_visible()
    visitor.open_tool("find_incident_by_id", arguments(incident_id=made))
    expect(visitor.call().locator("pre")).to_contain_text("<img src=x onerror=")
    assert visitor.page.locator("main img, main script, main b").count() == 0


def test_scripts_from_elsewhere_may_not_run(visitor: Visitor) -> None:
    visitor.visit("tables")
    blocked = visitor.page.evaluate(
        """() => new Promise((resolve) => {
            addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
            const image = document.createElement("img");
            image.setAttribute("onerror", "window.ran = true");
            image.src = "missing";
            document.body.append(image);
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
        })"""
    )
    assert blocked.startswith("script-src")
    assert visitor.page.evaluate("window.ran") is None
    visitor.complaints.clear()


def test_the_page_can_be_used_by_keyboard_alone(visitor: Visitor) -> None:
    visitor.visit("tables")
    keys = visitor.page.keyboard
    keys.press("Tab")
    expect(visitor.page.get_by_text("Skip to content")).to_be_focused()
    tab_to(visitor, "Tools")
    keys.press("Enter")
    expect(visitor.page.get_by_role("heading", name="Tools")).to_be_focused()
    visitor.settled()
    for _ in range(3):
        keys.press("Shift+Tab")
        if visitor.page.get_by_label("Search tools").evaluate("box => box === document.activeElement"):
            break
    else:
        visitor.page.get_by_label("Search tools").focus()
    keys.type("find_incident_by_number")
    keys.press("Enter")
    expect(visitor.page.get_by_role("heading", name="find_incident_by_number")).to_be_focused()
    tab_to(visitor, "number")
    keys.type(visitor.database.value("SELECT number FROM incident WHERE incident_id = 'INC_010'"))
    keys.press("Enter")
    visitor.page.locator(".summary").wait_for()
    expect(visitor.page.get_by_role("button", name="Call", exact=True)).to_be_focused()
    expect(visitor.page.get_by_role("region", name="Result").locator("pre")).to_contain_text("INC_010")


def tab_to(visitor: Visitor, name: str) -> None:
    """Presses Tab until the focus is on something of this name."""
    for _ in range(200):
        visitor.page.keyboard.press("Tab")
        focused = visitor.page.evaluate(
            "() => (document.activeElement.labels?.[0] ?? document.activeElement).textContent.replace(' required', '')"
        )
        if focused == name:
            return
    raise AssertionError(f"Tab never reached {name}")


def test_every_control_has_a_name(visitor: Visitor) -> None:
    for path in VIEWS:
        visitor.visit(*path)
        nameless = visitor.page.evaluate(
            """() => [...document.querySelectorAll("input, select, textarea, button, a, summary")]
                .filter((e) => !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim()))
                .map((e) => e.outerHTML)"""
        )
        assert nameless == [], path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_fits_a_phone_and_can_be_read_on_it(browser: Browser, gym: Gym, scheme: str) -> None:
    with visiting(browser, gym, viewport={"width": 360, "height": 740}, color_scheme=scheme) as visitor:
        for path in VIEWS:
            visitor.visit(*path)
            assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 360, path
            assert visitor.page.evaluate(CONTRAST) >= 4.5, path


CONTRAST = """() => {
    const light = (color) => {
        const [r, g, b] = color.match(/[\\d.]+/g).map((part) => part / 255)
            .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
        const color = element ? getComputedStyle(element).backgroundColor : "rgb(255, 255, 255)";
        return color === "rgba(0, 0, 0, 0)" ? ground(element.parentElement) : color;
    };
    const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const texts = [...document.querySelectorAll("body *")].filter((element) =>
        element.checkVisibility() && !element.disabled && hasText(element));
    return Math.min(...texts.map((element) => {
        const [a, b] = [light(getComputedStyle(element).color), light(ground(element))].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
    }));
}"""
"""Smallest contrast of any text shown, as WCAG counts it."""


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (("nowhere",), "Unknown view “nowhere”."),
        (("tables", "nothing"), "itsm has no table “nothing”."),
        (("tables", "incident", "row"), "incident has no row of that name."),
        (("tools", "nothing"), "itsm has no tool “nothing”."),
        (("tables", "%E0%A4%A"), "itsm has no table “%E0%A4%A”."),
    ],
)
def test_an_address_of_nothing_is_reported(visitor: Visitor, path: tuple[str, ...], message: str) -> None:
    visitor.visit(*path)
    expect(visitor.page.get_by_role("alert")).to_have_text(message)


def test_an_unknown_database_is_reported(visitor: Visitor) -> None:
    visitor.expects_refusals = True
    visitor.page.goto(f"{visitor.gym.url}/explore/?database=missing")
    expect(visitor.page.get_by_role("alert")).to_have_text("unknown database 'missing'")


def test_a_server_that_does_not_answer_is_reported(visitor: Visitor) -> None:
    visitor.expects_refusals = True
    visitor.visit("tools", "find_incident_by_id")
    visitor.page.context.set_offline(True)
    visitor.page.get_by_label("incident_id").fill("INC_010")
    visitor.page.get_by_role("button", name="Call", exact=True).click()
    expect(visitor.page.get_by_role("alert")).to_have_text("The server does not answer. Is it still running?")


def test_the_first_seed_of_the_domain_can_be_explored(gym: Gym) -> None:
    require_first_seed_shown(gym, "itsm")
