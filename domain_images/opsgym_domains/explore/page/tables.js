// Tables, their rows, and how rows refer to each other.

import { query, quoted } from "./api.js";
import { h, scrolling } from "./dom.js";
import { cell, heading, link, remember } from "./view.js";

const PAGE = 50;
const TYPING_MS = 200;

/** The list of tables, a table's rows, or one row. */
export async function tables({ what: [name, row], how }, domain) {
  if (name === undefined || name === "") return allTables(domain);
  const table = domain.tables.find((candidate) => candidate.name === name);
  if (!table) throw new Error(`${domain.name} has no table “${name}”.`);
  return row === "row" ? oneRow(table, domain, how) : rowsOf(table, how);
}

const quoteName = (name) => `"${name.replaceAll('"', '""')}"`;
const number = (n) => n.toLocaleString("en");
const plural = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;

function allTables(domain) {
  const total = domain.tables.reduce((sum, table) => sum + table.row_count, 0);
  const rows = domain.tables.map((table) =>
    h("tr", {},
      h("th", { scope: "row" }, link(["tables", table.name], {}, table.name)),
      h("td", { class: "number" }, number(table.row_count)),
      h("td", { class: "prose" }, table.description)));
  return {
    title: "Tables",
    content: [
      heading("Tables"),
      h("p", { class: "quiet" }, `${plural(domain.tables.length, "table")}, ${plural(total, "row")}`),
      scrolling("Tables", h("table", {},
        h("thead", {}, h("tr", {},
          h("th", { scope: "col" }, "Table"), h("th", { scope: "col", class: "number" }, "Rows"), h("th", { scope: "col" }, "Description"))),
        h("tbody", {}, rows))),
    ],
  };
}

// --- one table ------------------------------------------------------------------------------------------------------

function stateOf(how) {
  return {
    filter: how.get("filter") ?? "",
    column: how.get("column") ?? "",
    value: how.get("value") ?? "",
    sort: how.get("sort") ?? "",
    down: how.get("down") ?? "",
    page: Math.max(1, Number.parseInt(how.get("page") ?? "1", 10) || 1),
  };
}

function condition(table, state) {
  const parts = [];
  if (state.column) parts.push(`${quoteName(state.column)} = ${quoted(state.value)}`);
  if (state.filter) {
    const pattern = quoted(`%${state.filter.replace(/[\\%_]/g, "\\$&")}%`);
    parts.push(`(${table.columns.map(({ name }) => `CAST(${quoteName(name)} AS TEXT) LIKE ${pattern} ESCAPE '\\'`).join(" OR ")})`);
  }
  return parts.length ? ` WHERE ${parts.join(" AND ")}` : "";
}

async function load(table, state) {
  const from = `FROM ${quoteName(table.name)}${condition(table, state)}`;
  const order = state.sort ? `${quoteName(state.sort)}${state.down ? " DESC" : ""}, rowid` : "rowid";
  const [rows, [{ n }]] = await Promise.all([
    query(`SELECT * ${from} ORDER BY ${order} LIMIT ${PAGE} OFFSET ${(state.page - 1) * PAGE}`),
    query(`SELECT COUNT(*) AS n ${from}`),
  ]);
  return { rows, count: n };
}

function rowsOf(table, how) {
  const state = stateOf(how);
  const body = h("tbody");
  const problem = h("div");
  const counted = h("span", { role: "status" });
  const before = h("button", { type: "button", click: () => change({ page: state.page - 1 }) }, "Previous");
  const after = h("button", { type: "button", click: () => change({ page: state.page + 1 }) }, "Next");
  const heads = table.columns.map((column) => sortable(column, state, change));
  let turn = 0;

  async function refresh() {
    const current = ++turn;
    const { rows, count } = await load(table, state);
    if (current !== turn) return;
    const last = Math.max(1, Math.ceil(count / PAGE));
    body.replaceChildren(...rows.map((row) => rowOf(table, row)));
    counted.textContent = `${plural(count, "row")}${last > 1 ? `, page ${state.page} of ${last}` : ""}`;
    before.disabled = state.page <= 1;
    after.disabled = state.page >= last;
    table.columns.forEach(({ name }, at) =>
      heads[at].setAttribute("aria-sort", name !== state.sort ? "none" : state.down ? "descending" : "ascending"));
  }

  async function change(part) {
    Object.assign(state, { page: 1 }, part);
    remember(["tables", table.name], { ...state, page: state.page > 1 ? state.page : "" });
    try {
      await refresh();
      problem.replaceChildren();
    } catch (error) {
      problem.replaceChildren(h("p", { class: "failure", role: "alert" }, error.message));
    }
  }

  const content = [
    heading(table.name),
    h("p", {}, table.description),
    columnDetails(table),
    filters(table, state, change),
    problem,
    scrolling(`Rows of ${table.name}`, h("table", { class: "rows" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "unseen" }, "Open")), heads)), body)),
    h("p", { class: "paging" }, before, after, counted),
  ];
  return refresh().then(() => ({ title: table.name, content }));
}

function sortable({ name }, state, change) {
  const click = () => change({ sort: name, down: state.sort === name && !state.down ? "1" : "" });
  return h("th", { scope: "col" }, h("button", { type: "button", class: "sort", click }, name));
}

function filters(table, state, change) {
  let typing;
  const input = (event) => {
    clearTimeout(typing);
    typing = setTimeout(() => change({ filter: event.target.value }), TYPING_MS);
  };
  const box = h("input", { type: "search", id: "filter", value: state.filter, input, autocomplete: "off" });
  const only = state.column && h("p", {}, "Only where ", h("code", {}, `${state.column} = ${state.value}`), " · ",
    link(["tables", table.name], {}, "show all rows"));
  return h("div", { class: "filters" },
    h("p", {}, h("label", { for: "filter" }, "Filter"), " ", box), only || null);
}

function columnDetails(table) {
  const rows = table.columns.map((column) =>
    h("tr", {},
      h("th", { scope: "row" }, column.name),
      h("td", {}, column.type),
      h("td", {}, column.nullable ? "" : "not null"),
      h("td", {}, table.primary_key.includes(column.name) ? "primary key" : "",
        column.references ? ["→ ", link(["tables", column.references.table], {}, column.references.table), `.${column.references.column}`] : [])));
  const references = table.referenced_by.map((other) =>
    h("li", {}, link(["tables", other.table], {}, other.table), `.${other.column}`));
  return h("details", { class: "columns" },
    h("summary", {}, `${plural(table.columns.length, "column")}, keys and rules`),
    scrolling(`Columns of ${table.name}`, h("table", {},
      h("thead", {}, h("tr", {}, ["Column", "Type", "Null", "Key"].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, rows))),
    table.rules.length ? [h("h2", {}, "Rules"), h("ul", {}, table.rules.map((rule) => h("li", {}, h("code", {}, rule))))] : [],
    references.length ? [h("h2", {}, "Referenced by"), h("ul", { class: "inline" }, references)] : []);
}

function rowOf(table, row) {
  const key = Object.fromEntries(table.primary_key.map((name) => [name, row[name]]));
  const open = h("a", { href: link(["tables", table.name, "row"], key).getAttribute("href"), "aria-label": `Open ${Object.values(key).join(" ")}` }, "open");
  return h("tr", {}, h("td", {}, open), table.columns.map((column) => h("td", {}, valueOf(column, row[column.name]))));
}

/** A value, as a link if it refers to another row. */
function valueOf(column, value) {
  if (value === null || !column.references) return cell(value);
  const { table, column: target } = column.references;
  return link(["tables", table, "row"], { [target]: value }, String(value));
}

// --- one row --------------------------------------------------------------------------------------------------------

async function oneRow(table, domain, how) {
  const key = [...how].filter(([name]) => table.columns.some((column) => column.name === name));
  const where = key.map(([name, value]) => `${quoteName(name)} = ${quoted(value)}`).join(" AND ");
  const rows = where ? await query(`SELECT * FROM ${quoteName(table.name)} WHERE ${where} LIMIT 1`) : [];
  const named = key.map(([, value]) => value).join(" ");
  if (!rows.length) throw new Error(`${table.name} has no row ${named || "of that name"}.`);
  const [row] = rows;
  const values = table.columns.map((column) =>
    h("tr", {}, h("th", { scope: "row" }, column.name), h("td", { class: "prose" }, valueOf(column, row[column.name])), h("td", { class: "quiet" }, column.type)));
  return {
    title: `${table.name} ${named}`,
    content: [
      heading(named, " ", h("span", { class: "quiet" }, table.name)),
      h("p", {}, link(["tables", table.name], {}, `All rows of ${table.name}`)),
      scrolling("Values", h("table", { class: "record" }, h("tbody", {}, values))),
      ...(await referrers(table, row)),
    ],
  };
}

async function referrers(table, row) {
  const others = table.referenced_by.filter((other) => row[other.to] !== null);
  if (!others.length) return [];
  const counts = await query(others.map(({ table: other, column, to }, at) =>
    `SELECT ${at} AS at, COUNT(*) AS n FROM ${quoteName(other)} WHERE ${quoteName(column)} = ${quoted(row[to])}`).join(" UNION ALL "));
  const items = counts.filter(({ n }) => n > 0).map(({ at, n }) => {
    const { table: other, column, to } = others[at];
    return h("li", {}, link(["tables", other], { column, value: row[to] }, `${other}.${column}`), ` ${plural(n, "row")}`);
  });
  return [h("h2", {}, "Referenced by"), items.length ? h("ul", {}, items) : h("p", { class: "quiet" }, "No row refers to this row.")];
}
