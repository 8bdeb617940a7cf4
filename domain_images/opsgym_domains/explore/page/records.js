// Records with their story: what is known of a record, and what belongs to it in order of time.
// Invariant: every entry leads to the row that it shows.

import { query, quoted } from "./api.js";
import { h } from "./dom.js";
import { address, heading, link } from "./view.js";

const PAGE = 50;

/** The list of records, or one of them with its story. */
export async function records({ what: [key], how }, domain) {
  const { story } = domain;
  if (!story) throw new Error(`${domain.name} has no records with a story.`);
  return key ? oneRecord(story, key) : allRecords(story, how);
}

// --- the list -------------------------------------------------------------------------------------------------------

async function allRecords(story, how) {
  const choice = { filter: how.get("filter") ?? "", all: how.get("all") ?? "", page: Math.max(1, Number.parseInt(how.get("page") ?? "1", 10) || 1) };
  const chosen = `SELECT * FROM (${story.records})${conditions(choice)}`;
  const [rows, [{ n }]] = await Promise.all([
    query(`${chosen} LIMIT ${PAGE} OFFSET ${(choice.page - 1) * PAGE}`),
    query(`SELECT COUNT(*) AS n FROM (${chosen})`),
  ]);
  return {
    title: story.name,
    content: [
      heading(story.name),
      choices(story, choice),
      rows.length ? h("ul", { class: "records", "aria-label": story.name }, rows.map(recordView)) : h("p", { class: "quiet" }, "None."),
      paging(choice, n),
    ],
  };
}

function conditions({ filter, all }) {
  const parts = all ? [] : ["open"];
  if (filter) parts.push(`instr(lower(number || ' ' || title || ' ' || coalesce(note, '') || ' ' || state), lower(${quoted(filter)}))`);
  return parts.length ? ` WHERE ${parts.join(" AND ")}` : "";
}

function choices(story, choice) {
  const show = (part) => { location.hash = at({ ...choice, ...part, page: "" }); };
  const filter = h("input", { type: "search", id: "filter", value: choice.filter, autocomplete: "off", change: () => show({ filter: filter.value }) });
  const all = h("input", { type: "checkbox", id: "all", checked: Boolean(choice.all), change: () => show({ all: all.checked ? "1" : "" }) });
  return h("p", { class: "choices" },
    h("label", { for: "filter" }, "Filter"), filter,
    h("span", {}, all, " ", h("label", { for: "all" }, "closed ones too")));
}

const at = (choice) => address(["records"], choice);

function recordView({ key, number, title, state, note, open }) {
  return h("li", { class: open ? null : "off" },
    link(["records", String(key)], {}, `${number} ${title}`),
    h("span", { class: "badge" }, state),
    h("span", { class: "quiet" }, note ?? ""));
}

function paging(choice, count) {
  const last = Math.max(1, Math.ceil(count / PAGE));
  const page = (to, label) => to >= 1 && to <= last && h("a", { href: at({ ...choice, page: to > 1 ? to : "" }) }, label);
  return h("p", { class: "paging" },
    page(choice.page - 1, "Previous"), page(choice.page + 1, "Next"),
    h("span", { role: "status" }, `${count.toLocaleString("en")} match${last > 1 ? `, page ${choice.page} of ${last}` : ""}`));
}

// --- one record -----------------------------------------------------------------------------------------------------

async function oneRecord(story, key) {
  const of = (column) => `WHERE CAST(${column} AS TEXT) = ${quoted(key)}`;
  const [[record], facts, entries] = await Promise.all([
    query(`SELECT * FROM (${story.records}) ${of("key")}`),
    query(`SELECT * FROM (${story.facts}) ${of("record")} AND value IS NOT NULL ORDER BY place`),
    query(`SELECT * FROM (${story.entries}) ${of("record")} ORDER BY at, place, key`),
  ]);
  if (!record) throw new Error(`${story.name}: there is no ${key}.`);
  return {
    title: `${record.number} ${record.title}`,
    content: [
      heading(record.number, " ", record.title, h("span", { class: "badge" }, record.state)),
      h("p", {}, link(["records"], {}, `All ${story.name.toLowerCase()}`), " · ", link(["tables", story.table, "row"], { [story.key]: record.key }, "Row")),
      h("div", { class: "story" },
        h("dl", { "aria-label": "Facts" }, facts.map(({ name, value }) => [h("dt", {}, name), h("dd", {}, String(value))])),
        h("section", { "aria-label": "Story" }, daysOf(entries).map(dayView))),
    ],
  };
}

/** Entries by day, both in order of time. */
function daysOf(entries) {
  const days = new Map();
  for (const entry of entries) {
    const day = entry.at?.slice(0, 10) ?? "no date";
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  return [...days];
}

function dayView([day, entries]) {
  const id = `day-${day.replace(" ", "-")}`;
  return [h("h2", { id }, day), h("ol", { "aria-labelledby": id }, entries.map(entryView))];
}

function entryView({ at: time, kind, title, state, note, table, column, key }) {
  return h("li", {},
    h("time", {}, time?.slice(11, 16) ?? ""),
    h("span", { class: "kind" }, kind),
    h("div", {},
      link(["tables", table, "row"], { [column]: key }, title ?? "(no title)"),
      state && h("span", { class: "badge" }, state),
      note && h("p", { class: "quiet" }, note)));
}
