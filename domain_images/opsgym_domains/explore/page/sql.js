// One read-only query, in a dialect of verifiers.

import { query } from "./api.js";
import { copyButton, h, scrolling } from "./dom.js";
import { cell, failure, heading, remember } from "./view.js";

const SHOWN_ROWS = 500;

/** The query box. */
export async function sql({ how }) {
  const area = h("textarea", { id: "query", rows: "6", spellcheck: "false", keydown: runOnEnter });
  area.value = how.get("query") ?? "";
  const dialect = h("select", { id: "dialect" },
    ["sqlite", "postgres"].map((name) => h("option", { value: name, selected: how.get("dialect") === name }, name)));
  const result = h("section", { "aria-label": "Result" });

  async function run(event) {
    event?.preventDefault();
    const request = { query: area.value, dialect: dialect.value };
    remember(["sql"], request);
    const begin = performance.now();
    try {
      const rows = await query(request.query, request.dialect);
      result.replaceChildren(...shown(rows, performance.now() - begin, request));
    } catch (error) {
      result.replaceChildren(failure(error));
    }
  }

  function runOnEnter(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(event);
  }

  return {
    title: "SQL",
    content: [
      heading("SQL"),
      h("form", { submit: run },
        h("p", {}, h("label", { for: "query" }, "Read-only query"), area),
        h("p", { class: "actions" },
          h("button", { class: "primary" }, "Run"),
          h("label", { for: "dialect" }, "Dialect"), dialect,
          h("span", { class: "quiet" }, "Ctrl+Enter runs"))),
      result,
    ],
    after() {
      if (area.value) run();
    },
  };
}

function shown(rows, took, request) {
  const summary = h("p", { class: "actions" },
    h("span", { role: "status" }, `${rows.length} ${rows.length === 1 ? "row" : "rows"} in ${Math.round(took)} ms`),
    copyButton("Copy as verifier", () => JSON.stringify(verifier(rows, request), null, 2)));
  if (!rows.length) return [summary];
  const names = Object.keys(rows[0]);
  const table = h("table", { class: "rows" },
    h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.slice(0, SHOWN_ROWS).map((row) => h("tr", {}, names.map((name) => h("td", {}, cell(row[name])))))));
  const note = rows.length > SHOWN_ROWS ? h("p", { class: "quiet" }, `The first ${SHOWN_ROWS} are shown.`) : null;
  return [summary, scrolling("Rows of the query", table), note].filter(Boolean);
}

/** A verifier that passes while the query returns the current result. */
function verifier(rows, request) {
  return {
    verifier_type: "database_state",
    name: "",
    description: "",
    category: "task_completion",
    dialect: request.dialect,
    validation_config: { query: request.query, expected_value: valueOf(rows), comparison_type: "equals" },
  };
}

/** Expected value of a verifier: one cell, one row, or the rows. */
function valueOf(rows) {
  if (rows.length !== 1) return rows;
  const values = Object.values(rows[0]);
  return values.length === 1 ? values[0] : rows[0];
}
